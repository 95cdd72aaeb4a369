// Privacy audits: lower bounds on ε and δ with a stated confidence, measured from a mechanism's
// outputs on two neighbouring inputs.
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

/// A mechanism on two neighbouring inputs, observed through numbers that are computed from its
/// output. The measured bounds assume only that outputs are independent.
struct Suspect {
  std::string inputs;                ///< describes both inputs, such as "0 and 1"
  std::vector<std::string> numbers;  ///< the name of each number, such as "output"
  std::function<void(bool second, std::span<double> numbers)>
      draw;  ///< writes the numbers of a fresh output on the first or the second input
};

/// The size and the confidence of an audit.
struct AuditOptions {
  std::int64_t trials = 1'000'000;  ///< outputs for each input, from 100 to 2^31
  double confidence = 0.95;         ///< of each measured bound separately
  Delta delta = Delta(0);           ///< ε is measured at this δ
  Epsilon epsilon =
      Epsilon(0);  ///< δ is measured at this ε; at ε = 0 it is the total variation distance
  std::function<void(double share)> progress =
      {};  ///< called now and then with the part that is done
};

/// An event E, and how often it happened among outputs that were not used to choose it.
struct AuditEvent {
  std::string inputs;
  std::string what;        ///< the event, such as "output >= 1.25"
  bool of_second = false;  ///< P is the distribution on the second input and Q that on the first;
                           ///< else P and Q are exchanged
  std::int64_t hits = 0;   ///< under P
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

/// Histograms, on each input, of the number of the event for ε.
struct AuditHistogram {
  std::string number;
  std::vector<double> edges;  ///< one more than bins
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

/// Measures lower bounds on ε and δ. At most a quarter of the trials choose an event E: thresholds
/// on each number, and sets of its values (or of the positions of its last bit) by likelihood
/// ratio, in both directions. The other trials bound P(E) from below and Q(E) from above by Clopper
/// and Pearson's exact intervals [Clopper1934], so that ε >= log((P(E) - δ)/Q(E)) and δ >= P(E) -
/// e^ε Q(E). docs/theory/audit.md has the proof. Throws InvalidValue for options out of range.
Audit audit(const std::vector<Suspect>& suspects, const AuditOptions& options);

/// The mechanism of sotto for a leaf of a plan, on the neighbouring inputs that are easiest to
/// distinguish.
struct AuditSubject {
  Plan event;  ///< the claimed cost of one release
  std::vector<Suspect> suspects;
};
/// Returns the subject for a leaf that is gaussian, laplace, arsinh, discrete_gaussian,
/// discrete_laplace, randomized_response or exponential. `grid` sets the grid 2^grid of the first
/// three. For several coordinates the sensitivity lies on one of them, and for Laplace and Gaussian
/// noise also evenly on all. Throws InvalidValue for any other plan.
AuditSubject audit_subject(const Plan& leaf, std::optional<int> grid = std::nullopt,
                           std::int64_t coordinates = 1);

/// The guarantee of one release: upper bounds on ε at δ and on δ at ε.
struct AuditClaim {
  double epsilon;
  double delta;
};
/// Returns the guarantee that the accountant proves.
AuditClaim claim_of(const Plan& event, Delta delta, Epsilon epsilon);
/// Returns whether a measured lower bound exceeds the claimed upper bound.
bool contradicts(const Audit& audit, const AuditClaim& claim);
/// Returns the default δ at which ε is measured: 0 if the event has a finite ε at δ = 0, else 1e-5.
Delta audit_delta(const Plan& event);

}  // namespace sotto
