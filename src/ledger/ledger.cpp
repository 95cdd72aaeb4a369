#include "sotto/ledger/ledger.hpp"

#include <array>
#include <filesystem>

#include "chain.hpp"
#include "sotto/accounting/currencies.hpp"
#include "sotto/core/decimal.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/core/text.hpp"
#include "sotto/ledger/key.hpp"
#include "sotto/plan/text.hpp"
#include "sotto/random/random.hpp"
#include "store.hpp"
#include "text.hpp"
#include "writer.hpp"

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
  const Filter filter(terms.budget, terms.relation);                                           // its numbers are in range
  if (std::holds_alternative<CommittedBudget>(terms.budget)) (void)filter.claim(Delta(1e-6));  // it has a total
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

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

// The charges among a requests' records, by request.
std::map<std::string, Entry> charges_of(const std::vector<Record>& records) {
  std::map<std::string, Entry> found;
  for (const Record& record : records) {
    if (record.kind == "charge") found.emplace(record.request, ledger_detail::entry_of(record));
  }
  return found;
}

RequestState state_of(const std::vector<Record>& records) {
  RequestState state = RequestState::unknown;
  for (const Record& record : records) {
    const RequestState come = record.kind == "charge"                                                   ? RequestState::charged
                              : record.kind == "begun" || ledger_detail::checkpoint_number(record.kind) ? RequestState::begun
                                                                                                        : RequestState::answered;
    state = std::max(state, come);
  }
  return state;
}

// The record of the last checkpoint; nullptr if there is none.
const Record* last_checkpoint(const std::vector<Record>& records) {
  const Record* last = nullptr;
  for (const Record& record : records) {
    if (ledger_detail::checkpoint_number(record.kind) || (record.kind == "begun" && !record.content.empty())) last = &record;
  }
  return last;
}

std::int64_t number_of(const Record* checkpoint) {
  return checkpoint == nullptr ? 0 : ledger_detail::checkpoint_number(checkpoint->kind).value_or(0);
}

std::string refusal(const Terms& terms, const Plan& event, const std::string& plan, const Decision& decision) {
  std::string words = "the budget does not cover " + (plan.size() > 200 ? "this plan" : plan) + ": " + decision.reason;
  if (const auto* gaussian = std::get_if<GdpBudget>(&terms.budget)) {
    if (const std::string other = cheaper_elsewhere(*gaussian, terms.relation, event); !other.empty()) words += "; " + other;
  }
  return words;
}

