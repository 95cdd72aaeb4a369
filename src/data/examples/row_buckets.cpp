#include "data/examples/row_buckets.hpp"

#include <bit>

#include "sotto/data/engine.hpp"

namespace sotto::data_detail {
namespace {

constexpr unsigned bucket_bits = 9;  // each then fits a processor's cache, unless the rows are very many

}  // namespace

RowBuckets::RowBuckets(std::size_t width, UnitRows::Unit unit, std::int64_t rows_a_unit, const BoundingKey& key, std::size_t memory)
    : memory_(memory) {
  for (std::size_t i = 0; i < std::size_t{1} << bucket_bits; ++i) buckets_.emplace_back(width, unit, rows_a_unit, key);
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

// Rows that cannot stay make room for others; where that is not enough, the units with the greatest hashes are left for another look.
void RowBuckets::make_room() {
  for (UnitRows& bucket : buckets_) bucket.keep(range_);
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
    const auto middle = bucket.middle();  // all that is left
    if (!middle) throw OutOfMemory("the rows of a single unit do not fit the memory: allow more, or fewer rows a unit", "");
    range_.last = *middle;
    bucket.keep(range_);
    count_bytes();
  }
}

void RowBuckets::start_again() {
  for (UnitRows& bucket : buckets_) bucket.clear();
  bytes_ = 0;
}

bool RowBuckets::give(const UnitRows::Give& give) {
  // the next look is for as many hashes, unless this one was for much too few
  const std::uint64_t width = bytes_ > memory_ / 4 ? range_.last - range_.first : UINT64_MAX;
  for (UnitRows& bucket : buckets_) bucket.give(give);
  bytes_ = 0;
  if (range_.last == UINT64_MAX) return true;
  range_.first = range_.last + 1;
  range_.last = width > UINT64_MAX - range_.first ? UINT64_MAX : range_.first + width;
  lay_out();
  return false;
}

}  // namespace sotto::data_detail
