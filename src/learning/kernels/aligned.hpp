// Arrays aligned to 64 bytes, so that no vector spans two cache lines. Elements start as 0.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <new>

namespace sotto::learning_detail {

template <class Number>
class Aligned {
 public:
  Aligned() = default;
  explicit Aligned(std::size_t size)
      : numbers_(static_cast<Number*>(::operator new[](
            std::max<std::size_t>(size, 1) * sizeof(Number), std::align_val_t{64}))),
        size_(size) {
    clear();
  }
  [[nodiscard]] Number* data() { return numbers_.get(); }
  [[nodiscard]] const Number* data() const { return numbers_.get(); }
  [[nodiscard]] std::size_t size() const { return size_; }
  Number& operator[](std::size_t i) { return numbers_.get()[i]; }
  const Number& operator[](std::size_t i) const { return numbers_.get()[i]; }
  void clear() { std::fill(data(), data() + size_, Number{}); }

 private:
  struct Free {
    void operator()(Number* numbers) const { ::operator delete[](numbers, std::align_val_t{64}); }
  };
  std::unique_ptr<Number, Free> numbers_;
  std::size_t size_ = 0;
};

}  // namespace sotto::learning_detail
