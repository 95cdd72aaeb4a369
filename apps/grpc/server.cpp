// The coordinator's end of all connections. TLS admits clients whose certificate is trusted; who a
// member is rests on the Ed25519 signature in its hello, over a nonce that this server draws, and
// not on TLS.
#include <grpc/support/log.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstring>
#include <exception>
#include <list>
#include <mutex>
#include <thread>

#include "acceptor.hpp"
#include "sotto/random/random.hpp"
#include "transport.hpp"
#include "wire.hpp"

namespace sotto {
namespace grpc_detail {
namespace {

std::atomic<std::uint64_t>& handshakes() {
  static std::atomic<std::uint64_t> count = 0;
  return count;
}

}  // namespace

void silence_logs() {
  gpr_set_log_function([](gpr_log_func_args* line) {
    if (std::strstr(line->message, "andshake failed") != nullptr) ++handshakes();
  });
}
std::uint64_t failed_handshakes() { return handshakes(); }

}  // namespace grpc_detail

namespace {

using namespace grpc_detail;
using Lock = std::unique_lock<std::mutex>;
using Clock = std::chrono::steady_clock;
using Stream = grpc::ServerReaderWriter<relay::Frame, relay::Frame>;

constexpr auto hello_timeout = std::chrono::seconds(30);
constexpr auto writes_timeout = std::chrono::seconds(30);
constexpr auto goodbye_timeout = std::chrono::seconds(5);
constexpr std::uint64_t largest_hello = 65536;

Bytes fresh_nonce() {
  Bytes nonce(32, 0);
  for (std::size_t i = 0; i < nonce.size(); i += 8) {
    const std::uint64_t word = Random::here().word();
    std::memcpy(nonce.data() + i, &word, sizeof word);
  }
  return nonce;
}

// One connection. The server's lock guards everything but the stream.
struct Connection {
  grpc::ServerContext& context;
  Stream& stream;
  Clock::time_point since = Clock::now();
  std::int64_t member = -1;  // -1 before its hello
  bool closing = false;      // nothing more will be written
  bool writing = false;
  std::condition_variable changed = {};
};

grpc::Status refusal(grpc::StatusCode code, const std::string& why) {
  return {code, why.substr(0, 1000)};
}  // a status is sent in a header, whose size is limited

}  // namespace

struct RelayServer::State final : relay::Relay::Service {
  State(Coordinator& a_coordinator, Options some_options)
      : coordinator(a_coordinator),
        options(std::move(some_options)),
        acceptor(options.address, Acceptor::limits_for(options.members)) {}

  // --- One connection ---

  grpc::Status Join(grpc::ServerContext* context, Stream* stream) override {
    acceptor.authenticated(context->peer());
    Connection connection{*context, *stream};
    {
      const Lock lock(mutex);
      connections.push_back(&connection);
    }
    grpc::Status status;
    std::thread writer;
    try {
      status = serve_member(connection, writer);
    } catch (const std::exception&) {  // a failure of the coordinator itself, such as a full disk
      const Lock lock(mutex);
      if (!failure) failure = std::current_exception();
      status =
          refusal(grpc::StatusCode::INTERNAL, "the coordinator failed: its own messages say why");
    }
    Lock lock(mutex);
    connection.closing = true;
    connection.changed.notify_all();
    if (connection.member >= 0 && is_current(connection))
      coordinator.on_disconnect(connection.member);
    if (!connection.changed.wait_for(lock, goodbye_timeout, [&] { return !connection.writing; }))
      context->TryCancel();  // the peer does not read
    connections.remove(&connection);
    connections_changed.notify_all();
    lock.unlock();
    if (writer.joinable()) writer.join();
    return status;
  }

