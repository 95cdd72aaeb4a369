#include "chain.hpp"

#include <sstream>
#include <unordered_map>

#include "sotto/accounting/account.hpp"
#include "sotto/core/decimal.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/plan/text.hpp"
#include "text.hpp"

namespace sotto::ledger_detail {
namespace {

// A total under a committed plan: "used 3 0 1".
constexpr const char* uses = "used";

Tally read_uses(const std::string& text) {
  std::istringstream words(text);
  std::string word;
  Tally tally;
  words >> word;
  for (std::int64_t count = 0; word == uses && words >> count;) {
    tally.used.push_back(count);
    tally.amount += Real(static_cast<double>(count));
  }
  if (word != uses || !words.eof() || tally.used.empty()) throw LedgerError("a total in the ledger cannot be read");
  return tally;
}

// Whether what was charged covers the event as it is costed today. Another version of sotto may find it cheaper. A tight ε may also
// come out a little dearer, within its bracket: then what counts is that nothing below the charge is proved.
bool covered(const Terms& terms, const Plan& event, const Charge& charged) {
  constexpr double room = 1 + 0x1p-40;
  const auto covers = [&charged](const Charge& cost) { return cost.amount <= charged.amount * room && cost.delta <= charged.delta * room; };
  if (!std::holds_alternative<ApproximateBudget>(terms.budget)) return covers(Filter(terms.budget, terms.relation).admit(event).cost);
  try {
    if (covers(Filter(terms.budget, terms.relation).admit(event).cost)) return true;
  } catch (const OutsideConditions&) {  // it has a cost only at a delta of its own
  }
  const Answer tight = epsilon(event, Delta(charged.delta), {.relation = terms.relation});
  return charged.amount >= tight.value.lower && charged.amount * (1 + 1e-5) >= tight.value.upper;
}

}  // namespace

std::string first_hash(const Ledger::Store::Founding& f) { return chained("sotto ledger", {f.id, f.created, f.name, f.unit, f.relation, f.budget}); }

std::string hash_of(const std::string& before, const StoredEntry& stored) {
  const Entry& e = stored.entry;
  return chained(before, {std::to_string(e.number), e.time, e.request, e.content, e.plan, shortest(e.cost.amount), shortest(e.cost.delta),
                          stored.amount, stored.delta});
}

Terms terms_of(const Ledger::Store::Founding& founding) {
  const auto relation = relation_named(founding.relation);
  if (!relation) throw LedgerError("the ledger's relation cannot be read: it is damaged");
  try {
    return {.name = founding.name, .unit = founding.unit, .relation = *relation, .budget = parse_budget(founding.budget)};
  } catch (const std::invalid_argument&) {
    throw LedgerError("the ledger's budget cannot be read: it is damaged");
  }
}

Tally tally_of(const Budget& budget, const std::optional<StoredEntry>& last) {
  if (!last) return {};
  if (std::holds_alternative<CommittedBudget>(budget)) return read_uses(last->amount);
  return {read_exact(last->amount), read_exact(last->delta)};
}

std::string amount_text(const Tally& tally) {
  if (tally.used.empty()) return exact(tally.amount);
  std::string text = uses;
  for (const std::int64_t count : tally.used) text += " " + std::to_string(count);
  return text;
}

Finding check(const Ledger::Store::Founding& founding, const std::vector<StoredEntry>& entries, const std::optional<Head>& kept) {
  const Terms terms = terms_of(founding);
  Filter filter(terms.budget, terms.relation);  // a committed plan is spent in it
  const Charge limit = filter.limit();
  const bool committed = std::holds_alternative<CommittedBudget>(terms.budget);
  Tally tally;
  Head head{0, first_hash(founding)};
  bool met = !kept || (kept->number == 0 && kept->hash == head.hash);
  const auto wrong = [&](const std::string& words) { return Finding{false, words, head}; };
  std::unordered_map<std::string, bool> known;  // equal events of equal cost, looked at once
  for (const StoredEntry& stored : entries) {
    const Entry& entry = stored.entry;
    const std::string which = "entry " + std::to_string(head.number + 1);
    if (entry.number != head.number + 1) return wrong(which + " is missing");
    if (entry.hash != hash_of(head.hash, stored)) return wrong(which + " was changed");
    try {
      // the totals anew from the costs, and the cost anew from the plan
      if (committed) {
        const Decision decision = filter.admit(parse(entry.plan));
        if (!decision) return wrong(which + " exceeds the budget: " + decision.reason);
        if (decision.cost != entry.cost) return wrong(which + " has another cost");
        tally = filter.tally();
      } else {
        tally.amount += Real(entry.cost.amount);
        tally.delta += Real(entry.cost.delta);
      }
      if (amount_text(tally) != stored.amount || exact(tally.delta) != stored.delta) return wrong(which + " has another total");
      if (tally.amount.upper() > limit.amount || tally.delta.upper() > limit.delta) return wrong(which + " exceeds the budget");
      if (!committed) {
        const auto [at, is_new] = known.try_emplace(shortest(entry.cost.amount) + " " + shortest(entry.cost.delta) + " " + entry.plan, true);
        if (is_new) at->second = covered(terms, parse(entry.plan), entry.cost);
        if (!at->second) return wrong(which + " costs more than was charged for it");
      }
    } catch (const std::invalid_argument& e) {
      return wrong(which + " cannot be read: " + e.what());
    } catch (const OutsideConditions& e) {
      return wrong(which + " has no cost: " + e.what());
    }
    head = {entry.number, entry.hash};
    if (kept && kept->number == head.number) {
      if (kept->hash != head.hash) return wrong(which + " is not the one whose head was kept");
      met = true;
    }
  }
  if (!met) return wrong("the ledger ends at entry " + std::to_string(head.number) + ", before the head that was kept: it was truncated or put back");
  return {true, std::to_string(head.number) + (head.number == 1 ? " entry" : " entries") + ", each as it was written, within the budget", head};
}

}  // namespace sotto::ledger_detail
