// The curator's file about a table, NAME.data.toml: where the data are, whom they are about, what is publicly known of them, and which ledger
// pays for what is asked of them. A study names it by its name alone.
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

/// A data file or a study that cannot be used as it is written. what() starts with the line and says what to write.
class StudyError : public std::runtime_error, public Remediable {
 public:
  StudyError(const std::string& what, int line, Remedy remedy = Remedy::none)
      : std::runtime_error(line > 0 ? "line " + std::to_string(line) + ": " + what : what), Remediable(remedy), line_(line) {}
  [[nodiscard]] int line() const { return line_; }

 private:
  int line_;
};

/// A column that queries may name: stored in the data, or derived from stored ones by a study.
struct StudyColumn {
  std::string name;
  Type type = Type::text;
  std::string derive;            ///< the expression; empty for a stored column
  std::optional<Value> if_null;  ///< what stands for NULL; nothing: its rows are dropped
  std::optional<double> lower, upper;
  std::vector<Value> values;  ///< the public values of a key
  int line = 0;
};

struct DataFile {
  std::string name, version;
  bool is_public = false;  ///< nobody is protected: models are measured on them (`evaluate`), and there is no ledger
  Source source;
  std::string unit = "row";  ///< a stored column, or "row"
  std::string unit_label;    ///< what one of them is called in words; the column's name unless said
  std::string publisher;     ///< who publishes reports, in words; empty: not said
  std::optional<double> public_rows;
  std::vector<StudyColumn> columns;  ///< as they are stored
  std::string ledger;                ///< a file's path, or postgresql://…
  std::filesystem::path key;         ///< of whoever signs charges; empty: beside the ledger
  std::string witness;               ///< where heads go, outside the ledger; empty: nowhere
};

/// Whether data may be called so: letters, digits, '_', '-' and '.', not first; never a path.
bool is_data_name(const std::string& name);

/// Reads a data file. Paths in it are relative to `folder`. StudyError.
DataFile parse_data_file(const std::string& text, const std::filesystem::path& folder);

/// The type of the unit's column by name; "row" where each row is one.
std::string unit_type(const DataFile& data);

/// The folder that a user's configuration, config.toml, names as the catalogue; empty if it names none. StudyError.
std::filesystem::path catalogue_in(const std::string& configuration, const std::filesystem::path& folder);

/// The data files in a folder of the curator's. Only names reach it, so that a study cannot lead out of it.
class Catalogue {
 public:
  explicit Catalogue(std::filesystem::path folder) : folder_(std::move(folder)) {}
  [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }
  /// Where the data file of this name is, or would be. StudyError for what is no name.
  [[nodiscard]] std::filesystem::path place(const std::string& name) const;
  /// StudyError if there is none, if it cannot be read, or if it calls itself otherwise.
  [[nodiscard]] DataFile find(const std::string& name) const;
  [[nodiscard]] std::vector<std::string> names() const;
  /// The names of the data that come from this source, by its identity().
  [[nodiscard]] std::vector<std::string> of_source(const std::string& source) const;

 private:
  std::filesystem::path folder_;
};

}  // namespace sotto
