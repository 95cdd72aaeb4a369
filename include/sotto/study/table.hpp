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
  std::optional<Value> if_null = {};  ///< the value that NULL counts as; empty: a question that
                                      ///< reads the column leaves out the rows where it is NULL
};

/// A column of numbers with public bounds.
TableColumn bounded_column(const std::string& name, double lower, double upper,
                           Type type = Type::real);
/// A column whose possible values are public.
TableColumn listed_column(const std::string& name, std::vector<Value> values,
                          Type type = Type::text);

/// The public description of a table.
struct TableDescription {
  std::vector<TableColumn> columns;
  std::string unit = {};  ///< required: whom the budget protects, as the column that names them,
                          ///< such as "person"; "row" only where nobody has more than one row
  std::string name = {};  ///< of the data; empty: the file's name without its ending
  std::string version = "1";  ///< change it when the rows change: answers are kept per version
  std::optional<double> size = {};  ///< the public number of units
};

/// A question about a table: the settings of a study's [[query]] (docs/reference/study.md).
/// A QuestionBuilder fills them in.
struct TableQuestion {
  using Setting = std::variant<bool, std::int64_t, double, std::string, std::vector<Value>>;
  std::vector<std::pair<std::string, Setting>> settings;  ///< in the order of the study
  std::vector<std::pair<std::string, std::vector<Value>>> listed =
      {};  ///< columns with the values that group_by() listed
};

/// The options of one question.
struct QuestionOptions {
  std::string name = {};  ///< empty: in words, such as "sum spent by region"
  std::optional<double> error =
      {};  ///< at most this far from the truth, with the run's confidence; else by share
  std::optional<double> share =
      {};  ///< its part of the budget, relative to the other questions'; 1 unless set
  std::optional<double> step = {};  ///< the width of a histogram's bins or of a quantile's leaves
  std::string noise = {};           ///< "laplace" or "gaussian"; empty: the cheaper one
  std::string clamp =
      {};  ///< of a sum or mean: "rows" clamps each row to the bounds, "total" a unit's total
};

/// Builds a question. Each step returns a new builder, so that questions can share their beginning.
class QuestionBuilder {
 public:
  /// Keeps the rows for which a row expression is true (docs/reference/expressions.md). A second
  /// condition narrows the first. Throws InvalidValue for an empty condition and for one whose
  /// parentheses or quotes are not balanced, which could undo the first.
  [[nodiscard]] QuestionBuilder where(const std::string& expression) const;
  /// One answer for each listed value of the column; for several columns, for each combination.
  [[nodiscard]] QuestionBuilder group_by(const std::string& column) const;
  /// One answer for each of these values of the column, which must come from public knowledge.
  [[nodiscard]] QuestionBuilder group_by(const std::string& column,
                                         std::vector<Value> values) const;
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
  [[nodiscard]] TableQuestion sum(const std::string& column,
                                  const QuestionOptions& options = {}) const;
  [[nodiscard]] TableQuestion mean(const std::string& column,
                                   const QuestionOptions& options = {}) const;
  [[nodiscard]] TableQuestion variance(const std::string& column,
                                       const QuestionOptions& options = {}) const;
  [[nodiscard]] TableQuestion deviation(const std::string& column,
                                        const QuestionOptions& options = {}) const;
  [[nodiscard]] TableQuestion histogram(const std::string& column,
                                        const QuestionOptions& options = {}) const;
  [[nodiscard]] TableQuestion median(const std::string& column,
                                     const QuestionOptions& options = {}) const;
  [[nodiscard]] TableQuestion quantiles(const std::string& column,
                                        const std::vector<double>& quantiles,
                                        const QuestionOptions& options = {}) const;

 private:
  [[nodiscard]] QuestionBuilder with(const std::string& key, TableQuestion::Setting setting) const;
  [[nodiscard]] TableQuestion ask(const std::string& what, const std::string& column,
                                  const QuestionOptions& options,
                                  std::optional<TableQuestion::Setting> quantiles = {}) const;

  TableQuestion question_;
};

/// The budget of a run. The same questions with the same spending are one request: the second run
/// returns the kept answers and costs nothing.
struct Spending {
  std::optional<double> epsilon = {};
  std::optional<double> delta = {};       ///< empty: epsilon's share of the ledger's delta
  std::optional<double> rho = {};         ///< in place of epsilon
  std::optional<double> confidence = {};  ///< of each interval; empty: 0.95
  std::string title = {};                 ///< shown in the ledger
  bool again = false;  ///< asks anew: another charge and new noise, although there are kept answers
};

