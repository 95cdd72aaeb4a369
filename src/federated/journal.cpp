// The coordinator's journal files. They contain only messages that all members may see.
#include "federated/journal.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <limits>
#include <utility>

#include "core/api/file.hpp"
#include "federated/messages.hpp"

namespace sotto::federated_detail {
namespace {

[[noreturn]] void fail(const std::filesystem::path& path) {
  throw std::runtime_error("cannot write " + path.string() + ": " + std::strerror(errno));
}

void write_all(int file, const Bytes& bytes, const std::filesystem::path& path) {
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t n = ::write(file, bytes.data() + done, bytes.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail(path);
    done += static_cast<std::size_t>(n);
  }
}

std::optional<Bytes> contents(const std::filesystem::path& path) {
  try {
    return read_text_file(
        path, std::numeric_limits<std::int64_t>::max());  // no limit: Assembly has limited each
                                                          // message already
  } catch (const FileError& error) {
    if (error.is_absent()) return std::nullopt;
    throw;
  }
}

constexpr std::size_t head_size = 1 + 4 + 8;

}  // namespace

RecordFile::RecordFile(std::filesystem::path path,
                       const std::function<void(char, std::int64_t, const Bytes&)>& replay)
    : path_(std::move(path)) {
  if (path_.empty()) return;
  std::size_t complete = 0;  // bytes of complete records
  if (const auto text = contents(path_)) {
    while (text->size() - complete >= head_size) {
      Reader head(std::string_view(*text).substr(complete));
      const char tag = static_cast<char>(head.number(1));
      const auto member = static_cast<std::int32_t>(head.number(4));
      const std::uint64_t size = head.number(8);
      if (size > text->size() - complete - head_size) break;  // a crash cut this record off
      replay(tag, member, text->substr(complete + head_size, size));
      complete += head_size + size;
    }
  }
  file_ = open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file_ < 0 || ftruncate(file_, static_cast<off_t>(complete)) != 0 ||
      lseek(file_, 0, SEEK_END) < 0)
    fail(path_);
}
RecordFile::RecordFile(RecordFile&& other) noexcept
    : path_(std::move(other.path_)), file_(std::exchange(other.file_, -1)) {}
RecordFile& RecordFile::operator=(RecordFile&& other) noexcept {
  close_file();
  path_ = std::move(other.path_);
  file_ = std::exchange(other.file_, -1);
  return *this;
}
RecordFile::~RecordFile() { close_file(); }
void RecordFile::close_file() {
  if (file_ >= 0) close(file_);
  file_ = -1;
}

void RecordFile::append(char tag, std::int64_t member, const Bytes& bytes) {
  if (file_ < 0) return;
  Bytes head = Writer()
                   .number(static_cast<unsigned char>(tag), 1)
                   .number(static_cast<std::uint64_t>(member), 4)
                   .number(bytes.size(), 8)
                   .build();
  write_all(file_, head += bytes, path_);
}
void RecordFile::sync() {
  if (file_ >= 0 && fdatasync(file_) != 0) fail(path_);
}
void RecordFile::remove() {
  close_file();
  if (!path_.empty()) unlink(path_.c_str());
}

void write_messages(const std::filesystem::path& path, const std::vector<Bytes>& messages) {
  const std::filesystem::path fresh = path.string() + ".new";
  const int file = open(fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file < 0) fail(fresh);
  try {
    for (const Bytes& message : messages) write_all(file, Writer().bytes(message).build(), fresh);
    if (fsync(file) != 0) fail(fresh);
  } catch (...) {
    close(file);
    throw;
  }
  close(file);
  if (std::rename(fresh.c_str(), path.c_str()) != 0) fail(path);
}

std::optional<std::vector<Bytes>> read_messages(const std::filesystem::path& path) {
  const auto text = contents(path);
  if (!text) return std::nullopt;
  Reader reader(*text);
  std::vector<Bytes> messages;
  while (!reader.is_at_end()) messages.push_back(reader.bytes());
  return messages;
}

}  // namespace sotto::federated_detail
