// The search for the least μ whose Gaussian profile with slack lies above a profile that is known
// at nodes. The search uses doubles; is_cover() certifies its result.
#include "accounting/methods/gaussian_cover.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/api/work.hpp"
#include "numerics/api/elementary.hpp"
#include "numerics/api/normal.hpp"

namespace sotto {
namespace {

using accounting_detail::ProfileNode;

constexpr double infinity = std::numeric_limits<double>::infinity();

// --- Estimates in doubles, for the search only ---

double tail(double x) { return 0.5 * std::erfc(x / std::sqrt(2.0)); }
double density(double x) { return std::exp(-x * x / 2) / 2.5066282746310002; }
// The Mills ratio P(N > x)/density(x) for x >= 0, by a continued fraction where both would
// underflow.
double mills(double x) {
  if (x < 8) return tail(x) / density(x);
  double fraction = x;
  for (int n = 30; n >= 1; --n) fraction = x + n / fraction;
  return 1 / fraction;
}

// The Gaussian profile δ_μ(ε).
double estimated_delta(double epsilon, double mu) {
  const double x = epsilon / mu - mu / 2;
  return x < 0 ? tail(x) - density(x) * mills(x + mu) : density(x) * (mills(x) - mills(x + mu));
}

// Solves δ_μ(ε) = delta for μ.
double mu_for(double epsilon, double delta) {
  if (!(delta > 0)) return 0;
  if (!(delta < 1)) return infinity;
  double low = 0;
  double high = 1;
  while (estimated_delta(epsilon, high) < delta) {
    low = high;
    high *= 2;
    if (high > 1e6) return infinity;
  }
  while (low == 0 && high > 1e-12 && estimated_delta(epsilon, high / 2) > delta) high /= 2;
  if (low == 0) low = high / 2;
  double mu = low + (high - low) / 2;
  for (int turn = 0; turn < 60 && high - low > 1e-15 * high;
       ++turn) {  // Newton's method on log δ, within the bracket [low, high]
    const double here = estimated_delta(epsilon, mu);
    (here < delta ? low : high) = mu;
    const double slope = density(epsilon / mu - mu / 2);  // dδ/dμ
    double next = here > 0 && slope > 0 ? mu - here * std::log(here / delta) / slope : low;
    if (!(next > low && next < high)) next = low + (high - low) / 2;
    if (std::abs(next - mu) < 1e-14 * mu) break;
    mu = next;
  }
  return mu;
}

// --- The right side of the inequality: d + (1-d) δ_μ, and its slope in e^ε times e^ε ---

struct RightSide {
  double mu, slack;

  [[nodiscard]] double estimate(double epsilon) const {
    return slack + (1 - slack) * estimated_delta(epsilon, mu);
  }
  // An estimate of the slope's size, times e^from: -dδ_μ/da at a = e^ε is Φ(-y) with y = ε/μ + μ/2.
  [[nodiscard]] double estimated_fall(double epsilon, double from) const {
    const double y = epsilon / mu + mu / 2;
    return (1 - slack) * density(y - mu) * mills(y) * std::exp(from - epsilon);
  }

