// A member's part of a round.
#include <algorithm>
#include <map>

#include "federated/messages.hpp"

namespace sotto {

using namespace federated_detail;

namespace {

enum class Stage : std::uint8_t { begun = 1, contributed, listed };

// What the state on disk holds; a later stage has more of it.
struct Kept {
  std::int64_t round = 0;
  std::int64_t elements = 0;
  Stage stage = Stage::begun;
  Bytes channel, mask, self_mask;               // secrets
  std::vector<Bytes> mask_shares, self_shares;  // dealt to each member
  // contributed
  Bytes key_list;                                      // hash of the message
  std::vector<std::int64_t> sharers;                   //
  std::map<std::int64_t, Bytes> held_mask, held_self;  // shares that others dealt to this member
  Bytes vector;                                        // masked
  // listed
  Bytes list;

  ~Kept() {
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
  for (const auto& [member, share] : shares) writer.number(static_cast<std::uint64_t>(member), 4).bytes(share);
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

Bytes to_bytes(const Kept& kept) {
  Writer writer;
  writer.number(static_cast<std::uint64_t>(kept.round)).number(static_cast<std::uint64_t>(kept.elements));
  writer.number(static_cast<std::uint64_t>(kept.stage), 1).bytes(kept.channel).bytes(kept.mask).bytes(kept.self_mask);
  writer.number(kept.mask_shares.size(), 4);
  for (const Bytes& share : kept.mask_shares) writer.bytes(share);
  for (const Bytes& share : kept.self_shares) writer.bytes(share);
  if (kept.stage >= Stage::contributed) {
    writer.bytes(kept.key_list).numbers(kept.sharers);
    write(writer, kept.held_mask);
    write(writer, kept.held_self);
    writer.bytes(kept.vector);
  }
  if (kept.stage >= Stage::listed) writer.bytes(kept.list);
  return writer.made();
}

void read_kept(const Bytes& bytes, Kept& kept) {
  Reader reader(bytes);
  kept.round = static_cast<std::int64_t>(reader.number());
  kept.elements = static_cast<std::int64_t>(reader.number());
  kept.stage = static_cast<Stage>(reader.number(1));
  kept.channel = reader.bytes();
  kept.mask = reader.bytes();
  kept.self_mask = reader.bytes();
  const std::uint64_t members = reader.number(4);
  for (std::uint64_t i = 0; i < members; ++i) kept.mask_shares.push_back(reader.bytes());
  for (std::uint64_t i = 0; i < members; ++i) kept.self_shares.push_back(reader.bytes());
  if (kept.stage >= Stage::contributed) {
    kept.key_list = reader.bytes();
    kept.sharers = reader.numbers(static_cast<std::size_t>(members));
    kept.held_mask = read_map(reader);
    kept.held_self = read_map(reader);
    kept.vector = reader.bytes();
  }
  if (kept.stage >= Stage::listed) kept.list = reader.bytes();
  reader.end();
}

}  // namespace

struct MemberRound::State {
  const AgreedSession& agreed;
  std::int64_t self;
  Primitives& primitives;
  RoundJournal& journal;
  Kept kept = {};
  std::map<std::int64_t, Keys> keys = {};  // of the key list that was shown
  Bytes key_list = {};                     // its hash
  std::unique_ptr<RoundCheck> check = {};

  [[nodiscard]] std::int64_t members() const { return agreed.session.size(); }
  [[nodiscard]] std::string use(const std::string& what, std::int64_t first = -1, std::int64_t second = -1) const {
    return purpose(agreed, kept.round, what, first, second);
  }
  [[nodiscard]] Bytes message(Kind kind, Bytes body) const { return signed_message(agreed, primitives, self, kind, kept.round, std::move(body)); }

  void make_secrets() {
    kept.channel = primitives.secret();
    kept.mask = primitives.secret();
    kept.self_mask = primitives.secret();
    kept.mask_shares = primitives.split(kept.mask, agreed.session.threshold, members());
    kept.self_shares = primitives.split(kept.self_mask, agreed.session.threshold, members());
    journal.keep(to_bytes(kept));
  }

