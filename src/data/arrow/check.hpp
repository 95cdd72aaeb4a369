// Validates Arrow C data from another library: lengths, offsets and buffers must be consistent and
// readable.
#pragma once

#include "data/arrow/abi.hpp"

namespace sotto::data_detail {

/// Throws EngineError unless the stream has its functions and was not released.
void require_stream(const ArrowArrayStream* stream);

/// Throws InvalidValue unless the schema is that of a table, EngineError if it is incomplete.
void require_schema(const ArrowSchema& schema);

/// Throws EngineError unless the batch has the schema's columns, with consistent lengths and
/// offsets.
void require_batch(const ArrowSchema& schema, const ArrowArray& batch);

/// Throws EngineError unless the buffers of these columns are present and in memory that this
/// process may read.
void require_buffers(const ArrowTable::State& table, const std::vector<ArrowColumn>& columns);

/// Stops an endless stream. add() throws EngineError when the stream has more rows or batches than
/// a table may have, or has used half of the memory.
class StreamLimit {
 public:
  StreamLimit();
  void add(const ArrowArray& batch);

 private:
  std::int64_t rows_ = 0;
  std::int64_t batches_ = 0;
  std::uint64_t before_;
  std::uint64_t most_;
};

}  // namespace sotto::data_detail
