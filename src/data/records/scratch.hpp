// Bytes that grow: in memory, and beyond what is allowed there in a file that has no name.
#pragma once

#include <cstddef>
#include <filesystem>

namespace sotto::data_detail {

/// A descriptor of a new file, readable by its owner alone, that is in no folder and gone when it is closed. Empty: below /var/tmp. EngineError.
int nameless_file(const std::filesystem::path& below);

/// All zero where nothing was written. Addresses change when it grows.
class Scratch {
 public:
  /// Up to `memory` bytes are held in memory; more lie below the folder.
  Scratch(std::size_t memory, std::filesystem::path below);
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch();
  /// Room for so many bytes. EngineError if neither memory nor the disk has it; what was there is still there then.
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
