// The coordinator over many rounds: who is connected, which messages each member has, and the
// journal.
#include "federated/api/coordinator.hpp"

#include <algorithm>
#include <map>

#include "core/api/join.hpp"
#include "federated/journal.hpp"
#include "federated/messages.hpp"

namespace sotto {

using namespace federated_detail;
using Phase = RelayRound::Phase;

namespace {

// A member's connection, and the messages that it has received on it.
struct Seat {
  bool connected = false;
  bool has_approvals = false;
  bool has_end = false;
  std::int64_t step = 0;    // the step that the member is at
  std::int64_t round = -1;  // the round whose start message was sent on this connection
  std::size_t sent = 0;     // number of messages of that round that were sent
};

}  // namespace

struct Coordinator::State {
  State(const SessionContext& a_context, Primitives& some_primitives, Options some_options)
      : context(a_context),
        primitives(some_primitives),
        options(std::move(some_options)),
        seats(context.session.members.size()) {
    if (options.journal.empty()) return;
    std::filesystem::create_directories(options.journal);
    const std::filesystem::path text = options.journal / "session.json";
    if (const auto stored = read_messages(text);
        stored && (stored->size() != 1 || stored->front() != to_text(context.session))) {
      throw OtherJournal("the folder " + options.journal.string() + " has the journal of " +
                         other_session(*stored));
    }
    write_messages(text, {to_text(context.session)});
    approvals_file = RecordFile(
        options.journal / "approvals",
        [&](char, std::int64_t member, const Bytes& bytes) { approvals[member] = bytes; });
    while (step < context.session.rounds()) {
      auto transcript = read_messages(transcript_path(step));
      if (!transcript) break;
      restore_step(*transcript);
    }
    if (has_all_approvals()) begin_round(true);
  }

  // Describes another session: its title, its members and the number of its sums.
  [[nodiscard]] std::string other_session(const std::vector<Bytes>& stored) const {
    try {
      const Session other = parse_session(stored.size() == 1 ? stored.front() : "");
      std::string members;
      for (const Member& member : other.members)
        members += (members.empty() ? "" : ", ") + member.name;
      std::int64_t sums = 0;
      while (sums < other.rounds() && std::filesystem::exists(transcript_path(sums))) ++sums;
      return "another session: \"" + other.title + "\" of " +
             join(other.members, ", ", &Member::name) + ", with " + std::to_string(sums) +
             " of its " + std::to_string(other.rounds()) + (other.rounds() == 1 ? " sum" : " sums");
    } catch (const ProtocolError&) {
      return "another session, which cannot be read";
    }
  }

  [[nodiscard]] std::filesystem::path transcript_path(std::int64_t of_step) const {
    return options.journal / ("step-" + std::to_string(of_step + 1) + ".transcript");
  }

  // Restores a step that an earlier process finished. The transcript is verified as members verify
  // it, since the file may have been changed.
  void restore_step(const std::vector<Bytes>& messages) {
    if (messages.size() < 2)
      throw ProtocolError("the transcript " + transcript_path(step).string() +
                          " has fewer than 2 messages: put it back from a backup");
    round = read_envelope(messages.front()).round;
    RoundCheck check(context, primitives, round, context.session.item_of(step).size);
    check.key_list(messages[0]);
    check.opening(messages[1]);
    for (std::size_t i = 2; i < messages.size(); ++i) check.masked(messages[i]);
    if (!check.result())
      throw ProtocolError("the transcript " + transcript_path(step).string() +
                          " lacks the vectors of some survivors: put it back from a backup");
    rounds_of.push_back(round);
    results.push_back(*check.result());
    transcripts.emplace_back();  // empty: the transcript is on the disk
    ++step;
    ++round;
  }

  [[nodiscard]] bool has_all_approvals() const {
    return static_cast<std::int64_t>(approvals.size()) == context.session.size();
  }
  [[nodiscard]] bool is_complete() const { return step == context.session.rounds(); }

  void report(const std::string& what) const {
    if (options.on_event) options.on_event(what);
  }
  void wake() const {
    if (options.wake) options.wake(-1);
  }

  // Begins the next round. With `resume`, first replays the file of the round in progress, if there
  // is one; the file may also have a round that failed and the one after it.
  void begin_round(bool resume) {
    if (is_complete() || failure) return;
    relay = std::make_unique<RelayRound>(context, primitives, round,
                                         context.session.item_of(step).size);
    phase_since.reset();
    if (options.journal.empty()) return;
    const std::filesystem::path path = options.journal / "round";
    if (!resume) std::filesystem::remove(path);
    bool is_new = true;
    round_file = RecordFile(path, [&](char tag, std::int64_t member, const Bytes& bytes) {
      is_new = false;
      if (tag == 'R') {
        Reader reader(bytes);
        round = static_cast<std::int64_t>(reader.number());
        relay = std::make_unique<RelayRound>(context, primitives, round,
                                             context.session.item_of(step).size);
      } else if (tag == 'C') {
        relay->close();
      } else {
        relay->receive(member, bytes);
      }
    });
    if (is_new)
      round_file.append('R', -1, Writer().number(static_cast<std::uint64_t>(round)).build());
  }

