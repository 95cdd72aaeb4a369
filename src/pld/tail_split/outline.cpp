#include "tail_split/outline.hpp"

#include <cmath>

#include "saddle_point/inversion_integral.hpp"
#include "sotto/core/work.hpp"

namespace sotto::pld_detail {
namespace {

// Γ(n (y/place)²), n the order, and 1 minus it: half an erfc with the right exponent in both tails.
struct Share {
  double low, high;
};

Share share(double log_y, double place, int order) {
  const double log = 2 * (log_y - place);
  const double ratio = std::exp(std::min(log, 50.0));
  const double square = std::max(0.0, ratio - 1 - log);
  const double x = std::copysign(std::sqrt(square * order), log);
  if (x < -26) return {1, 0};
  if (x > 26) return {0, 1};
  return {std::erfc(x) / 2, std::erfc(-x) / 2};
}

}  // namespace

Outline::Outline(const std::vector<Law>& distributions, const std::vector<LossStep>& others, Direction direction, int order,
                 std::vector<double> places, std::vector<double> lines)
    : places_(std::move(places)), lines_(std::move(lines)) {
  const std::size_t many = places_.size();
  for (const Law& distribution : distributions) {
    Table table{distribution.count, std::vector<double>(many * lines_.size())};
    const double m = distribution.mu.value;
    const double q = distribution.q.value;
    const double width = std::min(0.4, 0.6 / (m * std::sqrt(static_cast<double>(order))));
    const double last = (1.8 + places_.back() - std::log(q) + m * m / 2) / m;
    std::vector<double> shares(many);
    const double beside = distribution.noise->beside();
    for (double z = -9 - beside; z < std::min(last, 60.0 + m + beside); z += width) {
      const double y = std::log(q) + m * z - m * m / 2;  // its logarithm
      const double u = y > 40 ? y : std::log1p(std::exp(y) - q);
      const double log_mass = std::log(width) + distribution.noise->log_near(z);
      const double mass = std::exp(log_mass);
      Share before = share(y, places_.front(), order);
      const Share first = before;
      bool any = first.low > 0;
      for (std::size_t i = 1; i < many; ++i) {
        const Share here = share(y, places_[i], order);
        shares[i] = before.high < before.low ? before.high - here.high : here.low - before.low;
        any = any || shares[i] > 0;
        before = here;
      }
      if (!any) continue;
      spend((25 + 2 * static_cast<double>(many)) * static_cast<double>(lines_.size()));
      const double second = u < 1 ? mass * exp_excess(u) : std::exp(log_mass + u) - mass * (1 + u);
      const double rise = u < 1 ? mass * std::expm1(u) : std::exp(log_mass + u) - mass;
      for (std::size_t line = 0; line < lines_.size(); ++line) {
        const double p = direction == Direction::remove ? lines_[line] + 1 : -lines_[line];
        const double power = std::exp(log_mass + p * u);
        double* parts = table.parts.data() + line * many;
        const double excess = std::abs(p * u) < 1 ? mass * exp_excess(p * u) : power - mass * (1 + p * u);
        if (first.low > 0) parts[0] += first.low * (excess - p * second);
        parts[0] -= first.high * (mass + p * rise);
        for (std::size_t i = 1; i < many; ++i) {
          if (shares[i] > 0) parts[i] += shares[i] * power;
        }
      }
    }
    tables_.push_back(std::move(table));
  }
  refine();
  for (const double line : lines_) beside_.push_back(others.empty() ? 0 : cumulant(others, line));
}

// More lines between the lines: the parts are log-convex in c, and nearly log-linear between two of them.
void Outline::refine() {
  constexpr std::size_t times = between_lines;
  const std::size_t many = places_.size();
  std::vector<double> lines;
  for (std::size_t line = 0; line + 1 < lines_.size(); ++line) {
    for (std::size_t i = 0; i < times; ++i) {
      lines.push_back(lines_[line] + static_cast<double>(i) / times * (lines_[line + 1] - lines_[line]));
    }
  }
  for (Table& table : tables_) {
    std::vector<double> parts(lines.size() * many);
    for (std::size_t line = 0; line + 1 < lines_.size(); ++line) {
      const double* here = at(table, line);
      const double* next = at(table, line + 1);
      for (std::size_t part = 0; part < many; ++part) {
        const double ratio = part > 0 && here[part] > 0 ? std::pow(next[part] / here[part], 1.0 / times) : 1;
        double value = here[part];
        for (std::size_t i = 0; i < times; ++i) {
          parts[(line * times + i) * many + part] = value;
          value = part > 0 ? value * ratio : value + (next[part] - here[part]) / times;
        }
      }
    }
    table.parts = std::move(parts);
  }
  lines_ = std::move(lines);
}

double Outline::below(std::size_t place, std::size_t line) const {
  spend((15 + static_cast<double>(place)) * static_cast<double>(tables_.size()));
  double sum = beside_[line];
  for (const Table& table : tables_) {
    double excess = 0;
    for (std::size_t i = 0; i <= place; ++i) excess += at(table, line)[i];
    sum += table.count * std::log1p(std::max(excess, -0.999));
  }
  return sum;
}

double Outline::between(std::size_t first, std::size_t last, std::size_t line) const {
  spend((30 + static_cast<double>(last)) * static_cast<double>(tables_.size()));
  double base = beside_[line];
  double ratio = 0;
  for (const Table& table : tables_) {
    const double* parts = at(table, line);
    double excess = 0;
    for (std::size_t i = 0; i <= first; ++i) excess += parts[i];
    const double whole = 1 + std::max(excess, -0.999);
    double part = 0;
    for (std::size_t i = first + 1; i <= last; ++i) part += parts[i];
    base += table.count * std::log(whole);
    ratio += table.count * std::log1p(part / whole);
  }
  return base + (ratio < 30 ? std::log(std::expm1(ratio)) : ratio);
}

double Outline::part(std::size_t distribution, std::size_t first, std::size_t last, std::size_t line) const {
  double sum = 0;
  for (std::size_t i = first + 1; i <= last; ++i) sum += at(tables_[distribution], line)[i];
  return std::log(sum);
}

}  // namespace sotto::pld_detail
