// Whole sessions: members with separate disks, and a coordinator, in threads.
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <filesystem>
#include <sstream>

#include "../../support/federation.hpp"
#include "../../support/local_relay.hpp"
#include "federated/api/proposal.hpp"
#include "federated/messages.hpp"
#include "sotto/plan/text.hpp"

namespace sotto {
namespace {

using testing::LocalRelay;

struct MemoryStore : MemberStore {
  void keep(const Bytes& state) override {
    if (++writes == die_at) throw std::runtime_error("killed");
    last = state;
  }
  std::optional<Bytes> last_state() override { return last; }
  std::optional<Bytes> last;
  int writes = 0;
  int die_at = -1;
};

// Contributes its number plus the step, and counts the draws of its noise.
struct Numbers : MemberWork {
  explicit Numbers(std::int64_t a_number) : number(a_number) {}
  Bytes contribution(std::int64_t step) override {
    ++drawn;
    return elements(std::vector<std::int64_t>{number + step, 1}, 64);
  }
  void take(std::int64_t step, const RoundResult& result) override {
    EXPECT_EQ(step, static_cast<std::int64_t>(sums.size()));
    sums.push_back(centred(result.total, 64)[0]);
  }
  Bytes progress() const override {
    std::string text;
    for (const std::int64_t sum : sums) text += std::to_string(sum) + " ";
    return text;
  }
  void resume(const Bytes& progress) override {
    sums.clear();
    std::istringstream in(progress);
    for (std::int64_t sum = 0; in >> sum;) sums.push_back(sum);
  }
  std::int64_t number;
  std::vector<std::int64_t> sums;
  std::atomic<int> drawn = 0;
};

struct Party {
  std::unique_ptr<Primitives> primitives;
  MemoryStore store;
  std::unique_ptr<Numbers> work;
  std::string failure;
};

class Sessions : public ::testing::Test {
 protected:
  void make(std::int64_t n, std::int64_t c, std::int64_t t, std::int64_t rounds,
            std::int64_t spare = 0, std::int64_t deadline = 1) {
    for (std::int64_t i = 0; i < n; ++i) seeds.push_back(signing_seed());
    Session session = testing::made_up_session(n, c, t, 2, 64, seeds);
    session.items[0].rounds = rounds;
    session.spare = spare;
    session.plan = print(plan_of_sums(session));
    session.deadline = deadline;
    context = sotto::context_of(parse_session(to_text(session)));
    parties = std::vector<Party>(static_cast<std::size_t>(n));
    for (std::size_t i = 0; i < parties.size(); ++i) {
      parties[i].primitives = real_primitives(64, seeds[i]);
      parties[i].work = std::make_unique<Numbers>(static_cast<std::int64_t>(i) * 10);
    }
  }
  // Runs a member, and restarts it from its disk whenever it is killed.
  std::thread run(LocalRelay& relay, std::size_t i, int lives = 1) {
    return run([&relay] { return relay.connect(); }, i, lives);
  }
  std::thread run(Connector connect, std::size_t i, int lives = 1) {
    return std::thread([this, connect = std::move(connect), i, lives] {
      Party& party = parties[i];
      for (int life = 0; life < lives; ++life) {
        try {
          const Membership membership{
              context, static_cast<std::int64_t>(i), *party.primitives, connect,
              {},      std::chrono::seconds(20)};
          take_part(membership, party.store, *party.work);
          return;
        } catch (const std::exception& error) {
          party.failure = error.what();
          party.store.die_at = -1;
        }
      }
    });
  }
  std::vector<Bytes> seeds;
  SessionContext context;
  std::vector<Party> parties;
};

TEST_F(Sessions, AllMembersGetAllSums) {
  make(4, 1, 3, 5);
  LocalRelay relay(context);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < 4; ++i) threads.push_back(run(relay, i));
  for (auto& thread : threads) thread.join();
  for (const Party& party : parties) {
    EXPECT_EQ(party.work->sums, (std::vector<std::int64_t>{60, 64, 68, 72, 76})) << party.failure;
    EXPECT_EQ(party.work->drawn, 5);
  }
  EXPECT_TRUE(relay.is_over());
}

// A member that is killed at any write resumes from its disk: the sums are right, and it never
// sends two noises in one round.
TEST_F(Sessions, AMemberKilledAtAnyWriteResumes) {
  for (int at = 1; at <= 9; ++at) {
    seeds.clear();
    make(3, 1, 3, 2);  // nobody may drop
    parties[1].store.die_at = at;
    LocalRelay relay(context);
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < 3; ++i) threads.push_back(run(relay, i, i == 1 ? 2 : 1));
    for (auto& thread : threads) thread.join();
    for (const Party& party : parties)
      EXPECT_EQ(party.work->sums, (std::vector<std::int64_t>{30, 33}))
          << at << ": " << party.failure;
  }
}

