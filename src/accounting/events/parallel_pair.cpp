// The largest of several profiles, as a pair (docs/theory/accounting.md, "Parts in parallel"). Between losses at which another
// profile becomes the largest its losses are those of the largest one; where it changes, or one has a kink, an atom.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>

#include "accounting/events/dominating_pairs.hpp"
#include "accounting/events/dominating_part.hpp"
#include "accounting/api/composition.hpp"
#include "numerics/api/elementary.hpp"
#include "numerics/api/normal.hpp"
#include "sotto/plan/text.hpp"

namespace sotto::accounting_detail {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double narrow = 0x1p-44;  // cells in which the largest profile changes, relative to the loss

// One part's profile for ε >= 0: h(a) at a = e^ε, and Q(L > ε) = -h'(a).
struct Curve {
  std::function<Real(const Real& epsilon)> delta;
  std::function<Real(const Real& epsilon)> tail;
  std::optional<LossPiece> noise;  // its density, if it has one
  std::optional<Real> end;         // its largest loss, where it has an atom
};

Curve gaussian_curve(const Real& mu) {
  const auto tail = [mu](const Real& epsilon) { return normal_tail(epsilon / mu + mu / 2); };
  const auto delta = [mu, tail](const Real& epsilon) {
    const Real x = epsilon / mu - mu / 2;
    if (x.estimate() < 0) return normal_tail(x) - exp(epsilon) * tail(epsilon);
    return normal_density(x) * (mills_ratio(x) - mills_ratio(x + mu));  // e^ε density(x + μ) = density(x)
  };
  return {delta, tail, LossPiece{LossPiece::Noise::gaussian, mu, 1, 0, infinity}, std::nullopt};
}

// Both vanish, but for the failure, from `end` on; cells that hold it never ask in between.
Curve ending(const Real& end, const Real& failure, std::function<Real(const Real&)> delta, std::function<Real(const Real&)> tail) {
  const auto before = [end](const Real& epsilon) { return epsilon.estimate() < end.estimate(); };
  return {[=](const Real& epsilon) { return before(epsilon) ? either(failure, delta(epsilon)) : failure; },
          [=](const Real& epsilon) { return before(epsilon) ? (1 - failure) * tail(epsilon) : Real(0); }, std::nullopt, end};
}

Curve laplace_curve(const Real& x) {
  Curve curve = ending(
      x, 0, [x](const Real& epsilon) { return -expm1((epsilon - x) / 2); }, [x](const Real& epsilon) { return exp(-(epsilon + x) / 2) / 2; });
  curve.noise = LossPiece{LossPiece::Noise::laplace, x, 1, 0, infinity};
  return curve;
}

Curve canonical_curve(const Real& epsilon0, const Real& failure) {
  const Real q = 1 / (1 + exp(epsilon0));
  return ending(
      epsilon0, failure, [=](const Real& epsilon) { return exp(epsilon) * expm1(epsilon0 - epsilon) * q; }, [q](const Real&) { return q; });
}

Curve curve_of(const Plan& plan, const Plan& part, Real& failure) {
  Real squared_mu = 0;
  std::vector<Curve> others;
  for (const Event& event : events_of(part)) {
    const Base base = event.leaf == nullptr ? NoBase{} : event.leaf->base();
    const auto* canonical = std::get_if<CanonicalBase>(&base);
    if (const auto* gaussian = std::get_if<GaussianBase>(&base)) {
      squared_mu += real(event.count) * gaussian->squared_mu;
    } else if (const auto* laplace = std::get_if<LaplaceBase>(&base); laplace != nullptr && event.count == 1) {
      others.push_back(laplace_curve(max(laplace->max_loss, negligible_loss)));
    } else if (canonical != nullptr && event.count == 1 && canonical->guarantee.epsilon.upper() < 300) {
      failure = max(failure, canonical->guarantee.delta);
      const Real& epsilon = canonical->guarantee.epsilon;
      others.push_back(canonical_curve(epsilon.upper() > 0 ? max(epsilon, negligible_loss) : epsilon, canonical->guarantee.delta));
    } else {
      refuse(plan,
             "has parts none of which plainly dominates the others, and the losses of " + print(event.with_group()) +
                 " have no closed form to compare: use rdp",
             Remedy::method);
    }
  }
  // what is negligible is dominated by what just is not; the pair is not attained in any case
  if (squared_mu.upper() > 0 && others.empty()) return gaussian_curve(max(sqrt_of_nonnegative(squared_mu), negligible_loss));
  if (squared_mu.upper() == 0 && others.size() == 1) return others.front();
  if (others.empty()) return canonical_curve(0, 0);
  refuse(plan,
         "has parts none of which plainly dominates the others, and the loss of " + print(part) +
             ", which runs several steps, has no closed form to compare: use rdp",
         Remedy::method);
}

// The parts that no other one plainly dominates.
std::vector<Plan> without_dominated(const std::vector<Plan>& parts) {
  std::vector<Plan> kept;
  for (const Plan& part : parts) {
    const auto dominates = [&](const Plan& a, const Plan& b) {  // a dominates b
      const auto one = dominating_part(Parallel{{a, b}});
      return one && *one == a;
    };
    if (std::any_of(kept.begin(), kept.end(), [&](const Plan& other) { return dominates(other, part); })) continue;
    kept.erase(std::remove_if(kept.begin(), kept.end(), [&](const Plan& other) { return dominates(part, other); }), kept.end());
    kept.push_back(part);
  }
  return kept;
}

constexpr double most_loss = 100;

// An interval of losses and the curve that is the largest throughout; -1 where that is not known.
struct Cell {
  double low;
  double high;
  int largest;
};

class Largest {
  static constexpr int most_splits = 20'000;

