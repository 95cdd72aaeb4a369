#include "course/simulation/protocols.hpp"

#include <cmath>
#include <deque>
#include <numeric>

#include "sotto/random/noise.hpp"
#include "sotto/random/uniform.hpp"

namespace sotto::course_detail {
namespace {

using User = MaskGraph::User;
constexpr User server = UINT32_MAX;  // curator, coordinator, shuffler or whoever reads the token in the end

struct Message {
  User to;
  Units value;
};

// What was sent and not yet read.
class Post {
 public:
  explicit Post(std::size_t users) : boxes_(users) {}
  void send(Message message) { box(message.to).push_back(message.value); }
  std::deque<Units> take(User reader) { return std::exchange(box(reader), {}); }

 private:
  std::deque<Units>& box(User user) { return user == server ? server_ : boxes_[user]; }
  std::vector<std::deque<Units>> boxes_;
  std::deque<Units> server_;
};

class Party {
 public:
  Party(User self, Units value) : self_(self), value_(value) {}

  void share_mask(User other, Units mask, Post& post) {
    masks_ += mask;
    post.send({.to = other, .value = Units{0} - mask});
  }
  void publish(Units noise, Post& post) {
    for (const Units mask : post.take(self_)) masks_ += mask;
    post.send({.to = server, .value = value_ + masks_ + noise});
  }
  // Takes the token, adds to it, and passes it on.
  void pass(bool contributes, Units noise, User next, Post& post) {
    Units token = 0;
    for (const Units one : post.take(self_)) token += one;
    post.send({.to = next, .value = token + (contributes ? value_ : 0) + noise});
  }

 private:
  User self_;
  Units value_;
  Units masks_ = 0;
};

std::vector<Party> parties_of(const Draws& draws) {
  std::vector<Party> parties;
  for (std::size_t u = 0; u < draws.values.size(); ++u) parties.emplace_back(static_cast<User>(u), draws.values[u]);
  return parties;
}

Units read_all(Post& post) {
  Units sum = 0;
  for (const Units one : post.take(server)) sum += one;
  return sum;
}

Units fresh_mask(const RoundedNoise& noise) { return static_cast<Units>(static_cast<std::int64_t>(std::ldexp(noise.add(0), -noise.grid()))); }

Units gopa(const Round& round, const MaskGraph& graph, const Draws& draws) {
  std::vector<Party> parties = parties_of(draws);
  Post post(parties.size());
  const RoundedNoise masks(NoiseKind::gaussian, round.mask_scale, round.grid);
  graph.for_each_edge([&](User u, User v) {
    const auto left = draws.residue.find(edge_key(u, v));
    parties[u].share_mask(v, left == draws.residue.end() ? fresh_mask(masks) : left->second, post);
  });
  for (std::size_t u = 0; u < parties.size(); ++u) {
    if (!draws.dropped[u]) parties[u].publish(draws.noise[u], post);
  }
  return read_all(post);
}

// A token along a path of hops; whoever publishes it adds fresh noise once more.
Units token(const Round& round, const Draws& draws) {
  std::vector<Party> parties = parties_of(draws);
  Post post(parties.size());
  std::vector<std::int64_t> visits(parties.size());
  for (std::size_t hop = 0; hop < draws.path.size(); ++hop) {
    const User at = draws.path[hop];
    const User next = hop + 1 < draws.path.size() ? draws.path[hop + 1] : server;
    const bool contributes = visits[at]++ < round.rounds;
    parties[at].pass(contributes, draws.noise[hop] + (next == server ? draws.noise.back() : 0), next, post);
  }
  return read_all(post);
}

Units shuffled(const Draws& draws) {
  std::vector<Party> parties = parties_of(draws);  // the value is the randomized bit
  Post post(parties.size());
  for (Party& party : parties) party.publish(0, post);
  const std::deque<Units> sent = post.take(server);
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
  std::vector<Party> parties = parties_of(draws);
  Post post(parties.size());
  for (std::size_t u = 0; u < parties.size(); ++u) parties[u].publish(round.model == TrustModel::local ? draws.noise[u] : 0, post);
  return read_all(post) + (round.model == TrustModel::central ? draws.noise.front() : 0);
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