  // What is not on the disk has not happened: where keeping fails, the same message asks again.
  void keep(Stage stage) {
    const Stage before = kept.stage;
    kept.stage = stage;
    try {
      journal.keep(to_bytes(kept));
    } catch (...) {
      kept.stage = before;
      throw;
    }
  }

  void start_check() { check = std::make_unique<RoundCheck>(agreed, primitives, kept.round, kept.elements); }

  [[nodiscard]] Bytes own_keys() const {
    Keys own{primitives.public_key(kept.channel),
             primitives.public_key(kept.mask),
             primitives.hash(Writer().bytes(use("commitment", self)).bytes(kept.self_mask).made()),
             {},
             {}};
    for (std::int64_t v = 0; v < members(); ++v) {
      own.mask_shares.push_back(share_hash(primitives, agreed, kept.round, self, v, "mask share", kept.mask_shares[static_cast<std::size_t>(v)]));
      own.self_shares.push_back(share_hash(primitives, agreed, kept.round, self, v, "self share", kept.self_shares[static_cast<std::size_t>(v)]));
    }
    return message(Kind::keys, federated_detail::to_bytes(own));
  }

  std::optional<Bytes> on_key_list(const Bytes& bytes) {
    const Bytes hash = primitives.hash(bytes);
    if (kept.stage >= Stage::contributed && hash != kept.key_list) {
      throw ProtocolError("the coordinator shows other keys than those for which this member's vector is masked");
    }
    check->key_list(bytes);
    std::map<std::int64_t, Keys> shown;
    for (const NamedBytes& one : read_named(read_envelope(bytes).body, members()))
      shown.emplace(one.member, read_keys(read_envelope(one.bytes).body, members()));
    if (static_cast<std::int64_t>(shown.size()) < agreed.session.threshold)
      throw ProtocolError("the coordinator shows keys of fewer members than the threshold");
    const auto own = shown.find(self);
    if (own == shown.end() && kept.stage == Stage::begun) return std::nullopt;  // its keys came too late: it sees the end of this round alone
    if (own == shown.end() || own->second.mask != primitives.public_key(kept.mask) || own->second.channel != primitives.public_key(kept.channel)) {
      throw ProtocolError(
          "the coordinator shows keys in this member's name that this process did not make: another process takes part with this member's key, or "
          "the coordinator lies");
    }
    keys = std::move(shown);
    key_list = hash;
    std::vector<SealedShares> dealt;
    for (const auto& [v, of] : keys) {
      if (v == self) continue;
      const Bytes key = primitives.agreed(kept.channel, of.channel, use("channel", self, v));
      const Bytes plain = Writer().bytes(kept.mask_shares[static_cast<std::size_t>(v)]).bytes(kept.self_shares[static_cast<std::size_t>(v)]).made();
      SealedShares one{self, v, primitives.sealed(key, plain, use("shares", self, v)), {}};
      one.signature = primitives.signature(signed_part(agreed, kept.round, one));
      dealt.push_back(std::move(one));
    }
    return message(Kind::shares, federated_detail::to_bytes(dealt));
  }

