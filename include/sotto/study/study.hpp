// A study: what is wanted to know, of which data, for how much. It speaks of public things alone and is checked before anything is charged.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "sotto/data/bounded.hpp"
#include "sotto/data/engine.hpp"
#include "sotto/data/schema.hpp"

namespace sotto {

/// A study that cannot be run as it is written. what() starts with the line and says what to type.
class StudyError : public std::runtime_error {
 public:
  StudyError(const std::string& what, int line) : std::runtime_error(line > 0 ? "line " + std::to_string(line) + ": " + what : what), line_(line) {}
  [[nodiscard]] int line() const { return line_; }

 private:
  int line_;
};

/// A column that queries may name: stored in the data, or derived from stored ones.
struct StudyColumn {
  std::string name;
  Type type = Type::text;
  std::string derive;            ///< the expression; empty for a stored column
  std::optional<Value> if_null;  ///< what stands for NULL; nothing: its rows are dropped
  std::optional<double> lower, upper;
  std::vector<Value> values;  ///< the public values of a key
  int line = 0;
};

enum class Ask { count, distinct, sum, mean, variance, deviation, histogram, quantiles };
std::string name_of(Ask ask);

enum class NoiseChoice { best, laplace, gaussian };

struct Query {
  std::string name;
  Ask ask = Ask::count;
  std::string of;               ///< a column; empty for count and distinct
  std::vector<std::string> by;  ///< key columns
  bool private_keys = false;    ///< the keys are not public: those with enough units are found, privately
  std::string where;
  double share = 1;             ///< of the budget
  std::optional<double> error;  ///< instead: at most this far from the truth, with the study's confidence
  std::int64_t groups = 1;      ///< at most so many groups a unit
  std::int64_t rows = 1;        ///< at most so many rows a unit in each
  bool clamp_total = false;     ///< the unit's total in a group is clamped to the bounds, not each row
  std::vector<double> quantiles;
  std::optional<double> step;  ///< the width of a histogram's bins or of a quantile's leaves
  NoiseChoice noise = NoiseChoice::best;
  int line = 0;
};

struct Study {
  std::string text;  ///< the file, byte by byte
  std::string title;
  std::string data_name, data_version;
  Source source;
  std::string unit = "row";  ///< a stored column, or "row"
  std::optional<double> public_rows;
  std::vector<StudyColumn> columns;
  std::filesystem::path ledger;  ///< empty: named when it is run
  std::optional<double> epsilon, delta, rho;
  double confidence = 0.95;
  std::vector<Query> queries;
  int budget_line = 0;
};

/// Reads a study. Paths in it are relative to `folder`. StudyError.
Study parse_study(const std::string& text, const std::filesystem::path& folder);

/// The stored columns, and a column's value as an expression of them. StudyError for a column that is not declared.
std::vector<Column> stored_columns(const Study& study);
const StudyColumn& column_of(const Study& study, const std::string& name, int line);
Field field_of(const Study& study, const StudyColumn& column);

}  // namespace sotto
