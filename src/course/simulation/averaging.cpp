// Runs a protocol: calibrates its noise to the target, draws values and noise, computes the sums
// and the error of the means.
#include <algorithm>
#include <cmath>
#include <limits>

#include "course/simulation/protocols.hpp"
#include "course/simulation/token_walk.hpp"
#include "numerics/api/elementary.hpp"
#include "privacy/api/federated.hpp"
#include "privacy/api/gaussian.hpp"
#include "sotto/accounting/calibrate.hpp"
#include "sotto/core/decimal.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/core/values.hpp"
#include "sotto/plan/holes.hpp"
#include "sotto/plan/text.hpp"
#include "sotto/random/noise.hpp"
#include "sotto/random/uniform.hpp"

namespace sotto {

using namespace course_detail;

const char* name_of(TrustModel model) {
  switch (model) {
    case TrustModel::central: return "central";
    case TrustModel::local: return "local";
    case TrustModel::shuffle: return "shuffle";
    case TrustModel::gopa: return "gopa";
    case TrustModel::ring: return "ring";
    case TrustModel::walk: return "walk";
  }
  return "";
}

double central_noise(const AveragingSimulation& settings) {
  return settings.sigma
             ? *settings.sigma
             : calibrate(gaussian(hole), Epsilon(settings.epsilon), Delta(settings.delta)).value;
}

namespace {

constexpr std::int64_t most_users = 100'000;
constexpr double most_draws = 1e10;
// The share of θ that is left to the masks. The variance exceeds the curator's by this share.
constexpr double masks_part = 0.001;

void check(const AveragingSimulation& settings) {
  (void)require_count(settings.users, 2, "users");
  if (settings.users > most_users) {
    throw InvalidValue("users = " + std::to_string(settings.users) +
                       " is not allowed: it must be at most 100000");
  }
  (void)require_rate(settings.honest, "honest");
  (void)require_probability_below_one(settings.dropouts, "dropouts");
  (void)require_count(settings.degree, 0, "degree");
  (void)require_positive(settings.epsilon, "epsilon");
  (void)require_open_unit(settings.delta, "delta");
  if (settings.sigma) (void)require_positive(*settings.sigma, "sigma");
  (void)require_count(settings.rounds, 1, "rounds");
  (void)require_count(settings.runs, 2, "runs");
  const bool token = settings.model == TrustModel::ring || settings.model == TrustModel::walk;
  if (!token && settings.rounds != 1) {
    throw InvalidValue("rounds = " + std::to_string(settings.rounds) +
                       " is not allowed: only ring and walk have several rounds");
  }
  if (settings.model != TrustModel::gopa && (settings.dropouts > 0 || settings.degree > 0)) {
    throw InvalidValue("dropouts = " + shortest(settings.dropouts) + " and degree = " +
                       std::to_string(settings.degree) + " are not allowed together with " +
                       name_of(settings.model) + ": only gopa has masks, both must be 0");
  }
  if (settings.model == TrustModel::shuffle && settings.sigma) {
    throw InvalidValue(
        "sigma is not allowed with shuffle, whose bits have no Gaussian noise: give epsilon "
        "instead");
  }
  if (settings.model == TrustModel::ring && settings.honest < 1) {
    throw InvalidValue("honest = " + shortest(settings.honest) +
                       " is not allowed: a ring hides nothing from the two neighbours of a user if "
                       "they collude, so it must be 1");
  }
  const double draws = static_cast<double>(settings.users) * static_cast<double>(settings.rounds) *
                       static_cast<double>(settings.runs);
  if (draws > most_draws) {
    throw InvalidValue("users = " + std::to_string(settings.users) +
                       " with rounds = " + std::to_string(settings.rounds) +
                       " and runs = " + std::to_string(settings.runs) +
                       " is not allowed: users times rounds times runs must be at most 10^10");
  }
}

std::int64_t share_of(double share, std::int64_t users) {
  return static_cast<std::int64_t>(std::floor(share * static_cast<double>(users) * (1 + 1e-12)));
}

const Question by_loss{
    .by = Method::pld};  // the best method for a walk; trying all methods takes ten times as long

// Returns the exact cost of the plan and the cost by the theorem of its mechanism's paper.
FederatedCost cost_of(const Plan& plan, double delta) {
  FederatedCost cost{.exact = epsilon(plan, Delta(delta)).value.upper,
                     .paper = std::numeric_limits<double>::quiet_NaN()};
  try {
    const Answer published = epsilon(plan, Delta(delta), {.by = Method::theorem});
    cost.paper = published.value.upper;
    cost.theorem = published.derivation.theorem + " [" + published.derivation.reference + "]";
  } catch (const OutsideConditions&) {
    cost.remark = "the paper's theorem does not apply to these numbers";
  }
  return cost;
}

// The parameters of a run, derived from the settings.
struct Design {
  Round round;
  MaskGraph graph;
  double draw_scale = 0;  // σ of one draw
  std::size_t draws = 0;  // number of draws
  std::int64_t dropped = 0;
  double flip = 0;  // P(a bit is replaced by a coin), shuffle
};

class Simulator {
 public:
  explicit Simulator(const AveragingSimulation& settings)
      : s_(settings),
        n_(static_cast<double>(settings.users)),
        outcome_{.settings = settings},
        design_{.round = {.model = settings.model, .rounds = settings.rounds},
                .graph = MaskGraph::complete(settings.users)} {
    check(settings);
    outcome_.honest_users = std::max<std::int64_t>(1, share_of(settings.honest, settings.users));
    const double k = static_cast<double>(settings.rounds);
    one_ = central_noise(settings);
    // K contributions of each value cost √K/σ.
    outcome_.curator = one_ * k / (n_ * k);
    outcome_.local = one_ * k * std::sqrt(n_) / (n_ * k);
  }

