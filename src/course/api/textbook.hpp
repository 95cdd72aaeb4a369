// The textbook's DP-SGD on a made-up convex problem: the noise of each calibration, and the excess risk that was measured with it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sotto/core/values.hpp"
#include "sotto/data/examples.hpp"
#include "learning/api/calibration.hpp"
#include "sotto/learning/model.hpp"

namespace sotto {

/// Logistic regression without an intercept on made-up rows, none longer than 1: convex and 1-Lipschitz, so that clipping to 1 changes nothing.
struct MadeUpProblem {
  std::int64_t rows = 400;
  std::size_t dimension = 5;
  double diameter = 10;    ///< of the ball that the parameters lie in
  std::uint64_t seed = 1;  ///< of the rows
};
/// Directions drawn evenly; the class follows the logistic model of a parameter on the ball's surface.
Examples made_up_rows(const MadeUpProblem& problem);
std::unique_ptr<Model> made_up_model(const MadeUpProblem& problem);

/// The mean loss of these parameters over all rows.
double mean_loss(const Model& model, const Examples& examples, const std::vector<double>& parameters);
/// The least mean loss within the ball, by accelerated projected descent: at most 1.3e-7 above [Beck2009, Thm 4.4].
double least_loss(const MadeUpProblem& problem, const Examples& examples);

struct MeasuredRisk {
  std::string method;           ///< "tight", "rdp", "closed form", or "no noise"
  std::string refusal = {};     ///< why the method does not apply; what follows is then empty
  double noise = 0;             ///< on each coordinate of the mean gradient
  double bound = 0;             ///< on the expected excess risk
  std::vector<double> risks{};  ///< measured: the mean loss of the last iterate less the least one, for each run
  [[nodiscard]] double mean() const;
  [[nodiscard]] double deviation() const;  ///< of one run; 0 for a single one
};

struct TextbookAsk {
  MadeUpProblem problem = {};
  std::int64_t batch = 1;
  std::optional<std::int64_t> steps = std::nullopt;  ///< n² unless said
  int runs = 3;                                      ///< with noise of their own
};
struct TextbookResult {
  std::int64_t steps;
  double least;  ///< the least mean loss
  std::vector<MeasuredRisk> methods;
};
/// Trains `runs` times with the noise of each method, and without noise. A run without noise is for made-up rows alone.
TextbookResult compare_textbook(const TextbookAsk& ask, Epsilon epsilon, Delta delta);

}  // namespace sotto