  // Reacts to the end of a phase. Called after every event that may end one.
  void advance() {
    if (!relay) return;
    if (relay->phase() != known_phase) {
      known_phase = relay->phase();
      phase_since.reset();
      // The messages of the finished phase are on the disk before anybody gets what follows from
      // them. A crash before leaves the phase open, and members send their messages again.
      if (known_phase != Phase::keys) round_file.sync();
      wake();
    }
    if (relay->phase() == Phase::done) end_step();
    if (relay && relay->phase() == Phase::failed) end_failed();
  }

  void end_step() {
    const std::vector<Bytes> transcript = relay->transcript();
    // The transcript is on the disk before the round's file is removed.
    if (!options.journal.empty()) write_messages(transcript_path(step), transcript);
    results.push_back(*relay->result());
    rounds_of.push_back(round);
    transcripts.push_back(transcript);
    if (!options.journal.empty() && transcripts.size() > 1)
      transcripts[transcripts.size() - 2].clear();
    const RoundResult& result = results.back();
    report("round " + std::to_string(round + 1) + ": the sum of " +
           std::to_string(result.survivors.size()) + " members" +
           (result.dropped.empty()
                ? ""
                : ", without " + std::to_string(result.dropped.size()) + " who dropped out"));
    // Members of this round have the key list already, which is the transcript's first message.
    for (Seat& seat : seats) {
      if (seat.round == round) seat.sent = std::min<std::size_t>(seat.sent, 1);
    }
    relay.reset();
    known_phase = Phase::keys;
    round_file.remove();
    ++step;
    ++round;
    begin_round(false);
    wake();
  }

  void end_failed() {
    const std::string why = relay->failure();
    report(why);
    relay.reset();
    known_phase = Phase::keys;
    round_file.remove();
    ++round;
    // The spare rounds that are left must suffice, with one round for each later step.
    if (round >=
        context.session.rounds() + context.session.spare - (context.session.rounds() - 1 - step)) {
      failure = why + "; no spare round is left: make a new session, which is charged anew";
    } else {
      begin_round(false);
    }
    wake();
  }

  // Identifies the member at the other end of a connection by its signature of this connection's
  // nonce.
  std::int64_t hello(const Bytes& nonce, const Bytes& message) {
    const Envelope envelope = read_signed(context, primitives, message, Kind::hello, -1);
    Reader reader(envelope.body);
    if (reader.bytes() != nonce)
      throw ProtocolError(
          name_of(context, envelope.sender) +
          " signed another challenge than this connection's: the message was replayed");
    const Bytes approval = reader.bytes();
    const auto member_step = static_cast<std::int64_t>(reader.number());
    reader.end();
    const Member& member = context.session.members[static_cast<std::size_t>(envelope.sender)];
    if (!primitives.is_signed(approval_text(to_text(context.session)), approval, member.key)) {
      throw ProtocolError(member.name + " did not sign this session");
    }
    if (member_step < 0 || member_step > step) {
      throw ProtocolError(
          member.name + " has " + std::to_string(member_step) + " sums, and this coordinator has " +
          std::to_string(step) +
          ": its journal was lost or is an older copy. Put the newest journal back");
    }
    if (!approvals.contains(envelope.sender)) {
      approvals[envelope.sender] = approval;
      approvals_file.append('A', envelope.sender, approval);
      approvals_file.sync();
      report(member.name + " takes part (" + std::to_string(approvals.size()) + " of " +
             std::to_string(context.session.size()) + ")");
      if (has_all_approvals()) begin_round(false);
    }
    Seat& seat = seats[static_cast<std::size_t>(envelope.sender)];
    seat = Seat{};
    seat.step = member_step;
    return envelope.sender;
  }

  void on_message(std::int64_t member, const Bytes& message) {
    const std::int64_t message_round = read_envelope(message).round;
    if (!relay || message_round != round) {
      if (message_round < round) return;  // the message is late: its round is over
      throw ProtocolError(name_of(context, member) + " sent a message of round " +
                          std::to_string(message_round + 1) + ", which has not begun");
    }
    const std::int64_t before = relay->answered();
    const Phase phase = relay->phase();
    try {
      relay->receive(member, message);
    } catch (const LateMessage& late) {
      report(late.what());
      return;
    }
    if (relay->phase() != phase || relay->answered() != before)
      round_file.append('M', member, message);
    advance();
  }

  [[nodiscard]] Bytes start_message(std::int64_t of_round, std::int64_t of_step,
                                    bool is_over) const {
    return unsigned_message(
        context, Kind::start, of_round,
        Writer().number(static_cast<std::uint64_t>(of_step)).number(is_over ? 1 : 0, 1).build());
  }

  [[nodiscard]] Bytes transcript_message(std::int64_t of_step, std::size_t number,
                                         std::size_t& count) {
    // Older transcripts are on the disk. The one that was read last stays in memory.
    if (transcripts[static_cast<std::size_t>(of_step)].empty()) {
      if (read_step != of_step) {
        read_transcript = *read_messages(transcript_path(of_step));
        read_step = of_step;
      }
      count = read_transcript.size();
      return read_transcript.at(number);
    }
    const auto& all = transcripts[static_cast<std::size_t>(of_step)];
    count = all.size();
    return all.at(number);
  }

