// Hashes, signed bytes and totals of a chain, and the full verification of a ledger.
#include "ledger/chain/chain.hpp"

#include <algorithm>
#include <charconv>
#include <sstream>
#include <unordered_map>

#include "accounting/api/approximate_gdp.hpp"
#include "ledger/chain/requests.hpp"
#include "ledger/chain/text.hpp"
#include "sotto/accounting/account.hpp"
#include "sotto/core/decimal.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/ledger/key.hpp"
#include "sotto/plan/text.hpp"

namespace sotto::ledger_detail {
namespace {

// Under a committed plan a total counts the runs of each part: "used 3 0 1".
constexpr const char* uses = "used";

Tally read_uses(const std::string& text, const std::string& where) {
  std::istringstream words(text);
  std::string word;
  Tally tally;
  words >> word;
  for (std::int64_t count = 0; word == uses && words >> count;) {
    tally.used.push_back(count);
    tally.amount += Real(static_cast<double>(count));
  }
  if (word != uses || !words.eof() || tally.used.empty())
    throw LedgerError(where + ": the total '" + text.substr(0, 100) +
                      "' cannot be read: the ledger is damaged");
  return tally;
}

bool is_among(const std::string& keys, const std::string& key) {
  const auto all = words_of(keys);
  return std::find(all.begin(), all.end(), key) != all.end();
}

// The sums of all costs up to a record. Under a committed plan the stored totals count runs
// instead, and Check compares them with a filter's tally.
struct Sum {
  Real amount = 0, delta = 0, slack = 0;
  void add(const Record& r) {
    amount += Real(cost_number(r, r.cost));
    delta += Real(cost_number(r, r.cost_delta));
    slack += Real(cost_number(r, r.cost_slack));
  }
};

// Returns whether the charge covers the cost that this version computes for the event. Another
// version may have found a smaller cost. A tight ε may also be slightly larger today, within its
// bracket. Then the charge must not be below the lower bound that is proved today.
bool covered(const Terms& terms, const Plan& event, const Charge& charged) {
  constexpr double room = 1 + 0x1p-40;
  constexpr double digits =
      1e-3;  // relative difference of two versions' upper bounds for discretised losses
  const auto covers = [&charged](const Charge& cost) {
    return cost.amount <= charged.amount * room && cost.delta <= charged.delta * room;
  };
  if (std::holds_alternative<GdpBudget>(terms.budget)) {
    const Charge cost =
        Filter(terms.budget, terms.relation).admit(event, Delta(charged.delta)).cost;
    if (covers(cost) || approximate_gdp_of(event, charged.delta).exact) return covers(cost);
    return cost.amount <= charged.amount * (1 + digits) && cost.delta <= charged.delta * room;
  }
  if (!std::holds_alternative<ApproximateBudget>(terms.budget))
    return covers(Filter(terms.budget, terms.relation).admit(event).cost);
  try {
    if (covers(Filter(terms.budget, terms.relation).admit(event).cost)) return true;
  } catch (
      const OutsideConditions&) {  // the event has a cost only at a delta that is stated with it
  }
  const Answer tight = epsilon(event, Delta(charged.delta), {.relation = terms.relation});
  return charged.amount >= tight.value.lower && charged.amount * (1 + digits) >= tight.value.upper;
}

// Recomputes the records of a ledger in order. It trusts nothing but the founding entry.
class Check {
 public:
  explicit Check(const Ledger::Store::Contents& contents)
      : contents_(contents),
        terms_(terms_of(contents.founding)),
        filter_(terms_.budget, terms_.relation) {}

  // Returns what is wrong with the next record, or an empty text.
  std::string problem_in(const Record& r, const std::string& before) {
    if (r.hash != hash(before, r)) return "was changed";
    if (contents_.version == 2) {
      if (r.signer.empty() != r.signature.empty()) return "was changed: its signature";
      if (!r.signer.empty() && !is_among(contents_.founding.keys, r.signer))
        return "was signed by a key that is not the ledger's";
      if (!r.signer.empty() && !is_signed(head_bytes(contents_.founding.id, {r.number, r.hash}),
                                          r.signature, r.signer)) {
        return "has a signature that its signer did not make";
      }
    }
    return r.kind == "charge" ? problem_in_charge(r) : problem_in_mark(r);
  }
  // Returns which stored answer no record marks, or an empty text. Somebody without a key may have
  // put it there, to have it shown as sotto's answer.
  std::string problem_in_answers() const {
    for (const auto& [request, text] : contents_.answers) {
      const RequestState state = requests_.progress_of(request).state;
      const bool is_answered =
          contents_.version == 1 ? state != RequestState::unknown : state == RequestState::answered;
      if (!is_answered)
        return "the stored answer of request " + request +
               " has no mark in the chain: it was inserted";
    }
    return "";
  }
  std::string hash(const std::string& before, const Record& r) const {
    if (contents_.version == 2) return hash_of(before, r);
    return chained(before, {std::to_string(r.number), r.time, r.request, r.content, r.plan, r.cost,
                            r.cost_delta, r.amount, r.delta});
  }

