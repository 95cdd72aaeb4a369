// A study, run: the charge first, then the data, then noise, then the answer, which is kept before it is shown.
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

/// The default id of a study's request: of its text, the data's name, version and declared columns, and the ledger. Asking for it touches no data.
std::string request_id(const Study& study, const Ledger& ledger);

/// Throws StudyError unless the data fit the ledger: its name, unit, type of the unit and source. `source` is the identity of the data's source.
void require_fit(const Study& study, const Terms& terms);
void require_fit(const Study& study, const Terms& terms, const std::string& source);

/// ProgressCallback what is done, and how much of that, from 0 to 1; false asks to stop.
using Watcher = std::function<bool(const std::string& what, double share)>;

struct RunResult {
  Release release;
  bool repeated;                                ///< the answer had been kept: nothing was charged and no data were touched
  Head head;                                    ///< of the ledger, after it
  std::optional<RowsRead> read = std::nullopt;  ///< of a run that touched the data: for the curator's eyes alone, never in an answer
};

/// Which request a run is.
struct RunOptions {
  bool again = false;        ///< a request of its own, charged anew
  std::string request = {};  ///< one that was charged before, by its id: its kept answer, or its run under its charge
  /// The identity of the data's source, for rows in memory; empty: that of the study's source.
  std::optional<std::string> source = std::nullopt;
  /// Where a run with trainings keeps how far it came, so that it goes on after it was stopped; empty: nowhere, and it is closed then.
  std::filesystem::path checkpoints = {};
  int threads = 0;          ///< of a training; 0: all of the machine's
  std::int64_t memory = 0;  ///< bytes for a training's examples; 0: what the machine has to spare
  /// How public data to measure models on are opened; nothing: by open_engine, without limits.
  std::function<std::unique_ptr<Engine>(const Source&, const std::vector<Column>&)> open_public = {};
  std::optional<Delta> epsilon_at = std::nullopt;  ///< whoever watches is told a training's ε so far at this δ, which takes time; nothing: not
  Ranks* ranks = nullptr;                          ///< other processes that train with this one
};

/// The design of the request that a run selects or creates: one that was charged before keeps its plan.
Design design_for(const Study& study, const Ledger& ledger, const RunOptions& asking = {});

/// Runs a study whose data the engine holds. A charged request that drew no noise yet is run under its one charge; one that did and has no
/// answer goes on from its checkpoint, or is closed. BudgetRefused, LedgerError, EngineError.
RunResult run(const Study& study, const Design& design, Ledger& ledger, const std::function<std::unique_ptr<Engine>()>& open, const RunOptions& options,
        const Watcher& told = {});

/// The answers without noise, under the same bounds: for data that are public.
std::vector<QueryAnswer> exact_answers(const Study& study, const Design& design, Engine& engine, const Release& release);

}  // namespace sotto
