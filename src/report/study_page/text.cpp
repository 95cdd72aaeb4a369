// A study's design and its answers as a table for a terminal, as CSV and as JSON.
#include "core/api/text.hpp"

#include <algorithm>
#include <cmath>

#include "accounting/api/currencies.hpp"
#include "core/api/join.hpp"
#include "core/api/json.hpp"
#include "mechanisms/api/combined.hpp"
#include "report/answers/ledger_words.hpp"
#include "report/api/answers_json.hpp"
#include "report/api/csv.hpp"
#include "report/api/study.hpp"
#include "report/api/table.hpp"
#include "report/study_page/estimate_text.hpp"
#include "report/study_page/evaluation.hpp"
#include "report/study_page/weights.hpp"
#include "sotto/core/decimal.hpp"
#include "sotto/plan/text.hpp"
#include "study/api/weights.hpp"

namespace sotto {
namespace {

using report_detail::csv_row;
using report_detail::display_width;
using report_detail::field;
using report_detail::Json;
using report_detail::with_interval_digits;

using Cells = std::vector<std::string>;

// Returns the rows in columns: the first column aligned left, all others right. The cells are
// escaped.
std::string in_columns(std::vector<Cells> rows) {
  for (Cells& row : rows) {
    for (std::string& cell : row) cell = escaped_for_terminal(cell);
  }
  std::vector<std::size_t> widths;
  for (const Cells& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max(widths[i], display_width(row[i]));
  }
  std::string text;
  for (const Cells& row : rows) {
    std::string line = " ";
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string gap(widths[i] - display_width(row[i]), ' ');
      line += " " + (i == 0 ? row[i] + gap : gap + row[i]);
      line += " ";
    }
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

constexpr std::size_t most_weights = 12;

// The largest weights of a linear model, in the units of its columns; empty for another model.
std::string weights_text(const TrainedModel& model, double confidence) {
  const auto table = weights_in_units(model);
  if (!table) return "";
  std::vector<Cells> rows{{"", "weight"}};
  if (!model.intervals.empty())
    rows.front().push_back(shortest(100 * confidence) + " % interval, for the noise");
  const auto add = [&](const ModelWeight& weight) {
    rows.push_back(
        {report_detail::name_with_reference(weight), rounded(weight.value, 3, Side::lower)});
    if (const auto& interval = weight.interval) {
      rows.back().push_back(rounded(interval->lower, 3, Side::lower) + " to " +
                            rounded(interval->upper, 3, Side::upper));
    }
  };
  const std::size_t count = std::min(table->weights.size(), most_weights);
  for (std::size_t i = 0; i < count; ++i) add(table->weights[i]);
  add(table->intercept);
  std::string text = in_columns(rows);
  if (table->weights.size() > count) {
    text += "  and smaller weights of " + std::to_string(table->weights.size() - count) + " more\n";
  }
  return text + "  " + escaped_for_terminal(report_detail::meaning_of(*table)) + "\n";
}

// A model in words: its target and features, its accuracy, and its largest weights.
std::string model_text(const TrainedModel& model, double confidence) {
  std::string text = escaped_for_terminal(with_limit(model.name, model.limit) + "  (" +
                                          model.target + " by " + model.description + ")") +
                     "\n";
  text += "  " + escaped_for_terminal(model.how) + "\n";
  if (model.accuracy) {
    text += "  right in " + rounded(100 * *model.accuracy, 4, Side::lower) +
            " % of a private test (" + rounded(100 * *model.accuracy_low, 4, Side::lower) + " to " +
            rounded(100 * *model.accuracy_high, 4, Side::upper) + " % with " +
            shortest(100 * confidence) + " % confidence)\n";
  }
  if (model.evaluation)
    text += "  " +
            escaped_for_terminal(report_detail::on_public_rows(*model.evaluation, confidence)) +
            "\n";
  return text + weights_text(model, confidence);
}

// The answer to one query, with a row for each estimate. `q` is its index.
std::string query_table(const Release& release, const PublicAnswers& public_answers,
                        std::size_t q) {
  const QueryAnswer& a = release.answers[q];
  std::vector<Cells> rows{{"", "answer", shortest(100 * release.confidence) + " % interval"}};
  if (!public_answers.empty())
    rows.front().insert(rows.front().end(), {"without noise", "in the data", "error"});
  for (std::size_t i = 0; i < a.estimates.size(); ++i) {
    const Estimate& e = a.estimates[i];
    const double width = e.high - e.low;
    rows.push_back(
        {report_detail::group_name(a, i), with_interval_digits(e.value, width),
         with_interval_digits(e.low, width) + " to " + with_interval_digits(e.high, width)});
    if (public_answers.empty()) continue;
    const double truth = public_answers.in_the_data[q].estimates[i].value;
    rows.back().insert(
        rows.back().end(),
        {with_interval_digits(public_answers.without_noise[q].estimates[i].value, width),
         report_detail::with_interval_digits_or_dash(truth, width),
         report_detail::error_in_percent(e.value, truth, width)});
  }
  std::string text =
      escaped_for_terminal(with_limit(a.name, a.limit) + "  (" + report_detail::question(a) + ")") +
      "\n";
  text += a.estimates.empty() ? "  no key had enough units to be shown\n" : in_columns(rows);
  for (const std::string& remark : report_detail::remarks(a, release.confidence))
    text += "  " + escaped_for_terminal(remark) + "\n";
  return text + "\n";
}

std::string parties_text(const Federation& f) {
  std::string text = field("parties", escaped_for_terminal(listed(f.members)));
  const std::string missing = listed(f.missing);
  if (!missing.empty()) text += field("", escaped_for_terminal("not in every number: " + missing));
  return text + field("against", "any " + std::to_string(f.colluding) +
                                     " of them with the coordinator: the noise of " +
                                     std::to_string(f.honest) + " others is in every sum");
}

std::string table_of(const Release& release, const Head& head,
                     const PublicAnswers& public_answers) {
  std::string text;
  if (!release.title.empty()) text += escaped_for_terminal(release.title) + "\n\n";
  for (std::size_t q = 0; q < release.answers.size(); ++q)
    text += query_table(release, public_answers, q);
  for (const TrainedModel& model : release.models)
    text += model_text(model, release.confidence) + "\n";
  text += field("plan", release.plan);
  text += field("cost",
                report_detail::cost_words(release.epsilon, release.delta, release.shares_delta) +
                    " for this study alone");
  text += field("data", release.data_name + ", version " + release.data_version + "; each " +
                            release.unit + ", " + release.relation);
  if (release.federation) text += parties_text(*release.federation);
  text += field("request", release.request);
  text += field("head", std::to_string(head.number) + ":" + head.hash);
  return text;
}

// Returns the columns by which any query groups, each once, in the order of the queries.
std::vector<std::string> keys_of(const Release& release) {
  std::vector<std::string> keys;
  for (const QueryAnswer& a : release.answers) {
    for (const std::string& key : a.by) {
      if (std::find(keys.begin(), keys.end(), key) == keys.end()) keys.push_back(key);
    }
  }
  return keys;
}

// A row for each estimate. A grouping column has the same CSV column in all queries; it is empty
// for a query that does not group by it.
std::string csv_of(const Release& release, const PublicAnswers& public_answers) {
  const std::vector<std::string> keys = keys_of(release);
  const bool has_limits = std::any_of(release.answers.begin(), release.answers.end(),
                                      [](const QueryAnswer& a) { return a.limit.has_value(); });
  Cells names{"query", "ask", "of"};
  for (const std::string& key : keys) names.push_back("key_" + key);
  names.insert(names.end(), {"from", "to", "quantile", "value", "low", "high", "confidence"});
  if (has_limits) names.emplace_back("limit");
  if (!public_answers.empty()) names.insert(names.end(), {"without_noise", "in_the_data"});

  const auto optional_number = [](const std::optional<double>& x) {
    return x ? shortest(*x) : std::string();
  };
  std::string text = csv_row(names);
  for (std::size_t q = 0; q < release.answers.size(); ++q) {
    const QueryAnswer& a = release.answers[q];
    for (std::size_t i = 0; i < a.estimates.size(); ++i) {
      const Estimate& e = a.estimates[i];
      Cells cells{a.name, name_of(a.ask), a.of};
      for (const std::string& key : keys) {
        const auto at =
            static_cast<std::size_t>(std::find(a.by.begin(), a.by.end(), key) - a.by.begin());
        cells.push_back(at < e.keys.size() ? e.keys[at] : "");
      }
      cells.insert(cells.end(), {optional_number(e.from), optional_number(e.to),
                                 optional_number(e.quantile), shortest(e.value), shortest(e.low),
                                 shortest(e.high), shortest(release.confidence)});
      if (has_limits) cells.push_back(a.limit ? a.limit->words : "");
      if (!public_answers.empty()) {
        const double truth = public_answers.in_the_data[q].estimates[i].value;
        cells.insert(cells.end(), {shortest(public_answers.without_noise[q].estimates[i].value),
                                   std::isnan(truth) ? "" : shortest(truth)});
      }
      text += csv_row(cells);
    }
  }
  return text;
}

// Returns the expected distance of a query's answer from the number without noise: "± 12", or "± 12
// / rows" if it depends on the number of rows, which is not public.
std::string expected_words(const Study& study, const Measurement& m, const Query& query) {
  const auto error = expected_error(study, query, m);
  if (!error) return "by the data";
  const std::string least = rounded(error->least, 3, Side::upper);
  const std::string most = rounded(error->most, 3, Side::upper);
  return "± " + (least == most ? most : least + " to " + most) + (error->by_rows ? " / rows" : "");
}

Json expected_json(const Expected& error) {
  return {{"least", error.least}, {"most", error.most}, {"by_rows", error.by_rows}};
}

// Whether the public answers have an estimate for each of the release's. They may not if another
// version of sotto stored the release and measured other groups.
bool match(const PublicAnswers& public_answers, const Release& release) {
  const auto fits = [&](const std::vector<QueryAnswer>& other) {
    return std::equal(other.begin(), other.end(), release.answers.begin(), release.answers.end(),
                      [](const QueryAnswer& a, const QueryAnswer& b) {
                        return a.estimates.size() == b.estimates.size();
                      });
  };
  return fits(public_answers.without_noise) && fits(public_answers.in_the_data);
}

Json query_json(const Study& study, const Measurement& m, const Query& query) {
  Json json{{"name", query.name},
            {"event", print(m.event)},
            {"expected", expected_words(study, m, query)}};
  if (const auto limit = limit_of(study, query, m)) json["limit"] = limit->words;
  if (const auto error = expected_error(study, query, m); error)
    json["error"] = expected_json(*error);
  return json;
}

Json training_json(const Study& study, const TrainDesign& design) {
  Json json{{"name", study.trainings[design.ask].name}, {"event", print(design.event)}};
  if (const auto limit = limit_of(study, study.trainings[design.ask])) json["limit"] = limit->words;
  if (design.test_event) json["test"] = print(*design.test_event);
  return json;
}

std::string design_json(const Study& study, const Design& design, const ChargePreview& outlook) {
  Json json;
  json["schema"] = "sotto.design/1";
  json["plan"] = print(design.plan);
  json["relation"] = std::string(name(design.relation));
  json["cost"] = {{"amount", report_detail::number(design.cost.amount)},
                  {"delta", design.cost.delta}};
  json["epsilon"] = report_detail::bound(design.total->value);
  json["delta"] = design.total_delta->value();
  if (design.shares_delta) json["delta_is_share"] = true;
  json["queries"] = Json::array();
  for (const Measurement& m : design.measurements) {
    for (const std::size_t q : m.queries)
      json["queries"].push_back(query_json(study, m, study.queries[q]));
  }
  if (!design.trainings.empty()) json["models"] = Json::array();
  for (const TrainDesign& d : design.trainings) json["models"].push_back(training_json(study, d));
  json["answered"] = outlook.answered;
  json["admitted"] = outlook.admitted;
  json["left"] = report_detail::left_json(outlook.after);
  if (!outlook.admitted) json["refusal"] = outlook.refusal;
  json["warnings"] = design.warnings;
  return report_detail::line(json);
}

// A row for each query and each training, below a row of headings.
std::vector<Cells> design_rows(const Study& study, const Design& design) {
  std::vector<Cells> rows{{"query", "noise", "at " + shortest(100 * study.confidence) + " %"}};
  for (const Measurement& m : design.measurements) {
    for (const std::size_t q : m.queries) {
      const Query& query = study.queries[q];
      rows.push_back({with_limit(query.name, limit_of(study, query, m)), print(m.event),
                      expected_words(study, m, query)});
    }
  }
  for (const TrainDesign& d : design.trainings) {
    const TrainingRequest& ask = study.trainings[d.ask];
    rows.push_back({with_limit(ask.name, limit_of(study, ask)), print(d.event), "a model"});
    if (d.test_event) rows.push_back({ask.name + ", test", print(*d.test_event), ""});
  }
  return rows;
}

// Writes the charge of the ledger for the study.
std::string charge_words(const Design& design, const Terms& terms, const ChargePreview& outlook) {
  if (outlook.charged) {
    return outlook.answered ? "nothing: it was answered before, and the same answer is free"
                            : "nothing more: it was charged before, and runs under that charge";
  }
  return percent_of_budget(terms.budget, design.cost) + " of the budget (" +
         report_detail::charge_text(design.cost, outlook.after) + " of " + print(terms.budget) +
         ")";
}

std::string design_table(const Study& study, const Design& design, const Terms& terms,
                         const ChargePreview& outlook) {
  std::string text = in_columns(design_rows(study, design)) + "\n";
  text += field("plan", print(design.plan));
  text +=
      field("cost", report_detail::cost_words(design.total->value.upper,
                                              design.total_delta->value(), design.shares_delta) +
                        " for this study alone");
  text += field("charged", charge_words(design, terms, outlook));
  text += outlook.admitted ? field("left", remaining_budget_line(outlook.after) + " after it")
                           : field("refused", "it would be: " + outlook.refusal);
  for (const std::string& warning : design.warnings) text += field("note", warning);
  return text;
}

}  // namespace

std::string design_text(const Study& study, const Design& design, const Terms& terms,
                        const ChargePreview& outlook, Format format) {
  if (format == Format::json) return design_json(study, design, outlook);
  if (format == Format::table) return design_table(study, design, terms, outlook);
  std::string text;
  for (const Cells& row : design_rows(study, design)) text += csv_row(row);
  return text;
}

std::string release_text(const Release& release, const Head& head,
                         const PublicAnswers& public_answers, Format format) {
  static const PublicAnswers none;
  const PublicAnswers& matching = match(public_answers, release) ? public_answers : none;
  if (format == Format::csv) return csv_of(release, matching);
  if (format == Format::table) return table_of(release, head, matching);
  Json json = Json::parse(to_json(release));
  json["head"] = std::to_string(head.number) + ":" + head.hash;
  for (std::size_t q = 0; q < matching.without_noise.size(); ++q) {
    for (std::size_t i = 0; i < matching.without_noise[q].estimates.size(); ++i) {
      Json& estimate = json["answers"][q]["estimates"][i];
      const double truth = matching.in_the_data[q].estimates[i].value;
      estimate["without_noise"] = matching.without_noise[q].estimates[i].value;
      estimate["in_the_data"] = std::isnan(truth) ? Json() : Json(truth);
    }
  }
  return report_detail::line(json);
}

}  // namespace sotto
