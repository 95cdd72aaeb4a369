// A member's side of a round. The coordinator is the adversary: every message from it is verified
// before this member reveals anything in reply, and the state is stored before each reply that must
// not change later.
#include <algorithm>
#include <map>

#include "federated/messages.hpp"

namespace sotto {

using namespace federated_detail;

namespace {

// The stages of a member's round: its keys are made; its vector is masked; it has signed a list.
enum class Stage : std::uint8_t { begun = 1, contributed, listed };

// The state on disk. A later stage has more fields. The destructor wipes the secrets.
struct RoundState {
  std::int64_t round = 0;
  std::int64_t elements = 0;
  Stage stage = Stage::begun;
  Bytes channel, mask, self_mask;  // secrets
  std::vector<Bytes> mask_shares,
      self_shares;  // shares of the two masks' secrets, one for each member
  // From Stage::contributed on:
  Bytes key_list;                     // hash of the key list that was used
  std::vector<std::int64_t> sharers;  // members for which the vector is masked
  std::map<std::int64_t, Bytes> held_mask,
      held_self;  // shares that this member received, by dealer
  Bytes vector;   // masked, with its noise
  // From Stage::listed on:
  Bytes list;  // the one list that this member signs in the round

  ~RoundState() {
    for (Bytes* secret : {&channel, &mask, &self_mask}) wipe(*secret);
    for (auto* shares : {&mask_shares, &self_shares}) {
      for (Bytes& share : *shares) wipe(share);
    }
    for (auto* shares : {&held_mask, &held_self}) {
      for (auto& [member, share] : *shares) wipe(share);
    }
  }
};

void write(Writer& writer, const std::map<std::int64_t, Bytes>& shares) {
  writer.number(shares.size(), 4);
  for (const auto& [member, share] : shares)
    writer.number(static_cast<std::uint64_t>(member), 4).bytes(share);
}
std::map<std::int64_t, Bytes> read_map(Reader& reader) {
  std::map<std::int64_t, Bytes> shares;
  const std::uint64_t count = reader.number(4);
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto member = static_cast<std::int64_t>(reader.number(4));
    shares[member] = reader.bytes();
  }
  return shares;
}

Bytes to_bytes(const RoundState& stored) {
  Writer writer;
  writer.number(static_cast<std::uint64_t>(stored.round))
      .number(static_cast<std::uint64_t>(stored.elements));
  writer.number(static_cast<std::uint64_t>(stored.stage), 1)
      .bytes(stored.channel)
      .bytes(stored.mask)
      .bytes(stored.self_mask);
  writer.number(stored.mask_shares.size(), 4);
  for (const Bytes& share : stored.mask_shares) writer.bytes(share);
  for (const Bytes& share : stored.self_shares) writer.bytes(share);
  if (stored.stage >= Stage::contributed) {
    writer.bytes(stored.key_list).numbers(stored.sharers);
    write(writer, stored.held_mask);
    write(writer, stored.held_self);
    writer.bytes(stored.vector);
  }
  if (stored.stage >= Stage::listed) writer.bytes(stored.list);
  return writer.build();
}

void read_state(const Bytes& bytes, RoundState& stored) {
  Reader reader(bytes);
  stored.round = static_cast<std::int64_t>(reader.number());
  stored.elements = static_cast<std::int64_t>(reader.number());
  stored.stage = static_cast<Stage>(reader.number(1));
  stored.channel = reader.bytes();
  stored.mask = reader.bytes();
  stored.self_mask = reader.bytes();
  const std::uint64_t members = reader.number(4);
  for (std::uint64_t i = 0; i < members; ++i) stored.mask_shares.push_back(reader.bytes());
  for (std::uint64_t i = 0; i < members; ++i) stored.self_shares.push_back(reader.bytes());
  if (stored.stage >= Stage::contributed) {
    stored.key_list = reader.bytes();
    stored.sharers = reader.numbers(static_cast<std::size_t>(members));
    stored.held_mask = read_map(reader);
    stored.held_self = read_map(reader);
    stored.vector = reader.bytes();
  }
  if (stored.stage >= Stage::listed) stored.list = reader.bytes();
  reader.end();
}

}  // namespace

struct MemberRound::State {
  const SessionContext& context;
  std::int64_t self;
  Primitives& primitives;
  RoundJournal& journal;
  RoundState stored = {};
  std::map<std::int64_t, Keys> keys = {};  // from the coordinator's key list
  Bytes key_list = {};                     // hash of that list
  std::unique_ptr<RoundCheck> check = {};

  [[nodiscard]] std::int64_t members() const { return context.session.size(); }
  [[nodiscard]] std::string use(const std::string& what, std::int64_t first = -1,
                                std::int64_t second = -1) const {
    return purpose(context, stored.round, what, first, second);
  }
  [[nodiscard]] Bytes message(Kind kind, Bytes body) const {
    return signed_message(context, primitives, self, kind, stored.round, std::move(body));
  }

