// Audits of sotto's mechanisms: the measured bound is close to the claim, and below it.
#include "sotto/audit/audit.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "audit/events.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/plan/text.hpp"
#include "sotto/random/uniform.hpp"

namespace sotto {
namespace {

// A wrong bound has probability 1e-9: these tests do not fail by chance.
AuditOptions certain(std::int64_t trials, double delta = 0) {
  AuditOptions options;
  options.trials = trials;
  options.confidence = 1 - 1e-9;
  options.delta = Delta(delta);
  return options;
}

struct Case {
  const char* leaf;
  double delta;
  double least_epsilon;  // shares of what is claimed
  double least_delta;
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.leaf; }

class AuditOf : public ::testing::TestWithParam<Case> {};

TEST_P(AuditOf, ComesNearTheClaimAndStaysBelow) {
  const Case& c = GetParam();
  const AuditSubject subject = audit_subject(parse(c.leaf));
  const AuditOptions options = certain(400'000, c.delta);
  const Audit result = audit(subject.suspects, options);
  const AuditClaim claim = claim_of(subject.event, options.delta, options.epsilon);
  EXPECT_FALSE(contradicts(result, claim));
  EXPECT_GE(result.epsilon.lower, c.least_epsilon * claim.epsilon);
  EXPECT_LE(result.epsilon.lower, claim.epsilon);
  EXPECT_GE(result.delta.lower, c.least_delta * claim.delta);
  EXPECT_LE(result.delta.lower, claim.delta);
  EXPECT_GT(result.epsilon.event.p_lower, result.epsilon.event.q_upper);
}

INSTANTIATE_TEST_SUITE_P(Leaves, AuditOf,
                         ::testing::Values(Case{"laplace(1)", 0, 0.93, 0.95},
                                           Case{"laplace(2, 3)", 0, 0.93, 0.95},
                                           Case{"gaussian(1)", 1e-3, 0.65, 0.95},
                                           Case{"gaussian(200, 250)", 1e-3, 0.65, 0.95},
                                           Case{"discrete_laplace(2)", 0, 0.85, 0.88},
                                           Case{"discrete_gaussian(2)", 1e-3, 0.6, 0.88},
                                           Case{"randomized_response(0.75)", 0, 0.97, 0.97},
                                           Case{"randomized_response(0.6, 5)", 0, 0.97, 0.97},
                                           Case{"exponential(1)", 0, 0.7, 0.88}));

TEST(Audit, ArsinhNoise) {
  const AuditSubject subject = audit_subject(parse("arsinh(0.5, 10)"));
  const AuditOptions options = certain(20'000, 1e-3);
  const Audit result = audit(subject.suspects, options);
  const AuditClaim claim = claim_of(subject.event, options.delta, options.epsilon);
  EXPECT_FALSE(contradicts(result, claim));
  EXPECT_GT(result.delta.lower, 0.7 * claim.delta);
}

TEST(Audit, VectorsAreAuditedOnOneCoordinateAndOnAll) {
  for (const char* leaf : {"laplace(1)", "gaussian(1)"}) {
    const AuditSubject subject = audit_subject(parse(leaf), std::nullopt, 3);
    ASSERT_EQ(subject.suspects.size(), 2U);
    const AuditOptions options = certain(200'000, 1e-3);
    const AuditClaim claim = claim_of(subject.event, options.delta, options.epsilon);
    for (const Suspect& suspect : subject.suspects) {
      const Audit result = audit({suspect}, options);
      EXPECT_FALSE(contradicts(result, claim)) << suspect.inputs;
      EXPECT_GT(result.epsilon.lower, 0.6 * claim.epsilon) << suspect.inputs;
    }
  }
}

TEST(Audit, CoarseGridsTellNoMore) {
  const AuditSubject subject = audit_subject(parse("laplace(1)"), 3);
  const Audit found = audit(subject.suspects, certain(200'000));
  EXPECT_LE(found.epsilon.lower, 1);
  EXPECT_LT(found.delta.lower, 0.2);
}

// The stated confidence: many audits at 80 % of coins with a known ε.
TEST(Audit, IsWrongAtMostAsOftenAsItsConfidenceAllows) {
  const Suspect coin{"tails and heads", {"toss"}, [](bool second, std::span<double> numbers) {
                       numbers[0] = bernoulli(second ? 4U : 1U, 5U) ? 1 : 0;
                     }};
  AuditOptions options;
  options.trials = 2000;
  options.confidence = 0.8;
  int wrong_epsilon = 0;
  int wrong_delta = 0;
  constexpr int rounds = 500;
  for (int i = 0; i < rounds; ++i) {
    const Audit result = audit({coin}, options);
    wrong_epsilon += result.epsilon.lower > std::log(4.0) ? 1 : 0;
    wrong_delta += result.delta.lower > 0.6 ? 1 : 0;
  }
  EXPECT_LT(wrong_epsilon, 0.2 * rounds + 40);
  EXPECT_LT(wrong_delta, 0.2 * rounds + 40);
  EXPECT_GT(wrong_epsilon + wrong_delta, 0);  // and not idle
}

TEST(Audit, EqualDistributionsGiveNoBound) {
  const Suspect same{"0 and 0", {"output"}, [](bool, std::span<double> numbers) {
                       numbers[0] = static_cast<double>(uniform_below(1000));
                     }};
  const Audit result = audit({same}, certain(20'000));
  EXPECT_EQ(result.epsilon.lower, 0);
  EXPECT_EQ(result.delta.lower, 0);
}

TEST(Audit, ReportsItsProgress) {
  AuditOptions options = certain(100'000);
  double last = 0;
  options.progress = [&](double share) {
    EXPECT_GE(share, last);
    last = share;
  };
  (void)audit(audit_subject(parse("laplace(1)")).suspects, options);
  EXPECT_EQ(last, 1);
}

TEST(Audit, DeltaIsZeroWhereTheClaimIsPure) {
  EXPECT_EQ(audit_delta(parse("laplace(1)")).value(), 0);
  EXPECT_EQ(audit_delta(parse("randomized_response(0.75)")).value(), 0);
  EXPECT_EQ(audit_delta(parse("gaussian(1)")).value(), 1e-5);
}

TEST(Audit, RefusesWhatCannotBeRun) {
  EXPECT_THROW((void)audit_subject(parse("pure(1)")), InvalidValue);
  EXPECT_THROW((void)audit_subject(parse("catastrophe(1, 0.1)")), InvalidValue);
  EXPECT_THROW((void)audit_subject(parse("2 * laplace(1)")), InvalidValue);
  EXPECT_THROW((void)audit_subject(parse("laplace(?)")), InvalidValue);
  EXPECT_THROW((void)audit_subject(parse("discrete_laplace(1)"), 0), InvalidValue);
  EXPECT_THROW((void)audit_subject(parse("exponential(1)"), std::nullopt, 2), InvalidValue);
  EXPECT_THROW((void)audit_subject(parse("laplace(1)"), std::nullopt, 0), InvalidValue);
  EXPECT_THROW((void)audit({}, certain(1000)), InvalidValue);
  EXPECT_THROW((void)audit(audit_subject(parse("laplace(1)")).suspects, certain(10)), InvalidValue);
  AuditOptions options;
  options.confidence = 1;
  EXPECT_THROW((void)audit(audit_subject(parse("laplace(1)")).suspects, options), InvalidValue);
}

TEST(AuditEvents, ThePositionOfTheLastBit) {
  EXPECT_EQ(audit_detail::last_bit(1), 0);
  EXPECT_EQ(audit_detail::last_bit(-6), 1);
  EXPECT_EQ(audit_detail::last_bit(0.75), -2);
  EXPECT_EQ(audit_detail::last_bit(5e-324), -1074);
  EXPECT_EQ(audit_detail::last_bit(0x1p1000), 1000);
  EXPECT_GT(audit_detail::last_bit(0), 2000);
}

}  // namespace
}  // namespace sotto