  AveragingOutcome run() {
    switch (s_.model) {
      case TrustModel::central: gaussian_noise(1, outcome_.curator); break;
      case TrustModel::local:
        gaussian_noise(static_cast<std::size_t>(s_.users), outcome_.local);
        break;
      case TrustModel::gopa: gopa(); break;
      case TrustModel::shuffle: shuffle(); break;
      case TrustModel::ring: ring(); break;
      case TrustModel::walk: walk(); break;
    }
    outcome_.noise = design_.draw_scale;
    outcome_.message_by_message = s_.users <= s_.message_by_message;
    measure();
    return outcome_;
  }

 private:
  void gaussian_noise(std::size_t draws, double predicted) {
    design_.draws = draws;
    design_.draw_scale = one_;
    outcome_.predicted = predicted;
    outcome_.cost = {.exact = epsilon(gaussian(one_), Delta(s_.delta)).value.upper,
                     .paper = std::numeric_limits<double>::quiet_NaN()};
    try {
      outcome_.cost.paper = gaussian_classical_epsilon(1 / Real(one_), s_.delta).upper();
      outcome_.cost.theorem = "sigma = sqrt(2 ln(1.25/delta))/epsilon [Dwork2014]";
    } catch (const OutsideConditions&) {
      outcome_.cost.remark =
          "the classical line sigma = sqrt(2 ln(1.25/delta))/epsilon is proved for epsilon <= 1 "
          "alone";
    }
  }