  // Makes and stores the secrets before the keys are sent, so that this member signs one set of
  // keys a round. A crash before the store leaves nothing: the round starts again with new secrets.
  void make_secrets() {
    stored.channel = primitives.make_secret();
    stored.mask = primitives.make_secret();
    stored.self_mask = primitives.make_secret();
    stored.mask_shares = primitives.split(stored.mask, context.session.threshold, members());
    stored.self_shares = primitives.split(stored.self_mask, context.session.threshold, members());
    journal.keep(to_bytes(stored));
  }

  // Stores the state in its new stage. If that fails, the stage is as before, nothing is sent, and
  // the same message can be processed again.
  void advance_to(Stage stage) {
    const Stage before = stored.stage;
    stored.stage = stage;
    try {
      journal.keep(to_bytes(stored));
    } catch (...) {
      stored.stage = before;
      throw;
    }
  }

  void start_check() {
    check = std::make_unique<RoundCheck>(context, primitives, stored.round, stored.elements);
  }

  [[nodiscard]] Bytes own_keys() const {
    Keys own{
        primitives.public_key(stored.channel),
        primitives.public_key(stored.mask),
        primitives.hash(Writer().bytes(use("commitment", self)).bytes(stored.self_mask).build()),
        {},
        {}};
    for (std::int64_t v = 0; v < members(); ++v) {
      own.mask_shares.push_back(share_hash(primitives, context, stored.round, self, v, "mask share",
                                           stored.mask_shares[static_cast<std::size_t>(v)]));
      own.self_shares.push_back(share_hash(primitives, context, stored.round, self, v, "self share",
                                           stored.self_shares[static_cast<std::size_t>(v)]));
    }
    return message(Kind::keys, federated_detail::to_bytes(own));
  }

  std::optional<Bytes> on_key_list(const Bytes& bytes) {
    // After the vector is masked, another key list would make this member reveal more about it.
    const Bytes hash = primitives.hash(bytes);
    if (stored.stage >= Stage::contributed && hash != stored.key_list) {
      throw ProtocolError(
          "the coordinator shows another key list than the one for which this member's vector is "
          "masked");
    }
    check->key_list(bytes);
    std::map<std::int64_t, Keys> listed;
    for (const NamedBytes& one : read_named(read_envelope(bytes).body, members()))
      listed.emplace(one.member, read_keys(read_envelope(one.bytes).body, members()));
    if (static_cast<std::int64_t>(listed.size()) < context.session.threshold) {
      throw ProtocolError("the coordinator shows keys of " + std::to_string(listed.size()) +
                          " members, and the threshold is " +
                          std::to_string(context.session.threshold));
    }

    // This member's own keys are in the list, and are the ones that it made.
    const auto own = listed.find(self);
    if (own == listed.end() && stored.stage == Stage::begun)
      return std::nullopt;  // its keys came too late: it only sees the result of this round
    if (own == listed.end() || own->second.mask != primitives.public_key(stored.mask) ||
        own->second.channel != primitives.public_key(stored.channel)) {
      throw ProtocolError(
          "the coordinator shows keys in this member's name that this process did not make: "
          "another process takes part with this member's key, or "
          "the coordinator lies");
    }
    keys = std::move(listed);
    key_list = hash;

    // Seal one share of each secret to every other member, signed for that member alone.
    std::vector<SealedShares> dealt;
    for (const auto& [v, of] : keys) {
      if (v == self) continue;
      const Bytes key = primitives.agree_key(stored.channel, of.channel, use("channel", self, v));
      const Bytes plain = Writer()
                              .bytes(stored.mask_shares[static_cast<std::size_t>(v)])
                              .bytes(stored.self_shares[static_cast<std::size_t>(v)])
                              .build();
      SealedShares one{self, v, primitives.seal(key, plain, use("shares", self, v)), {}};
      one.signature = primitives.sign(signed_part(context, stored.round, one));
      dealt.push_back(std::move(one));
    }
    return message(Kind::shares, federated_detail::to_bytes(dealt));
  }

