#include <algorithm>
#include <cmath>
#include <utility>

#include "data/examples/codes.hpp"
#include "data/sql/dialect.hpp"
#include "data/expressions/tree.hpp"
#include "data/engines/images/idx.hpp"
#include "data/engines/images/engine.hpp"
#include "data/examples/row_buckets.hpp"
#include "sotto/core/errors.hpp"
#include "core/api/join.hpp"
#include "core/api/memory.hpp"
#include "sotto/data/examples.hpp"

// The engine reads the rows, cleans them, and gives the numbers and the places of values in their lists; codes are made of them here, by one
// formula for all engines. A row is looked at by itself.
namespace sotto {
namespace {

using data_detail::Coder;
using data_detail::RowBuckets;
using data_detail::UnitRows;

constexpr std::int16_t no_value = -1;  // of the list
constexpr std::size_t most_values = 32767;

bool is_stored(const Expression& expression) {
  const auto names = expression.columns();
  return names.size() == 1 && (expression.text() == names.front() || expression.text() == sotto::quoted(names.front()));
}

// One column of the stream and what becomes of it: a code, or a place in the list.
struct CodedColumn {
  const Feature* feature;
  std::string name;                   // of the column in the statement
  std::optional<Coder> coder;         // nothing: a category
  std::vector<std::string> literals;  // of the category
  std::optional<std::int16_t> if_null;
  bool is_target;
};

double number_of(const Value& value) {
  const auto* whole = std::get_if<std::int64_t>(&value);
  const auto* broken = std::get_if<double>(&value);
  const double x = whole != nullptr ? static_cast<double>(*whole) : broken != nullptr ? *broken : std::nan("");
  if (!(std::abs(x) < expression::most_real)) throw InvalidValue("what stands for NULL must be a number here");
  return x;
}

CodedColumn source_of(const Feature& feature, std::string name, bool is_target, Dialect dialect) {
  CodedColumn source{&feature, std::move(name), {}, {}, {}, is_target};
  const Type type = feature.field.value.type();
  if (const auto* scale = std::get_if<Scaled>(&feature.encoding)) {
    if (type != Type::integer && type != Type::real) throw InvalidValue("\"" + feature.name + "\" is no number: only numbers have bounds");
    require_sound(*scale);
    source.coder.emplace(*scale);
    if (feature.field.if_null) source.if_null = code_of(number_of(*feature.field.if_null), *scale);
    return source;
  }
  if (type == Type::real) throw InvalidValue("\"" + feature.name + "\" is a real number: give its bounds, or derive a whole number");
  const auto& values = std::get<OneOf>(feature.encoding).values;
  if (values.empty() || values.size() > most_values) throw InvalidValue("\"" + feature.name + "\" needs from 1 to 32767 values");
  for (const Value& value : values) source.literals.push_back(literal(value, type, dialect));
  auto sorted = source.literals;
  std::sort(sorted.begin(), sorted.end());
  if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) throw InvalidValue("\"" + feature.name + "\" has a value twice");
  if (feature.field.if_null) {
    const auto found = std::find(source.literals.begin(), source.literals.end(), literal(*feature.field.if_null, type, dialect));
    source.if_null = found == source.literals.end() ? no_value : static_cast<std::int16_t>(found - source.literals.begin());
  }
  return source;
}

class Reading {
 public:
  Reading(Dialect dialect, const std::string& table, const std::vector<Column>& columns, const ExampleQuery& query) : query_(query) {
    for (std::size_t i = 0; i < query.features.size(); ++i) sources_.push_back(source_of(query.features[i], "x" + std::to_string(i), false, dialect));
    if (query.target) sources_.push_back(source_of(*query.target, "y", true, dialect));
    are_numbers_ = std::all_of(sources_.begin(), sources_.end(), [](const CodedColumn& column) { return column.is_target || column.coder; });
    write(dialect, table, columns);
  }

  [[nodiscard]] const std::string& sql() const { return sql_; }
  [[nodiscard]] const std::vector<Batch::Kind>& kinds() const { return kinds_; }
  /// A code, or a place in a list, for each feature; then the target's, and zeros up to a multiple of eight bytes.
  [[nodiscard]] std::size_t record() const { return (query_.features.size() + 4) / 4 * 4; }

