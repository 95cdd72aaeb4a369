#include "ledger/chain/file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "core/api/file.hpp"
#include "sotto/ledger/ledger.hpp"

namespace sotto::ledger_detail {

std::string read_key_file(const std::string& path) {
  try {
    return read_text_file(path, most_key_text);
  } catch (const FileError& error) {
    throw LedgerError(error.what());
  }
}

bool write_new_file(const std::string& path, const std::string& text) {
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (file < 0 && errno == EEXIST) return false;
  if (file < 0) throw LedgerError("cannot write " + path);
  const bool written = write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size()) && fsync(file) == 0;
  close(file);
  if (!written) {
    (void)unlink(path.c_str());
    throw LedgerError("cannot write " + path);
  }
  sync_folder(path);
  return true;
}

void sync_folder(const std::string& path) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  const int file = open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (file < 0) return;  // it may not be read, and is as durable as its file system makes it
  (void)fsync(file);
  close(file);
}

}  // namespace sotto::ledger_detail
