// Discretises each step's loss distribution on one grid, and convolves the grids with bounds on all
// errors.
#include "pld/product/discretized_product.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <utility>

#include "core/api/work.hpp"
#include "pld/grid/distribution.hpp"
#include "pld/grid/grid_index.hpp"

namespace sotto::pld_detail {
namespace {

constexpr double max_points = 4096;  // of the product's grid
constexpr double deviations =
    22;  // of a Gaussian that are on the grid on either side: its tails hold less than 1e-104
constexpr double largest_loss =
    300;  // of all steps together: e^loss has to be a double, with a margin
constexpr double least_mass = 1e-285;  // outcomes with less are left out, and bounded like tails
constexpr double underflow = 1e-300;  // an upper bound on the mass that one product of masses loses

// Masses at the losses (first + j) * spacing under P and Q, with bounds on their absolute errors.
struct Masses {
  std::int64_t first = 0;
  std::vector<double> p, p_error, q, q_error;

  explicit Masses(std::int64_t from = 0, std::size_t size = 0)
      : first(from), p(size), p_error(size), q(size), q_error(size) {}
  // Adds masses with their errors to point j, clamped to the grid.
  void add(std::int64_t j, double p_mass, double p_mass_error, double q_mass, double q_mass_error) {
    const auto at = static_cast<std::size_t>(
        std::clamp<std::int64_t>(j - first, 0, static_cast<std::int64_t>(p.size()) - 1));
    p[at] += p_mass;
    p_error[at] += p_mass_error + 4 * unit * p[at];
    q[at] += q_mass;
    q_error[at] += q_mass_error + 4 * unit * q[at];
  }
};

// Convolves the masses under one distribution.
void convolve_one(const std::vector<double>& a, const std::vector<double>& a_error,
                  const std::vector<double>& b, const std::vector<double>& b_error,
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
  for (std::size_t i = 0; i < sum.size(); ++i)
    error[i] = error[i] * (1 + 4 * terms * unit) + 2 * terms * unit * sum[i] + terms * underflow;
}

Masses convolve(const Masses& a, const Masses& b) {
  spend(3 * static_cast<double>(a.p.size()) * static_cast<double>(b.p.size()));
  Masses sum(a.first + b.first);
  convolve_one(a.p, a.p_error, b.p, b.p_error, sum.p, sum.p_error);
  convolve_one(a.q, a.q_error, b.q, b.q_error, sum.q, sum.q_error);
  return sum;
}

// Returns the convolution of `count` copies, by squaring.
Masses power(Masses one, double count) {
  Masses result = one;
  auto rest = static_cast<std::int64_t>(count) - 1;
  for (; rest > 0; rest /= 2) {
    if (rest % 2 == 1) result = convolve(result, one);
    if (rest > 1) one = convolve(one, one);
  }
  return result;
}

// Discretises one step on the multiples of a spacing from `low` to `high`. First the masses of the
// distribution are collected by cells, atoms that lie on a grid point apart; then the cells' masses
// are moved to grid points. The distribution's edges are a partition, so the errors of the edges
// are those of the losses.
class StepDiscretisation {
 public:
  StepDiscretisation(const LossDistribution& distribution, double low, double high, double spacing)
      : distribution_(distribution),
        spacing_(spacing),
        first_(grid_index(std::floor(low / spacing))),
        last_(grid_index(std::ceil(high / spacing))),
        masses_(first_, static_cast<std::size_t>(last_ - first_ + 1)),
        cells_(static_cast<std::size_t>(last_ - first_), CellMass{}) {}

  Masses on(Side side) {
    spend(400 * static_cast<double>(cells_.size()));
    if (!distribution_.only_atoms()) add_density(side == Side::lower);
    add_atoms();
    for (std::int64_t j = first_; j < last_; ++j) {
      const CellMass& cell = cells_[static_cast<std::size_t>(j - first_)];
      if (!(cell.q > 0)) continue;
      if (side == Side::lower) {
        masses_.add(j, cell.p, cell.p_error, cell.q,
                    cell.q_error);  // merged; the loss is log(p/q) in the end
      } else {
        connect_dots(j, cell);
      }
    }
    return std::move(masses_);
  }

