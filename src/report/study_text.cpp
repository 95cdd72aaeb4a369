#include <algorithm>
#include <cmath>

#include "answers_json.hpp"
#include "estimate_text.hpp"
#include "sotto/core/decimal.hpp"
#include "sotto/core/json.hpp"
#include "sotto/core/text.hpp"
#include "sotto/mechanisms/combined.hpp"
#include "sotto/plan/text.hpp"
#include "sotto/report/csv.hpp"
#include "sotto/report/study.hpp"
#include "table.hpp"

namespace sotto {
namespace {

using report_detail::group_name;
using report_detail::Json;
using report_detail::question;
using report_detail::shown;

std::size_t columns_of(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80; }));
}

std::string laid_out(std::vector<std::vector<std::string>> rows) {
  for (auto& row : rows) {
    for (std::string& cell : row) cell = escaped_for_terminal(cell);
  }
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], columns_of(row[i]));
  }
  std::string text;
  for (const auto& row : rows) {
    std::string line = " ";
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string gap(widths[i] - columns_of(row[i]), ' ');
      line += " " + (i == 0 ? row[i] + gap : gap + row[i]);
      line += " ";
    }
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

std::string table_of(const Release& release, const Head& head, const std::vector<QueryAnswer>& exact) {
  std::string text;
  if (!release.title.empty()) text += escaped_for_terminal(release.title) + "\n\n";
  for (std::size_t q = 0; q < release.answers.size(); ++q) {
    const QueryAnswer& a = release.answers[q];
    text += escaped_for_terminal(a.name + "  (" + question(a) + ")") + "\n";
    std::vector<std::vector<std::string>> rows{{"", "answer", shortest(100 * release.confidence) + " % interval"}};
    if (!exact.empty()) rows.front().insert(rows.front().end(), {"exact", "error"});
    for (std::size_t i = 0; i < a.estimates.size(); ++i) {
      const Estimate& e = a.estimates[i];
      const double width = e.high - e.low;
      rows.push_back({group_name(e), shown(e.value, width), shown(e.low, width) + " to " + shown(e.high, width)});
      if (!exact.empty()) {
        const double truth = exact[q].estimates[i].value;
        rows.back().insert(rows.back().end(), {shown(truth, width), report_detail::error_in_percent(e.value, truth)});
      }
    }
    text += a.estimates.empty() ? "  no key had enough units to be shown\n" : laid_out(rows);
    text += "\n";
  }
  text += report_detail::field("plan", release.plan);
  text += report_detail::field("cost", "ε = " + report_detail::up(release.epsilon) + " at δ = " + shortest(release.delta) + " for this study alone");
  text += report_detail::field("data", release.data_name + ", version " + release.data_version + "; each " + release.unit + ", " + release.relation);
  text += report_detail::field("request", release.request);
  text += report_detail::field("head", std::to_string(head.number) + ":" + head.hash);
  return text;
}

std::string csv_of(const Release& release, const std::vector<QueryAnswer>& exact) {
  // one column a key, by the key's name, whichever queries have it
  std::vector<std::string> keys;
  for (const QueryAnswer& a : release.answers) {
    for (const std::string& key : a.by) {
      if (std::find(keys.begin(), keys.end(), key) == keys.end()) keys.push_back(key);
    }
  }
  std::vector<std::string> names{"query", "ask", "of"};
  for (const std::string& key : keys) names.push_back("key_" + key);
  names.insert(names.end(), {"from", "to", "quantile", "value", "low", "high", "confidence"});
  if (!exact.empty()) names.emplace_back("exact");
  std::string text = report_detail::row(names);
  const auto maybe = [](const std::optional<double>& x) { return x ? shortest(*x) : std::string(); };
  for (std::size_t q = 0; q < release.answers.size(); ++q) {
    const QueryAnswer& a = release.answers[q];
    for (std::size_t i = 0; i < a.estimates.size(); ++i) {
      const Estimate& e = a.estimates[i];
      std::vector<std::string> cells{a.name, name_of(a.ask), a.of};
      for (const std::string& key : keys) {
        const auto at = static_cast<std::size_t>(std::find(a.by.begin(), a.by.end(), key) - a.by.begin());
        cells.push_back(at < e.keys.size() ? e.keys[at] : "");
      }
      cells.insert(cells.end(), {maybe(e.from), maybe(e.to), maybe(e.quantile), shortest(e.value), shortest(e.low), shortest(e.high),
                                 shortest(release.confidence)});
      if (!exact.empty()) cells.push_back(shortest(exact[q].estimates[i].value));
      text += report_detail::row(cells);
    }
  }
  return text;
}

