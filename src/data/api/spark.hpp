// Spark SQL as an engine, on a session that the caller has: a DataFrame in hand. Tables that a data file names are reached by open_engine(source).
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sotto/data/engine.hpp"
#include "sotto/data/schema.hpp"

namespace sotto {

/// Runs one SELECT in a session of Spark 4, and gives what comes in parts, each a whole stream of Arrow's IPC format. The session's time zone must be
/// UTC, it must be in ANSI mode and tell names by their case (`spark_settings`). Throws EngineError.
using SparkQuery = std::function<void(const std::string& sql, const std::function<void(std::string_view arrow)>& take, const Progress& progress)>;

/// The settings under which sotto's statements mean what they should, as names and values.
const std::vector<std::pair<std::string, std::string>>& spark_settings();

/// Spark on the rows of a temporary view. InvalidValue if a declared column is not there or is stored as a type that does not fit; EngineError.
std::unique_ptr<Engine> open_engine(SparkQuery query, const std::string& view, const std::vector<Column>& columns, bool trim = false);

}  // namespace sotto
