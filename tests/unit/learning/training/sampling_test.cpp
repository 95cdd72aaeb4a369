// Batches: drawn as they are accounted for, the same however many draw them.
#include "sotto/learning/sampling.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "sotto/core/errors.hpp"
#include "sotto/plan/text.hpp"

namespace sotto {
namespace {

std::vector<std::uint32_t> batch_of(const Sampler& sampler, std::uint64_t step, Stream& stream) {
  std::vector<std::uint32_t> batch;
  const auto started = sampler.start(step, stream);
  for (std::size_t block = 0; block < sampler.blocks(); ++block)
    sampler.draw(step, block, started, stream, batch);
  return batch;
}

TEST(Sampling, EachKindHasItsEvent) {
  EXPECT_EQ(print(sampled(PoissonSampling{0.01}, gaussian(1), Relation::add_remove)),
            "poisson(0.01, gaussian(1))");
  EXPECT_EQ(print(sampled(FixedSizeSampling{10, 1000}, gaussian(1, 2), Relation::replace_one)),
            "without_replacement(10, 1000, gaussian(1, sensitivity=2))");
  EXPECT_EQ(print(sampled(FullBatch{}, gaussian(1), Relation::zero_out)), "gaussian(1)");
}

TEST(Sampling, WhatNoTheoremCoversIsRefused) {
  EXPECT_THROW((void)sampled(PoissonSampling{0.01}, gaussian(1), Relation::replace_one),
               OutsideConditions);
  EXPECT_THROW((void)sampled(PoissonSampling{0.01}, gaussian(1), Relation::zero_out),
               OutsideConditions);
  EXPECT_THROW((void)sampled(FixedSizeSampling{10, 1000}, gaussian(1), Relation::add_remove),
               OutsideConditions);
  EXPECT_THROW((void)Sampler(FixedSizeSampling{10, 1000}, 999), InvalidValue);
}

TEST(Sampling, ABlockIsDeterministicAndDiffersFromStepToStep) {
  const Sampler sampler(PoissonSampling{0.05}, 20000);
  const Secret secret;
  Stream here(secret);
  Stream there(secret);
  const auto first = batch_of(sampler, 7, here);
  std::vector<std::uint32_t> backwards;
  for (std::size_t block = sampler.blocks(); block-- > 0;) {
    std::vector<std::uint32_t> part;
    sampler.draw(7, block, {}, there, part);
    backwards.insert(backwards.begin(), part.begin(), part.end());
  }
  EXPECT_EQ(first, backwards);
  EXPECT_NE(first, batch_of(sampler, 8, here));
  Stream other{Secret()};
  EXPECT_NE(first, batch_of(sampler, 7, other));
}

// 4000 draws of 1000 units at rate 0.1: each unit 400 times, sd 19; 5.5 sd over 1000 units: false
// alarm 4e-5.
TEST(Sampling, EachUnitIsDrawnAtTheRate) {
  const Sampler sampler(PoissonSampling{0.1}, 1000);
  Stream stream{Secret()};
  std::vector<int> seen(1000);
  double sizes = 0;
  double squares = 0;
  for (std::uint64_t step = 0; step < 4000; ++step) {
    const auto batch = batch_of(sampler, step, stream);
    for (const std::uint32_t unit : batch) ++seen.at(unit);
    sizes += static_cast<double>(batch.size());
    squares += static_cast<double>(batch.size() * batch.size());
  }
  for (const int count : seen) EXPECT_NEAR(count, 400, 5.5 * 19);
  const double mean = sizes / 4000;
  EXPECT_NEAR(mean, 100, 5.5 * std::sqrt(90.0 / 4000));
  EXPECT_NEAR(squares / 4000 - mean * mean, 90, 5.5 * 90 * std::sqrt(2.0 / 4000));
}

// All 10 sets of 2 of 5 units, 20000 draws: 2000 each, sd 42; 5 sd over 10 sets: false alarm 6e-6.
TEST(Sampling, EachSetOfAFixedSizeIsAsLikely) {
  const Sampler sampler(FixedSizeSampling{2, 5}, 5);
  Stream stream{Secret()};
  std::map<std::vector<std::uint32_t>, int> seen;
  for (std::uint64_t step = 0; step < 20000; ++step) ++seen[batch_of(sampler, step, stream)];
  ASSERT_EQ(seen.size(), 10U);
  for (const auto& [set, count] : seen) EXPECT_NEAR(count, 2000, 5 * 42.5);
}

TEST(Sampling, AllUnitsAreInAFullBatch) {
  const Sampler sampler(FullBatch{}, 9001);
  Stream stream{Secret()};
  const auto batch = batch_of(sampler, 0, stream);
  ASSERT_EQ(batch.size(), 9001U);
  for (std::uint32_t i = 0; i < 9001; ++i) ASSERT_EQ(batch[i], i);
}

}  // namespace
}  // namespace sotto
