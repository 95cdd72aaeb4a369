// Hostile messages: replayed, forged, truncated, oversized, contradictory. Each is refused with an
// error that names the right sender, and nothing is stored or sent.
#include <gtest/gtest.h>

#include "../../support/federation.hpp"
#include "federated/messages.hpp"

namespace sotto {
namespace {

using namespace federated_detail;
using sotto::testing::Gathering;
using sotto::testing::MemoryJournal;
using Phase = RelayRound::Phase;

// A finished round with all its messages.
class Hostile : public ::testing::Test {
 protected:
  Hostile() { g.run(); }

  // Returns member 1 in its state before the coordinator's message k: key list, share list, list,
  // signatures.
  std::unique_ptr<MemberRound> before(std::size_t k) {
    const std::vector<Bytes>& states = g.journals[0].states;
    journal.states.clear();
    auto member = std::make_unique<MemberRound>(g.context(), 0, g.primitives(0), journal,
                                                states[k < 2 ? 0 : k - 1]);
    if (k == 1) (void)member->receive(g.relay->message_for(0, 0), {});
    return member;
  }
  std::optional<Bytes> give(MemberRound& member, const Bytes& message) {
    return member.receive(message, [&] {
      ++contributions;
      return elements(g.numbers_of(0), 64);
    });
  }
  void expect_refused(std::size_t k, const Bytes& message, const std::string& why) {
    const auto member = before(k);
    try {
      (void)give(*member, message);
      ADD_FAILURE() << "not refused: " << why;
    } catch (const ProtocolError& error) {
      EXPECT_NE(std::string(error.what()).find(why), std::string::npos) << error.what();
    }
    EXPECT_TRUE(journal.states.empty()) << why;
    EXPECT_EQ(contributions, 0) << why;
    EXPECT_TRUE(give(*member, g.relay->message_for(0, k)))
        << "after a refusal the right message is taken";
    contributions = 0;
  }
  Bytes unsigned_(Kind kind, const Bytes& body, std::int64_t round = 0) {
    return unsigned_message(g.context(), kind, round, body);
  }
  Bytes body(std::size_t k) { return read_envelope(g.relay->message_for(0, k)).body; }

