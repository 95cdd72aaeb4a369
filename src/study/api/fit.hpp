// One model learned from rows that are handed over, from its charge to its kept parameters.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "sotto/core/values.hpp"
#include "sotto/data/examples.hpp"
#include "sotto/learning/model.hpp"
#include "sotto/learning/sufficient_statistics.hpp"
#include "sotto/learning/train.hpp"
#include "sotto/ledger/ledger.hpp"

namespace sotto {

/// What is learned, and how. All of it is public, or was released before.
struct FitTask {
  std::shared_ptr<const Model> model;
  std::variant<Training, SufficientStatistics> how;
  /// Where the steps start: at the parameters of an earlier fit, which cost nothing more; empty: where the model does.
  std::vector<double> start = {};
};

/// What it costs: one event, wherever it starts.
Plan plan_of(const FitTask& fit);

/// ProgressCallback after each step; false asks to stop.
using StepWatcher = std::function<bool(std::int64_t step, std::int64_t steps)>;

/// The parameters, under noise; charged to nobody. Stopped if the watcher asked for it. InvalidValue for settings out of range, and for a start of
/// what takes no steps.
std::vector<double> learn(const FitTask& fit, const Examples& examples, int threads = 0, const StepWatcher& told = {});

struct FitOptions {
  std::string request;                     ///< the same request is charged once, and has one answer
  std::string settings = {};               ///< public text on what the rows mean, such as the bounds of their columns: a request is of one such text
  std::string title = {};                  ///< in the ledger
  std::optional<Delta> at = {};            ///< the δ at which a ledger of ε and δ charges it
  std::filesystem::path checkpoints = {};  ///< a folder, where it keeps how far it came, to go on after it was stopped; empty: nowhere
  int threads = 0;
};

struct Fitted {
  std::vector<double> parameters;
  bool repeated;  ///< they had been kept: nothing was charged and no row was read
};

/// Charges the fit, reads the rows, learns and keeps the parameters in the ledger. A request that was stopped goes on from the last checkpoint that
/// the ledger marks, under its one charge, on the rows that are read now: they should be the same, for the model's sake; every unit is paid for in
/// all steps, whichever it is in. BudgetRefused, RequestClosed, RequestFailed, LedgerError.
Fitted fit(Ledger& ledger, const FitTask& fit, const FitOptions& options, const std::function<Examples()>& read, const StepWatcher& told = {});

}  // namespace sotto
