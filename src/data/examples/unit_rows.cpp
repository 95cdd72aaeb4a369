// Sorts rows by unit and limits the rows of each unit.
#include "data/examples/unit_rows.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

namespace sotto::data_detail {
namespace {

__extension__ using Wide = unsigned __int128;

// Multiplies to 128 bits, and combines the two halves.
std::uint64_t fold(std::uint64_t a, std::uint64_t b) {
  const Wide product = static_cast<Wide>(a) * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64U);
}

// A keyed hash that is uniform, and unpredictable without the key. It is not collision resistant.
std::uint64_t hash_bytes(const void* bytes, std::size_t size, const BoundingKey& key,
                         std::uint64_t purpose) {
  const auto* at = static_cast<const unsigned char*>(bytes);
  std::uint64_t h = key.seed[0] ^ fold(size ^ key.seed[1], 0x9e3779b97f4a7c15U + 2 * purpose);
  const auto mix = [&](std::uint64_t word) {
    h = fold(h ^ word ^ key.seed[2], 0xd1342543de82ef95U ^ key.seed[3]) + std::rotl(h, 23);
  };
  for (; size >= 8; at += 8, size -= 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, at, 8);
    mix(word);
  }
  if (size > 0) {
    std::uint64_t word = 0;
    std::memcpy(&word, at, size);
    mix(word);
  }
  h = fold(h ^ 0xbf58476d1ce4e5b9U, 0x94d049bb133111ebU ^ key.seed[1]);
  return h ^ h >> 32U;
}

}  // namespace

UnitRows::UnitRows(std::size_t width, Unit unit, std::int64_t rows_a_unit, const BoundingKey& key)
    : width_(width), unit_(unit), rows_a_unit_(static_cast<std::size_t>(rows_a_unit)), key_(key) {}

std::uint64_t UnitRows::hash_of(std::int64_t name) const {
  return hash_bytes(&name, sizeof name, key_, 1);
}
std::uint64_t UnitRows::hash_of(std::string_view name) const {
  return hash_bytes(name.data(), name.size(), key_, 2);
}
std::uint64_t UnitRows::hash_of(std::span<const std::int16_t> row) const {
  return hash_bytes(row.data(), row.size_bytes(), key_, 3);
}

std::size_t UnitRows::add(std::span<const std::int16_t> row, std::uint64_t hash) {
  codes_.append(row);
  hashes_.push_back(hash);
  if (unit_ == Unit::row && names_.size() > 0) names_.push_back(1);
  return bytes_a_row();
}

std::size_t UnitRows::add(std::span<const std::int16_t> row, std::uint64_t hash,
                          std::int64_t name) {
  names_.push_back(name);
  return add(row, hash);
}

std::size_t UnitRows::add(std::span<const std::int16_t> row, std::uint64_t hash,
                          std::string_view name) {
  texts_.append(name);
  names_.push_back(static_cast<std::int64_t>(texts_.size()));
  return add(row, hash) + 5 * name.size() / 4;
}

std::string_view UnitRows::name(std::size_t i) const {
  const auto start = i == 0 ? 0 : static_cast<std::size_t>(names_[i - 1]);
  return {texts_.data() + start, static_cast<std::size_t>(names_[i]) - start};
}

int UnitRows::compare_units(const Place& a, const Place& b) const {
  if (a.hash != b.hash) return a.hash < b.hash ? -1 : 1;
  if (unit_ == Unit::text) return name(a.row).compare(name(b.row));
  if (unit_ == Unit::whole)
    return names_[a.row] < names_[b.row] ? -1 : static_cast<int>(names_[a.row] > names_[b.row]);
  const auto one = row(a.row);
  const auto other = row(b.row);
  return std::lexicographical_compare(one.begin(), one.end(), other.begin(), other.end())
             ? -1
             : static_cast<int>(!std::ranges::equal(one, other));
}

