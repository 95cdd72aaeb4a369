// Weights in the units of the columns: they predict what the model predicts, and are identified.
#include "study/api/weights.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "../../../support/one_text.hpp"
#include "sotto/data/expression.hpp"
#include "study/api/design.hpp"

namespace sotto {
namespace {

const std::vector<Column> columns{{"age", Type::integer}, {"hours", Type::integer},
                                  {"region", Type::text}, {"smoker", Type::boolean},
                                  {"ill", Type::boolean}, {"pay", Type::real}};

Feature feature(const std::string& name, Encoding encoding) {
  return {name, {Expression::parse(name, columns), std::nullopt}, std::move(encoding)};
}

const std::vector<Value> regions{std::string("north"), std::string("south"), std::string("east")};

TrainedModel model_of_everything() {
  TrainedModel model;
  model.name = "m";
  model.features = {feature("age", Scaled{20, 80}), feature("hours", Scaled{0, 12, true}),
                    feature("region", OneOf{regions}), feature("smoker", OneOf{{true}})};
  model.parameters = {4.29, -3.52, -0.25, -0.202, 0.75, 3.4, 0.292};
  model.target = "ill";
  model.target_feature = feature("ill", OneOf{{false, true}});
  model.description = "linear(width=6, loss=logistic, classes=2)";
  return model;
}

struct Row {
  double age, hours;
  std::size_t region;
  bool smoker;
};

double scaled_output(const TrainedModel& model, const Row& row) {
  const auto& w = model.parameters;
  return w[0] * (row.age - 50) / 30 + w[1] * row.hours / 12 + w[2 + row.region] +
         (row.smoker ? w[5] : 0) + w[6];
}

double weight(const ModelWeights& table, const std::string& name) {
  for (const ModelWeight& one : table.weights) {
    if (one.name == name) return one.value;
  }
  return std::nan("");
}

// From the reference that the table names: age = 50, hours = 0, region = north, smoker = false.
double output_in_units(const ModelWeights& table, const Row& row) {
  double y = table.intercept.value + weight(table, "age") * (row.age - 50) +
             weight(table, "hours") * row.hours;
  if (row.region > 0) y += weight(table, "region=" + std::get<std::string>(regions[row.region]));
  if (row.smoker) y += weight(table, "smoker=true");
  return y;
}

const Row rows[] = {
    {50, 0, 0, false}, {20, 12, 1, true}, {80, 3, 2, false}, {37, 7, 1, false}, {64, 1, 0, true}};

TEST(Weights, InUnitsPredictWhatTheModelPredicts) {
  const TrainedModel model = model_of_everything();
  const auto table = weights_in_units(model);
  ASSERT_TRUE(table.has_value());
  EXPECT_EQ(table->unit, "log-odds of ill = true");
  EXPECT_EQ(table->reference, "age = 50, hours = 0, region = north, smoker = false");
  EXPECT_DOUBLE_EQ(weight(*table, "age"), 4.29 / 30);
  for (const Row& row : rows)
    EXPECT_NEAR(output_in_units(*table, row), scaled_output(model, row), 1e-12);
}

TEST(Weights, OfANumberAreInItsUnits) {
  TrainedModel model = model_of_everything();
  model.target = "pay";
  model.target_feature = feature("pay", Scaled{1000, 5000});
  model.description = "linear(width=6, loss=squared)";
  const auto table = weights_in_units(model);
  ASSERT_TRUE(table.has_value());
  EXPECT_EQ(table->unit, "pay");
  for (const Row& row : rows) {
    EXPECT_NEAR(output_in_units(*table, row), 1000 + 2000 * (scaled_output(model, row) + 1), 1e-8);
  }
}

TEST(Weights, LevelsWithoutIntervalsAreComparedWithTheFirst) {
  const auto table = weights_in_units(model_of_everything());
  ASSERT_TRUE(table.has_value());
  EXPECT_TRUE(std::isnan(weight(*table, "region=north")));
  EXPECT_NEAR(weight(*table, "region=south"), -0.202 + 0.25, 1e-15);
  EXPECT_NEAR(weight(*table, "region=east"), 0.75 + 0.25, 1e-15);
  for (const ModelWeight& one : table->weights) {
    if (one.name.rfind("region=", 0) == 0) {
      EXPECT_EQ(one.against, "north");
    }
    if (one.name.rfind("smoker=", 0) == 0) {
      EXPECT_EQ(one.against, "false");
    }
    if (one.name == "age") {
      EXPECT_EQ(one.against, "");
    }
  }
}

TEST(Weights, IntervalsAreInTheSameUnits) {
  TrainedModel model = model_of_everything();
  model.features[2] = feature("region", OneOf{{regions[1], regions[2]}, regions[0]});
  model.parameters = {4.29, -3.52, -0.202, 0.75, 3.4, 0.292};
  model.description = "linear(width=5, loss=squared)";
  model.target = "pay";
  model.target_feature = feature("pay", Scaled{1000, 5000});
  for (const double w : model.parameters) model.intervals.push_back({w - 0.03, w + 0.06});
  const auto table = weights_in_units(model);
  ASSERT_TRUE(table.has_value());
  EXPECT_EQ(table->reference, "age = 50, hours = 0, region = north, smoker = false");
  ASSERT_EQ(table->weights.size(), 5U);
  for (const ModelWeight& one : table->weights) {
    const double step = one.name == "age" ? 2000.0 / 30 : one.name == "hours" ? 2000.0 / 12 : 2000;
    EXPECT_NEAR(one.value - one.interval->lower, 0.03 * step, 1e-9) << one.name;
    EXPECT_NEAR(one.interval->upper - one.value, 0.06 * step, 1e-9) << one.name;
  }
  EXPECT_NEAR(table->intercept.interval->lower, 3000 + 2000 * (0.292 - 0.03), 1e-9);
}

TEST(Weights, OnlyLinearModelsWithOneOutputHaveThem) {
  TrainedModel model = model_of_everything();
  model.description = "linear(width=6, loss=softmax, classes=2)";
  EXPECT_FALSE(weights_in_units(model).has_value());
  model = model_of_everything();
  model.parameters.push_back(1);
  EXPECT_FALSE(weights_in_units(model).has_value());
  model = model_of_everything();
  model.target_feature.reset();
  EXPECT_FALSE(weights_in_units(model).has_value());
}

const std::string head =
    "title = \"Models\"\n[data]\nname = \"people\"\nversion = \"1\"\nsource = "
    "\"p.csv\"\npublic_rows = 2000\n"
    "[columns.a]\ntype = \"real\"\nnull = \"drop\"\nbounds = [0, 10]\n"
    "[columns.b]\ntype = \"text\"\nnull = \"drop\"\nvalues = [\"x\", \"y\", \"z\"]\n"
    "[columns.one]\ntype = \"text\"\nnull = \"drop\"\nvalues = [\"x\"]\n"
    "[columns.c]\ntype = \"boolean\"\nnull = \"drop\"\n"
    "[columns.d]\ntype = \"real\"\nnull = \"drop\"\nbounds = [0, 20]\n[budget]\nepsilon = 5\ndelta "
    "= 1e-6\n"
    "[[train]]\nname = \"line\"\nmodel = \"linear\"\ntarget = \"d\"\n";

const Terms terms{"people", "row", Relation::add_remove, ApproximateBudget{10, 1e-4}};

TEST(Weights, ALineFromItsMomentsHasAReferenceLevel) {
  const Design made = make_design(study_in(head), terms);
  const auto& features = made.trainings.at(0).query.features;
  ASSERT_EQ(features.size(), 3U);  // `one` has one level: a constant
  const auto& category = std::get<OneOf>(features[1].encoding);
  EXPECT_EQ(category.values, (std::vector<Value>{std::string("y"), std::string("z")}));
  EXPECT_EQ(category.reference, Value(std::string("x")));
  EXPECT_EQ(std::get<OneOf>(features[2].encoding).values, (std::vector<Value>{true}));
  EXPECT_NE(made.trainings[0].model.find("width=4"), std::string::npos) << made.trainings[0].model;
}

TEST(Weights, ALineBySteppingKeepsAllLevels) {
  const Design made = make_design(study_in(head + "method = \"gradient\"\n"), terms);
  EXPECT_NE(made.trainings.at(0).model.find("width=6"), std::string::npos)
      << made.trainings[0].model;
}

TEST(Weights, ALineFromConstantsIsRefused) {
  EXPECT_THROW((void)make_design(study_in(head + "features = [\"one\"]\n"), terms), StudyError);
}

}  // namespace
}  // namespace sotto
