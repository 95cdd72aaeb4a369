#include "federated/api/member.hpp"

#include <algorithm>
#include <thread>

#include "federated/messages.hpp"

namespace sotto {

using namespace federated_detail;

namespace {

using Clock = std::chrono::steady_clock;

// What a member keeps: how many steps have their sum, the last round that it began, what its work made of the sums, and that round's state.
struct Kept {
  std::int64_t steps = 0;
  std::int64_t last_round = -1;
  Bytes progress;
  Bytes round;  // empty between rounds
};

Bytes to_bytes(const Kept& kept) {
  return Writer()
      .number(static_cast<std::uint64_t>(kept.steps))
      .number(static_cast<std::uint64_t>(kept.last_round))
      .bytes(kept.progress)
      .bytes(kept.round)
      .made();
}
Kept read_kept(const Bytes& bytes) {
  Reader reader(bytes);
  Kept kept;
  kept.steps = static_cast<std::int64_t>(reader.number());
  kept.last_round = static_cast<std::int64_t>(reader.number());
  kept.progress = reader.bytes();
  kept.round = reader.bytes();
  reader.end();
  return kept;
}

// Not a broken connection: whoever watches asked for it.
struct Stopped : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class Part final : public RoundJournal {
 public:
  Part(const Membership& membership, MemberStore& store, MemberWork& work) : m_(membership), store_(store), work_(work) {
    if (const auto bytes = store.kept()) {
      kept_ = read_kept(*bytes);
      work.resume(kept_.progress);
      if (!kept_.round.empty()) round_ = std::make_unique<MemberRound>(m_.agreed, m_.self, m_.primitives, *this, kept_.round);
    } else {
      kept_.progress = work.progress();
    }
  }

  // When the coordinator was last heard of.
  [[nodiscard]] Clock::time_point heard() const { return heard_; }

  [[nodiscard]] bool is_done() const { return kept_.steps == m_.agreed.session.rounds(); }

  // Whether to go on.
  bool tell(const std::string& what) const {
    return !m_.told || m_.told(what, static_cast<double>(kept_.steps) / static_cast<double>(m_.agreed.session.rounds()));
  }

  // One connection, until all is done (true) or it breaks.
  bool run(Link& link) {
    greet(link);
    observed_.reset();
    while (true) {
      if (!tell(waiting_ ? "waiting for " + *waiting_ : "waiting for the coordinator")) throw Stopped("stopped");
      const auto message = link.receive(std::chrono::milliseconds(500));
      if (!message) {
        if (Clock::now() - heard_ > m_.patience)
          throw LinkLost("the coordinator said nothing for " + std::to_string(m_.patience.count()) + " seconds");
        continue;
      }
      heard_ = Clock::now();
      if (handle(*message, link)) return true;
    }
  }

 private:
  void keep(const Bytes& state) override {
    kept_.round = state;
    store_.keep(to_bytes(kept_));
  }

  // Who this is, and that it takes part: a signature of the coordinator's nonce, and of the session.
  void greet(Link& link) {
    const auto started = Clock::now();
    std::optional<Bytes> challenge;
    while (!challenge) {
      challenge = link.receive(std::chrono::milliseconds(500));
      if (!challenge && Clock::now() - started > std::chrono::seconds(30)) throw LinkLost("the coordinator does not answer");
    }
    const Bytes nonce = read_unsigned(m_.agreed, *challenge, Kind::challenge, -1).body;
    if (nonce.size() != 32) throw ProtocolError("the coordinator's challenge has no 32 bytes");
    const Bytes approval = m_.primitives.signature(approval_text(to_text(m_.agreed.session)));
    const Bytes body = Writer().bytes(nonce).bytes(approval).number(static_cast<std::uint64_t>(kept_.steps)).made();
    link.send(signed_message(m_.agreed, m_.primitives, m_.self, Kind::hello, -1, body));
  }

  // Every listed member has signed this session, or nothing begins.
  void check_approvals(const Bytes& message) {
    const auto approvals = read_named(read_unsigned(m_.agreed, message, Kind::approvals, -1).body, m_.agreed.session.size());
    if (static_cast<std::int64_t>(approvals.size()) != m_.agreed.session.size()) throw ProtocolError("not every member has signed the session");
    const std::string text = approval_text(to_text(m_.agreed.session));
    for (const NamedBytes& one : approvals) {
      const Member& member = m_.agreed.session.members[static_cast<std::size_t>(one.member)];
      if (!m_.primitives.is_signed(text, one.bytes, member.key)) throw ProtocolError("the session is not signed with the key of " + member.name);
    }
    approved_ = true;
  }

