#include "sotto/ledger/ledger.hpp"

#include <array>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "sotto/core/decimal.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/plan/text.hpp"
#include "sotto/random/random.hpp"
#include "store.hpp"
#include "text.hpp"

namespace sotto {
namespace {

using Json = nlohmann::ordered_json;

std::string random_id() {
  const std::array<std::uint64_t, 2> words{Random::here().word(), Random::here().word()};
  return detail::hexadecimal({reinterpret_cast<const unsigned char*>(words.data()), sizeof words});
}

// The chain starts from the terms.
std::string first_hash(const Ledger::Store::Founding& f) {
  return detail::chained("sotto ledger", {f.id, f.created, f.name, f.unit, f.relation, f.budget});
}

std::string hash_of(const std::string& before, const StoredEntry& stored) {
  const Entry& e = stored.entry;
  return detail::chained(before, {std::to_string(e.number), e.time, e.request, e.content, e.plan, shortest(e.cost.amount), shortest(e.cost.delta),
                                  stored.amount, stored.delta});
}

Terms terms_of(const Ledger::Store::Founding& founding) {
  const auto relation = relation_named(founding.relation);
  if (!relation) throw LedgerError("the ledger's relation cannot be read: it is damaged");
  return {founding.name, founding.unit, *relation, parse_budget(founding.budget)};
}

Tally tally_of(const std::optional<StoredEntry>& last) {
  return last ? Tally{detail::read_exact(last->amount), detail::read_exact(last->delta)} : Tally{};
}

void require(bool condition, const char* what) {
  if (!condition) throw InvalidValue(what);
}

Ledger::Store::Founding founding_of(const Terms& terms) {
  require(!terms.name.empty(), "a ledger needs a name for its data");
  require(!terms.unit.empty(), "a ledger needs a privacy unit: a column such as person, or row");
  require(terms.relation != Relation::as_stated, "a ledger needs a relation: add-remove, replace-one or zero-out");
  (void)Filter(terms.budget, terms.relation);  // its numbers are in range
  return {random_id(), detail::time_now(), terms.name, terms.unit, std::string(name(terms.relation)), print(terms.budget)};
}

}  // namespace

Ledger::Ledger(std::unique_ptr<Store> store) : store_(std::move(store)), id_(store_->founding().id), terms_(terms_of(store_->founding())) {}
Ledger::Ledger(Ledger&&) noexcept = default;
Ledger& Ledger::operator=(Ledger&&) noexcept = default;
Ledger::~Ledger() = default;

Ledger Ledger::create(const std::filesystem::path& path, const Terms& terms) { return Ledger(create_sqlite(path, founding_of(terms))); }
Ledger Ledger::open(const std::filesystem::path& path) { return Ledger(open_sqlite(path)); }

Receipt Ledger::charge(const std::string& request, const std::string& content, const Plan& event) {
  return charge(std::vector<Order>{{request, content, event}}).front();
}

std::vector<Receipt> Ledger::charge(const std::vector<Order>& orders) {
  std::vector<Receipt> receipts;
  store_->transact([&] {
    std::optional<StoredEntry> last = store_->last();
    std::string before = last ? last->entry.hash : first_hash(store_->founding());
    std::int64_t number = last ? last->entry.number : 0;
    Filter filter(terms_.budget, terms_.relation, tally_of(last));
    for (const Order& order : orders) {
      require(!order.request.empty(), "a charge needs a request id");
      if (const auto known = store_->of_request(order.request)) {
        if (known->entry.content != order.content || known->entry.plan != print(order.event)) {
          throw LedgerError("request " + order.request + " was charged before for something else: use another id");
        }
        receipts.push_back({true, known->entry});
        continue;
      }
      const Decision decision = filter.admit(order.event);
      if (!decision) throw BudgetRefused("the budget does not cover " + print(order.event) + ": " + decision.reason, decision.missing);
      const Tally tally = filter.tally();
      StoredEntry stored{{++number, detail::time_now(), order.request, order.content, print(order.event), decision.cost, ""},
                         detail::exact(tally.amount),
                         detail::exact(tally.delta)};
      stored.entry.hash = before = hash_of(before, stored);
      store_->append(stored);
      receipts.push_back({false, stored.entry});
    }
  });
  return receipts;
}

void Ledger::keep_answer(const std::string& request, const std::string& answer) {
  store_->transact([&] {
    if (!store_->of_request(request)) throw LedgerError("request " + request + " was not charged: it has no answer");
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

Filter Ledger::filter() const { return {terms_.budget, terms_.relation, tally_of(store_->last())}; }

Head Ledger::head() const {
  const auto last = store_->last();
  return last ? Head{last->entry.number, last->entry.hash} : Head{0, first_hash(store_->founding())};
}

Finding Ledger::verify(const std::optional<Head>& kept) const {
  const Charge limit = Filter(terms_.budget, terms_.relation).limit();
  Tally tally;
  Head head{0, first_hash(store_->founding())};
  bool met = !kept || (kept->number == 0 && kept->hash == head.hash);
  const auto wrong = [&](const std::string& words) { return Finding{false, words, head}; };
  for (const StoredEntry& stored : store_->all()) {
    const Entry& entry = stored.entry;
    const std::string which = "entry " + std::to_string(head.number + 1);
    if (entry.number != head.number + 1) return wrong(which + " is missing");
    if (entry.hash != hash_of(head.hash, stored)) return wrong(which + " was changed");
    // the totals anew from the costs, and the cost anew from the plan: another version of sotto may find it cheaper
    tally.amount += Real(entry.cost.amount);
    tally.delta += Real(entry.cost.delta);
    if (detail::exact(tally.amount) != stored.amount || detail::exact(tally.delta) != stored.delta) return wrong(which + " has another total");
    if (tally.amount.upper() > limit.amount || tally.delta.upper() > limit.delta) return wrong(which + " exceeds the budget");
    const Charge today = Filter(terms_.budget, terms_.relation).admit(parse(entry.plan)).cost;
    constexpr double room = 1 + 0x1p-40;
    if (today.amount > entry.cost.amount * room || today.delta > entry.cost.delta * room) return wrong(which + " costs more than was charged for it");
    head = {entry.number, entry.hash};
    if (kept && kept->number == head.number) {
      if (kept->hash != head.hash) return wrong(which + " is not the one whose head was kept");
      met = true;
    }
  }
  if (!met) return wrong("the ledger ends at entry " + std::to_string(head.number) + ", before the head that was kept: it was truncated or put back");
  return {true, std::to_string(head.number) + (head.number == 1 ? " entry" : " entries") + ", each as it was written, within the budget", head};
}

std::string Ledger::exported() const {
  const Store::Founding f = store_->founding();
  std::string text = Json{{"schema", "sotto.ledger/1"}, {"id", f.id},        {"created", f.created}, {"name", f.name}, {"unit", f.unit},
                          {"relation", f.relation},     {"budget", f.budget}}
                         .dump() +
                     "\n";
  for (const StoredEntry& s : store_->all()) {
    const Entry& e = s.entry;
    Json line{{"number", e.number}, {"time", e.time},        {"request", e.request},       {"content", e.content},
              {"plan", e.plan},     {"cost", e.cost.amount}, {"cost_delta", e.cost.delta}, {"amount", s.amount},
              {"delta", s.delta},   {"hash", e.hash}};
    if (const auto kept = store_->answer(e.request)) line["answer"] = *kept;
    text += line.dump() + "\n";
  }
  return text;
}

Ledger Ledger::import(const std::filesystem::path& path, const std::string& exported) {
  std::istringstream lines(exported);
  std::string line;
  bool made = false;
  try {
    if (!std::getline(lines, line)) throw LedgerError("there is nothing to import");
    const Json f = Json::parse(line);
    if (f.at("schema") != "sotto.ledger/1") throw LedgerError("this is not an exported ledger");
    const Store::Founding founding{f.at("id"), f.at("created"), f.at("name"), f.at("unit"), f.at("relation"), f.at("budget")};
    (void)terms_of(founding);
    std::unique_ptr<Store> store = create_sqlite(path, founding);
    made = true;
    store->transact([&] {
      while (std::getline(lines, line)) {
        const Json e = Json::parse(line);
        const std::string request = e.at("request");
        store->append({{e.at("number"), e.at("time"), request, e.at("content"), e.at("plan"), {e.at("cost"), e.at("cost_delta")}, e.at("hash")},
                       e.at("amount"),
                       e.at("delta")});
        if (e.contains("answer")) store->keep_answer(request, e.at("answer"));
      }
    });
    Ledger ledger(std::move(store));
    const Finding finding = ledger.verify();
    if (!finding.sound) throw LedgerError("the import is not sound: " + finding.words);
    return ledger;
  } catch (const nlohmann::json::exception&) {
    if (made) std::filesystem::remove(path);
    throw LedgerError("this is not an exported ledger");
  } catch (...) {
    if (made) std::filesystem::remove(path);
    throw;
  }
}

}  // namespace sotto
