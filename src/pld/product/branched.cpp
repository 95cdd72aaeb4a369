// A loss in two stages: an outcome with an atom of loss v_j, then, whichever it was, the loss of its own branch. With m_j the
// mass of the outcome under P, M(s) = sum_j m_j e^(s v_j) M_j(s). Since sum_j m_j = sum_j m_j e^(-v_j) = 1,
// M - 1 = sum_j m_j [(e^(s v_j) - 1 - s v_j) + s (e^(-v_j) - 1 + v_j) + e^(s v_j) (M_j - 1)], in which nothing cancels.
#include <cmath>

#include "sotto/numerics/elementary.hpp"
#include "support.hpp"

namespace sotto {
namespace {

using pld_detail::infinity;
using pld_detail::log_sum;
using pld_detail::RoundedDouble;
using pld_detail::unit;

struct NearBranch {
  RoundedDouble mass;
  RoundedDouble loss;
  double error_bound;  // of the loss
  PrivacyLossPtr rest;
};

class BranchedLine : public LogMgf {
 public:
  BranchedLine(const std::vector<NearBranch>& branches, double c, bool scaled) : branches_(branches), c_(c), scaled_(scaled) {
    for (const NearBranch& branch : branches_) {
      lines_.push_back(branch.rest->log_mgf(c));
      scale_ = std::max(scale_, std::log(branch.mass.value) + c * branch.loss.value + pld_detail::top_of(lines_.back()->at(0)));
    }
  }
  void reach(double top, double tolerance) override {
    for (const auto& line : lines_) line->reach(top, tolerance);
  }
  LogMgfValue at(double t) const override {
    if (!(scale_ < infinity)) return {{infinity, 0}, infinity};
    return scaled_ ? scaled_at(t) : excess_at(t);
  }
  double work() const override {
    double sum = 0;
    for (const auto& line : lines_) sum += line->work();
    return sum;
  }
  // What stays of every branch, its outcome being an atom: the branches must fall by themselves.
  double decay_bound(double t, Extent reach) const override {
    const double all = pld_detail::top_of(at(0));
    double sum = -infinity;
    double error_bound = 0;
    for (std::size_t j = 0; j < lines_.size(); ++j) {
      const NearBranch& branch = branches_[j];
      sum = log_sum(sum, std::log(branch.mass.value) + c_ * branch.loss.value + lines_[j]->decay_bound(t, reach));
      error_bound = std::max(error_bound, branch.mass.relative + c_ * branch.error_bound + 16 * unit * (c_ * std::abs(branch.loss.value) + 4));
    }
    return std::min(all, sum + error_bound + 16 * unit * (static_cast<double>(lines_.size()) + std::abs(sum)));
  }

