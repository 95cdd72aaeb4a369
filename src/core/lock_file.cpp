// The lock by flock(2), and the check that a locked file still has its name.
#include "core/api/lock_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <utility>

namespace sotto {
namespace {

// Returns whether the path leads to this open file. It does not if another process removed the file
// and created a new one of the same name.
bool leads_to(const std::filesystem::path& path, int file) {
  struct stat opened {};
  struct stat named {};
  return fstat(file, &opened) == 0 && stat(path.c_str(), &named) == 0 &&
         opened.st_ino == named.st_ino && opened.st_dev == named.st_dev;
}

}  // namespace

LockFile::LockFile(std::filesystem::path path, int file)
    : path_(std::move(path)), file_(file), process_(getpid()) {}
LockFile::LockFile(LockFile&& other) noexcept
    : path_(std::move(other.path_)),
      file_(std::exchange(other.file_, -1)),
      process_(other.process_) {}
LockFile& LockFile::operator=(LockFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(file_, other.file_);
  std::swap(process_, other.process_);
  return *this;
}

LockFile::~LockFile() {
  if (file_ < 0) return;
  if (process_ == getpid() && leads_to(path_, file_)) unlink(path_.c_str());
  close(file_);
}

std::optional<LockFile> LockFile::try_lock(const std::filesystem::path& path) {
  while (true) {
    const int file = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file < 0)
      throw std::runtime_error("cannot write " + path.string() + ": " + std::strerror(errno));
    if (flock(file, LOCK_EX | LOCK_NB) != 0) {
      const int why = errno;
      close(file);
      if (why == EWOULDBLOCK) return std::nullopt;
      if (why != EINTR)
        throw std::runtime_error("cannot lock " + path.string() + ": " + std::strerror(why));
    } else if (leads_to(path, file)) {
      return LockFile(path, file);
    } else {
      close(file);  // its owner removed it after open()
    }
  }
}

}  // namespace sotto
