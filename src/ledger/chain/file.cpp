// Files of keys and ledgers: created once, never through a symbolic link, and synced before use.
#include "ledger/chain/file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "core/api/file.hpp"
#include "sotto/ledger/ledger.hpp"

namespace sotto::ledger_detail {

std::string read_key_file(const std::string& path) {
  try {
    return read_text_file(path, max_key_file_size);
  } catch (const FileError& error) {
    throw LedgerError(error.what());
  }
}

bool write_new_file(const std::string& path, const std::string& text) {
  // O_EXCL and O_NOFOLLOW: somebody who can write the folder must not direct a key into another
  // file.
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (file < 0 && errno == EEXIST) return false;
  if (file < 0) throw LedgerError("cannot write " + path + ": " + std::strerror(errno));
  const bool written = write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size()) &&
                       fsync(file) == 0;
  close(file);
  if (!written) {
    (void)unlink(path.c_str());
    throw LedgerError("cannot write all of " + path +
                      ": the disk may be full; the file was removed");
  }
  sync_folder(path);
  return true;
}

void sync_folder(const std::string& path) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  const int file = open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (file < 0) return;  // a folder that may not be read cannot be synced
  (void)fsync(file);
  close(file);
}

}  // namespace sotto::ledger_detail
