#include "ledger/chain/verified_chain.hpp"

#include <algorithm>
#include <limits>

#include "sotto/core/decimal.hpp"
#include "sotto/ledger/key.hpp"
#include "ledger/chain/text.hpp"

namespace sotto::ledger_detail {
namespace {

constexpr std::int64_t page = 4096;  // records read at once

Real cost_of(const std::string& text) {
  try {
    return {read_number(text)};
  } catch (const std::invalid_argument&) {
    throw LedgerError("a cost in the ledger cannot be read: it is damaged");
  }
}

std::string entry_name(std::int64_t number) { return "entry " + std::to_string(number); }

[[noreturn]] void refuse(const std::string& what) {
  throw LedgerError("the ledger's chain is broken: " + what + ". Nothing was charged, and no answer is shown", Remedy::verify_ledger);
}

}  // namespace

bool is_signed_by_ledger(const Ledger::Store::Founding& founding, const Record& record) {
  const auto keys = words_of(founding.keys);
  return std::find(keys.begin(), keys.end(), record.signer) != keys.end() &&
         is_signed(head_bytes(founding.id, {record.number, record.hash}), record.signature, record.signer);
}

// --- One record after the other ---

ChainWalk::ChainWalk(const Ledger::Store::Founding& founding, const Budget& budget) : budget_(budget) {
  end_.head.hash = founding.hash;
  end_.totals.delta = exact(end_.tally.delta);
  end_.totals.slack = exact(Real(0));
  Hash first{};
  const auto bytes = from_hexadecimal(founding.hash);
  if (bytes && bytes->size() == first.size()) std::copy(bytes->begin(), bytes->end(), first.begin());
  hashes_.push_back(first);
}

std::string ChainWalk::hash_at(std::int64_t number) const { return hexadecimal(hashes_.at(static_cast<std::size_t>(number))); }

std::string ChainWalk::add(const Record& record) {
  if (record.number != end_.head.number + 1) return "is missing";
  const auto bytes = from_hexadecimal(record.hash);
  if (!bytes || bytes->size() != sizeof(Hash) || record.hash != hash_of(end_.head.hash, record)) return "was changed";
  if (std::string wrong = requests_.add(record); !wrong.empty()) return wrong;
  if (!has_right_total(record)) return "has another total than the one before it and its cost";
  Hash hash{};
  std::copy(bytes->begin(), bytes->end(), hash.begin());
  hashes_.push_back(hash);
  end_.head = {record.number, record.hash};
  end_.totals = {.amount = record.amount, .delta = record.delta, .slack = record.slack};
  return "";
}

// The total after a charge is that of the record before and its cost; a mark leaves it as it is.
bool ChainWalk::has_right_total(const Record& r) {
  if (r.kind != "charge") {
    const bool is_free = cost_of(r.cost).upper() == 0 && cost_of(r.cost_delta).upper() == 0 && cost_of(r.cost_slack).upper() == 0;
    return is_free && r.amount == end_.totals.amount && r.delta == end_.totals.delta && r.slack == end_.totals.slack;
  }
  const Tally& before = end_.tally;
  const Real cost = cost_of(r.cost);
  const Real cost_delta = cost_of(r.cost_delta);
  const Real cost_slack = cost_of(r.cost_slack);
  if (!(cost.lower() >= 0) || !(cost_delta.lower() >= 0) || cost_slack.upper() != 0) return false;
  Tally tally = tally_of(budget_, r.amount, r.delta);
  bool adds_up = exact(before.amount + cost) == exact(tally.amount) && exact(before.delta + cost_delta) == with_decimal_point(r.delta) &&
                 exact(read_exact(end_.totals.slack) + cost_slack) == with_decimal_point(r.slack);
  for (std::size_t i = 0; i < before.used.size(); ++i) adds_up = adds_up && i < tally.used.size() && tally.used[i] >= before.used[i];
  end_.tally = std::move(tally);
  return adds_up;
}

void ChainWalk::require_contains(const Head& kept, const std::string& keeper) const {
  const Head& now = end_.head;
  const auto require = [&](bool condition, const std::string& what) {
    if (!condition) {
      throw LedgerError("the ledger is not the one whose head " + keeper + " keeps (" + std::to_string(kept.number) + ":" + kept.hash + "): " + what +
                        ". Nothing was charged");
    }
  };
  require(kept.number <= now.number, "it ends at entry " + std::to_string(now.number) + ", so it was truncated or put back");
  require(kept.number >= 0 && hash_at(kept.number) == kept.hash, "its history is another");
}

// --- The whole chain ---

VerifiedChain::VerifiedChain(Ledger::Store::Founding founding, Budget budget)
    : founding_(std::move(founding)), budget_(std::move(budget)), walk_(founding_, budget_), signed_{0, founding_.hash} {}

void VerifiedChain::require_signed(const Record& last) const {
  if (last.hash == signed_.hash) return;
  const std::string which = entry_name(last.number) + ", the ledger's last, ";
  const auto keys = words_of(founding_.keys);
  if (std::find(keys.begin(), keys.end(), last.signer) == keys.end()) {
    throw LedgerError(which + "was not signed by one of the ledger's keys. Nothing was charged, and no answer is shown", Remedy::repair_ledger);
  }
  if (!is_signed_by_ledger(founding_, last)) {
    throw LedgerError(which + "has a signature that is not its signer's. Nothing was charged, and no answer is shown", Remedy::repair_ledger);
  }
}

void VerifiedChain::take(const std::vector<Record>& records) {
  for (const Record& record : records) {
    const std::int64_t expected = walk_.end().head.number + 1;
    if (record.number < 1) refuse("there is an entry with the number " + std::to_string(record.number) + ", which nobody signed");
    if (const std::string wrong = walk_.add(record); !wrong.empty()) refuse(entry_name(expected) + " " + wrong);
  }
}

const End& VerifiedChain::follow(const Ledger::Store& store) {
  const Head known = signed_;
  const bool is_first = walk_.end().head.number == 0;
  try {
    // the first page starts with the record that is already verified, or before the first one, where no record has a place
    std::int64_t from = is_first ? std::numeric_limits<std::int64_t>::min() : walk_.end().head.number;
    std::optional<Record> last;
    for (bool is_more = true; is_more;) {
      std::vector<Record> records = store.since(from, page);
      is_more = static_cast<std::int64_t>(records.size()) == page;
      if (!is_first && from == walk_.end().head.number && !last) {
        const bool is_same = !records.empty() && records.front().number == known.number && records.front().hash == known.hash;
        if (!is_same) {
          throw LedgerError("the ledger is not the one that this process used before: entry " + std::to_string(known.number) +
                            " was changed, truncated or put back. Nothing was charged");
        }
        last = records.front();
        records.erase(records.begin());
      }
      take(records);
      if (!records.empty()) last = std::move(records.back());
      from = walk_.end().head.number + 1;
    }
    if (last) require_signed(*last);
    signed_ = walk_.end().head;
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
    take(added);
  } catch (...) {
    walk_ = ChainWalk(founding_, budget_);  // the next call verifies it all again
    throw;
  }
  signed_ = walk_.end().head;
}

Record VerifiedChain::record(const Ledger::Store& store, std::int64_t number) const {
  const std::vector<Record> found = store.since(number, 1);
  const bool is_there = found.size() == 1 && found.front().number == number;
  if (!is_there || hash_of(walk_.hash_at(number - 1), found.front()) != walk_.hash_at(number)) refuse(entry_name(number) + " was changed");
  Record record = found.front();
  record.hash = walk_.hash_at(number);
  return record;
}

std::vector<Record> VerifiedChain::all(const Ledger::Store& store) {
  const std::int64_t end = follow(store).head.number;
  std::vector<Record> records = store.since(1, end);
  for (std::int64_t i = 0; i < end; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const bool is_same = at < records.size() && hash_of(walk_.hash_at(i), records[at]) == walk_.hash_at(i + 1);
    if (!is_same) refuse(entry_name(i + 1) + " was changed");
    records[at].hash = walk_.hash_at(i + 1);
  }
  return records;
}

void require_links(const Ledger::Store::Contents& contents, const Budget& budget) {
  require_founding(contents.founding);
  ChainWalk walk(contents.founding, budget);
  std::size_t answered = 0;
  for (const Record& record : contents.records) {
    const std::int64_t expected = walk.end().head.number + 1;
    if (const std::string wrong = walk.add(record); !wrong.empty()) refuse(entry_name(expected) + " " + wrong);
    const bool is_right = record.signer.empty() ? record.signature.empty() : is_signed_by_ledger(contents.founding, record);
    if (!is_right) refuse(entry_name(expected) + " has another signature");
    if (record.kind != "answer") continue;
    const auto text = contents.answers.find(record.request);
    if (text == contents.answers.end() || digest(text->second) != record.content) refuse("the kept answer of " + record.request + " was changed");
    ++answered;
  }
  if (answered != contents.answers.size()) refuse("there is a kept answer without a mark");
  if (!contents.records.empty() && !is_signed_by_ledger(contents.founding, contents.records.back())) {
    refuse(entry_name(contents.records.back().number) + ", the ledger's last, is not signed by one of its keys");
  }
}

}  // namespace sotto::ledger_detail
