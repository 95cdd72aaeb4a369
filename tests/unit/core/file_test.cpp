// Reading of regular files: kinds, limits, and the messages.
#include "core/api/file.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <optional>

namespace sotto {
namespace {

namespace fs = std::filesystem;

class TextFile : public testing::Test {
 protected:
  TextFile() { fs::create_directory(folder); }
  ~TextFile() override { fs::remove_all(folder); }
  const fs::path folder = fs::temp_directory_path() / ("sotto-file-" + std::to_string(getpid()));

  static std::string failure(const fs::path& path, std::uint64_t most = max_text_file_size) {
    try {
      (void)read_text_file(path, most);
    } catch (const FileError& error) {
      return error.what();
    }
    return "no error";
  }
  [[nodiscard]] fs::path socket_at(const std::string& name) const {
    fs::path path = folder / name;
    const int file = socket(AF_UNIX, SOCK_STREAM, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
    EXPECT_EQ(bind(file, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    close(file);
    return path;
  }
};

TEST_F(TextFile, ReadsARegularFileAndALinkToIt) {
  const std::string bytes = std::string("a\0b\r\n", 5) + std::string(3'000'000, 'x');
  std::ofstream(folder / "text", std::ios::binary) << bytes;
  fs::create_symlink(folder / "text", folder / "link");
  EXPECT_EQ(read_text_file(folder / "text"), bytes);
  EXPECT_EQ(read_text_file(folder / "link"), bytes);
  EXPECT_FALSE(read_text_file("/proc/self/status").empty());  // its reported size is 0
}

TEST_F(TextFile, RefusesOtherKindsOfFilesAndNamesTheKind) {
  const std::string only = ", and sotto reads regular files only";
  ASSERT_EQ(mkfifo((folder / "pipe").c_str(), 0600), 0);
  fs::create_symlink(folder / "pipe", folder / "link");
  fs::create_symlink("/dev/zero", folder / "zero");
  const fs::path socket = socket_at("socket");
  const auto refused = [&](const fs::path& path, const std::string& kind) {
    EXPECT_EQ(failure(path), "cannot read " + path.string() + ": it is " + kind + only);
    EXPECT_THROW(require_regular_or_absent(path), FileError);
  };
  refused(folder / "pipe", "a pipe");
  refused(folder / "link", "a pipe");
  refused(folder / "zero", "a device");
  refused("/dev/null", "a device");
  refused(socket, "a socket");
  refused(folder, "a folder");
}

TEST_F(TextFile, APipeWithAWriterIsRefusedToo) {
  ASSERT_EQ(mkfifo((folder / "pipe").c_str(), 0600), 0);
  const int writer = open((folder / "pipe").c_str(), O_RDWR);
  ASSERT_EQ(write(writer, "words", 5), 5);
  EXPECT_NE(failure(folder / "pipe"), "no error");
  close(writer);
}

TEST_F(TextFile, RefusesAFileAboveTheLimitAndAcceptsOneAtIt) {
  std::ofstream(folder / "text") << "12345";
  EXPECT_EQ(read_text_file(folder / "text", 5), "12345");
  EXPECT_NE(failure(folder / "text", 4), "no error");
  EXPECT_NE(failure("/proc/self/status", 10), "no error");
  std::ofstream(folder / "huge") << "";
  fs::resize_file(folder / "huge", std::uint64_t{300} << 20U);
  EXPECT_EQ(failure(folder / "huge"),
            "cannot read " + (folder / "huge").string() +
                ": it is larger than 32 MiB, the limit for files of this kind");
}

TEST_F(TextFile, TheErrorSaysThatAFileIsAbsent) {
  const auto is_absent = [](const fs::path& path) -> std::optional<bool> {
    try {
      (void)read_text_file(path);
    } catch (const FileError& error) {
      return error.is_absent();
    }
    return std::nullopt;
  };
  EXPECT_EQ(is_absent(folder / "none"), true);
  EXPECT_EQ(is_absent(folder), false);
  fs::create_symlink(folder / "loop", folder / "loop");
  EXPECT_EQ(is_absent(folder / "loop"), false);
  EXPECT_NO_THROW(require_regular_or_absent(folder / "none"));
}

}  // namespace
}  // namespace sotto
