// coordinator: the relay of a session, which holds no member's key and learns no member's vector.
#include <iostream>
#include <thread>

#include "commands.hpp"
#include "federated/api/frames.hpp"
#include "report/api/sums.hpp"
#include "transport.hpp"

namespace sotto::cli {
namespace {

struct Options {
  std::string session, key, journal, listen;
  TlsFiles tls;
  bool quiet = false;
};

std::unique_ptr<Coordinator> coordinator_of(const AgreedSession& agreed, Primitives& primitives, const Coordinator::Options& options) {
  try {
    return std::make_unique<Coordinator>(agreed, primitives, options);
  } catch (const OtherJournal& error) {
    const std::string folder = options.journal.string();
    throw ProtocolError(std::string(error.what()) +
                        ". To keep it, type --journal FOLDER with another folder for this session; where nobody needs it " + "any more, type rm -r " +
                        folder + ". Until the coordinator runs, the members wait for it");
  }
}

void run_coordinator(const Options& options, const Typed& typed) {
  const Format format = format_of(typed);
  const Session session = parse_session(session_text_in(options.session));
  const AgreedSession agreed = sotto::agreed(session);
  const MemberKey key = read_key(options.key);
  if (!session.certificate.empty() && key.tls.certificate != session.certificate) {
    throw ProtocolError(options.key + " is not the key of this session's coordinator: its certificate is another one");
  }
  std::string trusted;
  for (const Member& member : session.members) {
    trusted += member.certificate;
    try {
      if (!member.certificate.empty()) require_current(member.certificate, member.name + "'s");
    } catch (const ProtocolError& error) {
      say(error.what());  // the others may suffice
    }
  }
  const auto primitives = real_primitives(session.bits);
  const auto told = [&](const std::string& what) {
    if (!options.quiet) say(what);
  };
  RelayServer* door = nullptr;
  Coordinator::Options with;
  with.journal =
      options.journal.empty() ? std::filesystem::path(options.session).replace_extension(".journal") : std::filesystem::path(options.journal);
  with.told = told;
  with.wake = [&](std::int64_t member) {
    if (door != nullptr) door->wake(member);
  };
  const std::unique_ptr<Coordinator> made = coordinator_of(agreed, *primitives, with);
  Coordinator& coordinator = *made;
  RelayServer server(coordinator, {options.listen.empty() ? session.coordinator : options.listen, tls_of(options.tls, key.tls, trusted),
                                   session.size(), largest_message(session), told});
  door = &server;
  (void)stop_asked();
  std::atomic<bool> over = false;
  std::thread watch([&] {
    while (!over && !stop_asked()) std::this_thread::sleep_for(std::chrono::milliseconds(100));
    if (!over) server.stop();
  });
  const auto end = [&] {
    over = true;
    watch.join();
  };
  try {
    server.serve([&](int port) { told("waiting for " + std::to_string(session.size()) + " members, on port " + std::to_string(port)); });
  } catch (...) {
    end();
    throw;
  }
  end();
  if (coordinator.failure()) throw ProtocolError("the session failed: " + *coordinator.failure());
  if (static_cast<std::int64_t>(coordinator.results().size()) < session.rounds()) {
    throw std::runtime_error("stopped before the last sum; the same command goes on from " + with.journal.string());
  }
  std::vector<PartySum> sums;
  for (const RoundResult& result : coordinator.results()) sums.push_back(sum_of(session, static_cast<std::int64_t>(sums.size()), result));
  std::cout << sums_text(session, sums, format);
}

}  // namespace

void add_coordinator(Command& app, Typed& typed) {
  const auto options = std::make_shared<Options>();
  Command* command = app.add_subcommand(
      "coordinator",
      "Examples:\n"
      "  sotto-federate coordinator session.json --key relay.member.key\n"
      "\n"
      "Relays between the members of a session until its sums are known, and prints them. May be stopped and started again at any time.");
  command->add_option("SESSION", options->session, "the session's file")->required();
  command->add_option("--key", options->key, "the coordinator's key, of the card that the session was made with")->required();
  command->add_option("--journal", options->journal,
                      "a folder for what must survive a restart, and for whoever checks the sums; without it SESSION.journal");
  command->add_option("--listen", options->listen, "HOST:PORT on this machine, if not the session's address");
  command->add_option("--format", typed.format, "table, json or csv")->capture_default_str();
  command->add_flag("--quiet", options->quiet, "say nothing of how it goes");
  add_tls(*command, options->tls);
  command->callback([options, &typed] { run_coordinator(*options, typed); });
}

}  // namespace sotto::cli
