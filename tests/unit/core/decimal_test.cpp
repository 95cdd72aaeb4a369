// Doubles as text: round trips, rounding to a side, and the texts that are refused.
#include "sotto/core/decimal.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "../../support/number.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/numerics/real.hpp"

namespace sotto {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double largest = std::numeric_limits<double>::max();
constexpr double smallest = std::numeric_limits<double>::denorm_min();

double random_finite(std::mt19937_64& random) {
  for (;;) {
    const double x = std::bit_cast<double>(random());
    if (std::isfinite(x)) return x;
  }
}

double read(const std::string& text) { return number_in(text); }

// Returns the significant digits of a decimal, without sign, point, exponent and outer zeros.
std::size_t significant(std::string text) {
  text = text.substr(0, text.find('e'));
  std::erase_if(text, [](char c) { return c == '-' || c == '.'; });
  const auto first = text.find_first_not_of('0');
  if (first == std::string::npos) return 0;
  return text.find_last_not_of('0') - first + 1;
}

double unit_of_last_digit(double x, int digits) {
  return std::pow(10.0, std::floor(std::log10(std::fabs(x))) - (digits - 1));
}

TEST(Shortest, RoundTripsEveryDouble) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 20000; ++i) {
    const double x = random_finite(random);
    ASSERT_EQ(std::bit_cast<std::uint64_t>(read(shortest(x))), std::bit_cast<std::uint64_t>(x))
        << shortest(x);
    const std::string text = shortest(x);
    if (text.find("e-32") == std::string::npos) {
      ASSERT_EQ(read_number(text), x) << text;
    }
  }
  for (const double x : {0.0, 0.1, 1.0 / 3, 1e-5, 1e22, 123456.0, largest, smallest, -smallest,
                         2.2250738585072014e-308})
    EXPECT_EQ(read(shortest(x)), x);
}

TEST(Shortest, IsShort) {
  EXPECT_EQ(shortest(0.1), "0.1");
  EXPECT_EQ(shortest(3), "3");
  EXPECT_EQ(shortest(1e-5), "1e-05");
  EXPECT_EQ(shortest(0), "0");
}

TEST(Shortest, NamesInfinityAndNotANumber) {
  EXPECT_EQ(shortest(infinity), "inf");
  EXPECT_EQ(shortest(-infinity), "-inf");
  EXPECT_EQ(shortest(std::numeric_limits<double>::quiet_NaN()), "nan");
}

bool on_side(const std::string& text, double x, Side side) {
  return side == Side::upper ? read(text) >= x : read(text) <= x;
}

// Returns random doubles of every exponent, and numbers with few digits with their neighbours, for
// which rounding to nearest often ends on the wrong side.
std::vector<double> doubles() {
  std::mt19937_64 random(2);
  std::vector<double> all;
  for (int i = 0; i < 3000; ++i) {
    all.push_back(random_finite(random));
    const double decimal = read(std::to_string(1 + random() % 9999) + "e" +
                                std::to_string(static_cast<int>(random() % 600) - 300));
    for (const double x :
         {decimal, std::nextafter(decimal, infinity), std::nextafter(decimal, 0), -decimal})
      all.push_back(x);
  }
  return all;
}

// Checks every double, number of digits and side. Reports how many fail, and one of them.
void check_rounded(
    int first, int last,
    const std::function<bool(const std::string& text, double x, int digits, Side side)>& good) {
  int wrong = 0;
  std::string example;
  for (const double x : doubles()) {
    for (int digits = first; digits <= last; ++digits) {
      for (const Side side : {Side::lower, Side::upper}) {
        const std::string text = rounded(x, digits, side);
        if (good(text, x, digits, side)) continue;
        ++wrong;
        example = shortest(x) + (side == Side::upper ? " up to " : " down to ") +
                  std::to_string(digits) + " digits: " + text;
      }
    }
  }
  EXPECT_EQ(wrong, 0) << "for example " << example;
}

TEST(Rounded, IsOnTheRequestedSideUpTo15Digits) {
  check_rounded(1, 15, [](const std::string& text, double x, int, Side side) {
    return on_side(text, x, side);
  });
}

TEST(Rounded, IsOnTheRequestedSideAt16And17Digits) {
  check_rounded(16, 17, [](const std::string& text, double x, int, Side side) {
    return on_side(text, x, side);
  });
}

TEST(Rounded, HasAtMostTheRequestedDigits) {
  check_rounded(1, 17, [](const std::string& text, double, int digits, Side) {
    return significant(text) <= static_cast<std::size_t>(digits);
  });
}

TEST(Rounded, IsWithinOneUnitOfTheLastDigit) {
  check_rounded(1, 17, [](const std::string& text, double x, int digits, Side) {
    if (std::fabs(x) < 1e-290 || std::fabs(x) > 1e290) return true;
    return std::fabs(read(text) - x) <=
           1.001 * unit_of_last_digit(x, digits) + 4e-16 * std::fabs(x);
  });
}

TEST(Rounded, IsOnTheRequestedSideAtTheEndsOfTheRange) {
  for (const double x :
       {largest, -largest, 1.7e308, -1.7e308, 1.79e308, -1.795e308, 1.7976e308, smallest, -smallest,
        3 * smallest, 7 * smallest, -9 * smallest, 1e-310, 2.2250738585072014e-308}) {
    for (int digits = 1; digits <= 17; ++digits) {
      EXPECT_GE(read(rounded(x, digits, Side::upper)), x)
          << shortest(x) << " up to " << digits << " digits: " << rounded(x, digits, Side::upper);
      EXPECT_LE(read(rounded(x, digits, Side::lower)), x)
          << shortest(x) << " down to " << digits << " digits: " << rounded(x, digits, Side::lower);
    }
  }
}

