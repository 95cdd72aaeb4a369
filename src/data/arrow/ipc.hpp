// Reads Arrow's IPC streaming format, in which Spark sends rows: a schema, then batches of columns.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "sotto/data/engine.hpp"

namespace sotto::data_detail {

/// The type of a column: DOUBLE, BIGINT, text, or any other, which cannot be read.
enum class ArrowKind { number, whole, text, other };

/// Reads a complete stream. Calls `begin` with the types of the columns, then `take` for each
/// batch. Never reads outside of `bytes`. Throws EngineError if they are not a valid stream, or if
/// a batch has a column of another type.
void read_arrow_stream(std::string_view bytes,
                       const std::function<void(const std::vector<ArrowKind>&)>& begin,
                       const BatchCallback& take);

}  // namespace sotto::data_detail
