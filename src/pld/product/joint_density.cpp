#include "product/joint_density.hpp"

#include <cmath>

#include "sotto/core/work.hpp"
#include "sotto/numerics/elementary.hpp"

namespace sotto::pld_detail {
namespace {

constexpr double deviations = 9.5;  // of the Gaussian, beyond which nothing is left: e^-45
constexpr double farthest = 45;     // how far beyond the rest's largest loss the density is known, in units of μ

// e^(-inx) for n = 0, 1, …: turned on from one to the next, and made anew every so often. Off by at most (2nx + 64) units.
class Turning {
 public:
  explicit Turning(double x) : x_(x), step_{std::cos(x), -std::sin(x)} {}
  Complex next() {
    const Complex here = value_;
    ++n_;
    if (n_ % 16 == 0) {
      const double turn = static_cast<double>(n_) * x_;
      value_ = {std::cos(turn), -std::sin(turn)};
    } else {
      value_ = value_ * step_;
    }
    return here;
  }

 private:
  double x_;
  Complex step_;
  Complex value_{1, 0};
  std::size_t n_ = 0;
};

}  // namespace

JointDensity::JointDensity(const Real& squared_mu, const std::vector<LossStep>& rest) : mu_(sqrt(squared_mu)), steps_(rest) {
  for (const LossStep& step : rest) rest_ += step.count * step.loss->max_loss();
  steps_.push_back({gaussian_loss(squared_mu), 1});
  const double m = mu_.value;
  const double window = 2 * rest_ + 2 * deviations * m;
  step_ = 2 * pi / window;
  reach_ = rest_ + farthest * m;
  // Lines close enough together that one of them has its saddle near every loss.
  double sigma = 1;
  do {
    lines_.push_back(line_at(sigma));
    const double d = 0.05 / (m + rest_ / 8);
    const auto cumulant = [&](double s) {
      double sum = 0;
      for (const LossStep& step : steps_) sum += step.count * step.loss->cumulant(s - 1);
      return sum;
    };
    const double width = (cumulant(sigma + 2 * d) - 2 * cumulant(sigma + d) + cumulant(sigma)) / (d * d);
    if (!(width < infinity)) break;  // beyond what doubles hold: the lines so far must do
    sigma += 0.9 / std::sqrt(std::max(width, m * m));
  } while ((sigma - 0.5) * m * m < (farthest + 1) * m);
}

JointDensity::Line JointDensity::line_at(double sigma) const {
  Line line{sigma, moment(sigma), 0, {}, {}, 0, 0};
  std::vector<std::unique_ptr<LogMgf>> parts;
  for (const LossStep& step : steps_) {
    parts.push_back(step.loss->log_mgf(sigma - 1));
    line.scale += step.count * parts.back()->at(0).log.re;
  }
  const double m = mu_.value;
  const auto last = static_cast<std::size_t>(std::ceil(deviations / m / step_));
  spend(static_cast<double>(last + 1) * 100 * static_cast<double>(parts.size()));
  for (std::size_t n = 0; n <= last; ++n) {
    const double t = static_cast<double>(n) * step_;
    Complex log{-line.scale, 0};
    double error = 0;
    double rounding = std::abs(line.scale);
    bool known = true;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const LogMgfValue one = parts[i]->at(t);
      const double count = steps_[i].count;
      log += count * one.log;
      rounding += count * abs(one.log);
      if (std::isinf(one.error)) {
        known = false;
      } else {
        error += count * one.error;
      }
    }
    error += 16 * unit * rounding;
    const double share = n == 0 ? 1 : 2;
    const double size = std::exp(std::max(log.re, -700.0));
    if (!known || !(error < 0.5)) {
      line.nodes.push_back({0, 0});
      line.errors.push_back(share * size * std::exp(std::min(error, 600.0)) * (1 + 16 * unit));
    } else {
      line.nodes.push_back(share * exp(log));
      line.errors.push_back(share * size * (1.3 * error + 32 * unit));
      line.size += share * size;
    }
    line.error += line.errors.back();
  }
  // the nodes left out: |M| <= M(σ) e^(-μ²t²/2)
  const double t = static_cast<double>(last + 1) * step_;
  line.error += 2.1 * std::exp(-m * m * t * t / 2 * (1 - 1e-12)) / -std::expm1(-m * m * t * step_ * (1 - 1e-12));
  line.error += 4 * unit * static_cast<double>(last + 1) * line.size;
  return line;
}

const JointDensity::Line& JointDensity::best_line(double place) const {
  const Line* best = &lines_.front();
  for (const Line& line : lines_) {
    if (line.scale - line.sigma * place < best->scale - best->sigma * place) best = &line;
  }
  return *best;
}

// The sum's other terms: the tilted density a window away and further. It mixes Gaussians of mean (σ-1/2)μ² + l, |l| <= rest.
double JointDensity::aliases(const Line& line, double place) const {
  const double m = mu_.value;
  const double window = 2 * pi / step_;
  const double centre = (line.sigma - 0.5) * m * m;
  double sum = 0;
  for (const double distance : {place + window - centre - rest_, centre - rest_ - (place - window)}) {
    const double z = (distance - 1e-12 * (window + place + centre)) / m;
    if (!(z > 1)) return infinity;
    sum += 1.01 * std::exp(-z * z / 2 * (1 - 1e-12)) / -std::expm1(-z * window / m);
  }
  return sum * window / (root_two_pi * m);  // (h/2π) sum = density
}

