#include "federated/api/coordinator.hpp"

#include <algorithm>
#include <map>

#include "sotto/core/join.hpp"
#include "federated/journal.hpp"
#include "federated/messages.hpp"

namespace sotto {

using namespace federated_detail;
using Phase = RelayRound::Phase;

namespace {

// What a member was sent.
struct Seat {
  bool connected = false;
  bool told_approvals = false;
  bool told_end = false;
  std::int64_t step = 0;    // the one that it is at
  std::int64_t round = -1;  // of which it was told the start on this connection
  std::size_t sent = 0;     // of that round's messages
};

}  // namespace

struct Coordinator::State {
  State(const AgreedSession& an_agreed, Primitives& some_primitives, Options some_options)
      : agreed(an_agreed), primitives(some_primitives), options(std::move(some_options)), seats(agreed.session.members.size()) {
    if (options.journal.empty()) return;
    std::filesystem::create_directories(options.journal);
    const std::filesystem::path text = options.journal / "session.json";
    if (const auto kept = read_messages(text); kept && (kept->size() != 1 || kept->front() != to_text(agreed.session))) {
      throw OtherJournal("the folder " + options.journal.string() + " has the journal of " + other_session(*kept));
    }
    write_messages(text, {to_text(agreed.session)});
    approvals_file = RecordFile(options.journal / "approvals", [&](char, std::int64_t member, const Bytes& bytes) { approvals[member] = bytes; });
    while (step < agreed.session.rounds()) {
      auto transcript = read_messages(transcript_path(step));
      if (!transcript) break;
      take_transcript(*transcript);
    }
    if (has_all_approvals()) begin_round(true);
  }

  // Its title and members, and how many of its sums are there.
  [[nodiscard]] std::string other_session(const std::vector<Bytes>& kept) const {
    try {
      const Session other = parse_session(kept.size() == 1 ? kept.front() : "");
      std::int64_t sums = 0;
      while (sums < other.rounds() && std::filesystem::exists(transcript_path(sums))) ++sums;
      return "another session: \"" + other.title + "\" of " + join(other.members, ", ", &Member::name) + ", with " + std::to_string(sums) + " of its " +
             std::to_string(other.rounds()) + (other.rounds() == 1 ? " sum" : " sums");
    } catch (const ProtocolError&) {
      return "another session, which cannot be read";
    }
  }

  [[nodiscard]] std::filesystem::path transcript_path(std::int64_t of) const {
    return options.journal / ("step-" + std::to_string(of + 1) + ".transcript");
  }

  // A step of an earlier life: checked as members check it.
  void take_transcript(const std::vector<Bytes>& messages) {
    if (messages.size() < 2) throw ProtocolError("the transcript " + transcript_path(step).string() + " cannot be read");
    round = read_envelope(messages.front()).round;
    RoundCheck check(agreed, primitives, round, agreed.session.item_of(step).size);
    check.key_list(messages[0]);
    check.opening(messages[1]);
    for (std::size_t i = 2; i < messages.size(); ++i) check.masked(messages[i]);
    if (!check.result()) throw ProtocolError("the transcript " + transcript_path(step).string() + " is not whole");
    rounds_of.push_back(round);
    results.push_back(*check.result());
    transcripts.emplace_back();  // on disk
    ++step;
    ++round;
  }

  [[nodiscard]] bool has_all_approvals() const { return static_cast<std::int64_t>(approvals.size()) == agreed.session.size(); }
  [[nodiscard]] bool is_complete() const { return step == agreed.session.rounds(); }

  void say(const std::string& what) const {
    if (options.told) options.told(what);
  }
  void wake() const {
    if (options.wake) options.wake(-1);
  }

  // With `again`, from the file of a round in progress, if there is one; a round that failed in an earlier life is in it, too.
  void begin_round(bool again) {
    if (is_complete() || failure) return;
    relay = std::make_unique<RelayRound>(agreed, primitives, round, agreed.session.item_of(step).size);
    phase_since.reset();
    if (options.journal.empty()) return;
    const std::filesystem::path path = options.journal / "round";
    if (!again) std::filesystem::remove(path);
    bool is_new = true;
    round_file = RecordFile(path, [&](char tag, std::int64_t member, const Bytes& bytes) {
      is_new = false;
      if (tag == 'R') {
        Reader reader(bytes);
        round = static_cast<std::int64_t>(reader.number());
        relay = std::make_unique<RelayRound>(agreed, primitives, round, agreed.session.item_of(step).size);
      } else if (tag == 'C') {
        relay->close();
      } else {
        relay->receive(member, bytes);
      }
    });
    if (is_new) round_file.append('R', -1, Writer().number(static_cast<std::uint64_t>(round)).made());
  }