 private:
  struct CellMass {
    double p, p_error, q, q_error;
  };
  [[nodiscard]] double loss_at(std::int64_t j) const { return static_cast<double>(j) * spacing_; }

  void put(std::int64_t j, double p, double p_error, double q, double q_error) {
    CellMass& cell = cells_[static_cast<std::size_t>(
        std::clamp<std::int64_t>(j - first_, 0, static_cast<std::int64_t>(cells_.size()) - 1))];
    cell.p += p;
    cell.p_error += p_error + 2 * unit * cell.p;
    cell.q += q;
    cell.q_error += q_error + 2 * unit * cell.q;
  }

  // Puts the mass between two losses, without atoms, into cell j.
  void put_between(std::int64_t j, double from, double to) {
    const auto a = distribution_.edge(from);
    const auto b = distribution_.edge(to);
    const LossDistribution::Mass p = distribution_.mass_p(a, b);
    const LossDistribution::Mass q = distribution_.mass_q(a, b);
    if (!(p.value > 0) || !(q.value > 0)) return;
    put(j, p.as_double(), p.as_double() * (p.error_bound + unit * (16 + 4 * std::abs(p.log))),
        q.as_double(), q.as_double() * (q.error_bound + unit * (16 + 4 * std::abs(q.log))));
  }

  void add_density(bool merge_tails) {
    for (std::int64_t j = first_; j < last_; ++j)
      put_between(j, loss_at(j), j == -1 ? -0x1p-1000 : loss_at(j + 1));
    if (merge_tails) {
      put_between(first_, -infinity, loss_at(first_));
      put_between(last_ - 1, loss_at(last_), infinity);
    }
  }

  // Puts each atom onto the grid point at its loss, or else into its cell.
  void add_atoms() {
    for (const LossDistribution::PointMass& atom : distribution_.atoms()) {
      const double q = atom.mass * std::exp(atom.log);
      const double p = q * std::exp(atom.loss);
      const double q_error = q * (atom.error_bound + unit * (16 + 4 * std::abs(atom.log)));
      const double p_error = p * (atom.error_bound + atom.loss_error +
                                  unit * (32 + 4 * (std::abs(atom.log) + std::abs(atom.loss))));
      const auto nearest = grid_index(std::round(atom.loss / spacing_));
      if (std::abs(atom.loss - loss_at(nearest)) <=
          atom.loss_error + 8 * unit * std::abs(atom.loss)) {
        masses_.add(nearest, p, p_error, q, q_error);
      } else {
        put(grid_index(std::floor(atom.loss / spacing_)), p, p_error, q, q_error);
      }
    }
  }

  // Shares a cell between its two end points so that its P-mass and Q-mass stay.
  void connect_dots(std::int64_t j, const CellMass& cell) {
    const double width = std::expm1(spacing_);
    const double down = std::exp(-loss_at(j));
    const double upper_q = std::clamp((cell.p * down - cell.q) / width, 0.0, cell.q);
    const double error = (cell.p_error * down + cell.q_error +
                          8 * unit * (1 + std::abs(loss_at(j))) * (cell.p * down + cell.q)) /
                         width;
    const double lower_q = cell.q - upper_q;
    const double lower_ratio = std::exp(loss_at(j));  // P over Q at the lower point
    const double upper_ratio = std::exp(loss_at(j + 1));
    const double lower_error = error + cell.q_error;
    const double rounding = 8 * unit * (2 + std::abs(loss_at(j)));
    masses_.add(j, lower_q * lower_ratio, lower_ratio * (lower_error + rounding * lower_q), lower_q,
                lower_error);
    masses_.add(j + 1, upper_q * upper_ratio, upper_ratio * (error + rounding * upper_q), upper_q,
                error);
  }