  void start(const Bytes& message, Link& link) {
    const Envelope envelope = read_envelope(message);
    if (envelope.session != m_.agreed.hash) throw ProtocolError("the coordinator starts a round of another session");
    Reader reader(envelope.body);
    const auto step = static_cast<std::int64_t>(reader.number());
    const bool is_over = reader.number(1) != 0;
    reader.end();
    const Session& session = m_.agreed.session;
    if (!approved_) throw ProtocolError("the coordinator starts a round before it showed every member's signature of the session");
    if (step != kept_.steps || step >= session.rounds()) {
      throw ProtocolError("the coordinator starts step " + std::to_string(step + 1) + ", and this member is at step " +
                          std::to_string(kept_.steps + 1));
    }
    observed_.reset();
    waiting_ = "round " + std::to_string(envelope.round + 1);
    if (round_ && round_->round() == envelope.round) {  // after a new connection
      if (!is_over) link.send(round_->keys());
      return;
    }
    if (is_over) {  // it was not there: it looks at what the others summed
      observed_round_ = envelope.round;
      observed_ = std::make_unique<RoundCheck>(m_.agreed, m_.primitives, envelope.round, session.item_of(step).size);
      return;
    }
    // a round of its own for each vector, and no more rounds than are paid for
    if (envelope.round <= kept_.last_round || envelope.round >= session.rounds() + session.spare) {
      throw ProtocolError("the coordinator starts round " + std::to_string(envelope.round + 1) + ", which is over or not paid for");
    }
    kept_.last_round = envelope.round;
    round_ = std::make_unique<MemberRound>(m_.agreed, m_.self, m_.primitives, *this, envelope.round, session.item_of(step).size);
    link.send(round_->keys());
  }

  void observe(const Bytes& message) {
    const Kind kind = read_envelope(message).kind;
    if (kind == Kind::key_list) {
      observed_->key_list(message);
    } else if (kind == Kind::opening) {
      observed_->opening(message);
    } else if (kind == Kind::masked) {
      observed_->masked(message);
    } else {
      throw ProtocolError("the coordinator sent a message that has no place in a round that is over");
    }
    if (observed_->result()) finish_step(*observed_->result());
  }

  void finish_step(const RoundResult& result) {
    work_.take(kept_.steps, result);
    ++kept_.steps;
    kept_.progress = work_.progress();
    if (observed_) kept_.last_round = std::max(kept_.last_round, observed_round_);
    round_.reset();
    observed_.reset();
    kept_.round.clear();
    store_.keep(to_bytes(kept_));  // the round's secrets are in no file from here on
    waiting_.reset();
  }

  bool handle(const Bytes& message, Link& link) {
    const Envelope envelope = read_envelope(message);
    switch (envelope.kind) {
      case Kind::approvals: check_approvals(message); return false;
      case Kind::start: start(message, link); return false;
      case Kind::finish: return finish(envelope);
      default: break;
    }
    if (observed_) {
      observe(message);
      return false;
    }
    if (!round_ || envelope.round != round_->round()) throw ProtocolError("the coordinator sent a message of a round that this member is not in");
    const auto answer = round_->receive(message, [&] { return work_.contribution(kept_.steps); });
    if (answer) link.send(*answer);
    if (round_->result()) finish_step(*round_->result());
    return false;
  }

  bool finish(const Envelope& envelope) const {
    if (envelope.session != m_.agreed.hash) throw ProtocolError("the coordinator ends another session");
    if (!envelope.body.empty()) throw ProtocolError("the session failed: " + envelope.body);
    if (kept_.steps < m_.agreed.session.rounds()) throw ProtocolError("the coordinator ends the session before the last sum");
    return true;
  }

  const Membership& m_;
  MemberStore& store_;
  MemberWork& work_;
  Kept kept_;
  std::unique_ptr<MemberRound> round_;
  std::unique_ptr<RoundCheck> observed_;
  std::int64_t observed_round_ = -1;
  std::optional<std::string> waiting_;
  bool approved_ = false;
  Clock::time_point heard_ = Clock::now();
};

}  // namespace

void take_part(const Membership& membership, MemberStore& store, MemberWork& work) {
  Part part(membership, store, work);
  auto pause = std::chrono::milliseconds(100);
  while (true) {
    const auto heard = part.heard();
    try {
      const std::unique_ptr<Link> link = membership.connect();
      if (part.run(*link)) return;
    } catch (const LinkLost& lost) {
      if (part.is_done()) return;  // it has every sum, and the coordinator may be gone
      if (!part.tell(std::string("no connection: ") + lost.what())) throw Stopped("stopped");
      if (Clock::now() - part.heard() > membership.patience) throw;
      pause = part.heard() > heard ? std::chrono::milliseconds(100) : std::min(pause * 2, std::chrono::milliseconds(5000));
      std::this_thread::sleep_for(pause);
    }
  }
}

Bytes progress_in(const Bytes& state) { return read_kept(state).progress; }

std::int64_t member_with(const Session& session, const std::string& public_key) {
  for (std::size_t i = 0; i < session.members.size(); ++i) {
    if (session.members[i].key == public_key) return static_cast<std::int64_t>(i);
  }
  throw ProtocolError("no member of the session has this key: " + spoken(public_key));
}

}  // namespace sotto
