// Binds accounting: epsilon, delta, divergence, compare, calibrate, and epsilon over the steps.
#include <nanobind/stl/function.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cmath>

#include "bindings.hpp"
#include "privacy/api/large_delta.hpp"
#include "report/api/over_steps.hpp"
#include "report/api/svg.hpp"
#include "sotto/accounting/account.hpp"
#include "sotto/accounting/calibrate.hpp"
#include "sotto/core/decimal.hpp"
#include "sotto/plan/text.hpp"

namespace sotto::python {

std::optional<Relation> relation_of(const std::optional<std::string>& name) {
  if (!name) return std::nullopt;
  if (const auto relation = relation_named(*name)) return relation;
  throw InvalidValue("relation=\"" + *name +
                     "\" is not known: it must be \"add-remove\", \"replace-one\" or \"zero-out\"");
}

std::optional<double> seconds_of(std::optional<double> seconds) {
  if (!seconds || (*seconds > 0 && *seconds <= 1e6)) return seconds;
  throw InvalidValue("seconds=" + shortest(*seconds) +
                     " is not allowed: it must be above 0, at most 1e6");
}

Format format_of(const std::string& name) {
  if (const auto format = format_named(name)) return *format;
  throw InvalidValue("\"" + name + "\" is not a format: it must be \"table\", \"json\" or \"csv\"");
}

Question question_of(const QuestionArguments& arguments) {
  Question question{.relation = relation_of(arguments.relation),
                    .precision = arguments.precision,
                    .seconds = seconds_of(arguments.seconds)};
  const auto method = method_named(arguments.by);
  if (!method) {
    std::string names = "\"tight\"";
    for (const Method m : all_methods) names += ", \"" + std::string(name(m)) + "\"";
    for (const Method m : closed_form_methods) names += ", \"" + std::string(name(m)) + "\"";
    throw InvalidValue("by=\"" + arguments.by + "\" is not known: it must be one of " + names);
  }
  question.by = *method;
  if (!arguments.order) return question;
  const double order = *arguments.order;
  question.order = Order(order);
  if (question.by == Method::tight) question.by = Method::rdp;  // the family that has an order
  if (!has_order(question.by)) {
    throw InvalidValue(
        "order= fixes the order of a Rényi method: use it with by=\"rdp\", \"rdp-classic\", "
        "\"rdp-simple\", \"rdp-one-order\" or \"moments\"");
  }
  if (question.by == Method::moments && (order != std::floor(order) || order < 2)) {
    throw InvalidValue("order=" + shortest(order) +
                       " is not allowed with by=\"moments\": its orders are whole numbers from 2");
  }
  if (order == 1)
    throw InvalidValue(
        "order=1 has no (epsilon, delta) reading: use an order above 1, or divergence()");
  return question;
}

namespace {

// An answer with its question.
struct Cost {
  enum class Kind { epsilon, delta, divergence };
  Kind kind;
  Plan plan;
  double at;  // δ, ε or the order
  Answer answer;