  // A member gets all approvals first, then the transcripts of steps that it missed, then the
  // messages of the round in progress, and the end.
  std::optional<Bytes> next_for(std::int64_t member) {
    Seat& seat = seats[static_cast<std::size_t>(member)];
    if (!seat.connected || seat.has_end) return std::nullopt;
    if (!seat.has_approvals) {
      if (!has_all_approvals()) return std::nullopt;
      seat.has_approvals = true;
      std::vector<NamedBytes> all;
      for (const auto& [of, bytes] : approvals) all.push_back({of, bytes});
      return unsigned_message(context, Kind::approvals, -1, to_bytes(all));
    }
    if (seat.step < step) {
      const std::int64_t of_round = rounds_of[static_cast<std::size_t>(seat.step)];
      if (seat.round != of_round) {
        seat.round = of_round;
        seat.sent = 0;
        return start_message(of_round, seat.step, true);
      }
      std::size_t count = 0;
      const Bytes message = transcript_message(seat.step, seat.sent++, count);
      if (seat.sent == count) ++seat.step;
      return message;
    }
    if (failure || is_complete()) {
      seat.has_end = true;
      return unsigned_message(context, Kind::finish, -1, failure.value_or(""));
    }
    if (!relay) return std::nullopt;
    if (seat.round != round) {
      seat.round = round;
      seat.sent = 0;
      return start_message(round, step, false);
    }
    if (seat.sent < relay->messages_for(member)) return relay->message_for(member, seat.sent++);
    return std::nullopt;
  }

  void tick(double now) {
    last_tick = now;
    if (failure || is_complete()) {
      if (!over_since) over_since = now;
      return;
    }
    if (!relay) return;
    if (!phase_since) phase_since = now;
    const double deadline = static_cast<double>(context.session.deadline);
    bool somebody_may_answer = false;
    for (std::size_t i = 0; i < seats.size(); ++i) {
      somebody_may_answer = somebody_may_answer ||
                            (seats[i].connected && relay->waits_for(static_cast<std::int64_t>(i)));
    }
    const double waited = now - *phase_since;
    // Close early if the threshold is reached and nobody who is connected is missing. Members that
    // lost their connection get a short time to come back.
    const bool enough = relay->answered() >= context.session.threshold && !somebody_may_answer &&
                        waited >= std::min(5.0, deadline / 4);
    if (waited < deadline && !enough) return;
    round_file.append('C', -1, "");
    relay->close();
    advance();
  }

  [[nodiscard]] bool is_over() const {
    if (!failure && !is_complete()) return false;
    if (std::all_of(seats.begin(), seats.end(), [](const Seat& seat) { return seat.has_end; }))
      return true;
    return over_since && last_tick - *over_since >= static_cast<double>(context.session.deadline);
  }

  const SessionContext& context;
  Primitives& primitives;
  Options options;
  std::vector<Seat> seats;
  std::map<std::int64_t, Bytes> approvals;
  std::unique_ptr<RelayRound> relay;
  Phase known_phase = Phase::keys;
  std::int64_t round = 0;
  std::int64_t step = 0;
  std::vector<std::int64_t> rounds_of;  // the round of each finished step
  std::vector<std::vector<Bytes>>
      transcripts;  // of each finished step; empty if only the disk has it
  std::vector<RoundResult> results;
  std::vector<Bytes> read_transcript;
  std::int64_t read_step = -1;
  std::optional<std::string> failure;
  std::optional<double> phase_since, over_since;
  double last_tick = 0;
  RecordFile approvals_file, round_file;
};

Coordinator::Coordinator(const SessionContext& context, Primitives& primitives, Options options)
    : state_(std::make_unique<State>(context, primitives, std::move(options))) {
  state_->advance();
}
Coordinator::~Coordinator() = default;

Bytes Coordinator::challenge(const Bytes& nonce) const {
  return unsigned_message(state_->context, Kind::challenge, -1, nonce);
}
std::int64_t Coordinator::hello(const Bytes& nonce, const Bytes& message) {
  return state_->hello(nonce, message);
}
void Coordinator::on_connect(std::int64_t member) {
  state_->seats.at(static_cast<std::size_t>(member)).connected = true;
  state_->wake();
}
void Coordinator::on_disconnect(std::int64_t member) {
  state_->seats.at(static_cast<std::size_t>(member)).connected = false;
}
void Coordinator::on_message(std::int64_t member, const Bytes& message) {
  state_->on_message(member, message);
}
std::optional<Bytes> Coordinator::next_for(std::int64_t member) { return state_->next_for(member); }
void Coordinator::tick(double now) { state_->tick(now); }
bool Coordinator::is_over() const { return state_->is_over(); }
const std::optional<std::string>& Coordinator::failure() const { return state_->failure; }
const std::vector<RoundResult>& Coordinator::results() const { return state_->results; }

}  // namespace sotto
