// Individual accounting: no unit spends more than its budget, and trainings go on where a uniform
// account ends.
#include "learning/api/individual.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <mutex>
#include <random>

#include "learning/training/unit_budgets.hpp"
#include "sotto/accounting/account.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/plan/text.hpp"

namespace sotto {
namespace {

// A model that writes down what each unit added.
struct Book {
  std::mutex mutex;
  std::map<std::uint32_t, double> squares;  // of norms
  std::map<std::uint32_t, int> steps;
};

class Watched final : public Model {
 public:
  Watched(std::unique_ptr<Model> model, Book& book) : model_(std::move(model)), book_(book) {}
  const LossFunction& loss() const override { return model_->loss(); }
  std::size_t outputs() const override { return model_->outputs(); }
  std::vector<Layer> layers() const override { return model_->layers(); }
  std::vector<double> start(std::uint64_t seed) const override { return model_->start(seed); }
  std::string description() const override { return model_->description(); }
  std::vector<int> exponents(const Clipping& clipping) const override {
    return model_->exponents(clipping);
  }
  std::unique_ptr<Prepared> prepare(std::span<const double> parameters) const override {
    return std::make_unique<Inside>(*this, model_->prepare(parameters));
  }

 private:
  class Inside final : public Prepared {
   public:
    Inside(const Watched& watched, std::unique_ptr<Prepared> prepared)
        : watched_(watched), prepared_(std::move(prepared)) {}
    void add(const Examples& examples, std::span<const std::uint32_t> units,
             const Clipping& clipping, ExactSum& sum) const override {
      prepared_->add(examples, units, clipping, sum);
      if (!examples.one_row_a_unit() && units.size() == 1) return;  // asked for its length
      const std::scoped_lock lock(watched_.book_.mutex);
      for (const std::uint32_t unit : units) {
        ExactSum own(watched_.parameters());
        prepared_->add(examples, std::span(&unit, 1), clipping, own);
        for (const std::int64_t x : own.totals()) {
          watched_.book_.squares[unit] +=
              std::pow(std::ldexp(static_cast<double>(x), watched_.exponents(clipping)[0]), 2);
        }
        ++watched_.book_.steps[unit];
      }
    }
    void norms(const Examples& examples, std::span<const std::uint32_t> units,
               std::span<double> norms) const override {
      prepared_->norms(examples, units, norms);
    }
    void outputs(const Examples& examples, std::size_t first,
                 std::span<double> outputs) const override {
      prepared_->outputs(examples, first, outputs);
    }

