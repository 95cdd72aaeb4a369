// A warning for a delta that is too large for a meaningful guarantee.
#pragma once

#include <optional>
#include <string>

namespace sotto {

/// The δ above which there is a warning for any number of units.
inline constexpr double large_delta = 1e-3;

/// Returns a warning for the curator if δ >= 1/n, where n is a public number of units, or if δ >
/// 1e-3. Publishing each unit's record with probability δ satisfies (0, δ)-DP, and publishes δn of
/// n records on average. Returns an empty string otherwise, and for δ >= 1, which is refused
/// elsewhere. `unit` is the word for a unit.
std::string large_delta_warning(double delta, std::optional<double> units = std::nullopt,
                                const std::string& unit = "unit");

}  // namespace sotto