  void gopa() {
    design_.dropped = share_of(s_.dropouts, s_.users);
    const std::int64_t honest = outcome_.honest_users -=
        design_.dropped;  // in the worst case all dropped users are honest
    if (honest < 1) {
      throw OutsideConditions(
          "as many users may drop out as are honest, so no noise would protect the others: lower "
          "dropouts or raise honest");
    }
    const auto m = static_cast<double>(honest);
    const bool complete = s_.degree == 0;
    // A random graph fails the theorem with at most three times this probability, which uses half
    // of δ.
    const double bad = s_.delta / 6;
    const double target =
        complete || s_.sigma
            ? one_
            : gaussian_exact_sigma(s_.epsilon, s_.delta / 2 * (1 - 1e-12), Side::upper);
    const double theta = (1 - 1e-9) / (target * target);  // reduced by the possible rounding error
    const double own = 1 / (theta * (1 - masks_part) * m);  // σ_η²
    design_.draw_scale = std::sqrt(own);
    if (complete) {
      const double rest = honest > 1 ? (1 - 1 / m) / (theta * masks_part) - own : 0;
      outcome_.pair_noise = std::sqrt(std::max(rest, own) / m);
      outcome_.cost = cost_of(GopaComplete{design_.draw_scale, outcome_.pair_noise, m}, s_.delta);
    } else {
      const double share =
          gopa_random_share({.users = s_.users, .honest = honest, .k = s_.degree, .delta = bad})
              .upper();
      design_.graph = MaskGraph::random(s_.users, s_.degree);
      outcome_.pair_noise = std::sqrt(share / (theta * masks_part));
      outcome_.cost =
          cost_of(GopaRandom{design_.draw_scale, outcome_.pair_noise, static_cast<double>(s_.users),
                             m, static_cast<double>(s_.degree), bad},
                  s_.delta);
    }
    if (design_.dropped > 0)
      outcome_.cost.remark =
          "what dropped users' masks leave in the sum is error and counts for no privacy";
    const auto stayed = static_cast<double>(s_.users - design_.dropped);
    residue_variance_ = outcome_.pair_noise * outcome_.pair_noise;
    outcome_.predicted =
        design_.draw_scale / std::sqrt(stayed);  // replaced by measure() if users drop out
    design_.draws = static_cast<std::size_t>(s_.users);
    design_.round.mask_scale = outcome_.pair_noise;
  }

  void shuffle() {
    // Finds the largest ε₀ that meets the target, to 0.01, by doubling steps from an estimate and
    // then by bisection.
    const auto suffices = [this](double each) {
      return epsilon(sotto::shuffle(each, n_), Delta(s_.delta), by_loss).value.upper <= s_.epsilon;
    };
    double local = s_.epsilon;
    double beyond =
        std::max(local, std::log(n_ * s_.epsilon * s_.epsilon / (3 * std::log(4 / s_.delta))));
    for (double step = 0.1; suffices(beyond); step *= 2) {
      local = beyond;
      beyond += step;
    }
    while (beyond - local > 0.01) {
      const double middle = (local + beyond) / 2;
      (suffices(middle) ? local : beyond) = middle;
    }
    design_.flip = 2 / (1 + std::exp(local)) * (1 + 1e-12);
    outcome_.cost = cost_of(sotto::shuffle(local, n_), s_.delta);
    outcome_.cost.remark = "each bit alone is " + rounded(local, 4, Side::upper) + "-DP" +
                           (outcome_.cost.remark.empty() ? "" : "; " + outcome_.cost.remark);
  }

  void ring() {
    const auto k = static_cast<double>(s_.rounds);
    const std::int64_t hops = s_.users * s_.rounds;
    const std::int64_t noises =
        hops / (s_.users - 1) + 1;  // one every users - 1 hops, and one for the publication
    design_.draws = static_cast<std::size_t>(hops + 1);
    design_.draw_scale = one_ * std::sqrt(k);
    outcome_.predicted =
        std::sqrt(static_cast<double>(noises)) * design_.draw_scale / static_cast<double>(hops);
    outcome_.cost = cost_of(k * ring_sum(design_.draw_scale), s_.delta);
    const std::string limits =
        "against one user at a time: two who collude around a third see its value";
    outcome_.cost.remark =
        outcome_.cost.remark.empty() ? limits : limits + "; " + outcome_.cost.remark;
  }

  void walk() {
    walk_ = {.users = s_.users,
             .colluders = std::max<std::int64_t>(1, s_.users - outcome_.honest_users),
             .rounds = s_.rounds};
    const Plan plan = walk_.plan(hole);
    design_.draw_scale = s_.sigma
                             ? *s_.sigma * std::sqrt(static_cast<double>(s_.rounds))
                             : calibrate(plan, Epsilon(s_.epsilon), Delta(s_.delta), by_loss).value;
    outcome_.cost = {
        .exact = epsilon(fill(plan, design_.draw_scale), Delta(s_.delta), by_loss).value.upper,
        .paper = std::numeric_limits<double>::quiet_NaN()};
    outcome_.cost.remark =
        "over walks: whoever follows a user sees a full local step; the path may be public, values "
        "and noise may not. The walk ends, at the "
        "latest, before " +
        (walk_.colluders == 1 ? std::string("a user takes")
                              : std::to_string(walk_.colluders) + " users together take") +
        " the token more than " + std::to_string(walk_.visits()) +
        " times, and the sum is published under the noise of " +
        std::to_string(walk_.publication()) +
        " hops more: " + print(fill(plan, design_.draw_scale));
    outcome_.predicted =
        std::numeric_limits<double>::quiet_NaN();  // measure() computes it from the contributions
                                                   // of the walks
  }

