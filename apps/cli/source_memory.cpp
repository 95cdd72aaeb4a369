#include "source_memory.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <ctime>
#include <sstream>
#include <vector>

#include "core/api/file.hpp"
#include "sotto/ledger/ledger.hpp"

namespace sotto::cli {
namespace {

namespace fs = std::filesystem;

// A line of the memory: "REQUEST SIZE MODIFIED CHANGED MANNER", with times in nanoseconds. The manner is a digest of how the file is read.
struct Seen {
  std::string size, modified, changed, manner;
};

std::vector<fs::path> files_of(const Source& source) {
  if (const auto* file = std::get_if<FileSource>(&source)) return {file->path};
  if (const auto* images = std::get_if<IdxSource>(&source)) return {images->images, images->labels};
  return {};
}

std::string manner_of(const Source& source) {
  const auto field = [](const std::string& text) { return std::to_string(text.size()) + ":" + text; };
  std::string all;
  if (const auto* file = std::get_if<FileSource>(&source)) {
    all = field(file->format) + field(file->records) + field(file->delimiter) + field(file->trim ? "trim" : "");
    for (const auto* words : {&file->null_text, &file->names}) {
      all += std::to_string(words->size()) + ";";
      for (const std::string& word : *words) all += field(word);
    }
  }
  return digest(all);
}

std::string nanoseconds(const timespec& time) { return std::to_string(std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec); }

// Of all files together, in words without blanks; empty if one is not there, or there is none.
Seen look_at(const Source& source) {
  Seen seen;
  for (const fs::path& file : files_of(source)) {
    struct stat now {};
    if (stat(file.c_str(), &now) != 0) return {};
    const char* between = seen.size.empty() ? "" : ",";
    seen.size += between + std::to_string(now.st_size);
    seen.modified += between + nanoseconds(now.st_mtim);
    seen.changed += between + nanoseconds(now.st_ctim);
  }
  if (!seen.size.empty()) seen.manner = manner_of(source);
  return seen;
}

std::string text_of(const Seen& seen) { return seen.size.empty() ? "" : seen.size + " " + seen.modified + " " + seen.changed + " " + seen.manner; }

Seen read(const std::string& text) {
  Seen seen;
  std::istringstream words(text);
  words >> seen.size >> seen.modified >> seen.changed >> seen.manner;
  return seen;
}

// The last time at which a file was written, or its inode changed, as releases write times.
std::string last_time(const Source& source, timespec stat::*time) {
  std::string last;
  for (const fs::path& file : files_of(source)) {
    struct stat now {};
    if (stat(file.c_str(), &now) != 0) continue;
    std::tm utc{};
    gmtime_r(&(now.*time).tv_sec, &utc);
    char text[32];
    std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
    last = std::max(last, std::string(text));
  }
  return last;
}

// Empty if it cannot be read: what is not remembered is not compared.
std::string memory_at(const fs::path& place) {
  try {
    return read_text_file(place, most_written_text);
  } catch (const FileError&) {
    return {};
  }
}

}  // namespace

SourceMemory::SourceMemory(const DataFile& data, const std::string& ledger, const fs::path& folder) : data_(data) {
  if (!folder.empty()) place_ = folder / (ledger + ".sources");
}

void SourceMemory::look() { seen_ = text_of(look_at(data_.source)); }

void SourceMemory::keep(const std::string& request) const {
  if (place_.empty() || seen_.empty()) return;
  const std::string line = request + " " + seen_ + "\n";
  const int file = open(place_.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
  if (file < 0) return;
  struct stat about {};
  if (fstat(file, &about) == 0 && S_ISREG(about.st_mode)) (void)!write(file, line.data(), line.size());
  close(file);
}

std::string SourceMemory::remembered(const std::string& request) const {
  std::string found;
  std::istringstream in(memory_at(place_));
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with(request + " ")) found = line.substr(request.size() + 1);
  }
  return found;
}

std::string SourceMemory::change_since(const Release& release) const {
  const Seen now = look_at(data_.source);
  if (now.size.empty()) return "";
  const std::string touched = "the file of data was touched since this answer, and may have changed";
  const std::string update =
      ". If the data are others, update `version` in " + data_.name + ".data.toml: the study is then asked anew, under a charge";
  const std::string kept = remembered(release.request);
  if (kept.empty()) {
    if (last_time(data_.source, &stat::st_mtim) > release.time) return "the file of data has changed since this answer" + update;
    return last_time(data_.source, &stat::st_ctim) > release.time ? touched + update : "";
  }
  const Seen then = read(kept);
  if (then.size != now.size || then.modified != now.modified) return "the file of data has changed since this answer" + update;
  if (then.manner != now.manner) return "the data file reads the data in another way than for this answer" + update;
  if (then.changed != now.changed) return touched + update;
  return "";
}

}  // namespace sotto::cli
