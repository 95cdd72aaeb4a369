// The protocol of a member over many rounds: hello, approvals, rounds, steps, and storage of the
// state.
#include "federated/api/member.hpp"

#include <algorithm>
#include <thread>

#include "federated/messages.hpp"

namespace sotto {

using namespace federated_detail;

namespace {

using Clock = std::chrono::steady_clock;

// The state that a member stores.
struct MemberState {
  std::int64_t steps = 0;        // number of steps that have their sum
  std::int64_t last_round = -1;  // the last round that this member began
  Bytes progress;                // of the MemberWork
  Bytes round;                   // state of the round in progress; empty between rounds
};

Bytes to_bytes(const MemberState& state) {
  return Writer()
      .number(static_cast<std::uint64_t>(state.steps))
      .number(static_cast<std::uint64_t>(state.last_round))
      .bytes(state.progress)
      .bytes(state.round)
      .build();
}
MemberState read_state(const Bytes& bytes) {
  Reader reader(bytes);
  MemberState state;
  state.steps = static_cast<std::int64_t>(reader.number());
  state.last_round = static_cast<std::int64_t>(reader.number());
  state.progress = reader.bytes();
  state.round = reader.bytes();
  reader.end();
  return state;
}

// The caller stopped take_part() through on_progress. This is not a LinkLost, so there is no
// reconnection.
struct Stopped : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// One member in one session, over any number of connections.
class Participation final : public RoundJournal {
 public:
  Participation(const Membership& membership, MemberStore& store, MemberWork& work)
      : m_(membership), store_(store), work_(work) {
    if (const auto bytes = store.last_state()) {
      state_ = read_state(*bytes);
      work.resume(state_.progress);
      if (!state_.round.empty())
        round_ =
            std::make_unique<MemberRound>(m_.context, m_.self, m_.primitives, *this, state_.round);
    } else {
      state_.progress = work.progress();
    }
  }

  // Time of the coordinator's last message.
  [[nodiscard]] Clock::time_point last_message() const { return last_message_; }

  [[nodiscard]] bool is_done() const { return state_.steps == m_.context.session.rounds(); }

  // Reports progress. Returns false if the caller wants to stop.
  bool report(const std::string& what) const {
    return !m_.on_progress ||
           m_.on_progress(what, static_cast<double>(state_.steps) /
                                    static_cast<double>(m_.context.session.rounds()));
  }

  // Uses one connection. Returns true after the last sum; throws LinkLost if the connection breaks.
  bool run(Link& link) {
    greet(link);
    observed_.reset();
    while (true) {
      if (!report(waiting_ ? "waiting for " + *waiting_ : "waiting for the coordinator"))
        throw Stopped("stopped");
      const auto message = link.receive(std::chrono::milliseconds(500));
      if (!message) {
        if (Clock::now() - last_message_ > m_.patience)
          throw LinkLost("the coordinator sent no message for " +
                         std::to_string(m_.patience.count()) + " seconds");
        continue;
      }
      last_message_ = Clock::now();
      if (handle(*message, link)) return true;
    }
  }

 private:
  void keep(const Bytes& round_state) override {
    state_.round = round_state;
    store_.keep(to_bytes(state_));
  }

  // Authenticates this member to the coordinator, by a signature of its nonce, and approves of the
  // session, by a signature of its text. The nonce makes a replayed hello invalid.
  void greet(Link& link) {
    const auto started = Clock::now();
    std::optional<Bytes> challenge;
    while (!challenge) {
      challenge = link.receive(std::chrono::milliseconds(500));
      if (!challenge && Clock::now() - started > std::chrono::seconds(30))
        throw LinkLost("the coordinator sent no challenge for 30 seconds");
    }
    const Bytes nonce = read_unsigned(m_.context, *challenge, Kind::challenge, -1).body;
    if (nonce.size() != 32)
      throw ProtocolError("the coordinator's challenge has " + std::to_string(nonce.size()) +
                          " bytes instead of 32");
    const Bytes approval = m_.primitives.sign(approval_text(to_text(m_.context.session)));
    const Bytes body = Writer()
                           .bytes(nonce)
                           .bytes(approval)
                           .number(static_cast<std::uint64_t>(state_.steps))
                           .build();
    link.send(signed_message(m_.context, m_.primitives, m_.self, Kind::hello, -1, body));
  }

  // Verifies that every member has signed this session, with all its terms. Before that no round
  // begins: a coordinator could otherwise give other members weaker terms.
  void check_approvals(const Bytes& message) {
    const auto approvals = read_named(read_unsigned(m_.context, message, Kind::approvals, -1).body,
                                      m_.context.session.size());
    if (static_cast<std::int64_t>(approvals.size()) != m_.context.session.size())
      throw ProtocolError("the coordinator shows " + std::to_string(approvals.size()) +
                          " signatures of the session, which has " +
                          std::to_string(m_.context.session.size()) + " members");
    const std::string text = approval_text(to_text(m_.context.session));
    for (const NamedBytes& one : approvals) {
      const Member& member = m_.context.session.members[static_cast<std::size_t>(one.member)];
      if (!m_.primitives.is_signed(text, one.bytes, member.key))
        throw ProtocolError("the session is not signed with the key of " + member.name);
    }
    approved_ = true;
  }

