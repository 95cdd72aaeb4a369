// The result of an audit, measured bounds against claimed ones, as text and as charts.
#pragma once

#include <string>

#include "report/api/answers.hpp"
#include "report/api/chart.hpp"
#include "sotto/audit/audit.hpp"

namespace sotto {

/// Returns the measured lower bounds, the events that they were measured on, and the claims;
/// sotto.audit/1.
std::string audit_text(const Plan& event, const Audit& audit, const AuditClaim& claim,
                       Format format);
/// Returns what a contradiction of the claim means, in two sentences; empty if nothing contradicts
/// it.
std::string finding_text(const Plan& event, const Audit& audit, const AuditClaim& claim);

/// Histograms of the number that decides the event on both inputs, and the event's threshold.
Chart audit_histogram_chart(const Plan& event, const Audit& audit);
/// The claimed δ(ε) and the measured points. A point above the curve contradicts the claim.
Chart audit_profile_chart(const Plan& event, const Audit& audit, const AuditClaim& claim);
/// Both charts in one picture, one above the other.
std::string audit_svg(const Plan& event, const Audit& audit, const AuditClaim& claim);

}  // namespace sotto
