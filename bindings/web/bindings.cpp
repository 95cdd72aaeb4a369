// The accountant behind one C function: a question as JSON in, the answer that the command prints
// as JSON out. What a page's form asks for becomes a plan here too, so that there is no arithmetic
// in JavaScript.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/api/json.hpp"
#include "core/api/text.hpp"
#include "core/api/work.hpp"
#include "report/api/answers.hpp"
#include "report/api/attacker.hpp"
#include "report/api/over_steps.hpp"
#include "report/api/svg.hpp"
#include "sotto/accounting/calibrate.hpp"
#include "sotto/core/decimal.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/core/values.hpp"
#include "sotto/numerics/real.hpp"
#include "sotto/plan/holes.hpp"
#include "sotto/plan/text.hpp"

namespace sotto::web {
namespace {

// A member's text: what was typed, empty where there is none.
std::string typed(const Json& asked, const char* member) { return asked.value(member, ""); }

double number(const Json& asked, const char* member, const char* words) {
  const std::string text = typed(asked, member);
  if (text.empty()) throw InvalidValue(std::string(words) + " is missing: write a number");
  try {
    return read_number(text);
  } catch (const InvalidValue& e) {
    throw InvalidValue(std::string(words) + ": " + e.what());
  }
}

std::int64_t count(const Json& asked, const char* member, const char* words,
                   std::int64_t least = 1) {
  const double value = number(asked, member, words);
  if (!(value >= static_cast<double>(least) && value <= 0x1p53) || value != std::floor(value)) {
    throw InvalidValue(std::string(words) + " = " + typed(asked, member) +
                       " is not allowed: it must be a whole number from " + std::to_string(least));
  }
  return static_cast<std::int64_t>(value);
}

// A number's text, checked: it is put into a plan as it was written.
std::string positive(const Json& asked, const char* member, const char* words) {
  if (typed(asked, member) == "?") return "?";
  require_positive(number(asked, member, words), words);
  return typed(asked, member);
}

Delta delta_of(const Json& asked) { return Delta(number(asked, "delta", "delta")); }
Epsilon epsilon_of(const Json& asked) { return Epsilon(number(asked, "epsilon", "epsilon")); }

Question question_of(const Json& asked) {
  Question question;
  if (const std::string by = typed(asked, "by"); !by.empty()) {
    const auto method = method_named(by);
    if (!method) throw InvalidValue("the method " + by + " is not known");
    question.by = *method;
  }
  if (const std::string relation = typed(asked, "relation"); !relation.empty()) {
    question.relation = relation_named(relation);
    if (!question.relation)
      throw InvalidValue("the relation " + relation +
                         " is not known: it must be add-remove, replace-one or zero-out");
  }
  if (!typed(asked, "seconds").empty()) question.seconds = number(asked, "seconds", "seconds");
  return question;
}

Plan plan_of(const Json& asked) { return parse(typed(asked, "plan")); }

double number_in(const Json& end, double otherwise) {
  return end.is_number() ? end.get<double>() : end == "inf" ? INFINITY : otherwise;
}

// Beside every bracket the digits to show, each end rounded outward.
Json with_digits(const Json& json) {
  if (json.is_array()) {
    Json all = Json::array();
    for (const Json& item : json) all.push_back(with_digits(item));
    return all;
  }
  if (!json.is_object()) return json;
  Json all = Json::object();
  for (const Json::Member& member : json.members()) all[member.name] = with_digits(member.value);
  if (json.contains("lower") && json.contains("upper")) {
    all["shown"] = {{"lower", rounded(number_in(json["lower"], -INFINITY), 7, Side::lower)},
                    {"upper", rounded(number_in(json["upper"], INFINITY), 7, Side::upper)}};
  }
  return all;
}

// One line; for a page, which asks for "digits", with the digits to show.
std::string line(const Json& asked, const Json& answer) {
  return escaped_json((asked.contains("digits") ? with_digits(answer) : answer).dump()) + "\n";
}

std::string ask_epsilon(const Json& asked) {
  const Plan plan = plan_of(asked);
  return epsilon_text(plan, delta_of(asked), epsilon(plan, delta_of(asked), question_of(asked)),
                      Format::json);
}

std::string ask_delta(const Json& asked) {
  const Plan plan = plan_of(asked);
  return delta_text(plan, epsilon_of(asked), delta(plan, epsilon_of(asked), question_of(asked)),
                    Format::json);
}

// As the command: the waste in noise where it is quick.
std::string ask_compare(const Json& asked) {
  const Plan plan = plan_of(asked);
  std::vector<Comparison> rows = compare(plan, delta_of(asked), question_of(asked));
  if (!noise_waste_is_slow(plan))
    rows = with_noise_waste(std::move(rows), plan, delta_of(asked), question_of(asked));
  return compare_text(plan, delta_of(asked), rows, Format::json);
}

std::string ask_explain(const Json& asked) {
  const Plan plan = plan_of(asked);
  return explain_text(plan, delta_of(asked), epsilon(plan, delta_of(asked), question_of(asked)),
                      Format::json);
}

std::string ask_calibrate(const Json& asked) {
  return calibrate_text(
      epsilon_of(asked), delta_of(asked),
      calibrate(plan_of(asked), epsilon_of(asked), delta_of(asked), question_of(asked)),
      Format::json);
}

// The answer to `tradeoff`, and the curve as a picture.
std::string ask_tradeoff(const Json& asked) {
  const Plan plan = plan_of(asked);
  const Question question = question_of(asked);
  const Tradeoff tradeoff(plan, question.relation, question.seconds);
  Json answer =
      Json::parse(tradeoff_text(plan, tradeoff, {0.001, 0.01, 0.05, 0.1, 0.5}, 0.5, Format::json));
  if (asked.contains("picture")) answer["svg"] = svg(tradeoff_chart(plan, tradeoff));
  return answer.dump();
}

// The answer to `epsilon --over-steps POINTS`, with "spacing": "even" to that with --even, and the
// curve as a picture.
std::string ask_over_steps(const Json& asked) {
  const Plan plan = plan_of(asked);
  const auto points =
      static_cast<std::size_t>(asked.contains("points") ? count(asked, "points", "points", 2) : 50);
  const Spacing spacing = typed(asked, "spacing") == "even" ? Spacing::even : Spacing::logarithmic;
  const auto found = epsilon_over_steps(
      plan, delta_of(asked), step_counts(step_total(plan), points, spacing), question_of(asked));
  Json answer = Json::parse(over_steps_text(plan, delta_of(asked), found, Format::json));
  if (asked.contains("picture"))
    answer["svg"] = svg(over_steps_chart(plan, delta_of(asked), found, spacing));
  return answer.dump();
}

// Whether a plan can be read, how it is printed, and whether it has a hole.
std::string ask_plan(const Json& asked) {
  const Plan plan = plan_of(asked);
  return Json{
      {"schema", "sotto.web.plan/1"}, {"plan", print(plan)}, {"holes", holes_of(plan).size()}}
      .dump();
}

// --- What users of each kind know, as a plan. ---

// Training of n records in batches of about b, drawn anew each step: E epochs are ceil(E n/b)
// steps.
std::string dpsgd_plan(const Json& asked) {
  const std::int64_t records = count(asked, "records", "records");
  const std::int64_t batch = count(asked, "batch", "batch");
  if (batch > records)
    throw InvalidValue("batch = " + std::to_string(batch) + " is not allowed: there are " +
                       std::to_string(records) + " records");
  const double epochs = require_positive(number(asked, "epochs", "epochs"), "epochs");
  const Real exact =
      Real(epochs) * Real(static_cast<double>(records)) / Real(static_cast<double>(batch));
  const std::string steps = shortest(std::max(1.0, std::ceil(exact.estimate())));
  const std::string noise = "gaussian(" + positive(asked, "sigma", "noise") + ")";
  if (typed(asked, "sampling") == "without_replacement") {
    return steps + " * without_replacement(" + std::to_string(batch) + ", " +
           std::to_string(records) + ", " + noise + ")";
  }
  return steps + " * poisson(" + std::to_string(batch) + "/" + std::to_string(records) + ", " +
         noise + ")";
}

std::string statistics_plan(const Json& asked) {
  const std::int64_t gaussian = count(asked, "gaussian", "Gaussian releases", 0);
  const std::int64_t laplace = count(asked, "laplace", "Laplace releases", 0);
  if (gaussian + laplace == 0)
    throw InvalidValue(
        "no release: how many numbers with Gaussian or Laplace noise are to be released?");
  std::string text;
  if (gaussian > 0)
    text = std::to_string(gaussian) + " * gaussian(" + positive(asked, "sigma", "noise") + ")";
  if (laplace > 0)
    text += (text.empty() ? "" : " + ") + std::to_string(laplace) + " * laplace(" +
            positive(asked, "scale", "noise") + ")";
  return text;
}

// Each of n members adds noise of standard deviation σ; a sum is opened by t of them, of whom c may
// collude: h = t - c noises are unknown to those who do. As Session's: t is above (n + c)/2.
std::string federated_plan(const Json& asked) {
  const std::int64_t members = count(asked, "members", "members", 2);
  const std::int64_t colluding = count(asked, "colluding", "colluding", 0);
  const std::int64_t threshold = count(asked, "threshold", "threshold");
  const std::int64_t least = (members + colluding) / 2 + 1;
  if (colluding >= members)
    throw InvalidValue("colluding = " + std::to_string(colluding) +
                       " is not allowed: somebody must be honest, so fewer than " +
                       std::to_string(members));
  if (threshold < least || threshold > members) {
    throw InvalidValue("threshold = " + std::to_string(threshold) + " is not allowed: with " +
                       std::to_string(members) + " members of whom " + std::to_string(colluding) +
                       " may collude it must be above (n + c)/2 and at most n: from " +
                       std::to_string(least) + " to " + std::to_string(members));
  }
  return std::to_string(count(asked, "rounds", "rounds")) + " * aggregated_gaussian(" +
         positive(asked, "sigma", "noise") + ", " + std::to_string(threshold - colluding) + ")";
}

std::string write_plan(const Json& asked, const std::function<std::string(const Json&)>& form) {
  const Plan plan = parse(form(asked));
  return Json{
      {"schema", "sotto.web.plan/1"}, {"plan", print(plan)}, {"holes", holes_of(plan).size()}}
      .dump();
}

std::string error_text(const char* kind, const char* words, std::size_t column = 0) {
  Json error{{"kind", kind}, {"words", words}};
  if (column > 0) error["column"] = column;
  return Json{{"schema", "sotto.web.error/1"}, {"error", error}}.dump() + "\n";
}

std::string answer(const std::string& question) {
  static const std::map<std::string, std::function<std::string(const Json&)>> answers{
      {"epsilon", ask_epsilon},
      {"delta", ask_delta},
      {"compare", ask_compare},
      {"explain", ask_explain},
      {"calibrate", ask_calibrate},
      {"tradeoff", ask_tradeoff},
      {"over-steps", ask_over_steps},
      {"plan", ask_plan},
      {"dp-sgd", [](const Json& asked) { return write_plan(asked, dpsgd_plan); }},
      {"statistics", [](const Json& asked) { return write_plan(asked, statistics_plan); }},
      {"federated", [](const Json& asked) { return write_plan(asked, federated_plan); }},
  };
  try {
    const Json asked = Json::parse(question);
    const auto found = answers.find(typed(asked, "ask"));
    if (found == answers.end())
      throw InvalidValue("there is no question '" + typed(asked, "ask") + "'");
    return line(asked, Json::parse(found->second(asked)));
  } catch (const ParseError& e) {
    return error_text("parse", e.what(), e.column());
  } catch (const OutsideConditions& e) {
    return error_text("outside-conditions", e.what());
  } catch (const OutOfWork& e) {
    return error_text("work", e.what());
  } catch (const InvalidValue& e) {
    return error_text("value", e.what());
  } catch (const std::exception& e) {
    return error_text("other", e.what());
  }
}

}  // namespace
}  // namespace sotto::web

/// The answer to a question, both JSON in UTF-8: {"ask": "epsilon", "plan": "…", "delta": "1e-5"},
/// every value as text. Of an error the answer is
/// {"schema": "sotto.web.error/1", "error": {"kind", "words", "column"}}. It is valid until the
/// next call.
extern "C" const char* sotto_answer(const char* question) {
  static std::string kept;
  kept = sotto::web::answer(question);
  return kept.c_str();
}
