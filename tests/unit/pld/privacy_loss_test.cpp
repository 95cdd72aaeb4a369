// Moment generating functions against sums over the loss distribution, and decay bounds against the
// values that they bound.
#include "pld/api/privacy_loss.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/api/work.hpp"
#include "numerics/api/elementary.hpp"
#include "pld/api/compose.hpp"

namespace sotto {
namespace {

constexpr double pi = 3.141592653589793;
using Long = long double;

struct Case {
  std::string name;
  PrivacyLossPtr loss;
  // E_P[e^(sL)] by sums and Simpson's rule in long double
  std::function<Complex(double c, double t)> direct;
};

// Returns ∫ f over [low, high] by Simpson's rule with many points.
Complex simpson(double low, double high, int points, const std::function<Complex(Long)>& f) {
  Long re = 0;
  Long im = 0;
  const Long h = (static_cast<Long>(high) - low) / points;
  for (int i = 0; i <= points; ++i) {
    const Long weight = i == 0 || i == points ? 1 : (i % 2 == 1 ? 4 : 2);
    const Complex value = f(low + i * h);
    re += weight * value.re;
    im += weight * value.im;
  }
  return {static_cast<double>(re * h / 3), static_cast<double>(im * h / 3)};
}

Complex power(Long log_base, double re, double im, Long weight) {
  const Long size = weight * std::exp(re * log_base);
  return {static_cast<double>(size * std::cos(im * log_base)),
          static_cast<double>(size * std::sin(im * log_base))};
}

// A loss distribution: losses with masses under Q.
using Distribution = std::vector<std::pair<Long, Long>>;

// Laplace noise: its atoms, and the points of a Gauss-Legendre rule between them.
Distribution laplace_distribution(Long x) {
  constexpr int n = 32;
  Distribution distribution{{-x, 0.5L}, {x, std::exp(-x) / 2}};
  for (int i = 0; i < n; ++i) {
    Long t = std::cos(static_cast<Long>(pi) * (i + 0.75L) / (n + 0.5L));
    Long slope = 1;
    for (int turn = 0; turn < 10; ++turn) {
      Long before = 1;
      Long here = t;
      for (int k = 2; k <= n; ++k) {
        const Long next = ((2 * k - 1) * t * here - (k - 1) * before) / k;
        before = here;
        here = next;
      }
      slope = n * (t * here - before) / (t * t - 1);
      t -= here / slope;
    }
    distribution.emplace_back(
        x * t, x * 2 / ((1 - t * t) * slope * slope) * std::exp(-(x * t + x) / 2) / 4);
  }
  return distribution;
}

Distribution gaussian_distribution(Long mu, Long beyond) {
  Distribution distribution;
  const Long h = std::min(0.1L, 0.1L / mu);
  for (Long z = -12; z <= 12 + beyond * mu; z += h) {
    distribution.emplace_back(mu * z - mu * mu / 2,
                              h * std::exp(-z * z / 2) / std::sqrt(2 * std::acos(-1.0L)));
  }
  return distribution;
}

Distribution response_distribution(Long epsilon) {
  return {{epsilon, 1 / (1 + std::exp(epsilon))}, {-epsilon, 1 / (1 + std::exp(-epsilon))}};
}

Distribution sums(const Distribution& a, const Distribution& b) {
  Distribution all;
  for (const auto& [l, m] : a) {
    for (const auto& [k, n] : b) all.emplace_back(l + k, m * n);
  }
  return all;
}

// Returns E_Q[r^β] with r = 1 - q + q e^ℓ.
Complex sampled(const Distribution& distribution, double q, Direction direction, double c,
                double t) {
  Complex sum{0, 0};
  for (const auto& [l, m] : distribution) {
    const Long u = std::log1p(q * std::expm1(l));
    sum += direction == Direction::remove ? power(u, c + 1, t, m) : power(u, -c, -t, m);
  }
  return sum;
}

// M of the discretised products on either side encloses M of several mechanisms on one sample,
// closely.
TEST(PrivacyLoss, DiscretisedProductsEncloseAProductOnASample) {
  const PrivacyLossPtr response =
      symmetric_atoms_loss({{0.5, Real(1 / (2 * std::cosh(0.25)))}}, std::nullopt);
  struct Product {
    std::vector<LossStep> steps;
    Distribution joint;
  };
  for (const auto& [steps, joint] :
       {Product{{{gaussian_loss(1), 1}, {laplace_loss(0.5), 1}},
                sums(gaussian_distribution(1, 8), laplace_distribution(0.5))},
        Product{{{gaussian_loss(Real(0.0625)), 1}, {laplace_loss(2), 1}},
                sums(gaussian_distribution(0.25, 8), laplace_distribution(2))},
        Product{{{laplace_loss(1), 1}, {laplace_loss(0.25), 1}, {response, 1}},
                sums(sums(laplace_distribution(1), laplace_distribution(0.25)),
                     response_distribution(0.5))}}) {
    for (const double q : {0.001, 0.3}) {
      const auto above = poisson_product_losses(steps, Real(q), Side::upper);
      const auto below = poisson_product_losses(steps, Real(q), Side::lower);
      ASSERT_TRUE(above && below);
      for (const double c : {0.5, 2.0, 6.0}) {
        for (const Direction direction : {Direction::remove, Direction::add}) {
          const bool removed = direction == Direction::remove;
          const double truth = std::log(sampled(joint, q, direction, c, 0).re);
          const LogMgfValue up = (removed ? above->removed : above->added)->log_mgf(c)->at(0);
          const LogMgfValue down = (removed ? below->removed : below->added)->log_mgf(c)->at(0);
          EXPECT_GE(up.log.re + up.error, truth - 1e-9 * truth - 1e-13) << q << " " << c;
          EXPECT_LE(down.log.re - down.error, truth + 1e-9 * truth + 1e-13) << q << " " << c;
          EXPECT_LE(up.log.re - down.log.re, 1e-3 * truth) << q << " " << c;
        }
      }
    }
  }
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const double mu : {0.3, 1.0, 2.5}) {
    for (const double q : {0.001, 0.1, 0.7}) {
      for (const Direction direction : {Direction::remove, Direction::add}) {
        all.push_back({"sampled gaussian " + std::to_string(mu) + " " + std::to_string(q),
                       poisson_gaussian_loss(mu, Real(q), direction), [=](double c, double t) {
                         const double re = direction == Direction::remove ? c + 1 : -c;
                         const double im = direction == Direction::remove ? t : -t;
                         return simpson(-12, 12 + (c + 1) * mu, 4000, [&](Long z) {
                           const Long r = 1 - static_cast<Long>(q) +
                                          q * std::exp(mu * z - static_cast<Long>(mu) * mu / 2);
                           return power(
                               std::log(r), re, im,
                               std::exp(-z * z / 2) / std::sqrt(2 * static_cast<Long>(pi)));
                         });
                       }});
      }
      all.push_back({"replaced gaussian " + std::to_string(mu) + " " + std::to_string(q),
                     without_replacement_gaussian_loss(mu, Real(q)), [=](double c, double t) {
                       const double atom = (1 - q) * std::erf(mu / (2 * std::sqrt(2.0)));
                       Complex sum = simpson(mu / 2, 12 + (c + 1) * mu, 40000, [&](Long z) {
                         const Long u =
                             std::log(1 - static_cast<Long>(q) +
                                      q * std::exp(mu * z - static_cast<Long>(mu) * mu / 2));
                         const Long w = std::exp(-z * z / 2) / std::sqrt(2 * static_cast<Long>(pi));
                         return power(u, c + 1, t, w) + power(u, -c, -t, w);
                       });
                       sum.re += atom;
                       return sum;
                     }});
    }
  }
  for (const double x : {0.01, 0.5, 3.0}) {
    all.push_back({"laplace " + std::to_string(x), laplace_loss(x), [=](double c, double t) {
                     Complex sum =
                         power(x, c, t, 0.5L) +
                         power(-static_cast<Long>(x), c, t, 0.5L * std::exp(-static_cast<Long>(x)));
                     return sum + simpson(-x, x, 20000, [&](Long l) {
                              return power(l, c, t, std::exp((l - x) / 2) / 4);
                            });
                   }});
    all.push_back(
        {"exponential " + std::to_string(x), exponential_loss(x), [=](double c, double t) {
           const Long front =
               std::exp(static_cast<Long>(x) / 2) / (2 * std::expm1(static_cast<Long>(x)));
           return simpson(-x, x, 20000, [&](Long l) { return power(l, c + 0.5, t, front); });
         }});
    for (const double q : {0.01, 0.6}) {
      for (const Direction direction : {Direction::remove, Direction::add}) {
        all.push_back({"sampled laplace " + std::to_string(x),
                       poisson_laplace_loss(x, Real(q), direction), [=](double c, double t) {
                         const double re = direction == Direction::remove ? c + 1 : -c;
                         const double im = direction == Direction::remove ? t : -t;
                         const auto u = [=](Long l) { return std::log1p(q * std::expm1(l)); };
                         Complex sum = power(u(-x), re, im, 0.5L) +
                                       power(u(x), re, im, 0.5L * std::exp(-static_cast<Long>(x)));
                         return sum + simpson(-x, x, 20000, [&](Long l) {
                                  return power(u(l), re, im, std::exp(-(l + x) / 2) / 4);
                                });
                       }});
      }
    }
  }
  for (const double sigma : {0.3, 0.9, 4.0}) {
    for (const int d : {1, 3}) {
      all.push_back({"discrete gaussian " + std::to_string(sigma), discrete_gaussian_loss(sigma, d),
                     [=](double c, double t) {
                       Complex sum{0, 0};
                       Long total = 0;
                       for (int j = -400; j <= 400; ++j) {
                         const Long mass = std::exp(-static_cast<Long>(j) * j /
                                                    (2 * static_cast<Long>(sigma) * sigma));
                         const Long loss =
                             (static_cast<Long>(d) * d - 2 * static_cast<Long>(j) * d) /
                             (2 * static_cast<Long>(sigma) * sigma);
                         total += mass;
                         if (mass > 0) sum += power(loss, c, t, mass);
                       }
                       return static_cast<double>(1 / total) * sum;
                     }});
    }
  }
  return all;
}

TEST(PrivacyLoss, MomentGeneratingFunctionsAreThoseOfTheDistribution) {
  for (const Case& one : cases()) {
    for (const double c : {0.3, 2.0, 6.0}) {
      const auto mgf = one.loss->log_mgf(c);
      if (mgf->at(0).log.re > 600) continue;  // the sums in doubles would overflow
      mgf->prepare(12, 1e-14);
      for (const double t : {0.0, 0.7, 3.0, 12.0}) {
        const LogMgfValue value = mgf->at(t);
        const Complex truth = one.direct(c, t);
        if (std::isinf(value.error)) {
          EXPECT_LE(abs(truth), std::exp(value.log.re) * (1 + 1e-9)) << one.name;
          continue;
        }
        const Complex here = exp(value.log);
        const double error_bound =
            abs(here) * value.error +
            1e-12 * std::exp(mgf->at(0).log.re);  // the sums are in doubles too
        EXPECT_NEAR(here.re, truth.re, error_bound) << one.name << " c " << c << " t " << t;
        EXPECT_NEAR(here.im, truth.im, error_bound) << one.name << " c " << c << " t " << t;
        EXPECT_LT(value.error * abs(here), 1e-9 * std::exp(mgf->at(0).log.re))
            << one.name << " c " << c << " t " << t;
      }
    }
  }
}

// For large Im s the integrand oscillates fast, and the path of integration is moved: in both
// directions, against many points on the real line.
TEST(PrivacyLoss, ShiftedPathGivesTheSameIntegral) {
  for (const double mu : {0.3, 1.2}) {
    for (const Direction direction : {Direction::remove, Direction::add}) {
      const double q = 0.01;
      const double c = 3;
      const auto mgf = poisson_gaussian_loss(mu, Real(q), direction)->log_mgf(c);
      mgf->prepare(20000, 1e-14);
      EXPECT_LT(mgf->work(), 3000);
      for (const double t : {1.0, 100.0, 900.0}) {
        const double re = direction == Direction::remove ? c + 1 : -c;
        const double im = direction == Direction::remove ? t : -t;
        const Complex truth = simpson(-10, 10 + 4 * mu, 400000, [&](Long z) {
          const Long r =
              1 - static_cast<Long>(q) + q * std::exp(mu * z - static_cast<Long>(mu) * mu / 2);
          return power(std::log(r), re, im,
                       std::exp(-z * z / 2) / std::sqrt(2 * static_cast<Long>(pi)));
        });
        const LogMgfValue value = mgf->at(t);
        ASSERT_FALSE(std::isinf(value.error)) << mu << " " << t;
        const Complex here = exp(value.log);
        const double error_bound = abs(here) * value.error + 2e-13;
        EXPECT_NEAR(here.re, truth.re, error_bound) << mu << " " << t;
        EXPECT_NEAR(here.im, truth.im, error_bound) << mu << " " << t;
        EXPECT_LT(abs(here) * value.error, 1e-9);
      }
    }
  }
}

// With an added record and little noise the loss is far below 0 under Q even for large z, and r^-c
// is large there.
TEST(PrivacyLoss, TruncationOfAnAddedRecordIsBounded) {
  const double q = 0.59;
  for (const double mu : {9.0, 12.0, 15.0}) {
    for (const double c : {3.0, 10.0, 25.0}) {
      const auto mgf = poisson_gaussian_loss(mu, Real(q), Direction::add)->log_mgf(c);
      for (const double top : {3.0, 5000.0}) {
        mgf->prepare(top, 1e-9);
        for (const double t : {0.0, 1.0, 3.0}) {
          const Complex truth = simpson(-10, 10, 20000, [&](Long z) {
            const Long r =
                1 - static_cast<Long>(q) + q * std::exp(mu * z - static_cast<Long>(mu) * mu / 2);
            return power(std::log(r), -c, -t,
                         std::exp(-z * z / 2) / std::sqrt(2 * static_cast<Long>(pi)));
          });
          const LogMgfValue value = mgf->at(t);
          ASSERT_FALSE(std::isinf(value.error)) << mu << " " << c << " " << t;
          const Complex here = exp(value.log);
          const double error_bound = abs(here) * (value.error + 2e-13);
          EXPECT_NEAR(here.re, truth.re, error_bound) << mu << " " << c << " " << t << " " << top;
          EXPECT_NEAR(here.im, truth.im, error_bound) << mu << " " << c << " " << t << " " << top;
        }
      }
    }
  }
}

// For losses whose e^ℓ overflows the path stays on the real line.
TEST(PrivacyLoss, LittleNoiseGivesNoNaN) {
  for (const double mu : {15.0, 20.0, 30.0, 45.0}) {
    for (const Direction direction : {Direction::remove, Direction::add}) {
      for (const double c : {0.5, 1.0, 2.5}) {
        const auto mgf = poisson_gaussian_loss(mu, Real(0.1), direction)->log_mgf(c);
        const double all = mgf->at(0).log.re + mgf->at(0).error;
        for (const double top : {5.0, 50.0, 500.0}) {
          mgf->prepare(top, 1e-12);
          for (const double t : {0.05 * top, 0.3 * top, 0.7 * top, top}) {
            const LogMgfValue value = mgf->at(t);
            EXPECT_FALSE(std::isnan(value.log.re) || std::isnan(value.log.im) ||
                         std::isnan(value.error))
                << mu << " " << c << " " << t;
            if (std::isfinite(value.error)) {
              EXPECT_LE(value.log.re - value.error, all) << mu << " " << c << " " << t;
            }
          }
        }
      }
    }
  }
}

TEST(PrivacyLoss, DecayBoundsHold) {
  for (const Case& one : cases()) {
    const auto mgf = one.loss->log_mgf(1.5);
    mgf->prepare(200, 1e-13);
    for (const double t : {0.5, 2.0, 10.0, 40.0}) {
      const double decay_bound = mgf->decay_bound(t, Extent::everywhere);
      for (double tau = t; tau <= 200; tau *= 1.07) {
        const LogMgfValue value = mgf->at(tau);
        const double size = std::isinf(value.error) ? -INFINITY : value.log.re - value.error;
        EXPECT_LE(size, decay_bound + 1e-12) << one.name << " " << t << " " << tau;
      }
    }
  }
}

TEST(PrivacyLoss, EstimatedCumulantsAreNearTheCertifiedOnes) {
  for (const Case& one : cases()) {
    for (const double c : {0.3, 2.0, 6.0})
      EXPECT_NEAR(one.loss->cumulant(c), one.loss->log_mgf(c)->at(0).log.re, 1e-3) << one.name;
  }
}

TEST(InversionIntegral, GaussianStepHasItsClosedForm) {
  // μ = 1: δ(1) = Φ(-1/2) - e Φ(-3/2)
  const double exact =
      std::erfc(0.5 / std::sqrt(2.0)) / 2 - std::exp(1.0) * std::erfc(1.5 / std::sqrt(2.0)) / 2;
  const Bound delta = composed_delta({{gaussian_loss(1), 1}}, {1, 1});
  EXPECT_LE(delta.lower, exact * (1 + 1e-14));
  EXPECT_GE(delta.upper, exact * (1 - 1e-14));
  EXPECT_LT(delta.upper - delta.lower, 1e-9 * exact);
}

TEST(InversionIntegral, BracketsAHundredMillionSteps) {
  const Bound epsilon = composed_epsilon(
      {{poisson_gaussian_loss(Real::reading(0.2), Real::reading(1e-4), Direction::remove), 1e8}},
      {1e-5, 1e-5});
  EXPECT_GT(epsilon.lower, 0);
  EXPECT_LT(epsilon.upper - epsilon.lower, 1e-9 * epsilon.upper);
}

// Several kinds of randomized response, against the sum over all outcomes.
TEST(Composition, SeveralKindsOfRandomizedResponseMatchTheSumOverOutcomes) {
  struct Kind {
    double epsilon;
    int count;
  };
  for (const auto& kinds :
       {std::vector<Kind>{{0.3, 7}, {0.11, 9}}, std::vector<Kind>{{1.7, 3}, {0.02, 12}},
        std::vector<Kind>{{0.5, 4}, {0.25, 5}, {0.1, 6}}}) {
    std::vector<LossStep> steps;
    std::vector<std::pair<long double, long double>> outcomes{{0, 1}};  // losses and masses under P
    for (const auto& [epsilon, count] : kinds) {
      const Real real(epsilon);
      steps.push_back({symmetric_atoms_loss({{real, 1 / (exp(real / 2) + exp(-(real / 2)))}},
                                            Lattice{epsilon, 2 * epsilon, 0x1p-50}),
                       static_cast<double>(count)});
      const long double up = 1 / (1 + std::exp(-static_cast<long double>(epsilon)));
      for (int n = 0; n < count; ++n) {
        std::vector<std::pair<long double, long double>> next;
        for (const auto& [loss, mass] : outcomes) {
          next.emplace_back(loss + epsilon, mass * up);
          next.emplace_back(loss - epsilon, mass * (1 - up));
        }
        outcomes = std::move(next);
        std::sort(outcomes.begin(), outcomes.end());
        std::size_t last = 0;
        for (std::size_t i = 1; i < outcomes.size(); ++i) {
          if (outcomes[i].first - outcomes[last].first < 1e-15L) {
            outcomes[last].second += outcomes[i].second;
          } else {
            outcomes[++last] = outcomes[i];
          }
        }
        outcomes.resize(last + 1);
      }
    }
    for (const double epsilon : {0.0, 0.05, 0.4, 1.0, 2.0, 3.1}) {
      long double truth = 0;
      for (const auto& [loss, mass] : outcomes)
        truth += loss > epsilon ? mass * -std::expm1(epsilon - loss) : 0;
      const Bound delta = composed_delta(steps, {epsilon, epsilon});
      EXPECT_LE(delta.lower, static_cast<double>(truth) * (1 + 1e-15)) << epsilon;
      EXPECT_GE(delta.upper, static_cast<double>(truth) * (1 - 1e-15)) << epsilon;
      EXPECT_LE(delta.upper - delta.lower, 1e-5 * delta.upper) << epsilon;
    }
  }
}

TEST(InversionIntegral, UpperBoundThatUnderflowsIsNotZero) {
  const std::vector<LossStep> steps{{poisson_gaussian_loss(0.01, Real(0.5), Direction::add), 1}};
  EXPECT_GT(composed_delta(steps, {0.6, 0.6}).upper, 0);  // log 2 = 0.69 is the largest loss
  EXPECT_EQ(composed_delta(steps, {0.7, 0.7}).upper, 0);
}

TEST(PrivacyLoss, ManyAtomsCountTheWorkOfEach) {
  std::vector<SymmetricAtom> atoms;
  for (int i = 1; i <= 1000; ++i) atoms.push_back({Real(1e-3 * i), Real(1e-4)});
  const PrivacyLossPtr loss = symmetric_atoms_loss(atoms, std::nullopt);
  const auto mgf = loss->log_mgf(1);
  const WorkLimit limit(1e12);
  mgf->at(1);
  EXPECT_GT(limit.spent(), 100.0 * 1000);
}

}  // namespace
}  // namespace sotto