  // Serves one connection from the challenge to its end. Starts the writer once the member is
  // known.
  grpc::Status serve_member(Connection& connection, std::thread& writer) {
    // Challenge the peer, which proves by its hello which member it is.
    const Bytes nonce = fresh_nonce();
    Assembly assembly(largest_hello);
    if (!write_message(connection.stream, challenge(nonce))) return grpc::Status::CANCELLED;
    try {
      const auto hello = read(connection, assembly);
      if (!hello) return grpc::Status::CANCELLED;
      const Lock lock(mutex);
      const std::int64_t member = coordinator.hello(nonce, *hello);
      for (Connection* other : connections) {  // a new connection of a member replaces its old one
        if (other->member != member || other->closing) continue;
        other->closing = true;
        other->context.TryCancel();
      }
      connection.member = member;
      coordinator.on_connect(member);
    } catch (const ProtocolError& error) {
      report(std::string("a connection was refused: ") + error.what());
      return refusal(grpc::StatusCode::UNAUTHENTICATED, error.what());
    }

    // Pass its messages on, while the writer sends it the coordinator's.
    assembly.limit(options.limit);
    writer = std::thread([this, &connection] { write(connection); });
    try {
      while (const auto message = read(connection, assembly)) {
        const Lock lock(mutex);
        if (connection.closing)
          return {grpc::StatusCode::ABORTED, "this member has a newer connection"};
        coordinator.on_message(connection.member, *message);
      }
    } catch (const ProtocolError& error) {
      report(std::string("a message was refused: ") + error.what());
      return refusal(grpc::StatusCode::INVALID_ARGUMENT, error.what());
    }
    return grpc::Status::OK;
  }

  Bytes challenge(const Bytes& nonce) {
    const Lock lock(mutex);
    return coordinator.challenge(nonce);
  }

  static std::optional<Bytes> read(Connection& connection, Assembly& assembly) {
    for (relay::Frame frame; connection.stream.Read(&frame);) {
      if (auto message = assembly.take(frame.total(), frame.offset(), frame.bytes()))
        return message;
    }
    return std::nullopt;
  }

  // Writes in a separate thread. It requests the next message from the coordinator once the last
  // one is written.
  void write(Connection& connection) {
    Lock lock(mutex);
    while (!connection.closing) {
      std::optional<Bytes> message;
      try {
        message = coordinator.next_for(connection.member);
      } catch (const std::exception&) {
        if (!failure) failure = std::current_exception();
        break;
      }
      if (!message) {
        connections_changed.notify_all();
        connection.changed.wait_for(lock, std::chrono::seconds(1));
        continue;
      }
      connection.writing = true;
      lock.unlock();
      const bool written = write_message(connection.stream, *message);
      message.reset();
      lock.lock();
      connection.writing = false;
      if (!written) break;
    }
    connection.changed.notify_all();
  }

  // Whether no other connection is this member's.
  [[nodiscard]] bool is_current(const Connection& connection) const {
    return std::none_of(connections.begin(), connections.end(), [&](const Connection* other) {
      return other != &connection && other->member == connection.member && !other->closing;
    });
  }

  void report(const std::string& message) {
    const Lock lock(mutex);
    if (options.report) options.report(message);
  }

  // --- All connections ---

