// Reads training examples from an engine.
//
// The engine cleans the columns and returns numbers, and the places of values in their lists. Codes
// are computed here, by one formula for all engines. Each row is read by itself.
#include <algorithm>
#include <cmath>
#include <utility>

#include "core/api/join.hpp"
#include "core/api/memory.hpp"
#include "data/engines/images/engine.hpp"
#include "data/engines/images/idx.hpp"
#include "data/examples/codes.hpp"
#include "data/examples/row_buckets.hpp"
#include "data/expressions/tree.hpp"
#include "data/sql/select.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/data/examples.hpp"

namespace sotto {
namespace {

using data_detail::alias;
using data_detail::case_when;
using data_detail::cast;
using data_detail::Coder;
using data_detail::identifier;
using data_detail::integer;
using data_detail::RowBuckets;
using data_detail::Select;
using data_detail::SqlExpression;
using data_detail::trusted_sql;
using data_detail::UnitRows;

constexpr std::int16_t no_value = -1;  // the place of a value that is not in the list
constexpr std::size_t most_values = 32767;

// Whether the expression is a stored column and nothing else.
bool is_stored(const Expression& expression) {
  const auto names = expression.columns();
  return names.size() == 1 &&
         (expression.text() == names.front() || expression.text() == sotto::quoted(names.front()));
}

// A column of the stream, which becomes a code or a place in a list.
struct CodedColumn {
  const Feature* feature;
  std::string name;                   // the column's name in the statement
  std::optional<Coder> coder;         // empty: a category
  std::vector<std::string> literals;  // of the values of a category, as SQL
  std::optional<std::int16_t> if_null;
  bool is_target;
};

double number_for_null(const Feature& feature) {
  const Value& value = *feature.field.if_null;
  const auto* integer_value = std::get_if<std::int64_t>(&value);
  const auto* real_value = std::get_if<double>(&value);
  const double x = integer_value != nullptr ? static_cast<double>(*integer_value)
                   : real_value != nullptr  ? *real_value
                                            : std::nan("");
  if (std::abs(x) < expression::most_real) return x;
  throw InvalidValue("the value that replaces NULL in \"" + feature.name +
                     "\" must be a number below 1e150 in magnitude");
}

void code_number(const Scaled& scale, CodedColumn& column) {
  const Feature& feature = *column.feature;
  const Type type = feature.field.value.type();
  if (type != Type::integer && type != Type::real) {
    throw InvalidValue("\"" + feature.name + "\" is of type " + name_of(type) +
                       ": only a number has bounds; list its values instead");
  }
  require_sound(scale);
  column.coder.emplace(scale);
  if (feature.field.if_null) column.if_null = code_of(number_for_null(feature), scale);
}

void code_category(const OneOf& category, CodedColumn& column, Dialect dialect) {
  const Feature& feature = *column.feature;
  const Type type = feature.field.value.type();
  if (type == Type::real) {
    throw InvalidValue("\"" + feature.name +
                       "\" is a real number: give its bounds, or derive an integer");
  }
  if (category.values.empty() || category.values.size() > most_values) {
    throw InvalidValue("\"" + feature.name + "\" has " + std::to_string(category.values.size()) +
                       " values: it needs 1 to 32767");
  }
  for (const Value& value : category.values) {
    column.literals.push_back(literal(value, type, dialect));
  }
  auto sorted = column.literals;
  std::sort(sorted.begin(), sorted.end());
  if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) {
    throw InvalidValue("\"" + feature.name + "\" lists a value twice: remove one of them");
  }
  if (!feature.field.if_null) return;
  const std::string for_null = literal(*feature.field.if_null, type, dialect);
  const auto it = std::find(column.literals.begin(), column.literals.end(), for_null);
  column.if_null = it == column.literals.end()
                       ? no_value
                       : static_cast<std::int16_t>(it - column.literals.begin());
}

CodedColumn coded_column(const Feature& feature, std::string name, bool is_target,
                         Dialect dialect) {
  CodedColumn column{&feature, std::move(name), {}, {}, {}, is_target};
  if (const auto* scale = std::get_if<Scaled>(&feature.encoding)) {
    code_number(*scale, column);
  } else {
    code_category(std::get<OneOf>(feature.encoding), column, dialect);
  }
  return column;
}

// The statement that reads the examples of a query, and the codes of the rows that it returns.
class ExampleReader {
 public:
  ExampleReader(Dialect dialect, const std::string& table, const std::vector<Column>& columns,
                const ExampleQuery& query)
      : query_(query) {
    for (std::size_t i = 0; i < query.features.size(); ++i) {
      coded_.push_back(coded_column(query.features[i], "x" + std::to_string(i), false, dialect));
    }
    if (query.target) coded_.push_back(coded_column(*query.target, "y", true, dialect));
    are_numbers_ = std::all_of(coded_.begin(), coded_.end(), [](const CodedColumn& column) {
      return column.is_target || column.coder;
    });
    write(dialect, table, columns);
  }

