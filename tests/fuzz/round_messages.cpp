// Any bytes as a message of a round, to a member or to the coordinator in any of its phases, whose
// every signature holds: it is taken or a ProtocolError, a member is asked for its vector at most
// once, and keeps something before it sends what depends on it. The first byte chooses who gets the
// rest.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "../support/symbolic.hpp"

namespace {

using namespace sotto;
using namespace sotto::federated_detail;

// Signatures hold, so that what is behind them is tried.
class Credulous : public sotto::testing::FormalPrimitives {
 public:
  using FormalPrimitives::FormalPrimitives;
  bool is_signed(const Bytes&, const Bytes&, const std::string&) override { return true; }
};

struct Disk : RoundJournal {
  void keep(const Bytes& state) override { states.push_back(state); }
  std::vector<Bytes> states;
};

constexpr std::size_t members = 3;

// A round that went well, message by message.
struct Round {
  sotto::testing::Terms terms;
  SessionContext context{{}, Bytes(32, 's')};
  std::vector<std::unique_ptr<Credulous>> primitives;
  std::vector<Bytes> states;                  // of member 1, by stage
  std::array<std::vector<Bytes>, 5> answers;  // to the coordinator, by phase
  std::vector<Bytes> messages;                // to member 1

  Bytes contribution(std::size_t i) {
    return terms.vector(
        {{{sotto::testing::Symbol::Of::value, static_cast<std::int64_t>(i), 0}, 1}});
  }
  Round() {
    for (std::size_t i = 0; i < members; ++i) {
      context.session.members.push_back({"member-" + std::to_string(i + 1),
                                         sotto::testing::formal_key(static_cast<std::int64_t>(i))});
      primitives.push_back(std::make_unique<Credulous>(
          terms, sotto::testing::formal_key(static_cast<std::int64_t>(i))));
    }
    context.session.threshold = members;
    std::vector<Disk> disks(members);
    std::vector<std::unique_ptr<MemberRound>> rounds;
    RelayRound relay(context, *primitives[0], 0, 1);
    for (std::size_t i = 0; i < members; ++i) {
      rounds.push_back(std::make_unique<MemberRound>(context, static_cast<std::int64_t>(i),
                                                     *primitives[i], disks[i], 0, 1));
      answers[0].push_back(rounds[i]->keys());
      relay.receive(static_cast<std::int64_t>(i), answers[0].back());
    }
    for (std::size_t phase = 1; phase < 5; ++phase) {
      for (std::size_t i = 0; i < members; ++i) {
        const Bytes message = relay.message_for(static_cast<std::int64_t>(i), phase - 1);
        if (i == 0) messages.push_back(message);
        answers[phase].push_back(
            rounds[i]->receive(message, [&] { return contribution(i); }).value());
      }
      for (std::size_t i = 0; i < members; ++i)
        relay.receive(static_cast<std::int64_t>(i), answers[phase][i]);
    }
    if (!relay.result()) std::abort();
    for (const Bytes& bytes : relay.transcript()) messages.push_back(bytes);
    states = disks[0].states;
  }
};

void to_member(Round& round, std::size_t stage, bool has_keys, const Bytes& message) {
  Disk disk;
  MemberRound member(round.context, 0, *round.primitives[0], disk, round.states[stage]);
  int contributions = 0;
  const auto contribution = [&] {
    ++contributions;
    return round.contribution(0);
  };
  if (has_keys) (void)member.receive(round.messages[0], contribution);
  for (int i = 0; i < 2; ++i) {
    const std::size_t stored = disk.states.size();
    try {
      (void)member.receive(message, contribution);
    } catch (const ProtocolError&) {
      if (disk.states.size() != stored) std::abort();
    }
  }
  if (contributions > (stage == 0 ? 1 : 0) || disk.states.size() > 1) std::abort();
}

void to_relay(Round& round, std::size_t phase, const Bytes& message) {
  RelayRound relay(round.context, *round.primitives[0], 0, 1);
  for (std::size_t p = 0; p <= phase; ++p) {
    for (std::size_t i = 0; i + (p == phase ? 1 : 0) < members; ++i)
      relay.receive(static_cast<std::int64_t>(i), round.answers[p][i]);
  }
  const auto answered = relay.answered();
  try {
    relay.receive(members - 1, message);
  } catch (const ProtocolError&) {
    if (relay.answered() != answered) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  static std::unique_ptr<Round> now;
  static int used = 0;
  if (used++ % 4096 == 0) now = std::make_unique<Round>();  // terms pile up
  Round& round = *now;
  const Bytes message(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::size_t who = data[0] % 9;
  if (who < 5) {
    to_relay(round, who, message);
  } else {
    to_member(round, who == 5 ? 0 : who - 6, who == 6, message);
  }
  return 0;
}
