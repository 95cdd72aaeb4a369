// Replays: equal random words on neighbouring inputs, with a separate stream for each coordinate.
// For all words, the outputs differ by at most the distance of the inputs, rounded up to the grid.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "scripted.hpp"
#include "sotto/random/noise.hpp"

namespace sotto {
namespace {

using random_detail::Curve;
using random_detail::Rounding;
using random_detail::Shape;
using testing::Stream;

constexpr int pairs = 10'000;

// A source with fixed words in front and a separate stream for extra words, like Random.
class Words {
 public:
  explicit Words(std::uint64_t seed) : back_(~seed) {
    Stream front(seed);
    for (std::uint64_t& word : front_) word = front.word();
  }
  std::uint64_t word() { return front_.at(next_++); }
  std::uint64_t extra_word() {
    ++extra_;
    return back_.word();
  }
  [[nodiscard]] std::span<const std::uint64_t> front_words() const {
    return std::span(front_).subspan(next_);
  }
  void consume(std::size_t n) { next_ += n; }
  [[nodiscard]] std::size_t used() const { return next_ + extra_; }

 private:
  std::vector<std::uint64_t> front_ = std::vector<std::uint64_t>(256);
  Stream back_;
  std::size_t next_ = 0;
  std::size_t extra_ = 0;
};

// Returns a random whole number of `bits` bits with a sign, so that sums and differences are exact.
double whole(Stream& pick, int bits) {
  return static_cast<double>(pick.word() >> (64 - bits)) - std::ldexp(1.0, bits - 1);
}

struct Setting {
  Curve curve;
  Shape shape;
  double scale;
  double bend;
  int grid;
};

// Returns a rounded sum in grid steps.
double replayed(const Setting& s, double value, std::uint64_t seed) {
  Stream bits(seed);
  const Rounding rounding{value, s.grid, s.shape, s.scale, s.bend, random_detail::unit_of(s.curve)};
  return random_detail::draw_rounded(bits, random_detail::real_table(s.curve), rounding,
                                     std::ldexp(value, -s.grid),
                                     random_detail::half_unit_of(rounding));
}

// Compares pairs of values of about 2^12 units whose distance is at most 2^8 units, on grids from a
// quarter of a unit to 2^12 units.
void check_pairs(const std::function<Setting(Stream&, int)>& setting,
                 const std::function<int(const Setting&)>& unit_of, int count) {
  Stream pick(11);
  for (int pair = 0; pair < count; ++pair) {
    const Setting s = setting(pick, pair);
    const int unit = unit_of(s);
    const double value = std::ldexp(whole(pick, 24), unit - 12);
    const double delta = std::ldexp(whole(pick, 20), unit - 12);
    const std::uint64_t seed = pick.word();
    const double moved = value + delta;
    ASSERT_EQ(moved - value, delta);
    const double most = std::ceil(std::ldexp(std::abs(delta), -s.grid));
    const double first = replayed(s, value, seed);
    const double second = replayed(s, moved, seed);
    ASSERT_TRUE(std::isfinite(first));
    ASSERT_LE(std::abs(second - first), most)
        << "pair " << pair << " scale " << s.scale << " grid " << s.grid;
    // the output is monotone in the value
    ASSERT_GE((second - first) * delta, 0) << "pair " << pair;
  }
}

TEST(Replay, NumbersOnFineAndCoarseGrids) {
  check_pairs(
      [](Stream& pick, int pair) {
        return Setting{pair % 2 == 0 ? Curve::gaussian : Curve::laplace, Shape::linear, 1.3, 0,
                       static_cast<int>(pick.word() % 24) - 14};
      },
      [](const Setting&) { return 0; }, pairs);
}

TEST(Replay, ScalesFromTheSmallestToTheLargest) {
  check_pairs(
      [](Stream& pick, int pair) {
        const double scale = std::pow(10.0, static_cast<double>(pick.word() % 600) - 300) *
                             (1 + static_cast<double>(pick.word() >> 11U) * 0x1p-53);
        const int grid = std::clamp(
            RoundedNoise::grid_for(scale) + static_cast<int>(pick.word() % 16), -1022, 970);
        return Setting{pair % 2 == 0 ? Curve::gaussian : Curve::laplace, Shape::linear, scale, 0,
                       grid};
      },
      [](const Setting& s) { return std::clamp(std::ilogb(s.scale), -1000, 990); }, pairs);
}

TEST(Replay, ArsinhNoise) {
  check_pairs(
      [](Stream& pick, int) {
        const double bend = std::ldexp(1.1, static_cast<int>(pick.word() % 12) - 4);
        return Setting{Curve::gaussian, Shape::arsinh, 1.3, bend,
                       static_cast<int>(pick.word() % 20) - 12};
      },
      [](const Setting&) { return 0; }, pairs);
}

// Each coordinate has its own stream. The bound holds for each coordinate, hence for every norm.
TEST(Replay, VectorsOfNumbers) {
  Stream pick(12);
  constexpr std::size_t coordinates = 8;
  for (int pair = 0; pair < pairs; ++pair) {
    const Setting s{pair % 2 == 0 ? Curve::gaussian : Curve::laplace, Shape::linear, 2.7, 0,
                    static_cast<int>(pick.word() % 16) - 10};
    double distance = 0;
    double allowed = 0;
    for (std::size_t i = 0; i < coordinates; ++i) {
      const double value = std::ldexp(whole(pick, 24), -12);
      const double delta = pick.word() % 2 == 0 ? 0 : std::ldexp(whole(pick, 16), -12);
      const std::uint64_t seed = pick.word();
      const double off = std::abs(replayed(s, value + delta, seed) - replayed(s, value, seed));
      const double most = std::ceil(std::ldexp(std::abs(delta), -s.grid));
      ASSERT_LE(off, most);
      distance += off;
      allowed += most;
    }
    ASSERT_LE(distance, allowed);
  }
}

// Vectors as RoundedNoise::add releases them, all coordinates from one source. Unless a rounding
// needed refinement, the words that are used do not depend on the values, and values moved by whole
// steps have outputs moved by equally many.
TEST(Replay, BatchesOfNeighbours) {
  Stream pick(13);
  int equal_use = 0;
  constexpr int batches = 1000;
  for (int pair = 0; pair < batches; ++pair) {
    const Curve curve = pair % 2 == 0 ? Curve::gaussian : Curve::laplace;
    const int grid = -6;
    const std::uint64_t seed = pick.word();
    const Rounding rounding{0, grid, Shape::linear, 1.7, 0, random_detail::unit_of(curve)};
    const random_detail::Batch batch{random_detail::real_table(curve), rounding,
                                     std::ldexp(1.0, grid), random_detail::half_unit_of(rounding)};
    std::vector<double> first(16);
    std::vector<double> second(16);
    for (std::size_t i = 0; i < first.size(); ++i) {
      first[i] = std::ldexp(whole(pick, 24), -12);
      second[i] = first[i] + 0.75;
    }
    Words one(seed);
    Words two(seed);
    random_detail::add_rounded(one, batch, first);
    random_detail::add_rounded(two, batch, second);
    if (one.used() != two.used()) continue;  // a rounding needed refinement
    ++equal_use;
    // a multiple of the grid
    for (std::size_t i = 0; i < first.size(); ++i) ASSERT_EQ(second[i] - first[i], 0.75) << i;
  }
  EXPECT_GT(equal_use, batches - 20);
}

TEST(Replay, DiscreteNoiseDoesNotDependOnTheValue) {
  Stream pick(14);
  for (const double scale : {1e-300, 0.1, 3.0, 1000.0, 0x1p40}) {
    for (const Curve curve : {Curve::gaussian, Curve::laplace}) {
      const int b = std::max(0, std::ilogb(scale) + 1 - (curve == Curve::gaussian ? 8 : 7));
      const random_detail::Table table(curve, std::ldexp(scale, -b), false, b);
      for (int pair = 0; pair < pairs / 10; ++pair) {
        const std::uint64_t seed = pick.word();
        const auto value = static_cast<std::int64_t>(pick.word() >> 40U);
        const auto delta = static_cast<std::int64_t>(pick.word() >> 50U);
        Stream one(seed);
        Stream two(seed);
        const std::int64_t first = value + random_detail::draw_whole(one, table);
        const std::int64_t second = value + delta + random_detail::draw_whole(two, table);
        ASSERT_EQ(second - first, delta);
      }
    }
  }
}

// Both outputs saturate beyond the largest multiple; near it the bound still holds.
TEST(Replay, AtTheEndsOfTheGrid) {
  Stream pick(15);
  int saturated = 0;
  for (int pair = 0; pair < pairs; ++pair) {
    const int grid = static_cast<int>(pick.word() % 1600) - 800;
    const Setting s{pair % 2 == 0 ? Curve::gaussian : Curve::laplace, Shape::linear,
                    std::ldexp(1.3, grid + 10), 0, grid};
    const double sign = pick.word() % 2 == 0 ? 1 : -1;
    // within 2^13 steps of the limit, by whole steps, or far beyond it
    const double off = whole(pick, 14);
    const double value =
        sign * (pair % 5 == 0 ? std::ldexp(1.0, grid + 60 + static_cast<int>(pick.word() % 100))
                              : std::ldexp(0x1p53 - 2 * std::abs(off), grid));
    const double delta = -sign * std::ldexp(std::floor(std::abs(whole(pick, 12))) * 2, grid);
    const std::uint64_t seed = pick.word();
    const double moved = value + delta;
    const double first = replayed(s, value, seed);
    const double second = replayed(s, moved, seed);
    ASSERT_LE(std::abs(first), 0x1p53);
    ASSERT_LE(std::abs(second), 0x1p53);
    ASSERT_LE(std::abs(second - first), std::ceil(std::ldexp(std::abs(moved - value), -grid)))
        << pair;
    saturated += std::abs(first) == 0x1p53 ? 1 : 0;
  }
  EXPECT_GT(saturated, pairs / 10);
}

}  // namespace
}  // namespace sotto
