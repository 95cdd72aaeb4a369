// Any text as a row expression: a ParseError whose column lies in the text or just behind it, or an
// expression whose text reads back as the same and whose SQL is sotto's own: known words and
// functions, closed quotes, no end of the statement, no comment, in linear size.
#include "sotto/data/expression.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "numbers.hpp"
#include "sotto/core/errors.hpp"

namespace {

using namespace sotto;

const std::vector<Column> columns{
    {"b", Type::boolean}, {"i", Type::integer}, {"r", Type::real},
    {"t", Type::text},    {"d", Type::date},    {"s", Type::timestamp},
    {"a\"b", Type::text}, {"end", Type::real},  {"ä", Type::integer}};

const std::set<std::string> known_words{"abs",
                                        "AND",
                                        "array",
                                        "AS",
                                        "BETWEEN",
                                        "BIGINT",
                                        "BOOLEAN",
                                        "CASE",
                                        "CAST",
                                        "COALESCE",
                                        "COLLATE",
                                        "DATE",
                                        "datediff",
                                        "day",
                                        "DECIMAL",
                                        "DOUBLE",
                                        "DOW",
                                        "dow",
                                        "DOW_ISO",
                                        "doy",
                                        "E",
                                        "ELSE",
                                        "END",
                                        "EXTRACT",
                                        "FALSE",
                                        "floor",
                                        "FROM",
                                        "GREATEST",
                                        "hour",
                                        "HUGEINT",
                                        "IN",
                                        "INTEGER",
                                        "IS",
                                        "isodow",
                                        "isoyear",
                                        "lambda",
                                        "LEAST",
                                        "list_filter",
                                        "minute",
                                        "month",
                                        "NOT",
                                        "NULL",
                                        "NULLIF",
                                        "NUMERIC",
                                        "OR",
                                        "PRECISION",
                                        "quarter",
                                        "r",
                                        "regexp_extract",
                                        "rint",
                                        "round",
                                        "second",
                                        "STRING",
                                        "substring",
                                        "TEXT",
                                        "THEN",
                                        "TIMESTAMP",
                                        "TIMESTAMP_NTZ",
                                        "to_char",
                                        "transform",
                                        "TRUE",
                                        "try_add",
                                        "TRY_CAST",
                                        "try_cast",
                                        "try_divide",
                                        "try_multiply",
                                        "try_subtract",
                                        "week",
                                        "WHEN",
                                        "X",
                                        "year",
                                        "YEAROFWEEK"};

std::size_t closing(const std::string& sql, std::size_t at, bool escapes) {
  const char quote = sql[at++];
  for (;; ++at) {
    require_that(at < sql.size() && sql[at] != '\0');
    if (escapes && sql[at] == '\\') {
      ++at;
    } else if (sql[at] == quote) {
      if (at + 1 >= sql.size() || sql[at + 1] != quote) return at;
      ++at;
    }
  }
}

void require_own(const std::string& sql, Dialect dialect) {
  int depth = 0;
  std::string word;
  for (std::size_t at = 0; at < sql.size(); ++at) {
    const char c = sql[at];
    if (std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_' ||
        (!word.empty() && std::isdigit(static_cast<unsigned char>(c)) != 0)) {
      word += c;
      continue;
    }
    if (!word.empty()) require_that(known_words.contains(word));
    const bool escapes = word == "E" && c == '\'';
    word.clear();
    const char name_quote = dialect == Dialect::spark ? '`' : '"';
    if (c == '\'' || c == name_quote) {
      const std::size_t end = closing(sql, at, escapes);
      const std::string inside = sql.substr(at + 1, end - at - 1);
      // a backslash in a plain text may be an escape to PostgreSQL
      if (c == '\'' && !escapes && dialect == Dialect::postgresql)
        require_that(inside.find('\\') == std::string::npos);
      // to Spark also a quote may be one, and ${…} is a variable
      if (c == '\'' && dialect == Dialect::spark)
        require_that(inside.find_first_of("\\'\"$`") == std::string::npos);
      if (c == name_quote && inside != "C" &&
          !(dialect == Dialect::spark && inside == "sotto value")) {
        require_that(std::any_of(columns.begin(), columns.end(), [&](const Column& column) {
          return quoted(column.name, dialect) == name_quote + inside + name_quote;
        }));
      }
      at = end;
      continue;
    }
    require_that(std::string("()[],+-*/<>=|.:0123456789 ").find(c) != std::string::npos);
    require_that(!(c == '-' && at + 1 < sql.size() && sql[at + 1] == '-') &&
                 !(c == '/' && at + 1 < sql.size() && sql[at + 1] == '*'));
    depth += c == '(' ? 1 : c == ')' ? -1 : 0;
    require_that(depth >= 0);
  }
  if (!word.empty()) require_that(known_words.contains(word));
  require_that(depth == 0);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string input(reinterpret_cast<const char*>(data), size);
  std::optional<Expression> expression;
  try {
    expression = Expression::parse(input, columns);
  } catch (const ParseError& error) {
    require_that(error.column() >= 1 && error.column() <= size + 1);
    return 0;
  }
  const std::string text = expression->text();
  const Expression again = Expression::parse(text, columns);
  require_that(again.text() == text && again.type() == expression->type() &&
               again.columns() == expression->columns());
  for (const Dialect dialect : {Dialect::duckdb, Dialect::postgresql, Dialect::spark}) {
    const std::string sql = expression->sql(dialect);
    require_that(again.sql(dialect) == sql);
    require_that(sql.size() <= 200 * (input.size() + 1));
    require_own(sql, dialect);
  }
  return 0;
}
