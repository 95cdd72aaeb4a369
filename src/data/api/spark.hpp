// Spark SQL as an engine on a session that the caller owns, for a DataFrame in a program. A table
// that a data file names is opened by open_engine(source).
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sotto/data/engine.hpp"
#include "sotto/data/schema.hpp"

namespace sotto {

/// Runs one SELECT in a session of Spark 4 and calls `take` for each part of the answer, which is a
/// complete stream of Arrow's IPC format. The session must have the settings of spark_settings():
/// time zone UTC, ANSI mode, case-sensitive names. Throws EngineError.
using SparkQuery = std::function<void(const std::string& sql,
                                      const std::function<void(std::string_view arrow)>& take,
                                      const Progress& progress)>;

/// Returns the session settings that sotto's statements need, as pairs of name and value.
const std::vector<std::pair<std::string, std::string>>& spark_settings();

/// Opens Spark on the rows of a temporary view. `trim` removes spaces and tabs at both ends of
/// texts. Throws InvalidValue if a declared column is absent or stored as a type that does not fit,
/// and EngineError.
std::unique_ptr<Engine> open_engine(SparkQuery query, const std::string& view,
                                    const std::vector<Column>& columns, bool trim = false);

}  // namespace sotto
