// Binds plans: values with operators, and a function for each mechanism and operator of the plan
// language.
#include <nanobind/operators.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <variant>
#include <vector>

#include "bindings.hpp"
#include "sotto/core/decimal.hpp"
#include "sotto/core/values.hpp"
#include "sotto/numerics/real.hpp"
#include "sotto/plan/holes.hpp"
#include "sotto/plan/text.hpp"

namespace sotto::python {
namespace {

using Number = std::variant<double, Hole, std::string>;
using Count = std::variant<std::int64_t, double, Hole, std::string>;

Parameter hole_named(const std::string& text) {
  if (text == "?") return hole;
  throw InvalidValue(
      "'" + text +
      "' is not a number: it must be a number, hole, or \"?\", which is the same as hole");
}

struct AsParameter {
  Parameter operator()(double value) const { return value; }
  Parameter operator()(std::int64_t value) const {
    return static_cast<double>(require_count(value, 1, "steps"));
  }
  Parameter operator()(const Hole& value) const { return value; }
  Parameter operator()(const std::string& value) const { return hole_named(value); }
};
Parameter parameter(const Number& number) { return std::visit(AsParameter{}, number); }
Parameter parameter(const Count& count) { return std::visit(AsParameter{}, count); }

std::string text_of(const Hole& h) { return h.factor == 1 ? "?" : shortest(h.factor) + "*?"; }

}  // namespace

namespace {

void bind_hole(nb::module_& m) {
  nb::class_<Hole>(m, "Hole",
                   "The number that calibration fills in; `2 * hole` is twice that number.")
      .def_ro("factor", &Hole::factor)
      .def(
          "__mul__", [](const Hole& h, double factor) { return h * factor; }, nb::is_operator())
      .def(
          "__rmul__", [](const Hole& h, double factor) { return h * factor; }, nb::is_operator())
      .def(
          "__truediv__", [](const Hole& h, double divisor) { return h / divisor; },
          nb::is_operator())
      .def(
          "__eq__", [](const Hole& a, const Hole& b) { return a.factor == b.factor; },
          nb::is_operator())
      .def("__hash__", [](const Hole& h) { return nb::hash(nb::float_(h.factor)); })
      .def("__repr__",
           [](const Hole& h) { return h.factor == 1 ? "hole" : shortest(h.factor) + " * hole"; })
      .def("__str__", text_of);
  m.attr("hole") = hole;
}

void bind_plan_class(nb::module_& m) {
  nb::class_<Plan>(m, "Plan",
                   "What is done with the data: an immutable value. `Plan(text)` reads the plan "
                   "language, and `str` writes it.\n\n"
                   ">>> from sotto import gaussian, laplace, poisson\n"
                   ">>> 10_000 * poisson(0.01, gaussian(1.0))\n"
                   "Plan('10000 * poisson(0.01, gaussian(1))')\n"
                   ">>> print(laplace(10) + 3 * gaussian(200))\n"
                   "laplace(10) + 3 * gaussian(200)")
      .def(
          "__init__", [](Plan* self, const std::string& text) { new (self) Plan(parse(text)); },
          nb::arg("text"))
      .def_static(
          "parse", [](const std::string& text) { return parse(text); }, nb::arg("text"),
          "Reads the plan language.")
      .def_static(
          "from_json", [](const std::string& text) { return from_json(text); }, nb::arg("text"))
      .def("to_json", [](const Plan& plan) { return to_json(plan); })
      .def(
          "__add__", [](const Plan& a, const Plan& b) { return a + b; }, nb::is_operator())
      .def(
          "__radd__",
          [](const Plan& plan, int zero) -> nb::object {  // for sum()
            if (zero != 0) return nb::borrow(nb::handle(Py_NotImplemented));
            return nb::cast(plan);
          },
          nb::is_operator(), nb::sig("def __radd__(self, zero: int, /) -> Plan"))
      .def(
          "__mul__", [](const Plan& plan, const Count& steps) { return parameter(steps) * plan; },
          nb::is_operator())
      .def(
          "__rmul__", [](const Plan& plan, const Count& steps) { return parameter(steps) * plan; },
          nb::is_operator())
      .def(
          "__eq__", [](const Plan& a, const Plan& b) { return a == b; }, nb::is_operator())
      .def("__hash__", [](const Plan& plan) { return nb::hash(nb::cast(print(plan))); })
      .def("__str__", [](const Plan& plan) { return print(plan); })
      .def("__repr__", [](const Plan& plan) { return "Plan('" + print(plan) + "')"; })
      .def("__reduce__",
           [](const Plan& plan) {
             return nb::make_tuple(nb::type<Plan>(), nb::make_tuple(print(plan)));
           })
      .def(
          "fill", [](const Plan& plan, double value) { return fill(plan, value); },
          nb::arg("value"), "The plan with this number in its holes.")
      .def_prop_ro("has_holes", [](const Plan& plan) { return !holes_of(plan).empty(); });
}

void bind_noise_mechanisms(nb::module_& m) {
  m.def(
      "gaussian",
      [](const Number& sigma, const Number& sensitivity) {
        return gaussian(parameter(sigma), parameter(sensitivity));
      },
      nb::arg("sigma"), nb::arg("sensitivity") = 1.0,
      "Gaussian noise on a vector; L2 sensitivity.");
  m.def(
      "laplace",
      [](const Number& b, const Number& sensitivity) {
        return laplace(parameter(b), parameter(sensitivity));
      },
      nb::arg("b"), nb::arg("sensitivity") = 1.0, "Laplace noise on a vector; L1 sensitivity.");
  m.def(
      "discrete_gaussian",
      [](const Number& sigma, const Number& sensitivity) {
        return discrete_gaussian(parameter(sigma), parameter(sensitivity));
      },
      nb::arg("sigma"), nb::arg("sensitivity") = 1.0,
      "Discrete Gaussian noise on one whole number.");
  m.def(
      "discrete_laplace",
      [](const Number& b, const Number& sensitivity) {
        return discrete_laplace(parameter(b), parameter(sensitivity));
      },
      nb::arg("b"), nb::arg("sensitivity") = 1.0,
      "Discrete Laplace noise on a vector of whole numbers.");
  m.def(
      "randomized_response",
      [](const Number& p, const Number& k) {
        return randomized_response(parameter(p), parameter(k));
      },
      nb::arg("p"), nb::arg("k") = 2.0,
      "The truth with probability p, every other of k values alike.");
  m.def(
      "arsinh",
      [](const Number& rho, const Number& a, const Number& sensitivity) {
        return arsinh(parameter(rho), parameter(a), parameter(sensitivity));
      },
      nb::arg("rho"), nb::arg("a"), nb::arg("sensitivity") = 1.0,
      "A arsinh(N/A), N Gaussian: for tCDP.");
  m.def(
      "staircase",
      [](const Number& eps, const Number& sensitivity) {
        return staircase(parameter(eps), parameter(sensitivity));
      },
      nb::arg("eps"), nb::arg("sensitivity") = 1.0, "The staircase mechanism at its best steps.");
  m.def(
      "exponential", [](const Number& eps) { return exponential(parameter(eps)); }, nb::arg("eps"),
      "The exponential mechanism.");
  m.def(
      "catastrophe",
      [](const Number& eps, const Number& delta) {
        return catastrophe(parameter(eps), parameter(delta));
      },
      nb::arg("eps"), nb::arg("delta"),
      "Everything with probability delta, else Laplace noise: can be accounted, never run.");
}

void bind_guarantees(nb::module_& m) {
  m.def(
      "pure", [](const Number& eps) { return pure(parameter(eps)); }, nb::arg("eps"),
      "Any eps-DP mechanism.");
  m.def(
      "approx",
      [](const Number& eps, const Number& delta) {
        return approx(parameter(eps), parameter(delta));
      },
      nb::arg("eps"), nb::arg("delta"), "Any (eps, delta)-DP mechanism.");
  m.def(
      "rdp",
      [](const Number& alpha, const Number& eps) { return rdp(parameter(alpha), parameter(eps)); },
      nb::arg("alpha"), nb::arg("eps"),
      "Any mechanism with this Rényi divergence at every order up to alpha.");
  m.def(
      "zcdp", [](const Number& rho) { return zcdp(parameter(rho)); }, nb::arg("rho"),
      "Any rho-zCDP mechanism.");
  m.def(
      "tcdp",
      [](const Number& rho, const Number& omega) { return tcdp(parameter(rho), parameter(omega)); },
      nb::arg("rho"), nb::arg("omega"), "Any (rho, omega)-tCDP mechanism.");
  m.def(
      "gdp", [](const Number& mu) { return gdp(parameter(mu)); }, nb::arg("mu"),
      "Any mu-GDP mechanism.");
}

void bind_protocols(nb::module_& m) {
  // Protocols without a trusted curator; see docs/theory/federated.md.
  m.def(
      "aggregated_gaussian",
      [](const Number& sigma, const Number& honest, const Number& sensitivity) -> Plan {
        return AggregatedGaussian{parameter(sigma), parameter(honest), parameter(sensitivity)};
      },
      nb::arg("sigma"), nb::arg("honest"), nb::arg("sensitivity") = 1.0,
      "A sum to which every party adds Gaussian noise; that of `honest` of them is sure.");
  m.def(
      "gopa_complete",
      [](const Number& sigma, const Number& mask, const Number& honest,
         const Number& sensitivity) -> Plan {
        return GopaComplete{parameter(sigma), parameter(mask), parameter(honest),
                            parameter(sensitivity)};
      },
      nb::arg("sigma"), nb::arg("mask"), nb::arg("honest"), nb::arg("sensitivity") = 1.0,
      "GOPA where every two honest users share a Gaussian mask.");
  m.def(
      "gopa_connected",
      [](const Number& sigma, const Number& mask, const Number& honest,
         const Number& sensitivity) -> Plan {
        return GopaConnected{parameter(sigma), parameter(mask), parameter(honest),
                             parameter(sensitivity)};
      },
      nb::arg("sigma"), nb::arg("mask"), nb::arg("honest"), nb::arg("sensitivity") = 1.0,
      "GOPA where the honest users' graph is known to be connected.");
  m.def(
      "gopa_random",
      [](const Number& sigma, const Number& mask, const Number& users, const Number& honest,
         const Number& k, const Number& delta, const Number& sensitivity) -> Plan {
        return GopaRandom{parameter(sigma),      parameter(mask), parameter(users),
                          parameter(honest),     parameter(k),    parameter(delta),
                          parameter(sensitivity)};
      },
      nb::arg("sigma"), nb::arg("mask"), nb::arg("users"), nb::arg("honest"), nb::arg("k"),
      nb::arg("delta"), nb::arg("sensitivity") = 1.0, "GOPA where every user picks k others.");
}

void bind_network_protocols(nb::module_& m) {
  m.def(
      "shuffle",
      [](const Number& eps, const Number& users) -> Plan {
        return Shuffle{parameter(eps), parameter(users)};
      },
      nb::arg("eps"), nb::arg("users"), "Reports of so many users, each eps-DP, in random order.");
  m.def(
      "ring_sum",
      [](const Number& sigma, const Number& sensitivity) -> Plan {
        return RingSum{parameter(sigma), parameter(sensitivity)};
      },
      nb::arg("sigma"), nb::arg("sensitivity") = 1.0, "One pass of a noisy sum around a ring.");
  m.def(
      "ring_histogram",
      [](const Number& gamma, const Number& values, const Number& users) -> Plan {
        return RingHistogram{parameter(gamma), parameter(values), parameter(users)};
      },
      nb::arg("gamma"), nb::arg("values"), nb::arg("users"),
      "One pass of a histogram around a ring.");
  m.def(
      "walk_sum",
      [](const Number& sigma, const Number& users, const Number& colluders,
         const Number& sensitivity) -> Plan {
        return WalkSum{parameter(sigma), parameter(users), parameter(colluders),
                       parameter(sensitivity)};
      },
      nb::arg("sigma"), nb::arg("users"), nb::arg("colluders") = 1.0, nb::arg("sensitivity") = 1.0,
      "A visit of a sum on a token that hops over all users.");
  m.def(
      "walk_sgd",
      [](const Number& sigma, const Number& users, const Number& colluders,
         const Number& sensitivity) -> Plan {
        return WalkSgd{parameter(sigma), parameter(users), parameter(colluders),
                       parameter(sensitivity)};
      },
      nb::arg("sigma"), nb::arg("users"), nb::arg("colluders") = 1.0, nb::arg("sensitivity") = 1.0,
      "A gradient step of one user on such a token.");
}

void bind_operators(nb::module_& m) {
  m.def(
      "poisson",
      [](const Number& rate, const Plan& plan) { return poisson(parameter(rate), plan); },
      nb::arg("rate"), nb::arg("plan"),
      "On one sample, in which every record is with this probability.");
  m.def(
      "without_replacement",
      [](const Count& batch, const Count& population, const Plan& plan) {
        return without_replacement(parameter(batch), parameter(population), plan);
      },
      nb::arg("batch"), nb::arg("population"), nb::arg("plan"), "On a sample of fixed size.");
  m.def(
      "group", [](const Count& size, const Plan& plan) { return group(parameter(size), plan); },
      nb::arg("size"), nb::arg("plan"), "The cost to so many units together.");
}

void bind_foreign_parameters(nb::module_& m) {
  // Mechanisms by the parameters of other libraries, rounded to the side that costs more.
  m.def(
      "discrete_laplace_by_rate",
      [](double rate, double sensitivity) {
        require_positive(rate, "noise_parameter");
        return discrete_laplace((Real(1) / Real(rate)).lower(), sensitivity);
      },
      nb::arg("rate"), nb::arg("sensitivity"));
  m.def(
      "randomized_response_by_noise",
      [](double noise, std::int64_t k) {
        require_count(k, 2, "num_buckets");
        require_rate(noise, "noise_parameter");
        const Real values = static_cast<double>(k);
        return randomized_response((Real(1) - Real(noise) * (values - Real(1)) / values).upper(),
                                   static_cast<double>(k));
      },
      nb::arg("noise"), nb::arg("k"));
}

void bind_parallel(nb::module_& m) {
  m.def(
      "parallel",
      [](const nb::args& parts) {
        std::vector<Plan> plans;
        for (const nb::handle part : parts) plans.push_back(nb::cast<Plan>(part));
        return parallel(std::move(plans));
      },
      nb::sig("def parallel(*parts: Plan) -> Plan"), "Plans on disjoint parts of the data.");
}

}  // namespace

void bind_plans(nb::module_& m) {
  bind_hole(m);
  bind_plan_class(m);
  bind_noise_mechanisms(m);
  bind_guarantees(m);
  bind_protocols(m);
  bind_network_protocols(m);
  bind_operators(m);
  bind_foreign_parameters(m);
  bind_parallel(m);
}

}  // namespace sotto::python