// How far a query's answer will be from the truth, where that is known before.
std::string expected(const Study& study, const Measurement& m, const Query& query) {
  const double alpha = 1 - study.confidence;
  const double range = static_cast<double>(m.aggregate.steps.range()) * m.aggregate.steps.unit();
  const auto margin = [&](std::vector<Weight> weights) { return distance_at(m.kind, m.scale, weights, alpha); };
  switch (m.form) {
    case Form::counts: return "± " + rounded(margin({{1.0}}), 3, Side::upper);
    case Form::sums: return "± " + rounded(margin({{1.0}}), 3, Side::upper);
    case Form::halves:
      if (query.ask == Ask::sum)
        return "± " + rounded(margin({{m.aggregate.steps.upper() / range}, {m.aggregate.steps.lower() / range}}), 3, Side::upper);
      if (query.ask == Ask::mean) return "± " + rounded(margin({{0.5}, {0.5}}), 3, Side::upper) + " / rows";
      return "± " + rounded(margin({{1 / range}, {1 / range}}), 3, Side::upper);
    default: return "by the data";
  }
}

}  // namespace

std::string design_text(const Study& study, const Design& design, const Terms& terms, Format format) {
  if (format == Format::json) {
    Json json;
    json["schema"] = "sotto.design/1";
    json["plan"] = print(design.plan);
    json["relation"] = std::string(name(design.relation));
    json["cost"] = {{"amount", report_detail::number(design.cost.amount)}, {"delta", design.cost.delta}};
    json["epsilon"] = report_detail::bound(design.total->value);
    json["delta"] = design.total_delta->value();
    json["queries"] = Json::array();
    for (const Measurement& m : design.measurements) {
      for (const std::size_t q : m.queries) {
        json["queries"].push_back({{"name", study.queries[q].name}, {"event", print(m.event)}, {"expected", expected(study, m, study.queries[q])}});
      }
    }
    json["warnings"] = design.warnings;
    return report_detail::line(json);
  }
  std::vector<std::vector<std::string>> rows{{"query", "noise", "at " + shortest(100 * study.confidence) + " %"}};
  for (const Measurement& m : design.measurements) {
    for (const std::size_t q : m.queries) rows.push_back({study.queries[q].name, print(m.event), expected(study, m, study.queries[q])});
  }
  if (format == Format::csv) {
    std::string text;
    for (const auto& row : rows) text += report_detail::row(row);
    return text;
  }
  std::string text = laid_out(rows) + "\n";
  text += report_detail::field("plan", print(design.plan));
  text += report_detail::field(
      "cost", "ε = " + report_detail::up(design.total->value.upper) + " at δ = " + shortest(design.total_delta->value()) + " for this study alone");
  text += report_detail::field("charged", shortest(design.cost.amount) + " of " + print(terms.budget));
  for (const std::string& warning : design.warnings) text += report_detail::field("note", warning);
  return text;
}

std::string release_text(const Release& release, const Head& head, const std::vector<QueryAnswer>& exact, Format format) {
  if (format == Format::csv) return csv_of(release, exact);
  if (format == Format::table) return table_of(release, head, exact);
  Json json = Json::parse(to_json(release));
  json["head"] = std::to_string(head.number) + ":" + head.hash;
  for (std::size_t q = 0; q < exact.size(); ++q) {
    for (std::size_t i = 0; i < exact[q].estimates.size(); ++i) json["answers"][q]["estimates"][i]["exact"] = exact[q].estimates[i].value;
  }
  return report_detail::line(json);
}

}  // namespace sotto