  // After anything that may have ended a phase.
  void advance() {
    if (!relay) return;
    if (relay->phase() != known_phase) {
      known_phase = relay->phase();
      phase_since.reset();
      if (known_phase != Phase::keys) round_file.sync();
      wake();
    }
    if (relay->phase() == Phase::done) end_step();
    if (relay && relay->phase() == Phase::failed) end_failed();
  }

  void end_step() {
    const std::vector<Bytes> transcript = relay->transcript();
    if (!options.journal.empty()) write_messages(transcript_path(step), transcript);
    results.push_back(*relay->result());
    rounds_of.push_back(round);
    transcripts.push_back(transcript);
    if (!options.journal.empty() && transcripts.size() > 1) transcripts[transcripts.size() - 2].clear();
    const RoundResult& result = results.back();
    say("round " + std::to_string(round + 1) + ": the sum of " + std::to_string(result.survivors.size()) + " members" +
        (result.dropped.empty() ? "" : ", without " + std::to_string(result.dropped.size()) + " who dropped"));
    // who is in it goes on with the transcript, of which it knows the keys
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
    say(why);
    relay.reset();
    known_phase = Phase::keys;
    round_file.remove();
    ++round;
    if (round >= agreed.session.rounds() + agreed.session.spare - (agreed.session.rounds() - 1 - step)) {
      failure = why + "; no spare round is left: make a new session, which is a new charge";
    } else {
      begin_round(false);
    }
    wake();
  }

  std::int64_t hello(const Bytes& nonce, const Bytes& message) {
    const Envelope envelope = read_signed(agreed, primitives, message, Kind::hello, -1);
    Reader reader(envelope.body);
    if (reader.bytes() != nonce) throw ProtocolError(name_of(agreed, envelope.sender) + " answers another challenge: the message was replayed");
    const Bytes approval = reader.bytes();
    const auto at = static_cast<std::int64_t>(reader.number());
    reader.end();
    const Member& member = agreed.session.members[static_cast<std::size_t>(envelope.sender)];
    if (!primitives.is_signed(approval_text(to_text(agreed.session)), approval, member.key)) {
      throw ProtocolError(member.name + " has not signed this session");
    }
    if (at < 0 || at > step) throw ProtocolError(member.name + " is further than this coordinator, which lost its journal");
    if (!approvals.contains(envelope.sender)) {
      approvals[envelope.sender] = approval;
      approvals_file.append('A', envelope.sender, approval);
      approvals_file.sync();
      say(member.name + " takes part (" + std::to_string(approvals.size()) + " of " + std::to_string(agreed.session.size()) + ")");
      if (has_all_approvals()) begin_round(false);
    }
    Seat& seat = seats[static_cast<std::size_t>(envelope.sender)];
    seat = Seat{};
    seat.step = at;
    return envelope.sender;
  }

  void received(std::int64_t member, const Bytes& message) {
    const std::int64_t of = read_envelope(message).round;
    if (!relay || of != round) {
      if (of < round) return;  // it came late: the round is over
      throw ProtocolError(name_of(agreed, member) + " sent a message of a round that has not begun");
    }
    const std::int64_t before = relay->answered();
    const Phase phase = relay->phase();
    try {
      relay->receive(member, message);
    } catch (const LateMessage& late) {
      say(late.what());
      return;
    }
    if (relay->phase() != phase || relay->answered() != before) round_file.append('M', member, message);
    advance();
  }

  [[nodiscard]] Bytes start_message(std::int64_t of_round, std::int64_t of_step, bool is_over) const {
    return unsigned_message(agreed, Kind::start, of_round, Writer().number(static_cast<std::uint64_t>(of_step)).number(is_over ? 1 : 0, 1).made());
  }

