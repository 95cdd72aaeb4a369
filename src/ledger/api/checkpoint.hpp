// How far a begun request came, in sealed files of which the ledger marks the last: it goes on from that one, and from no other.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "core/api/lock_file.hpp"
#include "sotto/ledger/ledger.hpp"

namespace sotto {

/// The checkpoints of one request, in a folder. A checkpoint is written under a key that nobody has, then marked, which is also what makes it
/// readable: the mark holds the file's digest and the half of its key that was only in memory before. The other half is the ledger's private key.
///
/// So a file that is not marked tells nobody anything, whoever stops the process and wherever: what it holds may be computed again, with other
/// noise. What is marked is gone on from, or the request is closed. docs/theory/learning.md#checkpoints has the argument.
class CheckpointFile {
 public:
  /// Nothing is kept if the folder is empty. LedgerError if another process holds the request's checkpoints.
  CheckpointFile(Ledger& ledger, const std::filesystem::path& folder, std::string request);
  ~CheckpointFile();
  CheckpointFile(const CheckpointFile&) = delete;
  CheckpointFile& operator=(const CheckpointFile&) = delete;

  /// Before anything is charged. LedgerError if the folder cannot be written to, or the ledger takes no marks.
  static void require_place(const Ledger& ledger, const std::filesystem::path& folder);
  /// Why a begun request cannot go on from a checkpoint in this folder; nothing if it can.
  [[nodiscard]] static std::optional<std::string> obstacle(const Ledger& ledger, const std::filesystem::path& folder, const std::string& request);

  /// The text of the last checkpoint that was marked; nothing if none was. LedgerError if the file is not the one that is marked.
  [[nodiscard]] std::optional<std::string> read();
  /// Writes the first one, for Begin to mark: its seal. Empty if nothing is kept.
  [[nodiscard]] std::string prepare(const std::string& text);
  /// Writes and marks the next one: durable when this returns. LedgerError if another process went on from the same one.
  void write(const std::string& text);
  /// When the answer is kept, and nobody needs them any more.
  static void remove(const std::filesystem::path& folder, const std::string& request);

 private:
  [[nodiscard]] std::string sealed(std::int64_t number, const std::string& text) const;

  Ledger& ledger_;
  std::filesystem::path folder_;  // empty: nowhere
  std::string request_;
  std::int64_t number_ = 0;  // of the last one
  std::optional<LockFile> lock_;
};

}  // namespace sotto
