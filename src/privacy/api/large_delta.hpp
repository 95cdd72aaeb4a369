// When a delta is too large to promise anything.
#pragma once

#include <optional>
#include <string>

namespace sotto {

/// The δ above which doubt_about_delta speaks for any number of units.
inline constexpr double large_delta = 1e-3;

/// Words for a curator where δ >= 1/n, for a public number n of units, or δ > 1e-3; empty otherwise, and for δ >= 1. To publish each unit's record
/// with probability δ is (0, δ)-DP, and publishes δn of n records on average.
std::string doubt_about_delta(double delta, std::optional<double> units = std::nullopt, const std::string& unit = "unit");

}  // namespace sotto
