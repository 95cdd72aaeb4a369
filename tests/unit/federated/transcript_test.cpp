// Transcripts reveal nothing about how a sum is distributed over the honest members, and the sum
// has the noise that the session states.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <deque>

#include "../../support/federation.hpp"
#include "federated/messages.hpp"
#include "sotto/random/noise.hpp"

namespace sotto {
namespace {

using testing::MemoryJournal;
using Phase = RelayRound::Phase;

// The random choices of one member, recorded and replayed.
struct Tape {
  std::deque<Bytes> secrets;
  std::deque<std::vector<Bytes>> splits;
};

/// The real primitives with the choices of a tape, and one mask's stream shifted by a constant.
class Taped : public Primitives {
 public:
  Taped(int bits, const Bytes& seed, Tape& tape, bool plays)
      : real_(real_primitives(bits, seed)), bits_(bits), tape_(tape), plays_(plays) {}
  void move(std::string purpose, std::int64_t by) {
    moved_ = std::move(purpose);
    by_ = by;
  }

  Bytes make_secret() override {
    return next(tape_.secrets, [&] { return real_->make_secret(); });
  }
  std::vector<Bytes> split(const Bytes& secret, std::int64_t threshold,
                           std::int64_t count) override {
    return next(tape_.splits, [&] { return real_->split(secret, threshold, count); });
  }
  Bytes agree_key(const Bytes& secret, const Bytes& key, const std::string& purpose) override {
    Bytes derived_key = real_->agree_key(secret, key, purpose);
    if (purpose == moved_) moved_key_ = derived_key;
    return derived_key;
  }
  void mask(Bytes& vector, std::span<const SignedMask> masks) override {
    real_->mask(vector, masks);
    for (const SignedMask& one : masks) {
      if (one.key != moved_key_) continue;
      std::vector<std::int64_t> numbers = centred(vector, bits_);
      for (std::int64_t& number : numbers) number += one.negative ? -by_ : by_;
      vector = elements(numbers, bits_);
    }
  }
  Bytes public_key(const Bytes& secret) override { return real_->public_key(secret); }
  Bytes derive_key(const Bytes& secret, const std::string& purpose) override {
    return real_->derive_key(secret, purpose);
  }
  Bytes hash(const Bytes& bytes) override { return real_->hash(bytes); }
  Bytes combine(std::span<const SecretShare> shares) override { return real_->combine(shares); }
  Bytes seal(const Bytes& key, const Bytes& plain, const Bytes& context) override {
    return real_->seal(key, plain, context);
  }
  std::optional<Bytes> unseal(const Bytes& key, const Bytes& sealed,
                              const Bytes& context) override {
    return real_->unseal(key, sealed, context);
  }
  Bytes sign(const Bytes& message) override { return real_->sign(message); }
  bool is_signed(const Bytes& message, const Bytes& signature, const std::string& key) override {
    return real_->is_signed(message, signature, key);
  }
  void add(Bytes& total, const Bytes& vector, std::int64_t elements) override {
    real_->add(total, vector, elements);
  }

