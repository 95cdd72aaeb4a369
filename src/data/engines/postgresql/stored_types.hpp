// The types of PostgreSQL's columns, and SQL that reads them as declared types.
#pragma once

#include <string>
#include <vector>

#include "sotto/data/schema.hpp"

namespace sotto::data_detail {

/// Returns the stored types that fit a declared type: a cast of their values never fails.
std::vector<std::string> postgresql_types(Type type);
/// Whether the stored type fits the declared type.
bool fits_in_postgresql(const std::string& stored, Type type);
/// Returns SQL for a stored column as its declared type, NULL if a value is not of this type. It
/// fails for no value.
std::string postgresql_value(const Column& column, const std::string& stored);

}  // namespace sotto::data_detail