 private:
  std::string problem_in_charge(const Record& r) {
    if (std::string wrong = requests_.add(r); !wrong.empty()) return wrong;
    const Charge cost{cost_number(r, r.cost), cost_number(r, r.cost_delta)};
    Tally tally;
    sum_.add(r);
    if (std::holds_alternative<CommittedBudget>(terms_.budget)) {
      const Decision decision = filter_.admit(parse(r.plan));
      if (!decision) return "exceeds the budget: " + decision.reason;
      if (decision.cost != cost) return "has another cost";
      tally = filter_.tally();
    } else {
      tally = {sum_.amount, sum_.delta};
    }
    if (!(cost.amount >= 0) || !(cost.delta >= 0) || cost_number(r, r.cost_slack) != 0)
      return "has another cost";
    amount_ = amount_text(tally);
    delta_ = exact(tally.delta);
    if (!is_total(r)) return "has another total";
    if (tally.amount.upper() > filter_.limit().amount ||
        tally.delta.upper() > filter_.limit().delta)
      return "exceeds the budget";
    if (!std::holds_alternative<CommittedBudget>(terms_.budget)) {
      // Computing a cost is slow, so equal events of equal cost are computed once.
      const auto [at, is_new] =
          covered_.try_emplace(r.cost + " " + r.cost_delta + " " + r.plan, true);
      if (is_new) at->second = covered(terms_, parse(r.plan), cost);
      if (!at->second) return "costs more than its charge";
    }
    return "";
  }
  std::string problem_in_mark(const Record& r) {
    if (std::string wrong = requests_.add(r); !wrong.empty()) return wrong;
    if (cost_number(r, r.cost) != 0 || cost_number(r, r.cost_delta) != 0 ||
        cost_number(r, r.cost_slack) != 0 || !is_total(r))
      return "has another total";
    if (r.kind == "answer") {
      const auto text = contents_.answers.find(r.request);
      if (text == contents_.answers.end()) return "marks an answer that is absent";
      if (digest(text->second) != r.content) return "marks an answer that was changed";
    }
    return "";
  }
  bool is_total(const Record& r) const {
    return with_decimal_point(r.amount) == amount_ && with_decimal_point(r.delta) == delta_ &&
           (contents_.version == 1 || with_decimal_point(r.slack) == exact(sum_.slack));
  }

