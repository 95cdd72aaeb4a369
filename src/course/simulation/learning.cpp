// Trains logistic regression under each trust model, with noise calibrated to the same target.
#include <algorithm>
#include <cmath>
#include <functional>

#include "core/api/work.hpp"
#include "course/api/simulation_learning.hpp"
#include "course/api/walk.hpp"
#include "privacy/api/gaussian.hpp"
#include "sotto/accounting/calibrate.hpp"
#include "sotto/core/decimal.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/core/values.hpp"
#include "sotto/random/noise.hpp"
#include "sotto/random/uniform.hpp"

namespace sotto {
namespace {

constexpr int grid =
    -30;  // the grid exponent of gradients and noise: sums on the grid are exact in any order

void check(const SimulatedRecords& records, const LearningSimulation& s) {
  (void)require_count(s.users, 2, "users");
  (void)require_rate(s.honest, "honest");
  (void)require_count(s.rounds, 1, "rounds");
  (void)require_positive(s.epsilon, "epsilon");
  (void)require_open_unit(s.delta, "delta");
  (void)require_positive(s.clip, "clip");
  (void)require_count(s.runs, 1, "runs");
  if (s.steps.empty()) throw InvalidValue("steps is empty: give at least one step to try");
  for (const double step : s.steps) (void)require_positive(step, "step");
  const auto training = static_cast<std::int64_t>(records.features.size() * 4 / 5);
  if (training < s.users) {
    throw InvalidValue("users = " + std::to_string(s.users) +
                       " is not allowed: four fifths of the records, " + std::to_string(training) +
                       ", are for training, and every user needs one of them");
  }
  if (static_cast<double>(s.users) * static_cast<double>(s.rounds) * static_cast<double>(s.runs) >
      1e9)
    throw InvalidValue("users = " + std::to_string(s.users) + " with rounds = " +
                       std::to_string(s.rounds) + " and runs = " + std::to_string(s.runs) +
                       " is not allowed: users times rounds times runs must be at most 10^9");
}

// The training records, which are distributed among the users, and the test records.
class Problem {
 public:
  Problem(const SimulatedRecords& records, const LearningSimulation& settings)
      : records_(records),
        s_(settings),
        training_(records.features.size() * 4 / 5),
        width_(records.features.front().size()) {}

  [[nodiscard]] std::size_t width() const { return width_; }

  // Computes the average of a user's clipped gradients on the grid. It is rounded toward zero, so
  // its norm is at most `clip`.
  void gradient(std::size_t user, const std::vector<double>& w, std::vector<double>& sum,
                std::vector<std::int64_t>& units) const {
    std::fill(sum.begin(), sum.end(), 0.0);
    double count = 0;
    for (std::size_t i = user; i < training_; i += static_cast<std::size_t>(s_.users)) {
      const std::vector<double>& x = records_.features[i];
      double output = 0;
      double square = 0;
      for (std::size_t j = 0; j < width_; ++j) {
        output += w[j] * x[j];
        square += x[j] * x[j];
      }
      const double y = records_.labels[i] ? 1 : -1;
      const double slope = -y / (1 + std::exp(y * output));
      const double length = std::abs(slope) * std::sqrt(square) * (1 + 1e-12);
      const double factor = slope * std::min(1.0, s_.clip / length);
      for (std::size_t j = 0; j < width_; ++j) sum[j] += factor * x[j];
      count += 1;
    }
    const double scale = std::ldexp(1 - 1e-12, -grid) / count;
    for (std::size_t j = 0; j < width_; ++j)
      units[j] = static_cast<std::int64_t>(std::trunc(sum[j] * scale));
  }

  [[nodiscard]] double accuracy(const std::vector<double>& w) const {
    double right = 0;
    for (std::size_t i = training_; i < records_.features.size(); ++i) {
      double output = 0;
      for (std::size_t j = 0; j < width_; ++j) output += w[j] * records_.features[i][j];
      right += (output > 0) == records_.labels[i] ? 1 : 0;
    }
    return right / static_cast<double>(records_.features.size() - training_);
  }

