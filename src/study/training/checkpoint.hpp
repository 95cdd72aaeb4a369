// How far a run with trainings came: what was released by then, and the parameters of the training that was under way. Everything in it is paid for,
// but the secret, which nobody may see: which rows of each unit are read, and which units are in the private test.
#pragma once

#include <optional>
#include <string>

#include "core/api/json.hpp"
#include "sotto/learning/optimiser.hpp"
#include "sotto/random/stream.hpp"
#include "study/api/release.hpp"

namespace sotto::study_detail {

struct Checkpoint {
  Release release;                                ///< with the answers, and the models that are done
  std::optional<Iterate> iterate = std::nullopt;  ///< of the next model
  Secret secret = {};
};

/// As text, and back. LedgerError for a text that is none.
std::string to_text(const Checkpoint& checkpoint);
Checkpoint checkpoint_in(const std::string& text);

Json to_json(const Iterate& iterate);
/// JsonError for what is none.
Iterate iterate_in(const Json& json);

/// Whether a training keeps a checkpoint now: after five seconds, or of a long one after a hundredth of the time so far, so that a day of training
/// has some hundreds of marks in the ledger.
bool is_time_to_keep(double seconds_since_last, double seconds_since_start);

}  // namespace sotto::study_detail
