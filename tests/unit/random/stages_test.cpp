// Exactness of the samplers, stage by stage: every table entry, and every bit string to a fixed
// depth. The decisions of a stage are monotone in its bits, so a cell (all strings with a common
// beginning) is decided if its first and its last string have the same decision.
#include <gtest/gtest.h>

#include <map>

#include "numerics/api/elementary.hpp"
#include "numerics/api/normal.hpp"
#include "scripted.hpp"

namespace sotto {
namespace {

using random_detail::Curve;
using random_detail::Position;
using random_detail::Table;
using testing::Prefix;
using testing::Script;

constexpr std::uint64_t ones = ~std::uint64_t{0};

struct Case {
  const char* name;
  Curve curve;
  double tau;
  bool real;
  int fraction;
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

class Stages : public ::testing::TestWithParam<Case> {
 protected:
  Table table{GetParam().curve, GetParam().tau, GetParam().real, GetParam().fraction};
  [[nodiscard]] Real scale() const { return static_cast<double>(table.scale); }
  [[nodiscard]] Real curve(const Real& y) const {
    const Real z = y / Real(table.tau);
    return exp(-(table.curve == Curve::gaussian ? z * z / Real(2) : z));
  }
  // S f over an interval: its integral, or for whole numbers the sum times their distance
  [[nodiscard]] Real mass(double first, double width) const {
    if (!table.real) {
      Real sum = 0;
      const double unit = std::ldexp(1.0, -table.fraction);
      for (double y = first; y < first + width; y += unit) sum += curve(y);
      return scale() * sum * Real(unit);
    }
    const Real tau = table.tau;
    if (table.curve == Curve::laplace)
      return scale() * tau * curve(first) * -expm1(-Real(width) / tau);
    const Real root = sqrt(Real(2) * pi());
    return scale() * tau * root *
           (normal_tail(Real(first) / tau) - normal_tail(Real(first + width) / tau));
  }
};

TEST_P(Stages, WeightsAreOnTheRightSideOfTheCurve) {
  const double last = table.real ? 1 : 1 - std::ldexp(1.0, -table.fraction);
  for (std::uint32_t i = 0; i < table.column_count; ++i) {
    const Real high = scale() * curve(static_cast<double>(i));
    const Real low = scale() * curve(i + last);
    EXPECT_GE(table.weight[i], high.upper()) << i;
    EXPECT_LE(table.weight[i] - 2, high.lower()) << i;  // and rounded up by less than 2
    EXPECT_LE(table.weight[i] * 251.0 / 256, low.lower()) << i;
  }
  for (std::uint32_t i = table.column_count; i < random_detail::last_item; ++i)
    EXPECT_EQ(table.weight[i], 0U);
  const double start = table.column_count;
  EXPECT_GE(table.tail_weight,
            (scale() * Real(2) * Real(std::ldexp(1.0, table.strip_bits)) * curve(start)).upper());
  EXPECT_GE(table.last_weight, table.tail_weight);
  EXPECT_LT(table.last_weight, random_detail::all_weight / 100);
  // rare, so that its time reveals little
  EXPECT_LT(table.tail_weight, random_detail::all_weight / 1000);
  // the curve is at most half as high one strip later
  EXPECT_LE((Real(2) * curve(start + std::ldexp(1.0, table.strip_bits))).upper(),
            curve(start).lower() + 1e-300);
}

TEST_P(Stages, TheSlotsHoldEveryItemsWeightExactly) {
  std::vector<std::uint64_t> held(random_detail::last_item + 1);
  for (std::uint32_t slot = 0; slot <= random_detail::last_item; ++slot) {
    const std::uint32_t threshold = table.entry[slot] >> random_detail::slot_bits;
    ASSERT_LE(threshold, 1U << random_detail::position_bits);
    held[slot] += threshold;
    held[slot ^ (table.entry[slot] & random_detail::slot_mask)] +=
        (1U << random_detail::position_bits) - threshold;
  }
  for (std::uint32_t i = 0; i < random_detail::last_item; ++i)
    EXPECT_EQ(held[i], table.weight[i]) << i;
  EXPECT_EQ(held[random_detail::last_item], table.last_weight);
}

// Every slot, at its threshold and next to it.
TEST_P(Stages, AWordPicksItsItem) {
  for (std::uint32_t slot = 0; slot <= random_detail::last_item; ++slot) {
    const std::uint32_t threshold = table.entry[slot] >> random_detail::slot_bits;
    for (const std::uint32_t position :
         {0U, threshold - 1, threshold, threshold + 1, random_detail::position_mask}) {
      if (position > random_detail::position_mask) continue;
      const std::uint64_t word = slot |
                                 static_cast<std::uint64_t>(position) << random_detail::slot_bits |
                                 0xabcdU * (std::uint64_t{1} << 40U);
      EXPECT_EQ(
          random_detail::item_of(table, word),
          position < threshold ? slot : slot ^ (table.entry[slot] & random_detail::slot_mask));
    }
  }
}

// Over all 2^30 choices of an item, each item occurs exactly as often as its weight says.
TEST(Word, PicksEveryItemByItsWeightOverAllItsBits) {
  for (const Curve curve : {Curve::gaussian, Curve::laplace}) {
    const Table& table = random_detail::real_table(curve);
    std::vector<std::uint32_t> counts(random_detail::last_item + 1);
    for (std::uint64_t word = 0; word < random_detail::all_weight; ++word)
      ++counts[random_detail::item_of(table, word)];
    for (std::uint32_t i = 0; i < random_detail::last_item; ++i)
      ASSERT_EQ(counts[i], table.weight[i]) << i;
    EXPECT_EQ(counts[random_detail::last_item], table.last_weight);
  }
}

// The parts of a word do not overlap, and together they are the whole word.
TEST(Word, ItsPartsAreApart) {
  const std::uint64_t slot = random_detail::slot_mask;
  const std::uint64_t position = std::uint64_t{random_detail::position_mask}
                                 << random_detail::slot_bits;
  const std::uint64_t sign = std::uint64_t{1} << random_detail::sign_bit;
  const std::uint64_t ordinate = std::uint64_t{random_detail::ordinate_mask}
                                 << random_detail::ordinate_shift;
  const std::uint64_t abscissa = ones << random_detail::abscissa_shift;
  EXPECT_EQ(slot + position + sign + ordinate + abscissa, ones);
  EXPECT_EQ(slot ^ position ^ sign ^ ordinate ^ abscissa, ones);
  EXPECT_TRUE(random_detail::is_negative(sign));
  EXPECT_FALSE(random_detail::is_negative(~sign));
  EXPECT_EQ(random_detail::ordinate_of(ordinate), random_detail::ordinate_mask);
  EXPECT_EQ(random_detail::ordinate_of(~ordinate), 0U);
}

// The weight of the last item is divided between the tail and a rejection; these are the words at
// the border.
TEST_P(Stages, TheLastItemIsTheTailByItsWeight) {
  const auto is_tail = [&](std::uint32_t pick) {
    // a word whose product with last_weight has the high part `pick` and a low part that is
    // accepted
    __extension__ using Wide = unsigned __int128;
    const auto word =
        static_cast<std::uint64_t>(((static_cast<Wide>(pick) << 64U) + ones) / table.last_weight);
    std::uint64_t first = 0;  // a word that chooses the last item
    while (random_detail::item_of(table, first) != random_detail::last_item) first += 0x4001;
    std::uint64_t column = 0;  // a word that chooses column 0, for the draw after a rejection
    while (random_detail::item_of(table, column) != 0) ++column;
    Prefix bits({first, word, ones, 0, 0, column}, 0);
    const auto [y, negative] = random_detail::draw(bits, table);
    return y.head >= static_cast<std::uint64_t>(table.column_count)
                         << static_cast<unsigned>(table.fraction);
  };
  if (curve(static_cast<double>(table.column_count)).upper() > 1e-15) {
    EXPECT_TRUE(is_tail(0));
    EXPECT_TRUE(is_tail(table.tail_weight - 1));
  }
  EXPECT_FALSE(is_tail(table.tail_weight));
  EXPECT_FALSE(is_tail(table.last_weight - 1));
}

// Each column has 2^6 cells of y times 2^3 cells of V within each of the last five ordinates;
// smaller ones are always accepted. The exact area lies between the accepted cells and the accepted
// and undecided ones.
TEST_P(Stages, EveryColumnAcceptsTheAreaBelowTheCurve) {
  const int y_bits = std::min(table.fraction, 6);
  constexpr int v_bits = 3;
  double worst = 0;
  for (std::uint32_t i = 0; i < table.column_count; i += i < 40 ? 1 : 7) {
    const double part = table.weight[i] / 256.0;
    double accepted = part * random_detail::sure_ordinates;
    double undecided = 0;
    const double cell = part * std::ldexp(1.0, -y_bits - v_bits);
    for (std::uint32_t ordinate = random_detail::sure_ordinates; ordinate < 256; ++ordinate) {
      for (std::uint64_t y = 0; y < 1U << y_bits; ++y) {
        for (std::uint64_t v = 0; v < 1U << v_bits; ++v) {
          const auto at = [&](std::uint64_t rest) {
            const auto below = static_cast<unsigned>(table.fraction - y_bits);
            const std::uint64_t head =
                (static_cast<std::uint64_t>(i) << static_cast<unsigned>(table.fraction)) |
                y << below | (rest & ((std::uint64_t{1} << below) - 1));
            Position place{head, table.fraction, table.real};
            Prefix bits({v << (64 - v_bits) | rest >> v_bits}, rest);
            return random_detail::in_column(bits, table, i, ordinate, place);
          };
          const bool first = at(0);
          const bool last = at(ones);
          if (first && last) accepted += cell;
          if (first != last) undecided += cell;
          ASSERT_FALSE(!first && last) << "not monotone";
        }
      }
    }
    const Real exact = mass(i, 1);
    EXPECT_LE(accepted, exact.upper() * (1 + 1e-9)) << i;
    EXPECT_GE(accepted + undecided, exact.lower() * (1 - 1e-9)) << i;
    worst = std::max(worst, undecided / table.weight[i]);
  }
  // the test finds every error that changes a column by more than this share
  EXPECT_LT(worst, 0.002);
}

// The same bounds on the area for each strip of the tail.
TEST_P(Stages, EveryStripAcceptsTheAreaBelowTheCurve) {
  const int y_bits = std::min(8, table.strip_bits + table.fraction);
  constexpr int v_bits = 8;
  for (std::uint64_t j = 0; j < 6; ++j) {
    double accepted = 0;
    double undecided = 0;
    const double cell =
        table.tail_weight * std::ldexp(1.0, -y_bits - v_bits - static_cast<int>(j) - 1);
    for (std::uint64_t y = 0; y < 1U << y_bits; ++y) {
      for (std::uint64_t v = 0; v < 1U << v_bits; ++v) {
        const auto at = [&](std::uint64_t rest) {
          std::vector<std::uint64_t> words{std::uint64_t{1} << (63 - j)};
          if (y_bits > 0) words.push_back(y << (64 - y_bits) | rest >> y_bits);
          words.push_back(v << (64 - v_bits) | rest >> v_bits);
          Prefix bits(std::move(words), rest);
          Position place{0, 0, false};
          return random_detail::in_tail(bits, table, place);
        };
        const bool first = at(0);
        const bool last = at(ones);
        if (first && last) accepted += cell;
        if (first != last) undecided += cell;
      }
    }
    const double width = std::ldexp(1.0, table.strip_bits);
    const Real exact = mass(table.column_count + static_cast<double>(j) * width, width);
    EXPECT_LE(accepted, exact.upper() * (1 + 1e-9)) << j;
    EXPECT_GE(accepted + undecided, exact.lower() * (1 - 1e-9)) << j;
    EXPECT_LT(undecided, 0.03 * table.tail_weight);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Tables, Stages,
    ::testing::Values(Case{"gaussian", Curve::gaussian, 256, true, random_detail::real_fraction},
                      Case{"laplace", Curve::laplace, 64, true, random_detail::real_fraction},
                      Case{"discrete_gaussian_3", Curve::gaussian, 3, false, 0},
                      Case{"discrete_gaussian_1000", Curve::gaussian, 1000.0 / 4, false, 2},
                      Case{"discrete_laplace_0_1", Curve::laplace, 0.1, false, 0},
                      Case{"discrete_laplace_700", Curve::laplace, 700.0 / 8, false, 3}),
    [](const auto& one) { return std::string(one.param.name); });

// 2^12 cells of the noise's bits in a few columns, for grids finer and coarser than the noise.
TEST(Rounding, EveryCellRoundsLikeTheExactSum) {
  for (const Curve curve : {Curve::gaussian, Curve::laplace}) {
    const Table& table = random_detail::real_table(curve);
    const int unit = random_detail::unit_of(curve);
    for (const double scale : {1.0, 0.3, 7.7}) {
      for (const int grid : {-9, -2, 1}) {
        for (const double value : {0.0, 0.1, -3.25}) {
          const random_detail::Rounding rounding{value, grid, random_detail::Shape::linear,
                                                 scale, 0,    unit};
          for (const std::uint64_t column : {0, 1, 77, 300, 1022}) {
            int undecided = 0;
            for (std::uint64_t cell = 0; cell < 4096; ++cell) {
              const auto at = [&](std::uint64_t rest) {
                // the first or the last point of the cell, rounded by round_exactly()
                Position y{column << 25U | cell << 13U | rest >> 51U, 25, true, {}};
                Prefix bits({}, rest);
                return random_detail::round_exactly(bits, rounding, cell % 2 == 1, y);
              };
              const double first = at(0);
              const double last = at(ones);
              if (first != last) {
                ++undecided;
                continue;
              }
              const Real low =
                  Real(value) +
                  Real(cell % 2 == 1 ? -scale : scale) *
                      Real(std::ldexp(static_cast<double>(column * 4096 + cell), unit - 12));
              const Real high =
                  Real(value) +
                  Real(cell % 2 == 1 ? -scale : scale) *
                      Real(std::ldexp(static_cast<double>(column * 4096 + cell + 1), unit - 12));
              const double step = std::ldexp(1.0, grid);
              ASSERT_GE(low.upper(), (first - 0.5) * step - 1e-13);
              ASSERT_LE(low.lower(), (first + 0.5) * step + 1e-13);
              ASSERT_GE(high.upper(), (first - 0.5) * step - 1e-13);
              ASSERT_LE(high.lower(), (first + 0.5) * step + 1e-13);
              // if the doubles are sure, they agree
              const double midpoint = std::ldexp(static_cast<double>(column * 4096 + cell), 14) + 1;
              const auto attempt =
                  random_detail::try_round(value / step, random_detail::half_unit_of(rounding),
                                           cell % 2 == 1 ? -midpoint : midpoint);
              if (attempt.sure) {
                ASSERT_EQ(attempt.whole, first);
              }
            }
            EXPECT_LT(undecided, 100);
          }
        }
      }
    }
    (void)table;
  }
}

// If the boundary between two multiples lies within the interval of y, refinement is needed.
TEST(Rounding, AnIntervalThatRoundsBothWaysIsUndecided) {
  for (const bool negative : {false, true}) {
    for (const std::uint64_t head :
         {std::uint64_t{1} << 20U, (std::uint64_t{300} << 25U) + 12345}) {
      Position y{head, random_detail::real_fraction, true};
      // value + noise is half a step at the middle of y's interval
      const double middle =
          std::ldexp(2 * static_cast<double>(head) + 1, -random_detail::real_fraction - 1 - 8);
      const random_detail::Rounding rounding{
          negative ? 0.5 + middle : 0.5 - middle, 0, random_detail::Shape::linear, 1, 0, -8};
      EXPECT_EQ(random_detail::rounded(rounding, negative, y), std::nullopt);
      y.lower_words = {0};
      EXPECT_EQ(random_detail::rounded(rounding, negative, y), negative ? 1.0 : 0.0);
      y.lower_words = {ones};
      EXPECT_EQ(random_detail::rounded(rounding, negative, y), negative ? 0.0 : 1.0);
      const double half_unit = random_detail::half_unit_of(rounding);
      const double midpoint = 2 * static_cast<double>(head) + 1;
      EXPECT_FALSE(
          random_detail::try_round(rounding.value, half_unit, negative ? -midpoint : midpoint)
              .sure);
    }
  }
}

// If the doubles are sure of a word, every continuation of its bits has the same rounding. The
// grids are so fine that many words are not sure.
TEST(Rounding, ASureWordIsSureForEveryContinuation) {
  testing::Stream stream(11);
  for (const Curve curve : {Curve::gaussian, Curve::laplace}) {
    const Table& table = random_detail::real_table(curve);
    for (const int finer : {24, 23, 21}) {
      const int grid = random_detail::unit_of(curve) - finer;
      int sure = 0;
      int unsure = 0;
      for (int i = 0; i < 4000; ++i) {
        const double value = static_cast<double>(i) * 0.37;
        const random_detail::Rounding rounding{value, grid, random_detail::Shape::linear,
                                               1.3,   0,    random_detail::unit_of(curve)};
        const double half_unit = random_detail::half_unit_of(rounding);
        const std::uint64_t word = stream.word();
        const random_detail::Attempt attempt =
            random_detail::try_word(table, word, std::ldexp(value, -grid), half_unit,
                                    random_detail::sure_distance_of(half_unit));
        ++(attempt.sure ? sure : unsure);
        if (!attempt.sure) continue;
        const std::uint64_t head = (static_cast<std::uint64_t>(random_detail::item_of(table, word))
                                    << random_detail::abscissa_bits) |
                                   (word >> random_detail::abscissa_shift);
        for (const std::uint64_t lower_word : {std::uint64_t{0}, ones}) {
          const Position y{head, table.fraction, true, {lower_word}};
          ASSERT_EQ(random_detail::rounded(rounding, random_detail::is_negative(word), y),
                    attempt.whole)
              << grid << " " << i;
        }
      }
      EXPECT_GT(sure, 100);
      EXPECT_GT(unsure, 30);
    }
  }
}

// All draws of a fixed stream, one by one and eight at a time.
TEST(Rounding, BatchesEqualSingleDraws) {
  if (!random_detail::has_avx512()) GTEST_SKIP() << "no AVX-512 here";
  for (const Curve curve : {Curve::gaussian, Curve::laplace}) {
    for (const int grid : {-40, -10, 0, 3}) {
      std::vector<std::uint64_t> words;
      testing::Stream stream(static_cast<std::uint64_t>(grid + 100));
      std::vector<std::uint64_t> back;
      for (int i = 0; i < 300'000; ++i) words.push_back(stream.word());
      for (int i = 0; i < 600'000; ++i) back.push_back(stream.word());
      const random_detail::Rounding rounding{0,   grid, random_detail::Shape::linear,
                                             1.7, 0,    random_detail::unit_of(curve)};
      const random_detail::Batch batch{random_detail::real_table(curve), rounding,
                                       std::ldexp(1.0, grid),
                                       random_detail::half_unit_of(rounding)};
      std::vector<double> one(200'003);
      for (std::size_t i = 0; i < one.size(); ++i) one[i] = 0.37 * static_cast<double>(i % 100);
      std::vector<double> eight = one;
      Script first(words, back);
      Script second(words, back);
      random_detail::add_one_by_one(first, batch, one);
      random_detail::add_avx512(second, batch, eight);
      EXPECT_EQ(one, eight);
      EXPECT_EQ(first.used(), second.used());
    }
  }
}

}  // namespace
}  // namespace sotto
