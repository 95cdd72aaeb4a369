// Clipping: bounds on how much one unit changes the sum of gradients.
#pragma once

#include <optional>
#include <string>

namespace sotto {

enum class ClippingKind {
  flat,       ///< a gradient longer than `norm` is scaled down to it [Abadi2016]
  per_layer,  ///< each layer's gradient is clipped to norm/√layers
  automatic,  ///< every gradient g becomes norm · g/(|g| + stability) [Bu2023]
};
/// Returns the name that studies and descriptions use; parse_clipping reads it.
std::string name_of(ClippingKind kind);
/// Throws InvalidValue for any other name.
ClippingKind parse_clipping(const std::string& name);

/// Adaptive clipping moves the clipping norm towards a quantile of the gradients' norms
/// [Andrew2021]. Each step measures the share of gradients within the norm, under separate noise.
struct AdaptiveClipping {
  double quantile = 0.5;
  double rate =
      0.2;  ///< norm ← norm · e^(-rate (share - quantile)), share: gradients within the norm
  double noise =
      10.0;  ///< standard deviation of the noise on Σ (1 if within the norm, else 0) - 1/2
  friend bool operator==(const AdaptiveClipping&, const AdaptiveClipping&) = default;
};

/// How gradients are clipped. All of it is public.
struct Clipping {
  ClippingKind kind = ClippingKind::flat;
  double norm = 1;          ///< exact bound on the L2 norm of a unit's clipped gradient
  double stability = 0.01;  ///< read by automatic clipping only
  std::optional<AdaptiveClipping> adaptive = std::nullopt;  ///< allowed with flat clipping only
  friend bool operator==(const Clipping&, const Clipping&) = default;
};

}  // namespace sotto
