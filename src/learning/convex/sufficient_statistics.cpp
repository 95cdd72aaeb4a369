// Sufficient statistics of linear regression: exact sums with noise, and the line that is fitted
// from them.
#include "sotto/learning/sufficient_statistics.hpp"

#include <algorithm>
#include <cmath>

#include "learning/convex/moments.hpp"
#include "learning/convex/symmetric.hpp"
#include "mechanisms/api/noisy_sum.hpp"
#include "numerics/api/elementary.hpp"
#include "numerics/api/normal.hpp"
#include "sotto/core/errors.hpp"

namespace sotto {
namespace {

using learning_detail::Spectrum;
using learning_detail::Symmetric;

constexpr std::size_t widest = 1000;

void require_sound(const SufficientStatistics& s) {
  if (s.width < 1 || s.width > widest)
    throw InvalidValue("sufficient statistics are for 1 to " + std::to_string(widest) +
                       " features");
  if (!(s.norm >= 0x1p-10 && s.norm <= 0x1p20))
    throw InvalidValue("the norm of rows must be between 2^-10 and 2^20");
  if (s.rows_a_unit < 1 || s.rows_a_unit > 1'000'000)
    throw InvalidValue("rows_a_unit must be between 1 and a million");
  if (!(s.noise >= 0 && s.noise <= 0x1p20))
    throw InvalidValue("noise must be between 0 and 2^20 sensitivities");
}

// Returns the noise on each of the sums.
GaussianNoise noise_on(const SufficientStatistics& s) { return {s.noise, sensitivity_of(s)}; }

std::size_t place(std::size_t size, std::size_t i, std::size_t j) {
  return i * size - i * (i + 1) / 2 + j;
}  // i <= j

// Adds up Σ vvᵀ in whole numbers of 2^-28.
class Moments {
 public:
  Moments(const Examples& examples, const SufficientStatistics& s)
      : examples_(examples),
        most_(s.norm * s.norm * 0x1p28 * (1 - 0x1p-50)),
        rows_a_unit_(static_cast<double>(s.rows_a_unit)),
        size_(s.width + 2),
        row_(size_),
        part_(size_ * size_),
        whole_(size_ * (size_ + 1) / 2) {}

  void add_unit(std::size_t unit) {
    const std::size_t first = examples_.first(unit);
    const std::size_t end = examples_.first(unit + 1);
    double trace = 0;  // of the unit's matrix, exact: a whole number below 2^53
    for (std::size_t i = first; i < end; ++i) {
      read(i);
      for (const double v : row_) trace += v * v;
    }
    // The factor makes Σ (factor · row)² at most norm² over the unit's rows, and at most
    // rows_a_unit in each coordinate. Rounding toward zero makes no entry larger.
    double square = 1;
    if (trace > most_) square = most_ / trace;
    const auto rows = static_cast<double>(end - first);
    if (rows > rows_a_unit_) square = std::min(square, rows_a_unit_ / rows);
    const double factor = square == 1 ? 1 : std::sqrt(square) * (1 - 0x1p-40);
    for (std::size_t i = first; i < end; ++i) {
      read(i);
      if (factor != 1) {
        for (double& v : row_) v = std::trunc(factor * v);
      }
      add_row();
    }
  }

  std::vector<std::int64_t> totals() {
    fold();
    return whole_;
  }

 private:
  void read(std::size_t i) {
    const std::int16_t* codes = examples_.row(i);
    std::copy(codes, codes + size_ - 2, row_.begin());
    row_[size_ - 2] = feature_one;
    row_[size_ - 1] = examples_.target(i);
  }
  void add_row() {
    const double* row = row_.data();
    for (std::size_t i = 0; i < size_; ++i) {
      if (row[i] == 0) continue;
      double* sums = part_.data() + i * size_;
      for (std::size_t j = i; j < size_; ++j) sums[j] += row[i] * row[j];
    }
    if (++added_ == (std::size_t{1} << 24U)) fold();  // 2^24 products of at most 2^28
  }
  void fold() {
    for (std::size_t i = 0; i < size_; ++i) {
      for (std::size_t j = i; j < size_; ++j)
        whole_[place(size_, i, j)] += static_cast<std::int64_t>(part_[i * size_ + j]);
    }
    std::fill(part_.begin(), part_.end(), 0.0);
    added_ = 0;
  }

