// Which file an answer was computed from: its size and times, kept by the curator beside the ledger and never published. A kept answer of a
// file that has changed since is told on stderr.
#pragma once

#include <filesystem>
#include <string>

#include "study/api/data_file.hpp"
#include "study/api/release.hpp"

namespace sotto::cli {

class SourceMemory {
 public:
  /// `folder`: where runs keep how far they came; the memory is in a file of its own there. Empty: nothing is kept.
  SourceMemory(const DataFile& data, const std::string& ledger, const std::filesystem::path& folder);

  /// Looks at the files as they are now; call it before they are opened. Data in no file have nothing to look at.
  void look();
  /// Remembers what was last looked at as the source of this request's answer. What cannot be written is not remembered.
  void keep(const std::string& request) const;
  /// In words, that the files, or how they are read, are not those of the kept answer; empty where nothing is known to have changed.
  [[nodiscard]] std::string change_since(const Release& release) const;

 private:
  [[nodiscard]] std::string remembered(const std::string& request) const;

  const DataFile& data_;
  std::filesystem::path place_;
  std::string seen_;
};

}  // namespace sotto::cli