 private:
  const SimulatedRecords& records_;
  const LearningSimulation& s_;
  std::size_t training_;
  std::size_t width_;
};

std::int64_t units_of(double multiple) {
  return static_cast<std::int64_t>(multiple * 0x1p30);
}  // exact: the product is a whole number

// Returns noise on a grid that fits the scale and is not finer than the grid of the gradients.
RoundedNoise noise_of_scale(double scale) {
  return {NoiseKind::gaussian, scale, std::max(grid, RoundedNoise::grid_for(scale))};
}

// Trains in rounds, each with the sum of all users' gradients. `draws` noises of this scale are
// added to each coordinate of the sum. Returns the accuracy.
double train_in_rounds(const Problem& problem, const LearningSimulation& s, double step,
                       std::int64_t draws, double scale) {
  std::vector<double> w(problem.width());
  std::vector<double> sum(problem.width());
  std::vector<std::int64_t> units(problem.width());
  for (std::int64_t round = 0; round < s.rounds; ++round) {
    spend(static_cast<double>(s.users * static_cast<std::int64_t>(problem.width())) *
          10);  // counts the work, so that a caller can stop it
    std::vector<std::int64_t> total(problem.width());
    for (std::int64_t user = 0; user < s.users; ++user) {
      problem.gradient(static_cast<std::size_t>(user), w, sum, units);
      for (std::size_t j = 0; j < total.size(); ++j) total[j] += units[j];
    }
    if (scale > 0) {
      const RoundedNoise noise = noise_of_scale(scale);
      std::vector<double> added(static_cast<std::size_t>(draws));
      for (std::int64_t& one : total) {
        std::fill(added.begin(), added.end(), 0.0);
        noise.add(added);
        for (const double draw : added) one += units_of(draw);
      }
    }
    for (std::size_t j = 0; j < w.size(); ++j)
      w[j] -= step * std::ldexp(static_cast<double>(total[j]), grid) / static_cast<double>(s.users);
  }
  return problem.accuracy(w);
}

std::int64_t hops_of(const LearningSimulation& s) {
  return static_cast<std::int64_t>(static_cast<double>(s.users * s.rounds) / 1.2);
}
// Returns the number of hops whose noise alone is added before a walk's model is published.
double last_hops(const LearningSimulation& s) {
  return std::ceil(static_cast<double>(hops_of(s)) / 20);
}

// Trains by hops, each to a random user who moves the model by its gradient and noise; a user who
// contributed `rounds` times adds noise alone. The noise of last_hops() is added at the end.
// Returns the accuracy.
double train_by_hops(const Problem& problem, const LearningSimulation& s, double step,
                     double scale) {
  std::vector<double> w(problem.width());
  std::vector<double> sum(problem.width());
  std::vector<std::int64_t> units(problem.width());
  std::vector<std::int64_t> visits(static_cast<std::size_t>(s.users));
  const std::int64_t hops = hops_of(s);
  std::vector<double> added(w.size());
  const RoundedNoise noise = noise_of_scale(scale > 0 ? scale : 1);
  for (std::int64_t hop = 0; hop < hops; ++hop) {
    spend(static_cast<double>(problem.width()) * 50);
    const std::size_t user = uniform_below(static_cast<std::uint64_t>(s.users));
    std::fill(units.begin(), units.end(), 0);
    if (visits[user]++ < s.rounds) problem.gradient(user, w, sum, units);
    std::fill(added.begin(), added.end(), 0.0);
    if (scale > 0) noise.add(added);
    for (std::size_t j = 0; j < w.size(); ++j)
      w[j] -= step * (std::ldexp(static_cast<double>(units[j]), grid) + added[j]);
  }
  if (scale > 0) {
    std::fill(added.begin(), added.end(), 0.0);
    noise_of_scale(scale * std::sqrt(last_hops(s)) * (1 + 1e-12)).add(added);
    for (std::size_t j = 0; j < w.size(); ++j) w[j] -= step * added[j];
  }
  return problem.accuracy(w);
}

using Trainer = std::function<double(double step)>;

// Trains one model after another, each with the best of the step sizes, and reports progress.
class StepSearch {
 public:
  // `all`: the number of models in the whole simulation, of which another search trained `before`.
  StepSearch(const LearningSimulation& settings, double all, double before = 0)
      : s_(settings), all_(all), done_(before) {}

  // Tries every step size up to `most_step` and keeps the outcome with the best mean accuracy.
  void add(LearningOutcome outcome, const Trainer& train, double most_step = INFINITY) {
    outcome.accuracy = -1;
    const double begun = done_;
    for (std::size_t i = 0; i < s_.steps.size(); ++i) {
      done_ = begun + static_cast<double>(i + 1) / static_cast<double>(s_.steps.size());
      const double tried = s_.steps[i];
      if (tried > most_step) continue;
      double sum = 0;
      double squares = 0;
      const auto runs = static_cast<double>(s_.runs);
      for (std::int64_t run = 0; run < s_.runs; ++run) {
        const double accuracy = train(tried);
        sum += accuracy / runs;
        squares += accuracy * accuracy / runs;
      }
      if (sum > outcome.accuracy) {
        outcome.accuracy = sum;
        outcome.deviation =
            runs > 1 ? std::sqrt(std::max(0.0, squares - sum * sum) * runs / (runs - 1)) : 0;
        outcome.step = tried;
      }
      if (s_.progress) s_.progress(done_ / all_);
    }
    outcomes_.push_back(std::move(outcome));
  }
  std::vector<LearningOutcome> outcomes() && { return std::move(outcomes_); }

