// Parts in parallel of which none dominates the others: their pair against its definition, and
// against sums over a lattice.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "accounting/api/pld.hpp"
#include "sotto/accounting/account.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/plan/text.hpp"

namespace sotto {
namespace {

using Curve = std::function<double(double)>;

double tail(double x) { return std::erfc(x / std::sqrt(2.0)) / 2; }
Curve gaussian(double mu) {
  return [mu](double e) { return tail(e / mu - mu / 2) - std::exp(e) * tail(e / mu + mu / 2); };
}
Curve laplace(double x) {
  return [x](double e) { return e < x ? -std::expm1((e - x) / 2) : 0; };
}
Curve approx(double e0, double d) {
  return [=](double e) {
    return d + (e < e0 ? (1 - d) * (std::exp(e0) - std::exp(e)) / (1 + std::exp(e0)) : 0);
  };
}

struct Case {
  std::string plan;
  std::vector<Curve> parts;
  double failure;
};

std::vector<Case> cases() {
  return {{"parallel(gaussian(2), laplace(1))", {gaussian(0.5), laplace(1)}, 0},
          {"parallel(laplace(2), gaussian(1))", {laplace(0.5), gaussian(1)}, 0},
          {"parallel(gaussian(3), pure(0.5))", {gaussian(1 / 3.0), approx(0.5, 0)}, 0},
          {"parallel(laplace(2), pure(0.25))", {laplace(0.5), approx(0.25, 0)}, 0},
          {"parallel(gaussian(2), approx(0.5, 0.01))", {gaussian(0.5), approx(0.5, 0.01)}, 0.01},
          {"parallel(gaussian(1.9), laplace(1), pure(0.8))",
           {gaussian(1 / 1.9), laplace(1), approx(0.8, 0)},
           0},
          {"parallel(gaussian(4), laplace(1.5), approx(0.4, 0.001), approx(0.2, 0.02))",
           {gaussian(0.25), laplace(1 / 1.5), approx(0.4, 0.001), approx(0.2, 0.02)},
           0.02},
          {"parallel(laplace(1), gaussian(2), laplace(1), gaussian(2.5), laplace(2))",
           {gaussian(0.5), laplace(1)},
           0},
          {"parallel(approx(0.5, 0.01), gaussian(2), approx(0.25, 0.01))",
           {gaussian(0.5), approx(0.5, 0.01)},
           0.01}};
}

double largest(const Case& one, double epsilon) {
  double most = 0;
  for (const Curve& part : one.parts) most = std::max(most, part(epsilon));
  return most;
}

// The losses of many uses under P, on multiples of a step: of the pair whose profile joins the
// points of the largest one there, and so is never below it.
std::vector<double> on_lattice(const Case& one, int doublings, double step) {
  constexpr double reach = 8;
  const auto n = static_cast<std::size_t>(reach / step);
  const auto h = [&](double e) { return (largest(one, e) - one.failure) / (1 - one.failure); };
  std::vector<double> slope(n + 1, 0);  // Q(L > jstep), and 0 at last
  for (std::size_t j = 0; j < n; ++j) {
    const double e = static_cast<double>(j) * step;
    slope[j] = (h(e) - h(e + step)) / (std::exp(e + step) - std::exp(e));
  }
  std::vector<double> law(2 * n + 1, 0);
  double zero = 1;
  for (std::size_t j = 1; j <= n; ++j) {
    const double mass = slope[j - 1] - slope[j];
    law[n + j] = mass * std::exp(static_cast<double>(j) * step);
    law[n - j] = mass;
    zero -= law[n + j] + law[n - j];
  }
  law[n] = zero;
  for (int turn = 0; turn < doublings; ++turn) {
    std::vector<double> next(2 * law.size() - 1, 0);
    const auto heavy = [&](std::size_t i) { return law[i] > 1e-14; };
    std::size_t first = 0;
    std::size_t last = law.size() - 1;
    while (!heavy(first)) ++first;
    while (!heavy(last)) --last;
    for (std::size_t i = first; i <= last; ++i) {
      for (std::size_t j = first; j <= last; ++j) next[i + j] += law[i] * law[j];
    }
    law = next;
  }
  return law;
}

double delta_of(const Case& one, const std::vector<double>& law, int doublings, double epsilon,
                double step) {
  const auto centre = static_cast<double>(law.size() / 2);
  double delta = 0;
  for (std::size_t i = 0; i < law.size(); ++i) {
    const double loss = (static_cast<double>(i) - centre) * step;
    if (loss > epsilon) delta -= law[i] * std::expm1(epsilon - loss);
  }
  return 1 - std::pow(1 - one.failure, std::pow(2.0, doublings)) * (1 - delta);
}

TEST(Parallel, OneUseHasTheLargestProfile) {
  for (const Case& one : cases()) {
    const PlanLoss loss = loss_of(parse(one.plan), Side::upper);
    EXPECT_FALSE(loss.attained);
    for (const double epsilon : {0.0, 0.01, 0.1, 0.2, 0.3, 0.45, 0.49, 0.6, 0.9, 1.5}) {
      const double truth = largest(one, epsilon);
      const Bound delta = composed_delta(loss, {epsilon, epsilon});
      EXPECT_LE(delta.lower, truth + 1e-15) << one.plan << " " << epsilon;
      EXPECT_GE(delta.upper, truth - 1e-15) << one.plan << " " << epsilon;
      EXPECT_LE(delta.upper - delta.lower, 0.15 * truth + 1e-7) << one.plan << " " << epsilon;
    }
  }
}

TEST(Parallel, SeveralUsesComposeThePair) {
  for (const Case& one : cases()) {
    const PlanLoss loss = loss_of(parse("8 * " + one.plan), Side::upper);
    const std::vector<double> rough = on_lattice(one, 3, 4e-3);
    const std::vector<double> law = on_lattice(one, 3, 2e-3);
    for (const double epsilon : {0.5, 2.0}) {
      const double coarse = delta_of(one, rough, 3, epsilon, 4e-3);
      const double fine = delta_of(one, law, 3, epsilon, 2e-3);
      const Bound delta = composed_delta(loss, {epsilon, epsilon});
      EXPECT_LE(delta.lower, fine + 1e-9) << one.plan << " " << epsilon;
      EXPECT_GE(delta.upper, fine - 2 * std::abs(coarse - fine) - 1e-9)
          << one.plan << " " << epsilon;
      EXPECT_LE(std::abs(coarse - fine), 1e-4 * fine) << one.plan << " " << epsilon;
      EXPECT_LE(delta.upper - delta.lower, 1e-4 * fine) << one.plan << " " << epsilon;
    }
  }
}

TEST(Parallel, NoPartCostsMore) {
  for (const char* other : {"laplace(1)", "gaussian(2)", "pure(0.8)"}) {
    const Plan both =
        parse(std::string("20 * parallel(laplace(1), gaussian(2), pure(0.8)) + gaussian(3)"));
    const Plan part = parse(std::string("20 * ") + other + " + gaussian(3)");
    const Bound all = composed_epsilon(loss_of(both, Side::upper), {1e-6, 1e-6});
    const Bound one = composed_epsilon(loss_of(part, Side::upper), {1e-6, 1e-6});
    EXPECT_GE(all.upper, one.lower) << other;
    // The lower bound uses the most expensive part at every use.
    EXPECT_GE(epsilon(both, Delta(1e-6), {}).value.lower, one.lower * (1 - 1e-5)) << other;
  }
}

TEST(Parallel, PartsWithoutAClosedFormAreRefusedByName) {
  for (const char* text : {"10 * parallel(2 * laplace(1), gaussian(1))",
                           "10 * parallel(poisson(0.1, gaussian(1)), pure(0.5))"}) {
    EXPECT_THROW(loss_of(parse(text), Side::upper), OutsideConditions) << text;
  }
}

}  // namespace
}  // namespace sotto
