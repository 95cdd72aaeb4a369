// Verifies a finished round from its public messages. The coordinator may have forged any of them,
// so each check names the lie that it detects.
#include <algorithm>
#include <map>

#include "federated/messages.hpp"

namespace sotto {

using namespace federated_detail;

struct RoundCheck::State {
  const SessionContext& context;
  Primitives& primitives;
  std::int64_t round;
  std::int64_t elements;
  std::map<std::int64_t, Keys> keys;
  std::optional<SurvivorList> list;
  std::map<std::int64_t, Bytes>
      secrets;  // a survivor's self-mask secret, a dropped member's mask secret
  std::vector<std::int64_t> added;
  Bytes total;
  std::optional<RoundResult> result;

  [[nodiscard]] bool survives(std::int64_t member) const {
    return std::binary_search(list->survivors.begin(), list->survivors.end(), member);
  }

  // Throws unless at least t members signed this one list. Two lists cannot both have t signatures,
  // so no second sum can be opened.
  void require_signed(const Bytes& list_bytes, const std::vector<NamedBytes>& signatures) {
    std::int64_t signers = 0;
    for (const NamedBytes& one : signatures) {
      const Envelope inner =
          read_signed(context, primitives, one.bytes, Kind::list_signature, round);
      if (inner.sender != one.member || inner.body != list_bytes) {
        throw ProtocolError("the coordinator shows a signature of " + name_of(context, one.member) +
                            " that is for another list of survivors");
      }
      ++signers;
    }
    if (signers < context.session.threshold) {
      throw ProtocolError("the list of survivors has " + std::to_string(signers) +
                          " signatures, and the threshold is " +
                          std::to_string(context.session.threshold));
    }
  }

  // Returns the revealed secrets by member. Throws unless each is the one that its owner committed
  // to: a wrong secret would leave a mask in the sum, or hide that a share was forged.
  [[nodiscard]] std::map<std::int64_t, Bytes> verified_secrets(
      const SurvivorList& survivor_list, const std::vector<NamedBytes>& named) const {
    std::map<std::int64_t, Bytes> revealed;
    for (const NamedBytes& one : named) revealed.emplace(one.member, one.bytes);
    for (const std::int64_t member : survivor_list.sharers) {
      const auto own_keys = keys.find(member);
      const auto secret = revealed.find(member);
      if (own_keys == keys.end() || secret == revealed.end()) {
        throw ProtocolError("the coordinator left out the keys or the secret of " +
                            name_of(context, member));
      }
      const bool survived = std::binary_search(survivor_list.survivors.begin(),
                                               survivor_list.survivors.end(), member);
      const bool fits =
          survived ? primitives.hash(Writer()
                                         .bytes(purpose(context, round, "commitment", member))
                                         .bytes(secret->second)
                                         .build()) == own_keys->second.self_mask
                   : primitives.public_key(secret->second) == own_keys->second.mask;
      if (!fits) {
        throw ProtocolError("the secret that was revealed for " + name_of(context, member) +
                            " is not the one that it committed to: the sum is not used");
      }
    }
    return revealed;
  }

  // Removes the masks that did not cancel: every survivor's self-mask, and the masks between
  // survivors and dropped members.
  void finish() {
    std::vector<SignedMask> masks;
    for (const std::int64_t v : list->survivors)
      masks.push_back(
          {primitives.derive_key(secrets.at(v), purpose(context, round, "self mask", v)), true});
    RoundResult sum{list->survivors, {}, {}};
    for (const std::int64_t w : list->sharers) {
      if (survives(w)) continue;
      sum.dropped.push_back(w);
      for (const std::int64_t v : list->survivors) {
        const Bytes key =
            primitives.agree_key(secrets.at(w), keys.at(v).mask,
                                 purpose(context, round, "mask", std::min(v, w), std::max(v, w)));
        masks.push_back({key, v < w});  // the member with the lower index added it
      }
    }
    primitives.mask(total, masks);
    sum.total = std::move(total);
    result = std::move(sum);
  }
};

RoundCheck::RoundCheck(const SessionContext& context, Primitives& primitives, std::int64_t round,
                       std::int64_t elements)
    : state_(new State{context, primitives, round, elements, {}, {}, {}, {}, {}, {}}) {}
RoundCheck::~RoundCheck() = default;

void RoundCheck::key_list(const Bytes& message) {
  State& s = *state_;
  const Envelope envelope = read_unsigned(s.context, message, Kind::key_list, s.round);
  std::map<std::int64_t, Keys> keys;
  for (const NamedBytes& one : read_named(envelope.body, s.context.session.size())) {
    const Envelope inner = read_signed(s.context, s.primitives, one.bytes, Kind::keys, s.round);
    if (inner.sender != one.member)
      throw ProtocolError("the coordinator shows keys of " + name_of(s.context, inner.sender) +
                          " under the name of " + name_of(s.context, one.member));
    keys.emplace(one.member, read_keys(inner.body, s.context.session.size()));
  }
  s.keys = std::move(keys);
}

void RoundCheck::opening(const Bytes& message) {
  State& s = *state_;
  const Envelope envelope = read_unsigned(s.context, message, Kind::opening, s.round);
  Reader reader(envelope.body);
  const Bytes list_bytes = reader.bytes();
  const auto signatures = read_named(reader.view(), s.context.session.size());
  const auto secrets = read_named(reader.view(), s.context.session.size());
  reader.end();
  const SurvivorList list = read_list(s.context, s.round, list_bytes);
  s.require_signed(list_bytes, signatures);
  std::map<std::int64_t, Bytes> revealed = s.verified_secrets(list, secrets);
  s.list = list;
  s.secrets = std::move(revealed);
  s.added.clear();
  s.total.clear();
  s.result.reset();
}

void RoundCheck::masked(const Bytes& message) {
  State& s = *state_;
  if (s.result) return;
  if (!s.list)
    throw ProtocolError("the coordinator sent a masked vector before the opening of the round");
  const Envelope envelope = read_signed(s.context, s.primitives, message, Kind::masked, s.round);
  const Masked masked = read_masked(envelope.body);
  if (!s.survives(envelope.sender))
    throw ProtocolError("the coordinator adds the vector of " +
                        name_of(s.context, envelope.sender) +
                        ", which is not in the list of survivors");
  if (std::find(s.added.begin(), s.added.end(), envelope.sender) != s.added.end()) return;
  // The masks cancel only among vectors that are masked for the same sharers.
  if (masked.sharers != sharers_hash(s.primitives, s.list->sharers)) {
    throw ProtocolError("the vector of " + name_of(s.context, envelope.sender) +
                        " is masked for other sharers than those of the list: the coordinator "
                        "showed that member another list");
  }
  add_vector(s.context, s.primitives, envelope.sender, s.total, masked.vector, s.elements);
  s.added.push_back(envelope.sender);
  if (s.added.size() == s.list->survivors.size()) s.finish();
}

const std::optional<RoundResult>& RoundCheck::result() const { return state_->result; }

}  // namespace sotto
