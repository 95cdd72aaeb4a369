// Reads the binary format of PostgreSQL's COPY.
#pragma once

#include <string_view>
#include <vector>

#include "sotto/data/engine.hpp"

namespace sotto::data_detail {

/// Parses the messages of a COPY and passes its rows on in batches of 4096. Throws std::logic_error
/// for messages that are not of this format.
class CopyReader {
 public:
  CopyReader(const std::vector<Batch::Kind>& kinds, const BatchCallback& take);
  void add(std::string_view message);
  /// Passes the last batch on.
  void finish();

 private:
  struct Column {
    std::vector<double> numbers;
    std::vector<std::int64_t> int64s;
    std::vector<std::size_t> ends;  // where the texts end in `bytes`
    std::string bytes;
    std::vector<std::string_view> texts;
    std::vector<std::uint64_t> validity;
  };
  void pass_batch();

  const std::vector<Batch::Kind>& kinds_;
  const BatchCallback& take_;
  std::vector<Column> columns_;
  std::size_t rows_ = 0;
  bool has_begun_ = false;
  bool has_ended_ = false;
};

}  // namespace sotto::data_detail