  // Opens what was dealt to this member.
  void take_shares(const std::vector<SealedShares>& dealt) {
    std::map<std::int64_t, Bytes> of_mask{{self, kept.mask_shares[static_cast<std::size_t>(self)]}};
    std::map<std::int64_t, Bytes> of_self{{self, kept.self_shares[static_cast<std::size_t>(self)]}};
    for (const SealedShares& one : dealt) {
      const auto keys_of = keys.find(one.from);
      if (one.to != self || keys_of == keys.end() || of_mask.contains(one.from))
        throw ProtocolError("the coordinator shows shares that are not for this member");
      const std::string& dealer = name_of(agreed, one.from);
      if (!primitives.is_signed(signed_part(agreed, kept.round, one), one.signature,
                                agreed.session.members[static_cast<std::size_t>(one.from)].key)) {
        throw ProtocolError("shares in the name of " + dealer + " are not signed with its key");
      }
      const Bytes key = primitives.agreed(kept.channel, keys_of->second.channel, use("channel", one.from, self));
      const auto plain = primitives.opened(key, one.sealed, use("shares", one.from, self));
      if (!plain) throw ProtocolError("shares of " + dealer + " cannot be opened");
      Reader reader(*plain);
      const Bytes mask_share = reader.bytes();
      const Bytes self_share = reader.bytes();
      reader.end();
      if (share_hash(primitives, agreed, kept.round, one.from, self, "mask share", mask_share) !=
              keys_of->second.mask_shares[static_cast<std::size_t>(self)] ||
          share_hash(primitives, agreed, kept.round, one.from, self, "self share", self_share) !=
              keys_of->second.self_shares[static_cast<std::size_t>(self)]) {
        throw ProtocolError(dealer + " dealt other shares than it committed to");
      }
      of_mask[one.from] = mask_share;
      of_self[one.from] = self_share;
    }
    kept.held_mask = std::move(of_mask);
    kept.held_self = std::move(of_self);
  }

  Bytes on_share_list(const Bytes& bytes, const std::function<Bytes()>& contribution) {
    const auto dealt = read_shares(read_unsigned(agreed, bytes, Kind::share_list, kept.round).body, members());
    if (kept.stage == Stage::begun) {
      if (key_list.empty()) throw ProtocolError("the coordinator shows shares before keys");
      if (static_cast<std::int64_t>(dealt.size()) + 1 < agreed.session.threshold)
        throw ProtocolError("fewer members than the threshold dealt shares");
      take_shares(dealt);
      std::vector<SignedMask> masks{{primitives.derived(kept.self_mask, use("self mask", self)), false}};
      kept.sharers.clear();
      for (const auto& [v, share] : kept.held_mask) {
        kept.sharers.push_back(v);
        if (v == self) continue;
        const Bytes key = primitives.agreed(kept.mask, keys.at(v).mask, use("mask", std::min(self, v), std::max(self, v)));
        masks.push_back({key, v < self});
      }
      kept.vector = contribution();
      primitives.mask(kept.vector, masks);
      kept.key_list = key_list;
      keep(Stage::contributed);  // the noise is drawn: from here on these bytes are sent, and no others
    } else {
      std::vector<std::int64_t> shown{self};
      for (const SealedShares& one : dealt) shown.push_back(one.from);
      std::sort(shown.begin(), shown.end());
      if (shown != kept.sharers) throw ProtocolError("the coordinator shows other sharers than those for whom this member's vector is masked");
    }
    const Bytes sharers = sharers_hash(primitives, kept.sharers);
    const Bytes statement = primitives.signature(sharers_statement(agreed, kept.round, self, sharers));
    return message(Kind::masked, federated_detail::to_bytes(Masked{sharers, statement, kept.vector}));
  }

  // Every survivor's vector is masked for the sharers of this list: of one that is not, the masks with those who dropped would be all it has.
  void check_statements(const SurvivorList& list, const std::vector<NamedBytes>& statements) const {
    const Bytes sharers = sharers_hash(primitives, list.sharers);
    std::vector<std::int64_t> stated;
    for (const NamedBytes& one : statements) {
      stated.push_back(one.member);
      if (!primitives.is_signed(sharers_statement(agreed, kept.round, one.member, sharers), one.bytes,
                                agreed.session.members[static_cast<std::size_t>(one.member)].key)) {
        throw ProtocolError("the coordinator shows no signature of " + name_of(agreed, one.member) +
                            " that its vector is masked for the sharers of the list");
      }
    }
    if (stated != list.survivors)
      throw ProtocolError("the coordinator's list of survivors is without the statement of each that its vector is masked for the sharers");
  }

