// Rows as PostgreSQL's COPY writes them in its binary format.
#pragma once

#include <string_view>
#include <vector>

#include "sotto/data/engine.hpp"

namespace sotto::data_detail {

/// Takes its messages apart and hands the rows on, some thousands at a time. std::logic_error for what is no such message.
class CopiedRows {
 public:
  CopiedRows(const std::vector<Batch::Kind>& kinds, const Taker& take);
  void add(std::string_view message);
  void finish();

 private:
  struct Column {
    std::vector<double> numbers;
    std::vector<std::int64_t> wholes;
    std::vector<std::size_t> ends;  // of the texts, in `bytes`
    std::string bytes;
    std::vector<std::string_view> texts;
    std::vector<std::uint64_t> known;
  };
  void give();

  const std::vector<Batch::Kind>& kinds_;
  const Taker& take_;
  std::vector<Column> columns_;
  std::size_t rows_ = 0;
  bool has_begun_ = false;
  bool has_ended_ = false;
};

}  // namespace sotto::data_detail
