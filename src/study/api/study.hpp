// The analyst's study file: queries and models, the name of the data, and the budget to spend. It
// contains public information only. The curator's data file (data_file.hpp) says where the data
// are, whom they protect and which ledger pays.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "data/api/listed_values.hpp"
#include "sotto/data/bounded.hpp"
#include "sotto/data/engine.hpp"
#include "sotto/data/schema.hpp"
#include "study/api/data_file.hpp"
#include "study/api/training.hpp"

namespace sotto {

/// The kind of a query, `ask` in a study.
enum class Aggregation { count, distinct, sum, mean, variance, deviation, histogram, quantiles };
std::string name_of(Aggregation ask);

enum class NoiseChoice { best, laplace, gaussian };

/// A section [[query]].
struct Query {
  std::string name;
  Aggregation ask = Aggregation::count;
  std::string of;               ///< a column; empty for count and distinct
  std::vector<std::string> by;  ///< key columns
  bool private_keys =
      false;  ///< keys are not public: a private search finds those with enough units
  std::string where;
  double share = 1;             ///< weight of the query's share of the budget
  std::optional<double> error;  ///< instead of a share: maximum error, with the study's confidence
  std::int64_t groups = 1;      ///< maximum number of groups in which a unit counts
  std::int64_t rows = 1;        ///< maximum number of rows of a unit in each group
  bool chose_groups = false;    ///< whether the study sets `groups`
  bool chose_rows = false;      ///< whether the study sets `rows`
  bool clamp_total =
      false;  ///< clamp the unit's total in a group to the bounds instead of each row
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
  std::string
      declared;  ///< unit and columns of the data file as canonical text, part of the request id
  Source source;
  std::string unit = "row";  ///< a stored column, or "row"
  std::string unit_label;    ///< a word for one unit
  std::string publisher;     ///< publisher of reports, for display; may be empty
  std::optional<double> public_rows;
  std::vector<StudyColumn>
      columns;          ///< stored columns, with the study's narrower bounds, then derived columns
  ListedValues listed;  ///< listed values of stored columns: the data file's, else the study's
  std::optional<double> epsilon, delta, rho;
  double confidence = 0.95;
  std::vector<Query> queries;
  std::vector<TrainingRequest> trainings;
  std::vector<DataFile> public_data = {};  ///< public data that `evaluate` of a training names
  int budget_line = 0;
};

/// Returns the name of the data that a study is about. Throws StudyError. For a study in the old
/// form, which describes its data too, the error contains the two files that replace it.
std::string data_of(const std::string& study);

/// Returns the data file of a name, as Catalogue::find does.
using DataFinder = std::function<DataFile(const std::string& name)>;

/// Reads a study about these data; `find` resolves the public data that it names. Throws
/// StudyError.
Study parse_study(const std::string& text, const DataFile& data, const DataFinder& find = {});

/// The data file and the study that replace a study in the old form, which describes its data too.
struct TwoFiles {
  std::string data, study;
};
/// Splits a study in the old form.
TwoFiles split_study(const std::string& text);

/// Returns the stored columns of the data.
std::vector<Column> stored_columns(const Study& study);
/// Returns the column of this name. Throws StudyError, with `line`, if it is not declared.
const StudyColumn& column_of(const Study& study, const std::string& name, int line);
/// Returns the names of the columns that the study uses: the stored columns that its queries and
/// models read, the derived columns that they name, and the unit's column.
std::vector<std::string> columns_in_use(const Study& study);
/// Returns the value of a column as an expression of stored columns. Throws StudyError.
Field field_of(const Study& study, const StudyColumn& column);

}  // namespace sotto