  Bytes on_list(const Bytes& bytes) {
    const ListMessage shown = read_list_message(read_unsigned(agreed, bytes, Kind::list, kept.round).body, members());
    const Bytes& list_bytes = shown.list;
    if (kept.stage == Stage::begun) throw ProtocolError("the coordinator shows survivors before this member's vector was asked for");
    const SurvivorList list = read_list(agreed, kept.round, list_bytes);
    if (list.sharers != kept.sharers) throw ProtocolError("the coordinator's list has other sharers than it showed this member");
    if (kept.stage == Stage::listed && list_bytes != kept.list) {
      throw ProtocolError("the coordinator shows a second list of survivors: one was signed, and no other is");
    }
    check_statements(list, shown.statements);
    if (kept.stage == Stage::contributed) {
      kept.list = list_bytes;
      keep(Stage::listed);  // one list a round, also after a restart
    }
    return message(Kind::list_signature, kept.list);
  }

  Bytes on_list_signatures(const Bytes& bytes) {
    const auto signatures = read_named(read_unsigned(agreed, bytes, Kind::list_signatures, kept.round).body, members());
    if (kept.stage != Stage::listed) throw ProtocolError("the coordinator asks for shares before this member signed a list of survivors");
    for (const NamedBytes& one : signatures) {
      const Envelope inner = read_signed(agreed, primitives, one.bytes, Kind::list_signature, kept.round);
      if (inner.sender != one.member || inner.body != kept.list) {
        throw ProtocolError(name_of(agreed, one.member) + " signed another list of survivors than this member: nothing is revealed");
      }
    }
    if (static_cast<std::int64_t>(signatures.size()) < agreed.session.threshold) {
      throw ProtocolError("fewer members than the threshold signed the list of survivors: nothing is revealed");
    }
    const SurvivorList list = read_list(agreed, kept.round, kept.list);
    std::vector<NamedBytes> revealed;
    for (const std::int64_t v : list.sharers) {
      const bool survived = std::binary_search(list.survivors.begin(), list.survivors.end(), v);
      revealed.push_back({v, survived ? kept.held_self.at(v) : kept.held_mask.at(v)});
    }
    return message(Kind::reveal, federated_detail::to_bytes(revealed));
  }

  void on_masked(const Bytes& bytes) {
    const Envelope envelope = read_envelope(bytes);
    if (envelope.sender == self && kept.stage >= Stage::contributed && read_masked(envelope.body).vector != kept.vector) {
      throw ProtocolError("the coordinator shows another vector in this member's name");
    }
    check->masked(bytes);
  }
};

MemberRound::MemberRound(const AgreedSession& agreed, std::int64_t self, Primitives& primitives, RoundJournal& journal, std::int64_t round,
                         std::int64_t elements)
    : state_(new State{agreed, self, primitives, journal}) {
  state_->kept.round = round;
  state_->kept.elements = elements;
  state_->make_secrets();
  state_->start_check();
}
MemberRound::MemberRound(const AgreedSession& agreed, std::int64_t self, Primitives& primitives, RoundJournal& journal, const Bytes& state)
    : state_(new State{agreed, self, primitives, journal}) {
  read_kept(state, state_->kept);
  state_->start_check();
}
MemberRound::~MemberRound() = default;

std::int64_t MemberRound::round() const { return state_->kept.round; }
Bytes MemberRound::keys() const { return state_->own_keys(); }
bool MemberRound::has_contributed() const { return state_->kept.stage != Stage::begun; }
const std::optional<RoundResult>& MemberRound::result() const { return state_->check->result(); }

std::optional<Bytes> MemberRound::receive(const Bytes& message, const std::function<Bytes()>& contribution) {
  State& s = *state_;
  switch (read_envelope(message).kind) {
    case Kind::key_list: return s.on_key_list(message);
    case Kind::share_list: return s.on_share_list(message, contribution);
    case Kind::list: return s.on_list(message);
    case Kind::list_signatures: return s.on_list_signatures(message);
    case Kind::opening: s.check->opening(message); return std::nullopt;
    case Kind::masked: s.on_masked(message); return std::nullopt;
    default: throw ProtocolError("the coordinator sent a message that has no place in a round");
  }
}

}  // namespace sotto
