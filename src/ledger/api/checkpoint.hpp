// Checkpoints of a begun request: encrypted files, of which the ledger marks the last. A run
// resumes from the marked file only.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "core/api/lock_file.hpp"
#include "sotto/ledger/ledger.hpp"

namespace sotto {

/// The checkpoint files of one request, in a folder. A checkpoint is the state of a computation
/// after it drew noise.
///
/// The threat: somebody who can stop the process reads a checkpoint, has the request run again from
/// an earlier state, and gets two noisy values for one charge. Each file is therefore encrypted
/// under a key of two halves. One half is derived from the ledger's private key. The other half,
/// the salt, exists only in memory until the ledger marks the checkpoint, and then only in the
/// mark. A file that was written and not marked can be decrypted by nobody, wherever the process
/// was stopped, so its state may be computed again with other noise. Once a checkpoint is marked,
/// the run resumes from it or the request is closed. The proof is in
/// docs/theory/learning.md#checkpoints.
class CheckpointFile {
 public:
  /// Locks the request's checkpoints. An empty folder means that no checkpoints are stored. Throws
  /// LedgerError if another process holds the lock.
  CheckpointFile(Ledger& ledger, const std::filesystem::path& folder, std::string request);
  ~CheckpointFile();
  CheckpointFile(const CheckpointFile&) = delete;
  CheckpointFile& operator=(const CheckpointFile&) = delete;

  /// Throws LedgerError if the folder cannot be written or the ledger cannot store checkpoints.
  /// Called before the charge, so that such a failure costs nothing.
  static void require_folder(const Ledger& ledger, const std::filesystem::path& folder);
  /// Returns why a begun request cannot be resumed from a checkpoint in this folder, or nothing if
  /// it can.
  [[nodiscard]] static std::optional<std::string> obstacle(const Ledger& ledger,
                                                           const std::filesystem::path& folder,
                                                           const std::string& request);

  /// Returns the text of the last marked checkpoint, or nothing if no checkpoint is marked. Throws
  /// LedgerError if the file is absent or its digest is not the one in the mark.
  [[nodiscard]] std::optional<std::string> read();
  /// Writes the first checkpoint and returns its seal, which BeginMark marks together with "begun".
  /// Returns an empty seal if no checkpoints are stored.
  [[nodiscard]] std::string prepare(const std::string& text);
  /// Writes and marks the next checkpoint. Both are on disk when this returns. Throws LedgerError
  /// if another process resumed from the same checkpoint and marked first.
  void write(const std::string& text);
  /// Deletes the request's checkpoints. Called after the answer was stored.
  static void remove(const std::filesystem::path& folder, const std::string& request);

 private:
  /// Encrypts the text into the file with this number and returns the seal.
  [[nodiscard]] std::string write_sealed(std::int64_t number, const std::string& text) const;

  Ledger& ledger_;
  std::filesystem::path folder_;  // empty: no checkpoints are stored
  std::string request_;
  std::int64_t number_ = 0;  // of the last checkpoint
  std::optional<LockFile> lock_;
};

}  // namespace sotto
