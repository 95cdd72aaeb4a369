// Regular files by POSIX calls: opened without blocking, then checked by descriptor.
#include "core/api/file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace sotto {
namespace {

const char* kind_of(mode_t mode) {
  if (S_ISDIR(mode)) return "a folder";
  if (S_ISFIFO(mode)) return "a pipe";
  if (S_ISSOCK(mode)) return "a socket";
  return "a device";
}

[[noreturn]] void fail(const std::filesystem::path& path, const std::string& reason,
                       bool is_absent = false) {
  throw FileError("cannot read " + path.string() + ": " + reason, is_absent);
}

[[noreturn]] void fail_not_regular(const std::filesystem::path& path, mode_t mode) {
  fail(path, std::string("it is ") + kind_of(mode) + ", and sotto reads regular files only");
}

std::string size_text(std::uint64_t bytes) { return std::to_string(bytes >> 20U) + " MiB"; }

}  // namespace

RegularFile::RegularFile(const std::filesystem::path& path)
    : path_(path), descriptor_(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)) {
  struct stat about {};
  if (descriptor_ < 0) {
    const int reason = errno;
    // open() fails on a socket
    if (stat(path.c_str(), &about) == 0 && !S_ISREG(about.st_mode))
      fail_not_regular(path, about.st_mode);
    fail(path, std::strerror(reason), reason == ENOENT);
  }
  const bool is_known = fstat(descriptor_, &about) == 0;
  if (is_known && S_ISREG(about.st_mode)) return;
  close(descriptor_);
  if (!is_known) fail(path, "the operating system does not say what kind of file it is");
  fail_not_regular(path, about.st_mode);
}

RegularFile::RegularFile(RegularFile&& other) noexcept
    : path_(std::move(other.path_)), descriptor_(std::exchange(other.descriptor_, -1)) {}

RegularFile::~RegularFile() {
  if (descriptor_ >= 0) close(descriptor_);
}

int RegularFile::release() { return std::exchange(descriptor_, -1); }

std::string RegularFile::read(std::uint64_t most) {
  constexpr std::uint64_t step = std::uint64_t{1} << 20U;
  std::string bytes;
  while (bytes.size() < most) {
    const std::size_t done = bytes.size();
    bytes.resize(done + static_cast<std::size_t>(std::min(step, most - done)));
    const ssize_t count = ::read(descriptor_, bytes.data() + done, bytes.size() - done);
    const int reason = errno;
    bytes.resize(done + static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
    if (count == 0) break;
    if (count < 0 && reason != EINTR) fail(path_, std::strerror(reason));
  }
  return bytes;
}

std::string read_text_file(const std::filesystem::path& path, std::uint64_t most) {
  RegularFile file(path);
  const auto require_size = [&](std::uint64_t size) {
    if (size > most)
      fail(path, "it is larger than " + size_text(most) + ", the limit for files of this kind");
  };
  struct stat about {};
  if (fstat(file.descriptor(), &about) == 0)
    require_size(static_cast<std::uint64_t>(about.st_size));
  // files in /proc report no size, and a file may grow meanwhile
  std::string text = file.read(most + 1);
  require_size(text.size());
  return text;
}

void require_regular_or_absent(const std::filesystem::path& path) {
  struct stat about {};
  if (stat(path.c_str(), &about) == 0 && !S_ISREG(about.st_mode))
    fail_not_regular(path, about.st_mode);
}

}  // namespace sotto
