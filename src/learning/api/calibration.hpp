// Noise that a training needs, by three methods: the tight accountant, Rényi DP and a textbook
// formula. Also the textbook's bound on the excess risk of DP-SGD.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "sotto/core/values.hpp"
#include "sotto/learning/train.hpp"

namespace sotto {

/// The noise that one method finds.
struct NoiseCalibration {
  std::string method;           ///< "tight", "rdp" or "closed form"
  std::optional<double> noise;  ///< sufficient Training::noise; absent if the method does not apply
  std::string refusal = {};     ///< reason if `noise` is absent
};
/// Returns the noise by each of the three methods, for the sampling, steps and relation of the
/// training. Ignores training.noise.
std::vector<NoiseCalibration> noise_by_method(const Training& training, Epsilon epsilon,
                                              Delta delta);

/// Returns the noise on the sum, in clipping norms, by a closed form [Bassily2014], rounded up:
/// 8 k s √(T log(2/δ) log(2.5 s T/δ))/ε with sampling rate s, T steps, and sensitivity k (2 under
/// replace-one, else 1). On the mean of m of n records under replace-one it reads
/// 16 l √(T log(2/δ) log(2.5 m T/(δn)))/(nε).
///
/// It combines the classical Gaussian mechanism, amplification and the simple form of advanced
/// composition, with δ split in halves. Throws OutsideConditions unless a step's ε' = ε/(4 s √(2 T
/// log(2/δ))) <= 1 and δ' = δ/(2 s T) < 1, and √T (e^ε'' - 1) <= √(2 log(2/δ)) for the amplified
/// ε'' = 2 s ε'.
double closed_form_noise(const Training& training, Epsilon epsilon, Delta delta);

/// Returns an upper bound on the expected excess risk: the mean loss of the last iterate minus its
/// minimum over the region [Shamir2013, Thm 2]. For steps c/√t in a convex region of diameter D it
/// is (D²/c + cG²)(2 + log T)/√T, with G² = l² + p s² for p parameters and noise of standard
/// deviation s on the mean gradient. At c = D/G that is 2 D G (2 + log T)/√T. Rounded up.
///
/// Throws OutsideConditions unless the batch has a fixed size or is full, and the sum is divided by
/// its size; `lipschitz`, for which the caller vouches, is at most the clipping norm, so that
/// clipping has no effect; and the optimiser is SGD with inverse_root steps and a region, without
/// averaging, momentum or l2. `units` is the size of a full batch.
double excess_risk_bound(const Training& training, double lipschitz, std::size_t parameters,
                         std::size_t units);

/// The DP-SGD of the textbook [Bassily2014]: batches of fixed size, replace-one, an l-Lipschitz
/// loss, steps R/(G√t), projection onto a ball of diameter R, and by default n² steps.
struct TextbookTraining {
  std::int64_t population;
  std::int64_t batch = 1;
  double diameter = 2;
  double lipschitz = 1;
  std::size_t parameters;
  std::optional<std::int64_t> steps = std::nullopt;
};
/// Returns the training with noise by the tight accountant.
Training textbook_training(const TextbookTraining& textbook, Epsilon epsilon, Delta delta);
/// Returns the training with this noise, and the step size that follows from it.
Training textbook_training(const TextbookTraining& textbook, double noise);

}  // namespace sotto
