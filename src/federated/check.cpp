// What anybody can check of a round that is over.
#include <algorithm>
#include <map>

#include "federated/messages.hpp"

namespace sotto {

using namespace federated_detail;

struct RoundCheck::State {
  const AgreedSession& agreed;
  Primitives& primitives;
  std::int64_t round;
  std::int64_t elements;
  std::map<std::int64_t, Keys> keys;
  std::optional<SurvivorList> list;
  std::map<std::int64_t, Bytes> secrets;  // of survivors the self-mask's, of others the mask key's
  std::vector<std::int64_t> added;
  Bytes total;
  std::optional<RoundResult> result;

  [[nodiscard]] bool survives(std::int64_t member) const { return std::binary_search(list->survivors.begin(), list->survivors.end(), member); }

  // The masks that did not cancel: every survivor's own, and those that survivors have with members who dropped.
  void finish() {
    std::vector<SignedMask> masks;
    for (const std::int64_t v : list->survivors) masks.push_back({primitives.derived(secrets.at(v), purpose(agreed, round, "self mask", v)), true});
    RoundResult found{list->survivors, {}, {}};
    for (const std::int64_t w : list->sharers) {
      if (survives(w)) continue;
      found.dropped.push_back(w);
      for (const std::int64_t v : list->survivors) {
        const Bytes key = primitives.agreed(secrets.at(w), keys.at(v).mask, purpose(agreed, round, "mask", std::min(v, w), std::max(v, w)));
        masks.push_back({key, v < w});  // the lower one added it
      }
    }
    primitives.mask(total, masks);
    found.total = std::move(total);
    result = std::move(found);
  }
};

RoundCheck::RoundCheck(const AgreedSession& agreed, Primitives& primitives, std::int64_t round, std::int64_t elements)
    : state_(new State{agreed, primitives, round, elements, {}, {}, {}, {}, {}, {}}) {}
RoundCheck::~RoundCheck() = default;

void RoundCheck::key_list(const Bytes& message) {
  State& s = *state_;
  const Envelope envelope = read_unsigned(s.agreed, message, Kind::key_list, s.round);
  std::map<std::int64_t, Keys> keys;
  for (const NamedBytes& one : read_named(envelope.body, s.agreed.session.size())) {
    const Envelope inner = read_signed(s.agreed, s.primitives, one.bytes, Kind::keys, s.round);
    if (inner.sender != one.member) throw ProtocolError("the coordinator shows keys under the name of another member than signed them");
    keys.emplace(one.member, read_keys(inner.body, s.agreed.session.size()));
  }
  s.keys = std::move(keys);
}

void RoundCheck::opening(const Bytes& message) {
  State& s = *state_;
  const Envelope envelope = read_unsigned(s.agreed, message, Kind::opening, s.round);
  Reader reader(envelope.body);
  const Bytes list_bytes = reader.bytes();
  const auto signatures = read_named(reader.view(), s.agreed.session.size());
  const auto secrets = read_named(reader.view(), s.agreed.session.size());
  reader.end();
  const SurvivorList list = read_list(s.agreed, s.round, list_bytes);
  std::int64_t good = 0;
  for (const NamedBytes& one : signatures) {
    const Envelope inner = read_signed(s.agreed, s.primitives, one.bytes, Kind::list_signature, s.round);
    if (inner.sender != one.member || inner.body != list_bytes) throw ProtocolError("a signature of the list of survivors is of another list");
    ++good;
  }
  if (good < s.agreed.session.threshold) throw ProtocolError("the list of survivors has fewer signatures than the threshold");
  std::map<std::int64_t, Bytes> found;
  for (const NamedBytes& one : secrets) found.emplace(one.member, one.bytes);
  for (const std::int64_t member : list.sharers) {
    const auto keys = s.keys.find(member);
    const auto secret = found.find(member);
    if (keys == s.keys.end() || secret == found.end()) throw ProtocolError("the coordinator left out the keys or the secret of a member");
    const bool survived = std::binary_search(list.survivors.begin(), list.survivors.end(), member);
    const bool fits = survived ? s.primitives.hash(Writer().bytes(purpose(s.agreed, s.round, "commitment", member)).bytes(secret->second).made()) ==
                                     keys->second.self_mask
                               : s.primitives.public_key(secret->second) == keys->second.mask;
    if (!fits) {
      throw ProtocolError("the secret that was opened for " + name_of(s.agreed, member) +
                          " is not the one that it committed to: the sum is not used");
    }
  }
  s.list = list;
  s.secrets = std::move(found);
  s.added.clear();
  s.total.clear();
  s.result.reset();
}

void RoundCheck::masked(const Bytes& message) {
  State& s = *state_;
  if (s.result) return;
  if (!s.list) throw ProtocolError("a masked vector came before the round was opened");
  const Envelope envelope = read_signed(s.agreed, s.primitives, message, Kind::masked, s.round);
  const Masked masked = read_masked(envelope.body);
  if (!s.survives(envelope.sender))
    throw ProtocolError("the coordinator adds a vector of " + name_of(s.agreed, envelope.sender) + ", who is no survivor");
  if (std::find(s.added.begin(), s.added.end(), envelope.sender) != s.added.end()) return;
  if (masked.sharers != sharers_hash(s.primitives, s.list->sharers)) {
    throw ProtocolError("the vector of " + name_of(s.agreed, envelope.sender) +
                        " is masked for other members: the coordinator showed it another list");
  }
  add_vector(s.agreed, s.primitives, envelope.sender, s.total, masked.vector, s.elements);
  s.added.push_back(envelope.sender);
  if (s.added.size() == s.list->survivors.size()) s.finish();
}

const std::optional<RoundResult>& RoundCheck::result() const { return state_->result; }

}  // namespace sotto
