// The Spark server that tests/system/spark/run.py started, if it did. Its address is in
// SOTTO_SPARK.
#pragma once

#include <cstdlib>
#include <string>

#include "sotto/data/engine.hpp"

namespace sotto {

struct SparkServer {
  static constexpr const char* missing = "no Spark server; type: ./dev test spark";
  static std::string connection() {
    const char* address = std::getenv("SOTTO_SPARK");
    return address == nullptr ? "" : address;
  }
  static bool is_there() { return !connection().empty(); }
  static SparkSource table(const std::string& name) {
    return {.connection = connection(), .table = name, .path = ""};
  }
  static SparkSource parquet(const std::string& path) {
    return {.connection = connection(), .table = "", .path = path};
  }
};

}  // namespace sotto
