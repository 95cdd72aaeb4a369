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
std::string typed(const Json& request, const char* member) { return request.value(member, ""); }

double number(const Json& request, const char* member, const char* words) {
  const std::string text = typed(request, member);
  if (text.empty()) throw InvalidValue(std::string(words) + " is missing: write a number");
  try {
    return read_number(text);
  } catch (const InvalidValue& e) {
    throw InvalidValue(std::string(words) + ": " + e.what());
  }
}

std::int64_t count(const Json& request, const char* member, const char* words,
                   std::int64_t least = 1) {
  const double value = number(request, member, words);
  if (!(value >= static_cast<double>(least) && value <= 0x1p53) || value != std::floor(value)) {
    throw InvalidValue(std::string(words) + " = " + typed(request, member) +
                       " is not allowed: it must be a whole number from " + std::to_string(least));
  }
  return static_cast<std::int64_t>(value);
}

// A number's text, checked: it is put into a plan as it was written.
std::string positive(const Json& request, const char* member, const char* words) {
  if (typed(request, member) == "?") return "?";
  require_positive(number(request, member, words), words);
  return typed(request, member);
}

Delta delta_of(const Json& request) { return Delta(number(request, "delta", "delta")); }
Epsilon epsilon_of(const Json& request) { return Epsilon(number(request, "epsilon", "epsilon")); }

Question question_of(const Json& request) {
  Question question;
  if (const std::string by = typed(request, "by"); !by.empty()) {
    const auto method = method_named(by);
    if (!method) throw InvalidValue("the method " + by + " is not known");
    question.by = *method;
  }
  if (const std::string relation = typed(request, "relation"); !relation.empty()) {
    question.relation = relation_named(relation);
    if (!question.relation)
      throw InvalidValue("the relation " + relation +
                         " is not known: it must be add-remove, replace-one or zero-out");
  }
  if (!typed(request, "seconds").empty()) question.seconds = number(request, "seconds", "seconds");
  return question;
}

Plan plan_of(const Json& request) { return parse(typed(request, "plan")); }

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
std::string line(const Json& request, const Json& answer) {
  return escaped_json((request.contains("digits") ? with_digits(answer) : answer).dump()) + "\n";
}

std::string ask_epsilon(const Json& request) {
  const Plan plan = plan_of(request);
  return epsilon_text(plan, delta_of(request),
                      epsilon(plan, delta_of(request), question_of(request)), Format::json);
}

std::string ask_delta(const Json& request) {
  const Plan plan = plan_of(request);
  return delta_text(plan, epsilon_of(request),
                    delta(plan, epsilon_of(request), question_of(request)), Format::json);
}

// As the command: the waste in noise where it is quick.
std::string ask_compare(const Json& request) {
  const Plan plan = plan_of(request);
  std::vector<Comparison> rows = compare(plan, delta_of(request), question_of(request));
  if (!noise_waste_is_slow(plan))
    rows = with_noise_waste(std::move(rows), plan, delta_of(request), question_of(request));
  return compare_text(plan, delta_of(request), rows, Format::json);
}

std::string ask_explain(const Json& request) {
  const Plan plan = plan_of(request);
  return explain_text(plan, delta_of(request),
                      epsilon(plan, delta_of(request), question_of(request)), Format::json);
}

std::string ask_calibrate(const Json& request) {
  return calibrate_text(
      epsilon_of(request), delta_of(request),
      calibrate(plan_of(request), epsilon_of(request), delta_of(request), question_of(request)),
      Format::json);
}

// The answer to `tradeoff`, and the curve as a picture.
std::string ask_tradeoff(const Json& request) {
  const Plan plan = plan_of(request);
  const Question question = question_of(request);
  const Tradeoff tradeoff(plan, question.relation, question.seconds);
  Json answer =
      Json::parse(tradeoff_text(plan, tradeoff, {0.001, 0.01, 0.05, 0.1, 0.5}, 0.5, Format::json));
  if (request.contains("picture")) answer["svg"] = svg(tradeoff_chart(plan, tradeoff));
  return answer.dump();
}

