#include "data/records/scratch.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "sotto/data/engine.hpp"

namespace sotto::data_detail {
namespace {

constexpr std::size_t page = std::size_t{2} << 20U;

std::string folder_of(const std::filesystem::path& below) { return below.empty() ? "/var/tmp" : below.string(); }

[[noreturn]] void fail(int error, const std::filesystem::path& below, std::size_t bytes) {
  throw EngineError("the rows need " + std::to_string((bytes + 999'999) / 1'000'000) + " MB below " + folder_of(below) + ", and " +
                        (error == ENOSPC || error == EDQUOT || error == EFBIG ? "there is no room for them" : std::strerror(error)) +
                        ": name another scratch folder, or allow more memory",
                    std::strerror(error));
}

// Takes all of the bytes from the disk now: a page that has no place there would end the process when it is written.
void take(int file, std::size_t from, std::size_t to, const std::filesystem::path& below) {
  for (;;) {
    const int error = posix_fallocate(file, static_cast<off_t>(from), static_cast<off_t>(to - from));
    if (error == EINTR) continue;
    if (error != 0) fail(error, below, to);
    return;
  }
}

}  // namespace

int nameless_file(const std::filesystem::path& below) {
  const std::string folder = folder_of(below);
  int file = open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (file < 0) {  // a file system without nameless files
    std::string name = folder + "/sotto-XXXXXX";
    file = mkostemp(name.data(), O_CLOEXEC);
    if (file >= 0) unlink(name.c_str());
  }
  if (file < 0) throw EngineError("cannot make a scratch file below " + folder + ": " + std::strerror(errno), "");
  return file;
}

Scratch::Scratch(std::size_t memory, std::filesystem::path below) : memory_(memory), below_(std::move(below)) {}

Scratch::~Scratch() {
  if (bytes_ != nullptr) munmap(bytes_, size_);
  if (file_ >= 0) close(file_);
}

void Scratch::reserve(std::size_t bytes) {
  if (bytes <= size_) return;
  std::size_t size = (bytes + page - 1) / page * page;
  if (!is_on_disk() && bytes > memory_) return move_to_disk(size);
  if (!is_on_disk()) {  // memory that is not written to is not taken
    const std::size_t allowed = memory_ > SIZE_MAX - page ? SIZE_MAX : (memory_ + page - 1) / page * page;
    size = std::min(std::max({size, 2 * size_, 32 * page}), allowed);
  }
  if (is_on_disk()) take(file_, size_, size, below_);
  void* grown = bytes_ == nullptr ? mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
                                  : mremap(bytes_, size_, size, MREMAP_MAYMOVE);
  if (grown == MAP_FAILED) throw EngineError("the rows need more memory than there is", std::strerror(errno));
  bytes_ = static_cast<std::byte*>(grown);
  size_ = size;
  if (!is_on_disk()) madvise(bytes_, size_, MADV_HUGEPAGE);  // fewer misses when rows are read in any order; without it all works too
}

void Scratch::move_to_disk(std::size_t size) {
  const int file = nameless_file(below_);
  void* mapped = MAP_FAILED;
  try {
    take(file, 0, size, below_);
    mapped = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (mapped == MAP_FAILED) throw EngineError("the rows cannot be held", std::strerror(errno));
  } catch (...) {
    close(file);
    throw;
  }
  if (bytes_ != nullptr) {
    std::memcpy(mapped, bytes_, size_);
    munmap(bytes_, size_);
  }
  bytes_ = static_cast<std::byte*>(mapped);
  size_ = size;
  file_ = file;
}

}  // namespace sotto::data_detail
