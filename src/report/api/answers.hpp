// Answers as text: a table to read, JSON (versioned and stable) or CSV to process.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sotto/accounting/account.hpp"
#include "sotto/accounting/calibrate.hpp"

namespace sotto {

enum class Format { table, json, csv };
std::optional<Format> format_named(std::string_view name);

// Every function ends its text with a newline. In JSON an infinite number is "inf" and an unproved one null.

/// sotto.epsilon/1: ε of the plan at δ.
std::string epsilon_text(const Plan& plan, Delta delta, const Answer& answer, Format format);
/// sotto.delta/1: δ of the plan at ε.
std::string delta_text(const Plan& plan, Epsilon epsilon, const Answer& answer, Format format);
/// sotto.divergence/1: one order; a list of orders is sotto.divergence-curve/1.
std::string divergence_text(const Plan& plan, const Answer& answer, Format format);
std::string divergence_curve_text(const Plan& plan, const std::vector<Answer>& answers, Format format);
/// sotto.compare/1: one row a method.
std::string compare_text(const Plan& plan, Delta delta, const std::vector<Comparison>& rows, Format format);
/// sotto.explain/1: the derivation as a tree.
std::string explain_text(const Plan& plan, Delta delta, const Answer& answer, Format format);
/// sotto.calibrate/1: what fills the hole, and the filled plan.
std::string calibrate_text(Epsilon epsilon, Delta delta, const Calibration& calibration, Format format);
/// The same for an RDP, zCDP or tCDP target.
std::string calibrate_text(const DivergenceTarget& target, const Calibration& calibration, Format format);

}  // namespace sotto
