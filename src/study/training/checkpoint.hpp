// The checkpoint of a run with trainings: its release so far, and the state of the training in
// progress. The charge covers all of it except the secret, which must never be published: it
// decides which rows of each unit are read and which units form the private test.
#pragma once

#include <optional>
#include <string>

#include "core/api/json.hpp"
#include "sotto/learning/optimiser.hpp"
#include "sotto/random/stream.hpp"
#include "study/api/release.hpp"

namespace sotto::study_detail {

/// A checkpoint of a run.
struct Checkpoint {
  Release release;                                ///< the answers, and the models that are complete
  std::optional<Iterate> iterate = std::nullopt;  ///< state of the first incomplete model
  Secret secret = {};
};

/// Writes a checkpoint as text.
std::string to_text(const Checkpoint& checkpoint);
/// Reads that text. Throws LedgerError if it is malformed.
Checkpoint checkpoint_in(const std::string& text);

Json to_json(const Iterate& iterate);
/// Throws JsonError if it is malformed.
Iterate iterate_in(const Json& json);

/// Whether it is time to write a checkpoint: after five seconds, or after 1 % of the time so far if
/// that is longer. A day of training then makes some hundreds of marks in the ledger.
bool is_time_to_keep(double seconds_since_last, double seconds_since_start);

}  // namespace sotto::study_detail