  [[nodiscard]] const std::string& sql() const { return sql_; }
  [[nodiscard]] const std::vector<Batch::Kind>& kinds() const { return kinds_; }
  // Returns the length of a record: a code or a place in a list for each feature, then that of the
  // target, then zeros up to a multiple of eight bytes.
  [[nodiscard]] std::size_t record() const { return (query_.features.size() + 4) / 4 * 4; }

  // Writes the records of the rows, and for each row whether it is an example.
  void read(const Batch& batch, std::vector<std::int16_t>& records,
            std::vector<char>& is_example) const {
    records.assign(batch.rows * record(), 0);
    is_example.assign(batch.rows, 1);
    const std::size_t first = query_.unit ? 1 : 0;
    for (std::size_t c = 0; c < coded_.size(); ++c) {
      const Batch::Column& column = batch.columns[first + c];
      std::int16_t* codes = records.data() + c;
      if (coded_[c].coder) {
        read_numbers(coded_[c], column, batch.rows, codes, is_example);
      } else {
        read_places(coded_[c], column, batch.rows, codes, is_example);
      }
    }
  }

  // Adds the example of a record.
  void add(Examples::Builder& builder, std::span<const std::int16_t> row) const {
    const auto features = builder.add(row[query_.features.size()]);
    if (are_numbers_) {
      std::copy_n(row.begin(), features.size(), features.begin());
      return;
    }
    std::size_t at = 0;
    for (std::size_t c = 0; c < query_.features.size(); ++c) {
      if (coded_[c].coder) {
        features[at++] = row[c];
        continue;
      }
      if (row[c] != no_value) features[at + static_cast<std::size_t>(row[c])] = feature_one;
      at += coded_[c].literals.size();
    }
  }

 private:
  // The clamp of features is in Coder::code().
  void read_numbers(const CodedColumn& coded, const Batch::Column& column, std::size_t rows,
                    std::int16_t* codes, std::vector<char>& is_example) const {
    const Coder coder = *coded.coder;
    const std::size_t width = record();
    const auto* numbers = column.numbers;
    std::size_t missing = 0;
    for (std::size_t i = 0; i < rows; ++i) {
      const double cleaned = (numbers[i] + expression::grain) - expression::grain;
      codes[i * width] = coder.code(cleaned);
      missing += std::abs(numbers[i]) < expression::most_real ? 0 : 1;
    }
    if (missing == 0 && column.validity == nullptr) return;
    for (std::size_t i = 0; i < rows; ++i) {
      if (!column.is_null(i) && std::abs(numbers[i]) < expression::most_real) continue;
      if (!coded.if_null) is_example[i] = 0;
      codes[i * width] = coded.if_null.value_or(0);
    }
  }

  void read_places(const CodedColumn& coded, const Batch::Column& column, std::size_t rows,
                   std::int16_t* codes, std::vector<char>& is_example) const {
    for (std::size_t i = 0; i < rows; ++i) {
      std::int16_t place = no_value;
      if (!column.is_null(i)) {
        place = static_cast<std::int16_t>(column.int64s[i]);
      } else if (coded.if_null) {
        place = *coded.if_null;
      } else {
        is_example[i] = 0;
      }
      if (coded.is_target && place == no_value) is_example[i] = 0;
      codes[i * record()] = place;
    }
  }

