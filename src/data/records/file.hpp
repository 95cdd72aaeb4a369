// A file of data, opened once.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <filesystem>
#include <string>

namespace sotto::data_detail {

/// An open regular file. Another one renamed over it changes nothing here, and a change of its own is noticed.
class File {
 public:
  /// EngineError if there is no such file or it cannot be read.
  explicit File(const std::filesystem::path& path);
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File();
  /// The bytes from `offset` on; fewer than `size` only at the file's end.
  std::size_t read(std::uint64_t offset, char* bytes, std::size_t size) const;
  [[nodiscard]] std::uint64_t size() const { return static_cast<std::uint64_t>(at_opening_.st_size); }
  /// A path by which this very file can be opened again.
  [[nodiscard]] std::string path_again() const;
  /// EngineError if the file is no longer what it was when it was opened.
  void require_unchanged() const;

 private:
  int descriptor_ = -1;
  struct stat at_opening_ {};
};

}  // namespace sotto::data_detail
