// Expressions beside the listed values of columns: a constant that no value equals is a misspelt one, and would count nothing without a word.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sotto/data/expression.hpp"
#include "sotto/data/schema.hpp"

namespace sotto {

/// The values that columns have, by the columns' names. A column that is not here may have any.
using ListedValues = std::map<std::string, std::vector<Value>>;

/// A comparison with a constant that is not among the values it is compared with.
struct UnlistedConstant {
  std::string column;  ///< the first one on the other side
  Value constant;
  std::vector<Value> values;  ///< that the other side has
};

/// The first comparison of a column that lists its values with a constant that is none of them: by =, <>, IN and CASE x WHEN, and of texts also
/// by <, <=, >, >= and BETWEEN. COALESCE, LEAST, GREATEST and the results of CASE have the values of their parts.
std::optional<UnlistedConstant> unlisted_constant(const Expression& expression, const ListedValues& listed);

/// The values that the expression can have beside NULL, where they follow from constants and listed values alone.
std::optional<std::vector<Value>> values_of(const Expression& expression, const ListedValues& listed);

}  // namespace sotto
