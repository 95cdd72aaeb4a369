// Closed forms of textbooks: the formula where it is proved, an error elsewhere.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "../../oracle/oracle.hpp"
#include "numerics/api/elementary.hpp"
#include "privacy/api/conversions.hpp"
#include "privacy/api/gaussian.hpp"
#include "sotto/core/errors.hpp"

namespace sotto {
namespace {

using oracle::Row;

void check_line(const char* line, const oracle::Function& f) {
  oracle::check(oracle::rows("closed_forms", "line", line), f);
}

TEST(ClosedForms, ClassicalTcdpSolvedForDeltaEnclosesTheOracle) {
  check_line("delta_from_tcdp_classic", [](const Row& row) {
    return delta_from_tcdp_classic({row.number("first"), row.number("second")},
                                   row.number("third"));
  });
}

TEST(ClosedForms, ClassicalTcdpSolvedForDeltaIsTheInverse) {
  for (const double omega : {1.5, 8.0, 500.0}) {
    for (const double delta : {1e-2, 1e-6, 1e-30}) {
      const Real epsilon = epsilon_from_tcdp_classic({0.03, omega}, delta);
      EXPECT_NEAR(delta_from_tcdp_classic({0.03, omega}, epsilon.upper()).upper() / delta, 1, 1e-9)
          << omega << " " << delta;
    }
  }
}

TEST(ClosedForms, TheSimpleZcdpFormEnclosesTheOracleWhereItIsProved) {
  check_line("epsilon_from_zcdp_simple", [](const Row& row) {
    return epsilon_from_zcdp_simple({row.number("first")}, row.number("third"));
  });
  check_line("delta_from_zcdp_simple", [](const Row& row) {
    return delta_from_zcdp_simple({row.number("first")}, row.number("third"));
  });
}

TEST(ClosedForms, TheSimpleZcdpFormIsRefusedWhereRhoMatters) {
  // for ρ = 3 the form is 2 sqrt(3 · 11.5) = 11.75, but Gaussian noise of that ρ has ε = 13.7
  EXPECT_LT(gaussian_delta(11.75, std::sqrt(6.0)).lower() / 1e-5, 100);
  EXPECT_GT(gaussian_delta(11.75, std::sqrt(6.0)).lower(), 1e-5);
  EXPECT_THROW(epsilon_from_zcdp_simple({3}, 1e-5), OutsideConditions);
  EXPECT_THROW(delta_from_zcdp_simple({3}, 11.75), OutsideConditions);
}

TEST(ClosedForms, TheMomentsAccountantsFormsEncloseTheOracle) {
  check_line("moments_sigma", [](const Row& row) {
    return gaussian_moments_epsilon(MomentsForm::by_sigma, row.number("first"),
                                    row.number("third"));
  });
  check_line("moments_epsilon", [](const Row& row) {
    return gaussian_moments_epsilon(MomentsForm::by_epsilon, row.number("first"),
                                    row.number("third"));
  });
  const auto log_inverse = [](MomentsForm form) {
    return [form](const Row& row) {
      return -log(gaussian_moments_delta(form, row.number("first"), row.number("third")));
    };
  };
  check_line("moments_sigma_back", log_inverse(MomentsForm::by_sigma));
  check_line("moments_epsilon_back", log_inverse(MomentsForm::by_epsilon));
}

TEST(ClosedForms, TheMomentsFormsAreRefusedBeyondTheirConditions) {
  // (8 - 2 sqrt 2) sqrt(log 1e5) = 17.547; 16 sqrt(log 1e5 log 1.25e5) - 2 sqrt(2 log 1e5) = 176.38
  EXPECT_NO_THROW(gaussian_moments_epsilon(MomentsForm::by_sigma, 17.54, 1e-5));
  EXPECT_THROW(gaussian_moments_epsilon(MomentsForm::by_sigma, 17.55, 1e-5), OutsideConditions);
  EXPECT_NO_THROW(gaussian_moments_epsilon(MomentsForm::by_epsilon, 176.3, 1e-5));
  EXPECT_THROW(gaussian_moments_epsilon(MomentsForm::by_epsilon, 176.5, 1e-5), OutsideConditions);
  EXPECT_THROW(gaussian_moments_delta(MomentsForm::by_sigma, 20, 271.4), OutsideConditions);
}

TEST(ClosedForms, NoMomentsFormIsBelowTheExactGaussian) {
  for (const double mu : {0.01, 0.5, 3.0, 12.0, 17.0}) {
    for (const auto form : {MomentsForm::by_sigma, MomentsForm::by_epsilon}) {
      const double epsilon = gaussian_moments_epsilon(form, mu, 1e-5).upper();
      EXPECT_LE(gaussian_delta(epsilon, mu).upper(), 1e-5) << mu;
    }
  }
}

TEST(ClosedForms, OneOrdersRateEnclosesTheOracle) {
  check_line("true_positive_rate", [](const Row& row) {
    return true_positive_rate_from_renyi({row.number("first"), row.number("second")},
                                         row.number("third"));
  });
}

TEST(ClosedForms, OneOrdersRateIsNeverBelowTheBestTestOnGaussians) {
  // the best test has P(E) = Φ(μ + Φ⁻¹(Q(E))); at the threshold t, Q = Φ(-t) and P = Φ(μ - t)
  for (const double mu : {0.3, 1.0, 4.0}) {
    for (const double t : {-1.0, 0.0, 2.0, 5.0}) {
      const double q = 0.5 * std::erfc(t / std::sqrt(2.0));
      const double p = 0.5 * std::erfc((t - mu) / std::sqrt(2.0));
      for (const double order : {1.2, 2.0, 9.0}) {
        EXPECT_GE(true_positive_rate_from_renyi({order, order * mu * mu / 2}, q).upper(),
                  p * (1 - 1e-12))
            << mu << " " << t << " " << order;
      }
    }
  }
}

}  // namespace
}  // namespace sotto