  // Draws the random values of a run. The users' values stay the same in all runs, except for
  // shuffled bits.
  void draw(Draws& draws, const RoundedNoise* noise, int grid) {
    const std::size_t hops = static_cast<std::size_t>(s_.users * s_.rounds);
    draws.path.clear();
    if (s_.model == TrustModel::ring) {
      for (std::size_t hop = 0; hop < hops; ++hop)
        draws.path.push_back(static_cast<MaskGraph::User>(hop % draws.values.size()));
    }
    if (s_.model == TrustModel::walk) draws.path = walk_.path();
    if (noise != nullptr) {
      std::vector<double>& added = added_;
      added.assign(s_.model == TrustModel::walk ? draws.path.size() + 1 : design_.draws, 0);
      if (s_.model == TrustModel::ring) {  // noise every users - 1 hops, and at the end
        for (std::size_t hop = 0; hop < added.size(); ++hop) {
          const bool last = hop + 1 == added.size();
          if (last || (hop + 1) % static_cast<std::size_t>(s_.users - 1) == 0)
            added[hop] = noise->add(0);
        }
      } else {
        noise->add(added);
      }
      if (s_.model == TrustModel::walk)
        added.back() = RoundedNoise(NoiseKind::gaussian, publication_scale(), grid).add(0);
      draws.noise.resize(added.size());
      const double per_unit =
          std::ldexp(1.0, -grid);  // exact: the noise is a whole number of units below 2^53
      for (std::size_t i = 0; i < added.size(); ++i)
        draws.noise[i] = static_cast<Units>(static_cast<std::int64_t>(added[i] * per_unit));
    }
    if (s_.model == TrustModel::gopa) drop(draws, grid);
  }

  // Chooses the dropped users and draws the masks on their edges to users who stay, which remain in
  // the sum.
  void drop(Draws& draws, int grid) const {
    draws.dropped.assign(draws.values.size(), false);
    draws.residue.clear();
    for (std::int64_t left = design_.dropped; left > 0;) {
      const std::uint64_t who = uniform_below(draws.values.size());
      if (draws.dropped[who]) continue;
      draws.dropped[who] = true;
      --left;
    }
    if (design_.dropped == 0) return;
    const RoundedNoise masks(NoiseKind::gaussian, outcome_.pair_noise, grid);
    const auto cut = [&](MaskGraph::User u, MaskGraph::User v) {
      if (draws.dropped[u] != draws.dropped[v]) {
        draws.residue[edge_key(u, v)] =
            static_cast<Units>(static_cast<std::int64_t>(std::ldexp(masks.add(0), -grid)));
      }
    };
    design_.graph.for_each_edge(cut);
  }

  // Runs the protocol `runs` times and computes the root mean square error of the means.
  void measure() {
    const bool bits = s_.model == TrustModel::shuffle;
    const int grid = bits ? -20 : std::min(-10, RoundedNoise::grid_for(design_.draw_scale));
    design_.round.grid = grid;
    std::optional<RoundedNoise> noise;
    if (!bits) noise.emplace(NoiseKind::gaussian, design_.draw_scale, grid);
    double squares = 0;
    double predicted = 0;
    std::vector<Units> values(static_cast<std::size_t>(s_.users));
    for (Units& value : values)
      value = uniform_below((std::uint64_t{1} << static_cast<unsigned>(-grid)) + 1);
    Draws draws;
    draws.values = values;
    for (std::int64_t run = 0; run < s_.runs; ++run) {
      if (bits) draws.values = values;
      draw(draws, noise ? &*noise : nullptr, grid);
      const double error =
          bits ? shuffled_error(draws, grid, predicted) : noisy_error(draws, grid, predicted);
      squares += error * error;
      if (s_.progress) s_.progress(static_cast<double>(run + 1) / static_cast<double>(s_.runs));
    }
    const auto runs = static_cast<double>(s_.runs);
    outcome_.measured = std::sqrt(squares / runs);
    if (predicted > 0) outcome_.predicted = std::sqrt(predicted / runs);
  }

