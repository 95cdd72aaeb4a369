// Growing buffers that move from memory to a temporary file.
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

std::string folder_of(const std::filesystem::path& below) {
  return below.empty() ? "/var/tmp" : below.string();
}

std::string megabytes(std::size_t bytes) {
  return std::to_string((bytes + 999'999) / 1'000'000) + " MB";
}

[[noreturn]] void fail(int error, const std::filesystem::path& below, std::size_t bytes) {
  const bool is_full = error == ENOSPC || error == EDQUOT || error == EFBIG;
  throw EngineError("cannot store " + megabytes(bytes) + " of rows in " + folder_of(below) + ": " +
                        (is_full ? "the disk is full" : std::strerror(error)) +
                        ". Name another scratch folder, or allow more memory",
                    std::strerror(error));
}

// Allocates all of the bytes on the disk now. Writing to a mapped page for which the disk has no
// room would end the process.
void allocate(int file, std::size_t from, std::size_t to, const std::filesystem::path& below) {
  for (;;) {
    const int error =
        posix_fallocate(file, static_cast<off_t>(from), static_cast<off_t>(to - from));
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
  if (file < 0)
    throw EngineError("cannot create a temporary file in " + folder + ": " + std::strerror(errno) +
                          ". Name another scratch folder",
                      "");
  return file;
}

Scratch::Scratch(std::size_t memory, std::filesystem::path below)
    : memory_(memory), below_(std::move(below)) {}

Scratch::~Scratch() {
  if (bytes_ != nullptr) munmap(bytes_, size_);
  if (file_ >= 0) close(file_);
}

void Scratch::reserve(std::size_t bytes) {
  if (bytes <= size_) return;
  std::size_t size = (bytes + page - 1) / page * page;
  if (!is_on_disk() && bytes > memory_) return move_to_disk(size);
  if (!is_on_disk()) {  // a mapped page uses memory only once it is written to
    const std::size_t allowed =
        memory_ > SIZE_MAX - page ? SIZE_MAX : (memory_ + page - 1) / page * page;
    size = std::min(std::max({size, 2 * size_, 32 * page}), allowed);
  }
  if (is_on_disk()) allocate(file_, size_, size, below_);
  void* mapped = bytes_ == nullptr ? mmap(nullptr, size, PROT_READ | PROT_WRITE,
                                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
                                   : mremap(bytes_, size_, size, MREMAP_MAYMOVE);
  if (mapped == MAP_FAILED) {
    throw EngineError(
        "no memory could be mapped for the rows: allow less memory, so that they are stored on the "
        "disk",
        std::strerror(errno));
  }
  bytes_ = static_cast<std::byte*>(mapped);
  size_ = size;
  if (!is_on_disk())
    madvise(bytes_, size_,
            MADV_HUGEPAGE);  // advice only: fewer TLB misses when rows are read in random order
}

void Scratch::move_to_disk(std::size_t size) {
  const int file = nameless_file(below_);
  void* mapped = MAP_FAILED;
  try {
    allocate(file, 0, size, below_);
    mapped = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (mapped == MAP_FAILED)
      throw EngineError("the temporary file of the rows in " + folder_of(below_) +
                            " could not be mapped: name another scratch folder",
                        std::strerror(errno));
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
