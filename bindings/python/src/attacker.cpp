// Binds the attacker's view of a plan (trade-off curve, privacy loss) and charts.
#include "report/api/attacker.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cmath>

#include "bindings.hpp"
#include "report/api/csv.hpp"
#include "report/api/svg.hpp"

namespace sotto::python {
namespace {

struct Attacker {
  Plan plan;
  Tradeoff tradeoff;
};
struct Loss {
  Plan plan;
  PrivacyLossDistribution distribution;
};

nb::tuple pair_of(const Bound& bound) {
  const bool unproved = std::isinf(bound.lower) && bound.lower < 0;
  return nb::make_tuple(unproved ? nb::none() : nb::object(nb::float_(bound.lower)), bound.upper);
}

}  // namespace

void bind_charts(nb::module_& m) {
  nb::class_<Series>(m, "Series")
      .def_ro("name", &Series::name)
      .def_ro("x", &Series::x)
      .def_ro("y", &Series::y)
      .def_prop_ro("style", [](const Series& s) {
        return s.style == Series::Style::line     ? "line"
               : s.style == Series::Style::dashed ? "dashed"
                                                  : "bars";
      });
  nb::class_<Chart>(m, "Chart",
                    "The content of a chart: draw it with `svg()`, or with `plot()` by matplotlib.")
      .def_ro("title", &Chart::title)
      .def_ro("caption", &Chart::caption)
      .def_ro("x_label", &Chart::x_label)
      .def_ro("y_label", &Chart::y_label)
      .def_ro("log_x", &Chart::log_x)
      .def_ro("log_y", &Chart::log_y)
      .def_ro("series", &Chart::series)
      .def("svg", [](const Chart& chart) { return svg(chart); })
      .def("csv", [](const Chart& chart) { return csv(chart); })
      .def("_repr_svg_", [](const Chart& chart) { return svg(chart); });
}

void bind_attacker(nb::module_& m) {
  nb::class_<Attacker>(
      m, "Tradeoff", "The trade-off curve of f-DP, from both sides; intervals are (lower, upper).")
      .def(
          "__init__",
          [](Attacker* self, const Plan& plan, const std::optional<std::string>& relation,
             std::optional<double> seconds) {
            const auto parsed_relation = relation_of(relation);
            const auto limit = seconds_of(seconds);
            new (self)
                Attacker{plan, unlocked([&] { return Tradeoff(plan, parsed_relation, limit); })};
          },
          nb::arg("plan"), nb::arg("relation").none() = nb::none(),
          nb::arg("seconds").none() = nb::none())
      .def_ro("plan", &Attacker::plan)
      .def(
          "true_positive_rate",
          [](const Attacker& a, double fpr) {
            return pair_of(unlocked([&] { return a.tradeoff.true_positive_rate(fpr); }));
          },
          nb::arg("fpr"),
          nb::sig("def true_positive_rate(self, fpr: float) -> tuple[float | None, float]"),
          "The largest true-positive rate at this false-positive rate.")
      .def_prop_ro(
          "advantage", [](const Attacker& a) { return pair_of(a.tradeoff.advantage()); },
          nb::sig("def advantage(self) -> tuple[float | None, float]"),
          "The largest true-positive minus false-positive rate.")
      .def(
          "success",
          [](const Attacker& a, double prior) {
            return pair_of(unlocked([&] { return a.tradeoff.success(prior); }));
          },
          nb::arg("prior") = 0.5,
          nb::sig("def success(self, prior: float = 0.5) -> tuple[float | None, float]"),
          "How often the best attacker is right.")
      .def_prop_ro("relation",
                   [](const Attacker& a) { return std::string(name(a.tradeoff.relation())); })
      .def_prop_ro("notes", [](const Attacker& a) { return a.tradeoff.notes(); })
      .def_prop_ro("cut", [](const Attacker& a) { return a.tradeoff.cut(); })
      .def(
          "text",
          [](const Attacker& a, const std::string& format, const std::vector<double>& fpr,
             double prior) {
            const Format as = format_of(format);
            return unlocked([&] { return tradeoff_text(a.plan, a.tradeoff, fpr, prior, as); });
          },
          nb::arg("format") = "table",
          nb::arg("fpr") = std::vector<double>{0.001, 0.01, 0.05, 0.1, 0.5}, nb::arg("prior") = 0.5)
      .def_prop_ro("chart", [](const Attacker& a) {
        return unlocked([&] { return tradeoff_chart(a.plan, a.tradeoff); });
      });

  nb::class_<Loss>(m, "PrivacyLoss",
                   "The distribution of the privacy loss L: P(L > epsilon) beside delta(epsilon); "
                   "intervals are (lower, upper).")
      .def(
          "__init__",
          [](Loss* self, const Plan& plan, const std::optional<std::string>& relation,
             std::optional<double> seconds) {
            const auto parsed_relation = relation_of(relation);
            const auto limit = seconds_of(seconds);
            new (self) Loss{plan, unlocked([&] {
                              return PrivacyLossDistribution(plan, parsed_relation, limit);
                            })};
          },
          nb::arg("plan"), nb::arg("relation").none() = nb::none(),
          nb::arg("seconds").none() = nb::none())
      .def_ro("plan", &Loss::plan)
      .def(
          "delta",
          [](const Loss& l, double epsilon) {
            return pair_of(unlocked([&] { return l.distribution.delta(Epsilon(epsilon)); }));
          },
          nb::arg("epsilon"),
          nb::sig("def delta(self, epsilon: float) -> tuple[float | None, float]"))
      .def(
          "tail",
          [](const Loss& l, double epsilon) {
            return pair_of(unlocked([&] { return l.distribution.tail(Epsilon(epsilon)); }));
          },
          nb::arg("epsilon"),
          nb::sig("def tail(self, epsilon: float) -> tuple[float | None, float]"),
          "P(L > epsilon).")
      .def_prop_ro("relation",
                   [](const Loss& l) { return std::string(name(l.distribution.relation())); })
      .def(
          "text",
          [](const Loss& l, const std::string& format,
             const std::optional<std::vector<double>>& epsilons) {
            const Format as = format_of(format);
            return unlocked([&] {
              return loss_text(l.plan, l.distribution,
                               epsilons ? *epsilons : round_losses(l.distribution), as);
            });
          },
          nb::arg("format") = "table", nb::arg("epsilons").none() = nb::none())
      .def_prop_ro("chart", [](const Loss& l) {
        return unlocked([&] { return loss_chart(l.plan, l.distribution); });
      });
}

}  // namespace sotto::python
