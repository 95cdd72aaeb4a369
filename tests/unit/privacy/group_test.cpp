// Group privacy against an oracle, and the conditions of its theorems.
#include "privacy/api/group.hpp"

#include <gtest/gtest.h>

#include "../../oracle/oracle.hpp"
#include "sotto/core/errors.hpp"

namespace sotto {
namespace {

using oracle::Row;

void check_line(const char* line, const oracle::Function& f) {
  oracle::check(oracle::rows("group", "line", line), f);
}

TEST(Group, ApproximateEnclosesTheOracle) {
  const auto of = [](const Row& row) {
    return group_of(row.count("k"), ApproximateDP{row.number("first"), row.number("second")});
  };
  check_line("approximate_epsilon", [&](const Row& row) { return of(row).epsilon; });
  check_line("approximate_delta", [&](const Row& row) { return of(row).delta; });
}

TEST(Group, ConcentratedEnclosesTheOracle) {
  check_line("zcdp", [](const Row& row) {
    return group_of(row.count("k"), ZeroConcentratedDP{row.number("first")}).rho;
  });
  check_line("tcdp_rho", [](const Row& row) {
    return group_of(row.count("k"),
                    TruncatedConcentratedDP{row.number("first"), row.number("second")})
        .rho;
  });
  check_line("tcdp_omega", [](const Row& row) {
    return group_of(row.count("k"),
                    TruncatedConcentratedDP{row.number("first"), row.number("second")})
        .omega;
  });
}

TEST(Group, GaussianEnclosesTheOracle) {
  check_line("gdp", [](const Row& row) {
    return group_of(row.count("k"), GaussianDP{row.number("first")}).mu;
  });
}

TEST(Group, RenyiEnclosesTheOracle) {
  check_line("renyi_epsilon", [](const Row& row) {
    return group_of(row.count("k"), RenyiDP{row.number("second"), row.number("first")}).epsilon;
  });
  check_line("renyi_order", [](const Row& row) {
    return Real(group_of(row.count("k"), RenyiDP{row.number("second"), row.number("first")}).order);
  });
}

TEST(Group, PureStaysPure) { EXPECT_EQ(group_of(5, ApproximateDP{0.5}).delta.upper(), 0); }

TEST(Group, DoublingsAreTheLeastPowerOfTwo) {
  EXPECT_EQ(group_doublings(1), 0);
  EXPECT_EQ(group_doublings(2), 1);
  EXPECT_EQ(group_doublings(3), 2);
  EXPECT_EQ(group_doublings(4), 2);
  EXPECT_EQ(group_doublings(5), 3);
  EXPECT_EQ(group_doublings(std::int64_t{1} << 53), 53);
}

TEST(Group, RenyiBelowTheNeededOrderIsRefused) {
  EXPECT_NO_THROW(group_of(2, RenyiDP{4, 1}));
  EXPECT_NO_THROW(group_of(3, RenyiDP{8, 1}));
  for (const auto& [k, order, needed] : {std::tuple{2, 3.999, "2^2"},
                                         {3, 7.9, "2^3"},
                                         {4, 7.9, "2^3"},
                                         {5, 15.0, "2^4"},
                                         {1000, 2047.0, "2^11"}}) {
    try {
      group_of(k, RenyiDP{order, 1});
      ADD_FAILURE() << k << " at order " << order;
    } catch (const OutsideConditions& error) {
      EXPECT_NE(std::string(error.what()).find(needed), std::string::npos) << error.what();
    }
  }
}

TEST(Group, TruncatedIsRefusedUnlessOmegaExceedsTheSize) {
  EXPECT_NO_THROW(group_of(2, TruncatedConcentratedDP{0.1, 2.001}));
  EXPECT_THROW(group_of(2, TruncatedConcentratedDP{0.1, 2}), OutsideConditions);
  EXPECT_THROW(group_of(3, TruncatedConcentratedDP{0.1, 2.5}), OutsideConditions);
  EXPECT_THROW(group_of(2, TruncatedConcentratedDP{0.1, Real(2.1).widened(0.2)}),
               OutsideConditions);
}

}  // namespace
}  // namespace sotto
