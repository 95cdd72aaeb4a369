// Attacks on a federated session: a dishonest coordinator and colluding members against honest
// members, who run the production code on formal terms (symbolic.hpp). A schedule is one random
// attack over a few rounds.
#pragma once

#include <functional>
#include <memory>
#include <random>

#include "symbolic.hpp"

namespace sotto::testing {

/// A defect that a test plants in the honest members, to check that an attack finds it.
struct Mutant {
  std::function<void(Session&)> session = {};
  std::function<std::unique_ptr<Primitives>(Terms&, const std::string& key)> primitives =
      [](Terms& terms, const std::string& key) {
        return std::make_unique<FormalPrimitives>(terms, key);
      };
  int lost_stage = 0;            ///< the journal loses this stage: 2 contributed, 3 listed
  bool signs_each_list = false;  ///< signs a list even if it signed another one before
};

/// The result of a schedule.
struct Outcome {
  /// The largest h μ² about one value, where h is the number of honest noises that must be in a
  /// sum. Above 1 the attack removed some of them.
  double information = 0;
  /// The largest h μ² about all values of one member together, divided by the number of rounds.
  double together = 0;
  std::size_t opened = 0;  ///< how many independent combinations have no mask
  std::int64_t accepted = 0, refused = 0;
  [[nodiscard]] bool leaks() const { return information > 1 + 1e-6 || together > 1 + 1e-6; }
};

/// A random attack: run() plays it and measures what the attacker learns.
class Schedule {
 public:
  Schedule(std::uint64_t seed, const Mutant& mutant) : mutant_(mutant), random_(seed) {
    Session& session = context_.session;
    do {
      session = {};
      for (std::int64_t i = 0, n = between(3, 7); i < n; ++i)
        session.members.push_back({"member-" + std::to_string(i + 1), formal_key(i)});
      session.colluding = between(1, std::max<std::int64_t>(1, session.size() - 2));
      session.threshold =
          between(least_threshold(session.size(), session.colluding), session.size());
      if (chance(0.5)) session.threshold = least_threshold(session.size(), session.colluding);
      session.honest = session.threshold - session.colluding;
      if (mutant.session) mutant.session(session);
    } while (session.threshold > session.size() ||
             session.honest < 2);  // one noise alone is allowed to stand where h = 1
    context_.hash = Bytes(32, 's');
    std::vector<std::int64_t> all(static_cast<std::size_t>(session.size()));
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::int64_t>(i);
    std::shuffle(all.begin(), all.end(), random_);
    colluding_.assign(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(session.colluding));
    honest_.assign(all.begin() + static_cast<std::ptrdiff_t>(session.colluding), all.end());
    std::sort(colluding_.begin(), colluding_.end());
    std::sort(honest_.begin(), honest_.end());
    for (const std::int64_t u : honest_)
      members_[u] = {u, mutant.primitives(terms_, formal_key(u)), {}, {}};
    for (const std::int64_t w : colluding_)
      liars_[w] = std::make_unique<FormalPrimitives>(terms_, formal_key(w));
  }

  Outcome run() {
    const std::int64_t rounds = between(1, 3);
    for (round_ = 0; round_ < rounds; ++round_) play();
    knowledge_.close();
    const auto is_colluding = [&](std::int64_t member) {
      return std::find(colluding_.begin(), colluding_.end(), member) != colluding_.end();
    };
    const Residual residual(knowledge_.vectors(is_colluding));
    outcome_.opened = residual.size();
    const double h = static_cast<double>(context_.session.honest);
    for (const std::int64_t u : honest_) {
      std::vector<Symbol> all;
      for (const auto& [symbol, unused] : residual.values()) {
        if (symbol.first != u) continue;
        all.push_back(symbol);
        outcome_.information = std::max(outcome_.information, h * residual.information({symbol}));
      }
      if (!all.empty())
        outcome_.together = std::max(
            outcome_.together, h * residual.information(all) / static_cast<double>(all.size()));
    }
    return outcome_;
  }

 private:
  using Members = std::vector<std::int64_t>;
  using Kind = federated_detail::Kind;

