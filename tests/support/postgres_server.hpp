// A PostgreSQL of one's own on the loopback, gone with this object.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <filesystem>
#include <stdexcept>
#include <string>

namespace sotto {

class PostgresServer {
 public:
  /// Where its programs are; empty if it is not installed.
  static std::filesystem::path programs() {
    for (const char* version : {"17", "16", "15", "14"}) {
      const auto folder = std::filesystem::path("/usr/lib/postgresql") / version / "bin";
      if (std::filesystem::exists(folder / "initdb")) return folder;
    }
    return {};
  }

  PostgresServer() : port_(free_port()) {
    char name[] = "/tmp/sotto-postgres-XXXXXX";
    folder_ = mkdtemp(name);
    if (geteuid() == 0) run("chown postgres " + folder_.string());
    run(as_owner() + (programs() / "initdb").string() + " -D " + data() + " -U postgres -A trust -E UTF8 --locale=C -N");
    run(as_owner() + (programs() / "pg_ctl").string() + " -w -D " + data() + " -l " + folder_.string() + "/log -o '-p " + std::to_string(port_) +
        " -k " + folder_.string() + " -c listen_addresses=127.0.0.1 -c fsync=off' start");
  }
  PostgresServer(const PostgresServer&) = delete;
  PostgresServer& operator=(const PostgresServer&) = delete;
  ~PostgresServer() {
    [[maybe_unused]] const int ignored =
        system(("cd /; " + as_owner() + (programs() / "pg_ctl").string() + " -D " + data() + " -m immediate stop >/dev/null 2>&1").c_str());
    std::filesystem::remove_all(folder_);
  }

  [[nodiscard]] std::string connection() const { return "host=127.0.0.1 port=" + std::to_string(port_) + " user=postgres dbname=postgres"; }
  /// Runs SQL as another client would.
  void sql(const std::string& text) const {
    run((programs() / "psql").string() + " -X -q -v ON_ERROR_STOP=1 -d '" + connection() + "' -c \"" + text + "\"");
  }

 private:
  static int free_port() {
    const int socket_ = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    bind(socket_, reinterpret_cast<sockaddr*>(&address), size);
    getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &size);
    close(socket_);
    return ntohs(address.sin_port);
  }
  [[nodiscard]] std::string data() const { return folder_.string() + "/data"; }
  static std::string as_owner() { return geteuid() == 0 ? "setpriv --reuid=postgres --regid=postgres --clear-groups " : ""; }
  static void run(const std::string& command) {
    if (system(("cd /; " + command + " >/dev/null").c_str()) != 0) throw std::runtime_error(command);
  }

  int port_;
  std::filesystem::path folder_;
};

}  // namespace sotto