  // Unseals and verifies the shares that other members dealt to this one. The coordinator passes
  // them on, so each is checked for receiver, signature, seal and the dealer's commitment.
  void receive_shares(const std::vector<SealedShares>& dealt) {
    std::map<std::int64_t, Bytes> of_mask{
        {self, stored.mask_shares[static_cast<std::size_t>(self)]}};
    std::map<std::int64_t, Bytes> of_self{
        {self, stored.self_shares[static_cast<std::size_t>(self)]}};
    for (const SealedShares& one : dealt) {
      const auto keys_of = keys.find(one.from);
      if (one.to != self || keys_of == keys.end() || of_mask.contains(one.from))
        throw ProtocolError(
            "the coordinator shows shares that are not for this member, or two from one dealer");
      const std::string& dealer = name_of(context, one.from);
      if (!primitives.is_signed(signed_part(context, stored.round, one), one.signature,
                                context.session.members[static_cast<std::size_t>(one.from)].key)) {
        throw ProtocolError("shares in the name of " + dealer +
                            " are not signed with that member's key");
      }
      const Bytes key = primitives.agree_key(stored.channel, keys_of->second.channel,
                                             use("channel", one.from, self));
      const auto plain = primitives.unseal(key, one.sealed, use("shares", one.from, self));
      if (!plain)
        throw ProtocolError("the shares of " + dealer + " cannot be unsealed: they were changed");
      Reader reader(*plain);
      const Bytes mask_share = reader.bytes();
      const Bytes self_share = reader.bytes();
      reader.end();
      if (share_hash(primitives, context, stored.round, one.from, self, "mask share", mask_share) !=
              keys_of->second.mask_shares[static_cast<std::size_t>(self)] ||
          share_hash(primitives, context, stored.round, one.from, self, "self share", self_share) !=
              keys_of->second.self_shares[static_cast<std::size_t>(self)]) {
        throw ProtocolError(dealer + " dealt other shares than it committed to");
      }
      of_mask[one.from] = mask_share;
      of_self[one.from] = self_share;
    }
    stored.held_mask = std::move(of_mask);
    stored.held_self = std::move(of_self);
  }

  Bytes on_share_list(const Bytes& bytes, const std::function<Bytes()>& contribution) {
    const auto dealt =
        read_shares(read_unsigned(context, bytes, Kind::share_list, stored.round).body, members());
    if (stored.stage == Stage::begun) {
      if (key_list.empty()) throw ProtocolError("the coordinator shows shares before keys");
      if (static_cast<std::int64_t>(dealt.size()) + 1 < context.session.threshold) {
        throw ProtocolError("the coordinator shows shares of " + std::to_string(dealt.size() + 1) +
                            " members, and the threshold is " +
                            std::to_string(context.session.threshold));
      }
      receive_shares(dealt);

      // The masks: the self-mask, and one with every other sharer, which the one with the higher
      // index subtracts.
      std::vector<SignedMask> masks{
          {primitives.derive_key(stored.self_mask, use("self mask", self)), false}};
      stored.sharers.clear();
      for (const auto& [v, share] : stored.held_mask) {
        stored.sharers.push_back(v);
        if (v == self) continue;
        const Bytes key = primitives.agree_key(stored.mask, keys.at(v).mask,
                                               use("mask", std::min(self, v), std::max(self, v)));
        masks.push_back({key, v < self});
      }

      // Draw the noise, mask, and store the vector before it is sent. A crash before the store
      // leaves no vector that anybody saw, so drawing again is safe. After it only these bytes are
      // ever sent.
      stored.vector = contribution();
      primitives.mask(stored.vector, masks);
      stored.key_list = key_list;
      advance_to(Stage::contributed);
    } else {
      // A repeated request gets the stored vector, if it is for the sharers of that vector.
      std::vector<std::int64_t> listed{self};
      for (const SealedShares& one : dealt) listed.push_back(one.from);
      std::sort(listed.begin(), listed.end());
      if (listed != stored.sharers)
        throw ProtocolError(
            "the coordinator shows other sharers than those for whom this member's vector is "
            "masked");
    }
    const Bytes sharers = sharers_hash(primitives, stored.sharers);
    const Bytes statement =
        primitives.sign(sharers_statement(context, stored.round, self, sharers));
    return message(Kind::masked,
                   federated_detail::to_bytes(Masked{sharers, statement, stored.vector}));
  }

  // Verifies that every survivor signed that its vector is masked for the sharers of this list.
  // Otherwise the coordinator could give a survivor a smaller set of sharers, and its vector would
  // lose all its masks when the secrets of dropped members are revealed.
  void check_statements(const SurvivorList& list, const std::vector<NamedBytes>& statements) const {
    const Bytes sharers = sharers_hash(primitives, list.sharers);
    std::vector<std::int64_t> stated;
    for (const NamedBytes& one : statements) {
      stated.push_back(one.member);
      if (!primitives.is_signed(
              sharers_statement(context, stored.round, one.member, sharers), one.bytes,
              context.session.members[static_cast<std::size_t>(one.member)].key)) {
        throw ProtocolError("the coordinator shows no valid signature of " +
                            name_of(context, one.member) +
                            " that its vector is masked for the sharers of the list");
      }
    }
    if (stated != list.survivors)
      throw ProtocolError(
          "the coordinator does not show one signed statement about the sharers for each survivor "
          "of its list");
  }