  [[nodiscard]] Bytes transcript_message(std::int64_t of, std::size_t number, std::size_t& count) {
    if (transcripts[static_cast<std::size_t>(of)].empty()) {  // from disk, for whoever comes late; the last one that was read stays
      if (read_step != of) {
        read_transcript = *read_messages(transcript_path(of));
        read_step = of;
      }
      count = read_transcript.size();
      return read_transcript.at(number);
    }
    const auto& all = transcripts[static_cast<std::size_t>(of)];
    count = all.size();
    return all.at(number);
  }

  std::optional<Bytes> next_for(std::int64_t member) {
    Seat& seat = seats[static_cast<std::size_t>(member)];
    if (!seat.connected || seat.told_end) return std::nullopt;
    if (!seat.told_approvals) {
      if (!has_all_approvals()) return std::nullopt;
      seat.told_approvals = true;
      std::vector<NamedBytes> all;
      for (const auto& [of, bytes] : approvals) all.push_back({of, bytes});
      return unsigned_message(agreed, Kind::approvals, -1, to_bytes(all));
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
      seat.told_end = true;
      return unsigned_message(agreed, Kind::finish, -1, failure.value_or(""));
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
    const double deadline = static_cast<double>(agreed.session.deadline);
    bool somebody_may_answer = false;
    for (std::size_t i = 0; i < seats.size(); ++i) {
      somebody_may_answer = somebody_may_answer || (seats[i].connected && relay->waits_for(static_cast<std::int64_t>(i)));
    }
    const double waited = now - *phase_since;
    // those who are gone may come back, for a while
    const bool enough = relay->answered() >= agreed.session.threshold && !somebody_may_answer && waited >= std::min(5.0, deadline / 4);
    if (waited < deadline && !enough) return;
    round_file.append('C', -1, "");
    relay->close();
    advance();
  }

  [[nodiscard]] bool is_over() const {
    if (!failure && !is_complete()) return false;
    if (std::all_of(seats.begin(), seats.end(), [](const Seat& seat) { return seat.told_end; })) return true;
    return over_since && last_tick - *over_since >= static_cast<double>(agreed.session.deadline);
  }

  const AgreedSession& agreed;
  Primitives& primitives;
  Options options;
  std::vector<Seat> seats;
  std::map<std::int64_t, Bytes> approvals;
  std::unique_ptr<RelayRound> relay;
  Phase known_phase = Phase::keys;
  std::int64_t round = 0;
  std::int64_t step = 0;
  std::vector<std::int64_t> rounds_of;          // of each step
  std::vector<std::vector<Bytes>> transcripts;  // empty: on disk
  std::vector<RoundResult> results;
  std::vector<Bytes> read_transcript;
  std::int64_t read_step = -1;
  std::optional<std::string> failure;
  std::optional<double> phase_since, over_since;
  double last_tick = 0;
  RecordFile approvals_file, round_file;
};

Coordinator::Coordinator(const AgreedSession& agreed, Primitives& primitives, Options options)
    : state_(std::make_unique<State>(agreed, primitives, std::move(options))) {
  state_->advance();
}
Coordinator::~Coordinator() = default;

Bytes Coordinator::challenge(const Bytes& nonce) const { return unsigned_message(state_->agreed, Kind::challenge, -1, nonce); }
std::int64_t Coordinator::hello(const Bytes& nonce, const Bytes& message) { return state_->hello(nonce, message); }
void Coordinator::joined(std::int64_t member) {
  state_->seats.at(static_cast<std::size_t>(member)).connected = true;
  state_->wake();
}
void Coordinator::left(std::int64_t member) { state_->seats.at(static_cast<std::size_t>(member)).connected = false; }
void Coordinator::received(std::int64_t member, const Bytes& message) { state_->received(member, message); }
std::optional<Bytes> Coordinator::next_for(std::int64_t member) { return state_->next_for(member); }
void Coordinator::tick(double now) { state_->tick(now); }
bool Coordinator::is_over() const { return state_->is_over(); }
const std::optional<std::string>& Coordinator::failure() const { return state_->failure; }
const std::vector<RoundResult>& Coordinator::results() const { return state_->results; }

}  // namespace sotto
