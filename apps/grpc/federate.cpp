// sotto-federate: members who trust nobody add up their vectors, each as a process. It is a program
// of its own because sotto does not link gRPC; `sotto federate`, `sotto coordinator` and `sotto
// party` start it.
#include <csignal>

#include "commands.hpp"

namespace sotto::cli {

void add_tls(Command& command, TlsFiles& files) {
  command.add_option("--tls-ca", files.authority,
                     "certificates of an authority (PEM), if the session lists none");
  command.add_option("--tls-cert", files.certificate,
                     "this end's certificate from that authority (PEM)");
  command.add_option("--tls-key", files.key, "the certificate's key (PEM)");
}

Tls tls_of(const TlsFiles& files, const TlsIdentity& own, const std::string& trusted) {
  const bool has_files =
      !files.authority.empty() || !files.certificate.empty() || !files.key.empty();
  if (!trusted.empty()) {
    if (has_files)
      throw InvalidValue(
          "the session lists the certificates of its members: leave out --tls-ca, --tls-cert and "
          "--tls-key");
    return {own, trusted, false};
  }
  if (files.authority.empty() || files.certificate.empty() || files.key.empty()) {
    throw InvalidValue(
        "the session lists no certificates: type --tls-ca, --tls-cert and --tls-key with those of "
        "your authority");
  }
  return {{read_text(files.key), read_text(files.certificate)}, read_text(files.authority), true};
}

std::atomic<bool>& stop_requested() {
  static std::atomic<bool> requested = [] {
    for (const int signal : {SIGINT, SIGTERM})
      (void)std::signal(signal, [](int) { stop_requested() = true; });
    return false;
  }();
  return requested;
}

}  // namespace sotto::cli

int main(int argc, char** argv) {
  sotto::cli::Command app(
      "Examples:\n"
      "  sotto-federate enroll hospital-a\n"
      "  sotto-federate init --member a.member.json --member b.member.json --member c.member.json "
      "--coordinator-card relay.member.json\n"
      "    --address 127.0.0.1:4711 --sigma 50 --most 1000 > session.json\n"
      "  sotto-federate approve session.json --key a.member.key\n"
      "  sotto-federate coordinator session.json --key relay.member.key\n"
      "  sotto-federate party session.json --key a.member.key --values a.txt\n"
      "\n"
      "Members who trust neither each other nor a server add up vectors, with noise from each of "
      "them.",
      "sotto-federate", "sotto-federate " SOTTO_VERSION);
  app.require_subcommand(1);
  sotto::cli::add_enroll(app);
  sotto::cli::add_init(app);
  sotto::cli::add_approve(app);
  sotto::cli::add_coordinator(app);
  sotto::cli::add_party(app);
  return sotto::cli::run_program(app, argc, argv);
}
