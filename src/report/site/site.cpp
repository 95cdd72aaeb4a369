#include "report/api/site.hpp"

#include <algorithm>
#include <charconv>

#include "report/html/document.hpp"
#include "sotto/core/errors.hpp"
#include "core/api/json.hpp"
#include "core/api/text.hpp"
#include "report/api/catalogue.hpp"
#include "report/api/study.hpp"
#include "study/api/run.hpp"
#include "report/api/text.hpp"

namespace sotto {
namespace {

using report_detail::document;
using report_detail::escaped;

constexpr const char* html = "text/html; charset=utf-8";
constexpr const char* json = "application/json";

// A number as a page links to it: no sign, no zero in front, and nothing behind it.
std::optional<std::int64_t> number_in(const std::string& text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || text.front() < '1' || text.front() > '9') return std::nullopt;
  return number;
}

// What stands between the slashes of "/a/b/"; the last is empty if the path ends with one.
std::vector<std::string> parts_of(const std::string& path) {
  std::vector<std::string> parts;
  for (std::size_t at = 0; at < path.size();) {
    const std::size_t next = std::min(path.find('/', at + 1), path.size());
    parts.push_back(path.substr(at + 1, next - at - 1));
    at = next;
  }
  return parts;
}

SitePage failure(const std::string& what) {
  const std::string title = "This cannot be shown";
  return {html,
          document(title, "p { overflow-wrap: anywhere; }",
                   "<h1>" + title + "</h1>\n<p>" + escaped(what) + "</p>\n<p><a href=\"./\">Try again</a></p>\n"),
          true};
}

// The request's own id: "study/2" is the second charge of "study".
std::string first_of(const std::string& request) {
  const std::size_t slash = request.rfind('/');
  return slash != std::string::npos && number_in(request.substr(slash + 1)) ? request.substr(0, slash) : request;
}

// One request of a ledger that has a kept answer.
struct Kept {
  const Catalogue& catalogue;
  const SiteWords& words;
  const DataFile& data;
  const Ledger& ledger;
  const Entry& entry;
  const std::string& text;
};

// The study as it was asked, if the data file declares now what it declared then.
std::optional<Study> study_of(const Kept& kept, const Release& release) {
  try {
    Study study = parse_study(release.study, kept.data, [&](const std::string& name) { return kept.catalogue.find(name); });
    if (request_id(study, kept.ledger) == first_of(kept.entry.request)) return study;
  } catch (const StudyError&) {
  } catch (const InvalidValue&) {
  }
  return std::nullopt;
}

std::optional<Design> design_of(const Study& study, const Kept& kept) {
  try {
    return design_as_charged(study, kept.ledger.terms(), kept.entry.plan);
  } catch (const StudyError&) {
  } catch (const InvalidValue&) {
  } catch (const OutsideConditions&) {
  }
  return std::nullopt;
}

std::string report_of(const Kept& kept, const Release& release) {
  const LedgerState state = state_of(kept.ledger);
  const std::string check = kept.words.check(kept.data.name, state.head);  // a report may be passed on: it names no place
  if (const std::optional<Study> study = study_of(kept, release)) {
    if (const std::optional<Design> made = design_of(*study, kept)) {
      return study_page({*study, *made, release, {}, state, check, kept.words.version});
    }
  }
  return kept_page(
      {release, state,
       "The whole report needs the data file as it was when the study was run, by one party; it is another now, or several parties ran it. "
       "These are the answers as they were kept.",
       check, kept.words.version, kept.data.publisher});
}

// An answer that no study gave, such as a program's own.
std::string plain_answer(const Kept& kept) {
  const std::string title = kept.entry.title.empty() ? "Request " + kept.entry.request : kept.entry.title;
  return document(title, "pre { white-space: pre-wrap; overflow-wrap: anywhere; }",
                  "<h1>" + escaped(title) + "</h1>\n<pre>" + escaped(kept.text) + "</pre>\n");
}

std::optional<Release> release_in(const std::string& text) {
  try {
    return read_release(text);
  } catch (const LedgerError&) {
    return std::nullopt;
  }
}

std::optional<SitePage> answer_page(const Kept& kept, const std::string& file) {
  const std::optional<Release> release = release_in(kept.text);
  if (file.empty()) return SitePage{html, release ? report_of(kept, *release) : plain_answer(kept)};
  if (file != "answer.json") return std::nullopt;
  if (release) return SitePage{json, release_text(*release, kept.ledger.head(), {}, Format::json)};
  if (!Json::read(kept.text)) return std::nullopt;
  return SitePage{json, escaped_json(kept.text)};
}

std::string query_number(const std::string& query) {
  constexpr std::string_view name = "before=";
  return query.rfind(name, 0) == 0 ? query.substr(name.size()) : "";
}

}  // namespace

std::optional<SitePage> CatalogueSite::page(const std::string& path, const std::string& query) const {
  const std::vector<std::string> parts = parts_of(path);
  if (parts.size() == 1 && parts[0].empty()) {
    if (!query.empty()) return std::nullopt;
    return SitePage{html, catalogue_page(read_catalogue(catalogue_), words_.version)};
  }
  if (parts.size() < 3 || parts.size() > 4 || parts[0] != "data") return std::nullopt;
  const std::vector<std::string> names = catalogue_.names();
  if (std::find(names.begin(), names.end(), parts[1]) == names.end()) return std::nullopt;
  const bool is_ledger = parts.size() == 3;
  const std::optional<std::int64_t> before = query.empty() ? std::nullopt : number_in(query_number(query));
  if (!query.empty() && (!before || !is_ledger || !parts[2].empty())) return std::nullopt;
  try {
    const DataFile data = catalogue_.find(parts[1]);
    if (data.is_public) return std::nullopt;
    const Ledger ledger = open_to_read(data);
    if (is_ledger) {
      if (parts[2] == "ledger.json") return SitePage{json, ledger_text(state_of(ledger), Format::json)};
      if (!parts[2].empty()) return std::nullopt;
      const LedgerView view = view_of(data, ledger, before);
      return SitePage{html, ledger_page(view, words_.check(without_password(data.ledger), view.state.head), words_.version)};
    }
    const std::optional<std::int64_t> number = number_in(parts[2]);
    if (!number) return std::nullopt;
    const std::vector<Entry> entries = ledger.entries();
    const auto entry = std::find_if(entries.begin(), entries.end(), [&](const Entry& e) { return e.number == *number; });
    if (entry == entries.end()) return std::nullopt;
    const std::optional<std::string> text = ledger.answer(entry->request);
    return text ? answer_page({catalogue_, words_, data, ledger, *entry, *text}, parts[3]) : std::nullopt;
  } catch (const std::exception& error) {
    return failure(error.what());
  }
}

}  // namespace sotto
