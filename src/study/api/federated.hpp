// A study that several parties answer together. Each party measures its own data and charges its
// own ledger; only sums that contain the noise of all parties are revealed.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "federated/api/identity.hpp"
#include "study/api/run.hpp"

namespace sotto {

/// The sums of a federated study, in order, and their cost for the units of each party. All parties
/// that read equal studies under one relation compute equal federated designs.
struct FederatedDesign {
  Design design;
  std::vector<SumItem> items;  ///< the measurements, then the steps and the test of each model
  Plan plan;  ///< the event of the design, with spare rounds and the slack of rounded noise
};

/// The assumption on collusion: every revealed sum contains at least `honest` noise shares that
/// colluding parties do not know. `spare` rounds may fail and be repeated, at a cost.
struct Collusion {
  std::int64_t honest = 1;
  std::int64_t spare = 0;
};

/// Designs a federated study: Gaussian noise, public keys, models by noisy gradients. Throws
/// StudyError for what several parties cannot do together (private keys, other training methods).
FederatedDesign federated_design(const Study& study, Relation relation, const Collusion& collusion);

/// Returns a session for a study, for its members to sign. `base` provides title, members,
/// colluding, threshold, spare, deadline and coordinator.
Session session_for(const Study& study, Relation relation, Session base);

/// Returns the federated design of a session as a party with this study and ledger computes it,
/// with its cost in the ledger's currency. Throws ProtocolError or StudyError if it differs from
/// the session's, which means that columns, bounds or relation differ.
FederatedDesign design_in(const Session& session, const Study& study, const Terms& terms);

/// The resources of one party in a session: its identity and keys, its connection to the
/// coordinator, and how it reads its data.
struct PartySide {
  const SessionContext& context;
  std::int64_t self;
  Primitives& primitives;
  Connector connect;
  std::function<std::unique_ptr<Engine>()> open = {};
  RunOptions options = {};  ///< `checkpoints` must name a folder; `again` is ignored: a new attempt
                            ///< needs a new session
  Watcher on_progress = {};
  std::chrono::seconds patience =
      std::chrono::minutes(10);  ///< how long to wait for the coordinator
};

/// Charges the session's plan to this party's ledger, takes part in the session, and stores the
/// answers, which are equal for all parties. A party that was killed continues from its last
/// checkpoint: it sends identical bytes and never draws noise again for a message. Throws
/// BudgetRefused, LedgerError, EngineError, ProtocolError or LinkLost.
RunResult run_federated(const Study& study, Ledger& ledger, const PartySide& side);

/// Binds the participant to this ledger (Participant::lock) and does `work`, a call of
/// run_federated or run_sums. The binding is permanent, unless the ledger refuses the charge.
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

// --- Sums without a study, of numbers that each party provides. ---

/// One revealed sum.
struct PartySum {
  std::string name;  ///< name of the SumItem
  std::vector<std::string> members,
      missing;                  ///< members whose numbers are in it; members that dropped out
  std::vector<double> numbers;  ///< the sums, with the noise of all members
  double noise;                 ///< standard deviation of the noise
  friend bool operator==(const PartySum&, const PartySum&) = default;
};
/// Returns a member's vector in a session that computes a mean: Σ(x - lower) and Σ(upper - x) in
/// whole steps (mean_sensitivity). Throws InvalidValue for a value that is not a number, and for
/// more values than the session allows.
std::vector<double> halves_of(const std::vector<double>& values, const SumItem& item);

/// A mean and a count with 95 % intervals from the exact distribution of the noise.
struct PartyMean {
  double mean, low, high;
  double count, count_low, count_high;
};
/// Returns the mean that a sum stands for; an empty optional if the session does not compute a
/// mean.
std::optional<PartyMean> mean_of(const Session& session, const PartySum& sum);
/// Returns the sum that a round of the protocol revealed.
PartySum sum_of(const Session& session, std::int64_t step, const RoundResult& result);
/// Writes sums as JSON, format sotto.sums/1.
std::string to_json(const std::vector<PartySum>& sums);
/// Reads that JSON. Throws LedgerError if it is malformed.
std::vector<PartySum> read_sums(const std::string& json);

/// The result of run_sums().
struct SumsRun {
  std::vector<PartySum> sums;
  bool repeated;  ///< the sums were stored before: nothing was charged
  Head head;
};
/// Charges the session's plan to the ledger, takes part with `values` and stores the sums. `values`
/// are the numbers of all items in order; an item is summed in each of its rounds. The caller
/// vouches that they have the sensitivity that the session states. If the session computes a mean,
/// `values` are the values of this party's units, one each, clamped to the bounds. Does not call
/// `side.open`. Throws InvalidValue unless `values` has the length of all items together, and none
/// exceeds its item's `most`.
SumsRun run_sums(const std::vector<double>& values, Ledger& ledger, const PartySide& side);

}  // namespace sotto
