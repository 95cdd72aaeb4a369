// Times as text: known seconds, leap days, and the present.
#include "core/api/utc.hpp"

#include <gtest/gtest.h>

#include <ctime>
#include <string>

namespace sotto {
namespace {

TEST(Utc, WritesATimeToTheSecond) {
  EXPECT_EQ(utc_text(0), "1970-01-01T00:00:00Z");
  EXPECT_EQ(utc_text(-1), "1969-12-31T23:59:59Z");
  EXPECT_EQ(utc_text(951782400), "2000-02-29T00:00:00Z");
  EXPECT_EQ(utc_text(1714564805), "2024-05-01T12:00:05Z");
}

TEST(Utc, WritesThePresent) {
  const std::time_t before = std::time(nullptr);
  const std::string now = utc_now();
  const std::string today = utc_today();
  const std::time_t after = std::time(nullptr);
  EXPECT_LE(utc_text(before), now);  // texts of four-digit years are ordered as their times are
  EXPECT_LE(now, utc_text(after));
  EXPECT_LE(utc_text(before).substr(0, 10), today);
  EXPECT_LE(today, utc_text(after).substr(0, 10));
}

}  // namespace
}  // namespace sotto
