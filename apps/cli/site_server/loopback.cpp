// One poll() loop over the listener and all connections, each of which is a small state machine.
#include "loopback.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <list>
#include <stdexcept>

#include "sotto/core/errors.hpp"

namespace sotto::cli {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds linger(500);

const char* reason_of(int status) {
  switch (status) {
    case 200: return "OK";
    case 303: return "See Other";
    case 400: return "Bad Request";
    case 403: return "Forbidden";
    case 404: return "Not Found";
    case 405: return "Method Not Allowed";
    case 408: return "Request Timeout";
    case 414: return "URI Too Long";
    case 431: return "Request Header Fields Too Large";
    case 505: return "HTTP Version Not Supported";
    default: return "Internal Server Error";
  }
}

HttpResponse plain_response(int status) {
  return {.status = status, .body = std::string(reason_of(status)) + "\n"};
}

// The connection of one client. It reads the request, writes the response, and then lingers until
// the client closes: closing a socket with unread bytes resets the connection, and the client would
// lose the response.
class Connection {
 public:
  Connection(int socket, const LoopbackLimits& limits)
      : socket_(socket), limits_(limits), deadline_(Clock::now() + limits.head) {}
  ~Connection() { close(socket_); }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  [[nodiscard]] pollfd polled() const {
    return {socket_, static_cast<short>(state_ == State::writes ? POLLOUT : POLLIN), 0};
  }
  [[nodiscard]] bool is_reading() const { return state_ == State::reads; }
  [[nodiscard]] bool is_done() const { return state_ == State::done; }
  [[nodiscard]] Clock::time_point deadline() const { return deadline_; }

  // Does what the socket is ready for.
  void advance(const std::function<HttpResponse(const HttpRequest&)>& answer) {
    if (state_ == State::reads) read(answer);
    if (state_ == State::writes) write();
    if (state_ == State::lingers) drain();
  }

  // The deadline is over: answers an incomplete request with 408, and closes all others.
  void expire() {
    if (state_ == State::reads && !in_.empty()) {
      respond(http_text(plain_response(408), true));
      write();
      if (state_ == State::lingers) return;
    }
    state_ = State::done;
  }

 private:
  enum class State { reads, writes, lingers, done };

  void read(const std::function<HttpResponse(const HttpRequest&)>& answer) {
    std::array<char, 4096> bytes{};
    const ssize_t count = recv(socket_, bytes.data(), bytes.size(), 0);
    if (count <= 0) {
      if (count == 0 || !would_block()) state_ = State::done;
      return;
    }
    in_.append(bytes.data(), static_cast<std::size_t>(count));
    const HttpParsed parsed = parse_http(in_);
    if (parsed.status == 0) return;
    in_.clear();
    const bool is_good = parsed.status == 200;
    respond(is_good ? http_text(answer(parsed.request), parsed.request.method != "HEAD")
                    : http_text(plain_response(parsed.status), true));
  }

  void respond(std::string text) {
    out_ = std::move(text);
    state_ = State::writes;
    deadline_ = Clock::now() + limits_.body;
  }

  void write() {
    while (sent_ < out_.size()) {
      const ssize_t count = send(socket_, out_.data() + sent_, out_.size() - sent_, MSG_NOSIGNAL);
      if (count <= 0) {
        if (!would_block()) state_ = State::done;
        return;
      }
      sent_ += static_cast<std::size_t>(count);
    }
    std::string().swap(out_);
    shutdown(socket_, SHUT_WR);
    state_ = State::lingers;
    deadline_ = Clock::now() + linger;
  }

  void drain() {
    std::array<char, 4096> bytes{};
    const ssize_t count = recv(socket_, bytes.data(), bytes.size(), 0);
    if (count == 0 || (count < 0 && !would_block())) state_ = State::done;
  }

