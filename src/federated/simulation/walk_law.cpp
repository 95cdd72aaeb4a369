#include "walk_law.hpp"

#include <algorithm>
#include <cmath>

#include "sotto/core/errors.hpp"
#include "sotto/core/values.hpp"
#include "sotto/numerics/fft.hpp"

namespace sotto::federated_detail {
namespace {

constexpr double slack = 1 + 1e-12;  // sums of positive doubles, a million terms at most

// Masses on the grid 0, h, 2h, …; what does not fit is `beyond`.
struct Grid {
  std::size_t size;
  double step;
  std::vector<Complex> mass = std::vector<Complex>(size);
  double beyond = 0;

  void add(double theta, double probability) {
    const double at = std::ceil(theta / step * (1 - 1e-15));
    if (at < static_cast<double>(size)) {
      mass[static_cast<std::size_t>(at)] = mass[static_cast<std::size_t>(at)] + Complex(probability, 0);
    } else {
      beyond += probability;
    }
  }
};

std::vector<double> back(const Fft& fft, std::vector<Complex>& values) {
  fft.back(values);
  std::vector<double> masses;
  for (const Complex& value : values) masses.push_back(std::max(0.0, value.re));
  return masses;
}

// Sums beyond the grid wrap around to small θ: Chernoff bounds on their probability need the parts' moment generating functions, so the grid is chosen wide
// enough that the exponential moment says this is negligible, and what it says counts as unknown.
double tail(const Grid& part, double parts) {
  double best = 1;
  const double end = part.step * static_cast<double>(part.size - 1);
  for (double t = 0.5; t < 400; t *= 1.3) {
    double moment = 0;
    for (std::size_t i = 0; i < part.size; ++i) {
      if (part.mass[i].re > 0) moment += part.mass[i].re * std::exp(std::min(600.0, t * part.step * static_cast<double>(i)));
    }
    best = std::min(best, std::exp(parts * std::log(moment) - t * end));
  }
  return best;
}

double error_of(const Fft& fft, std::size_t size, double parts) { return 4 * parts * fft.error() * std::sqrt(static_cast<double>(size)); }

void check(std::int64_t users, std::int64_t colluding, std::int64_t contributions, std::int64_t most) {
  (void)require_count(users, 2, "users");
  (void)require_count(contributions, 1, "contributions");
  if (colluding < 1 || colluding >= users) throw InvalidValue("the coalition must have between 1 and users - 1 members");
  if (contributions > most) throw InvalidValue("contributions must be at most " + std::to_string(most));
}

}  // namespace

WalkLaw WalkLaw::steps(std::int64_t users, std::int64_t colluding, std::int64_t contributions) {
  check(users, colluding, contributions, 100'000);
  const double q = static_cast<double>(1 + colluding) / static_cast<double>(users);
  const auto k = static_cast<double>(contributions);
  if (q >= 1) {  // everybody else: the local cost
    return {{0, 1}, k, 0};
  }
  constexpr std::size_t size = std::size_t{1} << 17U;
  const double mean = k * q / (1 - q) * std::log(1 / q);
  const double widest = k * 1.01 + 1;  // θ is never more than the contributions
  const double width = std::min(widest, 2 * mean + 12 + 8 * std::sqrt(mean));
  Grid part{.size = size, .step = width / static_cast<double>(size - 1)};
  double left = 1;
  for (double g = 1; left > 1e-18 && g < 1e7; ++g) {
    part.add(1 / g, left * q);
    left *= 1 - q;
  }
  part.add(0, 0);
  part.add(part.step, left);
  const double wraps = width == widest ? 0 : tail(part, k);
  const double beyond = k * part.beyond + wraps;
  const Fft fft(size);
  fft.forward(part.mass);
  for (Complex& value : part.mass) {
    const double length = std::pow(std::hypot(value.re, value.im), k);
    const double angle = k * std::atan2(value.im, value.re);
    value = Complex(length * std::cos(angle), length * std::sin(angle));
  }
  return {back(fft, part.mass), part.step, beyond + error_of(fft, size, k)};
}

WalkLaw WalkLaw::sums(std::int64_t users, std::int64_t colluding, std::int64_t contributions) {
  check(users, colluding, contributions, 1000);
  const auto n = static_cast<double>(users);
  const auto c = static_cast<double>(colluding);
  const auto k = static_cast<std::size_t>(contributions);
  if (colluding + 1 >= users) return {{0, 1}, static_cast<double>(k), 0};
  const auto most = static_cast<std::size_t>(std::min<double>(static_cast<double>(k), std::ceil(40 / std::log1p(c))));  // (1+c)^-j below 10^-17
  constexpr std::size_t size = std::size_t{1} << 14U;
  const double mean = static_cast<double>(k) * (1 + c) * 4 / n * std::log(n);
  const double widest = static_cast<double>(k) * 1.01 + 1;
  const double width = std::min(widest, mean + 16 + 8 * std::sqrt(mean));
  // part[j]: P(j, m) given j >= 1; P(j, m) = (c/n) C(m, j) n^-j r^(m-j), r = 1 - (c+1)/n; with the last stretch cut at j contributions in last[j]
  const double r = 1 - (c + 1) / n;
  std::vector<Grid> part(most + 1, Grid{.size = size, .step = width / static_cast<double>(size - 1)});
  std::vector<Grid> last = part;
  double beyond = 0;
  const auto spread = [&](Grid& into, std::size_t j, double probability) {
    const auto contributed = static_cast<double>(j);
    // m - j is negative binomial: (j + 1) geometric gaps
    double mass = std::pow((c + 1) / n, contributed + 1);
    const double mode = contributed * n / (c + 1);
    for (double m = contributed; m < mode || mass > 1e-24; ++m) {
      into.add(contributed * contributed / m, probability * mass);
      mass *= r * (m + 1) / (m + 1 - contributed);
    }
    into.add(contributed, probability * 1e-15);  // the terms left out, and the rounding of the others
  };
  for (std::size_t j = 1; j <= most; ++j) {
    const double probability = c / std::pow(c + 1, static_cast<double>(j));  // given j >= 1
    spread(part[j], j, probability);
    spread(last[j], j, probability * (c + 1) / c);  // j or more
    beyond += part[j].beyond;
  }
  beyond *= static_cast<double>(k);
  Grid stretch{.size = size, .step = part[1].step};
  for (std::size_t j = 1; j <= most; ++j) {
    for (std::size_t i = 0; i < size; ++i) stretch.mass[i].re += part[j].mass[i].re;
  }
  if (width < widest) beyond += tail(stretch, static_cast<double>(k));  // no more stretches with a contribution than contributions
  const Fft fft(size);
  for (std::size_t j = 1; j <= most; ++j) {
    fft.forward(part[j].mass);
    fft.forward(last[j].mass);
  }
  std::vector<std::vector<Complex>> law(k + 1);
  law[0].assign(size, Complex(1, 0));
  for (std::size_t i = 1; i <= k; ++i) {
    law[i].assign(size, Complex(0, 0));
    for (std::size_t j = 1; j < std::min(i, most + 1); ++j) {
      for (std::size_t f = 0; f < size; ++f) law[i][f] = law[i][f] + part[j].mass[f] * law[i - j][f];
    }
    if (i <= most) {
      for (std::size_t f = 0; f < size; ++f) law[i][f] = law[i][f] + last[i].mass[f];
    }
    if (i > most) law[i - most - 1] = {};  // needed no more
  }
  const double unfit = std::pow(c + 1, -static_cast<double>(most)) * static_cast<double>(k);
  WalkLaw result{back(fft, law[k]), part[1].step, beyond + unfit * (most < k ? 1 : 0) + error_of(fft, size, static_cast<double>(k))};
  return result;
}

WalkLaw::WalkLaw(const std::vector<double>& masses, double step, double unknown) : unknown_(unknown) {
  constexpr double ratio = 1.005;      // of neighbouring cells' ends: a quarter of a percent of μ
  constexpr double negligible = 1e-3;  // what lies below this part of the mean is one cell
  double mean = 0;
  for (std::size_t i = 0; i < masses.size(); ++i) mean += masses[i] * static_cast<double>(i);
  double end = negligible * mean;
  double sum = 0;
  for (std::size_t i = 0; i < masses.size(); ++i) {
    const auto at = static_cast<double>(i);
    if (at > end) {
      if (sum > 1e-20) {
        cells_.push_back({.theta = step * (at - 1) * (1 + 1e-15), .mass = sum});
        sum = 0;
      }
      end = at * ratio;
    }
    sum += masses[i];
  }
  if (sum > 0) cells_.push_back({.theta = step * static_cast<double>(masses.size() - 1) * (1 + 1e-15), .mass = sum});
}

double WalkLaw::delta(double noise, double epsilon) const {
  // in doubles: both terms are probabilities, off by a few units each, for which 10^-14 stands in `unknown`
  const auto normal = [](double x) { return std::erfc(-x / std::sqrt(2.0)) / 2; };
  double sum = unknown_ + 1e-14;
  for (const Cell& cell : cells_) {
    if (cell.theta == 0) continue;
    const double mu = std::sqrt(cell.theta) / noise * slack;
    const double away = -mu / 2 - epsilon / mu;
    const double tail = normal(away);
    sum += cell.mass * std::max(0.0, normal(mu / 2 - epsilon / mu) - (tail > 0 ? std::exp(epsilon + std::log(tail)) : 0));
  }
  return sum * slack;
}

double WalkLaw::epsilon(double noise, double most) const {
  if (unknown_ >= most) return INFINITY;
  double low = 0;
  double high = 1;
  while (delta(noise, high) > most) {
    low = high;
    high *= 2;
    if (high > 1e6) return INFINITY;
  }
  for (int i = 0; i < 40 && high - low > 1e-9 * high; ++i) {
    const double middle = (low + high) / 2;
    (delta(noise, middle) > most ? low : high) = middle;
  }
  return high;
}

double WalkLaw::noise_for(double epsilon, double most) const {
  if (unknown_ >= most) throw OutsideConditions("the law of the walk is not known to a delta as small: take a larger delta");
  double high = 1;
  while (delta(high, epsilon) > most) high *= 2;
  double low = 0;
  for (int i = 0; i < 60 && high - low > 1e-6 * high; ++i) {
    const double middle = (low + high) / 2;
    (delta(middle, epsilon) > most ? low : high) = middle;
  }
  return high;
}

double WalkLaw::mean() const {
  double sum = 0;
  for (const Cell& cell : cells_) sum += cell.theta * cell.mass;
  return sum;
}

}  // namespace sotto::federated_detail
