#include "course/api/attacks.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "report/api/svg.hpp"

namespace sotto {
namespace {

AttackReport small() {
  return {.attack = "small",
          .settings = {{"people", 3}, {"loss", INFINITY}},
          .columns = {{.name = "a", .heading = "first", .values = {1, 2.5}},
                      {.name = "b", .heading = "second", .values = {INFINITY, 0.123456}}},
          .learnt = "much",
          .stopped_by = "noise",
          .chart = {}};
}

TEST(AttackText, HasThreeForms) {
  EXPECT_EQ(attack_text(small(), Format::csv), "a,b\n1,inf\n2.5,0.123456\n");
  EXPECT_EQ(
      attack_text(small(), Format::json),
      R"({"schema":"sotto.attack/1","attack":"small","settings":{"people":3.0,"loss":"inf"},)"
      R"("points":[{"a":1.0,"b":"inf"},{"a":2.5,"b":0.123456}],"learnt":"much","stopped_by":"noise"})"
      "\n");
  EXPECT_EQ(attack_text(small(), Format::table),
            "first       second\n"
            "1           inf\n"
            "2.5         0.1235\n"
            "\n"
            "learnt      much\n"
            "stopped by  noise\n");
}

template <class Attack>
void expect_whole(const Attack& attack, const std::string& name) {
  const AttackReport report = report_of(attack);
  EXPECT_EQ(report.attack, name);
  EXPECT_EQ(report.chart.id, "attack-" + name);
  ASSERT_FALSE(report.columns.empty());
  for (const auto& column : report.columns)
    EXPECT_EQ(column.values.size(), report.columns.front().values.size()) << column.name;
  EXPECT_FALSE(report.learnt.empty());
  EXPECT_FALSE(report.stopped_by.empty());
  EXPECT_NE(svg(report.chart).find("</svg>"), std::string::npos);
}

TEST(AttackReport, EveryAttackHasOne) {
  expect_whole(averaging_attack({.questions = 20, .runs = 2}), "averaging");
  expect_whole(averaging_attack({.epsilon = 2, .questions = 20, .runs = 2, .budget = 1}),
               "averaging");
  expect_whole(averaging_attack({.questions = 1, .runs = 1, .budget = 100}), "averaging");
  expect_whole(reconstruction_attack({.people = 10, .queries = 20, .runs = 1}), "reconstruction");
  expect_whole(membership_attack({.sites = 20, .people = 5, .runs = 2}), "membership");
  expect_whole(floating_point_attack({.releases = 10}), "floating-point");
  expect_whole(differencing_attack({.people = 10, .epsilons = {1}, .trials = 10}), "differencing");
  expect_whole(catastrophe_attack({.releases = 10}), "catastrophe");
  expect_whole(overfitting_attack({.people = 50, .questions = 30, .runs = 2}), "overfitting");
  expect_whole(gradient_inversion_attack({.features = 8, .classes = 3, .runs = 2}),
               "gradient-inversion");
  expect_whole(catastrophe_attack({.delta = 0.5, .releases = 10}), "catastrophe");
}

}  // namespace
}  // namespace sotto
