// Audits of trained models: an overfitted model reveals its members, a private one stays below its
// claim.
#include "sotto/audit/model_audit.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "sotto/accounting/account.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/learning/train.hpp"

namespace sotto {
namespace {

constexpr std::size_t width = 150;

// Features and classes are coins, so a model can only memorise them.
Examples coins(std::size_t units) {
  std::mt19937_64 random(5);
  Examples::Builder builder(width);
  for (std::size_t u = 0; u < units; ++u) {
    for (std::int16_t& x : builder.add(static_cast<std::int16_t>(random() & 1U)))
      x = (random() & 1U) != 0 ? feature_one : -feature_one;
  }
  return std::move(builder).build();
}

Training training_with(double noise) {
  Training training{.steps = 20, .clipping = {.norm = 1}, .noise = noise, .batch = 100};
  training.optimiser.size = 4;
  return training;
}

Learn learner(const std::shared_ptr<const Model>& model, const Training& training) {
  return [=](const Examples& examples) {
    return train(model, examples, training, {.threads = 1}).parameters;
  };
}

TEST(MembershipInference, AnOverfittedModelRevealsItsMembers) {
  const std::shared_ptr<const Model> model = make_model(LinearModel{.width = width, .loss = {}});
  const auto result = membership_inference(*model, coins(200), learner(model, training_with(0)));
  ASSERT_EQ(result.size(), 2U);
  for (const MembershipInference& attack : result) {
    EXPECT_GT(attack.advantage, 0.5) << attack.attack;
    EXPECT_GT(attack.bound.epsilon, 0.8) << attack.attack;
    EXPECT_GE(attack.tpr_at_10, attack.tpr_at_1);
  }
}

TEST(MembershipInference, APrivateModelStaysBelowItsClaim) {
  const std::shared_ptr<const Model> model = make_model(LinearModel{.width = width, .loss = {}});
  const Training training = training_with(20);
  const double claim = epsilon(plan_of(training), Delta(1e-5)).value.upper;
  EXPECT_LT(claim, 1);
  for (const MembershipInference& attack : membership_inference(
           *model, coins(200), learner(model, training), {.confidence = 1 - 1e-6})) {
    EXPECT_LE(attack.bound.epsilon, claim) << attack.attack;
    EXPECT_LT(attack.advantage, 0.35) << attack.attack;
  }
}

TEST(MembershipInference, RefusesNonsense) {
  const std::shared_ptr<const Model> model = make_model(LinearModel{.width = width, .loss = {}});
  EXPECT_THROW((void)membership_inference(*model, coins(5), learner(model, training_with(1))),
               InvalidValue);
}

TEST(CanaryAudit, MeasuresAGoodPartOfTheClaim) {
  // The claim is close to the largest bound that 1000 canaries can prove.
  Training training{.steps = 4, .clipping = {.norm = 0.0625}, .noise = 2, .batch = 10};
  const std::shared_ptr<const Model> model =
      make_model(LinearModel{.width = 1000 + width, .loss = {}, .intercept = false});
  const OneRun result = canary_audit(coins(20), learner(model, training), {.confidence = 0.99});
  const double claim = epsilon(plan_of(training), Delta(1e-5)).value.upper;
  EXPECT_LE(result.epsilon, claim);
  EXPECT_GT(result.epsilon, 0.15 * claim);
  EXPECT_THROW((void)canary_audit(coins(20), learner(model, training), {.canaries = 3}),
               InvalidValue);
}

}  // namespace
}  // namespace sotto