  struct Tangent {
    Real value, fall;  // the value at `epsilon`, and e^ε times the slope's size
    double epsilon;
    // A lower bound on the tangent at another ε.
    [[nodiscard]] double at(double other) const {
      return (value - fall * expm1(Real(other) - Real(epsilon))).lower();
    }
  };
  // Returns the certified tangent at ε. With x = ε/μ - μ/2, y = x + μ and the Mills ratio R, e^ε
  // Φ(-y) = density(x) R(y) and δ_μ(ε) = P(N > x) - e^ε Φ(-y).
  [[nodiscard]] Tangent tangent(double epsilon) const {
    const Real centre = Real(epsilon) / Real(mu);
    const Real x = centre - Real(mu) / 2;
    const Real y = centre + Real(mu) / 2;
    if (!(x.high() < 38) || !(x.high() > -38))
      return {slack, 0, epsilon};  // uses only δ_μ >= 0, which has slope 0
    const Real fall = normal_density(x) * mills_ratio(y);
    const Real delta = x.high() < 0 ? normal_tail(x) - fall
                                    : normal_density(x) * (mills_ratio(x) - mills_ratio(y));
    return {Real(slack) + (1 - Real(slack)) * delta, (1 - Real(slack)) * fall, epsilon};
  }
};

// --- The left side of the inequality: upper bounds at nodes ---

// The ε between two nodes at which the right side is closest to their chord: its slope equals the
// chord's.
double closest_to_chord(const RightSide& right, const ProfileNode& a, const ProfileNode& b) {
  const double slope = (a.above - b.above) / std::expm1(b.epsilon - a.epsilon);
  double low = a.epsilon;
  double high = b.epsilon;
  if (right.estimated_fall(low, a.epsilon) <= slope) return low;
  if (right.estimated_fall(high, a.epsilon) >= slope) return high;
  for (int turn = 0; turn < 40; ++turn) {
    const double middle = low + (high - low) / 2;
    (right.estimated_fall(middle, a.epsilon) > slope ? low : high) = middle;
  }
  return low;
}

struct Node : ProfileNode {
  double mu;  // the least μ that covers this node
};

// The search. It adds nodes until the μ that covers all nodes also covers the chords between them.
class CoverSearch {
 public:
  CoverSearch(const ProfileAbove& profile, double slack) : profile_(profile), slack_(slack) {}

  std::optional<GaussianCover> run() {
    const double before = work_left();
    const Node& first = add(0);
    if (first.above <= slack_) return GaussianCover{0, 0, first.above, 1};
    if (slack_ > 0 && before - work_left() > slow) find_end();
    if (!add_end()) return std::nullopt;
    const double end = nodes_.back().epsilon;
    for (const double share : {0.5, 0.25, 0.75}) add(share * end);
    for (double finer = 1e-6; finer < 1e3; finer *= 3) {
      refine(finer);
      const Node most = most_demanding();
      if (!std::isfinite(most.mu)) return std::nullopt;
      const double mu = most.mu * (1 + finer);
      if (accounting_detail::is_cover({nodes_.begin(), nodes_.end()}, mu, slack_))
        return GaussianCover{mu, most.epsilon, most.above, nodes_.size()};
    }
    return std::nullopt;
  }

 private:
  static constexpr std::size_t most_nodes = 400;
  static constexpr double slow = 1e8;  // the work of a node from which nodes count as slow

  // Inserts a node in ascending order. δ decreases and is convex in e^ε, so the neighbouring nodes
  // bound it too.
  const Node& add(double epsilon) {
    double above = 1;
    // The first node decides where the others lie, so it may use more work.
    const double most = std::min((epsilon == 0 ? 3 : 1) * work_, work_left() - reserve_);
    exhausted_ = exhausted_ || !(most > 0);
    if (!exhausted_)
      finishes_within(std::isinf(most) ? 1 : most / work_left(),
                      [&] { above = profile_.delta(epsilon); });
    if (!(above < 1)) above = 1;
    if (std::isfinite(profile_.worst))
      above = std::min(above, response_delta(epsilon, profile_.worst, 0));
    if (std::isfinite(end_)) above = std::min(above, response_delta(epsilon, end_, slack_));
    const auto place =
        std::lower_bound(nodes_.begin(), nodes_.end(), epsilon,
                         [](const Node& node, double e) { return node.epsilon < e; });
    if (place != nodes_.begin()) {
      const Node& left = *std::prev(place);
      above = std::min(above, left.above);
      if (place != nodes_.end()) above = std::min(above, chord(left, *place, epsilon));
    }
    return *nodes_.insert(place,
                          {{epsilon, above}, mu_for(epsilon, (above - slack_) / (1 - slack_))});
  }

  // The largest δ(ε) of a (W, f)-DP mechanism, that of randomized response with failure probability
  // f: f + (1-f) (e^W - e^ε)₊/(e^W + 1) [Kairouz2015].
  [[nodiscard]] static double response_delta(double epsilon, double worst, double failure) {
    if (epsilon >= worst) return failure;
    const Real share = -expm1(Real(epsilon) - Real(worst)) / (1 + exp(-Real(worst)));
    return (Real(failure) + (1 - Real(failure)) * share).upper();
  }