  [[nodiscard]] std::string text(Format format) const {
    switch (kind) {
      case Kind::epsilon: return epsilon_text(plan, Delta(at), answer, format);
      case Kind::delta: return delta_text(plan, Epsilon(at), answer, format);
      case Kind::divergence: break;
    }
    return divergence_text(plan, answer, format);
  }
  [[nodiscard]] std::string explanation(Format format) const {
    if (kind != Kind::epsilon)
      throw InvalidValue("an explanation is one of epsilon at a delta: ask explain(plan, delta)");
    return explain_text(plan, Delta(at), answer, format);
  }
  [[nodiscard]] const char* quantity() const {
    return kind == Kind::epsilon ? "epsilon" : kind == Kind::delta ? "delta" : "divergence";
  }
  [[nodiscard]] const char* at_name() const {
    return kind == Kind::epsilon ? "delta" : kind == Kind::delta ? "epsilon" : "order";
  }
  [[nodiscard]] std::string line() const {
    std::string words =
        std::string(quantity()) + " <= " + rounded(answer.value.upper, 7, Side::upper);
    if (answer.value.lower > 0)
      words += " (>= " + rounded(answer.value.lower, 7, Side::lower) + ")";
    return "<" + words + " at " + at_name() + " = " + shortest(at) + ", by " +
           std::string(name(answer.by)) + ", " + std::string(name(answer.relation)) + ">";
  }
};

struct Steps {
  Plan plan;
  double delta;
  Spacing spacing;
  std::vector<StepPoint> points;
};

struct Table {
  Plan plan;
  double delta;
  std::vector<Comparison> rows;
};

struct CalibrationResult {
  std::variant<std::pair<double, double>, DivergenceTarget> target;
  Calibration calibration;
  [[nodiscard]] std::string text(Format format) const {
    if (const auto* approximate = std::get_if<0>(&target))
      return calibrate_text(Epsilon(approximate->first), Delta(approximate->second), calibration,
                            format);
    return calibrate_text(std::get<1>(target), calibration, format);
  }
  [[nodiscard]] Cost cost() const {
    const auto* approximate = std::get_if<0>(&target);
    return {
        approximate != nullptr ? Cost::Kind::epsilon : Cost::Kind::divergence, calibration.plan,
        approximate != nullptr ? approximate->second : calibration.cost.order.value_or(INFINITY),
        calibration.cost};
  }
};

std::optional<double> proved(double lower) {
  return std::isinf(lower) && lower < 0 ? std::nullopt : std::optional(lower);
}

void bind_bound(nb::module_& m) {
  nb::class_<Derivation>(m, "Derivation",
                         "Why a number holds: a theorem, its reference and conditions, what comes "
                         "out, and the premises.")
      .def_ro("plan", &Derivation::plan)
      .def_ro("theorem", &Derivation::theorem)
      .def_ro("reference", &Derivation::reference)
      .def_ro("conditions", &Derivation::conditions)
      .def_ro("guarantee", &Derivation::guarantee)
      .def_ro("premises", &Derivation::premises);

  nb::class_<Cost>(m, "Bound", "A certified answer: the exact value lies from `lower` to `upper`.")
      .def_prop_ro(
          "upper", [](const Cost& c) { return c.answer.value.upper; },
          "Holds for every mechanism that satisfies the plan's words.")
      .def_prop_ro(
          "lower", [](const Cost& c) { return proved(c.answer.value.lower); },
          "Reached by one of them; None where nothing is proved.")
      .def_prop_ro("quantity", &Cost::quantity, "\"epsilon\", \"delta\" or \"divergence\".")
      .def_prop_ro(
          "at", [](const Cost& c) { return c.at; },
          "The delta, epsilon or order that was asked about.")
      .def_prop_ro(
          "by", [](const Cost& c) { return std::string(name(c.answer.by)); },
          "The method that gave the upper bound.")
      .def_prop_ro(
          "relation", [](const Cost& c) { return std::string(name(c.answer.relation)); },
          "The neighbouring relation.")
      .def_prop_ro(
          "order", [](const Cost& c) { return c.answer.order; },
          "The winning order of a Rényi method.")
      .def_prop_ro("notes", [](const Cost& c) { return c.answer.notes; })
      .def_prop_ro(
          "cut", [](const Cost& c) { return c.answer.cut; },
          "Whether more work (precision=, seconds=) would narrow it.")
      .def_prop_ro("plan", [](const Cost& c) { return c.plan; })
      .def_prop_ro("derivation", [](const Cost& c) { return c.answer.derivation; })
      .def(
          "text",
          [](const Cost& c, const std::string& format) { return c.text(format_of(format)); },
          nb::arg("format") = "table",
          "What the command line prints: \"table\", \"json\" or \"csv\".")
      .def(
          "explanation",
          [](const Cost& c, const std::string& format) { return c.explanation(format_of(format)); },
          nb::arg("format") = "table")
      .def("__float__", [](const Cost& c) { return c.answer.value.upper; })
      .def("__str__", [](const Cost& c) { return chomped(c.text(Format::table)); })
      .def("__repr__", &Cost::line);
}

void bind_comparison(nb::module_& m) {
  nb::class_<Comparison>(m, "Method",
                         "One row of compare(): what a method gives, or why it does not apply.")
      .def_prop_ro("by", [](const Comparison& row) { return std::string(name(row.method)); })
      .def_prop_ro("upper",
                   [](const Comparison& row) {
                     return row.answer ? std::optional(row.answer->value.upper) : std::nullopt;
                   })
      .def_prop_ro("lower",
                   [](const Comparison& row) {
                     return row.answer ? proved(row.answer->value.lower) : std::nullopt;
                   })
      .def_prop_ro(
          "order",
          [](const Comparison& row) { return row.answer ? row.answer->order : std::nullopt; })
      .def_prop_ro(
          "waste",
          [](const Comparison& row) {
            return row.waste ? std::optional(row.waste->epsilon) : std::nullopt;
          },
          "Its epsilon to the best one.")
      .def_prop_ro(
          "noise",
          [](const Comparison& row) { return row.waste ? row.waste->noise : std::nullopt; },
          "The noise with which it proves the best epsilon, to the plan's.")
      .def_prop_ro("refusal", [](const Comparison& row) { return row.refusal; });
  nb::class_<Table>(m, "ComparisonTable")
      .def_ro("plan", &Table::plan)
      .def_ro("delta", &Table::delta)
      .def_ro("rows", &Table::rows)
      .def(
          "text",
          [](const Table& t, const std::string& format) {
            return compare_text(t.plan, Delta(t.delta), t.rows, format_of(format));
          },
          nb::arg("format") = "table");
}

void bind_calibration(nb::module_& m) {
  nb::class_<CalibrationResult>(m, "Calibration",
                                "The number that fills a plan's holes so that it meets a target.")
      .def_prop_ro(
          "value", [](const CalibrationResult& f) { return f.calibration.value; },
          "What `?` stands for: sufficient for certain.")
      .def_prop_ro(
          "plan", [](const CalibrationResult& f) { return f.calibration.plan; },
          "The plan, filled in.")
      .def_prop_ro(
          "hole", [](const CalibrationResult& f) { return f.calibration.hole; },
          "What it is: \"sigma of gaussian\", \"steps\", …")
      .def_prop_ro("bound", &CalibrationResult::cost, "What the filled plan costs.")
      .def_prop_ro(
          "insufficient", [](const CalibrationResult& f) { return f.calibration.insufficient; },
          "A value nearby that certainly does not suffice.")
      .def_prop_ro("omega", [](const CalibrationResult& f) { return f.calibration.omega; })
      .def(
          "text",
          [](const CalibrationResult& f, const std::string& format) {
            return f.text(format_of(format));
          },
          nb::arg("format") = "table")
      .def("__float__", [](const CalibrationResult& f) { return f.calibration.value; })
      .def("__str__", [](const CalibrationResult& f) { return chomped(f.text(Format::table)); })
      .def("__repr__", [](const CalibrationResult& f) {
        return "<" + f.calibration.hole + " = " + shortest(f.calibration.value) + ": " +
               print(f.calibration.plan) + ">";
      });
}

void bind_over_steps(nb::module_& m) {
  nb::class_<Steps>(m, "OverSteps", "Epsilon as a plan goes on.")
      .def_ro("plan", &Steps::plan)
      .def_ro("delta", &Steps::delta)
      .def_prop_ro("steps",
                   [](const Steps& s) {
                     std::vector<std::int64_t> steps;
                     for (const StepPoint& point : s.points) steps.push_back(point.steps);
                     return steps;
                   })
      .def_prop_ro("bounds",
                   [](const Steps& s) {
                     std::vector<Cost> bounds;
                     for (const StepPoint& p : s.points)
                       bounds.push_back(
                           {Cost::Kind::epsilon, after_steps(s.plan, p.steps), s.delta, p.answer});
                     return bounds;
                   })
      .def(
          "text",
          [](const Steps& s, const std::string& format) {
            return over_steps_text(s.plan, Delta(s.delta), s.points, format_of(format));
          },
          nb::arg("format") = "table")
      .def_prop_ro("chart",
                   [](const Steps& s) {
                     return over_steps_chart(s.plan, Delta(s.delta), s.points, s.spacing);
                   })
      .def("__str__", [](const Steps& s) {
        return chomped(over_steps_text(s.plan, Delta(s.delta), s.points, Format::table));
      });
}

void bind_answers(nb::module_& m) {
  bind_bound(m);
  bind_comparison(m);
  bind_calibration(m);
  bind_over_steps(m);
}

}  // namespace

namespace {

void bind_costs(nb::module_& m) {
  m.def(
      "epsilon",
      [](const Plan& plan, double at, const std::string& by,
         const std::optional<std::string>& relation, std::optional<double> order,
         std::optional<double> precision, std::optional<double> seconds) {
        const Question question = question_of({by, relation, order, precision, seconds});
        const Delta delta(at);
        return Cost{Cost::Kind::epsilon, plan, at,
                    unlocked([&] { return sotto::epsilon(plan, delta, question); })};
      },
      nb::arg("plan"), nb::arg("delta"), nb::arg("by"), nb::arg("relation").none(),
      nb::arg("order").none(), nb::arg("precision").none(), nb::arg("seconds").none());
  m.def(
      "doubt_about_delta",
      [](double delta, std::optional<double> units) { return large_delta_warning(delta, units); },
      nb::arg("delta"), nb::arg("units").none());
  m.def(
      "delta",
      [](const Plan& plan, double at, const std::string& by,
         const std::optional<std::string>& relation, std::optional<double> order,
         std::optional<double> precision, std::optional<double> seconds) {
        const Question question = question_of({by, relation, order, precision, seconds});
        const Epsilon epsilon(at);
        return Cost{Cost::Kind::delta, plan, at,
                    unlocked([&] { return sotto::delta(plan, epsilon, question); })};
      },
      nb::arg("plan"), nb::arg("epsilon"), nb::arg("by"), nb::arg("relation").none(),
      nb::arg("order").none(), nb::arg("precision").none(), nb::arg("seconds").none());
  m.def(
      "divergence",
      [](const Plan& plan, double at, const std::optional<std::string>& relation,
         std::optional<double> seconds) {
        const Question question{.relation = relation_of(relation), .seconds = seconds_of(seconds)};
        const Order order(at);
        return Cost{Cost::Kind::divergence, plan, at,
                    unlocked([&] { return sotto::divergence(plan, order, question); })};
      },
      nb::arg("plan"), nb::arg("order"), nb::arg("relation").none(), nb::arg("seconds").none());
  m.def(
      "compare",
      [](const Plan& plan, double at, std::optional<double> order,
         const std::optional<std::string>& relation, std::optional<double> seconds,
         std::optional<bool> noise) {
        const Question question =
            question_of({.by = "tight", .relation = relation, .order = order, .seconds = seconds});
        const Delta delta(at);
        return Table{plan, at, unlocked([&] {
                       auto rows = sotto::compare(plan, delta, question);
                       return noise.value_or(!noise_waste_is_slow(plan))
                                  ? with_noise_waste(std::move(rows), plan, delta, question)
                                  : rows;
                     })};
      },
      nb::arg("plan"), nb::arg("delta"), nb::arg("order").none(), nb::arg("relation").none(),
      nb::arg("seconds").none(), nb::arg("noise").none());
}

void bind_searches(nb::module_& m) {
  m.def(
      "calibrate_epsilon",
      [](const Plan& plan, double epsilon, double delta, const std::string& by,
         const std::optional<std::string>& relation, std::optional<double> order,
         std::optional<double> precision, std::optional<double> seconds) {
        const Question question = question_of({by, relation, order, precision, seconds});
        const Epsilon target(epsilon);
        const Delta at(delta);
        return CalibrationResult{std::pair(epsilon, delta),
                                 unlocked([&] { return calibrate(plan, target, at, question); })};
      },
      nb::arg("plan"), nb::arg("epsilon"), nb::arg("delta"), nb::arg("by"),
      nb::arg("relation").none(), nb::arg("order").none(), nb::arg("precision").none(),
      nb::arg("seconds").none());
  m.def(
      "calibrate_divergence",
      [](const Plan& plan, std::optional<double> order, std::optional<double> renyi,
         std::optional<double> rho, std::optional<double> omega, const std::string& by,
         const std::optional<std::string>& relation, std::optional<double> precision,
         std::optional<double> seconds) {
        const Question question = question_of(
            {.by = by, .relation = relation, .precision = precision, .seconds = seconds});
        const DivergenceTarget target = renyi ? DivergenceTarget(RenyiTarget{Order(*order), *renyi})
                                        : omega ? DivergenceTarget(TcdpTarget{*rho, *omega})
                                                : DivergenceTarget(ZcdpTarget{*rho});
        return CalibrationResult{target,
                                 unlocked([&] { return calibrate(plan, target, question); })};
      },
      nb::arg("plan"), nb::arg("order").none(), nb::arg("renyi").none(), nb::arg("rho").none(),
      nb::arg("omega").none(), nb::arg("by"), nb::arg("relation").none(),
      nb::arg("precision").none(), nb::arg("seconds").none());
  m.def(
      "epsilon_over_steps",
      [](const Plan& plan, double at, std::size_t points, bool even, const std::string& by,
         const std::optional<std::string>& relation, std::optional<double> order,
         std::optional<double> precision, std::optional<double> seconds,
         const std::optional<std::function<void(std::size_t, std::size_t)>>& progress) {
        const Question question = question_of({by, relation, order, precision, seconds});
        const Delta delta(at);
        const Spacing spacing = even ? Spacing::even : Spacing::logarithmic;
        if (points < 2 || points > 100000)
          throw InvalidValue("points=" + std::to_string(points) +
                             " is not allowed: it must be from 2 to 100000");
        const auto counts = step_counts(step_total(plan), points, spacing);
        const auto tell = [&](std::size_t done) {
          const nb::gil_scoped_acquire gil;
          if (progress) (*progress)(done, counts.size());
          if (PyErr_CheckSignals() != 0) throw nb::python_error();
        };
        return Steps{plan, at, spacing, unlocked([&] {
                       return sotto::epsilon_over_steps(plan, delta, counts, question, tell);
                     })};
      },
      nb::arg("plan"), nb::arg("delta"), nb::arg("points"), nb::arg("even"), nb::arg("by"),
      nb::arg("relation").none(), nb::arg("order").none(), nb::arg("precision").none(),
      nb::arg("seconds").none(), nb::arg("progress").none());
}

}  // namespace

void bind_accounting(nb::module_& m) {
  bind_answers(m);
  bind_costs(m);
  bind_searches(m);
}

}  // namespace sotto::python