 private:
  [[nodiscard]] LogMgfValue excess_at(double t) const {
    const Complex s{c_, t};
    const double size = abs(s);
    Complex sum{0, 0};
    double error = 0;
    double total = 0;
    for (std::size_t j = 0; j < lines_.size(); ++j) {
      const NearBranch& branch = branches_[j];
      const double v = branch.loss.value;
      const LogMgfValue rest = lines_[j]->at(t);
      const Complex z = v * s;
      const double length = abs(z);
      const double rise = std::exp(z.re);
      const double most = std::max(1.0, rise);
      const bool known = !std::isinf(rest.error);
      const double modulus = std::exp(rest.log.re);
      const Complex change = known ? exp_excess(rest.log) + rest.log : Complex{-1, 0};  // M_j - 1
      const double back = exp_excess(-v);
      const Complex term = exp_excess(z) + back * s + exp(z) * change;
      double off = 48 * unit * most * std::min(length * length, 2 + length) + 80 * unit * size * back;
      off += rise * abs(change) * unit * (24 + 2 * length);
      off += rise * (known ? 1.2 * modulus * rest.error + 100 * unit * std::max(1.0, modulus) * abs(rest.log) : modulus);
      off += 1.1 * branch.error_bound * size * (std::min(length, 2.0) * most + std::abs(std::expm1(-v)) + rise * abs(change));
      const double parts = abs(term) + size * back;
      error += branch.mass.value * (1.01 * off + (branch.mass.relative + 8 * unit) * parts);
      total += branch.mass.value * parts;
      sum += branch.mass.value * term;
    }
    return pld_detail::log_of_excess(sum, error + 2 * static_cast<double>(lines_.size()) * unit * total);
  }
  [[nodiscard]] LogMgfValue scaled_at(double t) const {
    const double size = std::hypot(c_, t);
    Complex sum{0, 0};
    double error = 0;
    for (std::size_t j = 0; j < lines_.size(); ++j) {
      const NearBranch& branch = branches_[j];
      const LogMgfValue rest = lines_[j]->at(t);
      const double log_mass = std::log(branch.mass.value);
      const double weight = std::exp(log_mass + c_ * branch.loss.value + rest.log.re - scale_);
      const double rounding = 16 * unit * (4 + std::abs(log_mass) + size * std::abs(branch.loss.value) + abs(rest.log) + std::abs(scale_));
      if (std::isinf(rest.error)) {
        error += weight * (1 + branch.mass.relative + c_ * branch.error_bound + rounding);
        continue;
      }
      const double phase = t * branch.loss.value + rest.log.im;
      sum += weight * Complex{std::cos(phase), std::sin(phase)};
      error +=
          1.2 * weight * (rest.error + branch.mass.relative + size * branch.error_bound + rounding + 2 * static_cast<double>(lines_.size()) * unit);
    }
    return pld_detail::log_of_scaled(sum, scale_, error);
  }

  const std::vector<NearBranch>& branches_;
  double c_;
  bool scaled_;
  double scale_ = -infinity;
  std::vector<std::unique_ptr<LogMgf>> lines_;
};

class BranchedLoss : public PrivacyLoss {
 public:
  explicit BranchedLoss(const std::vector<Branch>& branches) {
    double variance = 0;
    for (const Branch& branch : branches) {
      const double centre = branch.loss.estimate();
      const double error_bound = std::max(branch.loss.upper() - centre, centre - branch.loss.lower()) + 2 * unit * std::abs(centre);
      branches_.push_back({RoundedDouble(branch.mass), RoundedDouble(branch.loss), error_bound, branch.rest});
      max_loss_ = std::max(max_loss_, (branch.loss + branch.rest->max_loss()).upper());
      pole_ = std::min(pole_, branch.rest->pole());
      variance += branch.mass.estimate() * (centre * centre + branch.rest->standard_deviation() * branch.rest->standard_deviation());
    }
    spread_ = std::sqrt(variance);
  }
  std::unique_ptr<LogMgf> log_mgf(double c) const override { return std::make_unique<BranchedLine>(branches_, c, cumulant(c) > 0.5); }
  double cumulant(double c) const override {
    double largest = -infinity;
    double excess = 0;
    for (const NearBranch& branch : branches_) {
      const double rest = branch.rest->cumulant(c);
      const double tilt = c * branch.loss.value;
      largest = log_sum(largest, std::log(branch.mass.value) + tilt + rest);
      excess += branch.mass.value * (exp_excess(tilt) + c * exp_excess(-branch.loss.value) + std::exp(tilt) * std::expm1(rest));
    }
    return largest > 0.5 ? largest : std::log1p(excess);
  }
  double max_loss() const override { return max_loss_; }
  double pole() const override { return pole_; }
  double standard_deviation() const override { return spread_; }

 private:
  std::vector<NearBranch> branches_;
  double max_loss_ = -infinity;
  double pole_ = infinity;
  double spread_;
};

}  // namespace

PrivacyLossPtr branched_loss(const std::vector<Branch>& branches) { return std::make_shared<BranchedLoss>(branches); }

}  // namespace sotto
