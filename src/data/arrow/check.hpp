// Validates Arrow C data from another library: lengths, offsets and buffers must be consistent and readable.
#pragma once

#include "data/arrow/abi.hpp"

namespace sotto::data_detail {

/// EngineError unless the stream has its functions and was not released.
void require_stream(const ArrowArrayStream* stream);

/// EngineError unless the schema is of a table, and it and its columns are complete.
void require_schema(const ArrowSchema& schema);

/// EngineError unless the batch has the schema's columns, and lengths and offsets that fit together.
void require_batch(const ArrowSchema& schema, const ArrowArray& batch);

/// EngineError unless the buffers that these columns are read from are present and lie in memory that this process may read.
void require_buffers(const ArrowTable::State& table, const std::vector<ArrowColumn>& columns);

/// Ends a stream without end: EngineError when it has more rows or batches than a table may have, or has taken half of the memory.
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
