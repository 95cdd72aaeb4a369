#include <algorithm>
#include <cmath>

#include "report/api/answers_json.hpp"
#include "report/study_page/estimate_text.hpp"
#include "report/study_page/evaluation.hpp"
#include "report/answers/ledger_words.hpp"
#include "accounting/api/currencies.hpp"
#include "sotto/core/decimal.hpp"
#include "sotto/core/join.hpp"
#include "core/api/json.hpp"
#include "core/api/text.hpp"
#include "mechanisms/api/combined.hpp"
#include "sotto/plan/text.hpp"
#include "report/api/csv.hpp"
#include "report/api/study.hpp"
#include "study/api/weights.hpp"
#include "report/api/table.hpp"
#include "report/study_page/weights.hpp"

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

constexpr std::size_t most_weights = 12;

// The largest weights of a linear model, in the units of its columns.
std::string weights_text(const TrainedModel& model, double confidence) {
  const auto table = weights_in_units(model);
  if (!table) return "";
  std::vector<std::vector<std::string>> rows{{"", "weight"}};
  if (!model.intervals.empty()) rows.front().push_back(shortest(100 * confidence) + " % interval, for the noise");
  const auto add = [&](const ModelWeight& weight) {
    rows.push_back({report_detail::name_with_reference(weight), rounded(weight.value, 3, Side::lower)});
    if (const auto& interval = weight.interval) {
      rows.back().push_back(rounded(interval->lower, 3, Side::lower) + " to " + rounded(interval->upper, 3, Side::upper));
    }
  };
  const std::size_t shown_weights = std::min(table->weights.size(), most_weights);
  for (std::size_t i = 0; i < shown_weights; ++i) add(table->weights[i]);
  add(table->intercept);
  std::string text = laid_out(rows);
  if (table->weights.size() > shown_weights) {
    text += "  and smaller weights of " + std::to_string(table->weights.size() - shown_weights) + " more\n";
  }
  return text + "  " + escaped_for_terminal(report_detail::meaning_of(*table)) + "\n";
}

// A model in words: what it predicts from what, how well, and its largest weights.
std::string model_text(const TrainedModel& model, double confidence) {
  std::string text = escaped_for_terminal(with_limit(model.name, model.limit) + "  (" + model.target + " by " + model.description + ")") + "\n";
  text += "  " + escaped_for_terminal(model.how) + "\n";
  if (model.accuracy) {
    text += "  right in " + rounded(100 * *model.accuracy, 4, Side::lower) + " % of a private test (" +
            rounded(100 * *model.accuracy_low, 4, Side::lower) + " to " + rounded(100 * *model.accuracy_high, 4, Side::upper) + " % with " +
            shortest(100 * confidence) + " % confidence)\n";
  }
  if (model.evaluation) text += "  " + escaped_for_terminal(report_detail::on_public_rows(*model.evaluation, confidence)) + "\n";
  return text + weights_text(model, confidence);
}

