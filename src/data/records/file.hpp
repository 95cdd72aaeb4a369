// A file of data that is opened once and read by its descriptor.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <filesystem>
#include <string>

namespace sotto::data_detail {

/// An open regular file. It stays the same file if another one is renamed over its path, and
/// require_unchanged() notices if its contents change.
class File {
 public:
  /// Throws EngineError if the file is absent or cannot be read.
  explicit File(const std::filesystem::path& path);
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File();
  /// Reads the bytes from `offset` on. Returns how many: fewer than `size` only at the end of the
  /// file. Throws EngineError.
  std::size_t read(std::uint64_t offset, char* bytes, std::size_t size) const;
  [[nodiscard]] std::uint64_t size() const {
    return static_cast<std::uint64_t>(at_opening_.st_size);
  }
  /// Returns a path that opens this very file again, whatever is at its old path.
  [[nodiscard]] std::string path_again() const;
  /// Throws EngineError if the file has changed since it was opened.
  void require_unchanged() const;

 private:
  int descriptor_ = -1;
  struct stat at_opening_ {};
};

}  // namespace sotto::data_detail