  struct Disk : RoundJournal {
    void keep(const Bytes& state) override {
      if (state.at(16) != lost_stage) states.push_back(state);
    }
    std::vector<Bytes> states;
    int lost_stage = 0;
  };
  struct Honest {
    std::int64_t self = 0;
    std::unique_ptr<Primitives> primitives;
    std::unique_ptr<Disk> disk;
    std::unique_ptr<MemberRound> round;
  };
  struct Liar {  // the keys and shares that a colluding member shows to some members
    Disk disk;
    std::unique_ptr<MemberRound> round;
    Bytes keys;
    std::map<std::int64_t, federated_detail::SealedShares> dealt;
  };

  std::int64_t between(std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(random_);
  }
  bool chance(double p) { return std::bernoulli_distribution(p)(random_); }
  Members some_of(Members from, std::size_t count) {
    std::shuffle(from.begin(), from.end(), random_);
    from.resize(std::min(count, from.size()));
    std::sort(from.begin(), from.end());
    return from;
  }
  static bool has(const Members& members, std::int64_t one) {
    return std::find(members.begin(), members.end(), one) != members.end();
  }
  [[nodiscard]] Members everyone() const {
    Members all;
    for (std::int64_t i = 0; i < context_.session.size(); ++i) all.push_back(i);
    return all;
  }
  [[nodiscard]] std::size_t threshold() const {
    return static_cast<std::size_t>(context_.session.threshold);
  }
  [[nodiscard]] Bytes message(Kind kind, Bytes body) const {
    return federated_detail::unsigned_message(context_, kind, round_, std::move(body));
  }

  // --- honest members ---

  void restart(Honest& m) {
    m.round = std::make_unique<MemberRound>(context_, m.self, *m.primitives, *m.disk,
                                            m.disk->states.back());
  }

  std::optional<Bytes> give(std::int64_t u, const Bytes& bytes) {
    Honest& m = members_.at(u);
    history_.push_back(bytes);
    if (mutant_.signs_each_list && federated_detail::read_envelope(bytes).kind == Kind::list) {
      while (m.disk->states.back().at(16) == 3) m.disk->states.pop_back();
      restart(m);
    }
    try {
      const auto answer = m.round->receive(bytes, [&] {
        return terms_.vector(
            {{{Symbol::Of::value, u, m.round->round()}, 1}, {{Symbol::Of::noise, u, ++draws_}, 1}});
      });
      ++outcome_.accepted;
      if (answer) knowledge_.see(*answer);
      return answer;
    } catch (const ProtocolError&) {
      ++outcome_.refused;
      return std::nullopt;
    }
  }

  // Restarts members and replays old messages at random.
  void disturb() {
    while (chance(0.25))
      restart(members_.at(honest_[static_cast<std::size_t>(
          between(0, static_cast<std::int64_t>(honest_.size()) - 1))]));
    while (!history_.empty() && chance(0.25)) {
      const Bytes old = history_[static_cast<std::size_t>(
          between(0, static_cast<std::int64_t>(history_.size()) - 1))];
      const auto answer = give(honest_[static_cast<std::size_t>(
                                   between(0, static_cast<std::int64_t>(honest_.size()) - 1))],
                               old);
      if (answer) take(*answer);
    }
  }

  // Stores the answer of a member for later messages.
  void take(const Bytes& bytes) {
    const auto envelope = federated_detail::read_envelope(bytes);
    if (envelope.round != round_) return;
    if (envelope.kind == Kind::shares) {
      for (auto& one : federated_detail::read_shares(envelope.body, context_.session.size()))
        dealt_[{one.from, one.to}] = one;
    } else if (envelope.kind == Kind::masked) {
      statements_[envelope.sender] = federated_detail::read_masked(envelope.body).statement;
    } else if (envelope.kind == Kind::list_signature) {
      signatures_[envelope.body][envelope.sender] = bytes;
    }
  }

  // --- one round ---

