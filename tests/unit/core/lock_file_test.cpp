// Lock files: never two owners, and no file is left by a process that ends normally.
#include "core/api/lock_file.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <string>
#include <vector>

namespace sotto {
namespace {

namespace fs = std::filesystem;

class LockFiles : public ::testing::Test {
 protected:
  LockFiles()
      : folder(fs::temp_directory_path() / ("sotto-lock-" + std::to_string(getpid()))),
        path(folder / "one.lock") {
    fs::remove_all(folder);
    fs::create_directories(folder);
  }
  ~LockFiles() override { fs::remove_all(folder); }
  LockFiles(const LockFiles&) = delete;
  LockFiles& operator=(const LockFiles&) = delete;

  fs::path folder, path;
};

TEST_F(LockFiles, HasOneOwnerAndIsRemovedAtItsEnd) {
  {
    auto lock = LockFile::try_lock(path);
    ASSERT_TRUE(lock);
    EXPECT_FALSE(LockFile::try_lock(path));
    EXPECT_TRUE(fs::exists(path));
    LockFile moved = std::move(*lock);
    lock.reset();
    EXPECT_TRUE(fs::exists(path));
    EXPECT_FALSE(LockFile::try_lock(path));
  }
  EXPECT_FALSE(fs::exists(path));
  EXPECT_TRUE(LockFile::try_lock(path));
  EXPECT_TRUE(fs::is_empty(folder));
}

TEST_F(LockFiles, ALeftoverFileBlocksNobodyAndIsRemoved) {
  std::ofstream(path) << "";
  EXPECT_TRUE(LockFile::try_lock(path));
  EXPECT_FALSE(fs::exists(path));
}

TEST_F(LockFiles, AnotherFileUnderItsNameStays) {
  {
    const auto lock = LockFile::try_lock(path);
    fs::remove(path);
    std::ofstream(path) << "";
  }
  EXPECT_TRUE(fs::exists(path));
  EXPECT_THROW((void)LockFile::try_lock(folder / "nowhere" / "lock"), std::runtime_error);
  fs::create_symlink(path, folder / "link");
  EXPECT_THROW((void)LockFile::try_lock(folder / "link"), std::runtime_error);
}

TEST_F(LockFiles, AChildThatInheritsItRemovesNothing) {
  auto lock = LockFile::try_lock(path);
  const pid_t child = fork();
  if (child == 0) {
    lock.reset();
    _exit(0);
  }
  waitpid(child, nullptr, 0);
  EXPECT_TRUE(fs::exists(path));
  EXPECT_FALSE(LockFile::try_lock(path));
}

// Several processes acquire and release the lock as fast as they can. An owner writes its number to
// a file, and fails if it finds the file of another owner.
TEST_F(LockFiles, NeverHasTwoOwnersWhileProcessesTakeTurns) {
  const fs::path owner = folder / "owner";
  const auto contend = [&](int self) {
    int turns = 0;
    while (turns < 300) {
      const auto lock = LockFile::try_lock(path);
      if (!lock) continue;
      if (fs::exists(owner)) return 1;
      std::ofstream(owner) << self;
      int who = 0;
      std::ifstream(owner) >> who;
      if (who != self) return 1;
      fs::remove(owner);
      ++turns;
    }
    return 0;
  };
  std::vector<pid_t> children;
  for (int i = 1; i <= 6; ++i) {
    children.push_back(fork());
    if (children.back() != 0) continue;
    int code = 2;
    try {
      code = contend(i);
    } catch (const std::exception&) {
    }
    _exit(code);
  }
  for (const pid_t child : children) {
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 0);
  }
  EXPECT_TRUE(fs::is_empty(folder));
}

}  // namespace
}  // namespace sotto
