// Untrusted text (titles, names, keys, errors) is escaped in every output: no control character, no
// character that changes the direction of text or is invisible, no forged line, no spreadsheet
// formula.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/api/json.hpp"
#include "core/api/text.hpp"
#include "report/api/csv.hpp"
#include "report/api/inspection.hpp"
#include "report/api/page.hpp"
#include "report/api/study.hpp"
#include "report/api/svg.hpp"
#include "sotto/plan/text.hpp"
#include "study/api/design.hpp"

namespace sotto {
namespace {

const std::vector<std::string> fragments{"\x1b[2K",
                                         "\x1b[1A\r",
                                         "\r",
                                         "\n",
                                         "\ncharged     0 of approx(1, 0)\n",
                                         "\t",
                                         std::string(1, '\0'),
                                         "\x7f",
                                         "\x08\x08\x08",
                                         "\u009b2K",
                                         "\u0085",
                                         "\u202e",
                                         "\u2066",
                                         "\u200f",
                                         "\u061c",
                                         "\u2028",
                                         "\u2029",
                                         "\ufeff",
                                         "\u200b",
                                         "\U000e0041",
                                         "\x9b",
                                         "\xff",
                                         "\xc3",
                                         "\xed\xa0\x80",
                                         "=1+1",
                                         "@SUM(A1)",
                                         "+1",
                                         "-1+cmd",
                                         "\"",
                                         "\"\"",
                                         ",",
                                         ";",
                                         "|",
                                         "<script>",
                                         "]]>",
                                         "&amp;",
                                         "'",
                                         "é",
                                         "e\u0301",
                                         "日本",
                                         "north",
                                         " ",
                                         "\xef\xbc\x9d"
                                         "1"};

rc::Gen<std::string> hostile() {
  return rc::gen::map(rc::gen::container<std::vector<std::size_t>>(
                          rc::gen::inRange<std::size_t>(0, fragments.size())),
                      [](const std::vector<std::size_t>& picks) {
                        std::string text;
                        for (const std::size_t pick : picks) text += fragments[pick];
                        return text;
                      });
}

// An independent check of UTF-8 and of unsafe characters. Returns the first violation, or an empty
// text.
std::string violation(const std::string& text, bool may_have_tabs = false) {
  for (std::size_t i = 0; i < text.size();) {
    const auto byte = static_cast<unsigned char>(text[i]);
    unsigned long point = byte;
    std::size_t length = 1;
    if (byte >= 0xf0) {
      length = 4;
      point = byte & 7U;
    } else if (byte >= 0xe0) {
      length = 3;
      point = byte & 15U;
    } else if (byte >= 0xc0) {
      length = 2;
      point = byte & 31U;
    } else if (byte >= 0x80) {
      return "a stray byte";
    }
    for (std::size_t k = 1; k < length; ++k) {
      if (i + k >= text.size() || (static_cast<unsigned char>(text[i + k]) >> 6U) != 2)
        return "a character cut short";
      point = point * 64 + (static_cast<unsigned char>(text[i + k]) & 63U);
    }
    i += length;
    const bool control = (point < 32 && point != '\n' && !(may_have_tabs && point == '\t')) ||
                         (point >= 127 && point < 160);
    const bool turns = point == 0x61c || point == 0x200e || point == 0x200f ||
                       (point >= 0x2028 && point <= 0x202e) || (point >= 0x2066 && point <= 0x2069);
    const bool hidden =
        point == 0x200b || point == 0xfeff || (point >= 0xe0000 && point <= 0xe007f);
    const bool surrogate = point >= 0xd800 && point <= 0xdfff;
    if (control || turns || hidden || surrogate) return "U+" + std::to_string(point);
  }
  return "";
}

bool is_text(const std::string& text) {
  return escaped_for_terminal(text).find("\\x{") == std::string::npos;
}

std::size_t lines(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

// Returns the cells of CSV by RFC 4180.
std::vector<std::vector<std::string>> cells(const std::string& csv) {
  std::vector<std::vector<std::string>> rows(1, {""});
  bool quoted = false;
  for (std::size_t i = 0; i < csv.size(); ++i) {
    std::string& cell = rows.back().back();
    if (csv[i] == '"') {
      if (quoted && i + 1 < csv.size() && csv[i + 1] == '"') {
        cell += csv[++i];
      } else {
        quoted = !quoted;
      }
    } else if (csv[i] == ',' && !quoted) {
      rows.back().emplace_back();
    } else if (csv[i] == '\n' && !quoted) {
      rows.push_back({""});
    } else {
      cell += csv[i];
    }
  }
  rows.pop_back();
  return rows;
}

bool is_number(const std::string& text) {
  std::size_t end = 0;
  try {
    (void)std::stod(text, &end);
  } catch (const std::exception&) {
    return false;
  }
  return end == text.size();
}

// All outputs about one study in which every text is the hostile one.
struct Outputs {
  std::string table, csv, json, page, design, design_csv, design_json, ledger, ledger_csv,
      ledger_json, picture, inspection, inspection_csv, inspection_json;
};

Outputs outputs_of(const std::string& text) {
  Study study;
  study.text = text;
  study.title = text;
  study.data_name = text;
  study.data_version = text;
  StudyColumn number;
  number.name = "of";
  number.type = Type::real;
  number.lower = 0;
  number.upper = 10;
  StudyColumn key;
  key.name = "by";
  key.values = {text + "1", text + "2"};
  study.columns = {number, key};
  study.rho = 0.1;
  study.queries.resize(2);
  study.queries[0].name = study.queries[1].name = text;
  study.queries[0].by = {"by"};
  study.queries[1].ask = Aggregation::mean;
  study.queries[1].of = "of";
  const Terms terms{
      .name = text, .unit = "row", .relation = Relation::add_remove, .budget = ZcdpBudget{1, 0}};
  Study named = study;  // a design refuses keys that SQL cannot express, but an answer from a
                        // ledger may contain them
  named.columns[1].values = {std::string("a"), std::string("b")};
  const Design design = sotto::make_design(named, terms);
  Release release{};
  release.request = release.time = release.title = release.data_name = release.data_version =
      release.ledger = release.unit = text;
  release.relation = "add-remove";
  release.plan = print(design.plan);
  release.confidence = 0.95;
  release.cost = design.cost;
  release.epsilon = 1;
  release.delta = 1e-6;
  release.study = text;
  QueryAnswer one;
  one.ask = Aggregation::count;
  one.name = one.of = one.where = one.event = text;
  one.by = {text};
  one.cuts = {text, text};
  one.estimates = {{{text + "1"}, {}, {}, {}, 1, 0, 2}, {{text + "2"}, {}, {}, {}, -5, 0, 2}};
  QueryAnswer two = one;
  two.ask = Aggregation::histogram;
  for (Estimate& e : two.estimates) {
    e.from = 0;
    e.to = 1;
  }
  release.answers = {one, two};
  Filter filter(terms.budget, terms.relation);
  (void)filter.admit(design.plan);
  Entry entry{};
  entry.number = 1;
  entry.who = entry.title = text;
  entry.time = entry.request = entry.content = entry.plan = entry.hash = text;
  Head head;
  head.number = 1;
  head.hash = text;
  const Claim promise = filter.claim(Delta(1e-6));
  const LedgerState state{text, text, terms, filter, {entry}, head, promise, 1.0};
  const PublicAnswers beside{release.answers, release.answers};
  const ChargePreview outlook{false, false, false, filter, {0.1, 0}, text};
  DataFile data;
  data.name = data.version = data.unit = text;
  data.columns = study.columns;
  data.columns[0].name = data.columns[1].name = text;
  Inspection inspected;
  inspected.columns.resize(2);
  inspected.values_a_unit = {Spread{}, std::nullopt};
  data.unit = "host";
  Outputs all;
  all.inspection = inspection_text(data, inspected, Format::table);
  all.inspection_csv = inspection_text(data, inspected, Format::csv);
  all.table = release_text(release, head, beside, Format::table);
  all.csv = release_text(release, head, beside, Format::csv);
  all.page = study_page({study, design, release, beside, state, text, text});
  all.design = design_text(study, design, terms, outlook, Format::table);
  all.design_csv = design_text(study, design, terms, outlook, Format::csv);
  all.ledger = ledger_text(state, Format::table);
  all.ledger_csv = ledger_text(state, Format::csv);
  Chart chart = ledger_chart(state);
  chart.marks.push_back({0, 0, text});
  all.picture = svg(chart);
  all.page += page(text, text, {chart});
  if (is_text(text)) {  // JSON holds UTF-8 alone
    all.json = release_text(release, head, beside, Format::json);
    all.design_json = design_text(study, design, terms, outlook, Format::json);
    all.ledger_json = ledger_text(state, Format::json);
    all.inspection_json = inspection_text(data, inspected, Format::json);
  }
  return all;
}

RC_GTEST_PROP(HostileText, IsEscapedInEveryOutput, ()) {
  const std::string text = *hostile();
  RC_PRE(!text.empty());
  const Outputs all = outputs_of(text);
  const Outputs plain = outputs_of("x");
  for (const std::string* output :
       {&all.table, &all.csv, &all.json, &all.design, &all.design_csv, &all.design_json,
        &all.ledger, &all.ledger_csv, &all.ledger_json, &all.inspection, &all.inspection_csv,
        &all.inspection_json}) {
    RC_ASSERT(violation(*output).empty());
  }
  RC_ASSERT(violation(all.page, true).empty());
  RC_ASSERT(violation(all.picture, true).empty());
  RC_ASSERT(all.page.find("<script") == std::string::npos);
  // The outputs have as many lines as with a harmless text.
  RC_ASSERT(lines(all.table) == lines(plain.table));
  RC_ASSERT(lines(all.design) == lines(plain.design));
  RC_ASSERT(lines(all.ledger) == lines(plain.ledger));
  RC_ASSERT(lines(all.inspection) == lines(plain.inspection));
  for (const auto& [csv, harmless] : {std::pair{&all.csv, &plain.csv},
                                      {&all.design_csv, &plain.design_csv},
                                      {&all.ledger_csv, &plain.ledger_csv},
                                      {&all.inspection_csv, &plain.inspection_csv}}) {
    RC_ASSERT(lines(*csv) == lines(*harmless));
    const auto rows = cells(*csv);
    for (const auto& row : rows) {
      RC_ASSERT(row.size() == rows.front().size());
      for (const std::string& cell : row) {
        const std::size_t start = cell.find_first_not_of(' ');
        const bool computes = start != std::string::npos &&
                              (std::string("=+-@").find(cell[start]) != std::string::npos ||
                               cell.compare(start, 2, "\xef\xbc") == 0);
        RC_ASSERT(!computes || is_number(cell));
      }
    }
  }
  // JSON decodes to the original text.
  if (is_text(text)) RC_ASSERT(Json::parse(all.json).at("title").get<std::string>() == text);
}

RC_GTEST_PROP(HostileText, IsPlainAfterEscaping, ()) {
  const std::string text = *hostile();
  RC_ASSERT(is_plain(escaped_for_terminal(text)));
  RC_ASSERT(is_plain(text) == (escaped_for_terminal(text) == text));
  const std::string several = escaped_lines(text);
  RC_ASSERT(violation(several).empty());
  for (std::size_t at = several.find('\n'); at != std::string::npos;
       at = several.find('\n', at + 1))
    RC_ASSERT(several.compare(at, 3, "\n  ") == 0);
}

}  // namespace
}  // namespace sotto
