// Moment generating functions against values of log M(c + it) that mpmath computed with 40 digits,
// by sums and quadrature of the definitions in docs/theory/pld/dominating-pairs.md.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "numerics/api/elementary.hpp"
#include "pld/api/privacy_loss.hpp"
#include "pld/api/token_walk.hpp"

namespace sotto {
namespace {

struct Value {
  double c, t;
  Complex log;  // on the principal branch
};

void expect_values(const PrivacyLoss& loss, const std::vector<Value>& values, double tolerance) {
  for (const auto& [c, t, log] : values) {
    const auto mgf = loss.log_mgf(c);
    mgf->prepare(std::max(t, 1.0), 1e-15);
    const LogMgfValue value = mgf->at(t);
    ASSERT_FALSE(std::isinf(value.error)) << c << " " << t;
    const Complex exact = exp(log);
    const Complex here = exp(value.log);
    const double error = abs(exact) * (value.error + 1e-14);  // the printed digits
    EXPECT_NEAR(here.re, exact.re, error) << c << " " << t;
    EXPECT_NEAR(here.im, exact.im, error) << c << " " << t;
    EXPECT_LE(value.error * abs(exact), tolerance * std::exp(mgf->at(0).log.re)) << c << " " << t;
  }
}

// Losses ±0.7 of weight 1/5 and ±2 of weight 1/20.
TEST(MomentGeneratingFunction, OfSymmetricAtomsMatchesMpmath) {
  expect_values(
      *symmetric_atoms_loss({{Real(7) / 10, Real(1) / 5}, {2, Real(1) / 20}}, std::nullopt),
      {{0.3, 0, {0.13371199901819004, 0}},
       {0.3, 0.7, {-0.0617464889486129219, 0.375888277440188603}},
       {2, 3, {1.95102065891654065, -0.158405986022373888}},
       {6, 12, {10.0034248788602735, -1.13281633323615914}}},
      5e-12);
}

// Randomized response of ε = 1 on a Poisson sample of rate 1/10.
TEST(MomentGeneratingFunction, OfSampledAtomsMatchesMpmath) {
  const std::vector<Atom> base{{1, 1 / (1 + exp(Real(1)))}, {-1, 1 / (1 + exp(Real(-1)))}};
  expect_values(*poisson_atoms_loss(base, Real(1) / 10, Direction::remove),
                {{0.3, 0, {0.00206658574453448173, 0}},
                 {0.3, 0.7, {-0.000649190616000470901, 0.00592781190228311453}},
                 {2, 3, {-0.0226541103224157732, 0.0831610572857658961}},
                 {6, 12, {-0.80057440463409809, 1.43247164250912851}}},
                1e-12);
  expect_values(*poisson_atoms_loss(base, Real(1) / 10, Direction::add),
                {{0.3, 0, {0.00196643462057282579, 0}},
                 {0.3, 0.7, {-0.000372451515861792999, 0.00566103846844989806}},
                 {2, 3, {-0.00615188111862915127, 0.0729678087789854649}},
                 {6, 12, {-0.0105958837746409468, 0.737410301597849708}}},
                1e-12);
}

// μ² = 0.3 with mass 1/5, μ² = 1.7 with mass 1/10.
TEST(MomentGeneratingFunction, OfAGaussianMixtureMatchesMpmath) {
  expect_values(
      *gaussian_mixture_loss({{Real(3) / 10, Real(1) / 5}, {Real(17) / 10, Real(1) / 10}}),
      {{0.3, 0, {0.0500794391416877121, 0}},
       {0.3, 0.7, {-0.0474734989700193329, 0.113245422101454063}},
       {2, 3, {-0.453203807894589686, 0.159026653839897878}}},
      1e-12);
}

TEST(MomentGeneratingFunction, OfRepeatedStepsIsThePower) {
  const PrivacyLossPtr one =
      gaussian_mixture_loss({{Real(3) / 10, Real(1) / 5}, {Real(17) / 10, Real(1) / 10}});
  expect_values(*repeated_loss(one, 3),
                {{2, 3, {3 * -0.453203807894589686, 3 * 0.159026653839897878}}}, 1e-12);
}

// κ = 3, D = 1/5, whose pole is 1/(e^(2D) - 1) = 2.03.
TEST(MomentGeneratingFunction, OfArsinhNoiseMatchesMpmath) {
  expect_values(*arsinh_loss(3, Real(1) / 5),
                {{0.3, 0, {0.0577538208908792528, 0}},
                 {0.3, 0.7, {-0.0247333037689052495, 0.158894289899089463}},
                 {1, 3, {-0.903909574227594123, 0.704412631335721512}},
                 {1, 12, {-5.21727757919714292, 0.699210805645986207}}},
                1e-11);
}

// Laplace noise of x = 1 up to the loss 1/2, an atom of mass 1/50 there, and Gaussian noise of
// μ = 4/5 beyond. For t = 40 the integrals are evaluated from their ends.
TEST(MomentGeneratingFunction, OfAPointwiseMaximumMatchesMpmath) {
  const double infinity = std::numeric_limits<double>::infinity();
  const PrivacyLossPtr loss =
      pointwise_maximum_loss({{LossPiece::Noise::laplace, 1, 1, 0, 0.5},
                              {LossPiece::Noise::gaussian, Real(4) / 5, 1, 0.5, infinity}},
                             {{Real(1) / 2, Real(1) / 50}}, Real(0.2301372284564216275));
  expect_values(*loss,
                {{0.3, 0, {0.123304799602596976, 0}},
                 {0.3, 0.7, {-0.0333360620696349166, 0.35353465701054419}},
                 {2, 3, {-0.797819391747794219, -1.46754743793755045}},
                 {2, 40, {-1.33552599069903278, 0.316496529837348976}}},
                1e-11);
}

// Gaussian noise of μ = 4/5 between the losses 1/5 and 6/5: for t = 40 it is evaluated from both
// ends.
TEST(MomentGeneratingFunction, OfABoundedGaussianPieceMatchesMpmath) {
  const PrivacyLossPtr loss = pointwise_maximum_loss(
      {{LossPiece::Noise::gaussian, Real(4) / 5, 1, 0.2, 1.2}}, {}, Real(0.34691881758627723));
  expect_values(*loss,
                {{2, 3, {-0.00819691899468117529, 2.29352333627589124}},
                 {2, 40, {-1.3196738574127802, 0.16496787854017}}},
                1e-11);
}

TEST(CoarsenMixture, DominatesWithTheSameMass) {
  std::vector<GaussianComponent> components;
  for (int i = 1; i <= 50; ++i) components.push_back({Real(i) / 20, Real(1) / 60});
  const std::vector<GaussianComponent> coarse = coarsen_mixture(components, 12);
  EXPECT_LE(coarse.size(), 12U);
  double mass = 0;
  for (const GaussianComponent& component : coarse) mass += component.mass.estimate();
  EXPECT_LE(mass, 50.0 / 60 + 1e-12);  // some of it may reveal nothing now
  for (const double epsilon : {0.0, 0.1, 1.0, 3.0}) {
    const double exact = gaussian_mixture_delta(components, epsilon);
    EXPECT_GE(gaussian_mixture_delta(coarse, epsilon), exact * (1 - 1e-12)) << epsilon;
    EXPECT_LE(gaussian_mixture_delta(coarse, epsilon), 1.1 * exact) << epsilon;
  }
}

}  // namespace
}  // namespace sotto