  const Examples& examples_;
  double most_, rows_a_unit_;
  std::size_t size_;
  std::vector<double> row_, part_;
  std::vector<std::int64_t> whole_;
  std::size_t added_ = 0;
};

// Returns the variance of uᵀNv, where N is symmetric and the entries of its upper triangle are
// independent with variance 1.
double variance_of_form(std::span<const double> u, std::span<const double> v) {
  double uu = 0;
  double vv = 0;
  double uv = 0;
  double both = 0;
  for (std::size_t i = 0; i < u.size(); ++i) {
    uu += u[i] * u[i];
    vv += v[i] * v[i];
    uv += u[i] * v[i];
    both += u[i] * u[i] * v[i] * v[i];
  }
  return uu * vv + uv * uv - both;
}

double dot_of(std::span<const double> u, std::span<const double> v) {
  double sum = 0;
  for (std::size_t i = 0; i < u.size(); ++i) sum += u[i] * v[i];
  return sum;
}

}  // namespace

std::vector<std::int64_t> learning_detail::exact_moments(const Examples& examples,
                                                         const SufficientStatistics& s) {
  require_sound(s);
  if (examples.width() != s.width) {
    throw InvalidValue("the statistics are of " + std::to_string(s.width) +
                       " features, the examples have " + std::to_string(examples.width()));
  }
  if (examples.rows() >= (std::size_t{1} << 34U))
    throw InvalidValue("at most 2^34 rows can be summed");
  Moments moments(examples, s);
  for (std::size_t unit = 0; unit < examples.units(); ++unit) moments.add_unit(unit);
  return moments.totals();
}

double sensitivity_of(const SufficientStatistics& s) {
  require_sound(s);
  const Real square = Real(s.norm) * Real(s.norm);
  const Real diagonal = min(square, Real(static_cast<double>(s.rows_a_unit)));
  const Real of_one = square * (square + diagonal) / Real(2);
  return sqrt(s.relation == Relation::replace_one ? Real(2) * of_one : of_one).upper();
}

Plan plan_of(const SufficientStatistics& s) {
  require_sound(s);
  if (s.noise == 0)
    throw OutsideConditions(
        "sufficient statistics without noise are not private: they have no finite cost");
  return noise_on(s).event();
}

Plan plan_to_calibrate(const SufficientStatistics& s) {
  require_sound(s);
  return gaussian(hole);
}

double NoisyMoments::at(std::size_t i, std::size_t j) const {
  return upper[place(width + 2, std::min(i, j), std::max(i, j))];
}

NoisyMoments release(const Examples& examples, const SufficientStatistics& s) {
  (void)plan_of(s);
  // the totals are sums of products of two features
  const NoisySum noise(noise_on(s), {-2 * feature_bits});
  NoisyMoments released{.width = s.width, .upper = {}, .deviation = noise.scale()};
  for (const std::int64_t total : learning_detail::exact_moments(examples, s))
    released.upper.push_back(noise.release(0, total));
  return released;
}

LinearFit fit(const NoisyMoments& moments, double confidence) {
  if (!(confidence > 0 && confidence < 1)) throw InvalidValue("confidence must be between 0 and 1");
  const std::size_t size = moments.width + 1;
  if (moments.upper.size() != (size + 1) * (size + 2) / 2)
    throw InvalidValue("the moments are of another width");
  Symmetric matrix(size);
  for (std::size_t i = 0; i < size; ++i) {
    for (std::size_t j = 0; j < size; ++j) matrix.at(i, j) = moments.at(i, j);
  }
  // The noise on Xᵀy is seldom longer than `floor`. Where eigenvalues are below it, this noise
  // moves the coefficients by at most 1 in all those directions together.
  const double floor = moments.deviation * (std::sqrt(static_cast<double>(size)) + 2);
  const Spectrum spectrum = learning_detail::spectrum_of(matrix);
  std::vector<double> lifted(size);
  LinearFit result;
  for (std::size_t k = 0; k < size; ++k) {
    lifted[k] = std::max(spectrum.values[k], floor);
    result.lift = std::max(result.lift, lifted[k] - spectrum.values[k]);
  }
  // returns Σ_k f(k) u_k u_kᵀ, u_k the eigenvectors
  const auto composed = [&](const std::vector<double>& f) {
    Symmetric sum(size);
    for (std::size_t k = 0; k < size; ++k) {
      if (f[k] == 0) continue;
      for (std::size_t i = 0; i < size; ++i) {
        for (std::size_t j = 0; j < size; ++j)
          sum.at(i, j) += f[k] * spectrum.vectors.at(i, k) * spectrum.vectors.at(j, k);
      }
    }
    return sum;
  };
  std::vector<double> inverted(size);
  std::vector<double> added(size);
  std::vector<double> sampled(size);
  for (std::size_t k = 0; k < size; ++k) {
    inverted[k] = 1 / lifted[k];
    added[k] = lifted[k] - spectrum.values[k];
    sampled[k] = std::max(0.0, spectrum.values[k]) / lifted[k] / lifted[k];
  }
  const Symmetric inverse = composed(inverted);
  const Symmetric sampling = composed(sampled);
  result.penalty = composed(added).cells;
  std::vector<double>& theta = result.parameters;
  for (std::size_t i = 0; i < size; ++i) {
    theta.push_back(0);
    for (std::size_t j = 0; j < size; ++j) theta[i] += inverse.at(i, j) * moments.at(j, size);
  }

  // The squared residual is vᵀSv with v = (-θ, 1). The intervals below take it two standard
  // deviations of its noise larger.
  std::vector<double> v = theta;
  for (double& x : v) x = -x;
  v.push_back(1);
  double squares = 0;
  for (std::size_t i = 0; i <= size; ++i) {
    for (std::size_t j = 0; j <= size; ++j) squares += v[i] * v[j] * moments.at(i, j);
  }
  const double rows = std::max(1.0, moments.at(size - 1, size - 1) - static_cast<double>(size));
  result.residual = std::sqrt(std::max(0.0, squares) / rows);
  const double variance =
      (std::max(0.0, squares) + 2 * moments.deviation * std::sqrt(variance_of_form(v, v))) / rows;

  const double z = normal_quantile(0.5 + confidence / 2, Side::upper);
  for (std::size_t i = 0; i < size; ++i) {
    const std::span<const double> row =
        std::span<const double>(inverse.cells).subspan(i * size, size);
    const double noise =
        moments.deviation * std::sqrt(variance_of_form(row, theta) + dot_of(row, row));
    const double both = std::sqrt(noise * noise + variance * sampling.at(i, i));
    result.coefficients.push_back({theta[i],
                                   {theta[i] - z * noise, theta[i] + z * noise},
                                   {theta[i] - z * both, theta[i] + z * both}});
  }
  return result;
}

}  // namespace sotto
