// A federated session with invented members, and its rounds without sockets.
#pragma once

#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "federated/api/round.hpp"
#include "sotto/plan/text.hpp"

namespace sotto::testing {

/// A journal in memory.
struct MemoryJournal : RoundJournal {
  void keep(const Bytes& state) override { states.push_back(state); }
  std::vector<Bytes> states;
};

inline Session made_up_session(std::int64_t members, std::int64_t colluding, std::int64_t threshold,
                               std::int64_t size, int bits, const std::vector<Bytes>& seeds) {
  Session session;
  session.title = "a sum";
  session.nonce = std::string(32, 'a');
  for (std::int64_t i = 0; i < members; ++i) {
    session.members.push_back({"member-" + std::to_string(i + 1),
                               signing_public_key(seeds[static_cast<std::size_t>(i)])});
  }
  session.colluding = colluding;
  session.threshold = threshold;
  session.honest = threshold - colluding;
  session.bits = bits;
  session.relation = "add-remove";
  session.items = {{"x", size, 100, 1, 0, 1000, 1}};
  session.plan = print(plan_of_sums(session));
  return session;
}

/// All members of a round, and an honest coordinator.
class Gathering {
 public:
  Gathering(std::int64_t members, std::int64_t colluding, std::int64_t threshold,
            std::int64_t size = 3, int bits = 64)
      : size_(size), bits_(bits) {
    for (std::int64_t i = 0; i < members; ++i) seeds_.push_back(signing_seed());
    context_ =
        sotto::context_of(made_up_session(members, colluding, threshold, size, bits, seeds_));
    relay_primitives_ = real_primitives(bits);
    for (std::int64_t i = 0; i < members; ++i)
      primitives_.push_back(real_primitives(bits, seeds_[static_cast<std::size_t>(i)]));
    start(0);
  }

  void start(std::int64_t round) {
    round_ = round;
    relay = std::make_unique<RelayRound>(context_, *relay_primitives_, round, size_);
    rounds.clear();
    journals = std::vector<MemoryJournal>(primitives_.size());
    for (std::size_t i = 0; i < primitives_.size(); ++i) {
      rounds.push_back(std::make_unique<MemberRound>(context_, static_cast<std::int64_t>(i),
                                                     *primitives_[i], journals[i], round, size_));
    }
    seen_.assign(primitives_.size(), 0);
  }

  /// Replaces a member by a new one that starts from its journal, as after a crash.
  void restart(std::size_t i) {
    const Bytes state = journals[i].states.back();
    rounds[i] = std::make_unique<MemberRound>(context_, static_cast<std::int64_t>(i),
                                              *primitives_[i], journals[i], state);
    seen_[i] = 0;
  }

  [[nodiscard]] std::vector<std::int64_t> numbers_of(std::size_t i) const {
    std::vector<std::int64_t> numbers(static_cast<std::size_t>(size_));
    std::iota(numbers.begin(), numbers.end(), static_cast<std::int64_t>(100 * i) - 50);
    return numbers;
  }
  [[nodiscard]] std::vector<std::int64_t> sum_of(const std::vector<std::int64_t>& members) const {
    std::vector<std::int64_t> sum(static_cast<std::size_t>(size_));
    for (const std::int64_t i : members) {
      const auto own = numbers_of(static_cast<std::size_t>(i));
      for (std::size_t j = 0; j < sum.size(); ++j) sum[j] += own[j];
    }
    return sum;
  }

  /// Delivers all new messages to a member, and its answers to the coordinator.
  template <class Gone>
  void serve(std::size_t i, Gone gone) {
    while (!gone(i, relay->phase()) &&
           seen_[i] < relay->messages_for(static_cast<std::int64_t>(i))) {
      const Bytes message = relay->message_for(static_cast<std::int64_t>(i), seen_[i]++);
      const auto answer =
          rounds[i]->receive(message, [&] { return elements(numbers_of(i), bits_); });
      if (answer) relay->receive(static_cast<std::int64_t>(i), *answer);
    }
  }

  void serve(std::size_t i) {
    serve(i, [](std::size_t, RelayRound::Phase) { return false; });
  }

  /// Runs the round to its end. Members for whom gone(i, phase) is true are silent from that phase
  /// on.
  template <class Gone>
  void run(Gone gone) {
    while (relay->phase() != RelayRound::Phase::done &&
           relay->phase() != RelayRound::Phase::failed) {
      const auto phase = relay->phase();
      for (std::size_t i = 0; i < rounds.size(); ++i) {
        if (phase == RelayRound::Phase::keys && !gone(i, phase))
          relay->receive(static_cast<std::int64_t>(i), rounds[i]->keys());
        serve(i, gone);
      }
      if (relay->phase() == phase) relay->close();
    }
    for (std::size_t i = 0; i < rounds.size() && relay->phase() == RelayRound::Phase::done; ++i) {
      serve(i, gone);
    }
  }
  void run() {
    run([](std::size_t, RelayRound::Phase) { return false; });
  }

  [[nodiscard]] const SessionContext& context() const { return context_; }
  [[nodiscard]] Primitives& primitives(std::size_t i) { return *primitives_[i]; }
  [[nodiscard]] int bits() const { return bits_; }

  std::unique_ptr<RelayRound> relay;
  std::vector<std::unique_ptr<MemberRound>> rounds;
  std::vector<MemoryJournal> journals;

 private:
  std::int64_t size_;
  int bits_;
  std::int64_t round_ = 0;
  std::vector<Bytes> seeds_;
  SessionContext context_;
  std::unique_ptr<Primitives> relay_primitives_;
  std::vector<std::unique_ptr<Primitives>> primitives_;
  std::vector<std::size_t> seen_;
};

}  // namespace sotto::testing