/// One released number.
struct ReleasedNumber {
  std::string question;
  std::vector<std::string> keys = {};        ///< the group's values, in the order of group_by()
  std::optional<double> from = {}, to = {};  ///< the edges of a histogram's bin
  std::optional<double> quantile = {};
  double value = 0;
  double low = 0, high = 0;  ///< the number without noise, as limited and bounded, lies in [low,
                             ///< high] with the run's confidence
  std::string limit = {};    ///< what was left out, in words: "at most 5 per person"
};

/// The result of a run: noisy numbers, which may be published.
struct ReleasedNumbers {
  std::vector<ReleasedNumber> numbers;  ///< by question, then by group
  std::string request;                  ///< the id of the charge in the ledger
  bool repeated = false;                ///< the kept answers of an earlier run: nothing was charged
  Charge charge = {};                   ///< in the currency of the ledger's budget
  double epsilon = 0, delta = 0;        ///< the guarantee of this run by itself
  std::string json = {};                ///< everything that was released, as the ledger keeps it
};

/// The cost of a run, before it is charged.
struct CostPreview {
  Plan plan;  ///< the noise of all questions
  Charge charge =
      {};  ///< in the currency of the ledger's budget; 0 if the request was charged before
  double epsilon = 0, delta = 0;  ///< the guarantee of the run by itself
  bool admitted = false;          ///< the rest of the budget covers the charge
  bool repeated = false;          ///< the ledger keeps the answers: the run would return them
  std::string refusal =
      {};  ///< why the ledger would refuse the charge, and what costs less; else empty
  std::vector<std::string> warnings = {};  ///< what weakens the guarantee, such as a large delta
};

/// A table with its public description. It holds no rows, except after from_arrow(): answer() reads
/// them after the charge. Copies share their state. Safe for concurrent callers, also with one
/// Ledger: the runs of a table and its copies take turns.
class Table : public QuestionBuilder {
 public:
  /// Rows in a file, in PostgreSQL or in Spark, which are not opened yet. A relative path is
  /// resolved now. Throws InvalidValue for a description that is incomplete or contradicts itself.
  Table(Source source, TableDescription description, Limits limits = {});
  /// Rows in a file of comma-separated values, JSON or Parquet, by the ending of its name.
  Table(const std::string& path, TableDescription description, Limits limits = {});
  /// Rows in memory: takes over an `ArrowArrayStream*` of the Arrow C stream interface, also if it
  /// throws. The description needs a name. The caller is responsible that the rows are those of the
  /// stated name and version: a ledger cannot tell tables in memory apart otherwise.
  static Table from_arrow(void* stream, TableDescription description, Limits limits = {});

  /// Opens the ledger at a place, a file's path or postgresql://…, or creates it with this budget
  /// for the units of this table. Each table needs one ledger at a fixed place: a second ledger
  /// would be a second budget for the same people. Throws InvalidValue where the place has a ledger
  /// of other data, or with another budget or relation; LedgerError where it cannot be opened or
  /// created.
  [[nodiscard]] Ledger open_or_create_ledger(const std::string& place, const Budget& budget,
                                             Relation relation = Relation::add_remove,
                                             const LedgerOptions& options = {}) const;

  /// Returns what the questions together would cost. Reads no rows and charges nothing. Throws as
  /// answer() does for questions that cannot be asked; a refusal is a value here.
  [[nodiscard]] CostPreview preview(const Ledger& ledger,
                                    const std::vector<TableQuestion>& questions,
                                    const Spending& spending) const;
  [[nodiscard]] CostPreview preview(const Ledger& ledger, const TableQuestion& question,
                                    const Spending& spending) const {
    return preview(ledger, std::vector<TableQuestion>{question}, spending);
  }

  /// Charges the ledger, durably; then reads the rows, draws the noise, keeps the answers in the
  /// ledger and returns them. Before the charge it checks that the data are there and have the
  /// described columns.
  ///
  /// Throws, with nothing charged: InvalidValue for questions that cannot be asked and for the
  /// ledger of another table; OutsideConditions where the budget cannot account for them;
  /// BudgetRefused where it does not cover them; EngineError where the data cannot be opened.
  /// Throws ChargeStays or EngineError where a run fails after its charge: what() says whether the
  /// same call goes on under that charge, or only a new charge (Spending::again) can answer.
  /// RequestClosed is also thrown while another process, or another Table object, is running the
  /// same questions with the same spending.
  [[nodiscard]] ReleasedNumbers answer(Ledger& ledger, const std::vector<TableQuestion>& questions,
                                       const Spending& spending) const;
  [[nodiscard]] ReleasedNumbers answer(Ledger& ledger, const TableQuestion& question,
                                       const Spending& spending) const {
    return answer(ledger, std::vector<TableQuestion>{question}, spending);
  }

 private:
  struct State;
  explicit Table(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  std::shared_ptr<const State> state_;
};

}  // namespace sotto
