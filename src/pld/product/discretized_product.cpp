#include "product/discretized_product.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>

#include "grid/distribution.hpp"
#include "grid/grid_index.hpp"
#include "sotto/core/work.hpp"

namespace sotto::pld_detail {
namespace {

constexpr double most_points = 4096;   // of the product's grid
constexpr double deviations = 22;      // of a Gaussian on either side: its tails hold less than 1e-104
constexpr double largest_loss = 300;   // of all steps together: e^loss has to be a double, with some to spare
constexpr double least_mass = 1e-285;  // outcomes with less are left out, and bounded like tails
constexpr double underflow = 1e-300;   // an upper bound on what one product of masses can lose

// Masses at loss (first + j) * spacing, or of the cell that begins there, with bounds on their absolute errors.
struct Masses {
  std::int64_t first = 0;
  std::vector<double> p, p_error, q, q_error;

  explicit Masses(std::int64_t from = 0, std::size_t size = 0) : first(from), p(size), p_error(size), q(size), q_error(size) {}
  void add(std::int64_t j, double p_mass, double p_off, double q_mass, double q_off) {
    const auto at = static_cast<std::size_t>(std::clamp<std::int64_t>(j - first, 0, static_cast<std::int64_t>(p.size()) - 1));
    p[at] += p_mass;
    p_error[at] += p_off + 4 * unit * p[at];
    q[at] += q_mass;
    q_error[at] += q_off + 4 * unit * q[at];
  }
};

void convolve_one(const std::vector<double>& a, const std::vector<double>& a_error, const std::vector<double>& b, const std::vector<double>& b_error,
                  std::vector<double>& sum, std::vector<double>& error) {
  sum.assign(a.size() + b.size() - 1, 0);
  error.assign(sum.size(), 0);
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double whole = a[i] + a_error[i];
    for (std::size_t j = 0; j < b.size(); ++j) {
      sum[i + j] += a[i] * b[j];
      error[i + j] += whole * b_error[j] + a_error[i] * b[j];
    }
  }
  const double terms = static_cast<double>(std::min(a.size(), b.size())) + 4;
  for (std::size_t i = 0; i < sum.size(); ++i) error[i] = error[i] * (1 + 4 * terms * unit) + 2 * terms * unit * sum[i] + terms * underflow;
}

Masses convolve(const Masses& a, const Masses& b) {
  spend(3 * static_cast<double>(a.p.size()) * static_cast<double>(b.p.size()));
  Masses sum(a.first + b.first);
  convolve_one(a.p, a.p_error, b.p, b.p_error, sum.p, sum.p_error);
  convolve_one(a.q, a.q_error, b.q, b.q_error, sum.q, sum.q_error);
  return sum;
}

Masses power(Masses one, double count) {
  Masses result = one;
  auto left = static_cast<std::int64_t>(count) - 1;
  for (; left > 0; left /= 2) {
    if (left % 2 == 1) result = convolve(result, one);
    if (left > 1) one = convolve(one, one);
  }
  return result;
}

// One step on the grid. Edges are taken to be a partition, each within `edge_error` of what it is written as (LossDistribution::edge).
Masses discretize(const LossDistribution& distribution, double low, double high, double spacing, Side side, bool merge_tails) {
  const auto first = grid_index(std::floor(low / spacing));
  const auto last = grid_index(std::ceil(high / spacing));
  Masses masses(first, static_cast<std::size_t>(last - first + 1));
  const auto at = [&](std::int64_t j) { return static_cast<double>(j) * spacing; };
  const double width = std::expm1(spacing);
  struct CellMass {
    double p, p_error, q, q_error;
  };
  std::vector<CellMass> cells(static_cast<std::size_t>(last - first), CellMass{});
  const auto put = [&](std::int64_t j, double p, double p_error, double q, double q_error) {
    CellMass& cell = cells[static_cast<std::size_t>(std::clamp<std::int64_t>(j - first, 0, static_cast<std::int64_t>(cells.size()) - 1))];
    cell.p += p;
    cell.p_error += p_error + 2 * unit * cell.p;
    cell.q += q;
    cell.q_error += q_error + 2 * unit * cell.q;
  };
  spend(400 * static_cast<double>(cells.size()));
  if (!distribution.only_atoms()) {
    const auto between = [&](std::int64_t j, double from, double to) {
      const auto a = distribution.edge(from);
      const auto b = distribution.edge(to);
      const LossDistribution::Mass p = distribution.mass_p(a, b);
      const LossDistribution::Mass q = distribution.mass_q(a, b);
      if (!(p.value > 0) || !(q.value > 0)) return;
      put(j, p.at(0), p.at(0) * (p.error_bound + unit * (16 + 4 * std::abs(p.log))), q.at(0),
          q.at(0) * (q.error_bound + unit * (16 + 4 * std::abs(q.log))));
    };
    for (std::int64_t j = first; j < last; ++j) between(j, at(j), j == -1 ? -0x1p-1000 : at(j + 1));
    if (merge_tails) {
      between(first, -infinity, at(first));
      between(last - 1, at(last), infinity);
    }
  }
  for (const LossDistribution::PointMass& atom : distribution.atoms()) {
    const double q = atom.mass * std::exp(atom.log);
    const double p = q * std::exp(atom.loss);
    const double q_error = q * (atom.error_bound + unit * (16 + 4 * std::abs(atom.log)));
    const double p_error = p * (atom.error_bound + atom.loss_error + unit * (32 + 4 * (std::abs(atom.log) + std::abs(atom.loss))));
    const auto nearest = grid_index(std::round(atom.loss / spacing));
    if (std::abs(atom.loss - at(nearest)) <= atom.loss_error + 8 * unit * std::abs(atom.loss)) {
      masses.add(nearest, p, p_error, q, q_error);
    } else {
      put(grid_index(std::floor(atom.loss / spacing)), p, p_error, q, q_error);
    }
  }
  for (std::int64_t j = first; j < last; ++j) {
    const CellMass& cell = cells[static_cast<std::size_t>(j - first)];
    if (!(cell.q > 0)) continue;
    if (side == Side::lower) {
      masses.add(j, cell.p, cell.p_error, cell.q, cell.q_error);
      continue;
    }
    // connect-the-dots: Q-mass and P-mass of the cell stay, at its two end points
    const double down = std::exp(-at(j));
    const double upper_q = std::clamp((cell.p * down - cell.q) / width, 0.0, cell.q);
    const double error = (cell.p_error * down + cell.q_error + 8 * unit * (1 + std::abs(at(j))) * (cell.p * down + cell.q)) / width;
    const double lower_q = cell.q - upper_q;
    const double lower_up = std::exp(at(j));
    const double upper_up = std::exp(at(j + 1));
    const double lower_error = error + cell.q_error;
    const double rounding = 8 * unit * (2 + std::abs(at(j)));
    masses.add(j, lower_q * lower_up, lower_up * (lower_error + rounding * lower_q), lower_q, lower_error);
    masses.add(j + 1, upper_q * upper_up, upper_up * (error + rounding * upper_q), upper_q, error);
  }
  return masses;
}

}  // namespace