  void play() {
    dealt_.clear();
    statements_.clear();
    signatures_.clear();
    show_keys();
    const Members all = everyone();
    // choose who sees which list: everyone the same, or `apart`, one member or several, another one
    const std::int64_t plan = between(0, 3);
    Members apart =
        plan == 0
            ? Members{}
            : some_of(honest_, plan == 1 ? 1
                                         : static_cast<std::size_t>(between(
                                               1, static_cast<std::int64_t>(honest_.size()))));
    Members gone = some_of(honest_, static_cast<std::size_t>(between(
                                        0, context_.session.size() - context_.session.threshold)));
    gone.erase(std::remove_if(gone.begin(), gone.end(),
                              [&](std::int64_t u) { return plan != 0 && has(apart, u); }),
               gone.end());
    // the sharers in the list for `apart`: themselves, the absent and the colluding members
    Members near = apart;
    near.insert(near.end(), gone.begin(), gone.end());
    near.insert(near.end(), colluding_.begin(), colluding_.end());
    if (plan == 3 || near.size() < threshold())
      near = some_of(all, static_cast<std::size_t>(
                              between(context_.session.threshold, context_.session.size())));
    std::sort(near.begin(), near.end());
    near.erase(std::unique(near.begin(), near.end()), near.end());
    const Members far =
        chance(0.7) ? all
                    : some_of(all, static_cast<std::size_t>(between(context_.session.threshold,
                                                                    context_.session.size())));
    for (const std::int64_t u : honest_) {
      if (chance(0.05)) continue;
      show_shares(u, has(apart, u) ? near : far);
      if (chance(0.15)) {  // restart, and send a list again, the same or the other one
        restart(members_.at(u));
        if (const auto dealt = give(u, key_lists_[0])) take(*dealt);
        show_shares(u, chance(0.5) ? far : near);
      }
    }
    disturb();
    open_lists(far, near, gone);
  }

  void show_keys() {
    for (const std::int64_t u : honest_) {
      Honest& m = members_.at(u);
      m.disk = std::make_unique<Disk>();
      m.disk->lost_stage = mutant_.lost_stage;
      m.round = std::make_unique<MemberRound>(context_, u, *m.primitives, *m.disk, round_, 1);
    }
    key_lists_.clear();
    std::map<std::int64_t, Bytes> keys;
    for (const std::int64_t u : honest_) knowledge_.see(keys[u] = members_.at(u).round->keys());
    faces_.clear();
    for (int face = 0; face < 2; ++face) {  // colluding members have two sets of keys
      for (const std::int64_t w : colluding_) {
        Liar& liar = faces_[{w, face}];
        liar.round =
            std::make_unique<MemberRound>(context_, w, *liars_.at(w), liar.disk, round_, 1);
        knowledge_.see(liar.disk.states.back());
        liar.keys = liar.round->keys();
        keys[w] = liar.keys;
      }
      std::vector<federated_detail::NamedBytes> named;
      const Members out =
          chance(0.2)
              ? some_of(everyone(), static_cast<std::size_t>(between(
                                        0, context_.session.size() - context_.session.threshold)))
              : Members{};
      for (const auto& [member, bytes] : keys) {
        if (!has(out, member)) named.push_back({member, bytes});
      }
      key_lists_.push_back(message(Kind::key_list, federated_detail::to_bytes(named)));
      for (const std::int64_t w : colluding_) {
        try {
          const auto dealt = faces_[{w, face}].round->receive(key_lists_.back(), {});
          if (!dealt) continue;
          for (auto& one : federated_detail::read_shares(
                   federated_detail::read_envelope(*dealt).body, context_.session.size()))
            faces_[{w, face}].dealt[one.to] = one;
        } catch (const ProtocolError&) {
          continue;
        }
      }
    }
    const bool two = chance(0.3);
    for (const std::int64_t u : honest_) {
      const int face = two && chance(0.5) ? 1 : 0;
      if (two && chance(0.3)) {
        if (const auto dealt = give(u, key_lists_[static_cast<std::size_t>(1 - face)]))
          take(*dealt);
      }
      if (const auto dealt = give(u, key_lists_[static_cast<std::size_t>(face)])) take(*dealt);
      face_to_[u] = face;
    }
    disturb();
  }

  void show_shares(std::int64_t u, const Members& sharers) {
    std::vector<federated_detail::SealedShares> list;
    for (const std::int64_t v : sharers) {
      if (v == u) continue;
      if (has(colluding_, v)) {
        const auto& dealt = faces_.at({v, face_to_[u]}).dealt;
        if (dealt.contains(u)) list.push_back(dealt.at(u));
      } else if (dealt_.contains({v, u})) {
        list.push_back(dealt_.at({v, u}));
      }
    }
    if (const auto masked = give(u, message(Kind::share_list, federated_detail::to_bytes(list))))
      take(*masked);
  }

