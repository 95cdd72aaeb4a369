// Rounds of secure aggregation, member by member.
#include <gtest/gtest.h>

#include "../../support/federation.hpp"
#include "federated/messages.hpp"

namespace sotto {
namespace {

using testing::Gathering;
using Phase = RelayRound::Phase;

TEST(Round, EveryMemberComputesTheSumOfAll) {
  for (const int bits : {32, 64}) {
    Gathering g(4, 1, 3, 3000, bits);
    g.run();
    ASSERT_EQ(g.relay->phase(), Phase::done) << g.relay->failure();
    const auto expected = g.sum_of({0, 1, 2, 3});
    EXPECT_EQ(centred(g.relay->result()->total, bits), expected);
    for (const auto& round : g.rounds) {
      ASSERT_TRUE(round->result());
      EXPECT_EQ(centred(round->result()->total, bits), expected);
    }
  }
}

TEST(Round, DropoutsInAnyPhaseLeaveTheSumOfTheSurvivors) {
  for (const Phase when :
       {Phase::keys, Phase::shares, Phase::masked, Phase::signatures, Phase::reveals}) {
    Gathering g(7, 1, 5);
    g.run([&](std::size_t i, Phase phase) { return (i == 2 || i == 5) && phase >= when; });
    ASSERT_EQ(g.relay->phase(), Phase::done) << g.relay->failure();
    const bool survived = when > Phase::masked;
    const std::vector<std::int64_t> survivors = survived
                                                    ? std::vector<std::int64_t>{0, 1, 2, 3, 4, 5, 6}
                                                    : std::vector<std::int64_t>{0, 1, 3, 4, 6};
    EXPECT_EQ(g.relay->result()->survivors, survivors);
    EXPECT_EQ(centred(g.relay->result()->total, 64), g.sum_of(survivors));
    EXPECT_EQ(centred(g.rounds[0]->result()->total, 64), g.sum_of(survivors));
  }
}

TEST(Round, FewerThanTheThresholdOpenNothing) {
  for (const Phase when :
       {Phase::keys, Phase::shares, Phase::masked, Phase::signatures, Phase::reveals}) {
    Gathering g(5, 1, 4);
    g.run([&](std::size_t i, Phase phase) { return i < 2 && phase >= when; });
    EXPECT_EQ(g.relay->phase(), Phase::failed);
    EXPECT_NE(g.relay->failure().find("4 are needed"), std::string::npos) << g.relay->failure();
    EXPECT_FALSE(g.relay->result());
  }
}

TEST(Round, AMemberThatIsKilledSendsTheSameBytesAgain) {
  for (const Phase when :
       {Phase::keys, Phase::shares, Phase::masked, Phase::signatures, Phase::reveals}) {
    Gathering g(4, 1, 3);
    int requests = 0;
    bool restarted = false;
    while (g.relay->phase() != Phase::done) {
      const Phase phase = g.relay->phase();
      if (phase == when && !restarted) {
        g.restart(1);
        restarted = true;
      }
      for (std::size_t i = 0; i < 4; ++i) {
        if (phase == Phase::keys)
          g.relay->receive(static_cast<std::int64_t>(i), g.rounds[i]->keys());
        if (i == 1 && phase == Phase::masked) ++requests;
        g.serve(i);
      }
      ASSERT_NE(g.relay->phase(), Phase::failed) << g.relay->failure();
    }
    EXPECT_EQ(centred(g.relay->result()->total, 64), g.sum_of({0, 1, 2, 3}));
    for (std::size_t i = 0; i < 4; ++i) g.serve(i);
    EXPECT_TRUE(g.rounds[1]->result());
  }
}

TEST(Round, TheNoiseIsDrawnOnceAlsoAfterARestart) {
  Gathering g(4, 1, 3);
  for (std::size_t i = 0; i < 4; ++i)
    g.relay->receive(static_cast<std::int64_t>(i), g.rounds[i]->keys());
  for (std::size_t i = 0; i < 4; ++i)
    g.relay->receive(
        static_cast<std::int64_t>(i),
        *g.rounds[i]->receive(g.relay->message_for(static_cast<std::int64_t>(i), 0), {}));
  ASSERT_EQ(g.relay->phase(), Phase::masked);
  int drawn = 0;
  const auto contribution = [&] {
    ++drawn;
    return elements(std::vector<std::int64_t>{drawn, 0, 0}, 64);
  };
  const Bytes first = *g.rounds[1]->receive(g.relay->message_for(1, 1), contribution);
  EXPECT_EQ(*g.rounds[1]->receive(g.relay->message_for(1, 1), contribution), first);
  g.restart(1);
  (void)g.rounds[1]->receive(g.relay->message_for(1, 0), contribution);
  EXPECT_EQ(*g.rounds[1]->receive(g.relay->message_for(1, 1), contribution), first);
  EXPECT_EQ(drawn, 1);
}

TEST(Round, OnlyOneListIsSigned) {
  Gathering g(4, 1, 3);
  g.run([](std::size_t, Phase phase) { return phase >= Phase::signatures; });  // up to the list
  const auto& context = g.context();
  const auto all = federated_detail::read_list_message(
      federated_detail::read_envelope(g.relay->message_for(0, 2)).body, 4);
  const auto list_of = [&](std::vector<std::int64_t> survivors) {
    federated_detail::ListMessage message{
        federated_detail::to_bytes(context, 0, {{0, 1, 2, 3}, survivors}), {}};
    for (const std::int64_t v : survivors)
      message.statements.push_back(all.statements[static_cast<std::size_t>(v)]);
    return federated_detail::unsigned_message(context, federated_detail::Kind::list, 0,
                                              federated_detail::to_bytes(message));
  };
  const auto signature = g.rounds[0]->receive(list_of({0, 1, 2}), {});
  ASSERT_TRUE(signature);
  EXPECT_EQ(g.rounds[0]->receive(list_of({0, 1, 2}), {}), signature);
  EXPECT_THROW(g.rounds[0]->receive(list_of({0, 1, 3}), {}), ProtocolError);
  g.restart(0);
  EXPECT_THROW(g.rounds[0]->receive(list_of({0, 1, 3}), {}), ProtocolError);
  EXPECT_THROW(g.rounds[1]->receive(list_of({0, 1}), {}), ProtocolError);  // too few
}

TEST(Round, BelowTheThresholdOfSignaturesNothingIsRevealed) {
  Gathering g(5, 1, 4);
  g.run([](std::size_t i, Phase phase) { return phase >= Phase::reveals && i != 9; });
  ASSERT_EQ(g.relay->phase(), Phase::failed);  // nobody revealed
  const auto& context = g.context();
  const Bytes message = g.relay->message_for(0, 3);
  auto signatures = federated_detail::read_named(federated_detail::read_envelope(message).body, 5);
  signatures.resize(3);
  const Bytes fewer = federated_detail::unsigned_message(
      context, federated_detail::Kind::list_signatures, 0, federated_detail::to_bytes(signatures));
  EXPECT_THROW(g.rounds[0]->receive(fewer, {}), ProtocolError);
  // One signature under two names counts once.
  signatures.push_back({4, signatures.back().bytes});
  const Bytes doubled = federated_detail::unsigned_message(
      context, federated_detail::Kind::list_signatures, 0, federated_detail::to_bytes(signatures));
  EXPECT_THROW(g.rounds[0]->receive(doubled, {}), ProtocolError);
  EXPECT_TRUE(g.rounds[0]->receive(message, {}));
}

TEST(Round, AChangedVectorIsDetected) {
  Gathering g(4, 1, 3);
  g.run([](std::size_t, Phase phase) { return phase == Phase::done; });
  ASSERT_EQ(g.relay->phase(), Phase::done);
  const auto transcript = g.relay->transcript();
  for (std::size_t k = 0; k < transcript.size(); ++k) {
    RoundCheck check(g.context(), g.primitives(0), 0, 3);
    const auto show = [&](std::size_t i, const Bytes& bytes) {
      i == 0 ? check.key_list(bytes) : i == 1 ? check.opening(bytes) : check.masked(bytes);
    };
    for (std::size_t i = 0; i < transcript.size(); ++i) {
      if (i != k) {
        show(i, transcript[i]);
        continue;
      }
      for (std::size_t at = 0; at < transcript[i].size(); at += 1 + transcript[i].size() / 50) {
        Bytes changed = transcript[i];
        changed[at] = static_cast<char>(changed[at] ^ 1);
        EXPECT_THROW(show(i, changed), ProtocolError) << "message " << i << ", byte " << at;
      }
      show(i, transcript[i]);
    }
    ASSERT_TRUE(check.result());
    EXPECT_EQ(centred(check.result()->total, 64), g.sum_of({0, 1, 2, 3}));
  }
}

}  // namespace
}  // namespace sotto
