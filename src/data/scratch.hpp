// Bytes that grow: in memory, and beyond what is allowed there in a file that has no name.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <memory>
#include <span>
#include <type_traits>

namespace sotto::data_detail {

/// A descriptor of a new file, readable by its owner alone, that is in no folder and gone when it is closed. Empty: below /var/tmp. EngineError.
int nameless_file(const std::filesystem::path& below);

/// All zero where nothing was written. Addresses change when it grows.
class Scratch {
 public:
  /// Up to `memory` bytes are held in memory; more lie below the folder.
  Scratch(std::size_t memory, std::filesystem::path below);
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch();
  /// Room for so many bytes. EngineError if neither memory nor the disk has it; what was there is still there then.
  void reserve(std::size_t bytes);
  [[nodiscard]] std::byte* data() const { return bytes_; }
  [[nodiscard]] bool is_on_disk() const { return file_ >= 0; }

 private:
  void move_to_disk(std::size_t size);
  std::byte* bytes_ = nullptr;
  std::size_t size_ = 0;
  std::size_t memory_;
  std::filesystem::path below_;
  int file_ = -1;
};

/// A vector of plain values, in memory, that is never copied when it grows.
template <class T>
class Grown {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] T* data() { return data_; }
  [[nodiscard]] const T* data() const { return data_; }
  T& operator[](std::size_t i) { return data_[i]; }
  const T& operator[](std::size_t i) const { return data_[i]; }
  [[nodiscard]] T* begin() { return data_; }
  [[nodiscard]] T* end() { return data_ + size_; }
  [[nodiscard]] const T* begin() const { return data_; }
  [[nodiscard]] const T* end() const { return data_ + size_; }
  void append(std::span<const T> values) {
    const std::size_t start = size_;
    resize(size_ + values.size());
    if (!values.empty()) std::memcpy(data_ + start, values.data(), values.size_bytes());
  }
  void push_back(const T& value) {
    resize(size_ + 1);
    data_[size_ - 1] = value;
  }
  /// What is new has any value.
  void resize(std::size_t size) {
    if (size > room_) grow(size);
    size_ = size;
  }
  void clear() { size_ = 0; }

 private:
  void grow(std::size_t size) {
    if (!bytes_) bytes_ = std::make_unique<Scratch>(SIZE_MAX, std::filesystem::path());
    const std::size_t room = std::max(size, room_ + room_ / 4 + 4096 / sizeof(T));
    bytes_->reserve(room * sizeof(T));
    data_ = reinterpret_cast<T*>(bytes_->data());
    room_ = room;
  }
  std::unique_ptr<Scratch> bytes_;
  T* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t room_ = 0;
};

}  // namespace sotto::data_detail
