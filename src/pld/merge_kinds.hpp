// Many sampled steps that differ little, as fewer kinds: all of a kind as dear as its dearest, or as cheap as its cheapest.
#pragma once

#include <optional>
#include <vector>

#include "sotto/pld/privacy_loss.hpp"

namespace sotto::pld_detail {

/// A loss whose profile grows with the base's size (μ or x) and with the rate, in both directions: δ(ε) = q δ₀(log(1 + (e^ε - 1)/q)) with a record
/// removed, and the same line for one added, grow with q and with δ₀ [Balle2018b].
class Graded {
 public:
  virtual ~Graded() = default;
  [[nodiscard]] virtual const Real& size() const = 0;
  [[nodiscard]] virtual const Real& sampling_rate() const = 0;
  /// Of the same kind and direction.
  [[nodiscard]] virtual PrivacyLossPtr p(const Real& size, const Real& rate) const = 0;
};

struct Merged {
  std::vector<LossStep> dearer, cheaper;
};

/// At most about so many kinds of graded steps, what else there is unchanged; nothing where there are no more than that. What dominates step by step
/// dominates composed [Zhu2022].
std::optional<Merged> merged(const std::vector<LossStep>& steps, std::size_t most);

}  // namespace sotto::pld_detail
