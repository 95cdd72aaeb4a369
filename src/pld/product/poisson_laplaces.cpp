// Poisson sampling of several Laplace steps, and of steps of two losses beside them, all on one sample: over the distribution of their joint loss, a
// polynomial and an exponential between knots, by Gauss-Legendre quadrature.
#include <cmath>

#include "product/laplace_sum.hpp"
#include "sotto/core/work.hpp"
#include "sotto/numerics/elementary.hpp"
#include "sotto/numerics/gauss_legendre.hpp"
#include "subsampling/poisson_sum.hpp"

namespace sotto {
namespace {

using pld_detail::imaginary_of;
using pld_detail::infinity;
using pld_detail::LaplaceSum;
using pld_detail::log_ratio;
using pld_detail::log_sum;
using pld_detail::PoissonSum;
using pld_detail::power_of;
using pld_detail::RoundedDouble;
using pld_detail::unit;

constexpr double most_points = 60000;

class SampledSumLine : public LogMgf {
 public:
  SampledSumLine(const LaplaceSum& sum, const RoundedDouble& rate, Direction direction, double c)
      : sum_(sum), q_(rate), direction_(direction), power_(power_of(direction, c)), grid_(power_, false) {
    const LaplaceSum::Atom& top = sum.atoms().back();
    const double guess = std::log(top.weight) - top.loss / 2 + power_ * log_ratio(q_, top.loss, 0).u - 1;
    scaled_ = guess > 0.5;
    if (scaled_) guess_ = guess;
    settle_ceiling();
    reach(0, 1e-13);
  }
  void reach(double top, double tolerance) override {
    const double size = std::hypot(power_, top) + 1;
    const double target = std::log(tolerance) + guess_;
    missing_ = infinity;
    grid_ = PoissonSum(power_, scaled_);
    for (double longest = 4; longest > 1e-3; longest /= 2) {  // panels that are good enough
      double error = -infinity;
      double points = 0;
      for_panels(longest, [&](const LaplaceSum::Piece& piece, double centre, double half) {
        error = log_sum(error, panel_error(piece, centre, half, top, size));
        points += gauss_points;
      });
      if (points > most_points) return;
      if (error > target) continue;
      fill(longest);
      missing_ = 1.01 * std::exp(error - grid_.scale());
      return;
    }
  }
  LogMgfValue at(double t) const override { return grid_.at(imaginary_of(direction_, t), missing_); }
  double work() const override { return static_cast<double>(grid_.size()); }
  // The atoms do not fall; the density, by one integration by parts, is at most its ends and its variation over τ.
  double decay_bound(double t, Extent /*reach*/) const override {
    const double all = pld_detail::top_of(at(0));
    if (t <= 0 || std::isinf(all)) return all;
    return std::min(all, log_sum(log_atoms_, log_ends_ - std::log(t)));
  }

 private:
  template <class Use>
  void for_panels(double longest, Use use) const {
    for (const LaplaceSum::Piece& piece : sum_.pieces()) {
      const double panels = std::ceil((piece.to - piece.from) / longest);
      const double half = (piece.to - piece.from) / panels / 2;
      for (double n = 0; n < panels; ++n) use(piece, piece.from + (2 * n + 1) * half, half);
    }
  }
  void fill(double longest) {
    const double off = sum_.off();
    const double error_bound = sum_.error_bound() + 64 * unit * (1 + sum_.most());
    for (const LaplaceSum::Atom& atom : sum_.atoms()) grid_.add(log_ratio(q_, atom.loss, off), std::log(atom.weight) - atom.loss / 2, error_bound);
    const GaussLegendre& rule = gauss_legendre();
    for_panels(longest, [&](const LaplaceSum::Piece& piece, double centre, double half) {
      const double width = piece.to - piece.from;
      for (std::size_t i = 0; i < gauss_points; ++i) {
        const double loss = centre + half * rule.node[i];
        const double density = pld_detail::restricted(piece.density, std::clamp((loss - piece.from) / width, 0.0, 1.0), 1).front();
        grid_.add(log_ratio(q_, loss, off), std::log(half * rule.weight[i] * density) - loss / 2, error_bound);
      }
    });
    grid_.settle();
  }
  // On the ellipse a polynomial of degree d is at most its largest coefficient times ((ρ + 1/ρ)/2)^d.
  [[nodiscard]] double panel_error(const LaplaceSum::Piece& piece, double centre, double half, double top, double size) const {
    spend(800);
    const double q = q_.value;
    const double width = piece.to - piece.from;
    const auto part = pld_detail::restricted(piece.density, std::clamp((centre - half - piece.from) / width, 0.0, 1.0),
                                             std::clamp((centre + half - piece.from) / width, 0.0, 1.0));
    const double largest = std::log(*std::max_element(part.begin(), part.end()));
    double best = infinity;
    for (const double rho : {1.3, 2.0, 3.0, 4.5, 7.0, 12.0, 20.0}) {
      const Ellipse region = ellipse(half, rho);
      if (region.height > 1.5) break;
      const double loss = centre + region.reach;
      const double e = q * std::exp(std::min(600.0, loss));
      const double beyond = std::max(0.0, loss - 600);
      const double arg = std::min(region.height, e * std::sin(region.height) / (1 - q + e * std::cos(region.height)));
      const double log_size = (power_ > 0 ? power_ * (std::log(1 - q + e) + beyond) : power_ * std::log1p(-q)) + top * arg;
      const double whole = log_sum(std::max(log_size, 0.0), std::log(1 + size * (q + e)) + beyond);
      const double density = largest + static_cast<double>(part.size() - 1) * std::log((rho + 1 / rho) / 2) - (centre - region.reach) / 2;
      best = std::min(best, log_gauss_error(half, rho, whole + density));
    }
    return best;
  }
  // G = density r^(power+1) e^-ℓ/q: its ends in each piece, and its variation, cell by cell with every factor at its largest and its least.
  void settle_ceiling() {
    constexpr int cells = 32;
    spend(100 * static_cast<double>(sum_.atoms().size()) + 32e3 * static_cast<double>(sum_.pieces().size()));
    log_atoms_ = log_ends_ = -infinity;
    for (const LaplaceSum::Atom& atom : sum_.atoms()) {
      log_atoms_ = log_sum(log_atoms_, std::log(atom.weight) - atom.loss / 2 + power_ * log_ratio(q_, atom.loss, 0).u);
    }
    const auto by_power = [&](double loss) { return (power_ + 1) * log_ratio(q_, loss, 0).u; };
    for (const LaplaceSum::Piece& piece : sum_.pieces()) {
      const double width = piece.to - piece.from;
      for (const auto& [loss, density] : {std::pair{piece.from, piece.density.front()}, std::pair{piece.to, piece.density.back()}}) {
        log_ends_ = log_sum(log_ends_, std::log(density) - 1.5 * loss + by_power(loss));
      }
      for (int j = 0; j < cells; ++j) {
        const auto part = pld_detail::restricted(piece.density, static_cast<double>(j) / cells, static_cast<double>(j + 1) / cells);
        const double low = piece.from + width * j / cells;
        const double high = low + width / cells;
        const double most = std::log(*std::max_element(part.begin(), part.end())) - 1.5 * low + std::max(by_power(low), by_power(high));
        const double least = std::log(*std::min_element(part.begin(), part.end())) - 1.5 * high + std::min(by_power(low), by_power(high));
        log_ends_ = log_sum(log_ends_, most + std::log(-std::expm1(std::min(least - most, -1e-12))));
      }
    }
    log_ends_ -= std::log(q_.value);
    const double error_bound = 1e-9 + (2 + sum_.most()) * (q_.relative + sum_.off() + 256 * unit) * (2 + std::abs(power_));
    log_ends_ += error_bound;
    log_atoms_ += sum_.error_bound() + error_bound;
  }

