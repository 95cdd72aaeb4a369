// The verification that every call of a ledger makes: incremental, without recomputing costs.
#include "ledger/chain/verified_chain.hpp"

#include <algorithm>
#include <limits>

#include "core/api/hexadecimal.hpp"
#include "ledger/chain/text.hpp"
#include "sotto/core/decimal.hpp"
#include "sotto/ledger/key.hpp"

namespace sotto::ledger_detail {
namespace {

constexpr std::int64_t page = 4096;  // number of records that are read at a time

std::string entry_name(std::int64_t number) { return "entry " + std::to_string(number); }

[[noreturn]] void refuse_chain(const std::string& place, const std::string& problem) {
  throw LedgerError("the chain of the ledger " + place + " is broken: " + problem +
                        ". Nothing was charged, and no answer is shown. Verify the ledger, and put "
                        "it back from a backup",
                    Remedy::verify_ledger);
}

}  // namespace

bool is_signed_by_ledger(const Ledger::Store::Founding& founding, const Record& record) {
  const auto keys = words_of(founding.keys);
  return std::find(keys.begin(), keys.end(), record.signer) != keys.end() &&
         is_signed(head_bytes(founding.id, {record.number, record.hash}), record.signature,
                   record.signer);
}

// --- Records, one by one ---

ChainWalk::ChainWalk(const Ledger::Store::Founding& founding, const Budget& budget)
    : budget_(budget) {
  end_.head.hash = founding.hash;
  end_.totals.delta = exact(end_.tally.delta);
  end_.totals.slack = exact(Real(0));
  Hash first{};
  const auto bytes = from_hexadecimal(founding.hash);
  if (bytes && bytes->size() == first.size())
    std::copy(bytes->begin(), bytes->end(), first.begin());
  hashes_.push_back(first);
}

std::string ChainWalk::hash_at(std::int64_t number) const {
  return hexadecimal(hashes_.at(static_cast<std::size_t>(number)));
}

std::string ChainWalk::add(const Record& record) {
  // A deleted or renumbered record.
  if (record.number != end_.head.number + 1) return "is missing";
  // An edited record, or one that was inserted from another chain.
  const auto bytes = from_hexadecimal(record.hash);
  if (!bytes || bytes->size() != sizeof(Hash) || record.hash != hash_of(end_.head.hash, record))
    return "was changed";
  // A writer with a key could still order marks so that noise is drawn twice for one charge.
  if (std::string wrong = requests_.add(record); !wrong.empty()) return wrong;
  // A writer with a key could still write a total that is too small.
  if (!has_right_total(record)) return "has a total that is not the total before it plus its cost";
  Hash hash{};
  std::copy(bytes->begin(), bytes->end(), hash.begin());
  hashes_.push_back(hash);
  end_.head = {record.number, record.hash};
  end_.totals = {.amount = record.amount, .delta = record.delta, .slack = record.slack};
  return "";
}

// Returns whether the total after a charge is the total before it plus the cost, or whether a mark
// leaves the total unchanged and costs nothing.
bool ChainWalk::has_right_total(const Record& r) {
  if (r.kind != "charge") {
    const bool is_free = Real(cost_number(r, r.cost)).upper() == 0 &&
                         Real(cost_number(r, r.cost_delta)).upper() == 0 &&
                         Real(cost_number(r, r.cost_slack)).upper() == 0;
    return is_free && r.amount == end_.totals.amount && r.delta == end_.totals.delta &&
           r.slack == end_.totals.slack;
  }
  const Tally& before = end_.tally;
  const Real cost(cost_number(r, r.cost));
  const Real cost_delta(cost_number(r, r.cost_delta));
  const Real cost_slack(cost_number(r, r.cost_slack));
  if (!(cost.lower() >= 0) || !(cost_delta.lower() >= 0) || cost_slack.upper() != 0) return false;
  Tally tally = tally_of(budget_, r);
  bool adds_up = exact(before.amount + cost) == exact(tally.amount) &&
                 exact(before.delta + cost_delta) == with_decimal_point(r.delta) &&
                 exact(read_exact(end_.totals.slack, entry_name(r.number)) + cost_slack) ==
                     with_decimal_point(r.slack);
  for (std::size_t i = 0; i < before.used.size(); ++i)
    adds_up = adds_up && i < tally.used.size() && tally.used[i] >= before.used[i];
  end_.tally = std::move(tally);
  return adds_up;
}

void ChainWalk::require_contains(const Head& expected, const std::string& keeper) const {
  const Head& now = end_.head;
  const auto require = [&](bool condition, const std::string& what) {
    if (!condition) {
      throw LedgerError("the ledger is not the one whose head " + keeper + " keeps (" +
                        std::to_string(expected.number) + ":" + expected.hash + "): " + what +
                        ". Nothing was charged. Put back the newest copy of the ledger");
    }
  };
  require(expected.number <= now.number, "it ends at entry " + std::to_string(now.number) +
                                             ", so it was truncated or replaced by an older copy");
  require(expected.number >= 0 && hash_at(expected.number) == expected.hash,
          "its entry " + std::to_string(expected.number) +
              " has another hash, so its history is another one");
}

// --- The whole chain ---

VerifiedChain::VerifiedChain(Ledger::Store::Founding founding, Budget budget, std::string place)
    : founding_(std::move(founding)),
      budget_(std::move(budget)),
      place_(std::move(place)),
      walk_(founding_, budget_),
      signed_{0, founding_.hash} {}

void VerifiedChain::refuse(const std::string& problem) const { refuse_chain(place_, problem); }

// Anybody who can write the file can append well-linked records. They do not count without the
// signature of a key that the founding entry lists.

void VerifiedChain::require_signed(const Record& last) const {
  if (last.hash == signed_.hash) return;
  const std::string which =
      entry_name(last.number) + ", the last one of the ledger " + place_ + ", ";
  const auto keys = words_of(founding_.keys);
  if (std::find(keys.begin(), keys.end(), last.signer) == keys.end()) {
    throw LedgerError(which +
                          "is not signed by a key of the ledger. Nothing was charged, and no "
                          "answer is shown. Repair the ledger, which drops unsigned entries",
                      Remedy::repair_ledger);
  }
  if (!is_signed_by_ledger(founding_, last)) {
    throw LedgerError(which +
                          "has a signature that its signer did not make. Nothing was charged, and "
                          "no answer is shown. Repair the ledger, which drops unsigned entries",
                      Remedy::repair_ledger);
  }
}

void VerifiedChain::append_verified(const std::vector<Record>& records) {
  for (const Record& record : records) {
    const std::int64_t expected = walk_.end().head.number + 1;
    if (record.number < 1)
      refuse("there is an entry with the number " + std::to_string(record.number) +
             ", which nobody signed");
    if (const std::string wrong = walk_.add(record); !wrong.empty())
      refuse(entry_name(expected) + " " + wrong);
  }
}

// The first record of the page must be the last one that this process verified: the attacker may
// have rewritten the ledger while this process runs.
void VerifiedChain::require_unchanged(const std::vector<Record>& records, const Head& known) const {
  if (!records.empty() && records.front().number == known.number &&
      records.front().hash == known.hash)
    return;
  throw LedgerError("the ledger " + place_ +
                    " is not the one that this process used before: entry " +
                    std::to_string(known.number) +
                    " was changed or truncated, or the ledger was replaced by an older copy. "
                    "Nothing was charged. Put back the newest copy");
}

const End& VerifiedChain::verify_to_end(const Ledger::Store& store) {
  const Head known = signed_;
  const bool is_first = walk_.end().head.number == 0;
  try {
    // The first page starts with the last record that was verified. Before any was verified it
    // starts at the smallest number there is, so that records with a number below 1 are seen and
    // refused.
    std::int64_t from =
        is_first ? std::numeric_limits<std::int64_t>::min() : walk_.end().head.number;
    std::optional<Record> last;
    for (bool is_more = true; is_more;) {
      std::vector<Record> records = store.records_from(from, page);
      is_more = static_cast<std::int64_t>(records.size()) == page;
      if (!is_first && from == walk_.end().head.number && !last) {
        require_unchanged(records, known);
        last = records.front();
        records.erase(records.begin());
      }
      append_verified(records);
      if (!records.empty()) last = std::move(records.back());
      from = walk_.end().head.number + 1;
    }
    if (last) require_signed(*last);
    signed_ = walk_.end().head;
    // After an error the walk starts over; the new walk must contain the head that was verified
    // before it.
    if (is_first && known.number > 0) walk_.require_contains(known, "this process");
  } catch (...) {
    walk_ = ChainWalk(founding_, budget_);
    signed_ = known;
    throw;
  }
  return walk_.end();
}

void VerifiedChain::extend(const std::vector<Record>& added) {
  try {
    append_verified(added);
  } catch (...) {
    walk_ = ChainWalk(founding_, budget_);  // the next call verifies all records again
    throw;
  }
  signed_ = walk_.end().head;
}

Record VerifiedChain::record(const Ledger::Store& store, std::int64_t number) const {
  // The row is read again, so it is compared with the verified hash: it may have been edited since.
  const std::vector<Record> rows = store.records_from(number, 1);
  const bool is_present = rows.size() == 1 && rows.front().number == number;
  if (!is_present || hash_of(walk_.hash_at(number - 1), rows.front()) != walk_.hash_at(number))
    refuse(entry_name(number) + " was changed");
  Record record = rows.front();
  record.hash = walk_.hash_at(number);
  return record;
}

std::vector<Record> VerifiedChain::all(const Ledger::Store& store) {
  const std::int64_t end = verify_to_end(store).head.number;
  std::vector<Record> records = store.records_from(1, end);
  for (std::int64_t i = 0; i < end; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const bool is_same =
        at < records.size() && hash_of(walk_.hash_at(i), records[at]) == walk_.hash_at(i + 1);
    if (!is_same) refuse(entry_name(i + 1) + " was changed");
    records[at].hash = walk_.hash_at(i + 1);
  }
  return records;
}

void require_links(const Ledger::Store::Contents& contents, const Budget& budget,
                   const std::string& place) {
  const auto refuse = [&place](const std::string& problem) { refuse_chain(place, problem); };
  require_founding(contents.founding);
  ChainWalk walk(contents.founding, budget);
  std::size_t answered = 0;
  for (const Record& record : contents.records) {
    const std::int64_t expected = walk.end().head.number + 1;
    if (const std::string wrong = walk.add(record); !wrong.empty())
      refuse(entry_name(expected) + " " + wrong);
    const bool is_right = record.signer.empty() ? record.signature.empty()
                                                : is_signed_by_ledger(contents.founding, record);
    if (!is_right)
      refuse(entry_name(expected) + " has a signature that none of the ledger's keys made");
    if (record.kind != "answer") continue;
    const auto text = contents.answers.find(record.request);
    if (text == contents.answers.end() || digest(text->second) != record.content)
      refuse("the stored answer of request " + record.request + " was changed");
    ++answered;
  }
  if (answered != contents.answers.size()) refuse("a stored answer has no mark in the chain");
  if (!contents.records.empty() &&
      !is_signed_by_ledger(contents.founding, contents.records.back())) {
    refuse(entry_name(contents.records.back().number) +
           ", the last one, is not signed by a key of the ledger");
  }
}

}  // namespace sotto::ledger_detail
