// Ranks that train together, here threads of one process: the same bits for any number of them, and
// of threads.
#include <gtest/gtest.h>

#include <algorithm>
#include <barrier>
#include <random>
#include <thread>

#include "sotto/core/errors.hpp"
#include "sotto/learning/network.hpp"
#include "sotto/learning/train.hpp"

namespace sotto {
namespace {

// What the ranks share. The secret is the test's, so that each training draws the same batches.
class Meeting {
 public:
  explicit Meeting(int size) : size_(size), gate_(size), sums_(static_cast<std::size_t>(size)) {}

  class Rank final : public Together {
   public:
    Rank(Meeting& meeting, int rank) : meeting_(meeting), rank_(rank) {}
    [[nodiscard]] int rank() const override { return rank_; }
    [[nodiscard]] int size() const override { return meeting_.size_; }
    void sum(std::span<std::int64_t> numbers) override {
      meeting_.sums_[static_cast<std::size_t>(rank_)].assign(numbers.begin(), numbers.end());
      meeting_.gate_.arrive_and_wait();
      std::fill(numbers.begin(), numbers.end(), 0);
      for (const auto& part : meeting_.sums_) {
        for (std::size_t j = 0; j < numbers.size(); ++j) numbers[j] += part[j];
      }
      meeting_.gate_.arrive_and_wait();
    }
    void share(std::span<std::uint64_t> numbers) override {
      if (numbers.size() == std::tuple_size_v<Secret::Words>) {
        for (std::size_t j = 0; j < numbers.size(); ++j) numbers[j] = 1000 + j;
        return;
      }
      share_of(numbers, meeting_.words_);
    }
    void share(std::span<double> numbers) override { share_of(numbers, meeting_.doubles_); }

   private:
    template <class T>
    void share_of(std::span<T> numbers, std::vector<T>& place) {
      if (rank_ == 0) place.assign(numbers.begin(), numbers.end());
      meeting_.gate_.arrive_and_wait();
      std::copy(place.begin(), place.end(), numbers.begin());
      meeting_.gate_.arrive_and_wait();
    }
    Meeting& meeting_;
    int rank_;
  };