 public:
  explicit Largest(const std::vector<Curve>& curves) : curves_(curves) {}

  // The cells from 0 to `last`. Kinks are in cells of their own.
  std::vector<Cell> cells(double last) {
    std::vector<Real> ends;
    for (const Curve& curve : curves_) {
      if (curve.end && curve.end->upper() > 0) ends.push_back(*curve.end);
    }
    std::sort(ends.begin(), ends.end(), [](const Real& a, const Real& b) { return a.estimate() < b.estimate(); });
    scale_ = std::max(last, 1e-300);
    double from = 0;
    for (const Real& end : ends) {
      const double room = narrow * end.upper() + (end.upper() - end.lower());
      const double low = std::max(from, end.lower() - room);
      if (low > from) split(from, low, 0);
      from = std::max(from, end.upper() + room);
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
  void split(double low, double high, int depth) {
    const int found = certain(low, high);
    if (found >= 0 || high - low <= narrow * std::max(low, 1e-3 * scale_) || depth > 200 || ++splits_ > most_splits) {
      add({low, high, found});
      return;
    }
    const double middle = low + (high - low) / 2;
    split(low, middle, depth + 1);
    split(middle, high, depth + 1);
  }
  // A curve that is the largest from low to high for certain: its tangent at the middle, in a = e^ε, is above the other's chord.
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
        if (j != i) all = certainly_at_most(curves_[j].delta(low), left) && certainly_at_most(curves_[j].delta(high), right);
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

}  // namespace

Proved<DominatingPair> parallel_pair(const Plan& plan, const Parallel& parallel) {
  Real failure = 0;
  std::vector<Curve> curves;
  for (const Plan& part : without_dominated(parallel.parts)) curves.push_back(curve_of(plan, part, failure));
  // Beyond every end only Gaussians are left, and what fails; of the Gaussians the largest μ.
  int gaussian = -1;
  double last = 0;
  double spread = 0;
  for (std::size_t i = 0; i < curves.size(); ++i) {
    if (curves[i].end) {
      last = std::max(last, curves[i].end->upper() * (1 + 4 * narrow));
      continue;
    }
    const double mu = curves[i].noise->parameter.upper();
    if (!std::isfinite(mu)) refuse(plan, "has parts in parallel with losses beyond the largest double: use rdp", Remedy::method);
    if (gaussian < 0 || mu > curves[static_cast<std::size_t>(gaussian)].noise->parameter.upper()) gaussian = static_cast<int>(i);
    spread = std::max(spread, mu);
  }
  if (gaussian >= 0) {
    const Curve& curve = curves[static_cast<std::size_t>(gaussian)];
    last = std::max(last, spread);
    for (int turn = 0; failure.upper() > 0 && turn < 200 && !certainly_less(curve.delta(last), failure); ++turn) last += std::max(spread, 0.1 * last);
  }
  if (!(last <= most_loss)) refuse(plan, "has parts in parallel with losses so large that their profiles are not compared: use rdp", Remedy::method);
  std::vector<Cell> cells = Largest(curves).cells(last);
  const bool endless = gaussian >= 0 && failure.upper() == 0;
  if (endless && (cells.empty() || cells.back().largest != gaussian)) cells.push_back({last, infinity, gaussian});
  if (endless) cells.back().high = infinity;

  const Real share = 1 / (1 - failure);
  const auto tail_at = [&](std::size_t cell, double loss) -> Real {  // of a cell whose largest curve is known
    return share * curves[static_cast<std::size_t>(cells[cell].largest)].tail(loss);
  };
  std::vector<LossPiece> pieces;
  std::vector<Atom> atoms;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const Cell& cell = cells[i];
    if (cell.largest >= 0) {
      if (auto piece = curves[static_cast<std::size_t>(cell.largest)].noise) {
        piece->share = share;
        piece->from = cell.low;
        piece->to = cell.high;
        pieces.push_back(*piece);
      }
      if (i + 1 < cells.size() && cells[i + 1].largest >= 0) {  // both are the largest there
        atoms.push_back({cell.high, max(tail_at(i, cell.high) - tail_at(i + 1, cell.high), 0)});
      }
      continue;
    }
    const Real after = i + 1 < cells.size() ? tail_at(i + 1, cell.high) : Real(0);
    if (i == 0) {  // at 0 itself: some mass, no loss to speak of
      atoms.push_back({cell.high, Real::hull(0, 1)});
      continue;
    }
    if (cell.high - cell.low > 1e-6 * cell.high) {
      refuse(plan, "has parts whose profiles are too close to tell which is the larger: leave one out, or use rdp", Remedy::method);
    }
    atoms.push_back({Real::hull(cell.low, cell.high), max(tail_at(i - 1, cell.low) - after, 0)});
  }
  // At 0: 1 - P(L > 0) - Q(L > 0), and P(L > 0) - Q(L > 0) is the largest δ(0).
  Real most = 0;
  for (const Curve& curve : curves) most = max(most, curve.delta(0));
  Real rest = Real::hull(0, 1);
  if (!cells.empty() && cells.front().largest >= 0) rest = 1 - share * (most - failure) - 2 * tail_at(0, 0);

  return {{.removed = pointwise_maximum_loss(pieces, atoms, rest), .added = nullptr, .failure = failure, .attained = false},
          "parts in parallel: the largest of their profiles is the profile of a pair",
          "Zhu2022",
          {"add-remove", std::to_string(atoms.size()) + " atoms where the largest changes"}};
}

}  // namespace sotto::accounting_detail
