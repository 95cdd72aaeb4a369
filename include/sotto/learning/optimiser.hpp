// What is done with a noisy gradient: post-processing, which costs nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace sotto {

enum class OptimiserKind { sgd, momentum, adam };
std::string name_of(OptimiserKind kind);
OptimiserKind parse_optimiser(const std::string& name);

enum class StepSizes {
  constant,
  inverse_root,  ///< size/√t at step t = 1, 2, …
  cosine,        ///< from size to 0 along half a cosine
};
std::string name_of(StepSizes sizes);
StepSizes parse_step_sizes(const std::string& name);

struct Ball {  ///< all parameters together have at most this norm
  double radius;
  friend bool operator==(const Ball&, const Ball&) = default;
};
struct Box {  ///< each parameter lies in [lower, upper]
  double lower, upper;
  friend bool operator==(const Box&, const Box&) = default;
};
using Region = std::variant<Ball, Box>;

enum class Averaging {
  none,     ///< the last iterate
  uniform,  ///< the mean of all iterates
  second,   ///< the mean of the iterates of the second half
};
std::string name_of(Averaging averaging);
Averaging parse_averaging(const std::string& name);

struct Optimiser {
  OptimiserKind kind = OptimiserKind::sgd;
  double size = 1;  ///< of a step
  StepSizes sizes = StepSizes::constant;
  double momentum = 0.9;
  double beta2 = 0.999;
  double l2 = 0;                                ///< λ of λ|θ|²/2, which knows no data
  std::optional<Region> region = std::nullopt;  ///< the step is projected onto it
  Averaging averaging = Averaging::none;
  friend bool operator==(const Optimiser&, const Optimiser&) = default;
};

/// The state of an optimiser: all that a checkpoint holds.
struct Iterate {
  std::int64_t step = 0;
  std::vector<double> parameters;
  std::vector<double> mean = {};   ///< of the iterates, where they are averaged
  std::vector<double> first = {};  ///< moments
  std::vector<double> second = {};
  double norm = 0;  ///< the clipping norm, where it adapts
  friend bool operator==(const Iterate&, const Iterate&) = default;
};

/// One step of `steps` along this gradient.
void advance(Iterate& iterate, const Optimiser& optimiser, std::int64_t steps, std::span<const double> gradient);
/// What is released at the end.
const std::vector<double>& learned(const Iterate& iterate, const Optimiser& optimiser);

}  // namespace sotto
