// Clipping: how much one unit may change the sum of gradients.
#pragma once

#include <optional>
#include <string>

namespace sotto {

enum class ClippingKind {
  flat,       ///< the whole gradient is shortened to the norm if it is longer [Abadi2016]
  per_layer,  ///< each layer's to norm/√layers
  automatic,  ///< every gradient is scaled to norm · g/(|g| + stability) [Bu2023]
};
std::string name_of(ClippingKind kind);
ClippingKind parse_clipping(const std::string& name);

/// The norm moves towards a quantile of the gradients' norms, which is measured under noise of its own [Andrew2021].
struct AdaptiveClipping {
  double quantile = 0.5;
  double rate = 0.2;    ///< norm ← norm · e^(-rate (share - quantile))
  double noise = 10.0;  ///< the standard deviation of the noise on the number of gradients within the norm, less half of all
  friend bool operator==(const AdaptiveClipping&, const AdaptiveClipping&) = default;
};

struct Clipping {
  ClippingKind kind = ClippingKind::flat;
  double norm = 1;                                          ///< a unit's gradient has at most this L2 norm, exactly
  double stability = 0.01;                                  ///< of automatic clipping
  std::optional<AdaptiveClipping> adaptive = std::nullopt;  ///< of flat clipping
  friend bool operator==(const Clipping&, const Clipping&) = default;
};

}  // namespace sotto
