// Lower bounds on ε and δ, measured from a mechanism's outputs on two neighbouring inputs, with a
// stated confidence.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sotto/core/values.hpp"
#include "sotto/plan/plan.hpp"

namespace sotto {

/// A suspect is a mechanism on a pair of neighbouring inputs, observed through numbers that are
/// computed from its output. It can be any mechanism whose outputs are independent; nothing else is
/// assumed.
struct Suspect {
  std::string inputs;                                                ///< the two inputs in words, such as "0 and 1"
  std::vector<std::string> numbers;                                  ///< the name of each number, such as "output"
  std::function<void(bool second, std::span<double> numbers)> draw;  ///< draws an output on the first or second input and writes its numbers
};

/// The size and the confidence of an audit.
struct AuditOptions {
  std::int64_t trials = 1'000'000;                  ///< outputs for each input, from 100 to 2^31
  double confidence = 0.95;                         ///< of each measured bound separately
  Delta delta = Delta(0);                           ///< ε is measured at this δ
  Epsilon epsilon = Epsilon(0);                     ///< δ is measured at this ε; at 0 it is the total variation distance
  std::function<void(double share)> progress = {};  ///< receives the share of the work that is done
};

/// An event E and its frequency among outputs that were not used to choose it.
struct AuditEvent {
  std::string inputs;
  std::string what;             ///< the event in words, such as "output >= 1.25"
  bool of_second = false;       ///< P is the distribution on the second input and Q on the first; otherwise P on the first and Q on the second
  std::int64_t hits = 0;        ///< outputs in E under P
  std::int64_t false_hits = 0;  ///< outputs in E under Q
  std::int64_t trials = 0;      ///< outputs on each input
  double p_lower = 0;           ///< lower bound on P(E)
  double q_upper = 1;           ///< upper bound on Q(E)
};

/// A lower bound that is wrong with probability at most 1 - confidence.
struct MeasuredBound {
  double lower = 0;
  AuditEvent event;
};

/// Histograms, on both inputs, of the number that decides the event for ε.
struct AuditHistogram {
  std::string number;
  std::vector<double> edges;  ///< one more than there are bins
  std::vector<double> first, second;
  std::optional<double> threshold;
};

/// The result of an audit.
struct Audit {
  double confidence = 0;
  double delta_at = 0;
  double epsilon_at = 0;
  MeasuredBound epsilon;  ///< ε at delta_at
  MeasuredBound delta;    ///< δ at epsilon_at
  AuditHistogram histogram;
};

/// Measures lower bounds on ε and δ. A quarter of the trials or less chooses the events: thresholds
/// on each number, and sets of values (and of positions of the last bit) by their likelihood ratio,
/// in both directions. The other trials bound P(E) and Q(E) after Clopper and Pearson, and ε >=
/// log((P - δ)/Q), δ >= P - e^ε Q. docs/theory/audit.md has the proof. Throws InvalidValue for
/// options out of range.
Audit audit(const std::vector<Suspect>& suspects, const AuditOptions& options);

/// The mechanism of a plan's leaf, on the inputs that distinguish best.
struct AuditSubject {
  Plan event;  ///< the claimed cost of one release
  std::vector<Suspect> suspects;
};
/// Returns sotto's mechanism for a leaf: gaussian, laplace, arsinh, discrete_gaussian,
/// discrete_laplace, randomized_response or exponential. The grid 2^grid applies to the first
/// three. With several coordinates one suspect moves a single coordinate by the sensitivity; for
/// Laplace and Gaussian noise another moves all of them equally. Throws InvalidValue for another
/// leaf or a parameter out of range.
AuditSubject audit_subject(const Plan& leaf, std::optional<int> grid = std::nullopt, std::int64_t coordinates = 1);

/// The accountant's upper bounds for one release: ε at δ, and δ at ε.
struct AuditClaim {
  double epsilon;
  double delta;
};
/// Returns the accountant's claim for a release.
AuditClaim claim_of(const Plan& event, Delta delta, Epsilon epsilon);
/// Whether a measured lower bound exceeds the claimed upper bound.
bool contradicts(const Audit& audit, const AuditClaim& claim);
/// Returns the default δ at which ε is measured: 0 if the claim at δ = 0 is finite, otherwise 1e-5.
Delta audit_delta(const Plan& event);

}  // namespace sotto
