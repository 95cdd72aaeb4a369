// Reads a file of data by its descriptor, and notices changes to it.
#include "data/records/file.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "core/api/file.hpp"
#include "sotto/data/engine.hpp"

namespace sotto::data_detail {

File::File(const std::filesystem::path& path) {
  try {
    RegularFile file(path);
    if (fstat(file.descriptor(), &at_opening_) != 0)
      throw EngineError("cannot read " + path.string() + ": " + std::strerror(errno), "");
    descriptor_ = file.release();
  } catch (const FileError& error) {
    throw EngineError(error.what(), "");
  }
}

File::~File() { close(descriptor_); }

std::size_t File::read(std::uint64_t offset, char* bytes, std::size_t size) const {
  std::size_t done = 0;
  while (done < size) {
    const auto count =
        pread(descriptor_, bytes + done, size - done, static_cast<off_t>(offset + done));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0)
      throw EngineError("reading the file of data failed: " + std::string(std::strerror(errno)),
                        "");
    if (count == 0) break;
    done += static_cast<std::size_t>(count);
  }
  return done;
}

std::string File::path_again() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

void File::require_unchanged() const {
  const auto same_time = [](const timespec& a, const timespec& b) {
    return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
  };
  struct stat now {};
  // utimensat() can reset the time of modification, but not the time of change. Renaming another
  // file over this one sets the time of change, too, but also removes a link.
  const bool same =
      fstat(descriptor_, &now) == 0 && now.st_size == at_opening_.st_size &&
      same_time(now.st_mtim, at_opening_.st_mtim) &&
      (same_time(now.st_ctim, at_opening_.st_ctim) || now.st_nlink < at_opening_.st_nlink);
  if (!same)
    throw EngineError(
        "the file of data changed while sotto was reading it: run the command again when nothing "
        "writes to it",
        "");
}

}  // namespace sotto::data_detail
