// Products and sums of rows in whole numbers: exact, and the same in the loops for every kind of
// processor.
#include "learning/kernels/tiles.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "sotto/data/examples.hpp"

namespace sotto::learning_detail {
namespace {

constexpr std::size_t strides[] = {16, 32, 48, 112, 128, 144, 256, 272, 400, 784, 2064};

// Codes with many of the largest and smallest; or nothing else, where sums are as large as they can
// be.
std::vector<std::int16_t> random_codes(std::size_t count, std::mt19937& engine, bool extreme) {
  std::vector<std::int16_t> codes(count);
  for (std::int16_t& code : codes) {
    const auto word = engine() % 40000;
    code = static_cast<std::int16_t>(
        extreme || word > 32768 ? feature_one : static_cast<int>(word) - feature_one);
  }
  return codes;
}

std::vector<double> random_weights(std::size_t count, std::mt19937& engine, bool extreme) {
  std::vector<double> weights(count);
  for (double& weight : weights)
    weight = extreme ? 1 : std::ldexp(static_cast<double>(engine()), -31) - 1;
  return weights;
}

std::vector<const std::int16_t*> places_of(const std::vector<std::int16_t>& codes,
                                           std::size_t stride) {
  std::vector<const std::int16_t*> rows;
  for (std::size_t i = 0; i < codes.size(); i += stride) rows.push_back(codes.data() + i);
  return rows;
}

TEST(Tiles, ThereAreLoopsForEveryProcessor) {
  ASSERT_FALSE(tile_loops().empty());
  EXPECT_STREQ(tile_loops().back().name, "any processor");
}

TEST(Tiles, ProductsAreTheWholeNumbers) {
  std::mt19937 engine(1);
  for (const TileLoops& loops : tile_loops()) {
    for (const std::size_t stride : strides) {
      for (const bool extreme : {false, true}) {
        const auto codes = random_codes(rows_a_tile * stride, engine, extreme);
        const auto rows = places_of(codes, stride);
        const WholeWeights weights(random_weights(stride, engine, extreme), stride);
        std::vector<Products> found(rows.size());
        Prefetcher prefetcher(rows.data(), rows.size(), stride);
        loops.products(rows.data(), rows.size(), weights, stride, prefetcher, found.data());
        for (std::size_t i = 0; i < rows.size(); ++i) {
          std::int64_t dot = 0;
          std::int64_t square = 0;
          for (std::size_t j = 0; j < stride; ++j) {
            dot += (std::int64_t{8192} * weights.high[j] + weights.low[j]) * rows[i][j];
            square += std::int64_t{rows[i][j]} * rows[i][j];
          }
          ASSERT_EQ(found[i].dot, dot) << loops.name << " " << stride << " " << i;
          ASSERT_EQ(found[i].square, square) << loops.name << " " << stride << " " << i;
        }
      }
    }
  }
}

// As many rows as may be added, with the largest coefficients.
TEST(Tiles, SumsOfRowsAreTheWholeNumbers) {
  std::mt19937 engine(2);
  for (const TileLoops& loops : tile_loops()) {
    for (const std::size_t stride : strides) {
      for (const bool extreme : {false, true}) {
        std::vector<std::int32_t> sums(sums_of(stride));
        std::vector<double> found(stride);
        std::vector<std::int64_t> truth(stride);
        for (int round = 0; round < 2; ++round) {
          for (std::size_t added = 0; added < rows_until_emptied; added += rows_a_tile) {
            const auto codes = random_codes(rows_a_tile * stride, engine, extreme);
            const auto rows = places_of(codes, stride);
            std::vector<std::int16_t> high(rows.size());
            std::vector<std::int16_t> low(rows.size());
            for (std::size_t i = 0; i < rows.size(); ++i) {
              high[i] = static_cast<std::int16_t>(extreme ? -256
                                                          : static_cast<int>(engine() % 513) - 256);
              low[i] = static_cast<std::int16_t>(extreme ? -512
                                                         : static_cast<int>(engine() % 1025) - 512);
              for (std::size_t j = 0; j < stride; ++j)
                truth[j] += (std::int64_t{1024} * high[i] + low[i]) * rows[i][j];
            }
            Prefetcher prefetcher(rows.data(), rows.size(), stride);
            loops.add(rows.data(), rows.size(), high.data(), low.data(), stride, prefetcher,
                      sums.data());
          }
          loops.empty(sums.data(), stride, found.data());
        }
        for (std::size_t j = 0; j < stride; ++j)
          ASSERT_EQ(found[j], static_cast<double>(truth[j]))
              << loops.name << " " << stride << " " << j;
        for (const std::int32_t sum : sums) ASSERT_EQ(sum, 0);
      }
    }
  }
}

TEST(Tiles, WeightsAreNearTheirWholeNumbers) {
  std::mt19937 engine(3);
  for (const std::size_t width : {1, 16, 200, 8192, 100000}) {
    for (const double size : {1e-250, 1e-5, 1.0, 3.0, 1e9, 1e300}) {
      std::vector<double> weights = random_weights(width, engine, false);
      for (double& weight : weights) weight *= size;
      weights[width / 2] = -size;
      const std::size_t stride = (width + 15) / 16 * 16;
      const WholeWeights whole(weights, stride);
      ASSERT_LE(whole.step, size * std::max(0x1p-25, 0x1p-37 * static_cast<double>(stride)));
      double together = 0;
      for (std::size_t j = 0; j < whole.high.size(); ++j) {
        const double number = 8192.0 * whole.high[j] + whole.low[j];
        ASSERT_LE(std::abs(number * whole.step - (j < width ? weights[j] : 0)), whole.step / 2);
        ASSERT_LT(std::abs(whole.high[j]), 8192);
        ASSERT_LE(std::abs(whole.low[j]), 4096);
        together += std::abs(number) * feature_one;
      }
      ASSERT_LE(together, 0x1p53);  // so that every product is a double
    }
  }
  const std::vector<double> zeros(16);
  EXPECT_EQ(WholeWeights(zeros, 16).high[3], 0);
  for (const double wild : {std::nan(""), std::numeric_limits<double>::infinity()}) {
    EXPECT_TRUE(std::isnan(WholeWeights(std::vector<double>{1, wild}, 16).step));
  }
}

}  // namespace
}  // namespace sotto::learning_detail