  // Writes the statement, in layers from the inside: the columns cleaned, and those that
  // read_numbers() cleans as they are stored; the unit, features and target; numbers and places.
  void write(Dialect dialect, const std::string& table, const std::vector<Column>& columns) {
    const auto& sql = data_detail::sql_dialect(dialect);
    std::string stored_prefix = "=";  // with this prefix, aliases of stored columns are unique
    const auto has_prefix = [&](const Column& column) {
      return column.name.starts_with(stored_prefix);
    };
    while (std::any_of(columns.begin(), columns.end(), has_prefix)) stored_prefix += "=";

    Select stored{.columns = {}, .from = data_detail::EngineTable{table}};
    Select fields{.columns = {}, .from = data_detail::EngineTable{}};
    Select select{.columns = {}, .from = data_detail::EngineTable{}};
    if (query_.unit) write_unit(dialect, fields, select);
    for (const CodedColumn& coded : coded_) {
      const Expression& value = coded.feature->field.value;
      if (value.type() == Type::real && is_stored(value)) {
        const std::string name = stored_prefix + coded.name;
        const std::string column = value.columns().front();
        stored.columns.push_back(alias(quoted_identifier(sql, column), sql, name));
        fields.columns.push_back(alias(quoted_identifier(sql, name), coded.name));
      } else {
        fields.columns.push_back(alias(trusted_sql(value.sql(dialect)), coded.name));
      }
      select.columns.push_back(number_or_place(coded, sql));
      kinds_.push_back(coded.coder ? Batch::Kind::number : Batch::Kind::whole);
    }
    if (query_.where) fields.where.push_back(trusted_sql(query_.where->sql(dialect)));
    const std::vector<std::string> used = cleaned_columns();
    for (const Column& column : columns) {
      if (std::find(used.begin(), used.end(), column.name) == used.end()) continue;
      stored.columns.push_back(alias(trusted_sql(cleaned(column, dialect)), sql, column.name));
    }
    if (stored.columns.empty()) stored.columns.push_back(alias(integer(1), "one"));
    fields.from = subquery(stored, "c");
    select.from = subquery(fields, "n");
    sql_ = print(select, sql);
  }

  void write_unit(Dialect dialect, Select& fields, Select& select) {
    const SqlExpression u = identifier("n", "u");
    const bool is_integer = query_.unit->type() == Type::integer;
    fields.columns.push_back(alias(trusted_sql(query_.unit->sql(dialect)), "u"));
    select.columns.push_back(is_integer ? u
                                        : cast(data_detail::sql_dialect(dialect), u, Type::text));
    select.where.push_back(is_not_null(u));
    kinds_.push_back(is_integer ? Batch::Kind::whole : Batch::Kind::text);
  }

  // Returns the columns that the statement reads in their cleaned form.
  [[nodiscard]] std::vector<std::string> cleaned_columns() const {
    std::vector<std::string> used;
    const auto use = [&](const Expression& expression) {
      for (const std::string& name : expression.columns()) used.push_back(name);
    };
    if (query_.unit) use(*query_.unit);
    for (const CodedColumn& coded : coded_) {
      const Expression& value = coded.feature->field.value;
      if (value.type() != Type::real || !is_stored(value)) use(value);
    }
    if (query_.where) use(*query_.where);
    return used;
  }

  // Returns a number as a double, or the place of a value in its list, -1 if it is not in it.
  static SqlExpression number_or_place(const CodedColumn& coded,
                                       const data_detail::SqlDialect& sql) {
    const SqlExpression x = identifier("n", coded.name);
    if (coded.coder) {
      const bool is_integer = coded.feature->field.value.type() == Type::integer;
      return is_integer ? cast(sql, x, Type::real) : x;
    }
    data_detail::CaseBranches places;
    for (std::size_t i = 0; i < coded.literals.size(); ++i) {
      places.emplace_back(trusted_sql(coded.literals[i]), integer(static_cast<std::int64_t>(i)));
    }
    const SqlExpression unlisted = case_when({{is_not_null(x), integer(no_value)}});
    return cast(sql, case_of(x, places, unlisted), Type::integer);
  }

  const ExampleQuery& query_;
  std::vector<CodedColumn> coded_;
  bool are_numbers_ = false;  // no feature is a category
  std::vector<Batch::Kind> kinds_;
  std::string sql_;
};

UnitRows::Unit kind_of(const std::optional<Expression>& unit) {
  if (!unit) return UnitRows::Unit::row;
  return unit->type() == Type::integer ? UnitRows::Unit::whole : UnitRows::Unit::text;
}

// Adds the examples of a batch to the rows of their units.
class BatchTaker {
 public:
  BatchTaker(const ExampleReader& reader, UnitRows::Unit unit, RowBuckets& rows)
      : reader_(reader), unit_(unit), rows_(rows) {}

