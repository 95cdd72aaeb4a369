// One process at a time: a file that is locked while an object lives, and that is gone when it ends.
#pragma once

#include <filesystem>
#include <optional>

namespace sotto {

/// Holds a file's lock (flock). The destructor removes the file before it gives up the lock; who opened the file meanwhile notices that it is no
/// longer the one that others find, and opens it anew. A process that is killed leaves the file behind without a lock.
class LockFile {
 public:
  /// The lock of this file, which is made if need be; nothing where another process, or another object of this one, holds it. std::runtime_error
  /// where the file cannot be written.
  static std::optional<LockFile> held(const std::filesystem::path& path);

  LockFile(LockFile&& other) noexcept;
  LockFile& operator=(LockFile&& other) noexcept;
  LockFile(const LockFile&) = delete;
  LockFile& operator=(const LockFile&) = delete;
  ~LockFile();

 private:
  LockFile(std::filesystem::path path, int file);

  std::filesystem::path path_;
  int file_;
  int process_;  // a child that inherits the object removes nothing
};

}  // namespace sotto
