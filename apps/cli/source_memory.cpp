// The states of files, one line per request, in a text file next to the ledger.
#include "source_memory.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <sstream>
#include <vector>

#include "core/api/file.hpp"
#include "core/api/utc.hpp"
#include "sotto/ledger/ledger.hpp"

namespace sotto::cli {
namespace {

namespace fs = std::filesystem;

// A line is "REQUEST SIZE MODIFIED CHANGED READING", with times in nanoseconds. READING is a digest
// of how the file is read: its format, delimiter and so on.
struct FileState {
  std::string size, modified, changed, reading;
};

std::vector<fs::path> files_of(const Source& source) {
  if (const auto* file = std::get_if<FileSource>(&source)) return {file->path};
  if (const auto* images = std::get_if<IdxSource>(&source)) return {images->images, images->labels};
  return {};
}

std::string reading_digest(const Source& source) {
  const auto field = [](const std::string& text) {
    return std::to_string(text.size()) + ":" + text;
  };
  std::string all;
  if (const auto* file = std::get_if<FileSource>(&source)) {
    all = field(file->format) + field(file->records) + field(file->delimiter) +
          field(file->trim ? "trim" : "");
    for (const auto* words : {&file->null_text, &file->names}) {
      all += std::to_string(words->size()) + ";";
      for (const std::string& word : *words) all += field(word);
    }
  }
  return digest(all);
}

std::string nanoseconds(const timespec& time) {
  return std::to_string(std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec);
}

// Returns the state of all files together, without blanks; empty if a file is absent, or the source
// has no file.
FileState state_of(const Source& source) {
  FileState state;
  for (const fs::path& file : files_of(source)) {
    struct stat now {};
    if (stat(file.c_str(), &now) != 0) return {};
    const char* between = state.size.empty() ? "" : ",";
    state.size += between + std::to_string(now.st_size);
    state.modified += between + nanoseconds(now.st_mtim);
    state.changed += between + nanoseconds(now.st_ctim);
  }
  if (!state.size.empty()) state.reading = reading_digest(source);
  return state;
}

std::string text_of(const FileState& state) {
  return state.size.empty()
             ? ""
             : state.size + " " + state.modified + " " + state.changed + " " + state.reading;
}

FileState parse_state(const std::string& text) {
  FileState state;
  std::istringstream words(text);
  words >> state.size >> state.modified >> state.changed >> state.reading;
  return state;
}

// Returns the last time at which a file was written, or its inode changed, in the form of a
// release's time.
std::string last_time(const Source& source, timespec stat::*time) {
  std::string last;
  for (const fs::path& file : files_of(source)) {
    struct stat now {};
    if (stat(file.c_str(), &now) != 0) continue;
    last = std::max(last, utc_text((now.*time).tv_sec));
  }
  return last;
}

// Returns the stored lines, or nothing if they cannot be read: then no state is compared.
std::string lines_at(const fs::path& place) {
  try {
    return read_text_file(place, max_generated_file_size);
  } catch (const FileError&) {
    return {};
  }
}

}  // namespace

SourceMemory::SourceMemory(const DataFile& data, const std::string& ledger, const fs::path& folder)
    : data_(data) {
  if (!folder.empty()) place_ = folder / (ledger + ".sources");
}

void SourceMemory::observe() { observed_ = text_of(state_of(data_.source)); }

void SourceMemory::record(const std::string& request) const {
  if (place_.empty() || observed_.empty()) return;
  const std::string line = request + " " + observed_ + "\n";
  const int file = open(place_.c_str(),
                        O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
  if (file < 0) return;
  struct stat about {};
  if (fstat(file, &about) == 0 && S_ISREG(about.st_mode))
    (void)!write(file, line.data(), line.size());
  close(file);
}

std::string SourceMemory::recorded(const std::string& request) const {
  std::string last;
  std::istringstream in(lines_at(place_));
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with(request + " ")) last = line.substr(request.size() + 1);
  }
  return last;
}

std::string SourceMemory::change_since(const Release& release) const {
  const FileState now = state_of(data_.source);
  if (now.size.empty()) return "";
  const std::string touched =
      "the file of data was touched since this answer, and may have changed";
  const std::string update = ". If the data are new, update `version` in " + data_.name +
                             ".data.toml: the study is then run anew, under a new charge";
  const std::string stored = recorded(release.request);
  if (stored.empty()) {
    if (last_time(data_.source, &stat::st_mtim) > release.time)
      return "the file of data has changed since this answer" + update;
    return last_time(data_.source, &stat::st_ctim) > release.time ? touched + update : "";
  }
  const FileState then = parse_state(stored);
  if (then.size != now.size || then.modified != now.modified)
    return "the file of data has changed since this answer" + update;
  if (then.reading != now.reading)
    return "the data file says to read the data differently than for this answer" + update;
  if (then.changed != now.changed) return touched + update;
  return "";
}

}  // namespace sotto::cli