DiscretizedProduct::DiscretizedProduct(const std::vector<LossStep>& steps, Side side) {
  struct Factor {
    DistributionPtr distribution;
    double count, low, high;
  };
  std::vector<Factor> factors;
  double range = 0;
  double fit = 0;  // an atom that is put on the grid
  double loss_error = 0;
  for (const LossStep& step : steps) {
    const DistributionPtr distribution = step.loss->distribution();
    if (distribution == nullptr || !(step.count <= most_points)) return;
    double high = distribution->max_loss();
    if (std::isinf(high)) {
      mu_ = step.loss->standard_deviation();
      tail_z_ = mu_ + deviations;
      high = mu_ * mu_ / 2 + deviations * mu_;
    } else {
      bounded_.push_back(step);
      fit = std::max(fit, high);
    }
    factors.push_back({distribution, step.count, -high, high});
    range += 2 * step.count * high;
    loss_error += step.count * (2 * distribution->loss_error(high) + 16 * unit * high);
  }
  if (!(range > 0) || !(range < 2 * largest_loss)) return;
  double spacing = range / most_points;
  if (fit > 2 * spacing) spacing = fit / std::floor(fit / spacing);
  Masses all(0, 1);
  all.p[0] = all.q[0] = 1;
  for (const Factor& factor : factors) {
    all = convolve(all, power(discretize(*factor.distribution, factor.low, factor.high, spacing, side, side == Side::lower), factor.count));
  }
  if (side == Side::upper && mu_ > 0) {
    tail_q_ = std::exp(pld_detail::log_normal_tail(tail_z_ - 0.01)) + std::exp(pld_detail::log_normal_tail(tail_z_ - mu_ - 0.01));
    tail_p_ = tail_q_;
  }
  max_loss_ = range / 2 + spacing * (1 + static_cast<double>(factors.size()));
  for (std::size_t j = 0; j < all.q.size(); ++j) {
    if (!(all.q[j] > least_mass) || !(all.p[j] > least_mass)) {
      dropped_p_ += all.p[j] + all.p_error[j];
      dropped_q_ += all.q[j] + all.q_error[j];
      continue;
    }
    const double at = static_cast<double>(all.first + static_cast<std::int64_t>(j)) * spacing;
    ProductOutcome one{at, loss_error + 4 * unit * std::abs(at), all.p[j], all.p_error[j], all.q[j], all.q_error[j]};
    if (side == Side::lower) {
      one.loss = std::log(one.p / one.q);
      one.loss_error = 1.1 * (one.p_error / one.p + one.q_error / one.q) + 8 * unit * (1 + std::abs(one.loss));
    }
    outcomes_.push_back(one);
  }
}

double DiscretizedProduct::log_tail(double sigma) const {
  // what was dropped has e^(σL) = e^L e^((σ-1)L), and e^L times its Q-mass is its P-mass
  const double dropped = dropped_p_ > 0 ? std::log(dropped_p_) + std::max(0.0, sigma - 1) * max_loss_ : -infinity;
  if (!(mu_ > 0) || tail_p_ == 0) return dropped;
  double sum = sigma * (sigma - 1) * mu_ * mu_ / 2 + pld_detail::log_normal_tail(tail_z_ - sigma * mu_ - 0.01);
  for (const LossStep& step : bounded_) {
    if (sigma > 1) sum += step.count * upper_log_mgf(step.loss->log_mgf(sigma - 1)->at(0));
  }
  sum += 1e-9 * (1 + std::abs(sum)) + std::log(2.0);  // both tails: for σ >= 1/2 the left one has less
  return log_sum(sum, dropped);
}

}  // namespace sotto::pld_detail
