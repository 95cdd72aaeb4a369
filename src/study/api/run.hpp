// Running a study: charge the ledger, read the data, add noise, store the answer, then return it.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "sotto/data/engine.hpp"
#include "sotto/ledger/ledger.hpp"
#include "study/api/design.hpp"
#include "study/api/ranks.hpp"
#include "study/api/release.hpp"
#include "study/api/study.hpp"

namespace sotto {

/// Returns the default id of a study's request. It is computed from the text of the study, the
/// name, version and declared columns of the data, and the ledger, without reading data.
std::string request_id(const Study& study, const Ledger& ledger);

/// Throws StudyError unless the study's data match the ledger's terms: name, unit, type of the unit
/// and source. `source` is the identity() of the data's source.
void require_fit(const Study& study, const Terms& terms);
void require_fit(const Study& study, const Terms& terms, const std::string& source);

/// Called with the current activity and its progress from 0 to 1; returns false to stop the run.
using Watcher = std::function<bool(const std::string& what, double share)>;

/// The result of run().
struct RunResult {
  Release release;
  bool repeated;  ///< the answer was stored before: nothing was charged, no data were read
  Head head;      ///< head of the ledger after the run
  std::optional<RowsRead> read = std::nullopt;  ///< statistics for the curator, never part of an
                                                ///< answer; absent if no data were read
};

/// Selects or creates the request of a run, and sets the resources of its trainings.
struct RunOptions {
  bool again = false;  ///< make a new request, which is charged again
  std::string request =
      {};  ///< id of a charged request: return its answer, or run it under that charge
  /// The identity of the data's source, for rows in memory; empty: that of the study's source.
  std::optional<std::string> source = std::nullopt;
  /// Folder for checkpoints of trainings. A stopped run continues from its checkpoint; without a
  /// folder its request is closed.
  std::filesystem::path checkpoints = {};
  int threads = 0;          ///< threads of a training; 0 means all of the machine
  std::int64_t memory = 0;  ///< bytes for the examples of a training; 0 means the free memory
  /// Opens the public data on which models are measured; empty: open_engine() without limits.
  std::function<std::unique_ptr<Engine>(const Source&, const std::vector<Column>&)> open_public =
      {};
  std::optional<Delta> epsilon_at =
      std::nullopt;  ///< if set, progress reports include the ε spent so far at this δ (slower)
  Ranks* ranks = nullptr;  ///< other processes that train with this one; may be null
};

/// Returns the design of the request that a run selects or creates. A request that was charged
/// before keeps its plan.
Design design_for(const Study& study, const Ledger& ledger, const RunOptions& options = {});

/// Runs a study on the data that `open` opens. A charged request that drew no noise yet runs under
/// that charge. One that drew noise and has no answer continues from its checkpoint, or is closed.
/// Throws BudgetRefused, LedgerError or EngineError.
RunResult run(const Study& study, const Design& design, Ledger& ledger,
              const std::function<std::unique_ptr<Engine>()>& open, const RunOptions& options,
              const Watcher& on_progress = {});

/// Returns the answers without noise, under the study's bounds. Not private: call it for public
/// data only.
std::vector<QueryAnswer> exact_answers(const Study& study, const Design& design, Engine& engine,
                                       const Release& release);

}  // namespace sotto