  Gathering g{4, 1, 3};
  MemoryJournal journal;
  int contributions = 0;
};

TEST_F(Hostile, AByteChangedIsRefusedOrChangesNothing) {
  for (std::size_t k = 0; k < 4; ++k) {
    const Bytes message = g.relay->message_for(0, k);
    const auto expected = give(*before(k), message);
    ASSERT_TRUE(expected);
    int refused = 0;
    const std::size_t step = 1 + message.size() / 150;
    for (std::size_t at = 0; at < message.size(); at += step) {
      Bytes changed = message;
      changed[at] = static_cast<char>(changed[at] ^ (1 << at % 8));
      const auto member = before(k);
      journal.states.clear();
      try {
        EXPECT_EQ(give(*member, changed), expected) << "message " << k << ", byte " << at;
      } catch (const ProtocolError&) {
        ++refused;
        EXPECT_TRUE(journal.states.empty());
      }
    }
    EXPECT_GT(refused, 50);
  }
}

TEST_F(Hostile, AMessageThatEndsAnywhereIsRefused) {
  for (std::size_t k = 0; k < 4; ++k) {
    const Bytes message = g.relay->message_for(0, k);
    for (std::size_t size = 0; size < message.size(); size += 1 + message.size() / 100) {
      EXPECT_THROW(give(*before(k), message.substr(0, size)), ProtocolError) << size;
    }
    EXPECT_THROW(give(*before(k), message + "x"), ProtocolError);
  }
  EXPECT_EQ(contributions, 0);
}

TEST_F(Hostile, LengthsBeyondTheMessageReserveNothing) {
  for (const std::uint64_t size :
       {std::uint64_t{1} << 63U, ~std::uint64_t{0}, std::uint64_t{1} << 40U}) {
    expect_refused(0, Writer().number(size).build() + "x", "ends early");
    expect_refused(
        0, unsigned_(Kind::key_list, Writer().number(1, 4).number(0, 4).number(size).build()),
        "ends early");
  }
  expect_refused(0, unsigned_(Kind::key_list, Writer().number(0xFFFFFFFF, 4).build()),
                 "more entries than the session has members");
  expect_refused(1, unsigned_(Kind::share_list, Writer().number(0xFFFFFFFF, 4).build()),
                 "more entries than the session has members");
  expect_refused(
      2,
      unsigned_(Kind::list,
                Writer().bytes(Writer().number(0xFFFFFFFF, 4).build()).bytes("").build()),
      "ends early");
}

TEST_F(Hostile, AMessageOfAnotherRoundIsRefused) {
  const Bytes old_list = g.relay->message_for(0, 0);
  const Bytes old_keys = read_named(body(0), 4)[2].bytes;
  g.start(1);
  g.run();
  for (std::size_t k = 0; k < 4; ++k) {
    const auto envelope = read_envelope(g.relay->message_for(0, k));
    expect_refused(k, unsigned_(envelope.kind, envelope.body, 0), "the coordinator is of round 0");
  }
  expect_refused(0, old_list, "the coordinator is of round 0");
  auto named = read_named(body(0), 4);
  named[2].bytes = old_keys;
  expect_refused(0, unsigned_(Kind::key_list, to_bytes(named), 1), "member-3 is of round 0");
  // The body of an old message with this round's number is refused: the signature covers the
  // number.
  auto envelope = read_envelope(old_keys);
  envelope.round = 1;
  named[2].bytes = to_bytes(envelope);
  expect_refused(0, unsigned_(Kind::key_list, to_bytes(named), 1),
                 "in the name of member-3 is not signed with that member's key");
}

TEST_F(Hostile, AMessageOfAnotherSessionIsRefused) {
  SessionContext other = g.context();
  other.hash[5] = static_cast<char>(other.hash[5] ^ 1);
  for (std::size_t k = 0; k < 4; ++k) {
    const auto envelope = read_envelope(g.relay->message_for(0, k));
    expect_refused(k, unsigned_message(other, envelope.kind, 0, envelope.body),
                   "the coordinator is of another session");
  }
  auto named = read_named(body(0), 4);
  named[1].bytes =
      signed_message(other, g.primitives(1), 1, Kind::keys, 0, read_envelope(named[1].bytes).body);
  expect_refused(0, unsigned_(Kind::key_list, to_bytes(named)), "member-2 is of another session");
}

TEST_F(Hostile, KeysThatAreForgedOrUnderAnotherNameAreRefused) {
  auto named = read_named(body(0), 4);
  const auto mine = named[3].bytes;
  named[3].bytes =
      signed_message(g.context(), g.primitives(1), 3, Kind::keys, 0, read_envelope(mine).body);
  expect_refused(0, unsigned_(Kind::key_list, to_bytes(named)),
                 "in the name of member-4 is not signed with that member's key");
  named[3].bytes = named[2].bytes;
  expect_refused(0, unsigned_(Kind::key_list, to_bytes(named)),
                 "keys of member-3 under the name of member-4");
  named = read_named(body(0), 4);
  named.resize(2);
  expect_refused(0, unsigned_(Kind::key_list, to_bytes(named)),
                 "keys of 2 members, and the threshold is");
}

TEST_F(Hostile, KeysOfAnotherProcessWithThisMembersKeyAreRefusedWithTheCause) {
  MemoryJournal disk;
  MemberRound another(g.context(), 0, g.primitives(0), disk, 0, 3);
  auto named = read_named(body(0), 4);
  named[0].bytes = another.keys();
  expect_refused(0, unsigned_(Kind::key_list, to_bytes(named)),
                 "another process takes part with this member's key");
}

TEST_F(Hostile, SharesThatAreForgedOrNotWhatWasCommittedToAreRefused) {
  const auto dealt = read_shares(body(1), 4);
  auto forged = dealt;
  forged[0].signature = g.primitives(3).sign(signed_part(g.context(), 0, forged[0]));
  expect_refused(1, unsigned_(Kind::share_list, to_bytes(forged)),
                 "in the name of member-2 are not signed");
  forged = dealt;
  forged[1].sealed[3] = static_cast<char>(forged[1].sealed[3] ^ 1);
  forged[1].signature = g.primitives(2).sign(signed_part(g.context(), 0, forged[1]));
  expect_refused(1, unsigned_(Kind::share_list, to_bytes(forged)),
                 "the shares of member-3 cannot be unsealed");
  // A member deals other shares than it committed to, correctly sealed and signed.
  Reader stored(g.journals[1].states[0]);
  (void)stored.number();
  (void)stored.number();
  (void)stored.number(1);
  const Keys keys = read_keys(read_envelope(read_named(body(0), 4)[0].bytes).body, 4);
  const Bytes key = g.primitives(1).agree_key(stored.bytes(), keys.channel,
                                              purpose(g.context(), 0, "channel", 1, 0));
  forged = dealt;
  forged[0].sealed =
      g.primitives(1).seal(key, Writer().bytes(Bytes(32, 1)).bytes(Bytes(32, 2)).build(),
                           purpose(g.context(), 0, "shares", 1, 0));
  forged[0].signature = g.primitives(1).sign(signed_part(g.context(), 0, forged[0]));
  expect_refused(1, unsigned_(Kind::share_list, to_bytes(forged)),
                 "member-2 dealt other shares than it committed to");
  forged = dealt;
  forged.resize(1);
  expect_refused(1, unsigned_(Kind::share_list, to_bytes(forged)),
                 "shares of 2 members, and the threshold is");
  forged = {dealt[0], dealt[0], dealt[1]};
  expect_refused(1, unsigned_(Kind::share_list, to_bytes(forged)), "not for this member");
}

TEST_F(Hostile, AListWithASurvivorThatMaskedForOthersIsRefused) {
  const ListMessage list = read_list_message(body(2), 4);
  auto changed = list;
  changed.statements.pop_back();
  expect_refused(2, unsigned_(Kind::list, to_bytes(changed)),
                 "does not show one signed statement about the sharers for each survivor");
  changed = list;  // the signature is of other sharers
  changed.statements[2].bytes = g.primitives(2).sign(
      sharers_statement(g.context(), 0, 2, sharers_hash(g.primitives(0), {0, 2, 3})));
  expect_refused(2, unsigned_(Kind::list, to_bytes(changed)), "no valid signature of member-3");
  changed = list;  // of another round
  changed.statements[2].bytes = g.primitives(2).sign(
      sharers_statement(g.context(), 1, 2, sharers_hash(g.primitives(0), {0, 1, 2, 3})));
  expect_refused(2, unsigned_(Kind::list, to_bytes(changed)), "no valid signature of member-3");
}

// n = 4, c = 1, t = 3. The coordinator gives member 1 only the shares of members 2 and 4, and all
// shares to the others. With a list on which member 2 dropped, member 2's mask secret would be
// revealed. Since member 4 colludes, member 1's vector would be left alone with its noise.
TEST(HostileCoordinator, CannotSplitAMemberFromTheSumByAnotherListOfShares) {
  Gathering g(4, 1, 3);
  for (std::int64_t i = 0; i < 4; ++i)
    g.relay->receive(i, g.rounds[static_cast<std::size_t>(i)]->keys());
  for (std::int64_t i = 0; i < 4; ++i)
    g.relay->receive(
        i, *g.rounds[static_cast<std::size_t>(i)]->receive(g.relay->message_for(i, 0), {}));
  ASSERT_EQ(g.relay->phase(), Phase::masked);
  const auto contribution = [&] { return elements(g.numbers_of(0), 64); };
  std::vector<NamedBytes> statements;
  for (std::int64_t i = 0; i < 4; ++i) {
    Bytes list = g.relay->message_for(i, 1);
    if (i == 0) {
      auto dealt = read_shares(read_envelope(list).body, 4);
      dealt.erase(dealt.begin() + 1);
      list = unsigned_message(g.context(), Kind::share_list, 0, to_bytes(dealt));
    }
    const auto masked = g.rounds[static_cast<std::size_t>(i)]->receive(list, contribution);
    ASSERT_TRUE(masked);
    if (i != 1) statements.push_back({i, read_masked(read_envelope(*masked).body).statement});
  }
  const ListMessage list{to_bytes(g.context(), 0, {{0, 1, 2, 3}, {0, 2, 3}}), statements};
  for (std::size_t i : {1, 2}) {
    try {
      (void)g.rounds[i]->receive(unsigned_message(g.context(), Kind::list, 0, to_bytes(list)), {});
      ADD_FAILURE() << "signed";
    } catch (const ProtocolError& error) {
      EXPECT_NE(std::string(error.what()).find("no valid signature of member-1"), std::string::npos)
          << error.what();
    }
    EXPECT_EQ(g.journals[i].states.size(), 2U);
  }
}

TEST_F(Hostile, ASecondListOrSignaturesOfAnotherAreRefused) {
  const ListMessage list = read_list_message(body(2), 4);
  ListMessage second{to_bytes(g.context(), 0, {{0, 1, 2, 3}, {0, 1, 2}}),
                     {list.statements.begin(), list.statements.begin() + 3}};
  expect_refused(3, unsigned_(Kind::list, to_bytes(second)), "a second list of survivors");
  auto signatures = read_named(body(3), 4);
  signatures[1].bytes =
      signed_message(g.context(), g.primitives(static_cast<std::size_t>(signatures[1].member)),
                     signatures[1].member, Kind::list_signature, 0, second.list);
  expect_refused(3, unsigned_(Kind::list_signatures, to_bytes(signatures)),
                 name_of(g.context(), signatures[1].member) + " signed another list of survivors");
  expect_refused(
      2,
      unsigned_(Kind::list, to_bytes(ListMessage{to_bytes(g.context(), 0, {{0, 1, 2}, {0, 1, 2}}),
                                                 second.statements})),
      "other sharers");
  expect_refused(2,
                 unsigned_(Kind::list, to_bytes(ListMessage{
                                           to_bytes(g.context(), 0, {{0, 1, 2, 3}, {0, 1}}), {}})),
                 "fewer than 3 is never opened");
  expect_refused(
      2,
      unsigned_(Kind::list,
                to_bytes(ListMessage{to_bytes(g.context(), 1, {{0, 1, 2, 3}, {0, 1, 2}}), {}})),
      "of another round");
}

TEST_F(Hostile, MessagesOutOfTheirOrderAreRefused) {
  for (const auto& [k, later] : std::vector<std::pair<std::size_t, std::size_t>>{
           {0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}}) {
    expect_refused(k, g.relay->message_for(0, later), "the coordinator");
  }
  expect_refused(0, unsigned_(static_cast<Kind>(77), ""), "does not belong to a round");
  expect_refused(0, g.rounds[1]->keys(), "does not belong to a round");
}

// The disk is full when the vector or the list is stored: nothing is sent before the state is on
// disk.
TEST_F(Hostile, AMessageThatCannotBeStoredIsNotSent) {
  struct Full : RoundJournal {
    void keep(const Bytes&) override { throw std::runtime_error("no space left"); }
  } full;
  MemberRound member(g.context(), 0, g.primitives(0), full, g.journals[0].states[0]);
  (void)give(member, g.relay->message_for(0, 0));
  for (int i = 0; i < 2; ++i)
    EXPECT_THROW(give(member, g.relay->message_for(0, 1)), std::runtime_error);
  EXPECT_FALSE(member.has_contributed());
  MemberRound later(g.context(), 0, g.primitives(0), full, g.journals[0].states[1]);
  for (int i = 0; i < 2; ++i)
    EXPECT_THROW(give(later, g.relay->message_for(0, 2)), std::runtime_error);
  EXPECT_THROW(give(later, g.relay->message_for(0, 3)), ProtocolError);  // it has signed no list
}

// --- The coordinator's side ---

void expect_blamed(RelayRound& relay, std::int64_t from, const Bytes& message,
                   const std::string& why) {
  const auto phase = relay.phase();
  const auto answered = relay.answered();
  try {
    relay.receive(from, message);
    ADD_FAILURE() << "not refused: " << why;
  } catch (const ProtocolError& error) {
    EXPECT_NE(std::string(error.what()).find(why), std::string::npos) << error.what();
  }
  EXPECT_EQ(relay.phase(), phase);
  EXPECT_EQ(relay.answered(), answered);
}

TEST(HostileMember, IsNamedByTheCoordinatorAndItsMessageIsIgnored) {
  Gathering g(4, 1, 3);
  const auto& context = g.context();
  RelayRound& relay = *g.relay;
  const auto sign = [&](std::int64_t member, Kind kind, const Bytes& body, std::int64_t round = 0) {
    return signed_message(context, g.primitives(static_cast<std::size_t>(member)), member, kind,
                          round, body);
  };
  // keys
  const Bytes keys = g.rounds[1]->keys();
  expect_blamed(relay, 1, sign(1, Kind::keys, read_envelope(keys).body, 7),
                "member-2 is of round 7");
  expect_blamed(
      relay, 1,
      signed_message(context, g.primitives(2), 1, Kind::keys, 0, read_envelope(keys).body),
      "in the name of member-2 is not signed");
  expect_blamed(relay, 2, keys, "member-2 arrived over the connection of member-3");
  expect_blamed(relay, 1, sign(1, Kind::keys, "short"), "ends early");
  expect_blamed(relay, 1, sign(1, Kind::reveal, ""), "member-2 revealed shares before");
  for (std::int64_t i = 0; i < 4; ++i)
    relay.receive(i, g.rounds[static_cast<std::size_t>(i)]->keys());
  MemoryJournal journal;
  expect_blamed(relay, 1, MemberRound(context, 1, g.primitives(1), journal, 0, 3).keys(),
                "member-2 sent two sets of keys");
  // shares
  const Bytes shares = *g.rounds[1]->receive(relay.message_for(1, 0), {});
  auto dealt = read_shares(read_envelope(shares).body, 4);
  dealt.pop_back();
  expect_blamed(relay, 1, sign(1, Kind::shares, to_bytes(dealt)),
                "member-2 did not deal a share to every member");
  dealt[0].from = 2;
  expect_blamed(relay, 1, sign(1, Kind::shares, to_bytes(dealt)),
                "member-2 deals shares in the name of another");
  for (std::int64_t i = 0; i < 4; ++i)
    relay.receive(i, *g.rounds[static_cast<std::size_t>(i)]->receive(relay.message_for(i, 0), {}));
  // vectors
  ASSERT_EQ(relay.phase(), Phase::masked);
  std::vector<Bytes> masked;
  for (std::size_t i = 0; i < 4; ++i)
    masked.push_back(*g.rounds[i]->receive(relay.message_for(static_cast<std::int64_t>(i), 1),
                                           [&] { return elements(g.numbers_of(i), 64); }));
  Masked body = read_masked(read_envelope(masked[1]).body);
  auto changed = body;
  changed.vector.resize(16);
  expect_blamed(relay, 1, sign(1, Kind::masked, to_bytes(changed)),
                "the vector of member-2 cannot be added");
  changed = body;
  changed.statement = read_masked(read_envelope(masked[2]).body).statement;
  expect_blamed(relay, 1, sign(1, Kind::masked, to_bytes(changed)),
                "member-2 did not sign the sharers for which");
  changed = body;
  changed.sharers = "others";
  expect_blamed(relay, 1, sign(1, Kind::masked, to_bytes(changed)),
                "member-2 masked its vector for other members");
  for (std::size_t i = 0; i < 4; ++i) relay.receive(static_cast<std::int64_t>(i), masked[i]);
  // signatures and shares
  ASSERT_EQ(relay.phase(), Phase::signatures);
  expect_blamed(relay, 1,
                sign(1, Kind::list_signature, to_bytes(context, 0, {{0, 1, 2, 3}, {0, 1, 2}})),
                "member-2 signed another list");
  for (std::size_t i = 0; i < 3; ++i)
    relay.receive(static_cast<std::int64_t>(i),
                  *g.rounds[i]->receive(relay.message_for(static_cast<std::int64_t>(i), 2), {}));
  ASSERT_EQ(relay.phase(), Phase::reveals);
  const Bytes reveal = *g.rounds[1]->receive(relay.message_for(1, 3), {});
  auto revealed = read_named(read_envelope(reveal).body, 4);
  revealed[3].bytes = revealed[2].bytes;
  expect_blamed(relay, 1, sign(1, Kind::reveal, to_bytes(revealed)),
                "member-2 revealed another share than member-4 dealt to it");
  revealed = read_named(read_envelope(reveal).body, 4);
  revealed.pop_back();
  expect_blamed(relay, 1, sign(1, Kind::reveal, to_bytes(revealed)),
                "member-2 did not reveal a share of every sharer");
  for (std::size_t i = 0; i < 3; ++i)
    relay.receive(static_cast<std::int64_t>(i),
                  *g.rounds[i]->receive(relay.message_for(static_cast<std::int64_t>(i), 3), {}));
  ASSERT_EQ(relay.phase(), Phase::done) << relay.failure();
}

TEST(HostileText, OfASessionIsRefused) {
  Gathering g(4, 1, 3);
  const std::string text = to_text(g.context().session);
  EXPECT_EQ(to_text(parse_session(text)), text);
  for (std::size_t at = 0; at < text.size(); at += 1 + text.size() / 150) {
    std::string changed = text;
    changed[at] = static_cast<char>(changed[at] ^ 4);
    try {
      const Session other = parse_session(changed);
      EXPECT_NE(context_of(other).hash,
                g.context().hash);  // another session, of which nobody signed the text
    } catch (const ProtocolError&) {
    }
    EXPECT_THROW(parse_session(text.substr(0, at)), ProtocolError);
  }
  EXPECT_THROW(parse_session(text + " "), ProtocolError);
}

}  // namespace
}  // namespace sotto