  // Returns the error of the mean in one run. Adds its variance in theory to `predicted` where that
  // depends on the run.
  double noisy_error(const Draws& draws, int grid, double& predicted) {
    Units truth = 0;
    double count = 0;
    std::vector<std::int64_t>& visits = visits_;
    visits.assign(draws.values.size(), draws.path.empty() ? 1 : 0);
    for (const MaskGraph::User at : draws.path) ++visits[at];
    for (std::size_t u = 0; u < visits.size(); ++u) {
      const std::int64_t times =
          draws.dropped.empty() || !draws.dropped[u] ? std::min(visits[u], s_.rounds) : 0;
      truth += static_cast<Units>(times) * draws.values[u];
      count += static_cast<double>(times);
    }
    const Units sum = summed(draws);
    const double error =
        std::ldexp(static_cast<double>(static_cast<std::int64_t>(sum - truth)), grid) / count;
    if (s_.model == TrustModel::walk) {
      const auto noises =
          static_cast<double>(draws.path.size() + static_cast<std::size_t>(walk_.publication()));
      predicted += noises * std::pow(design_.draw_scale / count, 2);
    }
    if (design_.dropped > 0) {
      predicted += (count * std::pow(design_.draw_scale, 2) +
                    static_cast<double>(draws.residue.size()) * residue_variance_) /
                   (count * count);
    }
    return error;
  }

  // Returns the scale of all noises of a walk's publication together, slightly above the plan's to
  // cover rounding.
  [[nodiscard]] double publication_scale() const {
    return design_.draw_scale * std::sqrt(static_cast<double>(walk_.publication())) * (1 + 1e-12);
  }

  Units summed(const Draws& draws) const {
    return outcome_.message_by_message ? sum_by_messages(design_.round, design_.graph, draws)
                                       : sum_by_algebra(design_.round, design_.graph, draws);
  }

  // Rounds each value to a random bit with the value as its mean, and replaces the bit by a coin
  // with probability `flip`. Returns the error of the unbiased mean of the received bits.
  double shuffled_error(Draws& draws, int grid, double& predicted) const {
    const std::uint64_t most = std::uint64_t{1} << static_cast<unsigned>(-grid);
    double truth = 0;
    double variance = 0;
    for (Units& value : draws.values) {
      const double x = std::ldexp(static_cast<double>(value), grid);
      truth += x;
      const double q = (1 - design_.flip) * x + design_.flip / 2;
      variance += q * (1 - q);
      value = bernoulli(design_.flip) ? uniform_below(2) : (bernoulli(value, most) ? 1 : 0);
    }
    const auto received = static_cast<double>(summed(draws));
    const double scale = n_ * (1 - design_.flip);
    predicted += variance / (scale * scale);
    return (received - n_ * design_.flip / 2) / scale - truth / n_;
  }

  const AveragingSimulation& s_;
  double n_;
  AveragingOutcome outcome_;
  Design design_;
  TokenWalk walk_{};
  double one_ = 0;  // σ for one value
  double residue_variance_ = 0;
  std::vector<double> added_;
  std::vector<std::int64_t> visits_;
};

}  // namespace

std::vector<std::int64_t> usual_users(TrustModel model) {
  return model == TrustModel::shuffle ? std::vector<std::int64_t>{1000, 3000, 10'000}
                                      : std::vector<std::int64_t>{100, 300, 1000};
}

AveragingOutcome simulate_averaging(const AveragingSimulation& settings) {
  return Simulator(settings).run();
}

}  // namespace sotto
