// The privacy losses of several mechanisms on one sample, by the discretised product of their
// pairs: all losses are atoms (docs/theory/pld/products.md).
#include <cmath>
#include <utility>

#include "core/api/work.hpp"
#include "numerics/api/elementary.hpp"
#include "pld/grid/distribution.hpp"
#include "pld/product/discretized_product.hpp"
#include "pld/subsampling/poisson_sum.hpp"

namespace sotto {
namespace {

using pld_detail::DiscretizedProduct;
using pld_detail::DistributionPtr;
using pld_detail::imaginary_of;
using pld_detail::infinity;
using pld_detail::log_ratio;
using pld_detail::LossDistribution;
using pld_detail::PoissonSum;
using pld_detail::power_of;
using pld_detail::ProductOutcome;
using pld_detail::RoundedDouble;
using pld_detail::unit;

// The base's joint loss as points with masses: ℓ under Q for removing a record, and -ℓ under P for
// adding one. On the upper side the product is symmetric, and the two have the same distribution.
struct Base {
  struct Point {
    double loss, loss_error;
    double mass, mass_error;  // the error is relative
  };
  std::shared_ptr<const DiscretizedProduct> product;
  std::vector<Point> points;

  Base(std::shared_ptr<const DiscretizedProduct> joint, Direction direction)
      : product(std::move(joint)) {
    for (const ProductOutcome& one : product->outcomes()) {
      if (direction == Direction::remove)
        points.push_back({one.loss, one.loss_error, one.q, one.q_error / one.q + 4 * unit});
      if (direction == Direction::add)
        points.push_back({-one.loss, one.loss_error, one.p, one.p_error / one.p + 4 * unit});
    }
  }
};

// An outcome on the sample: u = log(1 - q + q e^ℓ), and its mass under the distribution of its
// point.
struct SampledPoint {
  pld_detail::SampledLoss ratio;
  double log_mass, mass_error;
  double mass;
  double base_excess;  // mass (e^u - 1 - u)
};

class PoissonProductLogMgf : public LogMgf {
 public:
  PoissonProductLogMgf(const std::vector<SampledPoint>& points, const DiscretizedProduct& product,
                       RoundedDouble rate, Direction direction, double c)
      : direction_(direction), power_(power_of(direction, c)), sum_(power_, false) {
    double largest = 0;
    for (const SampledPoint& point : points)
      largest = std::max(largest, point.log_mass + power_ * point.ratio.u);
    sum_ = PoissonSum(power_, largest > 3);
    for (const SampledPoint& point : points)
      sum_.add(point.ratio, point.log_mass, point.mass_error);
    sum_.finish();
    // outcomes that are left out: |r^β - 1 - β(r - 1)| <= |r|^p + 1 + |β| |r - 1|, where
    // r^p <= 1 - q + q e^(pℓ) for p >= 1, by convexity, and r^p <= (1-q)^p for p < 0
    const double both = product.tail_p() + product.tail_q();
    tail_ = direction == Direction::remove
                ? 2 * both + rate.value * std::exp(product.log_tail(power_))
                : both * (1 + std::exp(power_ * std::log1p(-rate.value)));
    tail_per_beta_ = rate.value * both;
  }
  void prepare(double /*top*/, double /*tolerance*/) override {}
  LogMgfValue at(double t) const override {
    const double omitted =
        1.01 * (tail_ + std::hypot(power_, t) * tail_per_beta_) * std::exp(-sum_.scale());
    return sum_.at(imaginary_of(direction_, t), std::isnan(omitted) ? infinity : omitted);
  }
  double work() const override { return static_cast<double>(sum_.size()); }
  double decay_bound(double /*t*/, Extent /*extent*/) const override {
    return pld_detail::upper_log_mgf(at(0));
  }  // the losses are atoms

