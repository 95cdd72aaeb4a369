// Numbers from a fuzzer's bytes: any double, or one of the awkward kind.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <limits>

namespace sotto {

inline void require_that(bool holds) {
  if (!holds) std::abort();
}

class Numbers {
 public:
  Numbers(const std::uint8_t* data, std::size_t size) : data_(data), left_(size) {}

  std::uint8_t byte() {
    if (left_ == 0) return 0;
    --left_;
    return *data_++;
  }
  [[nodiscard]] bool is_empty() const { return left_ == 0; }

  double any() {
    using Doubles = std::numeric_limits<double>;
    static constexpr double awkward[] = {0.0,
                                         -0.0,
                                         1.0,
                                         -1.0,
                                         0.5,
                                         0x1p-1074,
                                         0x1p-1022,
                                         0x1p1023,
                                         0x1p53,
                                         -0x1p53,
                                         0x1p40,
                                         0x1p63,
                                         1e-300,
                                         1e300,
                                         1e-9,
                                         1 - 0x1p-53,
                                         1 + 0x1p-52,
                                         3.7,
                                         1e6,
                                         Doubles::infinity(),
                                         Doubles::max(),
                                         -Doubles::max(),
                                         Doubles::quiet_NaN()};
    const std::uint8_t kind = byte();
    if (kind < 128) return awkward[kind % std::size(awkward)];
    if (kind < 160) return static_cast<double>(byte()) / 16;
    std::uint64_t bits = 0;
    for (int i = 0; i < 8; ++i) bits = bits << 8U | byte();
    double x = 0;
    std::memcpy(&x, &bits, sizeof x);
    return x;
  }

 private:
  const std::uint8_t* data_;
  std::size_t left_;
};

}  // namespace sotto
