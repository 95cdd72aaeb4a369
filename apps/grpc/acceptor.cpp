// Sockets and one epoll loop. A connection that was handed to gRPC is kept here by a second
// descriptor, so that it can be shut down until its peer is authenticated.
#include "acceptor.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "wire.hpp"

namespace sotto::grpc_detail {
namespace {

using Clock = std::chrono::steady_clock;
using Id = std::uint64_t;

class File {
 public:
  explicit File(int fd = -1) : fd_(fd) {}
  File(File&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  File& operator=(File&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() {
    if (fd_ >= 0) close(fd_);
  }
  [[nodiscard]] int get() const { return fd_; }

 private:
  int fd_;
};

struct Connection {
  File file;
  int listener;
  std::string peer;    // address and port
  std::string origin;  // the IPv4 address, or the IPv6 network of 64 bits, all of which one
                       // stranger may own
  Clock::time_point since;
};

// A queue of connections with a capacity. Ids ascend, so the smallest id is the oldest connection.
class Queue {
 public:
  Queue(std::size_t capacity, std::chrono::milliseconds patience, std::chrono::milliseconds grace)
      : capacity_(std::max<std::size_t>(capacity, 1)), patience_(patience), grace_(grace) {}

  void add(Id id, Connection connection) {
    connection.since = Clock::now();
    by_origin_[connection.origin].insert(id);
    by_peer_[connection.peer] = id;
    all_.emplace(id, std::move(connection));
  }
  [[nodiscard]] Connection* find(Id id) {
    const auto it = all_.find(id);
    return it == all_.end() ? nullptr : &it->second;
  }
  [[nodiscard]] std::optional<Id> find(const std::string& peer) const {
    const auto it = by_peer_.find(peer);
    return it == by_peer_.end() ? std::nullopt : std::optional(it->second);
  }
  Connection remove(Id id) {
    const auto it = all_.find(id);
    Connection connection = std::move(it->second);
    all_.erase(it);
    const auto origin = by_origin_.find(connection.origin);
    origin->second.erase(id);
    if (origin->second.empty()) by_origin_.erase(origin);
    if (const auto peer = by_peer_.find(connection.peer);
        peer != by_peer_.end() && peer->second == id)
      by_peer_.erase(peer);
    return connection;
  }
  // Returns the oldest connection if it has waited too long.
  [[nodiscard]] std::optional<Id> expired(Clock::time_point now) const {
    if (all_.empty() || now - all_.begin()->second.since < patience_) return std::nullopt;
    return all_.begin()->first;
  }
  // Returns the connection to evict if there is one more than the capacity. This may be the newest
  // itself.
  [[nodiscard]] std::optional<Id> surplus() const {
    if (all_.size() <= capacity_) return std::nullopt;
    constexpr std::size_t few = 8;  // several members may share one address
    const auto more = [](const auto& a, const auto& b) {
      return a.second.size() != b.second.size() ? a.second.size() < b.second.size()
                                                : *a.second.begin() > *b.second.begin();
    };
    const auto most = std::max_element(by_origin_.begin(), by_origin_.end(), more);
    const bool is_crowded = most->second.size() > few;
    const Id oldest = is_crowded ? *most->second.begin() : all_.begin()->first;
    const auto newest = std::prev(all_.end());
    const bool may_evict = is_crowded && most->first != newest->second.origin;
    return may_evict || Clock::now() - all_.at(oldest).since >= grace_ ? oldest : newest->first;
  }
  [[nodiscard]] std::size_t size() const { return all_.size(); }

 private:
  const std::size_t capacity_;
  const std::chrono::milliseconds patience_, grace_;
  std::map<Id, Connection> all_;
  std::map<std::string, std::set<Id>> by_origin_;
  std::map<std::string, Id> by_peer_;
};

// --- Addresses ---

struct Peer {
  std::string name, origin;
};

Peer peer_of(const sockaddr_storage& address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (address.ss_family == AF_INET) {
    sockaddr_in four{};
    std::memcpy(&four, &address, sizeof four);
    inet_ntop(AF_INET, &four.sin_addr, text.data(), text.size());
    return {std::string(text.data()) + " " + std::to_string(ntohs(four.sin_port)), text.data()};
  }
  sockaddr_in6 six{};
  std::memcpy(&six, &address, sizeof six);
  const std::string port = " " + std::to_string(ntohs(six.sin6_port));
  if (IN6_IS_ADDR_V4MAPPED(&six.sin6_addr)) {
    inet_ntop(AF_INET, &six.sin6_addr.s6_addr[12], text.data(), text.size());
    return {text.data() + port, text.data()};
  }
  inet_ntop(AF_INET6, &six.sin6_addr, text.data(), text.size());
  const std::string name = text.data() + port;
  std::fill(&six.sin6_addr.s6_addr[8], &six.sin6_addr.s6_addr[16], 0);
  inet_ntop(AF_INET6, &six.sin6_addr, text.data(), text.size());
  return {name, text.data()};
}

// Turns gRPC's name of a peer, such as "ipv4:127.0.0.1:4711" or "ipv6:%5Bfe80::1%25eth0%5D:4711",
// into that of peer_of().
std::string name_of(std::string peer) {
  peer.erase(0, peer.find(':') + 1);
  const auto port = peer.rfind(':');
  if (port == std::string::npos) return peer;
  std::string host = peer.substr(0, port);
  for (const char* bracket : {"%5B", "%5D", "[", "]"}) {
    if (const auto at = host.find(bracket); at != std::string::npos)
      host.erase(at, std::string_view(bracket).size());
  }
  return host.substr(0, host.find('%')) + " " + peer.substr(port + 1);
}

struct SocketAddress {
  sockaddr_storage address{};
  socklen_t size = 0;
};

// Returns the addresses to listen at for HOST:PORT.
std::vector<SocketAddress> addresses_of(const std::string& address) {
  const auto colon = address.rfind(':');
  if (colon == std::string::npos) return {};
  std::string host = address.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE;
  addrinfo* list = nullptr;
  if (host == "0.0.0.0" || host.empty()) host = "::";  // both families, as gRPC does
  std::vector<SocketAddress> addresses;
  const auto resolve = [&](const std::string& name) {
    if (getaddrinfo(name.c_str(), address.substr(colon + 1).c_str(), &hints, &list) != 0) return;
    for (const addrinfo* entry = list; entry != nullptr; entry = entry->ai_next) {
      SocketAddress one;
      std::memcpy(&one.address, entry->ai_addr, entry->ai_addrlen);
      one.size = entry->ai_addrlen;
      addresses.push_back(one);
    }
    freeaddrinfo(list);
  };
  resolve(host);
  if (host == "::")
    resolve(
        "0.0.0.0");  // for hosts without IPv6; with it, "::" takes IPv4, too, and this bind fails
  return addresses;
}

int port_of(const SocketAddress& one) {
  return ntohs(reinterpret_cast<const sockaddr_in*>(&one.address)->sin_port);
}  // the port is at one offset in both families
void set_port(SocketAddress& one, int port) {
  reinterpret_cast<sockaddr_in*>(&one.address)->sin_port = htons(static_cast<std::uint16_t>(port));
}

void set(int file, int level, int option, int value) {
  (void)setsockopt(file, level, option, &value, sizeof value);
}

// Returns a listening socket, or an empty file if the address cannot be used.
File listen_at(const SocketAddress& one) {
  File file(socket(one.address.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  set(file.get(), SOL_SOCKET, SO_REUSEADDR, 1);
  if (one.address.ss_family == AF_INET6) set(file.get(), IPPROTO_IPV6, IPV6_V6ONLY, 0);
  set(file.get(), IPPROTO_TCP, TCP_NODELAY, 1);  // accepted sockets inherit these two options
  set(file.get(), IPPROTO_TCP, TCP_USER_TIMEOUT, ping_patience_ms);
  const bool good =
      bind(file.get(), reinterpret_cast<const sockaddr*>(&one.address), one.size) == 0 &&
      listen(file.get(), SOMAXCONN) == 0;
  return good ? std::move(file) : File();
}

// --- The beginning of a connection ---

enum class Beginning { incomplete, handshake, other };

// Classifies the first TLS record without consuming it: a handshake is a record of type 22 whose
// message is a ClientHello (1).
Beginning beginning_of(int file) {
  constexpr std::size_t head = 5;
  constexpr std::size_t largest = 16384;  // of a record that is not encrypted
  std::array<unsigned char, head + largest> bytes;
  const ssize_t count = recv(file, bytes.data(), bytes.size(), MSG_PEEK | MSG_DONTWAIT);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return Beginning::incomplete;
  if (count <= 0) return Beginning::other;
  const auto has = static_cast<std::size_t>(count);
  if (bytes[0] != 22 || (has > 1 && bytes[1] != 3) || (has > head && bytes[head] != 1))
    return Beginning::other;
  if (has < head) return Beginning::incomplete;
  const std::size_t size = std::size_t{bytes[3]} << 8U | bytes[4];
  if (size == 0 || size > largest) return Beginning::other;
  return has < head + size ? Beginning::incomplete : Beginning::handshake;
}

constexpr Id stop_id = ~Id{0};
constexpr Id first_listener = Id{1} << 62U;

}  // namespace

struct Acceptor::State {
  explicit State(const Limits& limits)
      : silent(limits.silent, limits.silent_patience, {}),
        handshaking(limits.handshakes, limits.handshake_patience, limits.handshake_grace) {}

  void watch(int file, std::uint32_t what, Id id, int how = EPOLL_CTL_ADD) const {
    epoll_event event{};
    event.events = what;
    event.data.u64 = id;
    if (epoll_ctl(poll.get(), how, file, &event) != 0 && how == EPOLL_CTL_ADD)
      throw std::runtime_error("epoll_ctl failed");
  }

  // Stops watching a connection. gRPC's descriptor of it stays open.
  void release(Queue& queue, Id id) const {
    const Connection connection = queue.remove(id);
    (void)epoll_ctl(poll.get(), EPOLL_CTL_DEL, connection.file.get(), nullptr);
  }
  // Shuts a connection down, for gRPC's descriptor, too.
  void refuse(Queue& queue, Id id) {
    shutdown(queue.find(id)->file.get(), SHUT_RDWR);
    release(queue, id);
    ++refused;
  }

  void accept_from(int listener) {
    for (int i = 0; i < 64; ++i) {  // then other events have their turn
      sockaddr_storage address{};
      socklen_t size = sizeof address;
      const int fd = accept4(listener, reinterpret_cast<sockaddr*>(&address), &size,
                             SOCK_NONBLOCK | SOCK_CLOEXEC);
      if (fd < 0) {
        if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)
          std::this_thread::sleep_for(std::chrono::milliseconds(20));
        return;
      }
      const auto [peer, origin] = peer_of(address);
      const Id id = next++;
      const std::lock_guard lock(mutex);
      silent.add(id, {File(fd), listener, peer, origin, {}});
      watch(fd, EPOLLIN | EPOLLRDHUP | EPOLLET, id);
      inspect(id);
      if (const auto one = silent.surplus()) refuse(silent, *one);
    }
  }

  // Handles an event: bytes on a silent connection, or the end of one that was handed to gRPC.
  void inspect(Id id) {
    if (handshaking.find(id) != nullptr) return release(handshaking, id);
    Connection* connection = silent.find(id);
    if (connection == nullptr) return;
    const Beginning beginning = beginning_of(connection->file.get());
    if (beginning == Beginning::other) refuse(silent, id);
    if (beginning == Beginning::handshake) hand_over(id);
  }

  // Moves a connection to the second queue, and hands gRPC another descriptor of it.
  void hand_over(Id id) {
    const Id later = next++;
    handshaking.add(later, silent.remove(id));
    const int file = handshaking.find(later)->file.get();
    watch(file, 0, later,
          EPOLL_CTL_MOD);  // reports when both directions are shut: gRPC has closed it
    const auto one = handshaking.surplus();
    if (one) refuse(handshaking, *one);
    if (one == later) return;
    const int second = fcntl(file, F_DUPFD_CLOEXEC, 0);
    if (second < 0) return refuse(handshaking, later);
    ready.emplace_back(handshaking.find(later)->listener, second);
  }

  void sweep() {
    const std::lock_guard lock(mutex);
    for (Queue* queue : {&silent, &handshaking}) {
      while (const auto id = queue->expired(Clock::now())) refuse(*queue, *id);
    }
  }

  void run() {
    std::array<epoll_event, 64> events{};
    while (!stopping) {
      const int count = epoll_wait(poll.get(), events.data(), events.size(), 200);
      for (int i = 0; i < count; ++i) {
        const Id id = events[static_cast<std::size_t>(i)].data.u64;
        if (id == stop_id) return;
        if (id >= first_listener) {
          accept_from(listeners[id - first_listener].get());
        } else {
          const std::lock_guard lock(mutex);
          inspect(id);
        }
      }
      sweep();
      for (const auto& [listener, fd] : std::exchange(ready, {})) on_handshake(listener, fd);
    }
  }

  std::mutex mutex;  // guards the queues
  Queue silent, handshaking;
  Id next = 0;  // used by the thread alone
  std::vector<std::pair<int, int>> ready;
  OnHandshake on_handshake;
  std::vector<File> listeners;
  int port = 0;
  File poll{epoll_create1(EPOLL_CLOEXEC)};
  File wake_up{eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  std::atomic<bool> stopping = false;
  std::atomic<std::uint64_t> refused = 0;
  std::thread thread;
};

Acceptor::Limits Acceptor::limits_for(std::int64_t members) {
  Limits limits;
  const auto others = static_cast<rlim_t>(
      64 + 8 * members);  // journals, gRPC's own files, and each member's old and new connections
  rlimit files{};
  if (getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur == RLIM_INFINITY) return limits;
  const rlim_t wanted = others + limits.silent + 2 * limits.handshakes;
  if (files.rlim_cur < wanted) {
    files.rlim_cur = std::min(wanted, files.rlim_max);
    (void)setrlimit(RLIMIT_NOFILE, &files);
    (void)getrlimit(RLIMIT_NOFILE, &files);
  }
  if (files.rlim_cur >= wanted) return limits;
  const rlim_t left = files.rlim_cur > others ? files.rlim_cur - others : 0;
  limits.silent = limits.handshakes = std::max<std::size_t>(16, left / 4);
  return limits;
}

Acceptor::Acceptor(const std::string& address, const Limits& limits)
    : state_(std::make_unique<State>(limits)) {
  State& s = *state_;
  for (SocketAddress one : addresses_of(address)) {
    if (port_of(one) == 0) set_port(one, s.port);
    File file = listen_at(one);
    if (file.get() < 0) continue;
    one.size = sizeof one.address;
    (void)getsockname(file.get(), reinterpret_cast<sockaddr*>(&one.address), &one.size);
    s.port = port_of(one);
    s.watch(file.get(), EPOLLIN, first_listener + s.listeners.size());
    s.listeners.push_back(std::move(file));
  }
  if (s.listeners.empty())
    throw std::runtime_error("cannot listen at " + address +
                             ": the address is not this machine's, or is in use: type --listen "
                             "HOST:PORT for another one");
  s.watch(s.wake_up.get(), EPOLLIN, stop_id);
}
Acceptor::~Acceptor() { stop(); }

int Acceptor::port() const { return state_->port; }

void Acceptor::start(OnHandshake on_handshake) {
  state_->on_handshake = std::move(on_handshake);
  state_->thread = std::thread([this] { state_->run(); });
}

void Acceptor::stop() {
  if (!state_->thread.joinable()) return;
  state_->stopping = true;
  (void)eventfd_write(state_->wake_up.get(), 1);
  state_->thread.join();
}

void Acceptor::authenticated(const std::string& peer) {
  State& s = *state_;
  const std::lock_guard lock(s.mutex);
  if (const auto id = s.handshaking.find(name_of(peer))) s.release(s.handshaking, *id);
}

std::size_t Acceptor::waiting() const {
  const std::lock_guard lock(state_->mutex);
  return state_->silent.size() + state_->handshaking.size();
}

std::uint64_t Acceptor::refused() const { return state_->refused; }

}  // namespace sotto::grpc_detail
