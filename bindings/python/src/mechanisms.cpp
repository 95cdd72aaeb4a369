// Binds noise on NumPy arrays, in place; randomized response; and selection.
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <span>

#include "bindings.hpp"
#include "sotto/mechanisms/additive.hpp"
#include "sotto/mechanisms/choice.hpp"
#include "sotto/plan/text.hpp"

namespace sotto::python {
namespace {

using Numbers = nb::ndarray<double, nb::c_contig, nb::device::cpu>;
using Scores = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

void release(const Additive& noise, const Numbers& values, bool each) {
  const nb::gil_scoped_release free;
  const std::span<double> all(values.data(), values.size());
  if (!each) return noise.release_in_place(all);
  for (double& value : all) {  // check all values first: either all get noise or none
    if (!(value - value == 0))
      throw InvalidValue("a value is not finite: replace NaN and infinity before noise is added");
  }
  for (double& value : all) value = noise.release(value);
}

}  // namespace

void bind_mechanisms(nb::module_& m) {
  nb::class_<Additive>(
      m, "Noise",
      "Noise that may be released, on a public grid, with the plan event that it costs.")
      .def(
          "__init__",
          [](Additive* self, const Plan& leaf, std::optional<int> grid) {
            new (self) Additive(leaf, grid);
          },
          nb::arg("leaf"), nb::arg("grid").none() = nb::none())
      .def("release_in_place", release, nb::arg("values").noconvert(), nb::arg("each") = false)
      .def(
          "release_number",
          [](const Additive& noise, double value) { return noise.release(value); },
          nb::arg("value"))
      .def_prop_ro("event", &Additive::event)
      .def_prop_ro("scale", &Additive::scale)
      .def_prop_ro("grid", &Additive::grid)
      .def_prop_ro("limit", &Additive::limit)
      .def("margin", &Additive::margin, nb::arg("probability") = 0.95);
  m.def(
      "laplace_for", [](double epsilon, double l1) { return laplace_for(Epsilon(epsilon), l1); },
      nb::arg("epsilon"), nb::arg("sensitivity"));
  m.def(
      "gaussian_for",
      [](double epsilon, double delta, double l2, bool classical) {
        return gaussian_for(Epsilon(epsilon), Delta(delta), l2,
                            classical ? GaussianRule::classical : GaussianRule::analytic);
      },
      nb::arg("epsilon"), nb::arg("delta"), nb::arg("sensitivity"), nb::arg("classical") = false);
  m.def("gaussian_for_zcdp", &gaussian_for_zcdp, nb::arg("rho"), nb::arg("sensitivity"));
  m.def(
      "gaussian_for_renyi",
      [](double order, double epsilon, double l2) {
        return gaussian_for_renyi(Order(order), epsilon, l2);
      },
      nb::arg("order"), nb::arg("epsilon"), nb::arg("sensitivity"));
  m.def(
      "noise_for",
      [](const Plan& plan, double epsilon, double delta) {
        const Epsilon target(epsilon);
        const Delta at(delta);
        return unlocked([&] { return additive_for(plan, target, at); });
      },
      nb::arg("plan"), nb::arg("epsilon"), nb::arg("delta"));

  nb::class_<Respondent>(m, "RandomizedResponse",
                         "The truth with probability p, each of the k - 1 other values alike.")
      .def(nb::init<double, std::int64_t>(), nb::arg("p"), nb::arg("k") = 2)
      .def_static(
          "for_epsilon",
          [](double epsilon, std::int64_t k) {
            return Respondent::with_epsilon(Epsilon(epsilon), k);
          },
          nb::arg("epsilon"), nb::arg("k") = 2)
      .def("respond", &Respondent::respond, nb::arg("value"))
      .def(
          "estimate",
          [](const Respondent& r, const std::vector<std::int64_t>& responses) {
            return r.estimate(responses);
          },
          nb::arg("responses"), "From counts of responses, how many respondents have each value.")
      .def("deviation", &Respondent::deviation, nb::arg("n"))
      .def_prop_ro("event", &Respondent::event)
      .def_prop_ro("p", &Respondent::p)
      .def_prop_ro("k", &Respondent::values)
      .def("__repr__", [](const Respondent& r) { return "<" + print(r.event()) + ">"; });
  nb::class_<Selection>(
      m, "ExponentialMechanism",
      "An index with probability in proportion to e^(epsilon score/(2 sensitivity)).")
      .def(
          "__init__",
          [](Selection* self, double epsilon, double sensitivity) {
            new (self) Selection(Epsilon(epsilon), sensitivity);
          },
          nb::arg("epsilon"), nb::arg("sensitivity"))
      .def(
          "choose",
          [](const Selection& s, const Scores& scores) {
            return s.choose({scores.data(), scores.size()});
          },
          nb::arg("scores"))
      .def_prop_ro("event", &Selection::event);
}

}  // namespace sotto::python