 private:
  int size_;
  std::barrier<> gate_;
  std::vector<std::vector<std::int64_t>> sums_;
  std::vector<std::uint64_t> words_;
  std::vector<double> doubles_;
};

// 20,000 units, in five blocks, of one row or of up to three.
Examples made_up(std::size_t width, bool several) {
  std::mt19937 engine(1);
  Examples::Builder builder(width);
  for (int unit = 0; unit < 20000; ++unit) {
    if (several && unit > 0) builder.next_unit();
    for (unsigned row = 0; row < (several ? 1 + engine() % 3 : 1); ++row) {
      const auto target = static_cast<std::int16_t>(engine() % 2);
      for (std::int16_t& code : builder.add(target))
        code = static_cast<std::int16_t>(static_cast<int>(engine() % 16385) -
                                         (target == 1 ? 6000 : 10000));
    }
  }
  return std::move(builder).build();
}

struct Ended {
  std::vector<Iterate> iterates;  // one a rank
  int refusals = 0;
};

// How each rank differs from the others, if it does.
using Change =
    std::function<void(int rank, Examples& part, Training& training, Resources& resources)>;

Ended train_together(const std::shared_ptr<const Model>& model, const Examples& examples,
                     const Training& training, int ranks, int threads, const Change& change = {}) {
  Meeting meeting(ranks);
  Ended ended{std::vector<Iterate>(static_cast<std::size_t>(ranks))};
  std::atomic<int> refusals{0};
  std::vector<std::thread> crew;
  for (int r = 0; r < ranks; ++r) {
    crew.emplace_back([&, r] {
      Meeting::Rank rank(meeting, r);
      const Shard shard = shard_of(examples.units(), r, ranks);
      Examples part = examples.part(shard.first, shard.end);
      Training own = training;
      Resources resources{
          .threads = threads, .together = &rank, .first_block = shard.first_block()};
      if (change) change(r, part, own, resources);
      try {
        ended.iterates[static_cast<std::size_t>(r)] = train(model, part, own, resources);
      } catch (const InvalidValue&) {
        ++refusals;
      }
    });
  }
  for (std::thread& thread : crew) thread.join();
  ended.refusals = refusals;
  return ended;
}

std::vector<Training> trainings() {
  const Training any{.steps = 6,
                     .noise = 0,
                     .batch = 500,
                     .optimiser = {.kind = OptimiserKind::adam, .size = 0.1}};
  Training poisson = any;
  poisson.sampling = PoissonSampling{0.025};
  Training fixed = any;
  fixed.sampling = FixedSizeSampling{500, 20000};
  fixed.relation = Relation::replace_one;
  Training full = any;
  full.batch = 20000;
  return {poisson, fixed, full};
}

void expect_the_same_bits(const std::shared_ptr<const Model>& model, const Examples& examples,
                          const Training& training) {
  const Iterate one = train_together(model, examples, training, 1, 1).iterates[0];
  EXPECT_NE(one.parameters, model->start(training.seed));
  for (const int threads : {2, 4})
    EXPECT_EQ(train_together(model, examples, training, 1, threads).iterates[0], one)
        << threads << " threads";
  for (const int ranks : {2, 4, 8}) {  // of the last, some have nothing
    for (const Iterate& iterate :
         train_together(model, examples, training, ranks, 1 + ranks % 3).iterates)
      EXPECT_EQ(iterate, one) << ranks << " ranks";
  }
}

TEST(Together, LinearModelsAreTheSameBitsForAnyNumberOfThreadsAndRanks) {
  const Examples examples = made_up(20, false);
  for (const Training& training : trainings()) {
    SCOPED_TRACE(training.sampling.index());
    expect_the_same_bits(make_model(LinearModel{20, {LossKind::logistic}}), examples, training);
    expect_the_same_bits(make_model(LinearModel{20, {LossKind::softmax}}), examples, training);
  }
}

TEST(Together, UnitsOfSeveralRowsAreTheSameBits) {
  const Examples examples = made_up(7, true);
  for (const Training& training : trainings())
    expect_the_same_bits(make_model(LinearModel{7, {LossKind::logistic}}), examples, training);
}

TEST(Together, NetworksAreTheSameBits) {
  const std::shared_ptr<const Model> model =
      make_model(multilayer_perceptron(20, {8}, Tanh{}, {.kind = LossKind::softmax}, 2));
  expect_the_same_bits(model, made_up(20, false), trainings()[0]);
}

TEST(Together, AllRanksTakeTheStepWithOneNoise) {
  const std::shared_ptr<const Model> model = make_model(LinearModel{2000, {LossKind::logistic}});
  const Examples examples = made_up(2000, false).part(0, 5000);
  const Training training{.sampling = PoissonSampling{1e-9},
                          .steps = 1,
                          .clipping = {.norm = 0.25},
                          .noise = 8,
                          .batch = 10};
  const Ended ended = train_together(model, examples, training, 4, 1);
  double square = 0;
  for (const double p : ended.iterates[0].parameters) square += p * p;
  EXPECT_NEAR(std::sqrt(square / 2001), 8 * 0.25 / 10,
              0.2 * 5 / std::sqrt(2 * 2001));  // that of one, not of four
  for (const Iterate& iterate : ended.iterates) EXPECT_EQ(iterate, ended.iterates[0]);
}

// A unit that has another's coin would make the sample another than the one that is accounted for.
TEST(Together, ShardsThatDoNotFitAreRefusedByAllRanks) {
  const std::shared_ptr<const Model> model = make_model(LinearModel{3, {LossKind::logistic}});
  const Examples examples = made_up(3, false);
  const Training training = trainings()[0];
  const auto refusals = [&](const Change& change) {
    return train_together(model, examples, training, 2, 1, change).refusals;
  };
  EXPECT_EQ(refusals({}), 0);
  EXPECT_EQ(
      refusals([](int, Examples&, Training&, Resources& resources) { resources.first_block = 0; }),
      2);
  EXPECT_EQ(refusals([](int rank, Examples&, Training&, Resources& resources) {
              resources.first_block += rank == 1 ? 1 : 0;
            }),
            2);
  EXPECT_EQ(refusals([](int rank, Examples& part, Training&, Resources&) {
              if (rank == 0) part = part.part(0, part.units() - 1);
            }),
            2);
  EXPECT_EQ(refusals([](int rank, Examples&, Training& own, Resources&) { own.noise = rank; }), 2);
  EXPECT_EQ(refusals([](int rank, Examples&, Training& own, Resources&) { own.steps += rank; }), 2);
  EXPECT_THROW(Trainer(model, examples, training, {.first_block = 1}), InvalidValue);
}

TEST(Together, ShardsAreWholeBlocksOfAllUnits) {
  for (const std::size_t units : {0U, 1U, 4095U, 4096U, 4097U, 100000U}) {
    for (const int size : {1, 2, 3, 4, 7, 64}) {
      std::size_t at = 0;
      for (int r = 0; r < size; ++r) {
        const Shard shard = shard_of(units, r, size);
        EXPECT_EQ(shard.first, at);
        EXPECT_TRUE(shard.first % Sampler::units_a_block == 0 || shard.first == units);
        at = shard.end;
      }
      EXPECT_EQ(at, units);
    }
  }
  EXPECT_THROW((void)shard_of(10, 2, 2), InvalidValue);
}

}  // namespace
}  // namespace sotto