  // Starts, resumes or observes a round.
  void start(const Bytes& message, Link& link) {
    const Envelope envelope = read_envelope(message);
    if (envelope.session != m_.context.hash)
      throw ProtocolError("the coordinator starts a round of another session");
    Reader reader(envelope.body);
    const auto step = static_cast<std::int64_t>(reader.number());
    const bool is_over = reader.number(1) != 0;
    reader.end();
    const Session& session = m_.context.session;
    if (!approved_)
      throw ProtocolError(
          "the coordinator starts a round before it showed the signatures of all members under the "
          "session");
    if (step != state_.steps || step >= session.rounds()) {
      throw ProtocolError("the coordinator starts step " + std::to_string(step + 1) +
                          ", and this member is at step " + std::to_string(state_.steps + 1));
    }
    observed_.reset();
    waiting_ = "round " + std::to_string(envelope.round + 1);
    if (round_ && round_->round() == envelope.round) {  // this connection is new, the round is not
      if (!is_over) link.send(round_->keys());
      return;
    }
    if (is_over) {  // this member was absent: it verifies the sum of the others
      observed_round_ = envelope.round;
      observed_ = std::make_unique<RoundCheck>(m_.context, m_.primitives, envelope.round,
                                               session.item_of(step).size);
      return;
    }
    // A vector is sent in one round only, and no more rounds are run than the session's plan has
    // paid for.
    if (envelope.round <= state_.last_round || envelope.round >= session.rounds() + session.spare) {
      throw ProtocolError("the coordinator starts round " + std::to_string(envelope.round + 1) +
                          ", but rounds after " + std::to_string(state_.last_round + 1) +
                          " and up to " + std::to_string(session.rounds() + session.spare) +
                          " are allowed");
    }
    state_.last_round = envelope.round;
    round_ = std::make_unique<MemberRound>(m_.context, m_.self, m_.primitives, *this,
                                           envelope.round, session.item_of(step).size);
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
      throw ProtocolError("the coordinator sent a message of kind " +
                          std::to_string(static_cast<int>(kind)) +
                          ", which does not belong to a finished round");
    }
    if (observed_->result()) finish_step(*observed_->result());
  }

  void finish_step(const RoundResult& result) {
    work_.take(state_.steps, result);
    ++state_.steps;
    state_.progress = work_.progress();
    if (observed_) state_.last_round = std::max(state_.last_round, observed_round_);
    round_.reset();
    observed_.reset();
    state_.round.clear();
    store_.keep(to_bytes(state_));  // replaces the round's secrets on the disk
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
    if (!round_ || envelope.round != round_->round())
      throw ProtocolError("the coordinator sent a message of round " +
                          std::to_string(envelope.round + 1) +
                          ", and this member is not in that round");
    const auto answer = round_->receive(message, [&] { return work_.contribution(state_.steps); });
    if (answer) link.send(*answer);
    if (round_->result()) finish_step(*round_->result());
    return false;
  }

  bool finish(const Envelope& envelope) const {
    if (envelope.session != m_.context.hash)
      throw ProtocolError("the coordinator ends another session");
    if (!envelope.body.empty()) throw ProtocolError("the session failed: " + envelope.body);
    if (state_.steps < m_.context.session.rounds())
      throw ProtocolError("the coordinator ends the session after " + std::to_string(state_.steps) +
                          " of " + std::to_string(m_.context.session.rounds()) + " sums");
    return true;
  }

  const Membership& m_;
  MemberStore& store_;
  MemberWork& work_;
  MemberState state_;
  std::unique_ptr<MemberRound> round_;
  std::unique_ptr<RoundCheck> observed_;
  std::int64_t observed_round_ = -1;
  std::optional<std::string> waiting_;
  bool approved_ = false;
  Clock::time_point last_message_ = Clock::now();
};

}  // namespace

void take_part(const Membership& membership, MemberStore& store, MemberWork& work) {
  Participation part(membership, store, work);
  auto pause = std::chrono::milliseconds(100);
  while (true) {
    const auto before = part.last_message();
    try {
      const std::unique_ptr<Link> link = membership.connect();
      if (part.run(*link)) return;
    } catch (const LinkLost& lost) {
      if (part.is_done()) return;  // this member has every sum, and the coordinator may have ended
      if (!part.report(std::string("no connection: ") + lost.what())) throw Stopped("stopped");
      if (Clock::now() - part.last_message() > membership.patience) throw;
      pause = part.last_message() > before ? std::chrono::milliseconds(100)
                                           : std::min(pause * 2, std::chrono::milliseconds(5000));
      std::this_thread::sleep_for(pause);
    }
  }
}

Bytes progress_in(const Bytes& state) { return read_state(state).progress; }

std::int64_t member_with(const Session& session, const std::string& public_key) {
  for (std::size_t i = 0; i < session.members.size(); ++i) {
    if (session.members[i].key == public_key) return static_cast<std::int64_t>(i);
  }
  throw ProtocolError("no member of the session has this key: " + fingerprint_words(public_key));
}

}  // namespace sotto