std::string table_of(const Release& release, const Head& head, const PublicAnswers& beside) {
  std::string text;
  if (!release.title.empty()) text += escaped_for_terminal(release.title) + "\n\n";
  for (std::size_t q = 0; q < release.answers.size(); ++q) {
    const QueryAnswer& a = release.answers[q];
    text += escaped_for_terminal(with_limit(a.name, a.limit) + "  (" + question(a) + ")") + "\n";
    std::vector<std::vector<std::string>> rows{{"", "answer", shortest(100 * release.confidence) + " % interval"}};
    if (!beside.empty()) rows.front().insert(rows.front().end(), {"without noise", "in the data", "error"});
    for (std::size_t i = 0; i < a.estimates.size(); ++i) {
      const Estimate& e = a.estimates[i];
      const double width = e.high - e.low;
      rows.push_back({group_name(a, i), shown(e.value, width), shown(e.low, width) + " to " + shown(e.high, width)});
      if (beside.empty()) continue;
      const double truth = beside.in_the_data[q].estimates[i].value;
      rows.back().insert(rows.back().end(), {shown(beside.without_noise[q].estimates[i].value, width), report_detail::shown_if_any(truth, width),
                                             report_detail::error_in_percent(e.value, truth, width)});
    }
    text += a.estimates.empty() ? "  no key had enough units to be shown\n" : laid_out(rows);
    for (const std::string& remark : report_detail::remarks(a, release.confidence)) text += "  " + escaped_for_terminal(remark) + "\n";
    text += "\n";
  }
  for (const TrainedModel& model : release.models) text += model_text(model, release.confidence) + "\n";
  text += report_detail::field("plan", release.plan);
  text += report_detail::field("cost", report_detail::cost_words(release.epsilon, release.delta, release.shares_delta) + " for this study alone");
  text += report_detail::field("data", release.data_name + ", version " + release.data_version + "; each " + release.unit + ", " + release.relation);
  if (const auto& f = release.federation) {
    text += report_detail::field("parties", escaped_for_terminal(join(f->members)));
    const std::string missing = join(f->missing);
    if (!missing.empty()) text += report_detail::field("", escaped_for_terminal("not in every number: " + missing));
    text += report_detail::field("against", "any " + std::to_string(f->colluding) + " of them with the coordinator: the noise of " +
                                                std::to_string(f->honest) + " others is in every sum");
  }
  text += report_detail::field("request", release.request);
  text += report_detail::field("head", std::to_string(head.number) + ":" + head.hash);
  return text;
}

std::string csv_of(const Release& release, const PublicAnswers& beside) {
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
  const bool has_limits = std::any_of(release.answers.begin(), release.answers.end(), [](const QueryAnswer& a) { return a.limit.has_value(); });
  if (has_limits) names.emplace_back("limit");
  if (!beside.empty()) names.insert(names.end(), {"without_noise", "in_the_data"});
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
      if (has_limits) cells.push_back(a.limit ? a.limit->words : "");
      if (!beside.empty()) {
        const double truth = beside.in_the_data[q].estimates[i].value;
        cells.insert(cells.end(), {shortest(beside.without_noise[q].estimates[i].value), std::isnan(truth) ? "" : shortest(truth)});
      }
      text += report_detail::row(cells);
    }
  }
  return text;
}

// How far a query's answer will be from the number without noise, in words.
std::string expected(const Study& study, const Measurement& m, const Query& query) {
  const auto found = expected_error(study, query, m);
  if (!found) return "by the data";
  const std::string least = rounded(found->least, 3, Side::upper);
  const std::string most = rounded(found->most, 3, Side::upper);
  return "± " + (least == most ? most : least + " to " + most) + (found->by_rows ? " / rows" : "");
}

Json expected_json(const Expected& error) { return {{"least", error.least}, {"most", error.most}, {"by_rows", error.by_rows}}; }

bool stands_beside(const PublicAnswers& beside, const Release& release) {
  const auto fits = [&](const std::vector<QueryAnswer>& other) {
    return std::equal(other.begin(), other.end(), release.answers.begin(), release.answers.end(),
                      [](const QueryAnswer& a, const QueryAnswer& b) { return a.estimates.size() == b.estimates.size(); });
  };
  return fits(beside.without_noise) && fits(beside.in_the_data);
}

}  // namespace

