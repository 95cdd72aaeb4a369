// The order of the steps in which records are verified, written and given to the witness.
#include "ledger/writer.hpp"

#include <algorithm>
#include <filesystem>

#include "core/api/hexadecimal.hpp"
#include "core/api/utc.hpp"
#include "ledger/chain/text.hpp"
#include "sotto/core/errors.hpp"

namespace sotto {

using ledger_detail::Addition;
using ledger_detail::End;
using ledger_detail::Record;

namespace ledger_detail {

Filter filter_of(const Terms& terms, const Tally& tally) {
  try {
    return {terms.budget, terms.relation, tally};
  } catch (const std::invalid_argument&) {
    throw LedgerError("the totals of the ledger do not fit its budget, " + print(terms.budget) +
                      ": the ledger is damaged; put it back from a backup");
  }
}

}  // namespace ledger_detail

Ledger::Writer::Writer(Store& store, Store::Founding founding, Budget budget, std::string place,
                       LedgerOptions options)
    : store_(store),
      founding_(std::move(founding)),
      budget_(std::move(budget)),
      place_(std::move(place)),
      options_(std::move(options)),
      witness_(ledger_detail::witness_named(options_.witness, options_.patience)),
      chain_(founding_, budget_, without_password(place_)),
      who_(store.role()) {
  if (who_.empty()) who_ = ledger_detail::user_name();
}

SigningKey& Ledger::Writer::key() {
  if (!key_) {
    const std::string path = options_.key.empty() ? default_key(place_) : options_.key;
    SigningKey key = SigningKey::read(path);
    // Records signed by another key would not verify, so nothing may be written with it.
    const auto listed = ledger_detail::words_of(founding_.keys);
    if (std::find(listed.begin(), listed.end(), key.public_key()) == listed.end()) {
      throw LedgerError(
          "the key " + path + " is not among the keys that the founding entry of " +
          without_password(place_) +
          " lists; nothing was charged. Give the path of the key that was made with the ledger");
    }
    key.bind(path, founding_.hash);
    key_ = std::move(key);
  }
  return *key_;
}

void Ledger::Writer::write(const std::function<Addition(const End& end)>& f) {
  if (options_.read_only)
    throw LedgerError(
        without_password(place_) +
        " was opened for reading only; nothing was charged. Open it without read_only");
  if (store_.version() == 1) {
    throw LedgerError(without_password(place_) +
                          " is a ledger of version 1, which can be read and exported, but not "
                          "charged: export it, and import the export "
                          "with the type of its unit and its source",
                      Remedy::import_ledger);
  }

  // Verify the chain outside of the transaction. The first verification reads all records, and the
  // transaction keeps other writers waiting.
  (void)chain_.verify_to_end(store_);

  // Decide and append in one transaction. A crash or an error anywhere in it rolls it back: the
  // ledger is as it was, and no data have been read for the new records.
  Addition addition;
  store_.transact([&] {
    // Verify the records that others appended meanwhile, so that f decides with the true totals.
    const End end = chain_.verify_to_end(store_);
    // Refuse an older copy of the ledger: it would have more budget left than the true one.
    require_witnessed();
    addition = f(end);
    if (!addition.records.empty()) store_.append(end.head.hash, addition.records, addition.answer);
  });

  // The records are on disk. A crash from here on leaves them in the ledger, where a repeated
  // request finds its charge, but not at the witness. That is safe: the chain still contains the
  // head that the witness keeps, and the next record brings the witness up to date.
  try {
    chain_.extend(addition.records);
    notify_witness(chain_.head());
  } catch (const LedgerError& error) {
    if (addition.records.empty()) throw;
    throw ChargeStays(error.what(), error.remedy());
  }
}

const ledger_detail::VerifiedChain& Ledger::Writer::verified_chain() {
  (void)chain_.verify_to_end(store_);
  require_witnessed();
  return chain_;
}

std::vector<Record> Ledger::Writer::records() {
  (void)verified_chain();
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
  added.back().signature =
      key().sign(ledger_detail::head_bytes(founding_.id, {added.back().number, added.back().hash}));
}

Addition Ledger::Writer::mark(const End& end, const char* kind, const std::string& request,
                              const std::string& content, const std::optional<std::string>& answer,
                              const std::string& title) {
  std::vector<Record> added{{.kind = kind,
                             .time = utc_now(),
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
  if (!witnessed_) witnessed_ = witness_->last(founding_.id);
  if (witnessed_) return chain.require_contains(*witnessed_, "the witness");
  const Head& head = chain.end().head;
  if (head.number == 0) return;
  // A witness without a head is either new or was emptied, to hide that the ledger is an older
  // copy. Only a person can tell the two apart.
  throw LedgerError("the witness " + options_.witness +
                        " keeps no head of this ledger, which has " + std::to_string(head.number) +
                        (head.number == 1 ? " entry" : " entries") +
                        ": its disk may be absent, or it was emptied. Nothing was charged. If the "
                        "witness is new, start it",
                    Remedy::start_witness);
}

void Ledger::Writer::start_witness() {
  if (witness_ == nullptr) throw InvalidValue("no witness is given: give a file, or |COMMAND");
  (void)chain_.verify_to_end(store_);
  if (const auto head = witness_->last(founding_.id))
    chain_.walk().require_contains(*head, "the witness");
  notify_witness(chain_.head());
}

void Ledger::Writer::notify_witness(const Head& head) {
  if (witness_ == nullptr || (witnessed_ && witnessed_->number >= head.number)) return;
  witness_->give(founding_.id, head);
  witnessed_ = head;
}

// --- Creation ---

Ledger Ledger::Writer::create(
    const std::string& place, Store::Contents contents, const LedgerOptions& options,
    const std::function<void(Store::Contents& contents, const SigningKey& key)>& more) {
  Store::Founding& founding = contents.founding;
  // An imported ledger of version 2 has its keys and signatures already.
  if (!founding.keys.empty())
    return {ledger_detail::create_store(place, contents, options.writer), place, options};
  const std::string path = options.key.empty() ? default_key(place) : options.key;
  const bool has_key_file = std::filesystem::exists(path);
  SigningKey key = has_key_file ? SigningKey::read(path) : SigningKey::generate();
  // One key signs one ledger: bind() could not detect a swapped founding entry otherwise.
  if (has_key_file && !key.ledger().empty()) {
    throw LedgerError("the key " + path +
                          " belongs to another ledger: give another path, or move that file away "
                          "if its ledger is gone",
                      Remedy::key_file);
  }

  // List the keys that may sign, then hash and sign the founding entry.
  founding.keys = key.public_key();
  for (const std::string& other : options.writer_keys) {
    const auto bytes = from_hexadecimal(other);
    if (!bytes || bytes->size() != 32)
      throw InvalidValue(
          "the public key of a writer has 64 hexadecimal digits in lower case, and '" + other +
              "' has not",
          Remedy::public_key);
    if (founding.keys.find(other) == std::string::npos) founding.keys += " " + other;
  }
  founding.hash = ledger_detail::first_hash(founding);
  founding.signature = key.sign(ledger_detail::head_bytes(founding.id, {0, founding.hash}));
  if (more) more(contents, key);

  // Write the key before the ledger. A crash in between leaves a key without a ledger, which its
  // owner can move away. A ledger without its key could never be charged.
  key.bind(path, founding.hash);
  try {
    return {ledger_detail::create_store(place, contents, options.writer), place, options};
  } catch (...) {
    std::error_code ignored;
    if (!has_key_file) std::filesystem::remove(path, ignored);
    throw;
  }
}

}  // namespace sotto