// A connection that breaks once, after the member has sent a given number of messages on all its
// connections.
struct BreakingLink : Link {
  struct Plan {
    int at;        // the number of the message
    bool is_sent;  // whether the coordinator still gets it
    int messages = 0;
  };
  BreakingLink(std::unique_ptr<Link> a_link, Plan& a_plan)
      : link(std::move(a_link)), plan(a_plan) {}
  void send(const Bytes& message) override {
    const bool breaks = ++plan.messages == plan.at;
    if (!breaks || plan.is_sent) link->send(message);
    if (breaks) throw LinkLost("cut");
  }
  std::optional<Bytes> receive(std::chrono::milliseconds patience) override {
    return link->receive(patience);
  }
  std::unique_ptr<Link> link;
  Plan& plan;
};

// The connection breaks before or after each message (hello, keys, shares, vector, signature,
// secrets), and the member continues with the same keys.
TEST_F(Sessions, AMemberReconnectsAfterAnyMessage) {
  for (int at = 1; at <= 6; ++at) {
    for (const bool is_sent : {false, true}) {
      seeds.clear();
      make(3, 1, 3, 1, 0, 60);
      LocalRelay relay(context);
      BreakingLink::Plan plan{at, is_sent};
      std::vector<std::thread> threads;
      threads.push_back(
          run([&] { return std::make_unique<BreakingLink>(relay.connect(), plan); }, 0));
      for (std::size_t i = 1; i < 3; ++i) threads.push_back(run(relay, i));
      for (auto& thread : threads) thread.join();
      for (const Party& party : parties) {
        EXPECT_EQ(party.work->sums, (std::vector<std::int64_t>{30}))
            << at << " " << is_sent << ": " << party.failure;
        EXPECT_EQ(party.work->drawn, 1);
      }
      EXPECT_GT(plan.messages, 6);
    }
  }
}

TEST_F(Sessions, AKilledCoordinatorResumesFromItsJournal) {
  make(4, 1, 3, 30);
  const auto folder =
      std::filesystem::temp_directory_path() / ("sotto-journal-" + std::to_string(getpid()));
  std::filesystem::remove_all(folder);
  {
    LocalRelay relay(context, folder);
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < 4; ++i) threads.push_back(run(relay, i));
    for (int kill = 0; kill < 5; ++kill) {
      std::this_thread::sleep_for(std::chrono::milliseconds(60));
      relay.restart();
    }
    for (auto& thread : threads) thread.join();
    for (const Party& party : parties) {
      ASSERT_EQ(party.work->sums.size(), 30U) << party.failure;
      for (std::int64_t step = 0; step < 30; ++step)
        EXPECT_EQ(party.work->sums[static_cast<std::size_t>(step)], 60 + 4 * step);
      EXPECT_EQ(party.work->drawn, 30);
    }
  }
  std::filesystem::remove_all(folder);
}

TEST_F(Sessions, ALateMemberSeesTheSumsOfTheOthers) {
  make(4, 1, 3, 3);
  LocalRelay relay(context);
  parties[3].store.die_at = 1;  // it signs the session and is gone before its first message
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < 4; ++i) threads.push_back(run(relay, i));
  for (std::size_t i = 0; i < 3; ++i) threads[i].join();
  threads[3].join();
  for (std::size_t i = 0; i < 3; ++i)
    EXPECT_EQ(parties[i].work->sums, (std::vector<std::int64_t>{30, 33, 36})) << parties[i].failure;
  run(relay, 3).join();
  EXPECT_EQ(parties[3].work->sums, (std::vector<std::int64_t>{30, 33, 36})) << parties[3].failure;
  EXPECT_EQ(parties[3].work->drawn, 0);
}