// A request that is not taken yet: "study", "study/2", "study/3", …
std::string untaken(const Ledger::Store& store, const std::map<std::string, Entry>& known, const std::string& request) {
  std::string name = request;
  for (int i = 2; known.contains(name) || !store.of_requests({name}).empty(); ++i) name = request + "/" + std::to_string(i);
  return name;
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
  std::vector<std::string> requests;
  for (const Order& order : orders) {
    require_order(order);
    requests.push_back(order.request);
  }
  std::vector<Receipt> receipts;
  // a slack may be more than what the event needed of it
  const auto is_another = [this](Delta at, const Entry& entry) {
    return std::holds_alternative<GdpBudget>(terms_.budget) ? entry.cost.delta > at.value() * (1 + 0x1p-40) : at.value() != entry.cost.delta;
  };
  writer_->write([&](const ledger_detail::End& end) {
    Filter filter = ledger_detail::filter_of(terms_, end.tally);
    std::map<std::string, Entry> known = charges_of(store_->of_requests(requests));
    std::vector<Record> added;
    added.reserve(orders.size());
    for (const Order& order : orders) {
      const std::string plan = print(order.event);
      const std::string request = order.again ? untaken(*store_, known, order.request) : order.request;
      if (const auto before = known.find(request); before != known.end()) {
        const Entry& entry = before->second;
        if (entry.content != order.content || entry.plan != plan || (order.at && is_another(*order.at, entry))) {
          throw LedgerError("request " + request + " was charged before for something else: use another id");
        }
        receipts.push_back({true, entry});
        continue;
      }
      const Decision decision = filter.admit(order.event, order.at);
      if (!decision) throw BudgetRefused(refusal(terms_, order.event, plan, decision), decision.missing);
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
                       .measurements = joined(order.measurements),
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
      known.emplace(request, receipts.back().entry);
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
  std::map<std::string, std::vector<Record>> records;
  for (Record& record : store_->of_requests(requests)) records[record.request].push_back(std::move(record));
  std::vector<RequestState> states;
  for (const std::string& request : requests) {
    RequestState state = state_of(records[request]);
    // version 1 drew noise whenever it was run
    if (store_->version() == 1 && state == RequestState::charged) state = store_->answer(request) ? RequestState::answered : RequestState::begun;
    states.push_back(state);
  }
  return states;
}

std::optional<Entry> Ledger::charge_of(const std::string& request) const {
  const auto charges = charges_of(store_->of_requests({request}));
  return charges.empty() ? std::nullopt : std::optional(charges.begin()->second);
}

void Ledger::begin(const std::string& request, const std::string& seal) {
  require_text(seal, "a checkpoint's seal");
  writer_->write([&](const ledger_detail::End& end) {
    switch (state_of(store_->of_requests({request}))) {
      case RequestState::unknown: throw LedgerError("request " + request + " was not charged: nothing is drawn for it");
      case RequestState::charged: return writer_->mark(end, "begun", request, seal, std::nullopt);
      default: throw RequestClosed("request " + request + " was begun before: noise is drawn for it once");
    }
  });
}

void Ledger::mark_checkpoint(const std::string& request, const CheckpointMark& mark) {
  require(!mark.seal.empty(), "a checkpoint has a seal");
  require_text(mark.seal, "a checkpoint's seal");
  writer_->write([&](const ledger_detail::End& end) {
    const std::vector<Record> records = store_->of_requests({request});
    const RequestState state = state_of(records);
    if (state != RequestState::begun) {
      throw LedgerError("request " + request + (state == RequestState::answered ? " has its answer already" : " was not begun") +
                        ": it has no checkpoints");
    }
    if (mark.number != number_of(last_checkpoint(records)) + 1) {
      throw LedgerError("another process went on from the same checkpoint of the request " + request + ": what this one did since is given up");
    }
    return writer_->mark(end, ("checkpoint/" + std::to_string(mark.number)).c_str(), request, mark.seal, std::nullopt);
  });
}

std::optional<CheckpointMark> Ledger::checkpoint(const std::string& request) const {
  const std::vector<Record> records = store_->of_requests({request});
  const Record* last = last_checkpoint(records);
  if (last == nullptr || state_of(records) != RequestState::begun) return std::nullopt;
  writer_->require_last_checkpoint(*last);
  return CheckpointMark{number_of(last), last->content};
}

void Ledger::require_checkpoints() const {
  if (!store_->takes_checkpoints()) {
    throw LedgerError("this ledger was made before trainings were marked in it: export it, and import that", Remedy::import_ledger);
  }
}

std::string Ledger::secret_for(const std::string& purpose) const { return writer_->key().secret_for(purpose); }

void Ledger::keep_answer(const std::string& request, const std::string& answer) {
  require_text(answer, "an answer");
  writer_->write([&](const ledger_detail::End& end) {
    switch (state_of(store_->of_requests({request}))) {
      case RequestState::unknown: throw LedgerError("request " + request + " was not charged: it has no answer");
      case RequestState::charged: throw LedgerError("request " + request + " was not begun: it has no answer");
      case RequestState::begun: return writer_->mark(end, "answer", request, digest(answer), answer);
      default: throw LedgerError("request " + request + " has its answer already");
    }
  });
}

std::optional<std::string> Ledger::answer(const std::string& request) const {
  if (store_->version() == 1) return store_->answer(request);
  const std::vector<Record> records = store_->of_requests({request});
  if (state_of(records) != RequestState::answered) return std::nullopt;
  const auto text = store_->answer(request);
  writer_->require_answer(records, request, text);
  return text;
}

std::vector<Entry> Ledger::entries() const {
  std::vector<Entry> entries;
  for (const Record& record : store_->since(1)) {
    if (record.kind == "charge") entries.push_back(ledger_detail::entry_of(record));
  }
  return entries;
}

Filter Ledger::filter() const {
  const std::vector<Record> latest = store_->latest();
  if (store_->version() == 2) return ledger_detail::filter_of(terms_, writer_->end(latest).tally);
  return ledger_detail::filter_of(terms_,
                                  latest.empty() ? Tally{} : ledger_detail::tally_of(terms_.budget, latest.back().amount, latest.back().delta));
}

Head Ledger::head() const {
  const std::vector<Record> latest = store_->latest();
  return latest.empty() ? Head{0, store_->founding().hash} : Head{latest.back().number, latest.back().hash};
}

Finding Ledger::verify(const std::optional<Head>& kept) const {
  Finding finding = ledger_detail::check(store_->contents(), kept);
  if (!finding.sound) return finding;
  try {
    writer_->require_witnessed(finding.head);
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
