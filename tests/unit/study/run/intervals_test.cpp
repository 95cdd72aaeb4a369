// Intervals hold the truth as often as they say. Noise is drawn as it is released, on numbers that
// are known; each case fails by chance less than once in a hundred thousand runs.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "../../../support/one_text.hpp"
#include "sotto/core/decimal.hpp"
#include "sotto/mechanisms/additive.hpp"
#include "study/api/release.hpp"

namespace sotto {
namespace {

struct Case {
  std::string ask, noise;
  double rho;
  int n;
  std::string shape;
};
std::ostream& operator<<(std::ostream& out, const Case& c) {
  return out << c.ask << " " << c.noise << " rho " << c.rho << " n " << c.n << " " << c.shape;
}

Study study_of(const Case& c, const std::string& more = "",
               const std::string& bounds = "[-20, 60]") {
  const bool counts = c.ask == "count" || c.ask == "distinct";
  return study_in(
      "[data]\nname = \"d\"\nversion = \"1\"\nsource = \"d.csv\"\n[columns.v]\ntype = "
      "\"real\"\nnull = \"drop\"\nbounds = " +
          bounds + "\n[budget]\nrho = " + shortest(c.rho) + "\n[[query]]\nname = \"q\"\nask = \"" +
          c.ask + "\"\nnoise = \"" + c.noise + "\"\n" + (counts ? "" : "of = \"v\"\n") + more,
      "/");
}
Design design_of(const Study& study) {
  return make_design(study, {"d", "row", Relation::add_remove, ZcdpBudget{1e9, 0}});
}

std::vector<double> values_of(const Case& c) {
  std::mt19937_64 dice(3);
  std::uniform_real_distribution<double> share(0, 1);
  std::vector<double> all;
  for (int i = 0; i < c.n; ++i) {
    if (c.shape == "low") all.push_back(-20);
    if (c.shape == "high") all.push_back(60);
    if (c.shape == "ends") all.push_back(i % 2 == 0 ? -20 : 60);
    if (c.shape == "even") all.push_back(-20 + 80 * share(dice));
    if (c.shape == "tight") all.push_back(15 + share(dice));
    if (c.shape == "skew") all.push_back(i % 10 == 0 ? 55 : -19);
  }
  return all;
}

GroupTotals gathered(const Aggregate& a, const std::vector<double>& values) {
  GroupTotals all{{}, {}, {}};
  if (a.gather == Gather::bins) {
    all.counts.assign(static_cast<std::size_t>(a.bins.count), 0);
    for (const double x : values)
      all.counts[static_cast<std::size_t>(std::clamp((x - a.bins.lower) / a.bins.width, 0.0,
                                                     static_cast<double>(a.bins.count - 1)))] += 1;
    return all;
  }
  all = {{static_cast<std::int64_t>(values.size())}, {0}, {0}};
  for (const double x : values) {
    const std::int64_t code =
        static_cast<std::int64_t>(std::nearbyint(x / a.steps.unit())) - a.steps.low;
    all.sums[0] += code;
    all.squares[0] += code * code;
  }
  return all;
}

struct Seen {
  double coverage = 0, half_width = 0;
};
Seen simulate(const Study& study, const Measurement& m, const GroupTotals& data, int rounds) {
  const auto numbers = coordinates(m, data);
  const QueryAnswer truth = answer(study, study.queries[0], m, m.aggregate.groups, numbers, true);
  const Additive noise(m.event);
  Seen seen;
  double all = 0;
  for (int i = 0; i < rounds; ++i) {
    const QueryAnswer found =
        answer(study, study.queries[0], m, m.aggregate.groups, noise.release(numbers));
    EXPECT_EQ(found.estimates.size(), truth.estimates.size());
    for (std::size_t e = 0; e < found.estimates.size(); ++e) {
      const Estimate& one = found.estimates[e];
      const double slack = 1e-9 * (1 + std::abs(truth.estimates[e].value));
      seen.coverage += one.low <= truth.estimates[e].value + slack &&
                               truth.estimates[e].value <= one.high + slack
                           ? 1
                           : 0;
      seen.half_width += (one.high - one.low) / 2;
      all += 1;
    }
  }
  return {seen.coverage / all, seen.half_width / all};
}

void expect_coverage(const Case& c, int rounds, const std::string& more = "") {
  SCOPED_TRACE(c);
  const Study study = study_of(c, more);
  const Design found = design_of(study);
  ASSERT_EQ(found.measurements.size(), 1U);
  const Measurement& m = found.measurements[0];
  const Seen seen = simulate(study, m, gathered(m.aggregate, values_of(c)), rounds);
  EXPECT_GE(seen.coverage, 0.95 - 4.5 * std::sqrt(0.95 * 0.05 / rounds));
}

const std::vector<std::string> noises{"laplace", "gaussian"};

TEST(Intervals, OfCountsAndSumsHoldTheTruthAndAreNoWiderThanTheNoise) {
  for (const std::string& noise : noises) {
    for (const std::string ask : {"count", "distinct", "sum"}) {
      const Case c{ask, noise, 0.02, 400, "even"};
      SCOPED_TRACE(c);
      const Study study = study_of(c);
      const Measurement m = design_of(study).measurements[0];
      const Seen seen = simulate(study, m, gathered(m.aggregate, values_of(c)), 6000);
      EXPECT_NEAR(seen.coverage, 0.95, 4.5 * std::sqrt(0.95 * 0.05 / 6000) + 1e-3);
      const double ideal = m.scale * (noise == "laplace" ? std::log(20.0) : 1.959964);
      EXPECT_GE(seen.half_width, ideal * 0.999);
      EXPECT_LE(seen.half_width, ideal * 1.01);
    }
  }
}

// The noise moves small counts and sums below 0, where they cannot be.
TEST(Intervals, OfNonnegativeNumbersCoverTheTruthInThePossibleRange) {
  for (const std::string& noise : noises) {
    for (const std::string ask : {"count", "sum", "histogram"}) {
      for (const std::string bounds : {"[0, 80]", "[-80, 0]"}) {
        const Case c{ask, noise, 0.005, 3, "even"};
        SCOPED_TRACE(c);
        const Study study = study_of(c, ask == "histogram" ? "step = 20\n" : "", bounds);
        const Measurement m = design_of(study).measurements[0];
        std::vector<double> few{1, 2, 30};
        if (bounds[1] == '-') few = {-1, -2, -30};
        const double sign = bounds[1] == '-' && ask == "sum" ? -1 : 1;
        const auto numbers = coordinates(m, gathered(m.aggregate, few));
        const QueryAnswer truth =
            answer(study, study.queries[0], m, m.aggregate.groups, numbers, true);
        const Additive drawn(m.event);
        int impossible = 0;
        int held = 0;
        int all = 0;
        for (int i = 0; i < 2000; ++i) {
          const QueryAnswer found =
              answer(study, study.queries[0], m, m.aggregate.groups, drawn.release(numbers));
          for (std::size_t e = 0; e < found.estimates.size(); ++e, ++all) {
            const Estimate& one = found.estimates[e];
            impossible += sign * one.value < 0 ? 1 : 0;
            held +=
                one.low <= truth.estimates[e].value && truth.estimates[e].value <= one.high ? 1 : 0;
            EXPECT_GE(sign * one.low, 0);
            EXPECT_GE(sign * one.high, 0);
            EXPECT_GT(one.high - one.low, m.scale / 2);
            if (sign * one.value >= 0) {
              EXPECT_TRUE(one.low <= one.value && one.value <= one.high);
            }
          }
        }
        EXPECT_GT(impossible, all / 10);
        EXPECT_GE(held, all * (0.95 - 4.5 * std::sqrt(0.95 * 0.05 / all)));
      }
    }
  }
}

// What is promised before the run: the interval's half-width, wherever the mean lies.
TEST(Intervals, OfMeansAreAsWideAsExpectedWhereverTheMeanLies) {
  for (const std::string& noise : noises) {
    for (const std::string shape : {"low", "high", "ends", "skew"}) {
      for (const std::string more :
           {"", "[[query]]\nname = \"v\"\nask = \"variance\"\nof = \"v\"\n"}) {
        const Case c{"mean", noise, 0.1, 20000, shape};
        SCOPED_TRACE(c);
        const Study study = study_of(c, more);
        const Measurement m = design_of(study).measurements[0];
        const auto expected = expected_error(study, study.queries[0], m);
        ASSERT_TRUE(expected && expected->by_rows);
        const Seen seen = simulate(study, m, gathered(m.aggregate, values_of(c)), 100);
        // at an end of the bounds the interval has one side only
        const double sides = shape == "low" || shape == "high" ? 2 : 1;
        EXPECT_LE(seen.half_width * 20000, expected->most * 1.02);
        EXPECT_GE(seen.half_width * 20000 * sides, expected->least * 0.5);
        if (shape == "ends") {
          EXPECT_NEAR(seen.half_width * 20000, expected->least, 0.05 * expected->least);
        }
        if (shape == "skew") {
          EXPECT_GT(seen.half_width * 20000, expected->least * 1.05);
        }
      }
    }
  }
}

TEST(Intervals, OfMeansHoldTheTruth) {
  for (const std::string& noise : noises) {
    for (const double rho : {0.005, 2.0}) {
      for (const int n : {0, 1, 4, 60, 3000}) {
        for (const std::string shape : {"low", "high", "ends", "even"})
          expect_coverage({"mean", noise, rho, n, shape}, n == 0 ? 50 : 500);
      }
    }
  }
}

TEST(Intervals, OfMeansOfManyAreAsNarrowAsTheNoise) {
  for (const std::string& noise : noises) {
    const Case c{"mean", noise, 0.1, 5000, "even"};
    const Study study = study_of(c);
    const Measurement m = design_of(study).measurements[0];
    const Seen seen = simulate(study, m, gathered(m.aggregate, values_of(c)), 200);
    // Σ(upper - mean)/range a - … : about half the noise of each half
    EXPECT_LE(seen.half_width,
              1.1 * m.scale * (noise == "laplace" ? 2.95 : 1.96) * std::sqrt(0.5) / 5000 * 1.2);
  }
}

TEST(Intervals, OfVariancesAndDeviationsHoldTheTruth) {
  for (const std::string& noise : noises) {
    for (const double rho : {0.01, 5.0}) {
      for (const int n : {3, 3000}) {
        for (const std::string shape : {"low", "ends", "even", "tight", "skew"}) {
          expect_coverage({n == 3 ? "deviation" : "variance", noise, rho, n, shape}, 120);
        }
      }
    }
  }
}

TEST(Intervals, OfVariancesOfManyAreUseful) {
  for (const std::string& noise : noises) {
    const Case c{"variance", noise, 0.1, 20'000, "even"};
    const Study study = study_of(c);
    const Measurement m = design_of(study).measurements[0];
    const Seen seen = simulate(study, m, gathered(m.aggregate, values_of(c)), 50);
    EXPECT_LE(seen.half_width, 5 * m.scale / 20'000) << noise;
  }
}

TEST(Intervals, OfHistogramsHoldTheTruth) {
  for (const std::string& noise : noises) {
    for (const int n : {5, 5000}) expect_coverage({"histogram", noise, 0.05, n, "skew"}, 600);
  }
}

TEST(Intervals, OfQuantilesHoldTheTruth) {
  for (const std::string& noise : noises) {
    for (const double rho : {0.01, 5.0}) {
      for (const int n : {4, 2000}) {
        for (const std::string shape : {"low", "high", "ends", "even", "skew"}) {
          for (const std::string q : {"0.03", "0.5", "0.9"}) {
            expect_coverage({"quantiles", noise, rho, n, shape}, 120,
                            "quantiles = [" + q + "]\nstep = 1\n");
          }
        }
      }
    }
  }
}

// Of a thousand leaves some look possible by chance, far from the quantile: the interval is not the
// hull of these (it was, eleven errors wide).
TEST(Intervals, OfQuantilesUnderMuchNoiseAreNotMuchWiderThanTheirErrors) {
  const Case c{"quantiles", "laplace", 0.02, 442, "even"};
  const std::string asked = "quantiles = [0.5]\n";
  const Study study = study_of(c, asked);
  const Measurement m = design_of(study).measurements[0];
  const auto numbers = coordinates(m, gathered(m.aggregate, values_of(c)));
  const double truth =
      answer(study, study.queries[0], m, m.aggregate.groups, numbers, true).estimates[0].value;
  const Additive drawn(m.event);
  double squares = 0;
  double widths = 0;
  constexpr int rounds = 400;
  for (int i = 0; i < rounds; ++i) {
    const Estimate found =
        answer(study, study.queries[0], m, m.aggregate.groups, drawn.release(numbers)).estimates[0];
    squares += (found.value - truth) * (found.value - truth);
    widths += found.high - found.low;
  }
  EXPECT_LT(widths / rounds, 8 * std::sqrt(squares / rounds));
  expect_coverage(c, 1000, asked);
}

TEST(Intervals, OfAMeanThatIsReadFromThirdsHoldTheTruth) {
  for (const std::string& noise : noises) {
    const Case c{"mean", noise, 0.1, 500, "even"};
    const Study study = study_of(c, "[[query]]\nname = \"s\"\nask = \"variance\"\nof = \"v\"\n");
    const Design found = design_of(study);
    ASSERT_EQ(found.measurements.size(), 1U);
    const Seen seen = simulate(study, found.measurements[0],
                               gathered(found.measurements[0].aggregate, values_of(c)), 1000);
    EXPECT_GE(seen.coverage, 0.95 - 4.5 * std::sqrt(0.95 * 0.05 / 1000));
  }
}

TEST(Intervals, OfManyFineLeavesAreFast) {
  const Case c{"quantiles", "laplace", 1, 2000, "even"};
  const Study study = study_of(c, "quantiles = [0.001, 0.5, 0.9999]\nstep = 0.002\n");
  const Measurement m = design_of(study).measurements[0];
  const auto start = std::chrono::steady_clock::now();
  (void)simulate(study, m, gathered(m.aggregate, values_of(c)), 1);
  EXPECT_LT(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(), 20);
}

TEST(Intervals, OfExactNumbersHaveNoWidth) {
  for (const std::string ask :
       {"count", "sum", "mean", "variance", "deviation", "histogram", "quantiles"}) {
    const Case c{ask, "gaussian", 1, 200, "even"};
    const Study study = study_of(c);
    const Measurement m = design_of(study).measurements[0];
    for (const Estimate& e : answer(study, study.queries[0], m, m.aggregate.groups,
                                    coordinates(m, gathered(m.aggregate, values_of(c))), true)
                                 .estimates) {
      EXPECT_EQ(e.low, e.value);
      EXPECT_EQ(e.high, e.value);
    }
  }
}

}  // namespace
}  // namespace sotto