// Sorts into buckets of some dozens of rows by the first bits of the hash, then each bucket.
std::vector<UnitRows::Place> UnitRows::by_hash() const {
  if (size() == 0) return {};
  const auto [least, most] = std::minmax_element(hashes_.begin(), hashes_.end());
  const std::uint64_t first = *least;
  const auto spare =
      static_cast<unsigned>(std::countl_zero(std::max<std::uint64_t>(*most - first, 1)));
  const unsigned bits = std::min(64 - spare, static_cast<unsigned>(std::bit_width(size() / 32)));
  const auto bucket_of = [&](std::uint64_t hash) {
    return bits == 0 ? 0 : (hash - first) << spare >> (64 - bits);
  };
  std::vector<std::size_t> starts((std::size_t{1} << bits) + 1);
  for (const std::uint64_t hash : hashes_) ++starts[bucket_of(hash) + 1];
  for (std::size_t i = 1; i < starts.size(); ++i) starts[i] += starts[i - 1];
  std::vector<Place> places(size());
  auto next = starts;
  for (std::size_t i = 0; i < size(); ++i)
    places[next[bucket_of(hashes_[i])]++] = {hashes_[i], i, false};
  for (std::size_t b = 0; b + 1 < starts.size(); ++b) {
    std::sort(places.data() + starts[b], places.data() + starts[b + 1],
              [this](const Place& x, const Place& y) { return compare_units(x, y) < 0; });
  }
  return places;
}

// Keeps the first `rows_a_unit` rows of each unit by the hashes of their codes.
void UnitRows::bound(std::vector<Place>& places) const {
  std::vector<std::pair<std::uint64_t, std::size_t>> rows;
  std::size_t end = 0;  // of the places that remain
  for (std::size_t start = 0; start < places.size();) {
    const Place unit = places[start];
    rows.clear();
    for (; start < places.size() && compare_units(places[start], unit) == 0; ++start)
      rows.emplace_back(0, places[start].row);
    if (rows.size() > 1) {
      for (auto& [place, i] : rows)
        place = fold(hash_of(row(i)) ^ unit.hash, 0xd1342543de82ef95U ^ key_.seed[1]);
      std::sort(rows.begin(), rows.end(), [this](const auto& x, const auto& y) {
        if (x.first != y.first) return x.first < y.first;
        const auto one = row(x.second);
        const auto other = row(y.second);
        return std::lexicographical_compare(one.begin(), one.end(), other.begin(), other.end());
      });
    }
    const std::size_t count = std::min(rows.size(), rows_a_unit_);
    for (std::size_t i = 0; i < count; ++i) places[end++] = {unit.hash, rows[i].second, i == 0};
  }
  places.resize(end);
}

std::vector<UnitRows::Place> UnitRows::ordered() const {
  auto places = by_hash();
  if (unit_ == Unit::row) {
    for (Place& place : places) place.is_first = true;
  } else {
    bound(places);
  }
  return places;
}

void UnitRows::reduce(HashRange range) {
  UnitRows rest(width_, unit_, static_cast<std::int64_t>(rows_a_unit_), key_);
  const Place* before = nullptr;
  const auto places = ordered();
  for (const Place& place : places) {
    if (!range.has(place.hash)) continue;
    if (unit_ == Unit::row) {
      if (before != nullptr && compare_units(*before, place) == 0) {
        rest.names_[rest.size() - 1] += count(place.row);
      } else {
        rest.add(row(place.row), place.hash);
        rest.names_.resize(rest.size());
        rest.names_[rest.size() - 1] = count(place.row);
      }
      before = &place;
    }
    if (unit_ == Unit::whole) rest.add(row(place.row), place.hash, names_[place.row]);
    if (unit_ == Unit::text) rest.add(row(place.row), place.hash, name(place.row));
  }
  *this = std::move(rest);
}

std::optional<std::uint64_t> UnitRows::middle() const {
  const std::uint64_t hash = hashes_[size() / 2];
  if (hash > hashes_[0]) return hash - 1;
  if (hash < hashes_[size() - 1]) return hash;
  return std::nullopt;
}

void UnitRows::take_rows(const RowCallback& take) {
  const auto places = ordered();
  for (std::size_t i = 0; i < places.size(); ++i) {
    for (std::int64_t k = count(places[i].row); k > 0; --k)
      take(places[i].is_first, row(places[i].row));
  }
  clear();
}

void UnitRows::clear() {
  codes_ = {};
  hashes_ = {};
  names_ = {};
  texts_ = {};
}

}  // namespace sotto::data_detail