  const LossDistribution& distribution_;
  double spacing_;
  std::int64_t first_, last_;
  Masses masses_;
  std::vector<CellMass> cells_;
};

}  // namespace

// One step with its range of losses on the grid.
struct DiscretizedProduct::Factor {
  DistributionPtr distribution;
  double count, low, high;
};

// Returns the factors, and sets the members that bound the tails. Empty if a distribution is
// unknown, or there are too many steps.
std::vector<DiscretizedProduct::Factor> DiscretizedProduct::factors_of(
    const std::vector<LossStep>& steps) {
  std::vector<Factor> factors;
  for (const LossStep& step : steps) {
    const DistributionPtr distribution = step.loss->distribution();
    if (distribution == nullptr || !(step.count <= max_points)) return {};
    double high = distribution->max_loss();
    if (std::isinf(high)) {
      mu_ = step.loss->standard_deviation();
      tail_z_ = mu_ + deviations;
      high = mu_ * mu_ / 2 + deviations * mu_;
    } else {
      bounded_.push_back(step);
    }
    factors.push_back({distribution, step.count, -high, high});
  }
  return factors;
}

DiscretizedProduct::DiscretizedProduct(const std::vector<LossStep>& steps, Side side) {
  const std::vector<Factor> factors = factors_of(steps);
  double range = 0;
  double largest = 0;  // the largest bounded loss, which may be an atom: it gets a grid point
  double loss_error = 0;
  for (const Factor& factor : factors) {
    range += 2 * factor.count * factor.high;
    if (!std::isinf(factor.distribution->max_loss())) largest = std::max(largest, factor.high);
    loss_error +=
        factor.count * (2 * factor.distribution->loss_error(factor.high) + 16 * unit * factor.high);
  }
  if (!(range > 0) || !(range < 2 * largest_loss)) return;
  double spacing = range / max_points;
  if (largest > 2 * spacing) spacing = largest / std::floor(largest / spacing);

  // the convolution of all factors
  Masses all(0, 1);
  all.p[0] = all.q[0] = 1;
  for (const Factor& factor : factors) {
    all = convolve(
        all,
        power(StepDiscretisation(*factor.distribution, factor.low, factor.high, spacing).on(side),
              factor.count));
  }

  // the tails that the grid leaves out, with a margin for the rounding of its ends
  if (side == Side::upper && mu_ > 0) {
    tail_q_ = std::exp(pld_detail::log_normal_tail(tail_z_ - 0.01)) +
              std::exp(pld_detail::log_normal_tail(tail_z_ - mu_ - 0.01));
    tail_p_ = tail_q_;
  }
  max_loss_ = range / 2 + spacing * (1 + static_cast<double>(factors.size()));

  // the outcomes, without those that nearly underflow
  for (std::size_t j = 0; j < all.q.size(); ++j) {
    if (!(all.q[j] > least_mass) || !(all.p[j] > least_mass)) {
      dropped_p_ += all.p[j] + all.p_error[j];
      dropped_q_ += all.q[j] + all.q_error[j];
      continue;
    }
    const double loss = static_cast<double>(all.first + static_cast<std::int64_t>(j)) * spacing;
    ProductOutcome one{loss,     loss_error + 4 * unit * std::abs(loss),
                       all.p[j], all.p_error[j],
                       all.q[j], all.q_error[j]};
    if (side == Side::lower) {
      one.loss = std::log(one.p / one.q);
      one.loss_error =
          1.1 * (one.p_error / one.p + one.q_error / one.q) + 8 * unit * (1 + std::abs(one.loss));
    }
    outcomes_.push_back(one);
  }
}

double DiscretizedProduct::log_tail(double sigma) const {
  // outcomes that nearly underflow: e^(σL) = e^L e^((σ-1)L), and e^L times the Q-mass is the P-mass
  const double dropped =
      dropped_p_ > 0 ? std::log(dropped_p_) + std::max(0.0, sigma - 1) * max_loss_ : -infinity;
  if (!(mu_ > 0) || tail_p_ == 0) return dropped;
  // the right tail of the Gaussian by completing the square, times the moments of the other steps
  double sum = sigma * (sigma - 1) * mu_ * mu_ / 2 +
               pld_detail::log_normal_tail(tail_z_ - sigma * mu_ - 0.01);
  for (const LossStep& step : bounded_) {
    if (sigma > 1) sum += step.count * upper_log_mgf(step.loss->log_mgf(sigma - 1)->at(0));
  }
  sum += 1e-9 * (1 + std::abs(sum)) +
         std::log(2.0);  // twice, since the left tail has less for σ >= 1/2
  return log_sum(sum, dropped);
}

}  // namespace sotto::pld_detail
