// The coordinator's side of a round. It verifies members' messages, so that one faulty member is
// blamed at once and does not spoil the round for all.
#include <algorithm>
#include <map>

#include "federated/messages.hpp"

namespace sotto {

using namespace federated_detail;

struct RelayRound::State {
  const SessionContext& context;
  Primitives& primitives;
  std::int64_t round;
  std::int64_t elements;
  RoundCheck check;
  Phase phase = Phase::keys;
  std::string failure = {};
  // Received messages, by sender.
  std::map<std::int64_t, Bytes> keys_of = {};
  std::map<std::int64_t, std::vector<SealedShares>> shares_of = {};
  std::map<std::int64_t, Bytes> masked_of = {};
  std::map<std::int64_t, Bytes> statement_of = {};
  std::map<std::int64_t, Bytes> signature_of = {};
  std::map<std::int64_t, std::map<std::int64_t, Bytes>> revealed_by = {};
  std::map<std::int64_t, Keys> keys = {};
  // Messages to members.
  Bytes key_list = {};
  std::map<std::int64_t, Bytes> share_lists = {};  // by receiver
  Bytes list = {};                                 // bytes of the list of survivors
  SurvivorList survivors = {};
  Bytes list_message = {}, signatures_message = {}, opening = {};

  [[nodiscard]] std::int64_t threshold() const { return context.session.threshold; }
  [[nodiscard]] Bytes message(Kind kind, Bytes body) const {
    return unsigned_message(context, kind, round, std::move(body));
  }
  static std::vector<NamedBytes> named(const std::map<std::int64_t, Bytes>& all) {
    std::vector<NamedBytes> list;
    for (const auto& [member, bytes] : all) list.push_back({member, bytes});
    return list;
  }

  [[nodiscard]] bool is_sharer(std::int64_t member) const { return shares_of.contains(member); }

  void receive_keys(std::int64_t from, const Bytes& bytes) {
    const Envelope envelope = read_from(from, bytes, Kind::keys);
    Keys public_keys = read_keys(envelope.body, context.session.size());
    if (const auto earlier = keys_of.find(from); earlier != keys_of.end()) {
      if (earlier->second != bytes) {
        throw ProtocolError(name_of(context, from) +
                            " sent two sets of keys in one round: two processes take part with its "
                            "key, and one must stop");
      }
      return;
    }
    if (phase != Phase::keys)
      throw LateMessage(name_of(context, from) +
                        " sent its keys too late: it takes part from the next round on");
    keys_of[from] = bytes;
    keys[from] = std::move(public_keys);
    if (answered() == context.session.size()) close();
  }

  void receive_shares(std::int64_t from, const Bytes& bytes) {
    const Envelope envelope = read_from(from, bytes, Kind::shares);
    auto dealt = read_shares(envelope.body, context.session.size());
    if (is_sharer(from)) return;
    if (phase < Phase::shares || !keys_of.contains(from))
      throw ProtocolError(name_of(context, from) +
                          " sent its shares before the key list that contains its keys");
    if (phase != Phase::shares)
      throw LateMessage(name_of(context, from) +
                        " sent its shares too late: it takes part from the next round on");
    std::vector<std::int64_t> to;
    for (const SealedShares& one : dealt) {
      if (one.from != from)
        throw ProtocolError(name_of(context, from) + " deals shares in the name of another");
      to.push_back(one.to);
    }
    std::vector<std::int64_t> expected;
    for (const auto& [member, unused] : keys_of) {
      if (member != from) expected.push_back(member);
    }
    if (to != expected)
      throw ProtocolError(name_of(context, from) + " did not deal a share to every member");
    shares_of[from] = std::move(dealt);
    if (shares_of.size() == keys_of.size()) close();
  }

  void receive_masked(std::int64_t from, const Bytes& bytes) {
    const Envelope envelope = read_from(from, bytes, Kind::masked);
    if (masked_of.contains(from)) return;
    if (phase < Phase::masked || !is_sharer(from))
      throw ProtocolError(name_of(context, from) + " sent its vector before the list of shares");
    if (phase != Phase::masked)
      throw LateMessage(name_of(context, from) + " sent its vector too late: it is not in the sum");
    const Masked masked = read_masked(envelope.body);
    if (masked.sharers != sharers_hash(primitives, members_of(shares_of))) {
      throw ProtocolError(name_of(context, from) +
                          " masked its vector for other members than those that dealt shares");
    }
    const Member& sender = context.session.members[static_cast<std::size_t>(from)];
    if (!primitives.is_signed(sharers_statement(context, round, from, masked.sharers),
                              masked.statement, sender.key)) {
      throw ProtocolError(sender.name + " did not sign the sharers for which its vector is masked");
    }
    Bytes unused;  // verifies the size
    add_vector(context, primitives, from, unused, masked.vector, elements);
    statement_of[from] = masked.statement;
    masked_of[from] = bytes;
    if (masked_of.size() == shares_of.size()) close();
  }

