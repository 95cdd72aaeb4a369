// The engine of images.
#pragma once

#include <memory>
#include <vector>

#include "sotto/data/engine.hpp"

namespace sotto::data_detail {

/// A table of one column, the label: what statistics can be asked of. It is DuckDB's, loaded at the first question. The pixels are read by learning
/// alone, which needs no DuckDB.
class ImageEngine final : public Engine {
 public:
  /// InvalidValue unless there is one column, of whole numbers, and the files fit what is declared; EngineError if they cannot be read.
  ImageEngine(IdxSource source, std::vector<Column> columns, Limits limits);
  ~ImageEngine() override;
  [[nodiscard]] const IdxSource& source() const { return source_; }

  [[nodiscard]] Dialect dialect() const override { return Dialect::duckdb; }
  [[nodiscard]] std::string table() const override { return labels().table(); }
  [[nodiscard]] bool is_dear_to_read() const override { return labels().is_dear_to_read(); }
  [[nodiscard]] std::int64_t memory() const override { return labels().memory(); }
  Rows query(const std::string& sql, const Progress& progress) override { return labels().query(sql, progress); }
  void stream(const std::string& sql, const std::vector<Batch::Kind>& kinds, const Taker& take, const Progress& progress) override {
    labels().stream(sql, kinds, take, progress);
  }

 private:
  Engine& labels() const;
  IdxSource source_;
  std::vector<Column> columns_;
  Limits limits_;
  mutable int file_ = -1;  // the labels as a file that has no name
  mutable std::unique_ptr<Engine> labels_;
};

}  // namespace sotto::data_detail
