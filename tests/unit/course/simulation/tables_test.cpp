// Recomputed tables of papers, and simulated learning.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "course/api/simulation_learning.hpp"
#include "course/api/simulation_tables.hpp"

namespace sotto {
namespace {

TEST(FederatedTables, TheNoiseOfGopaEqualsThePapers) {
  const auto rows = gopa_noise_table();
  ASSERT_EQ(rows.size(), 4U);
  EXPECT_NEAR(rows[0].noise, 1.676, 0.001);
  EXPECT_NEAR(rows[0].complete, 3.78, 0.01);
  EXPECT_NEAR(rows[0].random, 53.4, 0.1);
  EXPECT_EQ(rows[0].degree, 78);
  EXPECT_NEAR(rows[0].connected, 2184.1, 0.1);
  EXPECT_NEAR(rows[0].realised, 37.0, 2.5);  // depends on the graph
  EXPECT_EQ(rows[1].degree, 139);
  EXPECT_NEAR(rows[1].random, 58.9, 0.1);
  EXPECT_EQ(rows[2].degree, 105);
  EXPECT_NEAR(rows[2].random, 44.7, 0.05);
  EXPECT_NEAR(rows[2].connected, 9392.0, 0.1);
  EXPECT_EQ(rows[3].degree, 194);
  EXPECT_NEAR(rows[3].random, 45.4, 0.05);
  EXPECT_NEAR(rows[3].connected, 6112.4, 0.1);
}

TEST(FederatedTables, TheTheoremOfGopaIsLoose) {
  for (const GopaEpsilonRow& row : gopa_epsilon_table()) {
    EXPECT_LT(row.realised, row.exact);
    EXPECT_LT(row.exact, 0.08);
    EXPECT_LT(row.exact_noise, 0.7 * row.noise);
  }
}

TEST(FederatedTables, UniformMasksNeedFewNeighbours) {
  const auto rows = connectivity_table();
  const double uniform[] = {28, 31, 33, 35, 24};
  const double theorem[] = {139, 194, 249, 304, 234};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(rows[i].uniform, uniform[i]) << i;
    EXPECT_EQ(rows[i].theorem, theorem[i]) << i;
  }
}

TEST(FederatedTables, TheGainOfAWalkGrowsAsTheRootOfUsersOverTheirLogarithm) {
  const double gains[] = {2.38, 3.86, 6.26, 11.13};
  const auto rows = network_gain_table();
  for (std::size_t i = 0; i < rows.size(); ++i)
    EXPECT_NEAR(rows[i].local, gains[i], 0.05 * gains[i]) << rows[i].users;
}

TEST(FederatedTables, NetworkDpReproducesThePaperAndCostsFarLessExactly) {
  const auto rows = network_epsilon_table();
  const NetworkEpsilonRow& last = rows.back();
  EXPECT_NEAR(last.paper_local, 6.73, 0.005);
  EXPECT_NEAR(last.paper_network, 0.780, 0.001);
  EXPECT_NEAR(last.local, 0.808, 0.002);
  EXPECT_LT(last.sum, 0.05);
  EXPECT_LT(last.learning, last.local);
  for (const NetworkEpsilonRow& row : rows) EXPECT_LE(row.sum, row.learning * 1.02) << row.users;
}

TEST(FederatedLearning, AggregationLearnsAsACuratorAndLocalDpDoesNot) {
  const auto outcomes =
      simulate_learning(made_up_records(2500),
                        {.users = 1000, .rounds = 10, .epsilon = 1, .steps = {1, 3}, .runs = 2});
  ASSERT_EQ(outcomes.size(), 5U);
  EXPECT_GT(outcomes[0].accuracy, 0.8);
  EXPECT_GT(outcomes[1].accuracy, outcomes[0].accuracy - 0.03);
  EXPECT_GT(outcomes[2].accuracy, outcomes[0].accuracy - 0.04);
  EXPECT_LT(outcomes[3].accuracy, outcomes[0].accuracy - 0.05);
  for (std::size_t i = 1; i < outcomes.size(); ++i)
    EXPECT_LE(outcomes[i].epsilon, 1 + 1e-5) << outcomes[i].way;
  EXPECT_NEAR(outcomes[2].noise * std::sqrt(500), outcomes[1].noise, 1e-9 * outcomes[1].noise);
}

TEST(FederatedLearning, ReadsPublicRecordsFromACsvFile) {
  const std::filesystem::path file = std::filesystem::path(SOTTO_SOURCE_DIR) / ".." / "shared" /
                                     "data" / "california_housing" / "housing.csv";
  if (!std::filesystem::exists(file)) GTEST_SKIP() << file << " is not there";
  const SimulatedRecords records = read_records(file.string(), "median_house_value");
  EXPECT_EQ(records.features.size(), 20'640U - 207U);
  EXPECT_EQ(records.features.front().size(), 9U);  // eight numeric columns and the intercept
}

}  // namespace
}  // namespace sotto
