// Checks constants in expressions against the declared values of columns. A constant that no value
// equals is a spelling mistake, which would otherwise silently count nothing.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sotto/data/expression.hpp"
#include "sotto/data/schema.hpp"

namespace sotto {

/// The declared values of columns, by column name. A column that is absent may have any value.
using ListedValues = std::map<std::string, std::vector<Value>>;

/// A comparison with a constant that the other side never equals.
struct UnlistedConstant {
  std::string column;  ///< the first column on the other side
  Value constant;
  std::vector<Value> values;  ///< all values that the other side can have
};

/// Returns the first comparison of a column that has declared values with a constant that is not
/// one of them, if there is one. It checks =, <>, IN and CASE x WHEN, and for texts also <, <=,
/// >, >= and BETWEEN. COALESCE, LEAST, GREATEST and CASE have the values of their parts.
std::optional<UnlistedConstant> unlisted_constant(const Expression& expression,
                                                  const ListedValues& listed);

/// Returns all values other than NULL that the expression can have, if they follow from constants
/// and declared values alone.
std::optional<std::vector<Value>> values_of(const Expression& expression,
                                            const ListedValues& listed);

}  // namespace sotto