 private:
  Direction direction_;
  double power_;
  PoissonSum sum_;
  double tail_ = 0, tail_per_beta_ = 0;
};

class PoissonProductLoss : public PrivacyLoss {
 public:
  PoissonProductLoss(std::shared_ptr<const Base> base, const Real& rate, Direction direction)
      : base_(std::move(base)), exact_rate_(rate), rate_(rate), direction_(direction) {
    double square = 0;
    double largest = -infinity;
    for (const Base::Point& point : base_->points) {
      const pld_detail::SampledLoss ratio = log_ratio(rate_, point.loss, point.loss_error);
      points_.push_back({ratio, std::log(point.mass), point.mass_error, point.mass,
                         point.mass * exp_excess(ratio.u)});
      square += point.mass * ratio.u * ratio.u;
      const double loss = direction == Direction::remove ? ratio.u : -ratio.u;
      if (!(loss > largest)) continue;
      largest = loss;
      const double error = ratio.error_bound + 8 * unit * (1 + std::abs(loss));
      max_loss_ = loss + error;
      const double log_mass = points_.back().log_mass + (direction == Direction::remove ? loss : 0);
      max_loss_atom_ = {loss - error, log_mass - 1.01 * point.mass_error - error -
                                          8 * unit * (1 + std::abs(log_mass))};
    }
    deviation_ = std::sqrt(square);
    if (base_->product->has_tail())
      max_loss_ = direction == Direction::remove ? infinity : (-log1p(-rate)).upper();
  }
  std::unique_ptr<LogMgf> log_mgf(double c) const override {
    return std::make_unique<PoissonProductLogMgf>(points_, *base_->product, rate_, direction_, c);
  }
  double cumulant(double c) const override {
    spend(20 * static_cast<double>(points_.size()));
    const double power = power_of(direction_, c);
    double scale = 3;
    for (const SampledPoint& point : points_)
      scale = std::max(scale, point.log_mass + power * point.ratio.u);
    double sum = 0;
    for (const SampledPoint& point : points_) {
      const double tilt = power * point.ratio.u;
      if (scale > 3) {
        sum += std::exp(point.log_mass + tilt - scale);
      } else {
        sum += (std::abs(tilt) < 1 ? point.mass * exp_excess(tilt)
                                   : std::exp(point.log_mass + tilt) - point.mass * (1 + tilt)) -
               power * point.base_excess;
      }
    }
    return scale > 3 ? scale + std::log(sum) : std::log1p(sum);
  }
  double max_loss() const override { return max_loss_; }
  std::optional<MaxLossAtom> max_loss_atom() const override {
    return base_->product->has_tail() ? std::nullopt : std::optional(max_loss_atom_);
  }
  double standard_deviation() const override { return deviation_; }
  DistributionPtr distribution() const override {
    std::vector<LossDistribution::PointMass> atoms;
    for (const Base::Point& point : base_->points)
      atoms.push_back({point.loss, point.loss_error, point.mass, point.mass_error, 0});
    const double tail = 2 * (base_->product->tail_p() + base_->product->tail_q());
    return pld_detail::poisson_distribution(pld_detail::atoms_distribution(std::move(atoms), tail),
                                            rate_, direction_);
  }
  PrivacyLossPtr reversed() const override {
    return std::make_shared<PoissonProductLoss>(base_, exact_rate_,
                                                pld_detail::opposite(direction_));
  }

 private:
  std::shared_ptr<const Base> base_;
  Real exact_rate_;
  RoundedDouble rate_;
  Direction direction_;
  std::vector<SampledPoint> points_;
  double deviation_ = 0, max_loss_ = 0;
  MaxLossAtom max_loss_atom_{};
};

}  // namespace

std::optional<PoissonPair> poisson_product_losses(const std::vector<LossStep>& steps,
                                                  const Real& rate, Side side) {
  const auto product = std::make_shared<const DiscretizedProduct>(steps, side);
  if (product->empty()) return std::nullopt;
  const auto loss = [&](Direction direction) {
    return std::make_shared<PoissonProductLoss>(std::make_shared<const Base>(product, direction),
                                                rate, direction);
  };
  return PoissonPair{loss(Direction::remove), loss(Direction::add)};
}

std::optional<TruncatedLoss> without_replacement_product_loss(const std::vector<LossStep>& steps,
                                                              const Real& rate) {
  const DiscretizedProduct product(steps, Side::upper);
  if (product.empty()) return std::nullopt;
  std::vector<SymmetricAtom> atoms;
  for (const ProductOutcome& one : product.outcomes()) {
    if (!(one.loss > 0)) continue;
    const Real u = log1p(rate * expm1(Real(one.loss).widened(one.loss_error)));
    atoms.push_back({u, Real(one.q).widened(one.q_error) * exp(u / 2)});
  }
  return TruncatedLoss{symmetric_atoms_loss(atoms, std::nullopt),
                       (rate * (product.tail_p() + product.tail_q())).upper()};
}

}  // namespace sotto
