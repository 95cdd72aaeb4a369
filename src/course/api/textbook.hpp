// The textbook's DP-SGD on a made-up convex problem: the noise of each calibration and the excess
// risk measured with it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "learning/api/calibration.hpp"
#include "sotto/core/values.hpp"
#include "sotto/data/examples.hpp"
#include "sotto/learning/model.hpp"

namespace sotto {

/// Logistic regression without an intercept on made-up rows of norm at most 1. The loss is convex
/// and 1-Lipschitz, so clipping to 1 changes nothing.
struct MadeUpProblem {
  std::int64_t rows = 400;
  std::size_t dimension = 5;
  double diameter = 10;    ///< of the ball that the parameters lie in
  std::uint64_t seed = 1;  ///< of the rows
};
/// Returns rows whose directions are uniform on the sphere and whose classes follow the logistic
/// model of a random parameter on the surface of the ball. Throws InvalidValue for a problem out of
/// range.
Examples made_up_rows(const MadeUpProblem& problem);
std::unique_ptr<Model> made_up_model(const MadeUpProblem& problem);

/// Returns the mean loss of the parameters over all rows.
double mean_loss(const Model& model, const Examples& examples,
                 const std::vector<double>& parameters);
/// Returns the least mean loss within the ball, computed by accelerated projected descent; at most
/// 1.3e-7 too large [Beck2009, Thm 4.4].
double least_loss(const MadeUpProblem& problem, const Examples& examples);

struct MeasuredRisk {
  std::string method;        ///< "tight", "rdp", "closed form", or "no noise"
  std::string refusal = {};  ///< why the method does not apply; the members below are empty then
  double noise = 0;          ///< standard deviation on each coordinate of the mean gradient
  double bound = 0;          ///< upper bound on the expected excess risk
  std::vector<double>
      risks{};  ///< for each run, the mean loss of the last iterate minus the least mean loss
  [[nodiscard]] double mean() const;
  [[nodiscard]] double deviation() const;  ///< standard deviation of a run; 0 if there is only one
};

struct TextbookSettings {
  MadeUpProblem problem = {};
  std::int64_t batch = 1;
  std::optional<std::int64_t> steps = std::nullopt;  ///< n² by default
  int runs = 3;                                      ///< trainings with independent noise
};
struct TextbookResult {
  std::int64_t steps;
  double least;  ///< the least mean loss
  std::vector<MeasuredRisk> methods;
};
/// Trains `runs` times with the noise of each method, and as often without noise, which is allowed
/// because the rows are made up. Throws InvalidValue if `runs` is below 1 or the problem is out of
/// range.
TextbookResult compare_textbook(const TextbookSettings& ask, Epsilon epsilon, Delta delta);

}  // namespace sotto
