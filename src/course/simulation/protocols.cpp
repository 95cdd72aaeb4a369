// Parties exchange messages through mailboxes; no party reads another party's state.
#include "course/simulation/protocols.hpp"

#include <cmath>
#include <deque>
#include <numeric>

#include "sotto/random/noise.hpp"
#include "sotto/random/uniform.hpp"

namespace sotto::course_detail {
namespace {

using User = MaskGraph::User;
constexpr User server =
    UINT32_MAX;  // the curator, coordinator, shuffler, or reader of the token's final value

struct Message {
  User to;
  Units value;
};

// The mailboxes: messages that were sent and not yet read.
class Mailboxes {
 public:
  explicit Mailboxes(std::size_t users) : boxes_(users) {}
  void send(Message message) { box(message.to).push_back(message.value); }
  std::deque<Units> receive(User reader) { return std::exchange(box(reader), {}); }

 private:
  std::deque<Units>& box(User user) { return user == server ? server_ : boxes_[user]; }
  std::vector<std::deque<Units>> boxes_;
  std::deque<Units> server_;
};

class Party {
 public:
  Party(User self, Units value) : self_(self), value_(value) {}

  void share_mask(User other, Units mask, Mailboxes& mail) {
    masks_ += mask;
    mail.send({.to = other, .value = Units{0} - mask});
  }
  void publish(Units noise, Mailboxes& mail) {
    for (const Units mask : mail.receive(self_)) masks_ += mask;
    mail.send({.to = server, .value = value_ + masks_ + noise});
  }
  // Receives the token, adds to it, and sends it to the next user.
  void pass(bool contributes, Units noise, User next, Mailboxes& mail) {
    Units token = 0;
    for (const Units one : mail.receive(self_)) token += one;
    mail.send({.to = next, .value = token + (contributes ? value_ : 0) + noise});
  }

 private:
  User self_;
  Units value_;
  Units masks_ = 0;
};

std::vector<Party> parties_of(const Draws& draws) {
  std::vector<Party> parties;
  for (std::size_t u = 0; u < draws.values.size(); ++u)
    parties.emplace_back(static_cast<User>(u), draws.values[u]);
  return parties;
}

Units read_all(Mailboxes& mail) {
  Units sum = 0;
  for (const Units one : mail.receive(server)) sum += one;
  return sum;
}

Units fresh_mask(const RoundedNoise& noise) {
  return static_cast<Units>(static_cast<std::int64_t>(std::ldexp(noise.add(0), -noise.grid())));
}

Units gopa(const Round& round, const MaskGraph& graph, const Draws& draws) {
  std::vector<Party> parties = parties_of(draws);
  Mailboxes mail(parties.size());
  const RoundedNoise masks(NoiseKind::gaussian, round.mask_scale, round.grid);
  graph.for_each_edge([&](User u, User v) {
    const auto left = draws.residue.find(edge_key(u, v));
    parties[u].share_mask(v, left == draws.residue.end() ? fresh_mask(masks) : left->second, mail);
  });
  for (std::size_t u = 0; u < parties.size(); ++u) {
    if (!draws.dropped[u]) parties[u].publish(draws.noise[u], mail);
  }
  return read_all(mail);
}

// Passes a token along the path. The last user adds fresh noise a second time, for the publication.
Units token(const Round& round, const Draws& draws) {
  std::vector<Party> parties = parties_of(draws);
  Mailboxes mail(parties.size());
  std::vector<std::int64_t> visits(parties.size());
  for (std::size_t hop = 0; hop < draws.path.size(); ++hop) {
    const User at = draws.path[hop];
    const User next = hop + 1 < draws.path.size() ? draws.path[hop + 1] : server;
    const bool contributes = visits[at]++ < round.rounds;
    parties[at].pass(contributes, draws.noise[hop] + (next == server ? draws.noise.back() : 0),
                     next, mail);
  }
  return read_all(mail);
}

Units shuffled(const Draws& draws) {
  std::vector<Party> parties = parties_of(draws);  // a party's value is its randomized bit
  Mailboxes mail(parties.size());
  for (Party& party : parties) party.publish(0, mail);
  const std::deque<Units> sent = mail.receive(server);
  std::vector<Units> order(sent.begin(), sent.end());
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[uniform_below(i)]);
  return std::accumulate(order.begin(), order.end(), Units{0});
}

Units total(const std::vector<Units>& units) {
  return std::accumulate(units.begin(), units.end(), Units{0});
}

}  // namespace

Units sum_by_messages(const Round& round, const MaskGraph& graph, const Draws& draws) {
  switch (round.model) {
    case TrustModel::gopa: return gopa(round, graph, draws);
    case TrustModel::shuffle: return shuffled(draws);
    case TrustModel::ring:
    case TrustModel::walk: return token(round, draws);
    case TrustModel::central:
    case TrustModel::local: break;
  }
  std::vector<Party> parties = parties_of(draws);
  Mailboxes mail(parties.size());
  for (std::size_t u = 0; u < parties.size(); ++u)
    parties[u].publish(round.model == TrustModel::local ? draws.noise[u] : 0, mail);
  return read_all(mail) + (round.model == TrustModel::central ? draws.noise.front() : 0);
}

Units sum_by_algebra(const Round& round, const MaskGraph&, const Draws& draws) {
  if (round.model == TrustModel::gopa) {
    Units sum = 0;
    for (std::size_t u = 0; u < draws.values.size(); ++u) {
      if (!draws.dropped[u]) sum += draws.values[u] + draws.noise[u];
    }
    for (const auto& [edge, mask] : draws.residue)
      sum += draws.dropped[edge >> 32U] ? Units{0} - mask : mask;
    return sum;
  }
  Units sum = total(draws.noise);
  if (draws.path.empty()) return sum + total(draws.values);
  std::vector<std::int64_t> visits(draws.values.size());
  for (const User at : draws.path) ++visits[at];
  for (std::size_t u = 0; u < visits.size(); ++u)
    sum += static_cast<Units>(std::min(visits[u], round.rounds)) * draws.values[u];
  return sum;
}

}  // namespace sotto::course_detail
