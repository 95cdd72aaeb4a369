// The coordinator's files: what came in the round in progress, in its order, and the transcripts of rounds that are over.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <vector>

#include "federated/api/primitives.hpp"

namespace sotto::federated_detail {

/// An append-only file of records. Without a path it keeps nothing.
class RecordFile {
 public:
  RecordFile() = default;
  /// Opens it to append, after `replayed` was called with every whole record in it; one that was cut off by a crash is dropped.
  RecordFile(std::filesystem::path path, const std::function<void(char tag, std::int64_t member, const Bytes& bytes)>& replayed);
  RecordFile(RecordFile&& other) noexcept;
  RecordFile& operator=(RecordFile&& other) noexcept;
  ~RecordFile();
  /// std::runtime_error if it cannot be written.
  void append(char tag, std::int64_t member, const Bytes& bytes);
  /// Until here it is durable.
  void sync();
  /// Gives up the file and what is in it.
  void remove();

 private:
  void shut();
  std::filesystem::path path_;
  int file_ = -1;
};

/// A list of messages in a file that is there whole or not at all.
void write_messages(const std::filesystem::path& path, const std::vector<Bytes>& messages);
std::optional<std::vector<Bytes>> read_messages(const std::filesystem::path& path);

}  // namespace sotto::federated_detail
