// Power failures: SQLite writes through a file system that forgets unsynced bytes. Unlike a kill,
// this shows a missing sync.
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <map>
#include <new>
#include <string>

#include "sotto/ledger/ledger.hpp"

namespace sotto {
namespace {

// The bytes that were written to a file since its last sync, and the length that the file would
// have.
struct Unsynced {
  std::map<sqlite3_int64, char> bytes;
  sqlite3_int64 size = 0;
};

bool swallow_syncs = false;  // the mutant: syncs that do nothing
int fails_at = 0;            // this write or sync, counted from 1, fails
int operations = 0;
bool fails() { return ++operations == fails_at; }
sqlite3_vfs* real_vfs = nullptr;
std::map<std::string, Unsynced>& pending() {
  static std::map<std::string, Unsynced> files;
  return files;
}

struct File {
  sqlite3_file base;
  char name[4096];
  sqlite3_file* real() { return reinterpret_cast<sqlite3_file*>(this + 1); }
  Unsynced& unsynced() { return pending()[name]; }
};
File* as_file(sqlite3_file* file) { return reinterpret_cast<File*>(file); }

int close_file(sqlite3_file* file) {
  return as_file(file)->real()->pMethods->xClose(as_file(file)->real());
}
int read_file(sqlite3_file* file, void* to, int size, sqlite3_int64 offset) {
  File* self = as_file(file);
  auto* bytes = static_cast<char*>(to);
  const int code = self->real()->pMethods->xRead(self->real(), to, size, offset);
  if (code != SQLITE_OK && code != SQLITE_IOERR_SHORT_READ) return code;
  const Unsynced& unsynced = self->unsynced();
  for (auto place = unsynced.bytes.lower_bound(offset);
       place != unsynced.bytes.end() && place->first < offset + size; ++place) {
    bytes[place->first - offset] = place->second;
  }
  return offset + size <= unsynced.size ? SQLITE_OK : SQLITE_IOERR_SHORT_READ;
}
int write_file(sqlite3_file* file, const void* from, int size, sqlite3_int64 offset) {
  if (fails()) return SQLITE_IOERR_WRITE;
  Unsynced& unsynced = as_file(file)->unsynced();
  for (int i = 0; i < size; ++i) unsynced.bytes[offset + i] = static_cast<const char*>(from)[i];
  unsynced.size = std::max(unsynced.size, offset + size);
  return SQLITE_OK;
}
int truncate_file(sqlite3_file* file, sqlite3_int64 size) {
  Unsynced& unsynced = as_file(file)->unsynced();
  unsynced.bytes.erase(unsynced.bytes.lower_bound(size), unsynced.bytes.end());
  unsynced.size = size;
  return SQLITE_OK;
}
int sync_file(sqlite3_file* file, int flags) {
  if (fails()) return SQLITE_IOERR_FSYNC;
  if (swallow_syncs) return SQLITE_OK;
  File* self = as_file(file);
  Unsynced& unsynced = self->unsynced();
  for (auto place = unsynced.bytes.begin(); place != unsynced.bytes.end();) {
    std::string piece;  // neighbouring bytes at once
    const sqlite3_int64 start = place->first;
    for (; place != unsynced.bytes.end() &&
           place->first == start + static_cast<sqlite3_int64>(piece.size());
         ++place)
      piece += place->second;
    const int code = self->real()->pMethods->xWrite(self->real(), piece.data(),
                                                    static_cast<int>(piece.size()), start);
    if (code != SQLITE_OK) return code;
  }
  unsynced.bytes.clear();
  self->real()->pMethods->xTruncate(self->real(), unsynced.size);
  return self->real()->pMethods->xSync(self->real(), flags);
}
int file_size(sqlite3_file* file, sqlite3_int64* size) {
  *size = as_file(file)->unsynced().size;
  return SQLITE_OK;
}
int lock_file(sqlite3_file* file, int level) {
  return as_file(file)->real()->pMethods->xLock(as_file(file)->real(), level);
}
int unlock_file(sqlite3_file* file, int level) {
  return as_file(file)->real()->pMethods->xUnlock(as_file(file)->real(), level);
}
int check_lock(sqlite3_file* file, int* out) {
  return as_file(file)->real()->pMethods->xCheckReservedLock(as_file(file)->real(), out);
}
int control_file(sqlite3_file*, int, void*) { return SQLITE_NOTFOUND; }
int sector_size(sqlite3_file*) { return 4096; }
int characteristics(sqlite3_file*) { return 0; }

constexpr sqlite3_io_methods methods{
    1,         close_file,  read_file,  write_file,   truncate_file, sync_file,       file_size,
    lock_file, unlock_file, check_lock, control_file, sector_size,   characteristics, nullptr,
    nullptr,   nullptr,     nullptr,    nullptr,      nullptr};

int open_file(sqlite3_vfs*, const char* name, sqlite3_file* file, int flags, int* out) {
  File* self = new (file) File{};
  std::strncpy(self->name, name == nullptr ? "" : name, sizeof self->name - 1);
  const int code = real_vfs->xOpen(real_vfs, name, self->real(), flags, out);
  if (code != SQLITE_OK) return code;
  self->base.pMethods = &methods;
  if (pending().count(self->name) == 0)
    self->real()->pMethods->xFileSize(self->real(), &self->unsynced().size);
  return SQLITE_OK;
}
int delete_file(sqlite3_vfs*, const char* name, int sync) {
  pending().erase(name);
  return real_vfs->xDelete(real_vfs, name, sync);
}

void forget_what_is_not_synced() {
  real_vfs = sqlite3_vfs_find(nullptr);
  static sqlite3_vfs forgetful = *real_vfs;
  forgetful.pNext = nullptr;
  forgetful.zName = "forgetful";
  forgetful.szOsFile = static_cast<int>(sizeof(File)) + real_vfs->szOsFile;
  forgetful.xOpen = open_file;
  forgetful.xDelete = delete_file;
  sqlite3_vfs_register(&forgetful, 1);
}

struct Outcome {
  std::size_t acknowledged;  // before the power went, or a write failed
  std::size_t there;         // after
  bool failed;               // with a LedgerError
};

Outcome cut_power(int charges, bool swallow, int failing) {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("sotto-power-" + std::to_string(getpid()));
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  const std::filesystem::path path = folder / "budget.sotto";
  (void)Ledger::create(path, {"people", "person", Relation::add_remove, ApproximateBudget{1e6, 0}});
  std::array<int, 2> ends{};
  EXPECT_EQ(pipe(ends.data()), 0);
  const pid_t child = fork();
  if (child == 0) {
    swallow_syncs = swallow;
    fails_at = failing;
    forget_what_is_not_synced();
    try {
      Ledger ledger = Ledger::open(path);
      for (int i = 0; i < charges; ++i) {
        ledger.charge(std::to_string(i), "", pure(1));
        if (write(ends[1], "c", 1) != 1) _exit(1);
      }
    } catch (const LedgerError&) {
      _exit(7);
    }
    _exit(0);  // the power goes: what was not synced was never in the file
  }
  close(ends[1]);
  std::size_t acknowledged = 0;
  char letter = 0;
  while (read(ends[0], &letter, 1) == 1) ++acknowledged;
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status));
  const Ledger ledger = Ledger::open(path);
  EXPECT_TRUE(ledger.verify().sound);
  const std::size_t there = ledger.entries().size();
  std::filesystem::remove_all(folder);
  return {acknowledged, there, WEXITSTATUS(status) == 7};
}

TEST(PowerCut, AcknowledgedChargesWereSynced) {
  const Outcome outcome = cut_power(25, false, 0);
  EXPECT_EQ(outcome.acknowledged, 25U);
  EXPECT_EQ(outcome.there, 25U);
}

TEST(PowerCut, TheTestSeesAMissingSync) {
  const Outcome outcome = cut_power(25, true, 0);
  EXPECT_EQ(outcome.acknowledged, 25U);
  EXPECT_LT(outcome.there, 25U);
}

// Each write and each sync of two charges fails once. The failed charge is refused and absent; the
// charge before it is present.
TEST(FailedWrites, ChargeNothingAndLoseNothing) {
  int failing = 1;
  for (; failing < 100; ++failing) {
    const Outcome outcome = cut_power(2, false, failing);
    EXPECT_EQ(outcome.there, outcome.acknowledged) << failing;
    if (!outcome.failed) break;  // there are no more
    EXPECT_LT(outcome.acknowledged, 2U) << failing;
  }
  EXPECT_GT(failing, 10);
  EXPECT_LT(failing, 100);
}

}  // namespace
}  // namespace sotto
