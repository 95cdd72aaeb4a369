// A loopback proxy that cuts a connection when the client sends a certain word, before or after the
// server receives it. The client gets no reply in either case.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <stdexcept>
#include <string>
#include <thread>

namespace sotto {

/// The proxy; it serves from a thread of its own.
class CuttingProxy {
 public:
  enum class Cut { never, before, after };

  explicit CuttingProxy(int server_port)
      : server_port_(server_port), listener_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address = loopback(0);
    socklen_t size = sizeof address;
    if (bind(listener_, reinterpret_cast<sockaddr*>(&address), size) != 0 ||
        listen(listener_, 8) != 0 ||
        getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
      throw std::runtime_error("no proxy");
    }
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { serve(); });
  }
  CuttingProxy(const CuttingProxy&) = delete;
  CuttingProxy& operator=(const CuttingProxy&) = delete;
  ~CuttingProxy() {
    done_ = true;
    thread_.join();
    close(listener_);
  }

  [[nodiscard]] int port() const { return port_; }
  /// Cuts the connection once, when the client next sends the word.
  void cut(Cut when, const std::string& word) {
    word_ = word;
    cut_ = when;
  }
  [[nodiscard]] bool has_cut() const { return cut_ == Cut::never; }

 private:
  static sockaddr_in loopback(int port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    return address;
  }

  static bool readable(int socket) {
    pollfd one{socket, POLLIN, 0};
    return poll(&one, 1, 20) > 0;
  }

  // Serves clients one after the other.
  void serve() {
    while (!done_) {
      if (!readable(listener_)) continue;
      const int client = accept(listener_, nullptr, nullptr);
      const int server = socket(AF_INET, SOCK_STREAM, 0);
      const sockaddr_in address = loopback(server_port_);
      if (connect(server, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) {
        while (!done_ && pass_on(client, server)) {
        }
      }
      close(client);
      close(server);
    }
  }

  bool pass_on(int client, int server) {
    std::array<pollfd, 2> both{pollfd{client, POLLIN, 0}, pollfd{server, POLLIN, 0}};
    if (poll(both.data(), both.size(), 20) <= 0) return true;
    std::array<char, 65536> bytes{};
    if (both[0].revents != 0) {
      const ssize_t size = read(client, bytes.data(), bytes.size());
      if (size <= 0) return false;
      const bool met = cut_ != Cut::never &&
                       std::string(bytes.data(), static_cast<std::size_t>(size)).find(word_) !=
                           std::string::npos;
      const Cut when = met ? cut_.load() : Cut::never;
      if (when != Cut::before &&
          write(server, bytes.data(), static_cast<std::size_t>(size)) != size)
        return false;
      // the reply is dropped
      if (when == Cut::after) (void)!read(server, bytes.data(), bytes.size());
      if (met) cut_ = Cut::never;
      return !met;
    }
    const ssize_t size = read(server, bytes.data(), bytes.size());
    return size > 0 && write(client, bytes.data(), static_cast<std::size_t>(size)) == size;
  }

  int server_port_;
  int listener_;
  int port_ = 0;
  std::string word_;
  std::atomic<Cut> cut_ = Cut::never;
  std::atomic<bool> done_ = false;
  std::thread thread_;
};

}  // namespace sotto
