// From rows to private answers: a table, questions about it as methods, and answers with intervals,
// charged to a ledger.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "sotto/accounting/filter.hpp"
#include "sotto/data/engine.hpp"
#include "sotto/data/schema.hpp"
#include "sotto/ledger/ledger.hpp"
#include "sotto/plan/plan.hpp"
#include "sotto/privacy/relation.hpp"

namespace sotto {

/// A stored column and what is publicly known of it. Bounds and values must come from public
/// knowledge, never from the data.
struct TableColumn {
  std::string name;
  Type type = Type::text;
  std::optional<double> lower = {}, upper = {};  ///< a number outside counts as the nearer bound
  std::vector<Value> values = {};                ///< the groups that group_by() answers for
};

/// A column of numbers with public bounds.
TableColumn bounded_column(const std::string& name, double lower, double upper, Type type = Type::real);
/// A column whose possible values are public.
TableColumn listed_column(const std::string& name, std::vector<Value> values, Type type = Type::text);

/// What is publicly known of a table.
struct TableDescription {
  std::vector<TableColumn> columns;
  std::string unit = "row";         ///< whom the budget protects: "row", or the column that names them
  std::string name = {};            ///< of the data; empty: the file's name without its ending
  std::string version = "1";        ///< change it when the rows change: answers are kept per version
  std::optional<double> size = {};  ///< the public number of units
};

/// What is asked, in the words of a study's [[query]] (docs/reference/study.md). Made by a
/// QuestionBuilder.
struct TableQuestion {
  using Setting = std::variant<bool, std::int64_t, double, std::string, std::vector<Value>>;
  std::vector<std::pair<std::string, Setting>> settings;             ///< keys and values, in order
  std::vector<std::pair<std::string, std::vector<Value>>> listed{};  ///< the values that columns are grouped by
};

/// The options of one question.
struct QuestionOptions {
  std::string name = {};             ///< empty: in words, such as "sum spent by region"
  std::optional<double> error = {};  ///< at most this far from the truth, with the run's confidence; else by share
  std::optional<double> share = {};  ///< its part of the budget, relative to the other questions'; 1 unless set
  std::optional<double> step = {};   ///< the width of a histogram's bins or of a quantile's leaves
};

/// Builds a question. Each step returns a new builder, so that questions can share their beginning.
class QuestionBuilder {
 public:
  /// Keeps the rows for which a row expression is true (docs/reference/expressions.md). A second
  /// condition narrows the first.
  [[nodiscard]] QuestionBuilder where(const std::string& expression) const;
  /// One answer for each listed value of the column; for several columns, for each combination.
  [[nodiscard]] QuestionBuilder group_by(const std::string& column) const;
  /// One answer for each of these values of the column.
  [[nodiscard]] QuestionBuilder group_by(const std::string& column, std::vector<Value> values) const;
  /// Answers for those values of the grouping columns that enough units have. A noisy threshold
  /// finds them, which is part of the charge.
  [[nodiscard]] QuestionBuilder private_keys() const;
  /// At most this many rows of a unit count in each group. Required where the unit is not a row
  /// and rows are counted or added up. A higher limit needs more noise.
  [[nodiscard]] QuestionBuilder limit_rows(std::int64_t rows) const;
  /// A unit counts in at most this many groups. Required where the unit is not a row.
  [[nodiscard]] QuestionBuilder limit_groups(std::int64_t groups) const;

  [[nodiscard]] TableQuestion count(const QuestionOptions& options = {}) const;           ///< rows
  [[nodiscard]] TableQuestion count_distinct(const QuestionOptions& options = {}) const;  ///< units
  [[nodiscard]] TableQuestion sum(const std::string& column, const QuestionOptions& options = {}) const;
  [[nodiscard]] TableQuestion mean(const std::string& column, const QuestionOptions& options = {}) const;
  [[nodiscard]] TableQuestion variance(const std::string& column, const QuestionOptions& options = {}) const;
  [[nodiscard]] TableQuestion deviation(const std::string& column, const QuestionOptions& options = {}) const;
  [[nodiscard]] TableQuestion histogram(const std::string& column, const QuestionOptions& options = {}) const;
  [[nodiscard]] TableQuestion median(const std::string& column, const QuestionOptions& options = {}) const;
  [[nodiscard]] TableQuestion quantiles(const std::string& column, const std::vector<double>& quantiles,
                                   const QuestionOptions& options = {}) const;

