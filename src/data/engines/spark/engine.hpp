// Spark SQL as an engine: what runs a query, and the table that it is about.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sotto/data/engine.hpp"

namespace sotto::data_detail {

/// Where Spark Connect listens, read from "sc://HOST:PORT/;name=value;…".
struct SparkAddress {
  std::string host;
  int port = 15002;
  bool tls = false;
  std::string user = "sotto";
  std::vector<std::pair<std::string, std::string>> headers;  ///< that go with every call
};
/// InvalidValue for what is no such text, holds a token, or leads to another machine without TLS.
SparkAddress spark_address(const std::string& connection);

/// A session of Spark.
class SparkRunner {
 public:
  virtual ~SparkRunner() = default;
  /// Runs one SELECT. What comes is given out in parts, each a whole Arrow stream. EngineError.
  virtual void run(const std::string& sql, const std::function<void(std::string_view)>& take, const Progress& progress) = 0;
};

/// A session of Spark Connect, by the program sotto-spark, in which `view` stands for the source's table as it is found now. `program`: its path;
/// empty: beside the running program, or in /usr/local/bin or /usr/bin.
std::unique_ptr<SparkRunner> connect_to_spark(const SparkSource& source, const std::string& view, const std::filesystem::path& program);

/// The source's table as SQL of Spark's.
std::string spark_relation(const SparkSource& source);

/// The columns of a view, with Spark's names of their types.
std::vector<std::pair<std::string, std::string>> spark_columns(SparkRunner& runner, const std::string& view);

std::unique_ptr<Engine> open_spark(std::unique_ptr<SparkRunner> runner, const std::string& view, const std::vector<Column>& columns,
                                   const std::vector<std::string>& marks = {}, bool trim = false);

}  // namespace sotto::data_detail