 private:
  const LearningSimulation& s_;
  double all_;
  double done_;
  std::vector<LearningOutcome> outcomes_;
};

// Returns the σ, at sensitivity 1, of each of K releases that together meet the target.
double noise_of(const LearningSimulation& s) {
  const auto k = static_cast<double>(s.rounds);
  if (!s.advanced) return std::sqrt(k) * gaussian_exact_sigma(s.epsilon, s.delta, Side::upper);
  const double each = s.delta / (k + 1);
  const double step = s.epsilon / (2 * std::sqrt(2 * k * std::log(1 / each)));
  return std::sqrt(2 * std::log(1.25 / each)) / step;
}

double cost_of(const LearningSimulation& s, double noise) {
  return epsilon(static_cast<double>(s.rounds) * gaussian(noise), Delta(s.delta)).value.upper;
}

// Returns the noise and the cost of a walk, against one other user who sees the token and the
// published model. A user contributes at most `rounds` times. The noise of the last hops hides the
// contributions that nobody saw before the publication.
LearningOutcome walk_of(const LearningSimulation& s) {
  const WalkAdmission admission =
      admit_to_walk({.clip = s.clip, .step = 2 / LossFunction{}.smoothness()});
  LearningOutcome walk{.way = "walk", .noise = noise_of(s), .remark = admission.reason};
  if (admission.admitted) {
    const Plan plan =
        static_cast<double>(s.rounds) * Plan(WalkSgd{hole, static_cast<double>(s.users)}) +
        gaussian(std::sqrt(last_hops(s)) * hole);
    const Calibration calibration =
        calibrate(plan, Epsilon(s.epsilon), Delta(s.delta), {.by = Method::pld});
    walk.noise = calibration.value;
    walk.epsilon = calibration.cost.value.upper;
  } else {
    walk.epsilon = cost_of(s, walk.noise);
  }
  walk.noise *= 2 * s.clip;
  return walk;
}

}  // namespace

std::vector<LearningOutcome> simulate_learning(const SimulatedRecords& records,
                                               const LearningSimulation& settings) {
  check(records, settings);
  const LearningSimulation& s = settings;
  const Problem problem(records, s);
  const double one = noise_of(s);
  const double sensitivity = 2 * s.clip;
  const auto honest = std::max<std::int64_t>(
      1,
      static_cast<std::int64_t>(std::floor(s.honest * static_cast<double>(s.users) * (1 + 1e-12))));
  StepSearch search(s, s.advanced ? 4 : 5);
  const auto rounds = [&](std::int64_t draws, double scale) {
    return
        [&, draws, scale](double step) { return train_in_rounds(problem, s, step, draws, scale); };
  };
  if (!s.advanced) search.add({.way = "no noise", .epsilon = INFINITY}, rounds(0, 0));
  search.add({.way = "central", .noise = one * sensitivity, .epsilon = cost_of(s, one)},
             rounds(1, one * sensitivity));
  const double share = one * sensitivity / std::sqrt(static_cast<double>(honest));
  search.add({.way = "aggregated",
              .noise = share,
              .epsilon = cost_of(s, one),
              .remark = std::to_string(honest) + " honest users; masks are uniform and cancel"},
             rounds(s.users, share));
  search.add({.way = "local", .noise = one * sensitivity, .epsilon = cost_of(s, one)},
             rounds(s.users, one * sensitivity));
  if (s.advanced) return std::move(search).outcomes();
  const LearningOutcome walk = walk_of(s);
  LearningSimulation shorter = s;
  for (double& step : shorter.steps)
    step /=
        30;  // a step follows the gradient of one user and not the average of all, so it is shorter
  StepSearch by_hops(shorter, 5, 4);
  by_hops.add(
      walk, [&](double step) { return train_by_hops(problem, s, step, walk.noise); },
      2 / LossFunction{}.smoothness());
  std::vector<LearningOutcome> outcomes = std::move(search).outcomes();
  outcomes.push_back(std::move(by_hops).outcomes().front());
  return outcomes;
}

std::vector<LearningOutcome> simulate_walks(const SimulatedRecords& records,
                                            const LearningSimulation& settings) {
  check(records, settings);
  const LearningSimulation& s = settings;
  const Problem problem(records, s);
  const double sensitivity = 2 * s.clip;
  const auto hops = static_cast<double>(hops_of(s));
  const auto by_hops = [&](double scale) {
    return [&, scale](double step) { return train_by_hops(problem, s, step, scale); };
  };
  StepSearch search(s, 4);
  search.add({.way = "no noise", .epsilon = INFINITY}, by_hops(0));
  // The curator samples each user with probability 1/n; adding or removing a user changes the sum
  // by at most `clip`.
  const Plan curated = hops * poisson(1 / static_cast<double>(s.users), gaussian(hole));
  const Calibration central = calibrate(curated, Epsilon(s.epsilon), Delta(s.delta));
  search.add({.way = "central",
              .noise = central.value * s.clip,
              .epsilon = central.cost.value.upper,
              .remark = "Poisson sampling, add-remove"},
             by_hops(central.value * s.clip));
  const LearningOutcome walk = walk_of(s);
  search.add(walk, by_hops(walk.noise), 2 / LossFunction{}.smoothness());
  const double local = noise_of(s);
  search.add({.way = "local", .noise = local * sensitivity, .epsilon = cost_of(s, local)},
             by_hops(local * sensitivity));
  return std::move(search).outcomes();
}

}  // namespace sotto
