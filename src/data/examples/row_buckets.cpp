// Collects rows that may exceed the memory.
#include "data/examples/row_buckets.hpp"

#include <bit>

#include "sotto/data/engine.hpp"

namespace sotto::data_detail {
namespace {

constexpr unsigned bucket_bits = 9;  // most buckets then fit the processor's cache

}  // namespace

RowBuckets::RowBuckets(std::size_t width, UnitRows::Unit unit, std::int64_t rows_a_unit,
                       const BoundingKey& key, std::size_t memory)
    : memory_(memory) {
  for (std::size_t i = 0; i < std::size_t{1} << bucket_bits; ++i)
    buckets_.emplace_back(width, unit, rows_a_unit, key);
  lay_out();
}

void RowBuckets::lay_out() {
  start_ = range_.first;
  const auto bits = static_cast<unsigned>(std::bit_width(range_.last - range_.first));
  shift_ = bits > bucket_bits ? bits - bucket_bits : 0;
}

void RowBuckets::add(std::span<const std::int16_t> row) {
  const std::uint64_t hash = buckets_[0].hash_of(row);
  if (!range_.has(hash)) return;
  bytes_ += buckets_[bucket_of(hash)].add(row, hash);
  if (bytes_ > memory_) make_room();
}

void RowBuckets::add(std::span<const std::int16_t> row, std::int64_t name) {
  const std::uint64_t hash = buckets_[0].hash_of(name);
  if (!range_.has(hash)) return;
  bytes_ += buckets_[bucket_of(hash)].add(row, hash, name);
  if (bytes_ > memory_) make_room();
}

void RowBuckets::add(std::span<const std::int16_t> row, std::string_view name) {
  const std::uint64_t hash = buckets_[0].hash_of(name);
  if (!range_.has(hash)) return;
  bytes_ += buckets_[bucket_of(hash)].add(row, hash, name);
  if (bytes_ > memory_) make_room();
}

void RowBuckets::count_bytes() {
  bytes_ = 0;
  for (const UnitRows& bucket : buckets_) bytes_ += bucket.bytes();
}

// Drops the rows beyond `rows_a_unit`. If that is not enough, drops the units with the largest
// hashes, which another pass collects.
void RowBuckets::make_room() {
  for (UnitRows& bucket : buckets_) bucket.reduce(range_);
  count_bytes();
  std::size_t last = bucket_of(range_.last);
  while (bytes_ > memory_ / 2) {
    UnitRows& bucket = buckets_[last];
    if (bytes_ > bucket.bytes()) {
      bytes_ -= bucket.bytes();
      bucket.clear();
      range_.last = start_ + (static_cast<std::uint64_t>(last) << shift_) - 1;
      --last;
      continue;
    }
    const auto middle = bucket.middle();  // only this bucket is left
    if (!middle)
      throw OutOfMemory(
          "the rows of a single unit exceed the memory: allow more memory, or fewer rows a unit",
          "");
    range_.last = *middle;
    bucket.reduce(range_);
    count_bytes();
  }
}

void RowBuckets::start_again() {
  for (UnitRows& bucket : buckets_) bucket.clear();
  bytes_ = 0;
}

bool RowBuckets::finish_pass(const UnitRows::RowCallback& take) {
  // the next range is as wide as this one, unless this one used little of the memory
  const std::uint64_t width = bytes_ > memory_ / 4 ? range_.last - range_.first : UINT64_MAX;
  for (UnitRows& bucket : buckets_) bucket.take_rows(take);
  bytes_ = 0;
  if (range_.last == UINT64_MAX) return true;
  range_.first = range_.last + 1;
  range_.last = width > UINT64_MAX - range_.first ? UINT64_MAX : range_.first + width;
  lay_out();
  return false;
}

}  // namespace sotto::data_detail
