// Drops what was added to a ledger behind its last signed head, by somebody without a key.
#include <algorithm>
#include <limits>

#include "ledger/chain/chain.hpp"
#include "ledger/export.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/ledger/ledger.hpp"
#include "ledger/chain/store.hpp"
#include "ledger/chain/text.hpp"
#include "ledger/chain/verified_chain.hpp"
#include "ledger/writer.hpp"

namespace sotto {
namespace {

using ledger_detail::Record;

// The records up to the last signed head, and what is stored besides.
struct Split {
  ledger_detail::ChainWalk kept;
  std::vector<Record> dropped;
  std::vector<std::string> dropped_answers;  // by request
};

Split split_of(const Ledger::Store& store, const Ledger::Store::Founding& founding, const Budget& budget) {
  const std::vector<Record> records = store.since(std::numeric_limits<std::int64_t>::min());
  const auto first = std::find_if(records.begin(), records.end(), [](const Record& record) { return record.number >= 1; });

  // how far the chain is whole, and the last signed head within that
  ledger_detail::ChainWalk walk(founding, budget);
  std::int64_t whole = 0;
  std::int64_t signed_head = 0;
  for (auto at = first; at != records.end(); ++at) {
    try {
      if (!walk.add(*at).empty()) break;
    } catch (const LedgerError&) {
      break;  // a number in it cannot be read
    }
    ++whole;
    if (!at->signer.empty() && ledger_detail::is_signed_by_ledger(founding, *at)) signed_head = whole;
  }

  Split split{ledger_detail::ChainWalk(founding, budget), {records.begin(), first}, {}};
  for (std::int64_t i = 0; i < signed_head; ++i) (void)split.kept.add(*(first + i));
  split.dropped.insert(split.dropped.end(), first + signed_head, records.end());

  // A record that a key signed is never dropped: what is broken then is the middle of the chain, and only a backup mends that.
  for (const Record& record : split.dropped) {
    if (!ledger_detail::is_signed_by_ledger(founding, record)) continue;
    throw LedgerError("entry " + std::to_string(record.number) + " was signed by a key of the ledger, and the chain is broken before it, at entry " +
                      std::to_string(whole + 1) + ": put the ledger back from a backup. Nothing was dropped");
  }
  for (const auto& [request, text] : store.answers()) {
    if (split.kept.requests().of(request).state != RequestState::answered) split.dropped_answers.push_back(request);
  }
  return split;
}

std::string title_of(const Split& split) {
  std::string title = "dropped: " + std::to_string(split.dropped.size()) + " unsigned records, " + std::to_string(split.dropped_answers.size()) +
                      " answers without a mark";
  std::vector<std::string> writers;
  for (const Record& record : split.dropped) {
    if (!record.who.empty() && std::find(writers.begin(), writers.end(), record.who) == writers.end()) writers.push_back(record.who);
  }
  for (std::size_t i = 0; i < writers.size() && i < 5; ++i) title += (i == 0 ? ", written as " : ", ") + writers[i];
  return title;
}

}  // namespace

Repair Ledger::repair(const std::string& place, const LedgerOptions& options, bool only_look) {
  if (options.read_only && !only_look) throw LedgerError(without_password(place) + " was opened to be read alone: nothing was dropped");
  Ledger ledger = open(place, options);
  Store& store = *ledger.store_;
  if (store.version() != 2)
    throw LedgerError(without_password(place) + " is a ledger of version 1, which has no signatures: there is nothing to repair");
  const Store::Founding founding = store.founding();
  Repair repair;
  const auto work = [&] {
    const Split split = split_of(store, founding, ledger.terms_.budget);
    const ledger_detail::End& end = split.kept.end();
    ledger.writer_->require_witnessed(split.kept);
    repair = {.kept = end.head,
              .records = static_cast<std::int64_t>(split.dropped.size()),
              .answers = static_cast<std::int64_t>(split.dropped_answers.size()),
              .dropped = "",
              .words = title_of(split)};
    for (const Record& record : split.dropped) repair.dropped += ledger_detail::line_of(record) + "\n";
    if (only_look || (repair.records == 0 && repair.answers == 0)) return;
    const std::string request = "repair/" + std::to_string(end.head.number + 1);
    const auto note = ledger.writer_->mark(end, "repair", request, digest(repair.dropped), std::nullopt, repair.words);
    store.repair(end.head.number, split.dropped_answers, note.records.front());
  };
  if (only_look) {
    work();
  } else {
    (void)ledger.writer_->key();
    store.transact(work);
  }
  repair.head = only_look ? repair.kept : ledger.head();
  if (!only_look) ledger.writer_->tell(repair.head);
  return repair;
}

}  // namespace sotto
