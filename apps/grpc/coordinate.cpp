// sotto coordinator: the relay of a session. It holds no member's key and learns no member's
// vector.
#include <atomic>
#include <functional>
#include <iostream>
#include <memory>
#include <thread>

#include "commands.hpp"
#include "federated/api/frames.hpp"
#include "report/api/sums.hpp"
#include "transport.hpp"

namespace sotto::cli {
namespace {

struct Arguments : OutputArguments {
  std::string session, key, journal, listen;
  TlsFiles tls;
};

std::unique_ptr<Coordinator> coordinator_of(const SessionContext& context, Primitives& primitives,
                                            const Coordinator::Options& options) {
  try {
    return std::make_unique<Coordinator>(context, primitives, options);
  } catch (const OtherJournal& error) {
    const std::string folder = options.journal.string();
    throw ProtocolError(std::string(error.what()) +
                        ". To keep it, type --journal FOLDER with another folder for this session; "
                        "if nobody needs it any more, type rm -r " +
                        folder + ". The members wait until the coordinator runs");
  }
}

// Returns the certificates of all members. Says which of them have expired; the other members may
// suffice.
std::string trusted_certificates(const Session& session) {
  std::string trusted;
  for (const Member& member : session.members) {
    trusted += member.certificate;
    try {
      if (!member.certificate.empty())
        require_valid_certificate(member.certificate, member.name + "'s");
    } catch (const ProtocolError& error) {
      say(error.what());
    }
  }
  return trusted;
}

// Serves until the coordinator is over, or until a signal asks to stop.
void serve(RelayServer& server, const std::function<void(int port)>& ready) {
  (void)stop_requested();
  std::atomic<bool> over = false;
  std::thread watcher([&] {
    while (!over && !stop_requested()) std::this_thread::sleep_for(std::chrono::milliseconds(100));
    if (!over) server.stop();
  });
  const auto end = [&] {
    over = true;
    watcher.join();
  };
  try {
    server.serve(ready);
  } catch (...) {
    end();
    throw;
  }
  end();
}

void run_coordinator(const Arguments& arguments) {
  const Format format = format_of(arguments);
  const Session session = parse_session(session_text_in(arguments.session));
  const SessionContext context = sotto::context_of(session);
  const MemberKey key = read_key(arguments.key);
  if (!session.certificate.empty() && key.tls.certificate != session.certificate) {
    throw ProtocolError(arguments.key +
                        " is not the key of this session's coordinator: its certificate differs "
                        "from the session's");
  }
  const std::string trusted = trusted_certificates(session);

  // The coordinator wakes the server's connections, and the server calls the coordinator.
  const auto primitives = real_primitives(session.bits);
  const auto report = [&](const std::string& message) {
    if (!arguments.quiet) say(message);
  };
  RelayServer* relay = nullptr;
  Coordinator::Options options;
  options.journal = arguments.journal.empty()
                        ? std::filesystem::path(arguments.session).replace_extension(".journal")
                        : std::filesystem::path(arguments.journal);
  options.on_event = report;
  options.wake = [&](std::int64_t member) {
    if (relay != nullptr) relay->wake(member);
  };
  const std::unique_ptr<Coordinator> coordinator = coordinator_of(context, *primitives, options);
  RelayServer server(
      *coordinator,
      {arguments.listen.empty() ? session.coordinator : arguments.listen,
       tls_of(arguments.tls, key.tls, trusted), session.size(), largest_message(session), report});
  relay = &server;
  serve(server, [&](int port) {
    report("waiting for " + std::to_string(session.size()) + " members, on port " +
           std::to_string(port));
  });

  if (coordinator->failure()) throw ProtocolError("the session failed: " + *coordinator->failure());
  if (static_cast<std::int64_t>(coordinator->results().size()) < session.rounds()) {
    throw std::runtime_error(
        "stopped before the last sum: type the same command to continue from " +
        options.journal.string());
  }
  std::vector<PartySum> sums;
  for (const RoundResult& result : coordinator->results())
    sums.push_back(sum_of(session, static_cast<std::int64_t>(sums.size()), result));
  std::cout << sums_text(session, sums, format);
}

}  // namespace

void add_coordinator(Command& app) {
  const auto arguments = std::make_shared<Arguments>();
  Command* command =
      app.add_subcommand("coordinator", "Relay between the members of a session",
                         "Examples:\n"
                         "  sotto-federate coordinator session.json --key relay.member.key\n"
                         "\n"
                         "Relays between the members of a session until its sums are known, and "
                         "prints them. May be stopped and started again at any time.");
  command->add_option("SESSION", arguments->session, "the session's file")->required();
  command
      ->add_option(
          "--key", arguments->key,
          "the coordinator's key, which belongs to the card that the session was created with")
      ->required();
  command->add_option("--journal", arguments->journal,
                      "a folder for what must survive a restart, and for people who check the sums "
                      "(default: SESSION.journal)");
  command->add_option("--listen", arguments->listen,
                      "HOST:PORT on this machine (default: the session's address)");
  add_format(*command, *arguments);
  command->add_flag("--quiet", arguments->quiet, "do not report progress on stderr");
  add_tls(*command, arguments->tls);
  command->callback([arguments] { run_coordinator(*arguments); });
}

}  // namespace sotto::cli