 private:
  [[nodiscard]] QuestionBuilder with(const std::string& key, TableQuestion::Setting setting) const;
  [[nodiscard]] TableQuestion ask(const std::string& what, const std::string& column, const QuestionOptions& options,
                             std::optional<TableQuestion::Setting> quantiles = {}) const;

  TableQuestion question_;
};

/// What a run may spend. The same questions with the same spending are one request: the second run
/// returns the kept answers and costs nothing.
struct Spending {
  std::optional<double> epsilon = {};
  std::optional<double> delta = {};  ///< empty: epsilon's share of the ledger's delta
  std::optional<double> rho = {};    ///< in place of epsilon
  std::optional<double> confidence = {};  ///< of each interval; empty: 0.95
  std::string title = {};
};

/// One released number.
struct ReleasedNumber {
  std::string question;
  std::vector<std::string> keys = {};  ///< the group's values, in the order of group_by()
  std::optional<double> from = {}, to = {};  ///< the edges of a histogram's bin
  std::optional<double> quantile = {};
  double value = 0;
  double low = 0, high = 0;  ///< the number without noise, as limited and bounded, lies in [low, high] with the run's confidence
  std::string limit = {};    ///< what was left out, in words: "at most 5 per person"
};

/// What a run released: noisy numbers, which may be published.
struct ReleasedNumbers {
  std::vector<ReleasedNumber> numbers;  ///< by question, then by group
  std::string request;                  ///< the id of the charge in the ledger
  bool repeated = false;                ///< the kept answers of an earlier run: nothing was charged
  double epsilon = 0, delta = 0;        ///< the guarantee of this run by itself
  std::string json;                     ///< all of it, as the ledger keeps it
};

/// What a run would cost, before it is charged.
struct CostPreview {
  Plan plan;
  double epsilon = 0, delta = 0;
  bool admitted = false;  ///< the rest of the budget covers it
  bool repeated = false;  ///< it was answered before: the run would be free
  std::string refusal;    ///< why the ledger would refuse it, and what costs less
};

/// A table with its public description. It holds no rows; a run reads them after its charge.
/// Copies share their state. Safe for concurrent callers.
class Table : public QuestionBuilder {
 public:
  /// Rows in a file, in PostgreSQL or in Spark, which are not opened yet. Throws InvalidValue for a
  /// description that contradicts itself.
  Table(Source source, TableDescription description, Limits limits = {});
  /// Rows in a file of comma-separated values, JSON or Parquet, by the ending of its name.
  Table(const std::string& path, TableDescription description);
  /// Rows in memory: takes over an `ArrowArrayStream*` of the Arrow C stream interface. The
  /// description needs a name. The caller vouches that the rows are those of the stated version.
  static Table from_arrow(void* stream, TableDescription description, Limits limits = {});

  /// Opens the ledger at a place, a file's path or postgresql://…, or creates it with this budget for
  /// the units of this table. Throws InvalidValue where a ledger of other data, or with another
  /// budget, is at the place.
  [[nodiscard]] Ledger open_or_create_ledger(const std::string& place, const Budget& budget,
                                             Relation relation = Relation::add_remove,
                                             const LedgerOptions& options = {}) const;

  /// What the questions together would cost. Reads no rows and charges nothing.
  [[nodiscard]] CostPreview preview(const Ledger& ledger, const std::vector<TableQuestion>& questions,
                                    const Spending& spending) const;

  /// Charges the ledger, durably; then reads the rows, draws the noise, keeps the answers in the
  /// ledger and returns them. Throws BudgetRefused, before it reads a row, if the budget does not cover
  /// the questions; EngineError if the rows cannot be read.
  [[nodiscard]] ReleasedNumbers answer(Ledger& ledger, const std::vector<TableQuestion>& questions,
                                       const Spending& spending) const;
  [[nodiscard]] ReleasedNumbers answer(Ledger& ledger, const TableQuestion& question, const Spending& spending) const {
    return answer(ledger, std::vector<TableQuestion>{question}, spending);
  }

 private:
  struct State;
  explicit Table(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  std::shared_ptr<const State> state_;
};

}  // namespace sotto
