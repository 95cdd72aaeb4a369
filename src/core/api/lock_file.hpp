// A lock between processes: a file that is locked while an object lives, and removed afterwards.
#pragma once

#include <filesystem>
#include <optional>

namespace sotto {

/// Holds an advisory lock (flock) on a file. The destructor removes the file and then releases the
/// lock. A process that opened the file in between notices that the path no longer leads to it, and
/// opens the path again. A killed process leaves the file behind, unlocked.
class LockFile {
 public:
  /// Creates the file if it is absent and locks it without waiting. Returns nothing if another
  /// process, or another LockFile of this process, holds the lock. Throws std::runtime_error if the
  /// file cannot be opened for writing or cannot be locked.
  static std::optional<LockFile> try_lock(const std::filesystem::path& path);

  LockFile(LockFile&& other) noexcept;
  LockFile& operator=(LockFile&& other) noexcept;
  LockFile(const LockFile&) = delete;
  LockFile& operator=(const LockFile&) = delete;
  ~LockFile();

 private:
  LockFile(std::filesystem::path path, int file);

  std::filesystem::path path_;
  int file_;
  int process_;  // the owner: a child process that inherits the object must not remove the file
};

}  // namespace sotto