  static bool would_block() { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

  int socket_;
  const LoopbackLimits& limits_;
  Clock::time_point deadline_;
  State state_ = State::reads;
  std::string in_, out_;
  std::size_t sent_ = 0;
};

// Returns the milliseconds until the first deadline, for poll(); -1 stands for no deadline.
int timeout_of(const std::list<Connection>& connections) {
  if (connections.empty()) return -1;
  const auto first = std::min_element(
      connections.begin(), connections.end(),
      [](const Connection& a, const Connection& b) { return a.deadline() < b.deadline(); });
  const auto left =
      std::chrono::duration_cast<std::chrono::milliseconds>(first->deadline() - Clock::now())
          .count();
  return static_cast<int>(std::clamp<std::int64_t>(left + 1, 0, 60000));
}

// Makes room for one more connection, at the expense of the oldest one without a complete request.
// Returns false if there is none.
bool make_room(std::list<Connection>& connections, std::size_t most) {
  if (connections.size() < most) return true;
  const auto oldest = std::find_if(connections.begin(), connections.end(),
                                   [](const Connection& one) { return one.is_reading(); });
  if (oldest == connections.end()) return false;
  connections.erase(oldest);
  return true;
}

// Throws an error with the system's reason.
[[noreturn]] void fail(const std::string& what) {
  throw std::runtime_error(what + ": " + std::strerror(errno));
}

}  // namespace

std::string http_text(const HttpResponse& response, bool with_body) {
  std::string text =
      "HTTP/1.1 " + std::to_string(response.status) + " " + reason_of(response.status) + "\r\n";
  const auto field = [&text](const std::string& name, const std::string& value) {
    text += name + ": " + value + "\r\n";
  };
  field("Content-Type", response.type);
  field("Content-Length", std::to_string(response.body.size()));
  field("Connection", "close");
  field("Cache-Control", "no-store");
  // 'unsafe-inline' is for styles alone: the pages carry their style sheet inline.
  field("Content-Security-Policy",
        "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'none'");
  field("Cross-Origin-Opener-Policy", "same-origin");
  field("Cross-Origin-Resource-Policy", "same-origin");
  field("Referrer-Policy", "no-referrer");
  field("X-Content-Type-Options", "nosniff");
  field("X-Frame-Options", "DENY");
  for (const auto& [name, value] : response.fields) field(name, value);
  return text + "\r\n" + (with_body ? response.body : "");
}

LoopbackServer::LoopbackServer(int port, LoopbackLimits limits) : limits_(limits) {
  listener_ = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (listener_ < 0) fail("cannot create a socket");
  try {
    const int yes = 1;
    (void)setsockopt(listener_, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    if (bind(listener_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
        listen(listener_, 64) != 0) {
      if (errno == EADDRINUSE || errno == EACCES) {
        throw InvalidValue("port " + std::to_string(port) +
                           (errno == EACCES ? " may not be used" : " is in use") +
                           ": type another --port, or leave it out for any free one");
      }
      fail("cannot listen on 127.0.0.1");
    }
    socklen_t size = sizeof address;
    if (getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) != 0)
      fail("cannot read the address of the socket");
    port_ = ntohs(address.sin_port);
  } catch (...) {
    close(listener_);
    throw;
  }
}

LoopbackServer::~LoopbackServer() { close(listener_); }

void LoopbackServer::run(int stop, const std::function<HttpResponse(const HttpRequest&)>& answer) {
  std::list<Connection> connections;  // oldest first
  bool is_full = false;
  for (;;) {
    std::vector<pollfd> polled{{stop, POLLIN, 0},
                               {listener_, static_cast<short>(is_full ? 0 : POLLIN), 0}};
    for (const Connection& one : connections) polled.push_back(one.polled());
    if (poll(polled.data(), polled.size(), timeout_of(connections)) < 0 && errno != EINTR)
      fail("cannot wait for requests");
    if (polled[0].revents != 0) return;
    auto one = connections.begin();
    for (std::size_t i = 2; i < polled.size(); ++i, ++one) {
      if (polled[i].revents != 0) one->advance(answer);
      if (!one->is_done() && Clock::now() >= one->deadline()) one->expire();
    }
    connections.remove_if([](const Connection& c) { return c.is_done(); });
    is_full = false;
    if (polled[1].revents != 0) {
      const bool has_room = make_room(connections, limits_.connections);
      const int socket =
          has_room ? accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC) : -1;
      if (socket >= 0) connections.emplace_back(socket, limits_);
      is_full = socket < 0;  // do not poll the listener again before something else happens
    }
  }
}

}  // namespace sotto::cli
