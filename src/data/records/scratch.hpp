// Growing buffers: in memory up to a limit, then in a temporary file without a name.
#pragma once

#include <cstddef>
#include <filesystem>

namespace sotto::data_detail {

/// Returns the descriptor of a new file that only its owner can read. It has no name and is deleted
/// when it is closed. `below` is its folder; empty: /var/tmp. Throws EngineError.
int nameless_file(const std::filesystem::path& below);

/// A growing buffer. Bytes that were not written are 0. reserve() invalidates pointers into it.
class Scratch {
 public:
  /// Holds up to `memory` bytes in memory; with more, all are in a temporary file in `below`.
  Scratch(std::size_t memory, std::filesystem::path below);
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch();
  /// Makes room for this many bytes in total. Throws EngineError if neither memory nor the disk has
  /// it; the contents are unchanged then.
  void reserve(std::size_t bytes);
  [[nodiscard]] std::byte* data() const { return bytes_; }
  [[nodiscard]] bool is_on_disk() const { return file_ >= 0; }

 private:
  void move_to_disk(std::size_t size);
  std::byte* bytes_ = nullptr;
  std::size_t size_ = 0;
  std::size_t memory_;
  std::filesystem::path below_;
  int file_ = -1;
};

}  // namespace sotto::data_detail
