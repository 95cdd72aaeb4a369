// The ledger: validation of terms and requests, charges, marks, answers and queries.
#include "sotto/ledger/ledger.hpp"

#include <array>
#include <cmath>
#include <filesystem>

#include "accounting/api/currencies.hpp"
#include "core/api/hexadecimal.hpp"
#include "core/api/join.hpp"
#include "core/api/text.hpp"
#include "core/api/utc.hpp"
#include "ledger/chain/chain.hpp"
#include "ledger/chain/store.hpp"
#include "ledger/chain/text.hpp"
#include "ledger/writer.hpp"
#include "sotto/core/decimal.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/ledger/key.hpp"
#include "sotto/plan/text.hpp"
#include "sotto/random/random.hpp"

namespace sotto {
namespace {

using ledger_detail::Record;

// 128 random bits in hexadecimal. A signature of a head covers the id, so no head of one ledger is
// valid in another.
std::string random_id() {
  const std::array<std::uint64_t, 2> words{Random::here().word(), Random::here().word()};
  return hexadecimal({reinterpret_cast<const unsigned char*>(words.data()), sizeof words});
}

void require(bool condition, const std::string& what) {
  if (!condition) throw InvalidValue(what);
}

void require_text(const std::string& bytes, const char* what) {
  if (!ledger_detail::is_text(bytes))
    throw InvalidValue(std::string(what) + " must be UTF-8 without the byte 0");
}

// Throws OutsideConditions unless a committed plan has a finite ε at a usual δ, or at least at δ =
// 1/2. Without one the ledger would promise nothing.
void require_total(const Filter& filter, const Plan& plan) {
  for (const double delta : {1e-6, 0.5}) {
    if (std::isfinite(filter.claim(Delta(delta)).epsilon)) return;
  }
  throw OutsideConditions(print(plan) +
                          " has no known finite epsilon, not even at delta = 0.5, so a ledger for "
                          "it would protect nobody: commit to a plan whose parts all have noise");
}

Ledger::Store::Founding founding_of(const Terms& terms) {
  require(!terms.name.empty(), "the name of the data is empty: a ledger needs one, such as people");
  require(!terms.unit.empty(),
          "the privacy unit is empty: a ledger needs one, a column such as person, or row");
  require(terms.relation != Relation::as_stated,
          "a ledger needs a relation: add-remove, replace-one or zero-out");
  require(terms.unit != "row" || terms.unit_type.empty() || terms.unit_type == "row",
          "the privacy unit row has the type row, not " + terms.unit_type + ": leave the type out");
  require_text(terms.name, "the data's name");
  require_text(terms.unit, "the privacy unit");
  require_plain_name(terms.name, "the data's name");
  require_plain_name(terms.unit, "the privacy unit");
  require_text(terms.unit_type, "the privacy unit's type");
  require_text(terms.source, "the data's source");
  const Filter filter(terms.budget,
                      terms.relation);  // throws if a number of the budget is out of range
  if (const auto* committed = std::get_if<CommittedBudget>(&terms.budget))
    require_total(filter, committed->plan);
  return {.id = random_id(),
          .created = utc_now(),
          .name = terms.name,
          .unit = terms.unit,
          .unit_type = terms.unit == "row" ? "row" : terms.unit_type,
          .relation = std::string(name(terms.relation)),
          .budget = print(terms.budget),
          .source = terms.source};
}

void require_valid(const Ledger::ChargeRequest& request) {
  require(!request.request.empty(), "the request id is empty: a charge needs one");
  require_text(request.request, "a request id");
  require_text(request.content, "a request's content");
  require_text(request.who, "the user's name");
  require_text(request.title, "a title");
  for (const std::string& measurement : request.measurements) {
    require(!measurement.empty() &&
                measurement.find_first_not_of("0123456789abcdef") == std::string::npos,
            "'" + measurement +
                "' does not name a measurement: use its digest, in lower-case hexadecimal");
  }
}

std::string refusal(const Terms& terms, const Filter& filter, const Plan& event,
                    const std::string& plan, const Decision& decision) {
  std::string words = "the budget does not cover " + (plan.size() > 200 ? "this plan" : plan) +
                      ": " + refusal_text(filter, decision);
  if (const auto* gaussian = std::get_if<GdpBudget>(&terms.budget)) {
    if (const std::string other = cheaper_budget_hint(*gaussian, terms.relation, event);
        !other.empty())
      words += "; " + other;
  }
  return words;
}

}  // namespace

Ledger::Ledger(std::unique_ptr<Store> store, const std::string& place, const LedgerOptions& options)
    : store_(std::move(store)) {
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
  Ledger ledger = Writer::create(place, {.founding = founding_of(terms)}, options);
  ledger.writer_->notify_witness(ledger.head());
  return ledger;
}
Ledger Ledger::open(const std::string& place, const LedgerOptions& options) {
  return {ledger_detail::open_store(place, options.patience, options.read_only), place, options};
}

// The charges of one call of charge(): decided one after the other, each with the budget that the
// ones before it left, and written together.
class Ledger::ChargeBatch {
 public:
  ChargeBatch(const Ledger& ledger, const ledger_detail::End& end, std::size_t size)
      : ledger_(ledger), end_(end), filter_(ledger_detail::filter_of(ledger.terms_, end.tally)) {
    records_.reserve(size);
  }