  const Ledger::Store::Contents& contents_;
  Terms terms_;
  Filter filter_;  // spends a committed plan
  Sum sum_;
  std::string amount_, delta_ = exact(Real(0));
  Requests requests_;
  std::unordered_map<std::string, bool> covered_;  // by cost and plan
};

}  // namespace

std::string first_hash(const Ledger::Store::Founding& f) {
  return chained("sotto ledger 2", {f.id, f.created, f.name, f.unit, f.unit_type, f.relation,
                                    f.budget, f.source, f.keys});
}

std::string first_hash_of_version_1(const Ledger::Store::Founding& f) {
  return chained("sotto ledger", {f.id, f.created, f.name, f.unit, f.relation, f.budget});
}

std::string hash_of(const std::string& before, const Record& r) {
  return chained(before, {std::to_string(r.number), r.kind, r.time, r.who, r.request, r.content,
                          r.title, r.plan, r.cost, r.cost_delta, r.cost_slack, r.measurements,
                          r.amount, r.delta, r.slack, r.signer});
}

std::string head_bytes(const std::string& id, const Head& head) {
  return "sotto ledger head\n" + id + "\n" + std::to_string(head.number) + ":" + head.hash + "\n";
}

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

std::optional<std::int64_t> checkpoint_number(const std::string& kind) {
  const std::string start = "checkpoint/";
  if (kind.rfind(start, 0) != 0) return std::nullopt;
  std::int64_t number = 0;
  const char* end = kind.data() + kind.size();
  // Only the shortest spelling counts, so that one number cannot be marked twice as "1" and "01".
  const auto read = std::from_chars(kind.data() + start.size(), end, number);
  if (read.ec != std::errc() || read.ptr != end || number < 1 ||
      kind != start + std::to_string(number))
    return std::nullopt;
  return number;
}

double cost_number(const Record& record, const std::string& text) {
  try {
    return read_number(text);
  } catch (const std::invalid_argument&) {
    throw LedgerError("entry " + std::to_string(record.number) + ": the cost '" +
                      text.substr(0, 100) + "' is not a number: the ledger is damaged");
  }
}

Entry entry_of(const Record& r) {
  return {.number = r.number,
          .time = r.time,
          .request = r.request,
          .content = r.content,
          .plan = r.plan,
          .cost = {cost_number(r, r.cost), cost_number(r, r.cost_delta)},
          .hash = r.hash,
          .who = r.who,
          .title = r.title,
          .measurements = words_of(r.measurements)};
}

Terms terms_of(const Ledger::Store::Founding& f) {
  const auto relation = relation_named(f.relation);
  if (!relation)
    throw LedgerError(
        "the founding entry has the relation '" + f.relation +
        "', which is none of add-remove, replace-one and zero-out: the ledger is damaged");
  try {
    Terms terms{.name = f.name,
                .unit = f.unit,
                .relation = *relation,
                .budget = parse_budget(f.budget),
                .unit_type = f.unit_type,
                .source = f.source};
    (void)Filter(terms.budget, terms.relation);  // throws if a number of the budget is out of range
    return terms;
  } catch (const std::invalid_argument&) {
    throw LedgerError("the founding entry has the budget '" + f.budget +
                      "', which cannot be read: the ledger is damaged");
  }
}

Tally tally_of(const Budget& budget, const Record& r) {
  if (r.amount.empty()) return {};
  const std::string where = "entry " + std::to_string(r.number);
  if (std::holds_alternative<CommittedBudget>(budget)) return read_uses(r.amount, where);
  return {read_exact(r.amount, where), read_exact(r.delta, where)};
}

std::string amount_text(const Tally& tally) {
  if (tally.used.empty()) return exact(tally.amount);
  std::string text = uses;
  for (const std::int64_t count : tally.used) text += " " + std::to_string(count);
  return text;
}

void require_founding(const Ledger::Store::Founding& f) {
  const auto keys = words_of(f.keys);
  if (f.hash != first_hash(f))
    throw LedgerError(
        "the ledger's founding entry was changed: its hash is not the hash of its terms. Put the "
        "ledger back from a backup");
  if (keys.empty() || !is_signed(head_bytes(f.id, {0, f.hash}), f.signature, keys.front())) {
    throw LedgerError(
        "the ledger's founding entry has a signature that its founder's key did not make: it was "
        "changed. Put the ledger back from a backup");
  }
}

Finding check(const Ledger::Store::Contents& contents, const std::optional<Head>& expected) {
  const auto& f = contents.founding;
  Head head{0, f.hash};
  const auto wrong = [&](const std::string& words) { return Finding{false, words, head}; };
  try {
    if (contents.version == 2) require_founding(f);
    Check check(contents);
    bool contains_expected = !expected || (expected->number == 0 && expected->hash == head.hash);
    for (const Record& record : contents.records) {
      if (record.number < 1)
        return wrong("there is an entry with the number " + std::to_string(record.number) +
                     ", which nobody signed");
      const std::string which = "entry " + std::to_string(head.number + 1);
      if (record.number != head.number + 1) return wrong(which + " is missing");
      try {
        if (const std::string words = check.problem_in(record, head.hash); !words.empty())
          return wrong(which + " " + words);
      } catch (const std::invalid_argument& e) {
        return wrong(which + " cannot be read: " + e.what());
      } catch (const OutsideConditions& e) {
        return wrong(which + " has no cost: " + e.what());
      }
      head = {record.number, record.hash};
      if (expected && expected->number == head.number) {
        if (expected->hash != head.hash)
          return wrong(which +
                       " has another hash than the head that was given: the ledger is another one");
        contains_expected = true;
      }
    }
    if (contents.version == 2 && !contents.records.empty() &&
        contents.records.back().signer.empty()) {
      return wrong("entry " + std::to_string(head.number) +
                   " is the last one and is not signed: the records after it are missing");
    }
    if (const std::string words = check.problem_in_answers(); !words.empty()) return wrong(words);
    if (!contains_expected) {
      return wrong(
          "the ledger ends at entry " + std::to_string(head.number) +
          ", before the head that was given: it was truncated or replaced by an older copy");
    }
  } catch (const LedgerError& e) {
    return wrong(e.what());
  }
  const std::string many = std::to_string(head.number) + (head.number == 1 ? " entry" : " entries");
  if (contents.version == 1)
    return {true,
            many +
                " of version 1, each as it was written, within the budget; answers and heads are "
                "not signed",
            head};
  return {true, many + ", each as it was written and signed, within the budget", head};
}

}  // namespace sotto::ledger_detail
