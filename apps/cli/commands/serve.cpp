// sotto serve: shows the ledgers and answers of a catalogue as web pages on this machine.
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <iostream>
#include <memory>
#include <stdexcept>

#include "cli/catalogue.hpp"
#include "cli/command.hpp"
#include "cli/site_server/gate.hpp"
#include "cli/site_server/loopback.hpp"
#include "core/api/stop.hpp"
#include "report/api/site.hpp"
#include "run.hpp"
#include "sotto/core/errors.hpp"

namespace sotto::cli {
namespace {

// Turns the first SIGINT or SIGTERM into a readable pipe, which ends the server, and into a flag,
// which ends a computation. The second signal ends the process at once.
class StopSignals {
 public:
  StopSignals() {
    if (pipe2(ends_.data(), O_CLOEXEC | O_NONBLOCK) != 0)
      throw std::runtime_error("cannot create a pipe");
    struct sigaction action {};
    action.sa_handler = [](int) {
      arrived_ = 1;
      (void)!write(ends_[1], "", 1);
    };
    action.sa_flags = static_cast<int>(SA_RESETHAND);
    for (const int signal : {SIGINT, SIGTERM}) sigaction(signal, &action, nullptr);
  }
  [[nodiscard]] int file() const { return ends_[0]; }
  [[nodiscard]] static bool arrived() { return arrived_ != 0; }

 private:
  static inline std::array<int, 2> ends_{};
  static inline volatile std::sig_atomic_t arrived_ = 0;
};

HttpResponse response_of(int status, const std::string& message) {
  return {.status = status, .body = message + "\n"};
}

HttpResponse answer(const CatalogueSite& site, const Gate& gate, const HttpRequest& request) {
  const Gate::Judgement judgement = gate.judge(request);
  if (judgement.verdict == Gate::Verdict::refused) return response_of(403, "Forbidden");
  if (request.method != "GET" && request.method != "HEAD") {
    HttpResponse refused = response_of(405, "Method Not Allowed");
    refused.fields.emplace_back("Allow", "GET, HEAD");
    return refused;
  }
  if (request.has_body) return response_of(400, "Bad Request");
  if (judgement.verdict == Gate::Verdict::enters) {
    HttpResponse entered = response_of(303, "See Other");
    entered.fields = {{"Location", judgement.path}, {"Set-Cookie", gate.cookie()}};
    return entered;
  }
  try {
    const std::optional<SitePage> page = site.page(judgement.path, request.query);
    if (!page) return response_of(404, "There is no such page.");
    return {.status = page->failed ? 500 : 200, .type = page->type, .body = page->body};
  } catch (const std::exception&) {
    return response_of(500, "This page cannot be shown.");
  }
}

struct Arguments {
  std::string catalogue;
  int port = 0;
  bool quiet = false;
};

void run_serve(const Arguments& arguments) {
  const Catalogue catalogue = catalogue_of(arguments.catalogue);
  if (!std::filesystem::is_directory(catalogue.folder())) {
    throw InvalidValue("there is no catalogue " + catalogue.folder().string() +
                       ": type --catalogue FOLDER, or create one by sotto data init FILE");
  }
  LoopbackServer server(arguments.port);
  const Gate gate(server.port());
  const CatalogueSite site(catalogue, {SOTTO_VERSION, verify_line});
  const StopSignals signals;
  const StopCheck question(StopSignals::arrived);
  std::cout << gate.url() << std::endl;
  if (!std::cout) throw std::runtime_error("the address could not be written");
  if (!arguments.quiet)
    say("shows the catalogue " + catalogue.folder().string() +
        " to everybody who has this address; Ctrl-C ends it");
  server.run(signals.file(),
             [&](const HttpRequest& request) { return answer(site, gate, request); });
}

}  // namespace

void add_serve(Command& app) {
  const auto arguments = std::make_shared<Arguments>();
  Command* command =
      app.add_subcommand("serve", "Show ledgers and answers in a browser on this machine",
                         "Examples:\n"
                         "  sotto serve\n"
                         "  sotto serve --catalogue catalogue --port 8080\n"
                         "\n"
                         "Shows the ledgers and answers of a catalogue in a browser on this "
                         "machine: budgets over time, requests, and what is left. Prints an\n"
                         "address with a secret token, writes nothing, reads no data and no key, "
                         "and ends with Ctrl-C.");
  command->add_option("--catalogue", arguments->catalogue, catalogue_words);
  command->add_option("--port", arguments->port, "the port on 127.0.0.1 (default: any free one)")
      ->range(1, 65535);
  command->add_flag("--quiet", arguments->quiet, "print the address alone");
  command->callback([arguments] { run_serve(*arguments); });
}

}  // namespace sotto::cli
