// The text of totals: it has every bit, is equal in every locale, and is never that of a number
// that is not finite.
#include "ledger/chain/text.hpp"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstdio>
#include <limits>
#include <locale>

#include "sotto/ledger/ledger.hpp"
#include "sotto/random/random.hpp"

namespace sotto::ledger_detail {
namespace {

// The format of existing ledgers: printf in the C locale.
std::string printed(const Real& x) {
  const std::locale before = std::locale::global(std::locale::classic());
  std::array<char, 96> text{};
  (void)std::snprintf(text.data(), text.size(), "%a %a %a", x.high(), x.low(), x.radius());
  std::locale::global(before);
  return text.data();
}

TEST(TotalText, MatchesPrintfForEveryKindOfDouble) {
  constexpr double tiny = std::numeric_limits<double>::denorm_min();
  constexpr double least = std::numeric_limits<double>::min();
  constexpr double most = std::numeric_limits<double>::max();
  std::vector<double> all{0.0,   -0.0,   1,    0.5,   0.1,      1.0 / 3, 3e-5,
                          1e300, 1e-300, tiny, -tiny, 3 * tiny, least,   std::nextafter(least, 0),
                          most,  -most};
  for (int i = 0; i < 20000; ++i) {
    const double x = std::bit_cast<double>(Random::here().word());
    if (std::isfinite(x)) all.push_back(x);
  }
  for (const double x : all) {
    const Real total = Real::ball(x, 0, std::fabs(x) * 0x1p-60);
    const std::string text = exact(total);
    ASSERT_EQ(text, printed(total)) << x;
    const Real again = read_exact(text);
    ASSERT_EQ(std::bit_cast<std::uint64_t>(again.high()), std::bit_cast<std::uint64_t>(x)) << text;
    ASSERT_EQ(again.radius(), total.radius()) << text;
  }
}

TEST(TotalText, ADecimalCommaOfOlderReleasesIsRead) {
  EXPECT_EQ(read_exact("0x1,8p+1 0x0p+0 0x0p+0").high(), 3);
  EXPECT_EQ(with_decimal_point("0x1,8p+1 0x0p+0 0x0p+0"), exact(Real(3)));
}

TEST(TotalText, AnythingElseIsRefused) {
  for (const char* text :
       {"", "3", "0x1p+0", "0x1p+0 0x0p+0", "0x1p+0 0x0p+0 0x0p+0 ", " 0x1p+0 0x0p+0 0x0p+0",
        "0x1p+0 0x0p+0 -0x1p+0", "inf 0x0p+0 0x0p+0", "0x1p+0 nan 0x0p+0", "0x1p+0 0x0p+0 inf",
        "0x1p+9999 0x0p+0 0x0p+0", "1p+0 0x0p+0 0x0p+0", "0x1p+0  0x0p+0 0x0p+0",
        "--0x1p+0 0x0p+0 0x0p+0", "0x-1p+0 0x0p+0 0x0p+0", "0x 1p+0 0x0p+0 0x0p+0",
        "0x1p+0 0x0p+0 0x0p+0 0x0p+0"}) {
    EXPECT_THROW((void)read_exact(text), LedgerError) << text;
  }
}

TEST(TotalText, ATotalThatIsNotFiniteIsNotWritten) {
  EXPECT_THROW((void)exact(Real::unknown()), LedgerError);
  EXPECT_THROW((void)exact(Real::ball(1, 0, std::numeric_limits<double>::infinity())), LedgerError);
  EXPECT_THROW((void)exact(Real::ball(std::numeric_limits<double>::quiet_NaN(), 0, 0)),
               LedgerError);
}

}  // namespace
}  // namespace sotto::ledger_detail