  /// The rows' records one after the other, and which of them stay.
  void read(const Batch& batch, std::vector<std::int16_t>& records, std::vector<char>& stays) const {
    records.assign(batch.rows * record(), 0);
    stays.assign(batch.rows, 1);
    const std::size_t first = query_.unit ? 1 : 0;
    for (std::size_t c = 0; c < sources_.size(); ++c) {
      const CodedColumn& source = sources_[c];
      const Batch::Column& column = batch.columns[first + c];
      std::int16_t* codes = records.data() + c;
      if (source.coder) {
        read_numbers(source, column, batch.rows, codes, stays);
      } else {
        read_places(source, column, batch.rows, codes, stays);
      }
    }
  }

  void add(Examples::Maker& maker, std::span<const std::int16_t> row) const {
    const auto features = maker.add(row[query_.features.size()]);
    if (are_numbers_) {
      std::copy_n(row.begin(), features.size(), features.begin());
      return;
    }
    std::size_t at = 0;
    for (std::size_t c = 0; c < query_.features.size(); ++c) {
      if (sources_[c].coder) {
        features[at++] = row[c];
        continue;
      }
      if (row[c] != no_value) features[at + static_cast<std::size_t>(row[c])] = feature_one;
      at += sources_[c].literals.size();
    }
  }

 private:
  void read_numbers(const CodedColumn& source, const Batch::Column& column, std::size_t rows, std::int16_t* codes, std::vector<char>& stays) const {
    const Coder coder = *source.coder;
    const std::size_t width = record();
    const auto* numbers = column.numbers;
    std::size_t missing = 0;
    for (std::size_t i = 0; i < rows; ++i) {
      const double cleaned = (numbers[i] + expression::grain) - expression::grain;
      codes[i * width] = coder.code(cleaned);
      missing += std::abs(numbers[i]) < expression::most_real ? 0 : 1;
    }
    if (missing == 0 && column.known == nullptr) return;
    for (std::size_t i = 0; i < rows; ++i) {
      if (!column.is_null(i) && std::abs(numbers[i]) < expression::most_real) continue;
      if (!source.if_null) stays[i] = 0;
      codes[i * width] = source.if_null.value_or(0);
    }
  }

  void read_places(const CodedColumn& source, const Batch::Column& column, std::size_t rows, std::int16_t* codes, std::vector<char>& stays) const {
    for (std::size_t i = 0; i < rows; ++i) {
      std::int16_t place = no_value;
      if (!column.is_null(i)) {
        place = static_cast<std::int16_t>(column.wholes[i]);
      } else if (source.if_null) {
        place = *source.if_null;
      } else {
        stays[i] = 0;
      }
      if (source.is_target && place == no_value) stays[i] = 0;
      codes[i * record()] = place;
    }
  }

  // From the inside: the columns cleaned, and beside them as they are stored those that need no more cleaning than read_numbers() does; the fields;
  // numbers and places.
  void write(Dialect dialect, const std::string& table, const std::vector<Column>& columns) {
    const auto& sql = data_detail::sql_dialect(dialect);
    std::string stored = "=";
    const auto is_taken = [&](const Column& column) { return column.name.starts_with(stored); };
    while (std::any_of(columns.begin(), columns.end(), is_taken)) stored += "=";
    std::vector<std::string> used;
    std::vector<std::string> inner;
    std::vector<std::string> fields;
    std::vector<std::string> selected;
    const auto use = [&](const Expression& expression) {
      for (const std::string& name : expression.columns()) used.push_back(name);
    };
    if (query_.unit) {
      use(*query_.unit);
      fields.push_back(query_.unit->sql(dialect) + " AS u");
      const bool is_whole = query_.unit->type() == Type::integer;
      selected.emplace_back(is_whole ? "n.u" : sql.cast("n.u", Type::text));
      kinds_.push_back(is_whole ? Batch::Kind::whole : Batch::Kind::text);
    }
    for (const CodedColumn& source : sources_) {
      const Expression& value = source.feature->field.value;
      const std::string name = "n." + source.name;
      if (value.type() == Type::real && is_stored(value)) {
        const std::string alias = sql.name(stored + source.name);
        inner.push_back(sql.name(value.columns().front()) + " AS " + alias);
        fields.push_back(alias + " AS " + source.name);
      } else {
        use(value);
        fields.push_back(value.sql(dialect) + " AS " + source.name);
      }
      kinds_.push_back(source.coder ? Batch::Kind::number : Batch::Kind::whole);
      if (source.coder) {
        selected.push_back(value.type() == Type::integer ? sql.cast(name, Type::real) : name);
        continue;
      }
      std::string place = "CAST(CASE " + name;
      for (std::size_t i = 0; i < source.literals.size(); ++i) place += " WHEN " + source.literals[i] + " THEN " + std::to_string(i);
      selected.push_back(place + " ELSE CASE WHEN " + name + " IS NOT NULL THEN -1 END END AS BIGINT)");
    }
    if (query_.where) use(*query_.where);
    for (const Column& column : columns) {
      if (std::find(used.begin(), used.end(), column.name) != used.end()) inner.push_back(cleaned(column, dialect) + " AS " + sql.name(column.name));
    }
    if (inner.empty()) inner.emplace_back("1 AS one");
    sql_ = "SELECT " + join(selected) + " FROM (SELECT " + join(fields) + " FROM (SELECT " + join(inner) + " FROM " + table + ") AS c";
    if (query_.where) sql_ += " WHERE " + query_.where->sql(dialect);
    sql_ += ") AS n";
    if (query_.unit) sql_ += " WHERE n.u IS NOT NULL";
  }