std::string design_text(const Study& study, const Design& design, const Terms& terms, const Outlook& outlook, Format format) {
  if (format == Format::json) {
    Json json;
    json["schema"] = "sotto.design/1";
    json["plan"] = print(design.plan);
    json["relation"] = std::string(name(design.relation));
    json["cost"] = {{"amount", report_detail::number(design.cost.amount)}, {"delta", design.cost.delta}};
    json["epsilon"] = report_detail::bound(design.total->value);
    json["delta"] = design.total_delta->value();
    if (design.shares_delta) json["delta_is_share"] = true;
    json["queries"] = Json::array();
    for (const Measurement& m : design.measurements) {
      for (const std::size_t q : m.queries) {
        const Query& query = study.queries[q];
        Json one{{"name", query.name}, {"event", print(m.event)}, {"expected", expected(study, m, query)}};
        if (const auto limit = limit_of(study, query, m)) one["limit"] = limit->words;
        if (const auto error = expected_error(study, query, m); error) one["error"] = expected_json(*error);
        json["queries"].push_back(std::move(one));
      }
    }
    if (!design.trainings.empty()) json["models"] = Json::array();
    for (const TrainDesign& d : design.trainings) {
      Json one{{"name", study.trainings[d.ask].name}, {"event", print(d.event)}};
      if (const auto limit = limit_of(study, study.trainings[d.ask])) one["limit"] = limit->words;
      if (d.test_event) one["test"] = print(*d.test_event);
      json["models"].push_back(std::move(one));
    }
    json["answered"] = outlook.answered;
    json["admitted"] = outlook.admitted;
    json["left"] = report_detail::left_json(outlook.after);
    if (!outlook.admitted) json["refusal"] = outlook.refusal;
    json["warnings"] = design.warnings;
    return report_detail::line(json);
  }
  std::vector<std::vector<std::string>> rows{{"query", "noise", "at " + shortest(100 * study.confidence) + " %"}};
  for (const Measurement& m : design.measurements) {
    for (const std::size_t q : m.queries) {
      const Query& query = study.queries[q];
      rows.push_back({with_limit(query.name, limit_of(study, query, m)), print(m.event), expected(study, m, query)});
    }
  }
  for (const TrainDesign& d : design.trainings) {
    const TrainAsk& ask = study.trainings[d.ask];
    rows.push_back({with_limit(ask.name, limit_of(study, ask)), print(d.event), "a model"});
    if (d.test_event) rows.push_back({study.trainings[d.ask].name + ", test", print(*d.test_event), ""});
  }
  if (format == Format::csv) {
    std::string text;
    for (const auto& row : rows) text += report_detail::row(row);
    return text;
  }
  std::string text = laid_out(rows) + "\n";
  text += report_detail::field("plan", print(design.plan));
  text += report_detail::field(
      "cost", report_detail::cost_words(design.total->value.upper, design.total_delta->value(), design.shares_delta) + " for this study alone");
  const std::string percent = percent_of_budget(terms.budget, design.cost);
  if (outlook.charged) {
    text += report_detail::field("charged", outlook.answered ? "nothing: it was answered before, and the same answer is free"
                                                             : "nothing more: it was charged before, and runs under that charge");
  } else {
    text += report_detail::field(
        "charged", percent + " of the budget (" + report_detail::charge_text(design.cost, outlook.after) + " of " + print(terms.budget) + ")");
  }
  if (outlook.admitted) {
    text += report_detail::field("left", what_is_left(outlook.after) + " after it");
  } else {
    text += report_detail::field("refused", "it would be: " + outlook.refusal);
  }
  for (const std::string& warning : design.warnings) text += report_detail::field("note", warning);
  return text;
}

std::string release_text(const Release& release, const Head& head, const PublicAnswers& given, Format format) {
  // an answer that another version kept may have been measured otherwise
  static const PublicAnswers none;
  const PublicAnswers& beside = stands_beside(given, release) ? given : none;
  if (format == Format::csv) return csv_of(release, beside);
  if (format == Format::table) return table_of(release, head, beside);
  Json json = Json::parse(to_json(release));
  json["head"] = std::to_string(head.number) + ":" + head.hash;
  for (std::size_t q = 0; q < beside.without_noise.size(); ++q) {
    for (std::size_t i = 0; i < beside.without_noise[q].estimates.size(); ++i) {
      Json& estimate = json["answers"][q]["estimates"][i];
      const double truth = beside.in_the_data[q].estimates[i].value;
      estimate["without_noise"] = beside.without_noise[q].estimates[i].value;
      estimate["in_the_data"] = std::isnan(truth) ? Json() : Json(truth);
    }
  }
  return report_detail::line(json);
}

}  // namespace sotto
