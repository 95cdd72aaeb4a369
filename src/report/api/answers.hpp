// Answers about a plan as text: a table for people, and for programs CSV and JSON with a versioned
// schema.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sotto/accounting/account.hpp"
#include "sotto/accounting/calibrate.hpp"

namespace sotto {

enum class Format { table, json, csv };

/// Returns the format of this name, or nullopt for another text.
std::optional<Format> format_named(std::string_view name);

// Every function below returns text that ends with a newline. The comment on a function names its
// JSON schema. In JSON an infinite number is "inf", and a lower bound that is not known is null.

/// ε of the plan at δ; sotto.epsilon/1.
std::string epsilon_text(const Plan& plan, Delta delta, const Answer& answer, Format format);
/// δ of the plan at ε; sotto.delta/1.
std::string delta_text(const Plan& plan, Epsilon epsilon, const Answer& answer, Format format);
/// The Rényi divergence of one order; sotto.divergence/1.
std::string divergence_text(const Plan& plan, const Answer& answer, Format format);
/// The Rényi divergences of a list of orders, at least one; sotto.divergence-curve/1.
std::string divergence_curve_text(const Plan& plan, const std::vector<Answer>& answers,
                                  Format format);
/// ε by each method, one row per method; sotto.compare/1.
std::string compare_text(const Plan& plan, Delta delta, const std::vector<Comparison>& rows,
                         Format format);
/// The derivation of ε as a tree of theorems, and what (ε, δ) allows an attacker; sotto.explain/1.
std::string explain_text(const Plan& plan, Delta delta, const Answer& answer, Format format);
/// The value that fills the plan's hole for an (ε, δ) target, and the filled plan;
/// sotto.calibrate/1.
std::string calibrate_text(Epsilon epsilon, Delta delta, const Calibration& calibration,
                           Format format);
/// As above, for an RDP, zCDP or tCDP target.
std::string calibrate_text(const DivergenceTarget& target, const Calibration& calibration,
                           Format format);

}  // namespace sotto
