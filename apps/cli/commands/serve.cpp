// sotto serve: ledgers and answers of a catalogue as pages on this machine, to be looked at.
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <iostream>
#include <stdexcept>

#include "cli/catalogue.hpp"
#include "cli/command.hpp"
#include "cli/site_server/gate.hpp"
#include "cli/site_server/loopback.hpp"
#include "run.hpp"
#include "sotto/core/errors.hpp"
#include "core/api/stop.hpp"
#include "report/api/site.hpp"

namespace sotto::cli {
namespace {

// Ctrl-C and SIGTERM end the server when it is next idle, and computations in between; a second one ends the process at once.
class StopSignals {
 public:
  StopSignals() {
    if (pipe2(ends_.data(), O_CLOEXEC | O_NONBLOCK) != 0) throw std::runtime_error("no pipe");
    struct sigaction action {};
    action.sa_handler = [](int) {
      came_ = 1;
      (void)!write(ends_[1], "", 1);
    };
    action.sa_flags = static_cast<int>(SA_RESETHAND);
    for (const int signal : {SIGINT, SIGTERM}) sigaction(signal, &action, nullptr);
  }
  [[nodiscard]] int file() const { return ends_[0]; }
  [[nodiscard]] static bool came() { return came_ != 0; }

 private:
  static inline std::array<int, 2> ends_{};
  static inline volatile std::sig_atomic_t came_ = 0;
};

HttpResponse status_of(int status, const std::string& words) { return {.status = status, .body = words + "\n"}; }

HttpResponse answer(const CatalogueSite& site, const Gate& gate, const HttpRequest& request) {
  const Gate::Judgement judged = gate.judge(request);
  if (judged.verdict == Gate::Verdict::refused) return status_of(403, "Forbidden");
  if (request.method != "GET" && request.method != "HEAD") {
    HttpResponse refused = status_of(405, "Method Not Allowed");
    refused.fields.emplace_back("Allow", "GET, HEAD");
    return refused;
  }
  if (request.has_body) return status_of(400, "Bad Request");
  if (judged.verdict == Gate::Verdict::enters) {
    HttpResponse entered = status_of(303, "See Other");
    entered.fields = {{"Location", judged.path}, {"Set-Cookie", gate.cookie()}};
    return entered;
  }
  try {
    const std::optional<SitePage> page = site.page(judged.path, request.query);
    if (!page) return status_of(404, "There is no such page.");
    return {.status = page->failed ? 500 : 200, .type = page->type, .body = page->body};
  } catch (const std::exception&) {
    return status_of(500, "This page cannot be shown.");
  }
}

void run_serve(const Typed& typed, const std::string& folder, int port) {
  const Catalogue catalogue = catalogue_of(folder);
  if (!std::filesystem::is_directory(catalogue.folder())) {
    throw InvalidValue("there is no catalogue " + catalogue.folder().string() + ": type --catalogue FOLDER, or make one by sotto data init FILE");
  }
  LoopbackServer server(port);
  const Gate gate(server.port());
  const CatalogueSite site(catalogue, {SOTTO_VERSION, verify_line});
  const StopSignals signals;
  const StopQuestion question(StopSignals::came);
  std::cout << gate.url() << std::endl;
  if (!std::cout) throw std::runtime_error("the address could not be written");
  if (!typed.quiet) say("shows the catalogue " + catalogue.folder().string() + " to whoever has this address; Ctrl-C ends it");
  server.run(signals.file(), [&](const HttpRequest& request) { return answer(site, gate, request); });
}

}  // namespace

void add_serve(Command& app, Typed& typed) {
  static std::string folder;
  static int port = 0;
  Command* serve = app.add_subcommand(
      "serve",
      "Examples:\n"
      "  sotto serve\n"
      "  sotto serve --catalogue catalogue --port 8080\n"
      "\n"
      "Shows ledgers and answers of a catalogue in a browser on this machine: budgets over time, what was asked, what is left. It prints an address\n"
      "with a secret token, writes nothing, reads no data and no key, and ends with Ctrl-C.");
  serve->add_option("--catalogue", folder, catalogue_words);
  serve->add_option("--port", port, "the port on 127.0.0.1 (default: any free one)")->range(1, 65535);
  serve->add_flag("--quiet", typed.quiet, "print the address alone");
  serve->callback([&typed] { run_serve(typed, folder, port); });
}

}  // namespace sotto::cli