  // Sends a few lists one after the other, each to some members. If enough members signed a list,
  // asks all of them for their shares.
  void open_lists(const Members& far, const Members& near, const Members& gone) {
    Members requested;
    for (std::int64_t attempt = 0, last = between(1, 3); attempt < last; ++attempt) {
      const Members& sharers = chance(0.8) ? far : near;
      Members survivors;
      for (const std::int64_t v : sharers) {
        if (!has(gone, v)) survivors.push_back(v);
      }
      if (attempt > 0 || chance(0.3) || survivors.size() < threshold()) {
        const auto most = static_cast<std::int64_t>(sharers.size());
        survivors = some_of(sharers,
                            static_cast<std::size_t>(
                                chance(0.5) ? context_.session.threshold
                                            : between(context_.session.threshold,
                                                      std::max(most, context_.session.threshold))));
      }
      const Bytes list = federated_detail::to_bytes(context_, round_, {sharers, survivors});
      Members ask = honest_;
      if (attempt > 0 && chance(0.5)) {  // those who have not signed yet
        ask.erase(std::remove_if(ask.begin(), ask.end(),
                                 [&](std::int64_t u) { return has(requested, u); }),
                  ask.end());
      } else if (chance(0.5)) {
        ask = some_of(honest_, static_cast<std::size_t>(
                                   between(1, static_cast<std::int64_t>(honest_.size()))));
      }
      const bool kill = chance(0.3);
      for (const std::int64_t u : ask) {
        if (kill) restart(members_.at(u));
        requested.push_back(u);
        if (const auto signature = give(u, list_message(list, sharers, survivors)))
          take(*signature);
      }
      if (chance(0.3)) disturb();
      ask_for_shares(list);
    }
  }

  Bytes list_message(const Bytes& list, const Members& sharers, const Members& survivors) {
    federated_detail::ListMessage result{list, {}};
    for (const std::int64_t v : survivors) {
      const Bytes hash = federated_detail::sharers_hash(*liars_.begin()->second, sharers);
      const bool lies = has(colluding_, v);
      result.statements.push_back({v, lies ? liars_.at(v)->sign(federated_detail::sharers_statement(
                                                 context_, round_, v, hash))
                                           : statements_[v]});
    }
    return message(Kind::list, federated_detail::to_bytes(result));
  }

  void ask_for_shares(const Bytes& list) {
    auto& signatures = signatures_[list];
    for (const std::int64_t w : colluding_)
      signatures[w] = federated_detail::signed_message(context_, *liars_.at(w), w,
                                                       Kind::list_signature, round_, list);
    std::vector<federated_detail::NamedBytes> named;
    for (const auto& [member, bytes] : signatures) named.push_back({member, bytes});
    if (named.size() < threshold() && chance(0.7)) return;  // the members refuse too few
    for (const std::int64_t u : honest_) {
      if (signatures.contains(u))
        (void)give(u, message(Kind::list_signatures, federated_detail::to_bytes(named)));
    }
  }

  const Mutant& mutant_;
  std::mt19937_64 random_;
  Terms terms_;
  Knowledge knowledge_{terms_};
  Outcome outcome_;
  SessionContext context_;
  Members honest_, colluding_;
  std::map<std::int64_t, Honest> members_;
  std::map<std::int64_t, std::unique_ptr<FormalPrimitives>> liars_;
  std::int64_t round_ = 0;
  std::int64_t draws_ = 0;
  std::vector<Bytes> history_;  // every message to an honest member
  // for the current round
  std::vector<Bytes> key_lists_;
  std::map<std::pair<std::int64_t, int>, Liar> faces_;
  std::map<std::int64_t, int> face_to_;
  std::map<std::pair<std::int64_t, std::int64_t>, federated_detail::SealedShares> dealt_;
  std::map<std::int64_t, Bytes> statements_;
  std::map<Bytes, std::map<std::int64_t, Bytes>> signatures_;
};

}  // namespace sotto::testing
