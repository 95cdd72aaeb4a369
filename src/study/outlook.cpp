#include "sotto/study/outlook.hpp"

#include "sotto/study/run.hpp"

namespace sotto {

Outlook outlook(const Study& study, const Design& design, const Ledger& ledger, bool again) {
  Filter filter = ledger.filter();
  if (!again && ledger.answer(request_id(study, ledger))) return {true, true, filter.left(), {}, ""};
  if (again || !ledger.charge_of(request_id(study, ledger))) require_limits(study);
  const Decision decision = filter.admit(design.plan, design.at);
  return {false, decision.admitted, filter.left(), decision.missing, decision.reason};
}

}  // namespace sotto
