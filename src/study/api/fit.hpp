// Training one model on rows that the caller provides: charge, training, and storage of the
// parameters.
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

/// A model and its training settings. All of it is public or was released before.
struct FitTask {
  std::shared_ptr<const Model> model;
  std::variant<Training, SufficientStatistics> how;
  /// Initial parameters, for instance those of an earlier fit, at no further cost. Empty:
  /// model->start().
  std::vector<double> start = {};
};

/// Returns the event of a fit. It does not depend on `start`.
Plan plan_of(const FitTask& fit);

/// Called after each step; returns false to stop.
using StepWatcher = std::function<bool(std::int64_t step, std::int64_t steps)>;

/// Returns the parameters, with noise, without charging a ledger. Throws Stopped if `on_step`
/// returns false, and InvalidValue for settings out of range or for a `start` with sufficient
/// statistics.
std::vector<double> learn(const FitTask& fit, const Examples& examples, int threads = 0,
                          const StepWatcher& on_step = {});

/// How a fit is charged and run.
struct FitOptions {
  std::string request;  ///< id of the request, which is charged once and has one answer
  std::string settings =
      {};  ///< public text about the rows, such as column bounds; part of the request's content
  std::string title = {};        ///< title of the ledger entry
  std::optional<Delta> at = {};  ///< δ of the charge in an (ε, δ) ledger
  std::filesystem::path checkpoints =
      {};  ///< folder for a checkpoint to continue from; empty: no checkpoints
  int threads = 0;
};

/// The result of fit().
struct Fitted {
  std::vector<double> parameters;
  bool repeated;  ///< the parameters were stored before: nothing was charged, no row was read
};

/// Charges the fit, reads the rows by `read`, trains and stores the parameters in the ledger. A
/// request that was stopped continues from the last checkpoint that the ledger marks, without a
/// second charge. It calls `read` again: privacy holds even if the rows changed, since the charge
/// covers every unit in every step, but the model is only sound if they did not. Throws
/// BudgetRefused, RequestClosed, RequestFailed or LedgerError.
Fitted fit(Ledger& ledger, const FitTask& fit, const FitOptions& options,
           const std::function<Examples()>& read, const StepWatcher& on_step = {});

}  // namespace sotto
