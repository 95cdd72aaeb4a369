// Images as an engine: a table of their labels.
#pragma once

#include <memory>
#include <vector>

#include "sotto/data/engine.hpp"

namespace sotto::data_detail {

/// A table with one column, the label, for statistics. DuckDB holds it and is loaded by the first
/// statement. Only training reads the pixels, without DuckDB.
class ImageEngine final : public Engine {
 public:
  /// Throws InvalidValue unless there is one integer column and the files have the declared size,
  /// EngineError if they cannot be read.
  ImageEngine(IdxSource source, std::vector<Column> columns, Limits limits);
  ~ImageEngine() override;
  [[nodiscard]] const IdxSource& source() const { return source_; }

  [[nodiscard]] Dialect dialect() const override { return Dialect::duckdb; }
  [[nodiscard]] std::string table() const override { return labels().table(); }
  [[nodiscard]] bool scan_is_expensive() const override { return labels().scan_is_expensive(); }
  [[nodiscard]] std::int64_t memory() const override { return labels().memory(); }
  Rows query(const std::string& sql, const Progress& progress) override {
    return labels().query(sql, progress);
  }
  void stream(const std::string& sql, const std::vector<Batch::Kind>& kinds,
              const BatchCallback& take, const Progress& progress) override {
    labels().stream(sql, kinds, take, progress);
  }

 private:
  Engine& labels() const;
  IdxSource source_;
  std::vector<Column> columns_;
  Limits limits_;
  mutable int file_ = -1;  // the labels as a CSV file in memory
  mutable std::unique_ptr<Engine> labels_;
};

}  // namespace sotto::data_detail