  void receive_signature(std::int64_t from, const Bytes& bytes) {
    const Envelope envelope = read_from(from, bytes, Kind::list_signature);
    if (signature_of.contains(from)) return;
    if (phase < Phase::signatures || !is_sharer(from))
      throw ProtocolError(name_of(context, from) +
                          " signed a list of survivors before one was sent");
    if (envelope.body != list)
      throw ProtocolError(name_of(context, from) + " signed another list of survivors");
    if (phase != Phase::signatures) return;
    signature_of[from] = bytes;
    if (static_cast<std::int64_t>(signature_of.size()) >= threshold()) close();
  }

  void receive_reveal(std::int64_t from, const Bytes& bytes) {
    const Envelope envelope = read_from(from, bytes, Kind::reveal);
    if (phase == Phase::done || revealed_by.contains(from)) return;
    if (phase != Phase::reveals || !is_sharer(from))
      throw ProtocolError(name_of(context, from) +
                          " revealed shares before t members had signed one list");
    std::map<std::int64_t, Bytes> shares;
    for (const NamedBytes& one : read_named(envelope.body, context.session.size())) {
      const auto dealer = keys.find(one.member);
      if (dealer == keys.end())
        throw ProtocolError(name_of(context, from) +
                            " reveals a share of a member that dealt no shares");
      const bool survived =
          std::binary_search(survivors.survivors.begin(), survivors.survivors.end(), one.member);
      const auto holder = static_cast<std::size_t>(from);
      const Bytes& expected =
          survived ? dealer->second.self_shares[holder] : dealer->second.mask_shares[holder];
      if (share_hash(primitives, context, round, one.member, from,
                     survived ? "self share" : "mask share", one.bytes) != expected) {
        throw ProtocolError(name_of(context, from) + " revealed another share than " +
                            name_of(context, one.member) + " dealt to it");
      }
      shares[one.member] = one.bytes;
    }
    if (members_of(shares) != survivors.sharers)
      throw ProtocolError(name_of(context, from) + " did not reveal a share of every sharer");
    revealed_by[from] = std::move(shares);
    if (static_cast<std::int64_t>(revealed_by.size()) >= threshold()) close();
  }

  // Reads a signed message and verifies that it came over its sender's connection.
  Envelope read_from(std::int64_t from, const Bytes& bytes, Kind kind) {
    Envelope envelope = read_signed(context, primitives, bytes, kind, round);
    if (envelope.sender != from)
      throw ProtocolError("a message of " + name_of(context, envelope.sender) +
                          " arrived over the connection of " + name_of(context, from));
    return envelope;
  }

  template <class T>
  static std::vector<std::int64_t> members_of(const std::map<std::int64_t, T>& map) {
    std::vector<std::int64_t> members;
    for (const auto& [member, unused] : map) members.push_back(member);
    return members;
  }

  [[nodiscard]] std::int64_t answered() const {
    switch (phase) {
      case Phase::keys: return static_cast<std::int64_t>(keys_of.size());
      case Phase::shares: return static_cast<std::int64_t>(shares_of.size());
      case Phase::masked: return static_cast<std::int64_t>(masked_of.size());
      case Phase::signatures: return static_cast<std::int64_t>(signature_of.size());
      case Phase::reveals: return static_cast<std::int64_t>(revealed_by.size());
      default: return 0;
    }
  }

  [[nodiscard]] bool waits_for(std::int64_t member) const {
    switch (phase) {
      case Phase::keys: return !keys_of.contains(member);
      case Phase::shares: return keys_of.contains(member) && !shares_of.contains(member);
      case Phase::masked: return is_sharer(member) && !masked_of.contains(member);
      case Phase::signatures: return is_sharer(member) && !signature_of.contains(member);
      case Phase::reveals: return is_sharer(member) && !revealed_by.contains(member);
      default: return false;
    }
  }

  // Closes the phase, as described at RelayRound::close().
  void close() {
    if (phase == Phase::done || phase == Phase::failed) return;
    if (answered() < threshold()) {
      static const char* const what[] = {"sent keys", "dealt shares", "sent a vector",
                                         "signed the list of survivors", "revealed shares"};
      failure = "round " + std::to_string(round) + " failed: " + std::to_string(answered()) +
                " of " + std::to_string(context.session.size()) + " members " +
                what[static_cast<int>(phase)] + " in time, and " + std::to_string(threshold()) +
                " are needed";
      phase = Phase::failed;
      return;
    }
    switch (phase) {
      case Phase::keys: key_list = message(Kind::key_list, to_bytes(named(keys_of))); break;
      case Phase::shares: close_shares(); break;
      case Phase::masked:
        survivors = {members_of(shares_of), members_of(masked_of)};
        list = to_bytes(context, round, survivors);
        list_message = message(Kind::list, to_bytes(ListMessage{list, named(statement_of)}));
        break;
      case Phase::signatures:
        signatures_message = message(Kind::list_signatures, to_bytes(named(signature_of)));
        break;
      case Phase::reveals: open(); return;
      default: break;
    }
    phase = static_cast<Phase>(static_cast<int>(phase) + 1);
  }

