#include "checkpoint.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>

#include "sotto/core/json.hpp"

namespace sotto::study_detail {
namespace {

namespace fs = std::filesystem;

fs::path place_of(const fs::path& folder, const std::string& request) { return folder / (digest(request).substr(0, 32) + ".checkpoint"); }

Json of(const Iterate& iterate) {
  return {{"step", iterate.step},   {"parameters", iterate.parameters}, {"mean", iterate.mean},
          {"first", iterate.first}, {"second", iterate.second},         {"norm", iterate.norm}};
}

Iterate iterate_in(const Json& json) {
  Iterate iterate;
  iterate.step = json.at("step");
  iterate.parameters = json.at("parameters").get<std::vector<double>>();
  iterate.mean = json.at("mean").get<std::vector<double>>();
  iterate.first = json.at("first").get<std::vector<double>>();
  iterate.second = json.at("second").get<std::vector<double>>();
  iterate.norm = json.at("norm");
  return iterate;
}

[[noreturn]] void fail(const std::string& what, const fs::path& place) {
  throw LedgerError(what + " " + place.string() + ": " + std::strerror(errno));
}

void write_durably(const fs::path& place, const std::string& text) {
  const fs::path fresh = place.string() + ".new";
  const int file = open(fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file < 0) fail("cannot write the checkpoint", fresh);
  std::size_t done = 0;
  bool good = true;
  while (good && done < text.size()) {
    const ssize_t wrote = ::write(file, text.data() + done, text.size() - done);
    if (wrote < 0 && errno == EINTR) continue;
    good = wrote > 0;
    if (good) done += static_cast<std::size_t>(wrote);
  }
  good = good && fsync(file) == 0;
  const int error = errno;
  close(file);
  if (good) good = rename(fresh.c_str(), place.c_str()) == 0;
  if (!good) {
    errno = error;
    unlink(fresh.c_str());
    fail("cannot write the checkpoint", place);
  }
  const int folder = open(place.parent_path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder >= 0) {
    (void)fsync(folder);
    close(folder);
  }
}

}  // namespace

Checkpoint::Checkpoint(const fs::path& folder, const std::string& request) {
  if (folder.empty()) return;
  place_ = place_of(folder, request);
  const std::string lock = place_.string() + ".lock";
  lock_ = open(lock.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (lock_ < 0) fail("cannot write", lock);
  // the file may have been opened before the last holder removed it: then it is no longer the one that others lock
  struct stat held {};
  struct stat named {};
  if (flock(lock_, LOCK_EX | LOCK_NB) != 0 || fstat(lock_, &held) != 0 || stat(lock.c_str(), &named) != 0 || held.st_ino != named.st_ino) {
    close(lock_);
    throw LedgerError("another process is at this request: wait for it, or stop it");
  }
}

Checkpoint::~Checkpoint() {
  if (lock_ >= 0) close(lock_);  // its file stays: who opened it meanwhile must not lock what nobody else can find
}

void Checkpoint::require_place(const fs::path& folder) {
  if (!folder.empty() && access(folder.c_str(), W_OK | X_OK) != 0) fail("a training keeps how far it came in", folder);
}

bool Checkpoint::exists(const fs::path& folder, const std::string& request) { return !folder.empty() && fs::exists(place_of(folder, request)); }

std::optional<Checkpoint::State> Checkpoint::read() const {
  if (place_.empty() || !fs::exists(place_)) return std::nullopt;
  std::ifstream file(place_, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  try {
    const Json json = Json::parse(text);
    if (json.at("schema") != "sotto.checkpoint/1") throw JsonError("another version");
    State state{read_release(json.at("release")), std::nullopt};
    if (json.contains("iterate")) state.iterate = iterate_in(json.at("iterate"));
    return state;
  } catch (const JsonError& error) {
    throw LedgerError("the checkpoint " + place_.string() + " cannot be read (" + error.what() +
                      "); the request stays charged, and --new asks anew, under a charge of its own");
  }
}

void Checkpoint::write(const Release& release, const Iterate* iterate) const {
  if (place_.empty()) return;
  Json json;
  json["schema"] = "sotto.checkpoint/1";
  json["release"] = to_json(release);
  if (iterate != nullptr) json["iterate"] = of(*iterate);
  write_durably(place_, json.dump());
}

void Checkpoint::remove() const {
  if (place_.empty()) return;
  unlink(place_.c_str());
  unlink((place_.string() + ".lock").c_str());
}

}  // namespace sotto::study_detail
