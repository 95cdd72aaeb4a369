// The curator's data file, NAME.data.toml: where a table is stored, whom it protects, what is
// publicly known about it, and which ledger pays for its studies. A study refers to it by name
// only.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "sotto/core/errors.hpp"
#include "sotto/data/engine.hpp"
#include "sotto/data/schema.hpp"

namespace sotto {

/// Thrown for a data file or a study that cannot be used. what() starts with the line, if one is
/// known, and says what to write instead.
class StudyError : public std::runtime_error, public Remediable {
 public:
  StudyError(const std::string& what, int line, Remedy remedy = Remedy::none)
      : std::runtime_error(line > 0 ? "line " + std::to_string(line) + ": " + what : what),
        Remediable(remedy),
        line_(line) {}
  [[nodiscard]] int line() const { return line_; }

 private:
  int line_;
};

/// A column that queries may name: stored in the data, or derived from stored ones by a study.
struct StudyColumn {
  std::string name;
  Type type = Type::text;
  std::string derive;            ///< the expression; empty for a stored column
  std::optional<Value> if_null;  ///< replaces NULL; absent: rows with NULL are dropped
  std::optional<double> lower, upper;
  std::vector<Value> values;  ///< the public values of a key column; empty if they are not public
  int line = 0;
};

/// The content of a data file.
struct DataFile {
  std::string name, version;
  bool is_public =
      false;  ///< the data protect nobody and have no ledger; `evaluate` measures models on them
  Source source;
  std::string unit = "row";  ///< a stored column, or "row"
  std::string unit_label;    ///< a word for one unit, such as "person"; defaults to `unit`
  std::string publisher;     ///< who publishes reports, for display; may be empty
  std::optional<double> public_rows;
  std::vector<StudyColumn> columns;  ///< stored columns, in the order of the file
  std::string ledger;                ///< path of a file, or postgresql://…
  std::filesystem::path
      key;  ///< path of the key that signs charges; empty: the default next to the ledger
  std::string witness;  ///< where the ledger's heads are also written; empty: nowhere
};

/// Whether a text is a valid name of data: letters, digits, '_', '-' and '.', no leading '.', never
/// a path.
bool is_data_name(const std::string& name);

/// Reads a data file. Paths in it are relative to `folder`. Throws StudyError.
DataFile parse_data_file(const std::string& text, const std::filesystem::path& folder);

/// Returns the name of the type of the unit's column; "row" if each row is a unit.
std::string unit_type(const DataFile& data);

/// Returns the catalogue folder that a user's config.toml names; empty if it names none. Throws
/// StudyError.
std::filesystem::path catalogue_in(const std::string& configuration,
                                   const std::filesystem::path& folder);

/// A catalogue is a folder of data files. It is addressed by names, never by paths, so that a study
/// cannot reach a file outside of it.
class Catalogue {
 public:
  explicit Catalogue(std::filesystem::path folder) : folder_(std::move(folder)) {}
  [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }
  /// Returns the path of the data file of this name, whether or not it exists. Throws StudyError
  /// for an invalid name.
  [[nodiscard]] std::filesystem::path place(const std::string& name) const;
  /// Reads the data file of this name. Throws StudyError if it does not exist, cannot be read, or
  /// contains another name.
  [[nodiscard]] DataFile find(const std::string& name) const;
  /// Returns the names of all data files in the folder.
  [[nodiscard]] std::vector<std::string> names() const;
  /// Returns the names of the data files whose source has this identity().
  [[nodiscard]] std::vector<std::string> of_source(const std::string& source) const;

 private:
  std::filesystem::path folder_;
};

}  // namespace sotto