TEST_F(Sessions, ASpareRoundReplacesAFailedOne) {
  for (const int spare : {0, 1}) {
    seeds.clear();
    make(3, 1, 3, 1, spare);
    LocalRelay relay(context);
    parties[2].store.die_at = 2;  // with its vector made, before it is sent
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < 3; ++i) threads.push_back(run(relay, i));
    threads[2].join();
    relay.wait(1.2);  // past the deadline
    run(relay, 2).join();
    for (std::size_t i = 0; i < 2; ++i) threads[i].join();
    if (spare == 0) {
      EXPECT_NE(parties[0].failure.find("charged anew"), std::string::npos) << parties[0].failure;
    } else {
      EXPECT_EQ(parties[0].work->sums, (std::vector<std::int64_t>{30})) << parties[0].failure;
      EXPECT_EQ(parties[2].work->drawn, 2);  // the first was never sent
    }
  }
}

TEST_F(Sessions, NobodyBeginsUntilEveryMemberHasSignedTheSession) {
  make(4, 1, 3, 1);
  LocalRelay relay(context);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < 3; ++i) threads.push_back(run(relay, i));
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(parties[i].store.writes, 0);
  threads.push_back(run(relay, 3));
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(parties[0].work->sums.size(), 1U);
}

// A coordinator and four members without threads or a clock: the test sets the time.
class Steps : public ::testing::TestWithParam<std::pair<int, std::string>> {
 protected:
  Steps() : primitives(real_primitives(64)) {
    Coordinator::Options options;
    options.on_event = [this](const std::string& what) { events += what + "\n"; };
    coordinator = std::make_unique<Coordinator>(g.context(), *primitives, options);
    for (std::int64_t i = 0; i < 4; ++i) connect(i);
    coordinator->tick(0);
  }
  void connect(std::int64_t i) {
    using namespace federated_detail;
    Primitives& own = g.primitives(static_cast<std::size_t>(i));
    const Bytes approval = own.sign(approval_text(to_text(g.context().session)));
    const Bytes body = Writer().bytes(Bytes(32, 'n')).bytes(approval).number(0).build();
    EXPECT_EQ(coordinator->hello(Bytes(32, 'n'),
                                 signed_message(g.context(), own, i, Kind::hello, -1, body)),
              i);
    coordinator->on_connect(i);
  }
  // Returns the member's replies to all messages that the coordinator has for it.
  std::vector<Bytes> answers(std::int64_t i) {
    using federated_detail::Kind;
    MemberRound& round = *g.rounds[static_cast<std::size_t>(i)];
    std::vector<Bytes> all;
    while (const auto message = coordinator->next_for(i)) {
      const Kind kind = federated_detail::read_envelope(*message).kind;
      if (kind == Kind::approvals || kind == Kind::finish) continue;
      if (kind == Kind::start) {
        all.push_back(round.keys());
      } else if (const auto answer = round.receive(*message, [&] {
                   return elements(g.numbers_of(static_cast<std::size_t>(i)), 64);
                 })) {
        all.push_back(*answer);
      }
    }
    return all;
  }
  void give(std::int64_t i, const std::vector<Bytes>& messages) {
    for (const Bytes& message : messages) coordinator->on_message(i, message);
  }
  // All members except `late` answer; then the deadline passes, and the round continues without it.
  void close_phase_without(std::int64_t late) {
    for (std::int64_t i = 0; i < 4; ++i) {
      if (i != late) give(i, answers(i));
    }
    coordinator->tick(1);
    coordinator->tick(2 + static_cast<double>(g.context().session.deadline));
  }
  testing::Gathering g{4, 1, 3};
  std::unique_ptr<Primitives> primitives;
  std::unique_ptr<Coordinator> coordinator;
  std::string events;
};

// A deadline passes while a message is on its way. Its sender followed the protocol, so it must
// stay in the session.
TEST_P(Steps, ALateAnswerKeepsTheMemberInTheSession) {
  const auto& [phases_before, what] = GetParam();
  for (int phase = 0; phase < phases_before; ++phase) {
    std::vector<std::vector<Bytes>> all;
    for (std::int64_t i = 0; i < 4; ++i) all.push_back(answers(i));
    for (std::int64_t i = 0; i < 4; ++i) give(i, all[static_cast<std::size_t>(i)]);
  }
  const std::vector<Bytes> late = answers(3);
  ASSERT_EQ(late.size(), 1U);
  close_phase_without(3);
  give(3, late);
  EXPECT_NE(events.find("member-4 sent its " + what + " too late"), std::string::npos) << events;
  for (int i = 0; i < 40; ++i) give(i % 4, answers(i % 4));
  ASSERT_EQ(coordinator->results().size(), 1U) << events;
  EXPECT_EQ(coordinator->results()[0].survivors, (std::vector<std::int64_t>{0, 1, 2}));
  for (const auto& round : g.rounds) {
    ASSERT_TRUE(round->result());
    EXPECT_EQ(centred(round->result()->total, 64), g.sum_of({0, 1, 2}));
  }
}

