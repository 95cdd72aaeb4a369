// A loopback port for a server that a test starts.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <random>
#include <stdexcept>

namespace sotto {

/// Returns a port that is free now and lies below the kernel's ephemeral range. The kernel may give
/// a port of the ephemeral range to an outgoing connection before the server binds it, or while the
/// server restarts.
inline int free_port() {
  int first_ephemeral = 32768;
  std::ifstream("/proc/sys/net/ipv4/ip_local_port_range") >> first_ephemeral;
  const int first = std::min(10000, first_ephemeral - 1000);
  std::random_device random;

  for (int attempt = 0; attempt < 1000; ++attempt) {
    const int candidate =
        first >= 1024 ? std::uniform_int_distribution(first, first_ephemeral - 1)(random) : 0;
    const int probe = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(static_cast<in_port_t>(candidate));
    socklen_t size = sizeof address;
    const bool bound = bind(probe, reinterpret_cast<sockaddr*>(&address), size) == 0 &&
                       getsockname(probe, reinterpret_cast<sockaddr*>(&address), &size) == 0;
    close(probe);
    if (bound) return ntohs(address.sin_port);
  }
  throw std::runtime_error("no free port");
}

}  // namespace sotto
