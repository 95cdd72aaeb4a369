// The dominating pair of parts in parallel: the pair whose profile is the pointwise maximum of the
// parts' profiles (docs/theory/accounting.md, "Parts in parallel"). Where one profile is the
// largest, the pair has the losses of that profile. Where the largest profile changes, or has a
// kink, the pair has an atom.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>

#include "accounting/api/composition.hpp"
#include "accounting/events/dominating_pairs.hpp"
#include "accounting/events/dominating_part.hpp"
#include "numerics/api/elementary.hpp"
#include "numerics/api/normal.hpp"
#include "sotto/plan/text.hpp"

namespace sotto::accounting_detail {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double narrow =
    0x1p-44;  // width of a cell in which the largest profile changes, relative to the loss

// The profile of one part for ε >= 0: the hockey-stick divergence h(a) at a = e^ε, and Q(L > ε) =
// -h'(a).
struct Curve {
  std::function<Real(const Real& epsilon)> delta;
  std::function<Real(const Real& epsilon)> tail;
  std::optional<LossPiece> noise;  // the density of the loss, if it has one
  std::optional<Real> end;         // the largest loss, which is an atom; empty for a Gaussian
};

Curve gaussian_curve(const Real& mu) {
  const auto tail = [mu](const Real& epsilon) { return normal_tail(epsilon / mu + mu / 2); };
  const auto delta = [mu, tail](const Real& epsilon) {
    const Real x = epsilon / mu - mu / 2;
    if (x.estimate() < 0) return normal_tail(x) - exp(epsilon) * tail(epsilon);
    return normal_density(x) *
           (mills_ratio(x) - mills_ratio(x + mu));  // e^ε density(x + μ) = density(x)
  };
  return {delta, tail, LossPiece{LossPiece::Noise::gaussian, mu, 1, 0, infinity}, std::nullopt};
}

// A curve with a largest loss `end`: from there on δ is the failure probability, and the tail is 0.
// Callers never evaluate it inside the ball of `end`.
Curve ending(const Real& end, const Real& failure, std::function<Real(const Real&)> delta,
             std::function<Real(const Real&)> tail) {
  const auto before = [end](const Real& epsilon) { return epsilon.estimate() < end.estimate(); };
  return {[=](const Real& epsilon) {
            return before(epsilon) ? either_failure(failure, delta(epsilon)) : failure;
          },
          [=](const Real& epsilon) {
            return before(epsilon) ? (1 - failure) * tail(epsilon) : Real(0);
          },
          std::nullopt, end};
}

Curve laplace_curve(const Real& x) {
  Curve curve = ending(
      x, 0, [x](const Real& epsilon) { return -expm1((epsilon - x) / 2); },
      [x](const Real& epsilon) { return exp(-(epsilon + x) / 2) / 2; });
  curve.noise = LossPiece{LossPiece::Noise::laplace, x, 1, 0, infinity};
  return curve;
}

Curve canonical_curve(const Real& epsilon0, const Real& failure) {
  const Real q = 1 / (1 + exp(epsilon0));
  return ending(
      epsilon0, failure,
      [=](const Real& epsilon) { return exp(epsilon) * expm1(epsilon0 - epsilon) * q; },
      [q](const Real&) { return q; });
}

// The curve of a part. Raises `failure` to the part's failure probability. Throws OutsideConditions
// if the profile has no closed form.
Curve curve_of(const Plan& plan, const Plan& part, Real& failure) {
  Real squared_mu = 0;
  std::vector<Curve> others;
  for (const Event& event : events_of(part)) {
    const Base base = event.leaf == nullptr ? NoBase{} : event.leaf->base();
    const auto* canonical = std::get_if<CanonicalBase>(&base);
    if (const auto* gaussian = std::get_if<GaussianBase>(&base)) {
      squared_mu += real(event.count) * gaussian->squared_mu;
    } else if (const auto* laplace = std::get_if<LaplaceBase>(&base);
               laplace != nullptr && event.count == 1) {
      others.push_back(laplace_curve(max(laplace->max_loss, negligible_loss)));
    } else if (canonical != nullptr && event.count == 1 &&
               canonical->guarantee.epsilon.upper() < 300) {
      failure = max(failure, canonical->guarantee.delta);
      const Real& epsilon = canonical->guarantee.epsilon;
      others.push_back(
          canonical_curve(epsilon.upper() > 0 ? max(epsilon, negligible_loss) : epsilon,
                          canonical->guarantee.delta));
    } else {
      refuse(plan,
             "has parts none of which clearly dominates the others, and the losses of " +
                 print(event.with_group()) + " have no closed form to compare: use rdp",
             Remedy::method);
    }
  }
  // A negligible loss is rounded up: this pair is never claimed to be attained.
  if (squared_mu.upper() > 0 && others.empty())
    return gaussian_curve(max(sqrt_of_nonnegative(squared_mu), negligible_loss));
  if (squared_mu.upper() == 0 && others.size() == 1) return others.front();
  if (others.empty()) return canonical_curve(0, 0);
  refuse(plan,
         "has parts none of which clearly dominates the others, and the loss of " + print(part) +
             ", which runs several steps, has no closed form to compare: use rdp",
         Remedy::method);
}

// The parts that no other part dominates by its parameters.
std::vector<Plan> without_dominated(const std::vector<Plan>& parts) {
  std::vector<Plan> result;
  for (const Plan& part : parts) {
    const auto dominates = [&](const Plan& a, const Plan& b) {  // whether a dominates b
      const auto one = dominating_part(Parallel{{a, b}});
      return one && *one == a;
    };
    if (std::any_of(result.begin(), result.end(),
                    [&](const Plan& other) { return dominates(other, part); }))
      continue;
    result.erase(std::remove_if(result.begin(), result.end(),
                                [&](const Plan& other) { return dominates(part, other); }),
                 result.end());
    result.push_back(part);
  }
  return result;
}

constexpr double most_loss = 100;  // the largest loss up to which curves are compared

// An interval of losses, and the curve that is the largest in all of it; -1 if that is not known.
struct Cell {
  double low;
  double high;
  int largest;
};

// Splits the losses into cells with a certain largest curve.
class PointwiseMaximum {
  static constexpr int most_splits = 20'000;

