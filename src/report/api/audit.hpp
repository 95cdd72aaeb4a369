// What was measured beside what is claimed, as text and as figures.
#pragma once

#include <string>

#include "sotto/audit/audit.hpp"
#include "report/api/answers.hpp"
#include "report/api/chart.hpp"

namespace sotto {

/// sotto.audit/1: the measured bounds, the events behind them, and the claims.
std::string audit_text(const Plan& event, const Audit& audit, const AuditClaim& claim, Format format);
/// What a contradiction means, in a sentence or two; empty if there is none.
std::string finding_text(const Plan& event, const Audit& audit, const AuditClaim& claim);

/// The number behind the event on both inputs, and the threshold.
Chart audit_histogram_chart(const Plan& event, const Audit& audit);
/// The claimed δ(ε) and the measured points, which lie below it or are findings.
Chart audit_profile_chart(const Plan& event, const Audit& audit, const AuditClaim& claim);
/// Both, one above the other.
std::string audit_svg(const Plan& event, const Audit& audit, const AuditClaim& claim);

}  // namespace sotto