  // Adds a charge to the batch, or repeats the receipt of the request's earlier charge. Writes
  // nothing.
  void add(const ChargeRequest& request) {
    const std::string plan = print(request.event);
    const std::string id = id_of(request);
    if (const auto before = earlier_charge(id)) {
      require_same_question(request, plan, *before);
      receipts_.push_back({true, *before});
      return;
    }
    const Decision decision = filter_.admit(request.event, request.at);
    if (!decision)
      throw BudgetRefused(refusal(ledger_.terms_, filter_, request.event, plan, decision),
                          decision.missing);
    add_record(request, id, plan, decision.cost);
    add_receipt(request, decision.cost);
  }

  // Signs the last record, which makes all records of the batch count: a chain is valid up to a
  // signed record. The signer's key is in the hash, so the hash in the receipt changes, too.
  void sign() {
    if (records_.empty()) return;
    ledger_.writer_->sign(records_, end_);
    for (Receipt& receipt : receipts_) {
      if (receipt.entry.number == records_.back().number) receipt.entry.hash = records_.back().hash;
    }
  }

  [[nodiscard]] const std::vector<Record>& records() const { return records_; }
  [[nodiscard]] const std::vector<Receipt>& receipts() const { return receipts_; }

 private:
  [[nodiscard]] bool is_charged(const std::string& id) const {
    return added_.contains(id) || ledger_.writer_->progress_of(id).state != RequestState::unknown;
  }

  // With `again`, the first of "request", "request/2", "request/3", … that is not charged.
  [[nodiscard]] std::string id_of(const ChargeRequest& request) const {
    std::string id = request.request;
    for (int i = 2; request.again && is_charged(id); ++i)
      id = request.request + "/" + std::to_string(i);
    return id;
  }

  [[nodiscard]] std::optional<Entry> earlier_charge(const std::string& id) const {
    if (const auto in_batch = added_.find(id); in_batch != added_.end()) return in_batch->second;
    const std::int64_t number = ledger_.writer_->progress_of(id).charge;
    return number == 0 ? std::nullopt
                       : std::optional(ledger_detail::entry_of(ledger_.writer_->record(number)));
  }

  // A request that was charged for one question must not be answered for another one: the second
  // answer would be free.
  void require_same_question(const ChargeRequest& request, const std::string& plan,
                             const Entry& before) const {
    const char* difference = nullptr;
    if (before.content != request.content) {
      difference = "content";
    } else if (before.plan != plan) {
      difference = "plan";
    } else if (request.at && is_other_delta(*request.at, before)) {
      difference = "delta";
    }
    if (difference == nullptr) return;
    throw LedgerError("request " + before.request + " was charged before, in entry " +
                      std::to_string(before.number) + ", with another " + difference +
                      ": use another request id");
  }
  // Under a GdpBudget the entry has the slack that the event used, which may be less than the
  // allowed one.
  [[nodiscard]] bool is_other_delta(Delta at, const Entry& entry) const {
    return std::holds_alternative<GdpBudget>(ledger_.terms_.budget)
               ? entry.cost.delta > at.value() * (1 + 0x1p-40)
               : at.value() != entry.cost.delta;
  }

  void add_record(const ChargeRequest& request, const std::string& id, const std::string& plan,
                  const Charge& cost) {
    const Tally tally = filter_.tally();
    records_.push_back({.kind = "charge",
                        .time = utc_now(),
                        .who = ledger_.store_->role().empty()
                                   ? request.who
                                   : "",  // link() fills in a database's role
                        .request = id,
                        .content = request.content,
                        .title = request.title,
                        .plan = plan,
                        .cost = shortest(cost.amount),
                        .cost_delta = shortest(cost.delta),
                        .cost_slack = "0",
                        .measurements = join(request.measurements, " "),
                        .amount = ledger_detail::amount_text(tally),
                        .delta = ledger_detail::exact(tally.delta),
                        .slack = end_.totals.slack});
    ledger_.writer_->link(records_, end_);
  }

