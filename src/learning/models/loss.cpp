// Values, slopes and bounds of the loss functions.
#include "sotto/learning/loss.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "learning/models/names.hpp"
#include "sotto/data/examples.hpp"

namespace sotto {
namespace {

using learning_detail::Named;
constexpr std::array<Named<LossKind>, 5> kinds{{{LossKind::logistic, "logistic"},
                                                {LossKind::squared, "squared"},
                                                {LossKind::huber, "huber"},
                                                {LossKind::squared_hinge, "squared-hinge"},
                                                {LossKind::softmax, "softmax"}}};

double sign_of(std::int16_t target) { return target > 0 ? 1 : -1; }
double number_of(std::int16_t target) { return static_cast<double>(target) / feature_one; }

// log(1 + e^x)
double softplus(double x) { return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x)); }
// 1/(1 + e^-x)
double sigmoid(double x) {
  const double small = std::exp(-std::abs(x));
  return (x >= 0 ? 1 : small) / (1 + small);
}

}  // namespace

std::string name_of(LossKind kind) { return learning_detail::name_in<LossKind>(kinds, kind); }
LossKind parse_loss(const std::string& name) {
  return learning_detail::parse_in<LossKind>(kinds, "loss", name);
}

double LossFunction::lipschitz() const {
  switch (kind) {
    case LossKind::logistic: return 1;
    case LossKind::huber: return bend;
    case LossKind::softmax: return std::nextafter(std::sqrt(2.0), 2.0);  // p - e_y: |.|² <= 1 + 1
    case LossKind::squared:
    case LossKind::squared_hinge: break;
  }
  return std::numeric_limits<double>::infinity();
}

double LossFunction::smoothness() const {
  switch (kind) {
    case LossKind::logistic: return 0.25;
    case LossKind::softmax: return 0.5;  // diag(p) - pp' has no eigenvalue above 1/2
    case LossKind::squared:
    case LossKind::huber:
    case LossKind::squared_hinge: break;
  }
  return 1;
}

double LossFunction::value(std::span<const double> outputs, std::int16_t target) const {
  switch (kind) {
    case LossKind::logistic: return softplus(-sign_of(target) * outputs[0]);
    case LossKind::squared: {
      const double off = outputs[0] - number_of(target);
      return off * off / 2;
    }
    case LossKind::huber: {
      const double off = std::abs(outputs[0] - number_of(target));
      return off <= bend ? off * off / 2 : bend * (off - bend / 2);
    }
    case LossKind::squared_hinge: {
      const double lack = std::max(0.0, 1 - sign_of(target) * outputs[0]);
      return lack * lack / 2;
    }
    case LossKind::softmax: break;
  }
  const double top = *std::max_element(outputs.begin(), outputs.end());
  double sum = 0;
  for (const double z : outputs) sum += std::exp(z - top);
  return std::log(sum) + top - outputs[static_cast<std::size_t>(target)];
}

void LossFunction::slope(std::span<const double> outputs, std::int16_t target,
                         std::span<double> slope) const {
  switch (kind) {
    case LossKind::logistic:
      slope[0] = -sign_of(target) * sigmoid(-sign_of(target) * outputs[0]);
      return;
    case LossKind::squared: slope[0] = outputs[0] - number_of(target); return;
    case LossKind::huber:
      slope[0] = std::clamp(outputs[0] - number_of(target), -bend, bend);
      return;
    case LossKind::squared_hinge:
      slope[0] = -sign_of(target) * std::max(0.0, 1 - sign_of(target) * outputs[0]);
      return;
    case LossKind::softmax: break;
  }
  const double top = *std::max_element(outputs.begin(), outputs.end());
  double sum = 0;
  for (std::size_t k = 0; k < outputs.size(); ++k) sum += slope[k] = std::exp(outputs[k] - top);
  for (double& s : slope) s /= sum;
  slope[static_cast<std::size_t>(target)] -= 1;
}

}  // namespace sotto
