// A vector of plain values that are hardly ever copied when it grows.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <type_traits>

namespace sotto::data_detail {

template <class T>
class Grown {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] const T* data() const { return data_.get(); }
  T& operator[](std::size_t i) { return data_.get()[i]; }
  const T& operator[](std::size_t i) const { return data_.get()[i]; }
  [[nodiscard]] const T* begin() const { return data(); }
  [[nodiscard]] const T* end() const { return data() + size_; }
  void append(std::span<const T> values) {
    const std::size_t start = size_;
    resize(size_ + values.size());
    if (!values.empty()) std::memcpy(data_.get() + start, values.data(), values.size_bytes());
  }
  void push_back(const T& value) {
    resize(size_ + 1);
    data_.get()[size_ - 1] = value;
  }
  /// What is new has any value.
  void resize(std::size_t size) {
    if (size > room_) grow(size);
    size_ = size;
  }

 private:
  struct Free {
    void operator()(T* values) const { std::free(values); }
  };
  void grow(std::size_t size) {
    const std::size_t room = std::max(size, room_ + room_ / 2);
    void* grown = std::realloc(data_.get(), room * sizeof(T));  // large ones move by their pages
    if (grown == nullptr) throw std::bad_alloc();
    static_cast<void>(data_.release());
    data_.reset(static_cast<T*>(grown));
    room_ = room;
  }
  std::unique_ptr<T, Free> data_;
  std::size_t size_ = 0;
  std::size_t room_ = 0;
};

}  // namespace sotto::data_detail
