// Lower bounds on ε and δ, measured from a mechanism's outputs on two neighbouring inputs, with a stated confidence.
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

/// A mechanism on either of two neighbouring inputs, seen through numbers that are computed from its output. Any mechanism: what is
/// measured of it assumes only that its outputs are independent.
struct Suspect {
  std::string inputs;                                                ///< both inputs in words, such as "0 and 1"
  std::vector<std::string> numbers;                                  ///< what each number is, such as "output"
  std::function<void(bool second, std::span<double> numbers)> draw;  ///< the numbers of a fresh output on the first or the second input
};

struct AuditOptions {
  std::int64_t trials = 1'000'000;                  ///< outputs for each input, from 100 to 2^31
  double confidence = 0.95;                         ///< of each measured bound by itself
  Delta delta = Delta(0);                           ///< ε is measured at this δ
  Epsilon epsilon = Epsilon(0);                     ///< δ is measured at this ε; at 0 it is the total variation distance
  std::function<void(double share)> progress = {};  ///< told now and then how much is done
};

/// An event E and how often it happened among outputs that had no part in choosing it.
struct AuditEvent {
  std::string inputs;
  std::string what;             ///< such as "output >= 1.25"
  bool of_second = false;       ///< P is the law on the second input and Q that on the first; else the other way round
  std::int64_t hits = 0;        ///< under P
  std::int64_t false_hits = 0;  ///< under Q
  std::int64_t trials = 0;      ///< of each
  double p_lower = 0;           ///< P(E) is at least this
  double q_upper = 1;           ///< Q(E) is at most this
};

/// A lower bound, wrong with probability at most 1 - confidence.
struct MeasuredBound {
  double lower = 0;
  AuditEvent event;
};

/// How the number behind the event for ε is spread on each input.
struct AuditHistogram {
  std::string number;
  std::vector<double> edges;  ///< one more than bins
  std::vector<double> first, second;
  std::optional<double> threshold;
};

struct Audit {
  double confidence = 0;
  double delta_at = 0;
  double epsilon_at = 0;
  MeasuredBound epsilon;  ///< ε at delta_at
  MeasuredBound delta;    ///< δ at epsilon_at
  AuditHistogram histogram;
};

/// Events are chosen on a quarter of the trials or less: thresholds on each number, and sets of its values (and of the places of its last
/// bit) by their likelihood ratio, in both directions. On the other trials P(E) and Q(E) are bounded after Clopper and Pearson, so that
/// ε >= log((P - δ)/Q) and δ >= P - e^ε Q. docs/theory/audit.md has the proof.
Audit audit(const std::vector<Suspect>& suspects, const AuditOptions& options);

/// sotto's own mechanism for a plan's leaf, on the inputs that tell most.
struct AuditSubject {
  Plan event;  ///< what one release claims to cost
  std::vector<Suspect> suspects;
};
/// gaussian, laplace, arsinh, discrete_gaussian, discrete_laplace, randomized_response or exponential. The grid 2^grid is for the first
/// three; with several coordinates the sensitivity lies on one of them, and for Laplace and Gaussian noise also on all alike.
AuditSubject audit_subject(const Plan& leaf, std::optional<int> grid = std::nullopt, std::int64_t coordinates = 1);

/// What the accountant claims of one release: ε at δ and δ at ε, from above.
struct AuditClaim {
  double epsilon;
  double delta;
};
AuditClaim claim_of(const Plan& event, Delta delta, Epsilon epsilon);
/// More was measured than is claimed.
bool contradicts(const Audit& audit, const AuditClaim& claim);
/// The δ at which ε is measured unless one is asked for: 0 where a finite ε is claimed at 0, else 1e-5.
Delta audit_delta(const Plan& event);

}  // namespace sotto