 private:
  template <class T, class Make>
  T next(std::deque<T>& tape, Make make) {
    if (!plays_) {
      tape.push_back(make());
      return tape.back();
    }
    T value = tape.front();
    tape.pop_front();
    return value;
  }
  std::unique_ptr<Primitives> real_;
  int bits_;
  Tape& tape_;
  bool plays_;
  std::string moved_;
  Bytes moved_key_ = "none";
  std::int64_t by_ = 0;
};

struct Wire {
  std::vector<Bytes> messages;  // in both directions
  Bytes total;
};

// A round of six members, of which the last drops out after its shares; member i has values[i].
Wire wire_of(const SessionContext& context, std::vector<std::unique_ptr<Taped>>& primitives,
             const std::vector<std::vector<std::int64_t>>& values) {
  const auto relay_primitives = real_primitives(context.session.bits);
  const std::int64_t size = context.session.items[0].size;
  RelayRound relay(context, *relay_primitives, 0, size);
  std::vector<MemoryJournal> journals(values.size());
  std::vector<std::unique_ptr<MemberRound>> members;
  std::vector<std::size_t> seen(values.size());
  Wire wire;
  for (std::size_t i = 0; i < values.size(); ++i) {
    members.push_back(std::make_unique<MemberRound>(context, static_cast<std::int64_t>(i),
                                                    *primitives[i], journals[i], 0, size));
    wire.messages.push_back(members[i]->keys());
    relay.receive(static_cast<std::int64_t>(i), wire.messages.back());
  }
  while (relay.phase() < Phase::done) {
    const Phase phase = relay.phase();
    for (std::size_t i = 0; i < values.size() && relay.phase() == phase; ++i) {
      const auto member = static_cast<std::int64_t>(i);
      while (seen[i] < relay.messages_for(member) && !(i == 5 && seen[i] == 1)) {
        wire.messages.push_back(relay.message_for(member, seen[i]++));
        const auto answer = members[i]->receive(
            wire.messages.back(), [&] { return elements(values[i], context.session.bits); });
        if (!answer) continue;
        wire.messages.push_back(*answer);
        relay.receive(member, *answer);
      }
    }
    if (relay.phase() == phase) relay.close();
  }
  EXPECT_EQ(relay.phase(), Phase::done) << relay.failure();
  for (const Bytes& message : relay.transcript()) wire.messages.push_back(message);
  wire.total = relay.result()->total;
  return wire;
}

// For every a this is a bijection on the masks between members 2 and 3, which are uniform and known
// only to them. The transcript therefore has the same distribution for all values with the same
// sum.
TEST(Transcript, TwoHonestValuesMovedAgainstEachOtherWithTheirMaskGiveTheSameBytes) {
  for (const int bits : {32, 64}) {
    for (const std::int64_t a : {std::int64_t{1}, std::int64_t{-12345}}) {
      std::vector<Bytes> seeds;
      for (int i = 0; i < 6; ++i) seeds.push_back(signing_seed());
      const SessionContext context =
          sotto::context_of(testing::made_up_session(6, 2, 5, 4, bits, seeds));
      std::vector<Tape> tapes(6);
      std::vector<std::vector<std::int64_t>> values;
      for (std::int64_t i = 0; i < 6; ++i) values.push_back({i, -7 * i, 1000 + i, 1 - i});
      const auto primitives = [&](bool plays) {
        std::vector<std::unique_ptr<Taped>> taped;
        for (std::size_t i = 0; i < 6; ++i)
          taped.push_back(std::make_unique<Taped>(bits, seeds[i], tapes[i], plays));
        return taped;
      };
      auto first = primitives(false);
      const Wire before = wire_of(context, first, values);
      const std::vector<Tape> recorded = tapes;

      for (std::int64_t& x : values[1]) x += a;
      for (std::int64_t& x : values[2]) x -= a;
      auto second = primitives(true);
      const std::string pair = federated_detail::purpose(context, 0, "mask", 1, 2);
      second[1]->move(pair, -a);
      second[2]->move(pair, -a);
      const Wire after = wire_of(context, second, values);
      EXPECT_EQ(after.messages, before.messages);
      EXPECT_EQ(after.total, before.total);

      tapes = recorded;  // the mask not moved: another transcript
      auto third = primitives(true);
      EXPECT_NE(wire_of(context, third, values).messages, before.messages);
    }
  }
}

// The part of a sum that the colluding members 1 and 2 do not know: five of six members survive, so
// it has three honest noises of variance σ²/3, rounded. 40,000 coordinates: the variance is seen to
// 0.71 %, and 5.5 of that are allowed; with the distance of the distribution functions (Kolmogorov,
// 2 exp(-2·2.8²)), false alarm 4e-7.
TEST(Transcript, AtExactlyTSurvivorsTheResidualHasTheVarianceThatTheSessionStates) {
  constexpr std::int64_t size = 40000;
  constexpr double sigma = 900;
  std::vector<Bytes> seeds;
  for (int i = 0; i < 6; ++i) seeds.push_back(signing_seed());
  Session session = testing::made_up_session(6, 2, 5, size, 64, seeds);
  session.items[0].sigma = sigma;
  const SessionContext context = sotto::context_of(session);
  ASSERT_EQ(context.session.honest, 3);
  const RoundedNoise noise(NoiseKind::gaussian,
                           sigma / std::sqrt(static_cast<double>(context.session.honest)),
                           context.session.items[0].grid);
  std::vector<std::vector<std::int64_t>> values(6, std::vector<std::int64_t>(size));
  for (std::int64_t i = 0; i < 6; ++i) {
    for (std::int64_t& x : values[static_cast<std::size_t>(i)])
      x = static_cast<std::int64_t>(noise.add(static_cast<double>(10 * i)));
  }
  std::vector<Tape> tapes(6);
  std::vector<std::unique_ptr<Taped>> primitives;
  for (std::size_t i = 0; i < 6; ++i)
    primitives.push_back(std::make_unique<Taped>(64, seeds[i], tapes[i], false));
  const std::vector<std::int64_t> total = centred(wire_of(context, primitives, values).total, 64);
  ASSERT_EQ(total.size(), static_cast<std::size_t>(size));
  std::vector<double> residual;
  for (std::size_t j = 0; j < total.size(); ++j)
    residual.push_back(
        static_cast<double>(total[j] - values[0][j] - values[1][j] - (20 + 30 + 40)));
  double mean = 0;
  double squares = 0;
  for (const double x : residual) mean += x / static_cast<double>(size);
  for (const double x : residual) squares += x * x / static_cast<double>(size);
  const double expected = sigma * sigma + 3.0 / 12;
  EXPECT_LT(std::abs(mean), 5.5 * sigma / std::sqrt(static_cast<double>(size)));
  EXPECT_NEAR(squares / expected, 1, 5.5 * std::sqrt(2.0 / static_cast<double>(size)));
  std::sort(residual.begin(), residual.end());
  double distance = 0;
  for (std::size_t j = 0; j < residual.size(); ++j) {
    const double below = std::erfc(-(residual[j]) / std::sqrt(2 * expected)) / 2;
    distance = std::max(
        distance, std::abs(below - (static_cast<double>(j) + 0.5) / static_cast<double>(size)));
  }
  EXPECT_LT(distance, 2.8 / std::sqrt(static_cast<double>(size)));
}

}  // namespace
}  // namespace sotto
