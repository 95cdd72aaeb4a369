// Files that people name: regular files alone, never a pipe, a socket, a device or a folder; texts up to a size.
#pragma once

#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <string>

namespace sotto {

/// A file that is absent, not regular, too large, or that the operating system does not read. The message names the file and the reason.
class FileError : public std::runtime_error {
 public:
  FileError(const std::string& what, bool is_absent) : std::runtime_error(what), is_absent_(is_absent) {}
  [[nodiscard]] bool is_absent() const { return is_absent_; }

 private:
  bool is_absent_;
};

/// An open regular file, closed by its destructor.
class RegularFile {
 public:
  /// Opens the file to read, and never waits for another process. FileError.
  explicit RegularFile(const std::filesystem::path& path);
  RegularFile(RegularFile&& other) noexcept;
  RegularFile(const RegularFile&) = delete;
  RegularFile& operator=(const RegularFile&) = delete;
  ~RegularFile();
  [[nodiscard]] int descriptor() const { return descriptor_; }
  /// Gives the descriptor to the caller, who closes it.
  [[nodiscard]] int release();
  /// The bytes from the current position on, at most this many. FileError.
  [[nodiscard]] std::string read(std::uint64_t most);

 private:
  std::filesystem::path path_;
  int descriptor_;
};

/// The largest file that people write by hand: data files, studies, plans, settings.
constexpr std::uint64_t most_text = std::uint64_t{32} << 20U;
/// The largest file that sotto writes for itself, such as a model or an exported ledger.
constexpr std::uint64_t most_written_text = std::uint64_t{256} << 20U;
/// The largest file with a key, a certificate or a token.
constexpr std::uint64_t most_key_text = std::uint64_t{1} << 20U;

/// The contents of a regular file of at most `most` bytes. FileError.
std::string read_text_file(const std::filesystem::path& path, std::uint64_t most = most_text);

/// FileError if the path leads to something that is not a regular file; an absent file is no error. For a library that opens the file by its path.
void require_regular_or_absent(const std::filesystem::path& path);

}  // namespace sotto
