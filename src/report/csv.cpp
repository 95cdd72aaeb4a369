#include "sotto/report/csv.hpp"

#include "sotto/core/decimal.hpp"

namespace sotto {

std::string csv_field(const std::string& field) {
  if (field.find_first_of(",\"\r\n") == std::string::npos) return field;
  std::string result = "\"";
  for (const char c : field) result += c == '"' ? std::string("\"\"") : std::string(1, c);
  return result + '"';
}

std::string csv(const Chart& chart) {
  require_consistent(chart);
  std::string result = "series,x,y\n";
  for (const Series& series : chart.series) {
    const std::string name = csv_field(series.name);
    for (std::size_t i = 0; i < series.y.size(); ++i) result += name + ',' + shortest(series.x[i]) + ',' + shortest(series.y[i]) + '\n';
  }
  return result;
}

}  // namespace sotto