  void operator()(const Batch& batch) {
    reader_.read(batch, records_, is_example_);
    const Batch::Column& units = batch.columns.front();
    for (std::size_t i = 0; i < batch.rows; ++i) {
      if (is_example_[i] == 0) continue;
      const std::span<const std::int16_t> row{records_.data() + i * reader_.record(),
                                              reader_.record()};
      switch (unit_) {
        case UnitRows::Unit::row: rows_.add(row); break;
        case UnitRows::Unit::whole: rows_.add(row, units.int64s[i]); break;
        case UnitRows::Unit::text: rows_.add(row, units.texts[i]); break;
      }
    }
  }

 private:
  const ExampleReader& reader_;
  UnitRows::Unit unit_;
  RowBuckets& rows_;
  std::vector<std::int16_t> records_;
  std::vector<char> is_example_;
};

Examples images_of(const IdxSource& source, const ExampleQuery& query, const Limits& limits,
                   const Progress& progress) {
  if (!query.features.empty() || query.where || query.unit) {
    throw InvalidValue(
        "this source is images: the query reads pixels, and each image is a unit; "
        "leave features, where and unit empty");
  }
  if (*query.image != ImageSize{source.height, source.width}) {
    throw InvalidValue("the query reads images of " + std::to_string(query.image->height) + " x " +
                       std::to_string(query.image->width) + " pixels, and the source has " +
                       std::to_string(source.height) + " x " + std::to_string(source.width));
  }
  const auto* labels = query.target ? std::get_if<OneOf>(&query.target->encoding) : nullptr;
  if (query.target && labels == nullptr) {
    throw InvalidValue("the label of an image is a class: list its values instead of bounds");
  }
  return data_detail::read_images(source, labels != nullptr ? labels->values : std::vector<Value>{},
                                  limits, progress);
}

void require_kind_of_source(bool is_images, const ExampleQuery& query) {
  if (is_images == query.image.has_value()) return;
  throw InvalidValue(
      is_images ? "this source is images: ask for its image instead of features"
                : "the query reads an image, and this source is a table: ask for features");
}

}  // namespace

Examples read_examples(Engine& engine, const std::vector<Column>& columns,
                       const ExampleQuery& query, const BoundingKey& key, const Limits& limits,
                       const Progress& progress) {
  if (query.rows_a_unit < 1) {
    throw InvalidValue("rows_a_unit = " + std::to_string(query.rows_a_unit) +
                       " is not allowed: a unit needs at least 1 row");
  }
  const auto* images = dynamic_cast<const data_detail::ImageEngine*>(&engine);
  require_kind_of_source(images != nullptr, query);
  if (images != nullptr) return images_of(images->source(), query, limits, progress);
  if (query.features.empty()) throw InvalidValue("the query needs at least one feature");

  const ExampleReader reader(engine.dialect(), engine.table(), columns, query);
  const std::int64_t memory = limits.memory > 0 ? limits.memory : machine_memory() / 5 * 4;
  const UnitRows::Unit unit = kind_of(query.unit);
  RowBuckets rows(reader.record(), unit, query.rows_a_unit, key,
                  static_cast<std::size_t>(memory / 4));
  Examples::Builder builder(width_of(query.features), memory / 2, limits.scratch);

  BatchTaker taker(reader, unit, rows);
  const BatchCallback take = [&](const Batch& batch) { taker(batch); };
  const auto add_example = [&](bool is_first, std::span<const std::int16_t> row) {
    if (is_first && unit != UnitRows::Unit::row) builder.next_unit();
    reader.add(builder, row);
  };

  // The ranges of hashes that are done, and this pass's share of its range, as a part of 2^64.
  double reported = 0;
  const Progress report = [&](double share_of_pass) {
    const auto first = static_cast<double>(rows.range().first);
    const double width = static_cast<double>(rows.range().last) - first;
    const double done = (first + width * share_of_pass) * 0x1p-64;
    reported = std::max(reported, std::min(1.0, done));
    return progress(reported);
  };

  for (bool is_last = false; !is_last;) {
    try {
      engine.stream(reader.sql(), reader.kinds(), take, progress ? report : Progress{});
    } catch (const StreamRestart&) {
      rows.start_again();
      continue;
    }
    is_last = rows.finish_pass(add_example);
  }
  return std::move(builder).build();
}

}  // namespace sotto
