// Checks a chart before anything is drawn from it.
#include "report/api/chart.hpp"

#include <algorithm>
#include <cmath>

#include "sotto/core/decimal.hpp"
#include "sotto/core/errors.hpp"

namespace sotto {
namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_id_character(char c) {
  return is_letter(c) || (c >= '0' && c <= '9') || c == '-' || c == '_';
}

void require_id(const std::string& id) {
  if (id.empty() || !is_letter(id.front()) || !std::all_of(id.begin(), id.end(), is_id_character)) {
    throw InvalidValue(
        "chart id '" + id +
        "' is not allowed: it must be a letter followed by letters, digits, '-' and '_'");
  }
}

void require_matching(const Series& series, const std::string& chart) {
  const bool bars = series.style == Series::Style::bars;
  const std::size_t wanted = series.y.size() + (bars && !series.y.empty() ? 1 : 0);
  const std::string where = "series '" + series.name + "' of chart '" + chart + "'";
  if (series.x.size() != wanted) {
    throw InvalidValue(
        where + " has " + std::to_string(series.x.size()) + " x for " +
        std::to_string(series.y.size()) + " y: it must have " + std::to_string(wanted) +
        (bars ? ", the bins' left edges and the end of the last bin" : ", one for each y"));
  }
  const auto not_ascending = [](double left, double right) { return !(left < right); };
  if (bars &&
      std::adjacent_find(series.x.begin(), series.x.end(), not_ascending) != series.x.end()) {
    throw InvalidValue(where + " has bin edges that do not ascend: sort x and drop repeated edges");
  }
}

}  // namespace

void require_consistent(const Chart& chart) {
  require_id(chart.id);
  for (const Series& series : chart.series) require_matching(series, chart.id);
  if (chart.y_max && !(std::fabs(*chart.y_max) < 1e300 && (!chart.log_y || *chart.y_max > 0))) {
    throw InvalidValue("y_max = " + shortest(*chart.y_max) + " of chart '" + chart.id +
                       "' is not allowed: it must be a number below 1e300" +
                       (chart.log_y ? " and above 0, for the y axis is logarithmic" : ""));
  }
}

}  // namespace sotto
