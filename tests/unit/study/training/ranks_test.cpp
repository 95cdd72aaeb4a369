// Rank 0 and those that serve it, here threads of one process: the steps of one process, bit by
// bit, from the start and from a checkpoint.
#include "study/api/ranks.hpp"

#include <gtest/gtest.h>

#include <barrier>
#include <random>
#include <thread>

#include "learning/api/describe.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/learning/network.hpp"

namespace sotto {
namespace {

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
    void share(std::span<std::uint64_t> numbers) override { share_of(numbers, meeting_.words_); }
    void share(std::span<double> numbers) override { share_of(numbers, meeting_.doubles_); }

   private:
    template <class T>
    void share_of(std::span<T> numbers, std::vector<T>& place) {
      if (rank_ == 0) place.assign(numbers.begin(), numbers.end());
      meeting_.gate_.arrive_and_wait();
      EXPECT_EQ(place.size(), numbers.size());
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

// 20,000 units in five blocks, each of one row; with `several` some of the first block have two,
// the other blocks' one each.
Examples made_up(bool several) {
  std::mt19937 engine(1);
  Examples::Builder builder(5);
  for (int unit = 0; unit < 20000; ++unit) {
    for (int row = 0; row < (several && unit < 4096 && unit % 3 == 0 ? 2 : 1); ++row) {
      const auto target = static_cast<std::int16_t>(engine() % 2);
      for (std::int16_t& code : builder.add(target))
        code = static_cast<std::int16_t>(static_cast<int>(engine() % 16385) -
                                         (target == 1 ? 6000 : 10000));
    }
    if (several) builder.next_unit();
  }
  return std::move(builder).build();
}

// Without noise and with full batches, so that nothing is left to chance.
Training training_of(int steps) {
  return {.steps = steps,
          .clipping = {.norm = 0.5},
          .noise = 0,
          .batch = 20000,
          .optimiser = {.kind = OptimiserKind::adam,
                        .size = 0.1,
                        .l2 = 1e-3,
                        .averaging = Averaging::uniform},
          .seed = 7};
}

// On so many ranks: `first` steps, then, as a run that was resumed, the rest.
Iterate trained_by(int size, const std::shared_ptr<const Model>& model, const Examples& examples,
                   const Training& training, int first) {
  Meeting meeting(size);
  std::vector<std::thread> others;
  for (int rank = 1; rank < size; ++rank) {
    others.emplace_back([&meeting, rank] {
      Meeting::Rank together(meeting, rank);
      run_worker_rank(together);
    });
  }
  Meeting::Rank together(meeting, 0);
  Ranks ranks(together);
  Iterate at;
  {
    const auto trainer = ranks.start(model, examples, training, nullptr, 1, 0);
    EXPECT_TRUE(ranks.are_waiting());
    for (int i = 0; i < first; ++i) ranks.step(*trainer);
    at = trainer->iterate();  // not finished: as if rank 0 had stopped here
  }
  const auto trainer = ranks.start(model, examples, training, &at, 1, 0);
  trainer->resume(at);
  while (!trainer->done()) ranks.step(*trainer);
  ranks.finish();
  EXPECT_TRUE(ranks.are_waiting());
  ranks.dismiss();
  for (std::thread& other : others) other.join();
  return trainer->iterate();
}

TEST(Ranks, TakeTheStepsOfOneProcessBitByBit) {
  for (const bool several : {false, true}) {
    const Examples examples = made_up(several);
    for (const std::string& description :
         {make_model(LinearModel{5, {LossKind::logistic}})->description(),
          make_model(multilayer_perceptron(5, {4}, Tanh{}, {LossKind::softmax}, 2))
              ->description()}) {
      const std::shared_ptr<const Model> model = model_of(description);
      const Training training = training_of(6);
      const Iterate alone = train(model, examples, training, {.threads = 1});
      for (const int size : {1, 2, 4})
        EXPECT_EQ(trained_by(size, model, examples, training, 3), alone)
            << size << " ranks, " << description;
    }
  }
}

}  // namespace
}  // namespace sotto