JointDensity::Value JointDensity::at(double loss) const {
  const double place = std::abs(loss);
  if (place > reach_) return {-infinity, infinity};
  const Line& line = best_line(place);
  spend(8 * static_cast<double>(line.nodes.size() + lines_.size()));
  double sum = 0;
  Turning turning(step_ * place);
  for (const Complex& node : line.nodes) {
    const Complex turn = turning.next();
    sum += node.re * turn.re - node.im * turn.im;
  }
  const double phases = line.size * (2 * static_cast<double>(line.nodes.size()) * step_ * place + 80);
  const double error = line.error + phases * unit + aliases(line, place) + 8 * unit * std::abs(sum);
  if (!(error < 0.5 * sum)) return {-infinity, infinity};
  const double tilt = line.sigma * place;
  const double log = std::log(sum * step_ / (2 * pi)) + line.scale - tilt + (loss < 0 ? place : 0);
  return {log, 1.5 * error / sum + 16 * unit * (4 + std::abs(line.scale) + tilt + place + std::abs(log))};
}

// With F the transform, F(σ - iτ) its conjugate and G = F(σ + iτ) e^(-iτ Re ℓ), the nodes at τ and -τ add up to 2 (Re G cosh(τ Im ℓ) + i Im G sinh(τ
// Im ℓ)).
JointDensity::ComplexValue JointDensity::at(Complex loss) const {
  const double place = std::abs(loss.re);
  const double m = mu_.value;
  const double height = loss.re < 0 ? -loss.im : loss.im;
  const double b = std::abs(height) / m * (1 + mu_.relative);
  if (place > reach_ || !(b < 4)) return {0, {0, 0}, infinity, infinity};
  const Line& line = best_line(place);
  spend(15 * static_cast<double>(line.nodes.size() + lines_.size()));
  Complex sum = line.nodes.front();
  double error = line.errors.front();
  double size = std::abs(sum.re);
  Turning turning(step_ * place);
  turning.next();
  const double lift = std::exp(step_ * height);
  double rise = 1;
  for (std::size_t n = 1; n < line.nodes.size(); ++n) {
    const double t = static_cast<double>(n) * step_;
    const Complex node = line.nodes[n] * turning.next();
    rise = n % 16 == 0 ? std::exp(t * height) : rise * lift;
    const double fall = 1 / rise;
    sum += {node.re * (rise + fall) / 2, node.im * (rise - fall) / 2};
    const double most = std::max(rise, fall);
    error += most * (line.errors[n] + abs(node) * (2 * t * place + 4 * t * std::abs(height) + 160) * unit);
    size += most * abs(node);
  }
  // the nodes left out, |F| <= F(σ) e^(-μ²t²/2), and the sum's other terms
  const double t = static_cast<double>(line.nodes.size()) * step_;
  const double ratio = (m * m * t * (1 - 1e-9) - std::abs(height)) * step_;
  error += 2.1 * std::exp(-m * m * t * t / 2 * (1 - 1e-9) + t * std::abs(height)) / -std::expm1(-ratio);
  error += aliases(line, place) * std::exp(b * b / 2 * (1 + 1e-9)) + 4 * unit * static_cast<double>(line.nodes.size() + 4) * size;
  // e^(-σℓ), and below 0 the density is e^-ℓ times that at -ℓ
  const double tilt = line.sigma * place;
  const double turn = -line.sigma * height + (loss.re < 0 ? height : 0);
  const double log = std::log(step_ / (2 * pi)) + line.scale - tilt + (loss.re < 0 ? place : 0);
  const Complex factor = sum * Complex{std::cos(turn), std::sin(turn)};
  const double rounding = 16 * unit * (4 + std::abs(line.scale) + tilt + place + std::abs(log) + std::abs(turn) + line.sigma * std::abs(height));
  return {log, factor, 1.01 * error + abs(factor) * rounding, line.size + line.error + aliases(line, place)};
}

// density(ℓ) <= e^(-σℓ) E_Q[e^(σL)] / (√(2π) μ); below 0 it is e^|ℓ| times that at |ℓ|.
double JointDensity::above(double low, double high) const {
  const double nearest = low > 0 ? low : std::max(0.0, -high);
  const double lift = high < 0 ? 1 : 0;
  double best = infinity;
  for (const Line& line : lines_) best = std::min(best, line.top - (line.sigma - lift) * nearest);
  if (low < 0 && high > 0) best = lines_.front().top;  // σ = 1: e^-ℓ on one side, 1 on the other
  return best - std::log(root_two_pi * mu_.value) + 1e-9 * (1 + std::abs(best));
}

double JointDensity::tail(double sigma, double from) const {
  double best = infinity;
  for (const Line& line : lines_) {
    if (line.sigma > sigma) best = std::min(best, line.top - (line.sigma - sigma) * from * (1 - 4 * unit));
  }
  return best + 1e-9 * (1 + std::abs(best));
}

double JointDensity::moment(double sigma) const {
  double sum = 0;
  for (const LossStep& step : steps_) sum += step.count * top_of(step.loss->log_mgf(sigma - 1)->at(0));
  return sum + 16 * unit * static_cast<double>(steps_.size()) * (1 + std::abs(sum));
}

}  // namespace sotto::pld_detail
