// Newton's method for convex objectives, with a proved bound on the remaining gradient norm.
#include "learning/convex/minimum.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "learning/convex/symmetric.hpp"
#include "sotto/core/errors.hpp"

namespace sotto::learning_detail {
namespace {

constexpr std::size_t rows_a_block = 4096;
constexpr long double rounding = std::numeric_limits<long double>::epsilon();
constexpr double a_step = 1.0 / feature_one;

class Objective {
 public:
  Objective(const ConvexProblem& problem, const Examples& examples, std::span<const double> b)
      : problem_(problem),
        examples_(examples),
        b_(b),
        size_(problem.width + 1),
        row_(size_),
        factors_(examples.rows(), 1.0) {
    const double most = problem.norm * problem.norm * 0x1p28 * (1 - 0x1p-50);
    for (std::size_t i = 0; i < examples.rows(); ++i) {
      double square = 0x1p28;  // for the intercept; integers below 2^53
      for (std::size_t j = 0; j < problem.width; ++j)
        square += std::pow(static_cast<double>(examples.row(i)[j]), 2);
      if (square > most) factors_[i] = std::sqrt(most / square) * (1 - 0x1p-40);
    }
  }

  // Computes the gradient. Returns an upper bound on its norm.
  double gradient(std::span<const double> theta, std::vector<double>& gradient) {
    std::vector<long double> sum(size_);
    std::vector<long double> block(size_);
    std::size_t in_block = 0;
    each_row([&](std::size_t i, long double weight) {
      const long double slope = slope_at(theta, i) * weight;
      for (std::size_t j = 0; j < size_; ++j) block[j] += slope * row_[j];
      if (++in_block < rows_a_block) return;
      for (std::size_t j = 0; j < size_; ++j) sum[j] += std::exchange(block[j], 0);
      in_block = 0;
    });
    gradient.resize(size_);
    double norm = 0;
    for (std::size_t j = 0; j < size_; ++j) {
      const long double own = (sum[j] + block[j]) * a_step +
                              static_cast<long double>(problem_.strength) * theta[j] +
                              (b_.empty() ? 0 : b_[j]);
      gradient[j] = static_cast<double>(own);
      norm += gradient[j] * gradient[j];
    }
    return std::sqrt(norm) * (1 + 0x1p-40) + error(theta);
  }

  Symmetric curvature(std::span<const double> theta) {
    Symmetric matrix(size_);
    each_row([&](std::size_t i, long double weight) {
      const double second = curvature_at(theta, i) * static_cast<double>(weight) * a_step * a_step;
      if (second == 0) return;
      for (std::size_t j = 0; j < size_; ++j) {
        if (row_[j] == 0) continue;
        const double left = second * row_[j];
        double* cells = matrix.cells.data() + j * size_;
        for (std::size_t k = 0; k <= j; ++k) cells[k] += left * row_[k];
      }
    });
    return matrix;  // only the lower triangle is set: Factors reads no more
  }
  // Of the whole objective.
  double smoothness() const {
    return static_cast<double>(examples_.units()) * problem_.loss.smoothness() * problem_.norm *
               problem_.norm +
           problem_.strength;
  }

