// Few steps of discrete Gaussian noise so narrow that their losses are far apart: the distribution of their sum, all of whose masses are sums of
// positive numbers and keep their digits however small they are.
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "exact/exact.hpp"
#include "sotto/core/work.hpp"

namespace sotto::pld_detail {
namespace {

using Long = long double;

constexpr Long deepest = 600;   // -log of the masses that are left out
constexpr double widest = 1.2;  // σ over √sensitivity
constexpr double most_points = 2100;
constexpr Long rounding = std::numeric_limits<Long>::epsilon();

std::vector<Long> times(const std::vector<Long>& a, const std::vector<Long>& b) {
  spend(3 * static_cast<double>(a.size()) * static_cast<double>(b.size()));
  std::vector<Long> sums(a.size() + b.size() - 1, 0);
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t j = 0; j < b.size(); ++j) sums[i + j] += a[i] * b[j];
  }
  return sums;
}

// Under P the noises n of k steps sum up to m, and the loss is (dm + kd²/2)/σ².
class Convolved {
 public:
  Convolved(const RoundedDouble& sigma, double sensitivity, double count) : count_(count) {
    const Long square = static_cast<Long>(sigma.value) * sigma.value;
    const auto end = static_cast<long>(std::ceil(std::sqrt(2 * square * deepest)));
    std::vector<Long> one;
    Long all = 0;
    for (long n = -end; n <= end; ++n) {
      one.push_back(std::exp(-static_cast<Long>(n) * static_cast<Long>(n) / (2 * square)));
      all += one.back();
    }
    for (Long& mass : one) mass /= all;
    masses_ = {1};
    for (auto k = static_cast<long>(count); k > 0; k /= 2) {
      if (k % 2 == 1) masses_ = times(masses_, one);
      if (k > 1) one = times(one, one);
    }
    least_ = -static_cast<Long>(count) * static_cast<Long>(end);
    slope_ = sensitivity / square;
    base_ = static_cast<Long>(count) * sensitivity * sensitivity / (2 * square);
    loss_room_ = 2 * sigma.relative + 8 * unit;
    // a mass has σ in e^(-n²/(2σ²)), n² <= 2σ² deepest and a little, in the sum of them, and its sums are rounded
    error_bound_ =
        static_cast<double>(count * (4 * deepest + 8) * (sigma.relative + 4 * rounding) + 8 * rounding * static_cast<Long>(masses_.size()));
  }
  [[nodiscard]] Bound delta(double epsilon) const {
    Long below = 0;
    Long above = 0;
    // from the first loss above ε on; they are negligible long before they end
    const Long first = std::floor((epsilon / (1 + 2 * loss_room_) - base_) / slope_) - 1;
    for (auto i = static_cast<std::size_t>(std::clamp<Long>(first - least_, 0, static_cast<Long>(masses_.size()))); i < masses_.size(); ++i) {
      const Long loss = base_ + slope_ * (least_ + static_cast<Long>(i));
      const Long error_bound = loss_room_ * (std::abs(loss) + base_);
      spend(150);
      below += masses_[i] * std::max<Long>(0, -std::expm1(epsilon - loss + error_bound));
      above += masses_[i] * std::max<Long>(0, -std::expm1(epsilon - loss - error_bound));
      // log-concave, as their noises are: each further one has at most that share of the one before
      const Long share = i > 0 ? masses_[i] / masses_[i - 1] : 1;
      if (loss > epsilon + 1 && share < 0.9L && masses_[i] < 1e-25L * above) {
        above += 1.01L * masses_[i] * share / (1 - share);
        break;
      }
    }
    const Long tails = 8 * count_ * std::exp(-deepest);
    return {static_cast<double>(below * (1 - error_bound_)) * (1 - 2 * unit),
            static_cast<double>(above * (1 + error_bound_) + tails) * (1 + 2 * unit)};
  }

 private:
  Long count_;
  std::vector<Long> masses_;  // under P
  Long least_ = 0;            // the first sum of noises
  Long slope_ = 0, base_ = 0;
  double loss_room_ = 0, error_bound_ = 0;
};

}  // namespace

std::optional<Profile> convolved_profile(const std::vector<LossStep>& steps) {
  if (steps.size() != 1) return std::nullopt;
  const auto* noise = dynamic_cast<const WholeNoise*>(steps.front().loss.get());
  if (noise == nullptr || !(noise->sigma().value <= widest * std::sqrt(noise->sensitivity()))) return std::nullopt;
  if (!(steps.front().count * (1 + 70 * noise->sigma().value) <= most_points)) return std::nullopt;
  const auto sum = std::make_shared<const Convolved>(noise->sigma(), noise->sensitivity(), steps.front().count);
  return [sum](double epsilon) { return sum->delta(epsilon); };
}

}  // namespace sotto::pld_detail
