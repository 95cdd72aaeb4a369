// Remembers from which state of a file an answer was computed, so that a repeated answer can come
// with a note that the file has changed since. The curator keeps this next to the ledger; it is
// never published.
#pragma once

#include <filesystem>
#include <string>

#include "study/api/data_file.hpp"
#include "study/api/release.hpp"

namespace sotto::cli {

/// Stores, for each request, the sizes and times of the files that it read.
class SourceMemory {
 public:
  /// Stores into a file in `folder`; an empty folder stores nothing.
  SourceMemory(const DataFile& data, const std::string& ledger,
               const std::filesystem::path& folder);

  /// Reads the present state of the files. Call it before they are opened. Data that are in no file
  /// have no state.
  void observe();
  /// Stores the observed state as the source of this request's answer. Fails silently.
  void record(const std::string& request) const;
  /// Returns a sentence if the files, or how they are read, differ from those of the stored answer;
  /// empty if no change is known.
  [[nodiscard]] std::string change_since(const Release& release) const;

 private:
  [[nodiscard]] std::string recorded(const std::string& request) const;

  const DataFile& data_;
  std::filesystem::path place_;
  std::string observed_;
};

}  // namespace sotto::cli
