#include "sotto/ledger/ledger.hpp"

#include <array>

#include "chain.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/core/text.hpp"
#include "sotto/plan/text.hpp"
#include "sotto/random/random.hpp"
#include "store.hpp"
#include "text.hpp"

namespace sotto {
namespace {

std::string random_id() {
  const std::array<std::uint64_t, 2> words{Random::here().word(), Random::here().word()};
  return ledger_detail::hexadecimal({reinterpret_cast<const unsigned char*>(words.data()), sizeof words});
}

void require(bool condition, const char* what) {
  if (!condition) throw InvalidValue(what);
}

void require_text(const std::string& bytes, const char* what) {
  if (!ledger_detail::is_text(bytes)) throw InvalidValue(std::string(what) + " must be UTF-8 without the byte 0");
}

Ledger::Store::Founding founding_of(const Terms& terms) {
  require(!terms.name.empty(), "a ledger needs a name for its data");
  require(!terms.unit.empty(), "a ledger needs a privacy unit: a column such as person, or row");
  require(terms.relation != Relation::as_stated, "a ledger needs a relation: add-remove, replace-one or zero-out");
  require_text(terms.name, "the data's name");
  require_text(terms.unit, "the privacy unit");
  require_plain_name(terms.name, "the data's name");
  require_plain_name(terms.unit, "the privacy unit");
  const Filter filter(terms.budget, terms.relation);                                           // its numbers are in range
  if (std::holds_alternative<CommittedBudget>(terms.budget)) (void)filter.claim(Delta(1e-6));  // it has a total
  return {random_id(), ledger_detail::time_now(), terms.name, terms.unit, std::string(name(terms.relation)), print(terms.budget)};
}

}  // namespace

Ledger::Ledger(std::unique_ptr<Store> store) : store_(std::move(store)) {
  const Store::Founding founding = store_->founding();
  id_ = founding.id;
  created_ = founding.created;
  terms_ = ledger_detail::terms_of(founding);
}
Ledger::Ledger(Ledger&&) noexcept = default;
Ledger& Ledger::operator=(Ledger&&) noexcept = default;
Ledger::~Ledger() = default;

Ledger Ledger::create(const std::string& place, const Terms& terms, const LedgerOptions& options) {
  return Ledger(create_store(place, {founding_of(terms)}, options.writer));
}
Ledger Ledger::open(const std::string& place, const LedgerOptions& options) { return Ledger(open_store(place, options.patience)); }

Receipt Ledger::charge(const std::string& request, const std::string& content, const Plan& event, std::optional<Delta> at) {
  return charge(std::vector<Order>{{.request = request, .content = content, .event = event, .at = at}}).front();
}

std::vector<Receipt> Ledger::charge(const std::vector<Order>& orders) {
  std::vector<std::string> requests;
  for (const Order& order : orders) {
    require(!order.request.empty(), "a charge needs a request id");
    require_text(order.request, "a request id");
    require_text(order.content, "a request's content");
    requests.push_back(order.request);
  }
  std::vector<Receipt> receipts;
  store_->transact([&] {
    const std::optional<StoredEntry> last = store_->last();
    Head head = last ? Head{last->entry.number, last->entry.hash} : Head{0, ledger_detail::first_hash(store_->founding())};
    Filter filter(terms_.budget, terms_.relation, ledger_detail::tally_of(terms_.budget, last));
    std::map<std::string, StoredEntry> known = store_->of_requests(requests);
    std::vector<StoredEntry> added;
    for (const Order& order : orders) {
      const std::string plan = print(order.event);
      if (const auto before = known.find(order.request); before != known.end()) {
        const Entry& entry = before->second.entry;
        if (entry.content != order.content || entry.plan != plan || (order.at && order.at->value() != entry.cost.delta)) {
          throw LedgerError("request " + order.request + " was charged before for something else: use another id");
        }
        receipts.push_back({true, entry});
        continue;
      }
      const Decision decision = filter.admit(order.event, order.at);
      if (!decision)
        throw BudgetRefused("the budget does not cover " + (plan.size() > 200 ? "this plan" : plan) + ": " + decision.reason, decision.missing);
      const Tally tally = filter.tally();
      StoredEntry stored{{head.number + 1, ledger_detail::time_now(), order.request, order.content, plan, decision.cost, ""},
                         ledger_detail::amount_text(tally),
                         ledger_detail::exact(tally.delta)};
      stored.entry.hash = ledger_detail::hash_of(head.hash, stored);
      head = {stored.entry.number, stored.entry.hash};
      receipts.push_back({false, stored.entry});
      known.emplace(order.request, stored);
      added.push_back(std::move(stored));
    }
    store_->append(added);
  });
  return receipts;
}

void Ledger::keep_answer(const std::string& request, const std::string& answer) {
  require_text(answer, "an answer");
  store_->transact([&] {
    if (store_->of_requests({request}).empty()) throw LedgerError("request " + request + " was not charged: it has no answer");
    if (store_->answer(request)) throw LedgerError("request " + request + " has its answer already");
    store_->keep_answer(request, answer);
  });
}

std::optional<std::string> Ledger::answer(const std::string& request) const { return store_->answer(request); }

std::vector<Entry> Ledger::entries() const {
  std::vector<Entry> entries;
  for (StoredEntry& stored : store_->all()) entries.push_back(std::move(stored.entry));
  return entries;
}

Filter Ledger::filter() const { return {terms_.budget, terms_.relation, ledger_detail::tally_of(terms_.budget, store_->last())}; }

Head Ledger::head() const {
  const auto last = store_->last();
  return last ? Head{last->entry.number, last->entry.hash} : Head{0, ledger_detail::first_hash(store_->founding())};
}

Finding Ledger::verify(const std::optional<Head>& kept) const { return ledger_detail::check(store_->founding(), store_->all(), kept); }

}  // namespace sotto