INSTANTIATE_TEST_SUITE_P(, Steps,
                         ::testing::Values(std::pair{0, "keys"}, std::pair{1, "shares"},
                                           std::pair{2, "vector"}));

TEST(SessionText, IsReadBackAndRefusedWhereItIsUnsound) {
  std::vector<Bytes> seeds;
  for (int i = 0; i < 5; ++i) seeds.push_back(signing_seed());
  const Session good = testing::made_up_session(5, 1, 4, 2, 64, seeds);
  EXPECT_EQ(parse_session(to_text(good)), good);
  const auto refused = [&](auto change) {
    Session session = good;
    change(session);
    EXPECT_THROW(parse_session(to_text(session)), ProtocolError);
  };
  refused([](Session& s) { s.threshold = 3, s.honest = 2; });  // (5 + 1)/2
  refused([](Session& s) { s.colluding = 0, s.honest = 4; });
  refused([](Session& s) { s.honest = 4; });
  refused([](Session& s) { s.members[1].key = s.members[0].key; });
  refused([](Session& s) { s.members.resize(2); });
  refused([](Session& s) { s.items[0].sigma = 0; });
  refused([](Session& s) { s.items[0].grid = 4; });  // 100/√3/16 < 4
  refused([](Session& s) { s.bits = 32, s.items[0].most = 1e9; });
  refused([](Session& s) { s.plan = "gaussian("; });
  refused([](Session& s) { s.plan = "gaussian(101)"; });  // cheaper than what is summed
  refused([](Session& s) { s.spare = 1; });               // and not paid for
  EXPECT_THROW(parse_session(to_text(good) + " "), ProtocolError);
  EXPECT_THROW(parse_session("{}"), ProtocolError);
  EXPECT_EQ(least_threshold(3, 1), 3);
  EXPECT_EQ(least_threshold(4, 1), 3);
  EXPECT_EQ(least_threshold(100, 39), 70);
}

TEST(SessionText, AMeanStatesNoLessThanOneUnitMovesItsHalves) {
  std::vector<Bytes> seeds;
  for (int i = 0; i < 5; ++i) seeds.push_back(signing_seed());
  Session base = testing::made_up_session(5, 1, 4, 2, 64, seeds);
  EXPECT_EQ(to_text(base).find("bounds"),
            std::string::npos);  // sessions of earlier versions have the same bytes
  for (const auto& [relation, moved] : {std::pair{"add-remove", 1.0},
                                        {"zero-out", 1.0},
                                        {"replace-one", std::nextafter(std::sqrt(2), 2)}}) {
    base.relation = relation;
    const Session good = session_of_sums(base, item_of_mean(base, {-40, 60}, 1e6), 5);
    EXPECT_EQ(parse_session(to_text(good)), good);
    EXPECT_GE(good.items[0].sensitivity * good.items[0].sensitivity,
              relation == std::string("replace-one") ? 2 : 1);
    EXPECT_LE(good.items[0].sensitivity, moved);
    const auto refused = [&](auto change) {
      Session session = good;
      change(session);
      session.plan = print(plan_of_sums(session));
      EXPECT_THROW(parse_session(to_text(session)), ProtocolError);
    };
    refused(
        [&](Session& s) { s.items[0].sensitivity = std::nextafter(good.items[0].sensitivity, 0); });
    refused([](Session& s) { s.items[0].size = 3; });
    refused([](Session& s) { s.items[0].bounds = ValueBounds{60, -40}; });
    refused([](Session& s) { s.items[0].bounds = ValueBounds{1, 1}; });
    refused([](Session& s) { s.items[0].bounds = ValueBounds{-1e308, 1e308}; });
    refused([](Session& s) { s.items[0].most = 1e10; });
    refused([](Session& s) { s.items.push_back(s.items[0]); });
  }
  base.relation = "as stated";
  EXPECT_THROW((void)item_of_mean(base, {0, 1}, 10), InvalidValue);
}

TEST(FingerprintWords, AreFive) {
  const std::string words = fingerprint_words(std::string(64, 'a'));
  EXPECT_EQ(words.size(), 29U);
  EXPECT_NE(words, fingerprint_words(std::string(64, 'b')));
}

}  // namespace
}  // namespace sotto
