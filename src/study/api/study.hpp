// The analyst's file: what is wanted to know, of which data, for how much. It names its data and speaks of public things alone; where the data
// are, whom they protect and which ledger pays is the curator's to say (data_file.hpp).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sotto/data/bounded.hpp"
#include "sotto/data/engine.hpp"
#include "data/api/listed_values.hpp"
#include "sotto/data/schema.hpp"
#include "study/api/data_file.hpp"
#include "study/api/training.hpp"

namespace sotto {

enum class Aggregation { count, distinct, sum, mean, variance, deviation, histogram, quantiles };
std::string name_of(Aggregation ask);

enum class NoiseChoice { best, laplace, gaussian };

struct Query {
  std::string name;
  Aggregation ask = Aggregation::count;
  std::string of;               ///< a column; empty for count and distinct
  std::vector<std::string> by;  ///< key columns
  bool private_keys = false;    ///< the keys are not public: those with enough units are found, privately
  std::string where;
  double share = 1;             ///< of the budget
  std::optional<double> error;  ///< instead: at most this far from the truth, with the study's confidence
  std::int64_t groups = 1;      ///< at most so many groups a unit
  std::int64_t rows = 1;        ///< at most so many rows a unit in each
  bool chose_groups = false;    ///< the study says how many
  bool chose_rows = false;
  bool clamp_total = false;  ///< the unit's total in a group is clamped to the bounds, not each row
  std::vector<double> quantiles;
  std::optional<double> step;  ///< the width of a histogram's bins or of a quantile's leaves
  NoiseChoice noise = NoiseChoice::best;
  int line = 0;
};

/// A study together with the data that it names.
struct Study {
  std::string text;  ///< the study's file, byte by byte
  std::string title;
  std::string data_name, data_version;
  std::string declared;  ///< what the data file declares of unit and columns, as text: part of what was asked
  Source source;
  std::string unit = "row";  ///< a stored column, or "row"
  std::string unit_label;    ///< in words
  std::string publisher;     ///< of reports, in words; empty: not said
  std::optional<double> public_rows;
  std::vector<StudyColumn> columns;  ///< the data file's, with the study's narrower bounds, then those that the study derives
  ListedValues listed;               ///< of each stored column that lists its values: the data file's, else the study's
  std::optional<double> epsilon, delta, rho;
  double confidence = 0.95;
  std::vector<Query> queries;
  std::vector<TrainingRequest> trainings;
  std::vector<DataFile> public_data = {};  ///< those that a training's `evaluate` names
  int budget_line = 0;
};

/// The name of the data that a study is about. StudyError; for a study that also describes its data, with the two files that it becomes.
std::string data_of(const std::string& study);

/// Finds a data file by its name, as Catalogue::find does.
using DataFinder = std::function<DataFile(const std::string& name)>;

/// Reads a study about these data; public data that it names are looked for by `find`. StudyError.
Study parse_study(const std::string& text, const DataFile& data, const DataFinder& find = {});

/// A study that describes its data too, as they were before there were data files, as two.
struct TwoFiles {
  std::string data, study;
};
TwoFiles split_study(const std::string& text);

/// The stored columns, and a column's value as an expression of them. StudyError for a column that is not declared.
std::vector<Column> stored_columns(const Study& study);
const StudyColumn& column_of(const Study& study, const std::string& name, int line);
/// The names of the stored columns that the study's queries and models read, and of the derived ones that they name; the unit's too.
std::vector<std::string> columns_in_use(const Study& study);
Field field_of(const Study& study, const StudyColumn& column);

}  // namespace sotto
