#include "product/laplace_sum.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "sotto/core/work.hpp"
#include "sotto/numerics/gauss_legendre.hpp"

namespace sotto::pld_detail {
namespace {

constexpr std::size_t most_pieces = 512;
constexpr std::size_t most_atoms = 4096;
constexpr int most_degree = 20;

// Left of t, and right of it.
std::vector<double> before(std::vector<double> b, double t) {
  const std::size_t n = b.size();
  for (std::size_t level = 1; level < n; ++level) {
    for (std::size_t i = n - 1; i >= level; --i) b[i] = (1 - t) * b[i - 1] + t * b[i];
  }
  return b;
}
std::vector<double> after(std::vector<double> b, double t) {
  const std::size_t n = b.size();
  for (std::size_t level = 1; level < n; ++level) {
    for (std::size_t i = 0; i + level < n; ++i) b[i] = (1 - t) * b[i] + t * b[i + 1];
  }
  return b;
}

double value_at(std::vector<double> b, double t) { return after(std::move(b), t).front(); }

// The same polynomial, of one degree more.
std::vector<double> raised_degree(const std::vector<double>& b) {
  const auto n = static_cast<double>(b.size());
  std::vector<double> next(b.size() + 1);
  for (std::size_t i = 0; i < next.size(); ++i) {
    const double share = static_cast<double>(i) / n;
    next[i] = (i > 0 ? share * b[i - 1] : 0) + (i < b.size() ? (1 - share) * b[i] : 0);
  }
  return next;
}

// ∫ from the interval's start to t, and from t to its end; the interval has this width.
std::vector<double> integral_to(const std::vector<double>& b, double width) {
  std::vector<double> next(b.size() + 1, 0.0);
  for (std::size_t i = 1; i < next.size(); ++i) next[i] = next[i - 1] + b[i - 1] * width / static_cast<double>(b.size());
  return next;
}
std::vector<double> integral_from(const std::vector<double>& b, double width) {
  std::vector<double> next(b.size() + 1, 0.0);
  for (std::size_t i = b.size(); i-- > 0;) next[i] = next[i + 1] + b[i] * width / static_cast<double>(b.size());
  return next;
}

void add_to(std::vector<double>& sum, double factor, const std::vector<double>& b) {
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += factor * b[i];
}

double mass_of(const LaplaceSum::Piece& piece) { return integral_to(piece.density, piece.to - piece.from).back(); }

std::vector<double> part_of(const LaplaceSum::Piece& piece, double from, double to) {
  const double width = piece.to - piece.from;
  return restricted(piece.density, std::clamp((from - piece.from) / width, 0.0, 1.0), std::clamp((to - piece.from) / width, 0.0, 1.0));
}

// Six points of Gauss and Legendre, exact up to degree 11.
constexpr std::array<double, 3> few_nodes{0.2386191860831969, 0.6612093864662645, 0.9324695142031521};
constexpr std::array<double, 3> few_weights{0.4679139345726910, 0.3607615730481386, 0.1713244923791704};

}  // namespace

std::vector<double> restricted(std::vector<double> b, double from, double to) {
  if (from > 0) b = after(std::move(b), from);
  return to < 1 ? before(std::move(b), (to - from) / (1 - from)) : b;
}

std::optional<LaplaceSum> LaplaceSum::of(std::vector<Step> steps) {
  // the Laplace steps first, the smallest before the others: then no piece is longer than the next step's
  std::sort(steps.begin(), steps.end(),
            [](const Step& a, const Step& b) { return a.laplace != b.laplace ? a.laplace : a.loss.value < b.loss.value; });
  LaplaceSum sum;
  int degree = 0;
  double relative = 0;
  for (const Step& step : steps) {
    const double x = step.loss.value;
    relative = std::max(relative, step.loss.relative);
    for (int n = 0; n < step.count; ++n) {
      if (step.laplace && ++degree > most_degree) return std::nullopt;
      const double atom = step.laplace ? std::exp(-x / 2) / 2 : 1 / (std::exp(x / 2) + std::exp(-x / 2));
      sum.add(x, atom, step.laplace ? std::exp(-x / 2) / 4 : 0);
      if (sum.pieces_.size() > most_pieces || sum.atoms_.size() > most_atoms) return std::nullopt;
    }
  }
  if (!(sum.most_ < 600)) return std::nullopt;
  // merged knots are moved by a few units; what is done to a coefficient adds positive terms
  sum.off_ = sum.most_ * (relative + 1024 * unit);
  sum.error_bound_ = 2 * sum.most_ * relative + unit * (256 + 64.0 * degree * degree + 16 * sum.most_);
  return sum;
}

void LaplaceSum::add(double x, double atom, double uniform) {
  most_ += x;
  spend(1000 + 300 * static_cast<double>(atoms_.size()) + 2000 * static_cast<double>(pieces_.size()) +
        4 * static_cast<double>(pieces_.size()) * static_cast<double>(pieces_.size()));
  const double close = 64 * unit * most_;
  const auto merged = [&](std::vector<double> places) {
    std::sort(places.begin(), places.end());
    std::vector<double> kept;
    for (const double place : places) {
      if (kept.empty() || place > kept.back() + close) kept.push_back(place);
    }
    return kept;
  };
  std::vector<double> knots;
  for (const Piece& piece : pieces_) {
    for (const double place : {piece.from - x, piece.to - x, piece.from + x, piece.to + x}) knots.push_back(place);
  }
  for (const Atom& one : atoms_) {
    if (uniform > 0) knots.insert(knots.end(), {one.loss - x, one.loss + x});
  }
  knots = merged(std::move(knots));
  const std::size_t before_count = pieces_.empty() ? 0 : pieces_.front().density.size();
  const std::size_t count = uniform > 0 ? before_count + 1 : before_count;
  const auto piece_at = [&](double loss) -> const Piece* {
    for (const Piece& piece : pieces_) {
      if (loss > piece.from && loss < piece.to) return &piece;
    }
    return nullptr;
  };
  std::vector<Piece> next;
  for (std::size_t i = 1; i < knots.size(); ++i) {
    const double a = knots[i - 1];
    const double b = knots[i];
    const double middle = a + (b - a) / 2;
    const Piece* left = piece_at(middle - x);
    const Piece* right = piece_at(middle + x);
    std::vector<double> sum(count, 0.0);
    const auto take = [&](double factor, std::vector<double> part) {
      while (part.size() < count) part = raised_degree(part);
      add_to(sum, factor, part);
    };
    if (left != nullptr) take(atom, part_of(*left, a - x, b - x));
    if (right != nullptr) take(atom, part_of(*right, a + x, b + x));
    if (uniform > 0) {
      double whole = 0;  // what lies between for every loss of the interval
      for (const Atom& one : atoms_) whole += one.loss > middle - x && one.loss < middle + x ? one.weight : 0;
      for (const Piece& piece : pieces_) {
        if (&piece != left && &piece != right && piece.from >= middle - x && piece.to <= middle + x) whole += mass_of(piece);
      }
      const auto partly = [](const Piece& piece, double from, double to) { return to > from ? mass_of({from, to, part_of(piece, from, to)}) : 0.0; };
      if (left != nullptr && left == right) {
        whole += partly(*left, b - x, a + x);
      } else {
        if (left != nullptr) whole += partly(*left, b - x, left->to);
        if (right != nullptr) whole += partly(*right, right->from, a + x);
      }
      if (left != nullptr) take(uniform, integral_from(part_of(*left, a - x, b - x), b - a));
      if (right != nullptr) take(uniform, integral_to(part_of(*right, a + x, b + x), b - a));
      for (double& one : sum) one += uniform * whole;
    }
    next.push_back({a, b, std::move(sum)});
  }
  std::vector<Atom> atoms;
  for (const Atom& one : atoms_) {
    atoms.push_back({one.loss - x, one.weight * atom});
    atoms.push_back({one.loss + x, one.weight * atom});
  }
  std::sort(atoms.begin(), atoms.end(), [](const Atom& one, const Atom& other) { return one.loss < other.loss; });
  atoms_.clear();
  for (const Atom& one : atoms) {
    if (!atoms_.empty() && one.loss <= atoms_.back().loss + close) {
      atoms_.back().weight += one.weight;
    } else {
      atoms_.push_back(one);
    }
  }
  pieces_ = std::move(next);
}

// On a cell of width w the exponential is a polynomial of degree k about its middle but for 2 (w/4)^(k+1)/(k+1)! of itself, and the rule is exact for
// what is left.
LossDistribution::Mass LaplaceSum::between(double from, double to, int sign) const {
  const double middle = std::clamp(from + (to - from) / 2, -most_, most_);
  double sum = 0;
  for (const Piece& piece : pieces_) {
    const double low = std::max(from, piece.from);
    const double high = std::min(to, piece.to);
    if (!(high > low)) continue;
    const double width = piece.to - piece.from;
    const bool few = high - low <= 0.02 && piece.density.size() <= 6;
    const double cells = few ? 1 : std::ceil(high - low);
    for (double n = 0; n < cells; ++n) {
      const double half = (high - low) / cells / 2;
      const double centre = low + (2 * n + 1) * half;
      const auto at = [&](double node) {
        const double loss = centre + half * node;
        return value_at(piece.density, std::clamp((loss - piece.from) / width, 0.0, 1.0)) * std::exp(sign * (loss - middle) / 2);
      };
      double part = 0;
      if (few) {
        for (std::size_t i = 0; i < few_nodes.size(); ++i) part += few_weights[i] * (at(-few_nodes[i]) + at(few_nodes[i]));
      } else {
        const GaussLegendre& rule = gauss_legendre();
        for (std::size_t i = 0; i < gauss_points; ++i) part += rule.weight[i] * at(rule.node[i]);
      }
      sum += part * half;
    }
  }
  return {sum, error_bound_ + 64 * unit * (1 + most_), sign * middle / 2};
}

namespace {

class LaplaceSumDistribution : public LossDistribution {
 public:
  explicit LaplaceSumDistribution(std::shared_ptr<const LaplaceSum> sum) : sum_(std::move(sum)) {}
  Edge edge(double loss) const override { return {loss, std::clamp(loss, -sum_->most(), sum_->most()), 1}; }
  double off(double /*loss*/) const override { return sum_->off(); }
  Mass mass_q(const Edge& from, const Edge& to) const override { return sum_->between(from.place, to.place, -1); }
  Mass mass_p(const Edge& from, const Edge& to) const override { return sum_->between(from.place, to.place, 1); }
  // -1/2 and the polynomial's own, within a piece.
  Slopes slopes(const Edge& from, const Edge& to) const override {
    for (const LaplaceSum::Piece& piece : sum_->pieces()) {
      const double error_bound = 4 * sum_->off();
      if (!(from.place >= piece.from + error_bound && to.place <= piece.to - error_bound)) continue;
      const double width = piece.to - piece.from;
      const double low = (from.place - piece.from) / width;
      const double high = std::max(low, (to.place - piece.from) / width);
      const std::size_t degree = piece.density.size() - 1;
      if (degree == 0) return {-0.5, -0.5};
      std::vector<double> change(degree);
      for (std::size_t i = 0; i < degree; ++i) change[i] = static_cast<double>(degree) * (piece.density[i + 1] - piece.density[i]) / width;
      const auto part = restricted(piece.density, low, high);
      const auto slope = restricted(change, low, high);
      const auto [least, most] = std::minmax_element(slope.begin(), slope.end());
      const auto [thin, thick] = std::minmax_element(part.begin(), part.end());
      if (!(*thin > 0)) break;
      const double size = 1e-9 * (1 + std::max(std::abs(*least), std::abs(*most)) / *thin);
      return {*least / (*least < 0 ? *thin : *thick) - 0.5 - size, *most / (*most > 0 ? *thin : *thick) - 0.5 + size};
    }
    return {-infinity, infinity};
  }
  std::vector<PointMass> atoms() const override {
    std::vector<PointMass> places;
    for (const LaplaceSum::Atom& atom : sum_->atoms()) places.push_back({atom.loss, sum_->off(), atom.weight, sum_->error_bound(), -atom.loss / 2});
    return places;
  }
  double least() const override { return -sum_->most(); }
  double most() const override { return sum_->most(); }

 private:
  std::shared_ptr<const LaplaceSum> sum_;
};

}  // namespace

DistributionPtr laplace_sum_distribution(std::shared_ptr<const LaplaceSum> sum) { return std::make_shared<LaplaceSumDistribution>(std::move(sum)); }

}  // namespace sotto::pld_detail
