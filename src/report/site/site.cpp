// Parses an address, checks every part of it against the catalogue, and makes the page from the
// ledger.
#include "report/api/site.hpp"

#include <algorithm>
#include <charconv>

#include "core/api/json.hpp"
#include "core/api/text.hpp"
#include "report/api/catalogue.hpp"
#include "report/api/study.hpp"
#include "report/api/text.hpp"
#include "report/html/document.hpp"
#include "sotto/core/errors.hpp"
#include "study/api/run.hpp"

namespace sotto {
namespace {

using report_detail::document;
using report_detail::Markup;
using report_detail::paragraph;
using report_detail::tag;
using report_detail::trusted_markup;

constexpr const char* html = "text/html; charset=utf-8";
constexpr const char* json = "application/json";

// Reads a positive number as the pages write it: digits alone, without a leading zero.
std::optional<std::int64_t> number_in(const std::string& text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || text.front() < '1' ||
      text.front() > '9')
    return std::nullopt;
  return number;
}

// Splits "/a/b/" at its slashes. The last part is empty if the path ends with a slash.
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
  const Markup again = tag("a", {{"href", "./"}}, "Try again");
  return {html,
          document(title, trusted_markup("p { overflow-wrap: anywhere; }"),
                   tag("h1", title) + "\n" + paragraph(what) + paragraph(again)),
          true};
}

// Returns the id of the request without the number of the charge: "study/2" is the second charge of
// "study".
std::string first_of(const std::string& request) {
  const std::size_t slash = request.rfind('/');
  return slash != std::string::npos && number_in(request.substr(slash + 1))
             ? request.substr(0, slash)
             : request;
}

// A request of a ledger together with its stored answer.
struct AnsweredRequest {
  const Catalogue& catalogue;
  const SiteOptions& options;
  const DataFile& data;
  const Ledger& ledger;
  const Entry& entry;
  const std::string& answer;
};

// Returns the study that was run. Returns nullopt if it is another study today, because the data
// file changed.
std::optional<Study> study_of(const AnsweredRequest& request, const Release& release) {
  try {
    Study study = parse_study(release.study, request.data, [&](const std::string& name) {
      return request.catalogue.find(name);
    });
    if (request_id(study, request.ledger) == first_of(request.entry.request)) return study;
  } catch (const StudyError&) {
  } catch (const InvalidValue&) {
  }
  return std::nullopt;
}

std::optional<Design> design_of(const Study& study, const AnsweredRequest& request) {
  try {
    return design_as_charged(study, request.ledger.terms(), request.entry.plan);
  } catch (const StudyError&) {
  } catch (const InvalidValue&) {
  } catch (const OutsideConditions&) {
  }
  return std::nullopt;
}

std::string report_of(const AnsweredRequest& request, const Release& release) {
  const LedgerState state = state_of(request.ledger);
  const std::string check = request.options.verify_command(
      request.data.name,
      state.head);  // A report may be passed on, so its command names the data and no place.
  if (const std::optional<Study> study = study_of(request, release)) {
    if (const std::optional<Design> design = design_of(*study, request)) {
      return study_page({*study, *design, release, {}, state, check, request.options.version});
    }
  }
  return stored_answer_page({release, state,
                             "The whole report needs the data file as it was when the study was "
                             "run, by one party; it is another now, or several parties ran it. "
                             "These are the answers as they were kept.",
                             check, request.options.version, request.data.publisher});
}

// The page of an answer that was not stored by a study but by another program.
std::string plain_answer(const AnsweredRequest& request) {
  const std::string title =
      request.entry.title.empty() ? "Request " + request.entry.request : request.entry.title;
  return document(title, trusted_markup("pre { white-space: pre-wrap; overflow-wrap: anywhere; }"),
                  tag("h1", title) + "\n" + tag("pre", request.answer) + "\n");
}

std::optional<Release> release_in(const std::string& text) {
  try {
    return read_release(text);
  } catch (const LedgerError&) {
    return std::nullopt;
  }
}

std::optional<SitePage> answer_page(const AnsweredRequest& request, const std::string& file) {
  const std::optional<Release> release = release_in(request.answer);
  if (file.empty())
    return SitePage{html, release ? report_of(request, *release) : plain_answer(request)};
  if (file != "answer.json") return std::nullopt;
  if (release)
    return SitePage{json, release_text(*release, request.ledger.head(), {}, Format::json)};
  if (!Json::try_parse(request.answer)) return std::nullopt;
  return SitePage{json, escaped_json(request.answer)};
}

std::string query_number(const std::string& query) {
  constexpr std::string_view name = "before=";
  return query.rfind(name, 0) == 0 ? query.substr(name.size()) : "";
}

// "answer.json", or an empty `file` for the page, of the request that entry `number` charged.
std::optional<SitePage> entry_page(const Catalogue& catalogue, const SiteOptions& options,
                                   const DataFile& data, const Ledger& ledger, std::int64_t number,
                                   const std::string& file) {
  const std::vector<Entry> entries = ledger.entries();
  const auto entry = std::find_if(entries.begin(), entries.end(),
                                  [&](const Entry& e) { return e.number == number; });
  if (entry == entries.end()) return std::nullopt;
  const std::optional<std::string> answer = ledger.answer(entry->request);
  return answer ? answer_page({catalogue, options, data, ledger, *entry, *answer}, file)
                : std::nullopt;
}

SitePage ledger_site_page(const SiteOptions& options, const DataFile& data, const Ledger& ledger,
                          std::optional<std::int64_t> before) {
  const LedgerView view = view_of(data, ledger, before);
  const std::string command =
      options.verify_command(without_password(data.ledger), view.state.head);
  return {html, ledger_page(view, command, options.version)};
}

}  // namespace

std::optional<SitePage> CatalogueSite::page(const std::string& path,
                                            const std::string& query) const {
  const std::vector<std::string> parts = parts_of(path);
  if (parts.size() == 1 && parts[0].empty()) {
    if (!query.empty()) return std::nullopt;
    return SitePage{html, catalogue_page(read_catalogue(catalogue_), options_.version)};
  }

  // Every other address names a data set of the catalogue.
  if (parts.size() < 3 || parts.size() > 4 || parts[0] != "data") return std::nullopt;
  const std::vector<std::string> names = catalogue_.names();
  if (std::find(names.begin(), names.end(), parts[1]) == names.end()) return std::nullopt;

  // Only the page of a ledger takes a query.
  const bool is_ledger = parts.size() == 3;
  const std::optional<std::int64_t> before =
      query.empty() ? std::nullopt : number_in(query_number(query));
  if (!query.empty() && (!before || !is_ledger || !parts[2].empty())) return std::nullopt;

  try {
    const DataFile data = catalogue_.find(parts[1]);
    if (data.is_public) return std::nullopt;
    const Ledger ledger = open_to_read(data);
    if (!is_ledger) {
      const std::optional<std::int64_t> number = number_in(parts[2]);
      return number ? entry_page(catalogue_, options_, data, ledger, *number, parts[3])
                    : std::nullopt;
    }
    if (parts[2].empty()) return ledger_site_page(options_, data, ledger, before);
    if (parts[2] != "ledger.json") return std::nullopt;
    return SitePage{json, ledger_text(state_of(ledger), Format::json)};
  } catch (const std::exception& error) {
    return failure(error.what());
  }
}

}  // namespace sotto
