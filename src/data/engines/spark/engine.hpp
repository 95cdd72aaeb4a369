// Spark as an engine: its address, a session that runs queries, and the table.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sotto/data/engine.hpp"

namespace sotto::data_detail {

/// The address of a Spark Connect server.
struct SparkAddress {
  std::string host;
  int port = 15002;
  bool tls = false;
  std::string user = "sotto";
  std::vector<std::pair<std::string, std::string>> headers;  ///< sent with every call
};
/// Parses "sc://HOST:PORT/;name=value;…". Throws InvalidValue if the text is not of this form,
/// holds a token, or leads to another machine without TLS.
SparkAddress spark_address(const std::string& connection);

/// A session of Spark.
class SparkRunner {
 public:
  virtual ~SparkRunner() = default;
  /// Runs one SELECT and calls `take` for each part of the answer, a complete Arrow stream. Throws
  /// EngineError.
  virtual void run(const std::string& sql, const std::function<void(std::string_view)>& take,
                   const Progress& progress) = 0;
};

/// Opens a session of Spark Connect by the program sotto-spark, and creates the temporary view
/// `view` of the source's table. `program`: its path; empty: in the folder of the running program,
/// then /usr/local/bin and /usr/bin. Throws InvalidValue or EngineError.
std::unique_ptr<SparkRunner> connect_to_spark(const SparkSource& source, const std::string& view,
                                              const std::filesystem::path& program);

/// Returns the source's table as Spark SQL. Throws InvalidValue if the source is not valid.
std::string spark_relation(const SparkSource& source);

/// Returns the columns of a view, each with Spark's name of its type.
std::vector<std::pair<std::string, std::string>> spark_columns(SparkRunner& runner,
                                                               const std::string& view);

/// Opens an engine on a view. `unreadable_flags`: as in engines.hpp.
std::unique_ptr<Engine> open_spark(std::unique_ptr<SparkRunner> runner, const std::string& view,
                                   const std::vector<Column>& columns,
                                   const std::vector<std::string>& unreadable_flags = {},
                                   bool trim = false);

}  // namespace sotto::data_detail