  void add_receipt(const ChargeRequest& request, const Charge& cost) {
    const Record& record = records_.back();
    receipts_.push_back({false,
                         {.number = record.number,
                          .time = record.time,
                          .request = record.request,
                          .content = request.content,
                          .plan = record.plan,
                          .cost = cost,
                          .hash = record.hash,
                          .who = record.who,
                          .title = request.title,
                          .measurements = request.measurements}});
    added_.emplace(record.request, receipts_.back().entry);
  }

  const Ledger& ledger_;
  const ledger_detail::End& end_;
  Filter filter_;
  std::vector<Record> records_;
  std::vector<Receipt> receipts_;
  std::map<std::string, Entry> added_;  // new charges of this batch, by request
};

Receipt Ledger::charge(const std::string& request, const std::string& content, const Plan& event,
                       std::optional<Delta> at) {
  return charge(std::vector<ChargeRequest>{
                    {.request = request, .content = content, .event = event, .at = at}})
      .front();
}

std::vector<Receipt> Ledger::charge(const std::vector<ChargeRequest>& requests) {
  const auto lock = writer_->lock();
  for (const ChargeRequest& request : requests) require_valid(request);
  std::vector<Receipt> receipts;
  // write() runs this in one transaction with the verification of the chain. The budget that the
  // filter sees is therefore the one that the charges are added to, whatever other processes do. A
  // refusal, an error or a crash before the commit leaves no charge; Writer::write says what later
  // ones leave.
  writer_->write([&](const ledger_detail::End& end) {
    ChargeBatch batch(*this, end, requests.size());
    for (const ChargeRequest& request : requests) batch.add(request);
    batch.sign();
    receipts = batch.receipts();
    return ledger_detail::Addition{batch.records(), std::nullopt};
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
      const bool is_charged = std::any_of(charges.begin(), charges.end(), [&](const Entry& entry) {
        return entry.request == request;
      });
      // Version 1 has no mark "begun", so noise may have been drawn for every charge without an
      // answer.
      states.push_back(!is_charged               ? RequestState::unknown
                       : store_->answer(request) ? RequestState::answered
                                                 : RequestState::begun);
    }
    return states;
  }
  const ledger_detail::VerifiedChain& chain = writer_->verified_chain();
  for (const std::string& request : requests) states.push_back(chain.progress_of(request).state);
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
  const std::int64_t number = writer_->verified_chain().progress_of(request).charge;
  return number == 0 ? std::nullopt
                     : std::optional(ledger_detail::entry_of(writer_->record(number)));
}

void Ledger::begin(const std::string& request, const std::string& seal) {
  const auto lock = writer_->lock();
  require_text(seal, "a checkpoint's seal");
  writer_->write([&](const ledger_detail::End& end) {
    switch (writer_->progress_of(request).state) {
      case RequestState::unknown:
        throw LedgerError("request " + request +
                          " was not charged, so no noise may be drawn for it: charge it first");
      case RequestState::charged: return writer_->mark(end, "begun", request, seal, std::nullopt);
      default:
        throw RequestClosed("request " + request +
                            " was begun before: noise is drawn for a request once");
    }
  });
}

void Ledger::mark_checkpoint(const std::string& request, const CheckpointMark& mark) {
  const auto lock = writer_->lock();
  require(!mark.seal.empty(), "the seal of a checkpoint is empty");
  require_text(mark.seal, "a checkpoint's seal");
  writer_->write([&](const ledger_detail::End& end) {
    const ledger_detail::Progress progress = writer_->progress_of(request);
    if (progress.state != RequestState::begun) {
      throw LedgerError("request " + request +
                        (progress.state == RequestState::answered ? " has its answer already"
                                                                  : " was not begun") +
                        ": only a begun request without an answer can have checkpoints");
    }
    if (mark.number != progress.checkpoints + 1) {
      throw LedgerError(
          "checkpoint " + std::to_string(mark.number) + " of request " + request +
          " does not follow checkpoint " + std::to_string(progress.checkpoints) +
          ": another process resumed from the same checkpoint, so this process must stop");
    }
    return writer_->mark(end, ("checkpoint/" + std::to_string(mark.number)).c_str(), request,
                         mark.seal, std::nullopt);
  });
}

std::optional<CheckpointMark> Ledger::checkpoint(const std::string& request) const {
  const auto lock = writer_->lock();
  if (store_->version() == 1) return std::nullopt;
  const ledger_detail::Progress progress = writer_->verified_chain().progress_of(request);
  if (progress.checkpoint == 0 || progress.state != RequestState::begun) return std::nullopt;
  return CheckpointMark{progress.checkpoints, writer_->record(progress.checkpoint).content};
}

void Ledger::require_checkpoints() const {
  const auto lock = writer_->lock();
  if (!store_->takes_checkpoints()) {
    throw LedgerError(
        "this ledger was created by an older version of sotto, which had no checkpoints of "
        "trainings: export it and import the export into a new ledger",
        Remedy::import_ledger);
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
    switch (writer_->progress_of(request).state) {
      case RequestState::unknown:
        throw LedgerError("request " + request +
                          " was not charged: no answer can be stored for it");
      case RequestState::charged:
        throw LedgerError("request " + request + " was not begun: no answer can be stored for it");
      case RequestState::begun:
        return writer_->mark(end, "answer", request, digest(answer), answer);
      default: throw LedgerError("request " + request + " has its answer already");
    }
  });
}

