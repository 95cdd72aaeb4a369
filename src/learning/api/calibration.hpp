// How much noise a training needs, by the tight accountant, by Rényi DP and by the textbook's closed form; and what it can be proved to learn.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "sotto/core/values.hpp"
#include "sotto/learning/train.hpp"

namespace sotto {

struct NoiseCalibration {
  std::string method;           ///< "tight", "rdp" or "closed form"
  std::optional<double> noise;  ///< Training::noise that suffices; nothing where the method does not apply
  std::string refusal = {};     ///< why not
};
/// All three, for the training's sampling, steps and relation; its noise is not read.
std::vector<NoiseCalibration> noise_by_method(const Training& training, Epsilon epsilon, Delta delta);

/// The noise on the sum, in clipping norms, by the closed form 8 k s √(T log(2/δ) log(2.5 s T/δ))/ε, rounded up: s the sampling rate, T steps, k the
/// sensitivity, 2 under replace-one and else 1. (On the mean of m of n records, with replace-one: 16 l √(T log(2/δ) log(2.5 m T/(δn)))/(nε)
/// [Bassily2014].) A classical Gaussian step, amplification and the simple form of advanced composition, δ split in halves: OutsideConditions unless
/// the step's ε' = ε/(4 s √(2 T log(2/δ))) <= 1 and its δ' = δ/(2 s T) < 1, and √T (e^ε'' - 1) <= √(2 log(2/δ)) for the amplified ε'' = 2 s ε'.
double closed_form_noise(const Training& training, Epsilon epsilon, Delta delta);

/// How far above its minimum over the region the mean loss of the last iterate is at most, in expectation: (D²/c + cG²)(2 + log T)/√T for steps c/√t
/// in a convex region of diameter D, G² = l² + p s² for p parameters and noise of deviation s on the mean gradient [Shamir2013, Thm 2]. At c = D/G
/// that is 2 D G (2 + log T)/√T. Rounded up.
///
/// OutsideConditions unless: the batch is of fixed size or full, and divided by its size; the loss is convex and l-Lipschitz with l at most the
/// clipping norm, so that clipping changes nothing (`lipschitz` is the caller's word); SGD with inverse_root steps, a region, no averaging,
/// momentum or l2. `units` is the number of units: of a full batch.
double excess_risk_bound(const Training& training, double lipschitz, std::size_t parameters, std::size_t units);

/// The textbook's DP-SGD [Bassily2014]: batches of fixed size, replace-one, an l-Lipschitz loss, steps R/(G√t), projection onto a ball of diameter R,
/// n² steps unless fewer are asked for, noise by the tight accountant.
struct TextbookTraining {
  std::int64_t population;
  std::int64_t batch = 1;
  double diameter = 2;
  double lipschitz = 1;
  std::size_t parameters;
  std::optional<std::int64_t> steps = std::nullopt;
};
Training textbook_training(const TextbookTraining& textbook, Epsilon epsilon, Delta delta);
/// The same with this noise, and the step size that goes with it.
Training textbook_training(const TextbookTraining& textbook, double noise);

}  // namespace sotto
