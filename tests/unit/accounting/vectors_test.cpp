// What several coordinates cost, against sums and integrals over all outcomes
// (tests/oracle/make_vectors.py): every leaf has the price of each shift that its sensitivity
// allows, and what a vector has to be priced as where a leaf is for one number.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <sstream>
#include <string>
#include <vector>

#include "../../oracle/oracle.hpp"
#include "sotto/accounting/account.hpp"
#include "sotto/core/decimal.hpp"
#include "sotto/plan/text.hpp"

namespace sotto {
namespace {

std::vector<double> numbers(const std::string& text) {
  std::vector<double> result;
  std::istringstream in(text);
  for (double x = 0; in >> x;) result.push_back(x);
  return result;
}

struct Shifted {
  std::string leaf;  // up to its closing bracket
  std::vector<double> shift;
  double epsilon;
  double delta;

  [[nodiscard]] double l1() const {
    double sum = 0;
    for (const double v : shift) sum += v;
    return sum;
  }
  [[nodiscard]] double square() const {
    double sum = 0;
    for (const double v : shift) sum += v * v;
    return sum;
  }
  [[nodiscard]] bool scalar() const { return shift.size() == 1; }
  [[nodiscard]] Bound cost(const std::string& plan) const { return delta_of(plan).value; }
  [[nodiscard]] Answer delta_of(const std::string& plan) const {
    return sotto::delta(parse(plan), Epsilon(epsilon));
  }
  [[nodiscard]] std::string with(double sensitivity) const {
    return leaf + ", sensitivity=" + shortest(sensitivity) + ")";
  }
  [[nodiscard]] std::string show() const {
    return leaf + ") at " + shortest(epsilon) + ", " + std::to_string(shift.size()) +
           " coordinates";
  }
};

std::vector<Shifted> shifts(const std::string& name) {
  std::vector<Shifted> result;
  for (const oracle::Row& row : oracle::table("vectors")) {
    std::string leaf = row.text("leaf");
    if (leaf.substr(0, leaf.find('(')) != name) continue;
    leaf.pop_back();
    std::replace(leaf.begin(), leaf.end(), ';', ',');
    result.push_back(
        {leaf, numbers(row.text("shift")), row.number("epsilon"), row.number("delta")});
  }
  EXPECT_GE(result.size(), 12U) << name;
  return result;
}

// what the table's 18 digits, and the 6 of its epsilon, leave open
constexpr double slack = 1e-12;

void expect_within(const Bound& cost, const Shifted& s) {
  EXPECT_LE(cost.lower, s.delta * (1 + slack)) << s.show();
  EXPECT_GE(cost.upper, s.delta * (1 - slack)) << s.show();
  EXPECT_LE(cost.upper - cost.lower, 1e-6 * s.delta + 1e-15) << s.show();
}

// L1, in every dimension: no shift costs more than the same distance on one coordinate, which costs
// just that.
void expect_l1(const std::string& name) {
  int spread = 0;
  for (const Shifted& s : shifts(name)) {
    const Bound cost = s.cost(s.with(s.l1()));
    if (s.scalar()) {
      expect_within(cost, s);
    } else {
      EXPECT_GE(cost.upper, s.delta) << s.show();
      spread += cost.lower > 1.01 * s.delta ? 1 : 0;
    }
  }
  EXPECT_GT(spread, 10);  // the bound is not reached by chance
}

TEST(Vectors, LaplaceNoiseIsPricedForEveryShiftOfItsL1Distance) { expect_l1("laplace"); }
TEST(Vectors, DiscreteLaplaceNoiseIsPricedForEveryShiftOfItsL1Distance) {
  expect_l1("discrete_laplace");
}

// The counterexample: at the same L2 distance four coordinates cost more than one, so a leaf is one
// number.
TEST(Vectors, ADiscreteGaussianOfSensitivityTwoIsOneNumber) {
  int dearer = 0;
  for (const Shifted& s : shifts("discrete_gaussian")) {
    if (s.scalar()) expect_within(s.cost(s.with(s.shift[0])), s);
    if (!s.scalar() && s.square() == 4) dearer += s.delta > s.cost(s.with(2)).upper * 1.5 ? 1 : 0;
  }
  EXPECT_GE(dearer, 2);
  const Answer answer = delta(parse("discrete_gaussian(1, sensitivity=2)"), Epsilon(8));
  EXPECT_NEAR(answer.value.upper, 1.1718383e-4, 1e-10);
  ASSERT_FALSE(answer.notes.empty());
  EXPECT_NE(answer.notes.back().find(
                "4 * discrete_gaussian(1) where each number moves by at most 1, else zcdp(2)"),
            std::string::npos)
      << answer.notes.back();
  EXPECT_NE(epsilon(parse("3 * group(2, discrete_gaussian(5))"), Delta(1e-5))
                .notes.back()
                .find("moves by at most 2"),
            std::string::npos);
  EXPECT_TRUE(delta(parse("4 * discrete_gaussian(1)"), Epsilon(8)).notes.empty());
}

// What its note says to type: a step a coordinate, exactly; or zCDP, from above, whatever the
// shift.
TEST(Vectors, DiscreteGaussianVectorsAreStepsOrZcdp) {
  for (const Shifted& s : shifts("discrete_gaussian")) {
    std::string steps;
    for (const double v : s.shift) steps += (steps.empty() ? "" : " + ") + s.with(v);
    expect_within(s.cost(steps), s);
    const double sigma = numbers(s.leaf.substr(s.leaf.find('(') + 1))[0];
    EXPECT_GE(s.cost("zcdp(" + shortest(s.square() / (2 * sigma * sigma)) + ")").upper, s.delta)
        << s.show();
  }
}

// One number; as many events as there are numbers. At the same L2 distance two coordinates may cost
// more than one.
TEST(Vectors, ArsinhNoiseIsPricedNumberByNumber) {
  bool dearer = false;
  for (const Shifted& s : shifts("arsinh")) {
    std::string steps;
    for (const double v : s.shift) {
      if (v == 1) steps += (steps.empty() ? "" : " + ") + s.leaf + ")";
    }
    if (steps.empty()) {
      dearer = dearer || s.delta > 1.01 * s.cost(s.leaf + ")").upper;
    } else {
      const Bound cost = s.cost(steps);
      EXPECT_LE(cost.lower, s.delta * (1 + 1e-9)) << s.show();
      EXPECT_GE(cost.upper, s.delta * (1 - 1e-9)) << s.show();
      EXPECT_LE(cost.upper - cost.lower, 1e-5 * s.delta) << s.show();
    }
  }
  EXPECT_TRUE(dearer);
}

}  // namespace
}  // namespace sotto
