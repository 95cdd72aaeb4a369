// Simulated protocols: users that send messages, and the algebra of their sums.
#include "course/simulation/protocols.hpp"

#include <cmath>
#include <deque>
#include <numeric>

#include "sotto/random/noise.hpp"
#include "sotto/random/uniform.hpp"

namespace sotto::course_detail {
namespace {

using User = MaskGraph::User;
constexpr User server = UINT32_MAX;  // the curator, coordinator or shuffler, or the reader of the token at the end

struct Message {
  User to;
  Units value;
};

// Messages that were sent and not yet read, by receiver.
class Mailboxes {
 public:
  explicit Mailboxes(std::size_t users) : boxes_(users) {}
  void send(Message message) { box(message.to).push_back(message.value); }
  std::deque<Units> take(User reader) { return std::exchange(box(reader), {}); }

 private:
  std::deque<Units>& box(User user) { return user == server ? server_ : boxes_[user]; }
  std::vector<std::deque<Units>> boxes_;
  std::deque<Units> server_;
};

// A user that sends messages.
class SimulatedUser {
 public:
  SimulatedUser(User self, Units value) : self_(self), value_(value) {}

  void share_mask(User other, Units mask, Mailboxes& mail) {
    masks_ += mask;
    mail.send({.to = other, .value = Units{0} - mask});
  }
  void publish(Units noise, Mailboxes& mail) {
    for (const Units mask : mail.take(self_)) masks_ += mask;
    mail.send({.to = server, .value = value_ + masks_ + noise});
  }
  // Reads the token, adds to it, and passes it on.
  void pass(bool contributes, Units noise, User next, Mailboxes& mail) {
    Units token = 0;
    for (const Units one : mail.take(self_)) token += one;
    mail.send({.to = next, .value = token + (contributes ? value_ : 0) + noise});
  }

 private:
  User self_;
  Units value_;
  Units masks_ = 0;
};

std::vector<SimulatedUser> users_of(const Draws& draws) {
  std::vector<SimulatedUser> users;
  for (std::size_t u = 0; u < draws.values.size(); ++u) users.emplace_back(static_cast<User>(u), draws.values[u]);
  return users;
}

Units read_all(Mailboxes& mail) {
  Units sum = 0;
  for (const Units one : mail.take(server)) sum += one;
  return sum;
}

Units fresh_mask(const RoundedNoise& noise) { return static_cast<Units>(static_cast<std::int64_t>(std::ldexp(noise.add(0), -noise.grid()))); }

Units gopa(const Round& round, const MaskGraph& graph, const Draws& draws) {
  std::vector<SimulatedUser> users = users_of(draws);
  Mailboxes mail(users.size());
  const RoundedNoise masks(NoiseKind::gaussian, round.mask_scale, round.grid);
  graph.for_each_edge([&](User u, User v) {
    const auto drawn = draws.residue.find(edge_key(u, v));
    users[u].share_mask(v, drawn == draws.residue.end() ? fresh_mask(masks) : drawn->second, mail);
  });
  for (std::size_t u = 0; u < users.size(); ++u) {
    if (!draws.dropped[u]) users[u].publish(draws.noise[u], mail);
  }
  return read_all(mail);
}

// Passes a token along the path. The last user adds noise once more before the sum is published.
Units token(const Round& round, const Draws& draws) {
  std::vector<SimulatedUser> users = users_of(draws);
  Mailboxes mail(users.size());
  std::vector<std::int64_t> visits(users.size());
  for (std::size_t hop = 0; hop < draws.path.size(); ++hop) {
    const User at = draws.path[hop];
    const User next = hop + 1 < draws.path.size() ? draws.path[hop + 1] : server;
    const bool contributes = visits[at]++ < round.rounds;
    users[at].pass(contributes, draws.noise[hop] + (next == server ? draws.noise.back() : 0), next, mail);
  }
  return read_all(mail);
}

Units shuffled(const Draws& draws) {
  std::vector<SimulatedUser> users = users_of(draws);  // the value is the randomized bit
  Mailboxes mail(users.size());
  for (SimulatedUser& user : users) user.publish(0, mail);
  const std::deque<Units> sent = mail.take(server);
  std::vector<Units> order(sent.begin(), sent.end());
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[uniform_below(i)]);
  return std::accumulate(order.begin(), order.end(), Units{0});
}

Units total(const std::vector<Units>& units) { return std::accumulate(units.begin(), units.end(), Units{0}); }

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
  std::vector<SimulatedUser> users = users_of(draws);
  Mailboxes mail(users.size());
  for (std::size_t u = 0; u < users.size(); ++u) users[u].publish(round.model == TrustModel::local ? draws.noise[u] : 0, mail);
  return read_all(mail) + (round.model == TrustModel::central ? draws.noise.front() : 0);
}

Units sum_by_algebra(const Round& round, const MaskGraph&, const Draws& draws) {
  if (round.model == TrustModel::gopa) {
    Units sum = 0;
    for (std::size_t u = 0; u < draws.values.size(); ++u) {
      if (!draws.dropped[u]) sum += draws.values[u] + draws.noise[u];
    }
    for (const auto& [edge, mask] : draws.residue) sum += draws.dropped[edge >> 32U] ? Units{0} - mask : mask;
    return sum;
  }
  Units sum = total(draws.noise);
  if (draws.path.empty()) return sum + total(draws.values);
  std::vector<std::int64_t> visits(draws.values.size());
  for (const User at : draws.path) ++visits[at];
  for (std::size_t u = 0; u < visits.size(); ++u) sum += static_cast<Units>(std::min(visits[u], round.rounds)) * draws.values[u];
  return sum;
}

}  // namespace sotto::course_detail