   private:
    const Watched& watched_;
    std::unique_ptr<Prepared> prepared_;
  };
  std::unique_ptr<Model> model_;
  Book& book_;
};

// Two classes by the first feature; every twentieth unit may have the wrong one.
Examples made_up(std::size_t units, std::size_t rows_a_unit, bool some_wrong = true) {
  std::mt19937_64 random(3);
  std::uniform_int_distribution<int> code(-feature_one, feature_one);
  Examples::Builder builder(3);
  for (std::size_t u = 0; u < units; ++u) {
    if (rows_a_unit > 1) builder.next_unit();
    for (std::size_t r = 0; r < rows_a_unit; ++r) {
      const auto first = static_cast<std::int16_t>(code(random));
      const auto row = builder.add((first > 0) != (some_wrong && u % 20 == 0) ? 1 : 0);
      row[0] = first;
      row[1] = static_cast<std::int16_t>(code(random));
      row[2] = static_cast<std::int16_t>(code(random));
    }
  }
  return std::move(builder).build();
}

IndividualTraining training_of(std::size_t units) {
  IndividualTraining individual{.training = {}, .mu = 0.5};
  individual.training.noise = 20;  // 100 uniform steps
  individual.training.steps = 600;
  individual.training.clipping.norm = 1;
  individual.training.batch = static_cast<double>(units);
  individual.training.optimiser.size = 4;
  return individual;
}

TEST(IndividualTraining, NoUnitSpendsMoreThanItsBudgetAndSomeAreLeftOut) {
  for (const std::size_t rows : {1U, 3U}) {
    const Examples examples = made_up(200, rows);
    const IndividualTraining individual = training_of(200);
    Book book;
    const auto model =
        std::make_shared<Watched>(make_model(LinearModel{.width = 3, .loss = {}}), book);
    (void)train_individually(model, examples, individual, 2);
    int left_out = 0;
    int always = 0;
    double most = 0;
    for (const auto& [unit, square] : book.squares) {
      most = std::max(most, square / 400);
      EXPECT_LE(square / 400, 0.25 * (1 + 1e-12)) << unit;
      (book.steps[unit] < individual.training.steps ? left_out : always) += 1;
    }
    EXPECT_GT(most, 0.24);  // a budget is used up, so one that is 3 % too large would be seen
    EXPECT_GT(left_out, 0) << rows;
    EXPECT_GT(always, 0) << rows;
    EXPECT_GT(uniform_steps(individual), 98);
    EXPECT_LE(uniform_steps(individual), 100);
  }
}

// 20,001 coordinates, of which one unit's gradient moves none by more than the noise's 1/20: the
// deviation is seen to 0.5 %, and 5.5 times that is allowed; false alarm 4e-8.
TEST(IndividualTraining, TheNoiseIsTheOneThatUnitsPayBy) {
  constexpr std::size_t width = 20'000;
  Examples::Builder builder(width);
  builder.add(1)[0] = feature_one;
  const Examples examples = std::move(builder).build();
  IndividualTraining individual{.training = {.sampling = FullBatch{},
                                             .steps = 1,
                                             .clipping = {.norm = 0.25},
                                             .noise = 20,
                                             .batch = 10},
                                .mu = 0.5};
  individual.training.optimiser.size = 1;
  const Iterate end = train_individually(make_model(LinearModel{.width = width, .loss = {}}),
                                         examples, individual, 1);
  double squares = 0;
  for (const double p : end.parameters) squares += p * p;
  EXPECT_NEAR(std::sqrt(squares / (width + 1)) / (20 * 0.25 / 10), 1,
              5.5 / std::sqrt(2.0 * (width + 1)));
}

double loss_of(const Model& model, const Examples& examples,
               const std::vector<double>& parameters) {
  const auto prepared = model.prepare(parameters);
  std::vector<double> outputs(examples.rows());
  prepared->outputs(examples, 0, outputs);
  double sum = 0;
  for (std::size_t i = 0; i < outputs.size(); ++i)
    sum += model.loss().value(std::span(&outputs[i], 1), examples.target(i));
  return sum / static_cast<double>(examples.rows());
}

TEST(IndividualTraining, MoreStepsAtTheSameBudgetLearnMore) {
  const std::size_t units = 4000;
  const Examples examples = made_up(units, 1, false);
  const std::shared_ptr<const Model> model = make_model(LinearModel{.width = 3, .loss = {}});
  IndividualTraining individual = training_of(units);
  individual.training.optimiser.size = 1;
  Training uniform = individual.training;
  uniform.steps = uniform_steps(individual);
  const double by_uniform = loss_of(*model, examples, train(model, examples, uniform).parameters);
  const double by_individual =
      loss_of(*model, examples, train_individually(model, examples, individual).parameters);
  EXPECT_LT(by_individual, by_uniform - 0.01);
}

TEST(IndividualTraining, CostsItsBudgetHoweverManySteps) {
  IndividualTraining individual = training_of(100);
  EXPECT_EQ(print(plan_of(individual)), "gdp(0.5)");
  // the uniform account admits as many steps as cost the same
  Training uniform = individual.training;
  uniform.steps = uniform_steps(individual);
  EXPECT_LE(epsilon(plan_of(uniform), Delta(1e-5)).value.upper,
            epsilon(plan_of(individual), Delta(1e-5)).value.upper);
  uniform.steps += 2;
  EXPECT_GT(epsilon(plan_of(uniform), Delta(1e-5)).value.lower,
            epsilon(plan_of(individual), Delta(1e-5)).value.upper);
}

TEST(IndividualTraining, WhatIsNotProvedIsRefused) {
  const auto refused = [](auto change) {
    IndividualTraining individual = training_of(100);
    change(individual);
    EXPECT_THROW((void)plan_of(individual), OutsideConditions);
  };
  refused([](IndividualTraining& i) { i.training.sampling = PoissonSampling{0.1}; });
  refused([](IndividualTraining& i) { i.training.relation = Relation::replace_one; });
  refused([](IndividualTraining& i) { i.training.clipping.kind = ClippingKind::automatic; });
  refused([](IndividualTraining& i) { i.training.noise = 0; });
}

TEST(UnitBudgets, PaysToTheLastSquareAndNoFurther) {
  learning_detail::UnitBudgets budgets(2, 1);
  for (int i = 0; i < 24; ++i) EXPECT_TRUE(budgets.pay(0, 1, 5.0001));
  EXPECT_TRUE(budgets.pay(0, 1, 5.0001));
  EXPECT_FALSE(budgets.pay(0, 1, 5.0001));
  EXPECT_TRUE(budgets.pay(0, 1e-3, 5));  // a cheaper one still fits
  EXPECT_TRUE(budgets.pay(1, 0, 5));
  EXPECT_FALSE(budgets.pay(1, 5.0001, 5));
  EXPECT_FALSE(budgets.pay(1, NAN, 5));
}

}  // namespace
}  // namespace sotto
