// CSV by RFC 4180, with a guard against formulas in text fields.
#include "report/api/csv.hpp"

#include "core/api/text.hpp"
#include "sotto/core/decimal.hpp"
#include "sotto/core/errors.hpp"

namespace sotto {

namespace {

bool is_number(const std::string& field) {
  try {
    (void)read_number(field);
    return true;
  } catch (const InvalidValue&) {
    return false;
  }
}

// Whether a spreadsheet would evaluate the field. The signs also count in the full-width forms of
// East Asian keyboards.
bool is_formula(const std::string& field) {
  const std::size_t start = field.find_first_not_of(' ');
  if (start == std::string::npos) return false;
  for (const char* sign :
       {"=", "+", "-", "@", "\uFF1D", "\uFF0B", "\uFF0D", "\uFF20", "\t", "\r"}) {
    if (field.compare(start, std::string(sign).size(), sign) == 0) return !is_number(field);
  }
  return false;
}

}  // namespace

std::string csv_field(const std::string& field) {
  const std::string safe = (is_formula(field) ? "'" : "") + escaped_for_terminal(field);
  if (safe.find_first_of(",\"") == std::string::npos) return safe;
  std::string result = "\"";
  for (const char c : safe) result += c == '"' ? std::string("\"\"") : std::string(1, c);
  return result + '"';
}

std::string csv(const Chart& chart) {
  require_consistent(chart);
  std::string result = "series,x,y\n";
  for (const Series& series : chart.series) {
    const std::string name = csv_field(series.name);
    for (std::size_t i = 0; i < series.y.size(); ++i)
      result += name + ',' + shortest(series.x[i]) + ',' + shortest(series.y[i]) + '\n';
  }
  return result;
}

}  // namespace sotto