 private:
  template <class Visit>
  void each_row(const Visit& visit) {
    for (std::size_t unit = 0; unit < examples_.units(); ++unit) {
      const std::size_t first = examples_.first(unit);
      const std::size_t end = examples_.first(unit + 1);
      for (std::size_t i = first; i < end; ++i) {
        const std::int16_t* codes = examples_.row(i);
        for (std::size_t j = 0; j + 1 < size_; ++j) row_[j] = codes[j];
        row_[size_ - 1] = feature_one;
        if (factors_[i] != 1) {
          for (double& x : row_) x = std::trunc(factors_[i] * x);
        }
        visit(i, 1 / static_cast<long double>(end - first));
      }
    }
  }
  long double output(std::span<const double> theta) const {
    long double z = 0;
    for (std::size_t j = 0; j < size_; ++j) z += static_cast<long double>(row_[j]) * theta[j];
    return z * a_step;
  }
  long double slope_at(std::span<const double> theta, std::size_t i) const {
    const long double z = output(theta);
    if (problem_.loss.kind == LossKind::huber) {
      const long double bend = problem_.loss.bend;
      return std::clamp(z - static_cast<long double>(examples_.target(i)) * a_step, -bend, bend);
    }
    const long double y = examples_.target(i) > 0 ? 1 : -1;
    return -y / (1 + std::exp(y * z));
  }
  double curvature_at(std::span<const double> theta, std::size_t i) const {
    const auto z = static_cast<double>(output(theta));
    if (problem_.loss.kind == LossKind::huber)
      return std::abs(z - static_cast<double>(examples_.target(i)) * a_step) <= problem_.loss.bend
                 ? 1
                 : 0;
    const double p = 1 / (1 + std::exp(-std::abs(z)));
    return p * (1 - p);
  }
  // Returns an upper bound on the distance between the computed and the exact gradient: twice the
  // sum of rounding errors.
  double error(std::span<const double> theta) const {
    double square = 0;
    for (const double t : theta) square += t * t;
    const double length = std::sqrt(square);
    double noise = 0;
    for (const double b : b_) noise += b * b;
    const auto units = static_cast<double>(examples_.units());
    const auto eps = static_cast<double>(rounding);
    const double output = problem_.norm * length;
    const double slope =
        problem_.loss.smoothness() * static_cast<double>(size_ + 2) * eps * output +
        16 * eps * (1 + output);
    const double blocks =
        static_cast<double>(rows_a_block) +
        static_cast<double>(examples_.rows()) / static_cast<double>(rows_a_block) + 8;
    return 2 * (units * problem_.norm * slope +
                blocks * eps * units * problem_.loss.lipschitz() * problem_.norm +
                4 * eps * (problem_.strength * length + std::sqrt(noise)));
  }

  const ConvexProblem& problem_;
  const Examples& examples_;
  std::span<const double> b_;
  std::size_t size_;
  std::vector<double> row_;
  std::vector<double> factors_;
};

}  // namespace

std::vector<double> minimum(const ConvexProblem& problem, const Examples& examples,
                            std::span<const double> b, double tolerance) {
  if (examples.width() != problem.width) {
    throw InvalidValue("the problem has " + std::to_string(problem.width) +
                       " features, the examples " + std::to_string(examples.width()));
  }
  Objective objective(problem, examples, b);
  std::vector<double> theta(problem.width + 1, 0.0);
  std::vector<double> gradient;
  std::vector<double> next(theta.size());
  std::vector<double> next_gradient;
  double norm = objective.gradient(theta, gradient);
  for (int iteration = 0; iteration < 300; ++iteration) {
    if (norm <= tolerance) return theta;
    const Factors factors(objective.curvature(theta), problem.strength);
    std::vector<double> step = gradient;
    if (factors.positive()) factors.solve(step);
    double reached = norm;
    double length = 1;
    for (; length > 0x1p-12; length /= 2) {
      for (std::size_t j = 0; j < theta.size(); ++j) next[j] = theta[j] - length * step[j];
      reached = objective.gradient(next, next_gradient);
      if (reached <= norm * (1 - length / 8)) break;
    }
    if (length <= 0x1p-12) {  // fall back to the gradient, along which the objective decreases
      for (std::size_t j = 0; j < theta.size(); ++j)
        next[j] = theta[j] - gradient[j] / objective.smoothness();
      reached = objective.gradient(next, next_gradient);
    }
    std::swap(theta, next);
    std::swap(gradient, next_gradient);
    norm = reached;
  }
  throw OutsideConditions(
      "the search for the minimum did not reach the gradient norm of the tolerance, so nothing is "
      "released: use a larger strength or tolerance");
}

}  // namespace sotto::learning_detail
