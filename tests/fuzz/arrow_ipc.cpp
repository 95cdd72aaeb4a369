// Any bytes as a stream of Arrow's: an EngineError, or batches whose columns are all there.
#include <cstddef>
#include <cstdint>
#include <string>

#include "data/arrow/ipc.hpp"
#include "numbers.hpp"

using namespace sotto;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::vector<data_detail::ArrowKind> kinds;
  try {
    data_detail::read_arrow_stream(
        {reinterpret_cast<const char*>(data), size}, [&](const auto& found) { kinds = found; },
        [&](const Batch& batch) {
          require_that(batch.columns.size() == kinds.size() && batch.rows > 0);
          double sum = 0;
          for (std::size_t c = 0; c < kinds.size(); ++c) {
            for (std::size_t i = 0; i < batch.rows; ++i) {
              if (batch.columns[c].is_null(i)) continue;
              if (kinds[c] == data_detail::ArrowKind::whole)
                sum += static_cast<double>(batch.columns[c].int64s[i]);
              if (kinds[c] == data_detail::ArrowKind::number) sum += batch.columns[c].numbers[i];
              if (kinds[c] == data_detail::ArrowKind::text) {
                for (const char letter : batch.columns[c].texts[i]) sum += letter;
              }
            }
          }
          volatile double read = sum;
          (void)read;
        });
  } catch (const EngineError& error) {
    require_that(error.what()[0] != '\0');
  }
  return 0;
}