  // Sorts the shares by receiver.
  void close_shares() {
    for (const auto& [member, unused] : shares_of) {
      std::vector<SealedShares> to_member;
      for (const auto& [dealer, dealt] : shares_of) {
        for (const SealedShares& one : dealt) {
          if (one.to == member) to_member.push_back(one);
        }
      }
      share_lists[member] = message(Kind::share_list, to_bytes(to_member));
    }
  }

  // Combines the shares of the revealed secrets, publishes them, and verifies the result as members
  // do.
  void open() {
    std::vector<NamedBytes> secrets;
    for (const std::int64_t dealer : survivors.sharers) {
      std::vector<SecretShare> shares;
      for (const auto& [holder, revealed] : revealed_by) {
        if (static_cast<std::int64_t>(shares.size()) < threshold())
          shares.push_back({holder + 1, revealed.at(dealer)});
      }
      secrets.push_back({dealer, primitives.combine(shares)});
    }
    opening = message(
        Kind::opening,
        Writer().bytes(list).bytes(to_bytes(named(signature_of))).bytes(to_bytes(secrets)).build());
    try {
      check.key_list(key_list);
      check.opening(opening);
      for (const auto& [member, bytes] : masked_of) check.masked(bytes);
      phase = Phase::done;
    } catch (const ProtocolError& error) {
      failure = "round " + std::to_string(round) + " failed: " + error.what();
      phase = Phase::failed;
    }
  }
};

RelayRound::RelayRound(const SessionContext& context, Primitives& primitives, std::int64_t round,
                       std::int64_t elements)
    : state_(new State{context, primitives, round, elements,
                       RoundCheck(context, primitives, round, elements)}) {}
RelayRound::~RelayRound() = default;

RelayRound::Phase RelayRound::phase() const { return state_->phase; }
const std::string& RelayRound::failure() const { return state_->failure; }
std::int64_t RelayRound::answered() const { return state_->answered(); }
bool RelayRound::waits_for(std::int64_t member) const { return state_->waits_for(member); }
void RelayRound::close() { state_->close(); }
const std::optional<RoundResult>& RelayRound::result() const { return state_->check.result(); }

void RelayRound::receive(std::int64_t from, const Bytes& message) {
  State& s = *state_;
  switch (read_envelope(message).kind) {
    case Kind::keys: return s.receive_keys(from, message);
    case Kind::shares: return s.receive_shares(from, message);
    case Kind::masked: return s.receive_masked(from, message);
    case Kind::list_signature: return s.receive_signature(from, message);
    case Kind::reveal: return s.receive_reveal(from, message);
    default:
      throw ProtocolError(name_of(s.context, from) + " sent a message of kind " +
                          std::to_string(static_cast<int>(read_envelope(message).kind)) +
                          ", which does not belong to a round");
  }
}

// The messages are key_list, share_list, list, list_signatures, opening and the survivors' vectors.
// A member that dropped gets the key list, the opening and the vectors, too.
std::size_t RelayRound::messages_for(std::int64_t member) const {
  const State& s = *state_;
  if (s.phase == Phase::done) return 2 + (s.is_sharer(member) ? 3 : 0) + s.masked_of.size();
  std::size_t count = 0;
  if (!s.keys_of.contains(member)) return 0;
  if (!s.key_list.empty()) ++count;
  if (!s.is_sharer(member)) return count;
  if (!s.share_lists.empty()) ++count;
  if (!s.list_message.empty()) ++count;
  if (!s.signatures_message.empty()) ++count;
  return count;
}

Bytes RelayRound::message_for(std::int64_t member, std::size_t number) const {
  const State& s = *state_;
  std::vector<const Bytes*> all{&s.key_list};
  if (s.is_sharer(member)) {
    const auto own = s.share_lists.find(member);
    all.insert(all.end(), {own == s.share_lists.end() ? &s.key_list : &own->second, &s.list_message,
                           &s.signatures_message});
  }
  all.push_back(&s.opening);
  for (const auto& [unused, bytes] : s.masked_of) all.push_back(&bytes);
  return *all.at(number);
}

std::vector<Bytes> RelayRound::transcript() const {
  std::vector<Bytes> all{state_->key_list, state_->opening};
  for (const auto& [unused, bytes] : state_->masked_of) all.push_back(bytes);
  return all;
}

}  // namespace sotto