  const ExampleQuery& query_;
  std::vector<CodedColumn> sources_;
  bool are_numbers_ = false;  // all features
  std::vector<Batch::Kind> kinds_;
  std::string sql_;
};

UnitRows::Unit kind_of(const std::optional<Expression>& unit) {
  if (!unit) return UnitRows::Unit::row;
  return unit->type() == Type::integer ? UnitRows::Unit::whole : UnitRows::Unit::text;
}

}  // namespace

namespace {

Examples images_of(const IdxSource& source, const ExampleQuery& query, const Limits& limits, const Progress& progress) {
  if (!query.features.empty() || query.where || query.unit) throw InvalidValue("of images the pixels are read, each image a unit");
  if (*query.image != ImageSize{source.height, source.width}) throw InvalidValue("the images have another size");
  const auto* labels = query.target ? std::get_if<OneOf>(&query.target->encoding) : nullptr;
  if (query.target && labels == nullptr) throw InvalidValue("the label of an image is a class: give its values");
  return data_detail::read_images(source, labels != nullptr ? labels->values : std::vector<Value>{}, limits, progress);
}

}  // namespace

Examples read_examples(Engine& engine, const std::vector<Column>& columns, const ExampleQuery& query, const BoundingKey& key, const Limits& limits,
                       const Progress& progress) {
  if (query.rows_a_unit < 1) throw InvalidValue("a unit's rows must be at least 1");
  const auto* images = dynamic_cast<const data_detail::ImageEngine*>(&engine);
  if ((images != nullptr) != query.image.has_value()) {
    throw InvalidValue(images != nullptr ? "of images the pixels are read, and nothing else" : "the data are no images");
  }
  if (images != nullptr) return images_of(images->source(), query, limits, progress);
  if (query.features.empty()) throw InvalidValue("there is no feature to read");
  const Reading reading(engine.dialect(), engine.table(), columns, query);
  const std::int64_t memory = limits.memory > 0 ? limits.memory : machine_memory() / 5 * 4;
  const UnitRows::Unit unit = kind_of(query.unit);
  RowBuckets rows(reading.record(), unit, query.rows_a_unit, key, static_cast<std::size_t>(memory / 4));
  Examples::Maker maker(width_of(query.features), memory / 2, limits.scratch);
  std::vector<std::int16_t> records;
  std::vector<char> stays;
  const auto take = [&](const Batch& batch) {
    reading.read(batch, records, stays);
    const Batch::Column& units = batch.columns.front();
    for (std::size_t i = 0; i < batch.rows; ++i) {
      if (stays[i] == 0) continue;
      const std::span<const std::int16_t> row{records.data() + i * reading.record(), reading.record()};
      switch (unit) {
        case UnitRows::Unit::row: rows.add(row); break;
        case UnitRows::Unit::whole: rows.add(row, units.wholes[i]); break;
        case UnitRows::Unit::text: rows.add(row, units.texts[i]); break;
      }
    }
  };
  const auto give = [&](bool is_first, std::span<const std::int16_t> row) {
    if (is_first && unit != UnitRows::Unit::row) maker.next_unit();
    reading.add(maker, row);
  };
  double told = 0;
  const Progress tell = [&](double of_look) {
    const auto first = static_cast<double>(rows.range().first);
    const double done = (first + (static_cast<double>(rows.range().last) - first) * of_look) * 0x1p-64;
    told = std::max(told, std::min(1.0, done));
    return progress(told);
  };
  for (bool is_last = false; !is_last;) {
    try {
      engine.stream(reading.sql(), reading.kinds(), take, progress ? tell : Progress{});
    } catch (const AskAgain&) {
      rows.start_again();
      continue;
    }
    is_last = rows.give(give);
  }
  return std::move(maker).made();
}

}  // namespace sotto
