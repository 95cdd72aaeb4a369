// The engines, one function each.
#pragma once

#include "sotto/data/engine.hpp"

namespace sotto {

std::unique_ptr<Engine> open_duckdb(const FileSource& source, const std::vector<Column>& columns, const Limits& limits);
std::unique_ptr<Engine> open_postgresql(const PostgresSource& source, const std::vector<Column>& columns, const Limits& limits);

}  // namespace sotto