  // Starts gRPC's server, which requires a trusted client certificate, and the acceptor that feeds
  // it.
  std::unique_ptr<grpc::Server> start() {
    silence_logs();
    grpc::SslServerCredentialsOptions tls(
        GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
    tls.pem_root_certs = options.tls.trusted;
    tls.pem_key_cert_pairs.push_back({options.tls.own.key, options.tls.own.certificate});
    grpc::ResourceQuota quota("relay");
    quota.SetMaxThreads(static_cast<int>(4 * options.members) + 64);
    grpc::ServerBuilder builder;
    builder.SetResourceQuota(quota);
    using From = grpc::ServerBuilder::experimental_type::ExternalConnectionType;
    handler = builder.experimental().AddExternalConnectionAcceptor(From::FROM_FD,
                                                                   grpc::SslServerCredentials(tls));
    builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, 2);
    builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, ping_every_ms);
    builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, ping_patience_ms);
    builder.AddChannelArgument(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
    builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS,
                               ping_every_ms / 4);
    builder.SetMaxReceiveMessageSize(static_cast<int>(largest_frame));
    builder.RegisterService(this);
    auto server = builder.BuildAndStart();
    if (server == nullptr)
      throw std::runtime_error("cannot serve at " + options.address +
                               ": the private key does not belong to the certificate");
    acceptor.start([this](int listener, int fd) {
      grpc::experimental::ExternalConnectionAcceptor::NewConnectionParameters connection;
      connection.listener_fd = listener;
      connection.fd = fd;
      handler->HandleNewConnection(&connection);
    });
    return server;
  }

  // Tells the coordinator the time, and cancels connections without a hello, until the coordinator
  // is over.
  void supervise() {
    const auto start = Clock::now();
    std::uint64_t handshakes = failed_handshakes();
    std::uint64_t refused = 0;
    auto next_report = start;
    Lock lock(mutex);
    while (!stopping && !failure) {
      const auto now = Clock::now();
      coordinator.tick(std::chrono::duration<double>(now - start).count());
      if (coordinator.is_over()) return;
      for (Connection* connection : connections) {
        if (connection->member < 0 && now - connection->since > hello_timeout)
          connection->context.TryCancel();
      }
      if (failed_handshakes() != handshakes) {
        handshakes = failed_handshakes();
        if (options.report)
          options.report(
              "a connection was refused: this coordinator does not trust its certificate");
      }
      if (acceptor.refused() != refused && now >= next_report) {
        refused = acceptor.refused();
        next_report = now + std::chrono::minutes(1);
        if (options.report)
          options.report(
              std::to_string(refused) +
              " connections were closed so far, because their peers did not authenticate in time");
      }
      connections_changed.wait_for(lock, std::chrono::milliseconds(200));
    }
  }

  // Waits until all messages are written and the members have left, within limits; then cancels the
  // connections that remain.
  void drain() {
    Lock lock(mutex);
    const auto all_written = [this] {
      return std::none_of(connections.begin(), connections.end(),
                          [](const Connection* one) { return one->writing; });
    };
    const auto writes_end = Clock::now() + writes_timeout;
    while (!stopping && !failure && !all_written() && Clock::now() < writes_end)
      connections_changed.wait_for(lock, std::chrono::milliseconds(50));
    const auto goodbyes_end = Clock::now() + goodbye_timeout;
    while (!stopping && !failure && !connections.empty() && Clock::now() < goodbyes_end)
      connections_changed.wait_for(lock, std::chrono::milliseconds(50));
    for (Connection* connection : connections) {
      connection->closing = true;
      connection->context.TryCancel();
    }
  }

  Coordinator& coordinator;
  const Options options;
  std::unique_ptr<grpc::experimental::ExternalConnectionAcceptor> handler;
  Acceptor acceptor;  // destroyed before the handler, which its thread uses
  std::mutex mutex;   // guards every call of the coordinator, and the members below
  std::condition_variable connections_changed;
  std::list<Connection*> connections;
  std::exception_ptr failure;
  std::atomic<bool> stopping = false;
};

RelayServer::RelayServer(Coordinator& coordinator, Options options)
    : state_(std::make_unique<State>(coordinator, std::move(options))) {
  require_valid_certificate(state_->options.tls.own.certificate, "the coordinator's own");
}
RelayServer::~RelayServer() = default;

void RelayServer::serve(const std::function<void(int)>& ready) {
  const auto server = state_->start();
  if (ready) ready(state_->acceptor.port());
  try {
    state_->supervise();
  } catch (...) {
    const Lock lock(state_->mutex);
    if (!state_->failure) state_->failure = std::current_exception();
  }
  state_->drain();
  state_->acceptor.stop();
  server->Shutdown(std::chrono::system_clock::now() + std::chrono::seconds(1));
  server->Wait();
  if (state_->failure) std::rethrow_exception(state_->failure);
}

std::size_t RelayServer::unauthenticated() const { return state_->acceptor.waiting(); }

void RelayServer::stop() { state_->stopping = true; }

// The coordinator calls this within one of its own calls, so the lock is held.
void RelayServer::wake(std::int64_t member) {
  for (Connection* connection : state_->connections) {
    if (member < 0 || connection->member == member) connection->changed.notify_all();
  }
}

}  // namespace sotto
