#include "sotto/ledger/ledger.hpp"

#include <array>
#include <cmath>
#include <filesystem>

#include "ledger/chain/chain.hpp"
#include "accounting/api/currencies.hpp"
#include "sotto/core/decimal.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/core/join.hpp"
#include "core/api/text.hpp"
#include "sotto/ledger/key.hpp"
#include "sotto/plan/text.hpp"
#include "sotto/random/random.hpp"
#include "ledger/chain/store.hpp"
#include "ledger/chain/text.hpp"
#include "ledger/writer.hpp"

namespace sotto {
namespace {

using ledger_detail::Record;

std::string random_id() {
  const std::array<std::uint64_t, 2> words{Random::here().word(), Random::here().word()};
  return ledger_detail::hexadecimal({reinterpret_cast<const unsigned char*>(words.data()), sizeof words});
}

void require(bool condition, const std::string& what) {
  if (!condition) throw InvalidValue(what);
}

void require_text(const std::string& bytes, const char* what) {
  if (!ledger_detail::is_text(bytes)) throw InvalidValue(std::string(what) + " must be UTF-8 without the byte 0");
}

// A committed plan has a finite ε, if not at a usual δ then at one of 1/2: else its ledger would promise nothing.
void require_total(const Filter& filter, const Plan& plan) {
  for (const double delta : {1e-6, 0.5}) {
    if (std::isfinite(filter.claim(Delta(delta)).epsilon)) return;
  }
  throw OutsideConditions(print(plan) + " has no known finite epsilon, not even at delta = 0.5: a ledger of it would promise nothing");
}

Ledger::Store::Founding founding_of(const Terms& terms) {
  require(!terms.name.empty(), "a ledger needs a name for its data");
  require(!terms.unit.empty(), "a ledger needs a privacy unit: a column such as person, or row");
  require(terms.relation != Relation::as_stated, "a ledger needs a relation: add-remove, replace-one or zero-out");
  require(terms.unit != "row" || terms.unit_type.empty() || terms.unit_type == "row", "the privacy unit row has the type row");
  require_text(terms.name, "the data's name");
  require_text(terms.unit, "the privacy unit");
  require_plain_name(terms.name, "the data's name");
  require_plain_name(terms.unit, "the privacy unit");
  require_text(terms.unit_type, "the privacy unit's type");
  require_text(terms.source, "the data's source");
  const Filter filter(terms.budget, terms.relation);  // its numbers are in range
  if (const auto* committed = std::get_if<CommittedBudget>(&terms.budget)) require_total(filter, committed->plan);
  return {.id = random_id(),
          .created = ledger_detail::time_now(),
          .name = terms.name,
          .unit = terms.unit,
          .unit_type = terms.unit == "row" ? "row" : terms.unit_type,
          .relation = std::string(name(terms.relation)),
          .budget = print(terms.budget),
          .source = terms.source};
}

void require_order(const Ledger::Order& order) {
  require(!order.request.empty(), "a charge needs a request id");
  require_text(order.request, "a request id");
  require_text(order.content, "a request's content");
  require_text(order.who, "the user's name");
  require_text(order.title, "a title");
  for (const std::string& measurement : order.measurements) {
    require(!measurement.empty() && measurement.find_first_not_of("0123456789abcdef") == std::string::npos,
            "a measurement is named by a digest, in hexadecimal");
  }
}

std::string refusal(const Terms& terms, const Filter& filter, const Plan& event, const std::string& plan, const Decision& decision) {
  std::string words = "the budget does not cover " + (plan.size() > 200 ? "this plan" : plan) + ": " + refusal_words(filter, decision);
  if (const auto* gaussian = std::get_if<GdpBudget>(&terms.budget)) {
    if (const std::string other = cheaper_elsewhere(*gaussian, terms.relation, event); !other.empty()) words += "; " + other;
  }
  return words;
}

}  // namespace

Ledger::Ledger(std::unique_ptr<Store> store, const std::string& place, const LedgerOptions& options) : store_(std::move(store)) {
  const Store::Founding founding = store_->founding();
  id_ = founding.id;
  created_ = founding.created;
  terms_ = ledger_detail::terms_of(founding);
  if (store_->version() == 2) ledger_detail::require_founding(founding);
  writer_ = std::make_unique<Writer>(*store_, founding, terms_.budget, place, options);
}
Ledger::Ledger(Ledger&&) noexcept = default;
Ledger& Ledger::operator=(Ledger&&) noexcept = default;
Ledger::~Ledger() = default;

Ledger Ledger::create(const std::string& place, const Terms& terms, const LedgerOptions& options) {
  Ledger ledger = Writer::found(place, {.founding = founding_of(terms)}, options);
  ledger.writer_->tell(ledger.head());
  return ledger;
}
Ledger Ledger::open(const std::string& place, const LedgerOptions& options) {
  return {ledger_detail::open_store(place, options.patience, options.read_only), place, options};
}

Receipt Ledger::charge(const std::string& request, const std::string& content, const Plan& event, std::optional<Delta> at) {
  return charge(std::vector<Order>{{.request = request, .content = content, .event = event, .at = at}}).front();
}

std::vector<Receipt> Ledger::charge(const std::vector<Order>& orders) {
  const auto lock = writer_->lock();
  for (const Order& order : orders) require_order(order);
  std::vector<Receipt> receipts;
  // a slack may be more than what the event needed of it
  const auto is_another = [this](Delta at, const Entry& entry) {
    return std::holds_alternative<GdpBudget>(terms_.budget) ? entry.cost.delta > at.value() * (1 + 0x1p-40) : at.value() != entry.cost.delta;
  };
  std::map<std::string, Entry> added_charges;  // by request, of this call
  const auto is_taken = [&](const std::string& request) {
    return added_charges.contains(request) || writer_->known(request).state != RequestState::unknown;
  };
  const auto charge_before = [&](const std::string& request) -> std::optional<Entry> {
    if (const auto here = added_charges.find(request); here != added_charges.end()) return here->second;
    const std::int64_t number = writer_->known(request).charge;
    return number == 0 ? std::nullopt : std::optional(ledger_detail::entry_of(writer_->record(number)));
  };
  writer_->write([&](const ledger_detail::End& end) {
    Filter filter = ledger_detail::filter_of(terms_, end.tally);
    std::vector<Record> added;
    added.reserve(orders.size());
    for (const Order& order : orders) {
      const std::string plan = print(order.event);
      std::string request = order.request;
      for (int i = 2; order.again && is_taken(request); ++i) request = order.request + "/" + std::to_string(i);
      if (const auto before = charge_before(request)) {
        if (before->content != order.content || before->plan != plan || (order.at && is_another(*order.at, *before))) {
          throw LedgerError("request " + request + " was charged before for something else: use another id");
        }
        receipts.push_back({true, *before});
        continue;
      }
      const Decision decision = filter.admit(order.event, order.at);
      if (!decision) throw BudgetRefused(refusal(terms_, filter, order.event, plan, decision), decision.missing);
      const Tally tally = filter.tally();
      added.push_back({.kind = "charge",
                       .time = ledger_detail::time_now(),
                       .who = store_->role().empty() ? order.who : "",  // a database writes its role
                       .request = request,
                       .content = order.content,
                       .title = order.title,
                       .plan = plan,
                       .cost = shortest(decision.cost.amount),
                       .cost_delta = shortest(decision.cost.delta),
                       .cost_slack = "0",
                       .measurements = join(order.measurements, " "),
                       .amount = ledger_detail::amount_text(tally),
                       .delta = ledger_detail::exact(tally.delta),
                       .slack = end.totals.slack});
      writer_->link(added, end);
      const Record& made = added.back();
      receipts.push_back({false,
                          {.number = made.number,
                           .time = made.time,
                           .request = request,
                           .content = order.content,
                           .plan = plan,
                           .cost = decision.cost,
                           .hash = made.hash,
                           .who = made.who,
                           .title = order.title,
                           .measurements = order.measurements}});
      added_charges.emplace(request, receipts.back().entry);
    }
    // the last of them is signed, which is in its hash
    if (!added.empty()) {
      writer_->sign(added, end);
      for (Receipt& receipt : receipts) {
        if (receipt.entry.number == added.back().number) receipt.entry.hash = added.back().hash;
      }
    }
    return ledger_detail::Addition{std::move(added), std::nullopt};
  });
  return receipts;
}

RequestState Ledger::state(const std::string& request) const { return states({request}).front(); }

std::vector<RequestState> Ledger::states(const std::vector<std::string>& requests) const {
  const auto lock = writer_->lock();
  std::vector<RequestState> states;
  if (store_->version() == 1) {
    const std::vector<Entry> charges = entries();
    for (const std::string& request : requests) {
      const bool is_charged = std::any_of(charges.begin(), charges.end(), [&](const Entry& entry) { return entry.request == request; });
      // version 1 drew noise whenever it was run
      states.push_back(!is_charged ? RequestState::unknown : store_->answer(request) ? RequestState::answered : RequestState::begun);
    }
    return states;
  }
  const ledger_detail::VerifiedChain& chain = writer_->chain();
  for (const std::string& request : requests) states.push_back(chain.of(request).state);
  return states;
}

std::optional<Entry> Ledger::charge_of(const std::string& request) const {
  const auto lock = writer_->lock();
  if (store_->version() == 1) {
    for (const Entry& entry : entries()) {
      if (entry.request == request) return entry;
    }
    return std::nullopt;
  }
  const std::int64_t number = writer_->chain().of(request).charge;
  return number == 0 ? std::nullopt : std::optional(ledger_detail::entry_of(writer_->record(number)));
}

void Ledger::begin(const std::string& request, const std::string& seal) {
  const auto lock = writer_->lock();
  require_text(seal, "a checkpoint's seal");
  writer_->write([&](const ledger_detail::End& end) {
    switch (writer_->known(request).state) {
      case RequestState::unknown: throw LedgerError("request " + request + " was not charged: nothing is drawn for it");
      case RequestState::charged: return writer_->mark(end, "begun", request, seal, std::nullopt);
      default: throw RequestClosed("request " + request + " was begun before: noise is drawn for it once");
    }
  });
}

void Ledger::mark_checkpoint(const std::string& request, const CheckpointMark& mark) {
  const auto lock = writer_->lock();
  require(!mark.seal.empty(), "a checkpoint has a seal");
  require_text(mark.seal, "a checkpoint's seal");
  writer_->write([&](const ledger_detail::End& end) {
    const ledger_detail::Progress progress = writer_->known(request);
    if (progress.state != RequestState::begun) {
      throw LedgerError("request " + request + (progress.state == RequestState::answered ? " has its answer already" : " was not begun") +
                        ": it has no checkpoints");
    }
    if (mark.number != progress.checkpoints + 1) {
      throw LedgerError("another process went on from the same checkpoint of the request " + request + ": what this one did since is given up");
    }
    return writer_->mark(end, ("checkpoint/" + std::to_string(mark.number)).c_str(), request, mark.seal, std::nullopt);
  });
}

std::optional<CheckpointMark> Ledger::checkpoint(const std::string& request) const {
  const auto lock = writer_->lock();
  if (store_->version() == 1) return std::nullopt;
  const ledger_detail::Progress progress = writer_->chain().of(request);
  if (progress.checkpoint == 0 || progress.state != RequestState::begun) return std::nullopt;
  return CheckpointMark{progress.checkpoints, writer_->record(progress.checkpoint).content};
}

void Ledger::require_checkpoints() const {
  const auto lock = writer_->lock();
  if (!store_->takes_checkpoints()) {
    throw LedgerError("this ledger was made before trainings were marked in it: export it, and import that", Remedy::import_ledger);
  }
}

std::string Ledger::secret_for(const std::string& purpose) const {
  const auto lock = writer_->lock();
  return writer_->key().secret_for(purpose);
}

void Ledger::keep_answer(const std::string& request, const std::string& answer) {
  const auto lock = writer_->lock();
  require_text(answer, "an answer");
  writer_->write([&](const ledger_detail::End& end) {
    switch (writer_->known(request).state) {
      case RequestState::unknown: throw LedgerError("request " + request + " was not charged: it has no answer");
      case RequestState::charged: throw LedgerError("request " + request + " was not begun: it has no answer");
      case RequestState::begun: return writer_->mark(end, "answer", request, digest(answer), answer);
      default: throw LedgerError("request " + request + " has its answer already");
    }
  });
}

std::optional<std::string> Ledger::answer(const std::string& request) const {
  const auto lock = writer_->lock();
  if (store_->version() == 1) return store_->answer(request);
  const std::int64_t mark = writer_->chain().of(request).answer;
  if (mark == 0) return std::nullopt;
  const std::optional<std::string> text = store_->answer(request);
  if (!text) throw LedgerError("the kept answer of the request " + request + " is missing: it is not shown");
  if (digest(*text) != writer_->record(mark).content) {
    throw LedgerError("the kept answer of the request " + request + " was changed: it is not shown");
  }
  return text;
}

std::vector<Entry> Ledger::entries() const {
  const auto lock = writer_->lock();
  std::vector<Entry> entries;
  for (const Record& record : store_->version() == 1 ? store_->since(1) : writer_->records()) {
    if (record.kind == "charge") entries.push_back(ledger_detail::entry_of(record));
  }
  return entries;
}

Filter Ledger::filter() const {
  const auto lock = writer_->lock();
  if (store_->version() == 2) return ledger_detail::filter_of(terms_, writer_->chain().end().tally);
  const std::vector<Record> all = store_->since(1);
  return ledger_detail::filter_of(terms_, all.empty() ? Tally{} : ledger_detail::tally_of(terms_.budget, all.back().amount, all.back().delta));
}

Head Ledger::head() const {
  const auto lock = writer_->lock();
  if (store_->version() == 2) return writer_->chain().head();
  const std::vector<Record> all = store_->since(1);
  return all.empty() ? Head{0, store_->founding().hash} : Head{all.back().number, all.back().hash};
}

void Ledger::start_witness() {
  const auto lock = writer_->lock();
  writer_->start_witness();
}

Finding Ledger::verify_chain() const {
  const auto lock = writer_->lock();
  if (store_->version() == 1) return {false, "not verified: a ledger of version 1 has no signatures", head()};
  const Head end = writer_->chain().head();
  const std::string many = std::to_string(end.number) + (end.number == 1 ? " entry" : " entries");
  return {true,
          "verified: " + many + ", linked to a signed head" +
              (writer_->has_witness() ? " that follows the witness's" : "; no witness would notice an older copy"),
          end};
}

Finding Ledger::verify(const std::optional<Head>& kept) const {
  const auto lock = writer_->lock();
  Finding finding = ledger_detail::check(store_->contents(), kept);
  if (!finding.sound || store_->version() == 1) return finding;
  try {
    (void)writer_->chain();
  } catch (const LedgerError& e) {
    return {false, e.what(), finding.head};
  }
  return finding;
}

std::string default_key(const std::string& place) {
  if (ledger_detail::is_database(place))
    throw InvalidValue("a ledger in a database has no folder for its key: say where the key lies", Remedy::key_file);
  std::filesystem::path path(place);
  if (path.extension() == ".sotto") return path.replace_extension(".key").string();
  return place + ".key";
}

}  // namespace sotto