 public:
  explicit PointwiseMaximum(const std::vector<Curve>& curves) : curves_(curves) {}

  // Returns the cells from 0 to `last`. Each kink has a separate cell.
  std::vector<Cell> cells(double last) {
    std::vector<Real> ends;
    for (const Curve& curve : curves_) {
      if (curve.end && curve.end->upper() > 0) ends.push_back(*curve.end);
    }
    std::sort(ends.begin(), ends.end(),
              [](const Real& a, const Real& b) { return a.estimate() < b.estimate(); });
    scale_ = std::max(last, 1e-300);
    double from = 0;
    for (const Real& end : ends) {
      const double margin = narrow * end.upper() + (end.upper() - end.lower());
      const double low = std::max(from, end.lower() - margin);
      if (low > from) split(from, low, 0);
      from = std::max(from, end.upper() + margin);
      add({low, from, -1});
    }
    if (last > from) split(from, last, 0);
    return cells_;
  }

 private:
  void add(Cell cell) {
    if (cell.high <= cell.low) return;
    if (!cells_.empty() && cells_.back().largest == cell.largest) {
      cells_.back().high = cell.high;
    } else {
      cells_.push_back(cell);
    }
  }
  // Bisects until one curve is certainly the largest, or the cell is narrow.
  void split(double low, double high, int depth) {
    const int largest = certain(low, high);
    if (largest >= 0 || high - low <= narrow * std::max(low, 1e-3 * scale_) || depth > 200 ||
        ++splits_ > most_splits) {
      add({low, high, largest});
      return;
    }
    const double middle = low + (high - low) / 2;
    split(low, middle, depth + 1);
    split(middle, high, depth + 1);
  }
  // Returns the curve that is certainly the largest from low to high, or -1. Proof: as functions of
  // a = e^ε, the tangent of this curve at the middle lies above the chords of all others.
  [[nodiscard]] int certain(double low, double high) const {
    const Real a = exp(Real(low));
    const Real b = exp(Real(high));
    const double middle = low + (high - low) / 2;
    const Real m = exp(Real(middle));
    for (std::size_t i = 0; i < curves_.size(); ++i) {
      const Real at = curves_[i].delta(middle);
      const Real slope = curves_[i].tail(middle);
      const Real left = max(at + slope * (m - a), 0);
      const Real right = max(at - slope * (b - m), 0);
      bool all = true;
      for (std::size_t j = 0; j < curves_.size() && all; ++j) {
        if (j != i)
          all = certainly_at_most(curves_[j].delta(low), left) &&
                certainly_at_most(curves_[j].delta(high), right);
      }
      if (all) return static_cast<int>(i);
    }
    return -1;
  }

