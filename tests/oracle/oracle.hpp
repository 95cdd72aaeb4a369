// Reference values for tests: reads the tables of make_tables.py and compares certified reals with
// them.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <limits>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "../support/number.hpp"
#include "sotto/numerics/real.hpp"

namespace oracle {

constexpr double smallest = std::numeric_limits<double>::denorm_min();
constexpr double infinity = std::numeric_limits<double>::infinity();

/// high + low, where high is the double nearest to the value. `side` is the sign of low, known even
/// where low itself is too small for a double.
struct Value {
  double high = 0;
  double low = 0;
  int side = 0;

  static Value parse(const std::string& high, const std::string& low) {
    const bool zero = low.substr(0, low.find('e')).find_first_of("123456789") == std::string::npos;
    return {sotto::number_in(high), sotto::number_in(low), zero ? 0 : low[0] == '-' ? -1 : 1};
  }
  [[nodiscard]] bool at_least(double x) const { return x < high || (x == high && side >= 0); }
  [[nodiscard]] bool at_most(double x) const { return x > high || (x == high && side <= 0); }
};

class Row {
 public:
  Row(const std::vector<std::string>& columns, const std::vector<std::string>& cells) {
    for (std::size_t i = 0; i < columns.size(); ++i) cells_[columns[i]] = cells.at(i);
  }
  [[nodiscard]] const std::string& text(const std::string& column) const {
    return cells_.at(column);
  }
  [[nodiscard]] double number(const std::string& column) const {
    return sotto::number_in(text(column));
  }
  [[nodiscard]] std::int64_t count(const std::string& column) const {
    return std::stoll(text(column));
  }
  [[nodiscard]] int order(const std::string& column) const { return std::stoi(text(column)); }
  [[nodiscard]] Value value() const { return Value::parse(text("high"), text("low")); }
  [[nodiscard]] std::string show() const {
    std::string all;
    for (const auto& [column, cell] : cells_) all += column + " = " + cell + "  ";
    return all;
  }

 private:
  std::map<std::string, std::string> cells_;
};

inline std::vector<std::string> cells(const std::string& line) {
  std::vector<std::string> found;
  std::stringstream stream(line);
  for (std::string cell; std::getline(stream, cell, ',');) found.push_back(cell);
  return found;
}

inline std::vector<Row> table(const std::string& name) {
  std::ifstream file(std::string(SOTTO_SOURCE_DIR) + "/tests/oracle/" + name + ".csv");
  if (!file) throw std::runtime_error("there is no table " + name);
  std::vector<Row> rows;
  std::string line;
  std::getline(file, line);
  const auto columns = cells(line);
  while (std::getline(file, line)) rows.emplace_back(columns, cells(line));
  return rows;
}

/// The rows whose `column` is `text`.
inline std::vector<Row> rows(const std::string& name, const std::string& column,
                             std::string_view text) {
  std::vector<Row> some;
  for (Row& row : table(name)) {
    if (row.text(column) == text) some.push_back(std::move(row));
  }
  if (some.empty())
    throw std::runtime_error("table " + name + " has no rows for " + std::string(text));
  return some;
}

/// How far the ball's centre is from high + low, to 2^-106 of the larger of the two.
inline double distance(const sotto::Real& x, double high, double low) {
  const double s = x.high() - high;
  const double t = s - x.high();
  const double rest = (x.high() - (s - t)) + (-high - t);
  return std::fabs(s + (rest + (x.low() - low)));
}

/// Whether the ball holds the value: its two bounds as doubles, exactly, and the ball itself to
/// 2^-106.
inline bool encloses(const sotto::Real& x, const Value& exact) {
  if (std::isinf(x.radius())) return true;
  // the oracle has 60 digits or more of its own: what is smaller than 10^-50 of the value is its
  // rounding
  const bool rounding = exact.low != 0 && std::fabs(exact.low) < 1e-50 * std::fabs(exact.high);
  const Value value = rounding ? Value{exact.high, 0, 0} : exact;
  if (!(x.radius() >= 0)) return false;
  if (!value.at_least(x.lower()) || !value.at_most(x.upper())) return false;
  return distance(x, value.high, value.low) <=
         x.radius() * (1 + 0x1p-40) + 0x1p-106 * std::fabs(value.high) + smallest;
}

/// Whether `x` holds the number of a much narrower ball.
inline bool encloses(const sotto::Real& x, const sotto::Real& member) {
  if (std::isinf(x.radius())) return true;
  if (!(x.radius() >= 0)) return false;
  return distance(x, member.high(), member.low()) <=
         (x.radius() + member.radius()) * (1 + 0x1p-40) + 0x1p-104 * std::fabs(member.high()) +
             smallest;
}

/// How wide an enclosure of an exactly given number may be.
struct Width {
  double relative = 1e-12;
  double absolute = 256 * smallest;  // each operation on subnormals adds up to eight
};

inline bool tight(const sotto::Real& x, const Value& value, Width width = {}) {
  return x.upper() - x.lower() <= width.relative * std::fabs(value.high) + width.absolute ||
         sotto::next_up(sotto::next_up(x.lower())) >= x.upper();
}

inline std::string show(const sotto::Real& x) {
  std::ostringstream text;
  text.precision(17);
  text << "[" << x.lower() << ", " << x.upper() << "], centre " << x.high() << " + " << x.low()
       << ", radius " << x.radius();
  return text.str();
}

using Function = std::function<sotto::Real(const Row&)>;

/// Every row: enclosed, and tightly.
inline void check(const std::vector<Row>& rows, const Function& f, Width width = {}) {
  for (const Row& row : rows) {
    const sotto::Real x = f(row);
    const Value value = row.value();
    EXPECT_TRUE(encloses(x, value)) << row.show() << "\n  got " << show(x);
    EXPECT_TRUE(tight(x, value, width)) << row.show() << "\n  too wide: " << show(x);
  }
}

/// Every row: an upper bound, above the value by at most `slack` relative. For results that are
/// valid bounds but no enclosures (a minimum that a search finds).
inline void check_upper(const std::vector<Row>& rows, const Function& f, double slack) {
  for (const Row& row : rows) {
    const sotto::Real x = f(row);
    const Value value = row.value();
    EXPECT_TRUE(value.at_most(x.upper())) << row.show() << "\n  got " << show(x);
    EXPECT_LE(x.upper(), value.high + slack * std::fabs(value.high) + 256 * smallest)
        << row.show() << "\n  got " << show(x);
  }
}

}  // namespace oracle
