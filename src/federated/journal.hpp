// The coordinator's files: the messages of the round in progress, in order of arrival, and the
// transcripts of finished rounds.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <vector>

#include "federated/api/primitives.hpp"

namespace sotto::federated_detail {

/// An append-only file of records. Without a path it stores nothing.
class RecordFile {
 public:
  RecordFile() = default;
  /// Calls `replay` with every complete record of the file, drops a last record that a crash cut
  /// off, and opens the file for appending.
  RecordFile(std::filesystem::path path,
             const std::function<void(char tag, std::int64_t member, const Bytes& bytes)>& replay);
  RecordFile(RecordFile&& other) noexcept;
  RecordFile& operator=(RecordFile&& other) noexcept;
  ~RecordFile();
  /// Appends a record. Throws std::runtime_error if the file cannot be written.
  void append(char tag, std::int64_t member, const Bytes& bytes);
  /// Syncs all records to the disk.
  void sync();
  /// Closes and deletes the file.
  void remove();

 private:
  void close_file();
  std::filesystem::path path_;
  int file_ = -1;
};

/// Writes a list of messages atomically: after a crash the file has all of them or is unchanged.
void write_messages(const std::filesystem::path& path, const std::vector<Bytes>& messages);
/// Returns the messages of a file, or nothing if it is absent.
std::optional<std::vector<Bytes>> read_messages(const std::filesystem::path& path);

}  // namespace sotto::federated_detail
