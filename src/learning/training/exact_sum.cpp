// ExactSum: sums of integers in doubles that are moved to 64-bit integers before they could round.
#include <algorithm>
#include <numeric>

#include "sotto/learning/model.hpp"

namespace sotto {

std::size_t Model::parameters() const {
  const auto all = layers();
  return std::accumulate(all.begin(), all.end(), std::size_t{0},
                         [](std::size_t sum, const Layer& layer) { return sum + layer.size; });
}

void ExactSum::clear() {
  std::fill(part_.begin(), part_.end(), 0.0);
  std::fill(whole_.begin(), whole_.end(), 0);
  reached_ = 0;
  units = clipped = 0;
}

std::span<double> ExactSum::room_for(double size) {
  if (reached_ + size > 0x1p53) fold();
  reached_ += size;
  return part_;
}

void ExactSum::add(const ExactSum& other) {
  fold();
  for (std::size_t j = 0; j < whole_.size(); ++j)
    whole_[j] += other.whole_[j] + static_cast<std::int64_t>(other.part_[j]);
  units += other.units;
  clipped += other.clipped;
}

std::span<const std::int64_t> ExactSum::totals() {
  fold();
  return whole_;
}

void ExactSum::fold() {
  if (reached_ == 0) return;
  for (std::size_t j = 0; j < whole_.size(); ++j) {
    whole_[j] += static_cast<std::int64_t>(part_[j]);
    part_[j] = 0;
  }
  reached_ = 0;
}

}  // namespace sotto