  const LaplaceSum& sum_;
  RoundedDouble q_;
  Direction direction_;
  double power_;
  bool scaled_ = false;
  double guess_ = 0;  // about the grid's scale, from below
  PoissonSum grid_;
  double missing_ = infinity;
  double log_atoms_ = 0, log_ends_ = 0;
};

class SampledSumLoss : public PrivacyLoss, public pld_detail::HasDistribution {
 public:
  SampledSumLoss(std::shared_ptr<const LaplaceSum> sum, const Real& most, const Real& rate, Direction direction)
      : sum_(std::move(sum)), rate_(rate), direction_(direction), exact_most_(most), exact_rate_(rate) {
    const bool removed = direction == Direction::remove;
    const Real largest = removed ? log1p(rate * expm1(most)) : -log1p(rate * expm1(-most));
    max_loss_ = largest.upper();
    // the outermost atom: at the top of the mixture, or at the base's bottom without it
    const double weight = std::log(sum_->atoms().back().weight) - sum_->error_bound() - 64 * unit * (1 + sum_->most());
    top_ = {largest.lower(), weight + (removed ? largest.lower() - sum_->most() / 2 : sum_->most() / 2) - sum_->off()};
  }
  std::unique_ptr<LogMgf> log_mgf(double c) const override { return std::make_unique<SampledSumLine>(*sum_, rate_, direction_, c); }
  double max_loss() const override { return max_loss_; }
  std::optional<MaxLossAtom> max_loss_atom() const override { return top_; }
  double standard_deviation() const override { return max_loss_ / 2; }
  pld_detail::DistributionPtr distribution() const override {
    return pld_detail::poisson_distribution(pld_detail::laplace_sum_distribution(sum_), rate_, direction_);
  }
  PrivacyLossPtr reversed() const override {
    return std::make_shared<SampledSumLoss>(sum_, exact_most_, exact_rate_, pld_detail::opposite(direction_));
  }

 private:
  std::shared_ptr<const LaplaceSum> sum_;
  RoundedDouble rate_;
  Direction direction_;
  Real exact_most_;
  Real exact_rate_;
  double max_loss_;
  MaxLossAtom top_{};
};

}  // namespace

std::optional<PoissonPair> poisson_sum_losses(const std::vector<SumStep>& steps, const Real& rate) {
  std::vector<LaplaceSum::Step> parts;
  Real most = 0;
  for (const SumStep& step : steps) {
    if (step.count > 4096) return std::nullopt;
    parts.push_back({RoundedDouble(step.loss), step.laplace, static_cast<int>(step.count)});
    most += Real(static_cast<double>(step.count)) * step.loss;
  }
  auto sum = LaplaceSum::of(std::move(parts));
  if (!sum) return std::nullopt;
  const auto shared = std::make_shared<const LaplaceSum>(std::move(*sum));
  return PoissonPair{std::make_shared<SampledSumLoss>(shared, most, rate, Direction::remove),
                     std::make_shared<SampledSumLoss>(shared, most, rate, Direction::add)};
}

}  // namespace sotto
