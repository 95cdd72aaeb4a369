// Rows in Arrow's IPC streaming format, as Spark sends them: a schema and batches of columns.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "sotto/data/engine.hpp"

namespace sotto::data_detail {

/// What a column of the stream holds; `other`: of no use here.
enum class ArrowKind { number, whole, text, other };

/// Gives out the batches of one whole stream. `begin` is told what its columns are before the first. Columns of a batch are doubles, 64-bit integers
/// and texts alone. EngineError for bytes that are no such stream: nothing is read outside of them.
void read_arrow_stream(std::string_view bytes, const std::function<void(const std::vector<ArrowKind>&)>& begin, const Taker& take);

}  // namespace sotto::data_detail