// The answer to `epsilon --over-steps POINTS`, with "spacing": "even" to that with --even, and the
// curve as a picture.
std::string ask_over_steps(const Json& request) {
  const Plan plan = plan_of(request);
  const auto points = static_cast<std::size_t>(
      request.contains("points") ? count(request, "points", "points", 2) : 50);
  const Spacing spacing =
      typed(request, "spacing") == "even" ? Spacing::even : Spacing::logarithmic;
  const auto points_of_curve =
      epsilon_over_steps(plan, delta_of(request), step_counts(step_total(plan), points, spacing),
                         question_of(request));
  Json answer =
      Json::parse(over_steps_text(plan, delta_of(request), points_of_curve, Format::json));
  if (request.contains("picture"))
    answer["svg"] = svg(over_steps_chart(plan, delta_of(request), points_of_curve, spacing));
  return answer.dump();
}

// Whether a plan can be read, how it is printed, and whether it has a hole.
std::string ask_plan(const Json& request) {
  const Plan plan = plan_of(request);
  return Json{
      {"schema", "sotto.web.plan/1"}, {"plan", print(plan)}, {"holes", holes_of(plan).size()}}
      .dump();
}

// --- What users of each kind know, as a plan. ---

// Training of n records in batches of about b, drawn anew each step: E epochs are ceil(E n/b)
// steps.
std::string dpsgd_plan(const Json& request) {
  const std::int64_t records = count(request, "records", "records");
  const std::int64_t batch = count(request, "batch", "batch");
  if (batch > records)
    throw InvalidValue("batch = " + std::to_string(batch) + " is not allowed: there are " +
                       std::to_string(records) + " records");
  const double epochs = require_positive(number(request, "epochs", "epochs"), "epochs");
  const Real exact =
      Real(epochs) * Real(static_cast<double>(records)) / Real(static_cast<double>(batch));
  const std::string steps = shortest(std::max(1.0, std::ceil(exact.estimate())));
  const std::string noise = "gaussian(" + positive(request, "sigma", "noise") + ")";
  if (typed(request, "sampling") == "without_replacement") {
    return steps + " * without_replacement(" + std::to_string(batch) + ", " +
           std::to_string(records) + ", " + noise + ")";
  }
  return steps + " * poisson(" + std::to_string(batch) + "/" + std::to_string(records) + ", " +
         noise + ")";
}

std::string statistics_plan(const Json& request) {
  const std::int64_t gaussian = count(request, "gaussian", "Gaussian releases", 0);
  const std::int64_t laplace = count(request, "laplace", "Laplace releases", 0);
  if (gaussian + laplace == 0)
    throw InvalidValue(
        "no release: how many numbers with Gaussian or Laplace noise are to be released?");
  std::string text;
  if (gaussian > 0)
    text = std::to_string(gaussian) + " * gaussian(" + positive(request, "sigma", "noise") + ")";
  if (laplace > 0)
    text += (text.empty() ? "" : " + ") + std::to_string(laplace) + " * laplace(" +
            positive(request, "scale", "noise") + ")";
  return text;
}

// Each of n members adds noise of standard deviation σ; a sum is opened by t of them, of whom c may
// collude: h = t - c noises are unknown to those who do. As Session's: t is above (n + c)/2.
std::string federated_plan(const Json& request) {
  const std::int64_t members = count(request, "members", "members", 2);
  const std::int64_t colluding = count(request, "colluding", "colluding", 0);
  const std::int64_t threshold = count(request, "threshold", "threshold");
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
  return std::to_string(count(request, "rounds", "rounds")) + " * aggregated_gaussian(" +
         positive(request, "sigma", "noise") + ", " + std::to_string(threshold - colluding) + ")";
}

std::string write_plan(const Json& request, const std::function<std::string(const Json&)>& form) {
  const Plan plan = parse(form(request));
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
      {"dp-sgd", [](const Json& request) { return write_plan(request, dpsgd_plan); }},
      {"statistics", [](const Json& request) { return write_plan(request, statistics_plan); }},
      {"federated", [](const Json& request) { return write_plan(request, federated_plan); }},
  };
  try {
    const Json request = Json::parse(question);
    const auto entry = answers.find(typed(request, "ask"));
    if (entry == answers.end())
      throw InvalidValue("there is no question '" + typed(request, "ask") + "'");
    return line(request, Json::parse(entry->second(request)));
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
  static std::string last_answer;
  last_answer = sotto::web::answer(question);
  return last_answer.c_str();
}
