// How far a run with trainings came, in a file beside the ledger: what was released by then, and the parameters of the training that was under way.
// Everything in it is paid for. What it holds is never computed again; what came after it had left the process nowhere.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "sotto/learning/optimiser.hpp"
#include "sotto/study/release.hpp"

namespace sotto::study_detail {

class Checkpoint {
 public:
  /// Nothing is kept if the folder is empty.
  Checkpoint(const std::filesystem::path& folder, const std::string& request);
  ~Checkpoint();
  Checkpoint(const Checkpoint&) = delete;
  Checkpoint& operator=(const Checkpoint&) = delete;

  /// Before anything is charged. LedgerError if the folder cannot be written to.
  static void require_place(const std::filesystem::path& folder);
  [[nodiscard]] static bool exists(const std::filesystem::path& folder, const std::string& request);

  struct State {
    Release release;                 ///< with the answers, and the models that are done
    std::optional<Iterate> iterate;  ///< of the next model
  };
  /// LedgerError if there is one that cannot be read.
  [[nodiscard]] std::optional<State> read() const;
  /// Durable when it returns, and the last one until then.
  void write(const Release& release, const Iterate* iterate) const;
  /// When the answer is kept, and nobody needs it any more.
  void remove() const;

 private:
  std::filesystem::path place_;  // empty: nowhere
  int lock_ = -1;
};

}  // namespace sotto::study_detail
