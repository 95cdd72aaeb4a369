// Drops the records after the last signed head, which somebody without a key added. Such records
// block all charges; dropping them cannot lower a total, since no charge was ever admitted after
// them.
#include <algorithm>
#include <limits>

#include "ledger/chain/chain.hpp"
#include "ledger/chain/store.hpp"
#include "ledger/chain/text.hpp"
#include "ledger/chain/verified_chain.hpp"
#include "ledger/export.hpp"
#include "ledger/writer.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/ledger/ledger.hpp"

namespace sotto {
namespace {

using ledger_detail::Record;

// The records of a store, split at the last signed head.
struct Split {
  ledger_detail::ChainWalk signed_part;
  std::vector<Record> dropped;
  std::vector<std::string> dropped_answers;  // by request
};

Split split_of(const Ledger::Store& store, const Ledger::Store::Founding& founding,
               const Budget& budget) {
  const std::vector<Record> records = store.records_from(std::numeric_limits<std::int64_t>::min());
  const auto first = std::find_if(records.begin(), records.end(),
                                  [](const Record& record) { return record.number >= 1; });

  // Find how many records are linked without a gap, and the last signed head among them.
  ledger_detail::ChainWalk walk(founding, budget);
  std::int64_t linked = 0;
  std::int64_t signed_head = 0;
  for (auto record = first; record != records.end(); ++record) {
    try {
      if (!walk.add(*record).empty()) break;
    } catch (const LedgerError&) {
      break;  // a number in the record cannot be read
    }
    ++linked;
    if (!record->signer.empty() && ledger_detail::is_signed_by_ledger(founding, *record))
      signed_head = linked;
  }

  Split split{ledger_detail::ChainWalk(founding, budget), {records.begin(), first}, {}};
  for (std::int64_t i = 0; i < signed_head; ++i) (void)split.signed_part.add(*(first + i));
  split.dropped.insert(split.dropped.end(), first + signed_head, records.end());

  // Never drop a record that a key signed: it may be a charge whose answer is published. The chain
  // is then broken in the middle, and only a backup can restore it.
  for (const Record& record : split.dropped) {
    if (!ledger_detail::is_signed_by_ledger(founding, record)) continue;
    throw LedgerError(
        "entry " + std::to_string(record.number) +
        " was signed by a key of the ledger, and the chain is broken before it, at entry " +
        std::to_string(linked + 1) + ": put the ledger back from a backup. Nothing was dropped");
  }
  for (const auto& [request, text] : store.answers()) {
    if (split.signed_part.requests().progress_of(request).state != RequestState::answered)
      split.dropped_answers.push_back(request);
  }
  return split;
}

// The note's title is in the record that the repair appends, so its wording is part of the format.
std::string title_of(const Split& split) {
  std::string title = "dropped: " + std::to_string(split.dropped.size()) + " unsigned records, " +
                      std::to_string(split.dropped_answers.size()) + " answers without a mark";
  std::vector<std::string> writers;
  for (const Record& record : split.dropped) {
    if (!record.who.empty() &&
        std::find(writers.begin(), writers.end(), record.who) == writers.end())
      writers.push_back(record.who);
  }
  for (std::size_t i = 0; i < writers.size() && i < 5; ++i)
    title += (i == 0 ? ", written as " : ", ") + writers[i];
  return title;
}

}  // namespace

Repair Ledger::repair(const std::string& place, const LedgerOptions& options, bool dry_run) {
  if (options.read_only && !dry_run)
    throw LedgerError(
        without_password(place) +
        " was opened for reading only; nothing was dropped. Open it without read_only");
  Ledger ledger = open(place, options);
  Store& store = *ledger.store_;
  if (store.version() != 2)
    throw LedgerError(without_password(place) +
                      " is a ledger of version 1, which has no signatures and cannot be repaired: "
                      "put it back from a backup");
  const Store::Founding founding = store.founding();
  Repair repair;
  const auto work = [&] {
    const Split split = split_of(store, founding, ledger.terms_.budget);
    const ledger_detail::End& end = split.signed_part.end();
    // A repair never goes back behind the witness's head: records that the witness knows were
    // signed.
    ledger.writer_->require_witnessed(split.signed_part);
    repair = {.signed_head = end.head,
              .records = static_cast<std::int64_t>(split.dropped.size()),
              .answers = static_cast<std::int64_t>(split.dropped_answers.size()),
              .dropped = "",
              .words = title_of(split)};
    for (const Record& record : split.dropped)
      repair.dropped += ledger_detail::line_of(record) + "\n";
    if (dry_run || (repair.records == 0 && repair.answers == 0)) return;
    const std::string request = "repair/" + std::to_string(end.head.number + 1);
    const auto note = ledger.writer_->mark(end, "repair", request, digest(repair.dropped),
                                           std::nullopt, repair.words);
    store.repair(end.head.number, split.dropped_answers, note.records.front());
  };
  if (dry_run) {
    work();
  } else {
    (void)ledger.writer_->key();  // an absent key is reported before anything is deleted
    store.transact(work);
  }
  repair.head = dry_run ? repair.signed_head : ledger.head();
  if (!dry_run) ledger.writer_->notify_witness(repair.head);
  return repair;
}

}  // namespace sotto
