// What a part of a plan puts into the composed loss.
#pragma once

#include <string>
#include <vector>

#include "sotto/accounting/derivation.hpp"
#include "sotto/pld/privacy_loss.hpp"
#include "units.hpp"

namespace sotto::accounting_detail {

// A part's losses, and whether they are those of a mechanism that the words allow.
struct Part {
  PrivacyLossPtr removed;
  PrivacyLossPtr added;  // null where it is the same
  Real failure = 0;
  bool attained = true;
  std::string theorem;
  std::string reference;
  std::vector<Condition> conditions = {};
};

/// OutsideConditions, with the plan's text before the reason.
[[noreturn]] void refuse(const Plan& plan, const std::string& why);

/// The lattice of a loss that is the largest of its own, so many of it to a spacing.
Lattice spaced(const Real& loss, double spacings);
/// Randomized response on losses ±ε: P puts e^ε/(1+e^ε) on ε.
PrivacyLossPtr response_loss(const Real& epsilon);

/// Everything that runs on one sample. On the lower side what some mechanism is known to reach, the rest left out.
Part sampled_part(const Plan& plan, const Sampling& sampling, Side side);

/// Parts in parallel none of which is dearest at every ε: the pair whose profile is the largest of theirs.
Part parallel_part(const Plan& plan, const Parallel& parallel);

}  // namespace sotto::accounting_detail