TEST(Rounded, Examples) {
  EXPECT_EQ(rounded(1.0 / 3, 3, Side::upper), "0.334");
  EXPECT_EQ(rounded(1.0 / 3, 3, Side::lower), "0.333");
  EXPECT_EQ(rounded(2.0 / 3, 3, Side::lower), "0.666");
  EXPECT_EQ(rounded(-2.0 / 3, 3, Side::upper), "-0.666");
  EXPECT_EQ(rounded(0.9999, 2, Side::upper), "1");
  EXPECT_EQ(rounded(0.9999, 2, Side::lower), "0.99");
  EXPECT_EQ(rounded(1.01, 2, Side::lower), "1");
  EXPECT_EQ(rounded(2.5, 6, Side::upper), "2.5");
  EXPECT_EQ(rounded(0, 3, Side::upper), "0");
  EXPECT_EQ(rounded(infinity, 3, Side::upper), "inf");
  EXPECT_EQ(rounded(-infinity, 3, Side::lower), "-inf");
}

TEST(Readable, HasThousandsAndNoSignAtZero) {
  EXPECT_EQ(readable(100000), "100,000");
  EXPECT_EQ(readable(-1234567.25), "-1,234,567.25");
  EXPECT_EQ(readable(0.00025), "0.00025");
  EXPECT_EQ(readable(1e20), "1e+20");
  EXPECT_EQ(readable(-0.0), "0");
  EXPECT_EQ(rounded(-0.0, 7, Side::lower), "0");
}

TEST(ReadNumber, ReadsDecimals) {
  EXPECT_EQ(read_number("1"), 1);
  EXPECT_EQ(read_number("-2.5"), -2.5);
  EXPECT_EQ(read_number("0.1"), 0.1);
  EXPECT_EQ(read_number("1e-5"), 1e-5);
  EXPECT_EQ(read_number("1E5"), 1e5);
  EXPECT_EQ(read_number("2e+3"), 2000);
  EXPECT_EQ(read_number("1.0"), 1);
  EXPECT_EQ(read_number("100e-2"), 1);
  EXPECT_EQ(read_number("0.025e3"), 25);
  EXPECT_EQ(read_number("0.0"), 0);
  EXPECT_EQ(read_number("0e-99"), 0);
  EXPECT_EQ(read_number("1e300"), 1e300);
  EXPECT_EQ(read_number("inf"), infinity);
  EXPECT_TRUE(std::isnan(read_number("nan")));
}

TEST(ReadNumber, RefusesTextThatIsNotANumber) {
  for (const char* text : {"", " ", "1x", "x", "1 ", " 1", "--1", "1e", "1.2.3", "0x10", "1,5",
                           "e5", ".", "+", "1e5.5", "one"}) {
    EXPECT_THROW(read_number(text), InvalidValue) << "'" << text << "'";
  }
}

TEST(ReadNumber, RefusesNumbersBeyondDoubles) {
  for (const char* text : {"1e999", "-1e999", "1e-999", "1e99999999999999999999",
                           "1e-99999999999999999999", "1.8e308", "1e-400"}) {
    EXPECT_THROW(read_number(text), InvalidValue) << text;
  }
}

TEST(ReadNumber, RefusesFractionsThatRoundToWholeNumbers) {
  for (const char* text : {"0.99999999999999999", "1.00000000000000001", "2.9999999999999999999e0",
                           "-0.99999999999999999", "1000000000000000.01", "999999999999999999e-18",
                           "4.00000000000000000000000000001"}) {
    EXPECT_THROW(read_number(text), InvalidValue) << text;
  }
}

// Real::reading() takes a double that is a whole number to be exact, so a whole number that no
// double holds must be refused, or lie within the radius of its reading.
TEST(ReadNumber, AWholeNumberIsRefusedOrLiesInItsReading) {
  struct {
    const char* text;
    double high;
    double low;
  } const cases[] = {{"9007199254740993", 9007199254740992, 1},
                     {"9007199254740995", 9007199254740996, -1},
                     {"18014398509481985", 18014398509481984, 1}};
  for (const auto& [text, high, low] : cases) {
    try {
      const Real x = Real::reading(read_number(text));
      EXPECT_GE((x - (Real(high) + Real(low))).upper(), 0) << text;
      EXPECT_LE((x - (Real(high) + Real(low))).lower(), 0) << text;
    } catch (const InvalidValue&) {
      SUCCEED();
    }
  }
}

TEST(ReadNumber, TheMessageQuotesTheText) {
  const auto message = [](const char* text) -> std::string {
    try {
      read_number(text);
    } catch (const InvalidValue& error) {
      return error.what();
    }
    return "nothing";
  };
  EXPECT_NE(message("1x").find("'1x'"), std::string::npos);
  EXPECT_NE(message("1e999").find("1e999"), std::string::npos);
  EXPECT_NE(message("1e999").find("range"), std::string::npos);
  EXPECT_NE(message("0.99999999999999999").find("digits"), std::string::npos);
}

}  // namespace
}  // namespace sotto
