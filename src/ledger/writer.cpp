#include "ledger/writer.hpp"

#include <algorithm>
#include <filesystem>

#include "sotto/core/errors.hpp"
#include "ledger/chain/text.hpp"

namespace sotto {

using ledger_detail::Addition;
using ledger_detail::End;
using ledger_detail::Record;

namespace ledger_detail {

Filter filter_of(const Terms& terms, const Tally& tally) {
  try {
    return {terms.budget, terms.relation, tally};
  } catch (const std::invalid_argument&) {
    throw LedgerError("a total in the ledger is not one of its budget: it is damaged");
  }
}

}  // namespace ledger_detail

Ledger::Writer::Writer(Store& store, Store::Founding founding, Budget budget, std::string place, LedgerOptions options)
    : store_(store),
      founding_(std::move(founding)),
      budget_(std::move(budget)),
      place_(std::move(place)),
      options_(std::move(options)),
      witness_(ledger_detail::witness_named(options_.witness, options_.patience)),
      chain_(founding_, budget_),
      who_(store.role()) {
  if (who_.empty()) who_ = ledger_detail::user_name();
}

SigningKey& Ledger::Writer::key() {
  if (!key_) {
    const std::string path = options_.key.empty() ? default_key(place_) : options_.key;
    SigningKey found = SigningKey::read(path);
    const auto listed = ledger_detail::words_of(founding_.keys);
    if (std::find(listed.begin(), listed.end(), found.public_key()) == listed.end()) {
      throw LedgerError("the key " + path + " is not among those of the ledger's founding entry; nothing was charged");
    }
    found.bind(path, founding_.hash);
    key_ = std::move(found);
  }
  return *key_;
}

void Ledger::Writer::write(const std::function<Addition(const End& end)>& f) {
  if (options_.read_only) throw LedgerError(without_password(place_) + " was opened to be read alone: nothing was charged");
  if (store_.version() == 1) {
    throw LedgerError(without_password(place_) +
                          " is a ledger of version 1, which is shown, verified and exported, but not charged: export it, and "
                          "import that with the type of its unit and its source",
                      Remedy::import_ledger);
  }
  (void)chain_.follow(store_);  // the long way outside the transaction, which keeps other writers waiting
  Addition addition;
  store_.transact([&] {
    const End end = chain_.follow(store_);
    require_witnessed();
    addition = f(end);
    if (!addition.records.empty()) store_.append(end.head.hash, addition.records, addition.answer);
  });
  try {
    chain_.extend(addition.records);
    tell(chain_.head());
  } catch (const LedgerError& error) {
    if (addition.records.empty()) throw;
    throw ChargeStays(error.what(), error.remedy());
  }
}

const ledger_detail::VerifiedChain& Ledger::Writer::chain() {
  (void)chain_.follow(store_);
  require_witnessed();
  return chain_;
}

std::vector<Record> Ledger::Writer::records() {
  (void)chain();
  return chain_.all(store_);
}

void Ledger::Writer::link(std::vector<Record>& added, const End& end) const {
  Record& last = added.back();
  const bool is_first = added.size() == 1;
  last.number = is_first ? end.head.number + 1 : added[added.size() - 2].number + 1;
  if (last.who.empty()) last.who = who_;
  last.hash = ledger_detail::hash_of(is_first ? end.head.hash : added[added.size() - 2].hash, last);
}

void Ledger::Writer::sign(std::vector<Record>& added, const End& end) {
  added.back().signer = key().public_key();
  link(added, end);
  added.back().signature = key().sign(ledger_detail::head_bytes(founding_.id, {added.back().number, added.back().hash}));
}

Addition Ledger::Writer::mark(const End& end, const char* kind, const std::string& request, const std::string& content,
                              const std::optional<std::string>& answer, const std::string& title) {
  std::vector<Record> added{{.kind = kind,
                             .time = ledger_detail::time_now(),
                             .request = request,
                             .content = content,
                             .title = title,
                             .cost = "0",
                             .cost_delta = "0",
                             .cost_slack = "0",
                             .amount = end.totals.amount,
                             .delta = end.totals.delta,
                             .slack = end.totals.slack}};
  sign(added, end);
  return {std::move(added), answer};
}

void Ledger::Writer::require_witnessed(const ledger_detail::ChainWalk& chain) {
  if (witness_ == nullptr) return;
  if (!outside_) outside_ = witness_->last(founding_.id);
  if (outside_) return chain.require_contains(*outside_, "the witness");
  const Head& head = chain.end().head;
  if (head.number == 0) return;
  throw LedgerError("the witness " + options_.witness + " keeps no head of this ledger, which has " + std::to_string(head.number) +
                        (head.number == 1 ? " entry" : " entries") +
                        ": its disk may be absent, or it was emptied. Nothing was charged. If the witness is new, say so",
                    Remedy::start_witness);
}

void Ledger::Writer::start_witness() {
  if (witness_ == nullptr) throw InvalidValue("which witness? A file, or |COMMAND");
  (void)chain_.follow(store_);
  if (const auto kept = witness_->last(founding_.id)) chain_.walk().require_contains(*kept, "the witness");
  tell(chain_.head());
}

void Ledger::Writer::tell(const Head& head) {
  if (witness_ == nullptr || (outside_ && outside_->number >= head.number)) return;
  witness_->give(founding_.id, head);
  outside_ = head;
}

// --- Founding ---

Ledger Ledger::Writer::found(const std::string& place, Store::Contents contents, const LedgerOptions& options,
                             const std::function<void(Store::Contents& contents, const SigningKey& key)>& more) {
  Store::Founding& founding = contents.founding;
  if (!founding.keys.empty()) return {ledger_detail::create_store(place, contents, options.writer), place, options};
  const std::string path = options.key.empty() ? default_key(place) : options.key;
  const bool is_there = std::filesystem::exists(path);
  SigningKey key = is_there ? SigningKey::read(path) : SigningKey::generate();
  if (is_there && !key.ledger().empty()) {
    throw LedgerError("the key " + path + " is of another ledger: name another file, or move that one away if its ledger is gone", Remedy::key_file);
  }
  founding.keys = key.public_key();
  for (const std::string& other : options.writer_keys) {
    const auto bytes = ledger_detail::from_hexadecimal(other);
    if (!bytes || bytes->size() != 32) throw InvalidValue("a writer's public key is 64 digits", Remedy::public_key);
    if (founding.keys.find(other) == std::string::npos) founding.keys += " " + other;
  }
  founding.hash = ledger_detail::first_hash(founding);
  founding.signature = key.sign(ledger_detail::head_bytes(founding.id, {0, founding.hash}));
  if (more) more(contents, key);
  key.bind(path, founding.hash);  // there before the ledger is
  try {
    return {ledger_detail::create_store(place, contents, options.writer), place, options};
  } catch (...) {
    std::error_code ignored;
    if (!is_there) std::filesystem::remove(path, ignored);
    throw;
  }
}

}  // namespace sotto