std::optional<std::string> Ledger::answer(const std::string& request) const {
  const auto lock = writer_->lock();
  if (store_->version() == 1) return store_->answer(request);
  const std::int64_t mark = writer_->verified_chain().progress_of(request).answer;
  if (mark == 0) return std::nullopt;
  const std::optional<std::string> text = store_->answer(request);
  if (!text)
    throw LedgerError("the stored answer of request " + request + " is absent, although entry " +
                      std::to_string(mark) + " marks it: put the ledger back from a backup");
  if (digest(*text) != writer_->record(mark).content) {
    throw LedgerError("the stored answer of request " + request + " is not the one that entry " +
                      std::to_string(mark) +
                      " marks: it was changed and is not shown. Put the ledger back from a backup");
  }
  return text;
}

std::vector<Entry> Ledger::entries() const {
  const auto lock = writer_->lock();
  std::vector<Entry> entries;
  for (const Record& record :
       store_->version() == 1 ? store_->records_from(1) : writer_->records()) {
    if (record.kind == "charge") entries.push_back(ledger_detail::entry_of(record));
  }
  return entries;
}

Filter Ledger::filter() const {
  const auto lock = writer_->lock();
  if (store_->version() == 2)
    return ledger_detail::filter_of(terms_, writer_->verified_chain().end().tally);
  const std::vector<Record> all = store_->records_from(1);
  return ledger_detail::filter_of(
      terms_, all.empty() ? Tally{} : ledger_detail::tally_of(terms_.budget, all.back()));
}

Head Ledger::head() const {
  const auto lock = writer_->lock();
  if (store_->version() == 2) return writer_->verified_chain().head();
  const std::vector<Record> all = store_->records_from(1);
  return all.empty() ? Head{0, store_->founding().hash} : Head{all.back().number, all.back().hash};
}

void Ledger::start_witness() {
  const auto lock = writer_->lock();
  writer_->start_witness();
}

Finding Ledger::verify_chain() const {
  const auto lock = writer_->lock();
  if (store_->version() == 1)
    return {false, "not verified: a ledger of version 1 has no signatures", head()};
  const Head end = writer_->verified_chain().head();
  const std::string many = std::to_string(end.number) + (end.number == 1 ? " entry" : " entries");
  return {true,
          "verified: " + many + ", linked to a signed head" +
              (writer_->has_witness() ? " that follows the witness's"
                                      : "; no witness would notice an older copy"),
          end};
}

Finding Ledger::verify(const std::optional<Head>& expected) const {
  const auto lock = writer_->lock();
  Finding finding = ledger_detail::check(store_->contents(), expected);
  if (!finding.sound || store_->version() == 1) return finding;
  try {
    (void)writer_->verified_chain();
  } catch (const LedgerError& e) {
    return {false, e.what(), finding.head};
  }
  return finding;
}

std::string default_key(const std::string& place) {
  if (ledger_detail::is_database(place))
    throw InvalidValue(
        "a ledger in a database has no default path for its key: give the path of the key file",
        Remedy::key_file);
  std::filesystem::path path(place);
  if (path.extension() == ".sotto") return path.replace_extension(".key").string();
  return place + ".key";
}

}  // namespace sotto
