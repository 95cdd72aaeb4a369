// Reading of files that users name. Only regular files are read, never pipes, sockets, devices or
// folders, and every read has a limit on its size.
#pragma once

#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <string>

namespace sotto {

/// The error for a file that is absent, not regular, too large, or not readable. The message names
/// the file and the reason.
class FileError : public std::runtime_error {
 public:
  FileError(const std::string& what, bool is_absent)
      : std::runtime_error(what), is_absent_(is_absent) {}
  [[nodiscard]] bool is_absent() const { return is_absent_; }

 private:
  bool is_absent_;
};

/// An open regular file, closed by its destructor.
class RegularFile {
 public:
  /// Opens the file for reading, without waiting for another process. Throws FileError.
  explicit RegularFile(const std::filesystem::path& path);
  RegularFile(RegularFile&& other) noexcept;
  RegularFile(const RegularFile&) = delete;
  RegularFile& operator=(const RegularFile&) = delete;
  ~RegularFile();
  [[nodiscard]] int descriptor() const { return descriptor_; }
  /// Transfers the descriptor to the caller, who must close it.
  [[nodiscard]] int release();
  /// Returns at most `most` bytes from the current position. Throws FileError.
  [[nodiscard]] std::string read(std::uint64_t most);

 private:
  std::filesystem::path path_;
  int descriptor_;
};

/// The largest file of those that people write by hand, in bytes: data files, studies, plans,
/// settings.
constexpr std::uint64_t max_text_file_size = std::uint64_t{32} << 20U;
/// The largest file of those that sotto writes, in bytes, such as a model or an exported ledger.
constexpr std::uint64_t max_generated_file_size = std::uint64_t{256} << 20U;
/// The largest file with a key, a certificate or a token, in bytes.
constexpr std::uint64_t max_key_file_size = std::uint64_t{1} << 20U;

/// Returns the contents of a regular file. Throws FileError, also if the file has more than `most`
/// bytes.
std::string read_text_file(const std::filesystem::path& path,
                           std::uint64_t most = max_text_file_size);

/// Throws FileError if the path leads to something other than a regular file; an absent file is no
/// error. This check is for libraries that open a file by its path themselves.
void require_regular_or_absent(const std::filesystem::path& path);

}  // namespace sotto