  const std::vector<Curve>& curves_;
  std::vector<Cell> cells_;
  double scale_ = 1;
  int splits_ = 0;
};

// The range of losses in which the curves are compared.
struct LossRange {
  double last = 0;    // beyond it the largest curve is known
  int gaussian = -1;  // the Gaussian curve with the largest μ, which is the largest one beyond
                      // `last`; -1 if there is none
};

// Beyond the largest losses of all other curves only Gaussians and failures remain.
LossRange loss_range(const Plan& plan, const std::vector<Curve>& curves, const Real& failure) {
  LossRange range;
  double largest_mu = 0;
  for (std::size_t i = 0; i < curves.size(); ++i) {
    if (curves[i].end) {
      range.last = std::max(range.last, curves[i].end->upper() * (1 + 4 * narrow));
      continue;
    }
    const double mu = curves[i].noise->parameter.upper();
    if (!std::isfinite(mu))
      refuse(plan, "has parts in parallel with losses beyond the largest double: use rdp",
             Remedy::method);
    if (range.gaussian < 0 ||
        mu > curves[static_cast<std::size_t>(range.gaussian)].noise->parameter.upper())
      range.gaussian = static_cast<int>(i);
    largest_mu = std::max(largest_mu, mu);
  }
  if (range.gaussian >= 0) {
    // Extend the range until the Gaussian's δ falls below the failure probability.
    const Curve& curve = curves[static_cast<std::size_t>(range.gaussian)];
    range.last = std::max(range.last, largest_mu);
    for (int turn = 0;
         failure.upper() > 0 && turn < 200 && !certainly_less(curve.delta(range.last), failure);
         ++turn)
      range.last += std::max(largest_mu, 0.1 * range.last);
  }
  if (!(range.last <= most_loss))
    refuse(
        plan,
        "has parts in parallel with losses so large that their profiles are not compared: use rdp",
        Remedy::method);
  return range;
}

// The pointwise maximum of the curves as a pair: pieces of the densities of the largest curves, and
// atoms where the largest curve changes or has a kink.
class MaximumPair {
 public:
  MaximumPair(const Plan& plan, const std::vector<Curve>& curves, const std::vector<Cell>& cells,
              const Real& failure)
      : curves_(curves), cells_(cells), share_(1 / (1 - failure)) {
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (cells[i].largest >= 0) {
        add_piece(i);
      } else {
        add_atom(plan, i);
      }
    }
    // The mass at loss 0 is 1 - P(L > 0) - Q(L > 0), and P(L > 0) - Q(L > 0) is the largest δ(0).
    Real most = 0;
    for (const Curve& curve : curves) most = max(most, curve.delta(0));
    if (!cells.empty() && cells.front().largest >= 0)
      rest_ = 1 - share_ * (most - failure) - 2 * tail_at(0, 0);
  }

  [[nodiscard]] PrivacyLossPtr loss() const {
    return pointwise_maximum_loss(pieces_, atoms_, rest_);
  }
  [[nodiscard]] std::size_t atoms() const { return atoms_.size(); }

 private:
  // Q(L > loss) by the largest curve of a cell, if no failure happens.
  [[nodiscard]] Real tail_at(std::size_t cell, double loss) const {
    return share_ * curves_[static_cast<std::size_t>(cells_[cell].largest)].tail(loss);
  }

  // Adds the density of a cell with a known largest curve and, if another curve is the largest in
  // the next cell, an atom at the upper end.
  void add_piece(std::size_t i) {
    const Cell& cell = cells_[i];
    if (auto piece = curves_[static_cast<std::size_t>(cell.largest)].noise) {
      piece->share = share_;
      piece->from = cell.low;
      piece->to = cell.high;
      pieces_.push_back(*piece);
    }
    if (i + 1 < cells_.size() && cells_[i + 1].largest >= 0)
      atoms_.push_back({cell.high, max(tail_at(i, cell.high) - tail_at(i + 1, cell.high), 0)});
  }

  // A narrow cell in which the largest curve changes or has a kink: an atom with the cell's mass.
  void add_atom(const Plan& plan, std::size_t i) {
    const Cell& cell = cells_[i];
    const Real after = i + 1 < cells_.size() ? tail_at(i + 1, cell.high) : Real(0);
    if (i == 0) {  // at loss 0: the mass is unknown, and the loss is negligible
      atoms_.push_back({cell.high, Real::hull(0, 1)});
      return;
    }
    if (cell.high - cell.low > 1e-6 * cell.high) {
      refuse(plan,
             "has parts whose profiles are too close to tell which is the larger: leave one out, "
             "or use rdp",
             Remedy::method);
    }
    atoms_.push_back({Real::hull(cell.low, cell.high), max(tail_at(i - 1, cell.low) - after, 0)});
  }

  const std::vector<Curve>& curves_;
  const std::vector<Cell>& cells_;
  Real share_;  // a Q-mass of the pair, per Q-mass of a curve, since the curves include the failure
  std::vector<LossPiece> pieces_;
  std::vector<Atom> atoms_;
  Real rest_ = Real::hull(0, 1);  // the mass at loss 0
};

}  // namespace

Proved<DominatingPair> parallel_pair(const Plan& plan, const Parallel& parallel) {
  Real failure = 0;
  std::vector<Curve> curves;
  for (const Plan& part : without_dominated(parallel.parts))
    curves.push_back(curve_of(plan, part, failure));
  const LossRange range = loss_range(plan, curves, failure);

  // Split the losses into cells with one largest curve each. Without failures a Gaussian is the
  // largest curve up to infinity.
  std::vector<Cell> cells = PointwiseMaximum(curves).cells(range.last);
  const bool endless = range.gaussian >= 0 && failure.upper() == 0;
  if (endless && (cells.empty() || cells.back().largest != range.gaussian))
    cells.push_back({range.last, infinity, range.gaussian});
  if (endless) cells.back().high = infinity;

  const MaximumPair pair(plan, curves, cells, failure);
  return {{.removed = pair.loss(), .added = nullptr, .failure = failure, .attained = false},
          "parts in parallel: the largest of their profiles is the profile of a pair",
          "Zhu2022",
          {"add-remove", std::to_string(pair.atoms()) + " atoms where the largest changes"}};
}

}  // namespace sotto::accounting_detail