  // Signs one list of survivors in a round, and stores it before the signature is sent: two lists
  // with t signatures each would reveal two sums, whose difference is one member's vector.
  Bytes on_list(const Bytes& bytes) {
    const ListMessage listed =
        read_list_message(read_unsigned(context, bytes, Kind::list, stored.round).body, members());
    const Bytes& list_bytes = listed.list;
    if (stored.stage == Stage::begun)
      throw ProtocolError(
          "the coordinator shows a list of survivors before it asked for this member's vector");
    const SurvivorList list = read_list(context, stored.round, list_bytes);
    if (list.sharers != stored.sharers)
      throw ProtocolError("the coordinator's list has other sharers than it showed this member");
    if (stored.stage == Stage::listed && list_bytes != stored.list) {
      throw ProtocolError(
          "the coordinator shows a second list of survivors: this member signed another one, and "
          "signs only one in a round");
    }
    check_statements(list, listed.statements);
    if (stored.stage == Stage::contributed) {
      stored.list = list_bytes;
      advance_to(Stage::listed);
    }
    return message(Kind::list_signature, stored.list);
  }

  // Reveals shares, after t members have signed the list that this member signed. Of every sharer
  // it reveals one secret's share only, never both: both together would unmask that member's
  // vector.
  Bytes on_list_signatures(const Bytes& bytes) {
    const auto signatures = read_named(
        read_unsigned(context, bytes, Kind::list_signatures, stored.round).body, members());
    if (stored.stage != Stage::listed)
      throw ProtocolError(
          "the coordinator asks for shares before this member signed a list of survivors");
    for (const NamedBytes& one : signatures) {
      const Envelope inner =
          read_signed(context, primitives, one.bytes, Kind::list_signature, stored.round);
      if (inner.sender != one.member || inner.body != stored.list) {
        throw ProtocolError(
            name_of(context, one.member) +
            " signed another list of survivors than this member: nothing is revealed");
      }
    }
    if (static_cast<std::int64_t>(signatures.size()) < context.session.threshold) {
      throw ProtocolError("the coordinator shows " + std::to_string(signatures.size()) +
                          " signatures of the list of survivors, and the threshold is " +
                          std::to_string(context.session.threshold) + ": nothing is revealed");
    }
    const SurvivorList list = read_list(context, stored.round, stored.list);
    std::vector<NamedBytes> revealed;
    for (const std::int64_t v : list.sharers) {
      const bool survived = std::binary_search(list.survivors.begin(), list.survivors.end(), v);
      revealed.push_back({v, survived ? stored.held_self.at(v) : stored.held_mask.at(v)});
    }
    return message(Kind::reveal, federated_detail::to_bytes(revealed));
  }

  // Adds a survivor's vector to the check, after comparing this member's own vector with the stored
  // one.
  void on_masked(const Bytes& bytes) {
    const Envelope envelope = read_envelope(bytes);
    if (envelope.sender == self && stored.stage >= Stage::contributed &&
        read_masked(envelope.body).vector != stored.vector) {
      throw ProtocolError("the coordinator shows another vector in this member's name");
    }
    check->masked(bytes);
  }
};

MemberRound::MemberRound(const SessionContext& context, std::int64_t self, Primitives& primitives,
                         RoundJournal& journal, std::int64_t round, std::int64_t elements)
    : state_(new State{context, self, primitives, journal}) {
  state_->stored.round = round;
  state_->stored.elements = elements;
  state_->make_secrets();
  state_->start_check();
}
MemberRound::MemberRound(const SessionContext& context, std::int64_t self, Primitives& primitives,
                         RoundJournal& journal, const Bytes& state)
    : state_(new State{context, self, primitives, journal}) {
  read_state(state, state_->stored);
  state_->start_check();
}
MemberRound::~MemberRound() = default;

std::int64_t MemberRound::round() const { return state_->stored.round; }
Bytes MemberRound::keys() const { return state_->own_keys(); }
bool MemberRound::has_contributed() const { return state_->stored.stage != Stage::begun; }
const std::optional<RoundResult>& MemberRound::result() const { return state_->check->result(); }

std::optional<Bytes> MemberRound::receive(const Bytes& message,
                                          const std::function<Bytes()>& contribution) {
  State& s = *state_;
  switch (read_envelope(message).kind) {
    case Kind::key_list: return s.on_key_list(message);
    case Kind::share_list: return s.on_share_list(message, contribution);
    case Kind::list: return s.on_list(message);
    case Kind::list_signatures: return s.on_list_signatures(message);
    case Kind::opening: s.check->opening(message); return std::nullopt;
    case Kind::masked: s.on_masked(message); return std::nullopt;
    default:
      throw ProtocolError("the coordinator sent a message of kind " +
                          std::to_string(static_cast<int>(read_envelope(message).kind)) +
                          ", which does not belong to a round");
  }
}

}  // namespace sotto