  // The chord between two nodes, rounded up.
  static double chord(const Node& a, const Node& b, double epsilon) {
    const Real share =
        expm1(Real(epsilon) - Real(a.epsilon)) / expm1(Real(b.epsilon) - Real(a.epsilon));
    return (Real(a.above) + share * (Real(b.above) - Real(a.above))).upper();
  }

  // Adds the last node, beyond which δ is at most the slack. Returns false if none is proved.
  bool add_end() {
    if (slack_ == 0) return std::isfinite(profile_.worst) && add(profile_.worst).above <= 0;
    if (std::isfinite(end_)) return add(end_).above <= slack_;
    double end = 1e-3;  // first guess: the end of the Gaussian profile of the first node's μ
    while (estimated_delta(end, nodes_.front().mu) > slack_ && end < 1e9) end *= 1.05;
    end = std::min(end, profile_.worst);
    if (std::isfinite(nodes_.front().mu) && add(end).above <= slack_) return true;
    if (!std::isfinite(end_)) find_end();
    return std::isfinite(end_) && add(end_).above <= slack_;
  }

  // Asks the profile for an ε at which δ is at most the slack.
  void find_end() {
    finishes_within(0.3, [&] { end_ = profile_.epsilon(slack_); });
  }

  // The node that needs the largest μ.
  [[nodiscard]] const Node& most_demanding() const {
    return *std::max_element(nodes_.begin(), nodes_.end(),
                             [](const Node& a, const Node& b) { return a.mu < b.mu; });
  }

  // An estimate of whether the right side lies above the chord at an ε.
  [[nodiscard]] static bool seems_above(const RightSide& right, const Node& a, const Node& b,
                                        double at) {
    const double share = std::expm1(at - a.epsilon) / std::expm1(b.epsilon - a.epsilon);
    return right.estimate(at) >= a.above + share * (b.above - a.above);
  }

  // Adds nodes where a chord lies above the right side of a μ that is larger by the factor 1 +
  // finer than the nodes need.
  void refine(double finer) {
    for (int turn = 0; turn < 40 && nodes_.size() < most_nodes && !exhausted_; ++turn) {
      const RightSide right{most_demanding().mu * (1 + finer), slack_};
      std::vector<double> wanted;
      for (std::size_t i = 0; i + 1 < nodes_.size(); ++i) {
        const Node& a = nodes_[i];
        const Node& b = nodes_[i + 1];
        if (b.epsilon - a.epsilon < 1e-9 * (1e-6 + b.epsilon)) continue;
        const double at = closest_to_chord(right, a, b);
        if (seems_above(right, a, b, at)) continue;
        const double margin = 0.1 * (b.epsilon - a.epsilon);
        wanted.push_back(std::clamp(at, a.epsilon + margin, b.epsilon - margin));
      }
      if (wanted.empty()) return;
      for (const double epsilon : wanted) add(epsilon);
    }
  }

  const ProfileAbove& profile_;
  double slack_;
  double end_ = infinity;  // an ε at which δ is at most the slack; infinite until find_end()
  double work_ = 0.1 * work_left();                     // that one node may use
  double reserve_ = std::isinf(work_) ? 0 : 2 * work_;  // for the certificate
  bool exhausted_ = false;
  std::vector<Node> nodes_;
};

}  // namespace

namespace accounting_detail {

bool is_cover(const std::vector<ProfileNode>& nodes, double mu, double slack) {
  if (nodes.empty() || nodes.front().epsilon != 0 || !(nodes.back().above <= slack)) return false;
  const RightSide right{mu, slack};
  for (std::size_t i = 0; i + 1 < nodes.size(); ++i) {
    const ProfileNode& a = nodes[i];
    const ProfileNode& b = nodes[i + 1];
    if (!(a.epsilon < b.epsilon)) return false;
    const RightSide::Tangent tangent = right.tangent(closest_to_chord(right, a, b));
    if (!(a.above <= tangent.at(a.epsilon) && b.above <= tangent.at(b.epsilon))) return false;
  }
  return true;
}

}  // namespace accounting_detail

std::optional<GaussianCover> gaussian_cover(const ProfileAbove& profile, double slack) {
  return CoverSearch(profile, slack).run();
}

}  // namespace sotto
