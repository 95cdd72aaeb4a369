// A study that several parties answer together: each measures its own data under its own ledger, and only sums with everybody's noise are opened.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "federated/api/identity.hpp"
#include "study/api/run.hpp"

namespace sotto {

/// What is summed, in which order, and what it costs each party's units. The same for all parties who read the same study under the same relation.
struct FederatedDesign {
  Design design;
  std::vector<SumItem> items;  ///< the measurements, then for each model its steps and its test
  Plan plan;                   ///< the design's, its spare rounds, and the slack of rounded noise
};

/// How many of the noises in a sum are sure to be honest and unknown to those who collude, and what a failed round may cost.
struct Collusion {
  std::int64_t honest = 1;
  std::int64_t spare = 0;
};

/// Gaussian noise, public keys, models by noisy gradients. StudyError for what several parties cannot do (private keys, other ways to learn).
FederatedDesign federated_design(const Study& study, Relation relation, const Collusion& collusion);

/// A session for a study; the members sign it next. `base` has title, members, colluding, threshold, spare, deadline, coordinator.
Session session_for(const Study& study, Relation relation, Session base);

/// The study of a session as a party with this data file reads it, with its cost in the ledger's currency. ProtocolError or StudyError if its own
/// design is not the session's: then its columns, bounds or relation differ.
FederatedDesign design_in(const Session& session, const Study& study, const Terms& terms);

/// This party's side: where it keeps what must survive, how it reads its data, how it reaches the coordinator.
struct PartySide {
  const SessionContext& context;
  std::int64_t self;
  Primitives& primitives;
  Connector connect;
  std::function<std::unique_ptr<Engine>()> open = {};
  RunOptions options = {};  ///< `checkpoints` must name a folder; `again` has no meaning: another attempt is another session
  Watcher told = {};
  std::chrono::seconds patience = std::chrono::minutes(10);
};

/// Charges the session's plan to this party's ledger, takes part, and keeps the answers, which all parties have alike. A party that was killed goes
/// on from its last checkpoint: the same bytes, and never other noise. BudgetRefused, LedgerError, EngineError, ProtocolError, LinkLost.
RunResult run_federated(const Study& study, Ledger& ledger, const PartySide& side);

/// Does `work`, a call of run_federated or run_sums, which this ledger pays for ever after, unless it refuses the charge. As Participant::lock.
template <class Work>
auto paid_by(Participant& who, const Ledger& ledger, Work&& work) {
  who.lock(ledger.id());
  try {
    return work();
  } catch (const BudgetRefused&) {
    who.release_ledger();
    throw;
  }
}

// --- Sums without a study: numbers that each party has at hand. ---

/// One sum: public.
struct PartySum {
  std::string name;                           ///< of its item
  std::vector<std::string> members, missing;  ///< whose numbers are in it, and who dropped on the way
  std::vector<double> numbers;                ///< with the noise of all members
  double noise;                               ///< its standard deviation
  friend bool operator==(const PartySum&, const PartySum&) = default;
};
/// A member's vector in a session of a mean: the two halves of mean_sensitivity, exact sums of what each value adds. InvalidValue for a value that is
/// not a number, or for more values than the session allows.
std::vector<double> halves_of(const std::vector<double>& values, const SumItem& item);

/// What the sums of a mean say, with intervals of 95 % by the exact law of the noise.
struct PartyMean {
  double mean, low, high;
  double count, count_low, count_high;
};
/// Nothing for a session that is not of a mean.
std::optional<PartyMean> mean_of(const Session& session, const PartySum& sum);
PartySum sum_of(const Session& session, std::int64_t step, const RoundResult& result);
/// As JSON, sotto.sums/1, and back. LedgerError for a text that is none.
std::string to_json(const std::vector<PartySum>& sums);
std::vector<PartySum> read_sums(const std::string& json);

struct SumsRun {
  std::vector<PartySum> sums;
  bool repeated;  ///< the answer had been kept
  Head head;
};
/// Charges the session's plan to the ledger, takes part with these numbers (all items', one after the other; each is summed in all of its rounds) and
/// keeps the sums. The ledger's owner answers for the sensitivity. InvalidValue unless there are as many numbers as the items have, none larger than
/// an item's `most`. Of a mean `values` are this party's values, one of each unit; a value outside of the bounds counts as the nearer bound.
/// `side.open` is not called.
SumsRun run_sums(const std::vector<double>& values, Ledger& ledger, const PartySide& side);

}  // namespace sotto
