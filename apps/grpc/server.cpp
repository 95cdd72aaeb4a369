// The coordinator's end of all connections.
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

void quiet_logs() {
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

constexpr auto patience_for_hello = std::chrono::seconds(30);
constexpr auto patience_for_writes = std::chrono::seconds(30);
constexpr auto patience_for_goodbyes = std::chrono::seconds(5);
constexpr std::uint64_t largest_hello = 65536;

Bytes fresh_nonce() {
  Bytes nonce(32, 0);
  for (std::size_t i = 0; i < nonce.size(); i += 8) {
    const std::uint64_t word = Random::here().word();
    std::memcpy(nonce.data() + i, &word, sizeof word);
  }
  return nonce;
}

// One connection. All but the stream is under the server's lock.
struct Connection {
  grpc::ServerContext& context;
  Stream& stream;
  Clock::time_point since = Clock::now();
  std::int64_t member = -1;  // before its hello
  bool closing = false;      // nothing more is written
  bool writing = false;
  std::condition_variable news = {};
};

grpc::Status refusal(grpc::StatusCode code, const std::string& why) { return {code, why.substr(0, 1000)}; }  // a status travels in a header

}  // namespace

struct RelayServer::State final : relay::Relay::Service {
  State(Coordinator& a_coordinator, Options some_options)
      : coordinator(a_coordinator), options(std::move(some_options)), acceptor(options.address, Acceptor::limits_for(options.members)) {}

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
      status = converse(connection, writer);
    } catch (const std::exception&) {  // the coordinator's own trouble, such as a full disk
      const Lock lock(mutex);
      if (!trouble) trouble = std::current_exception();
      status = refusal(grpc::StatusCode::INTERNAL, "the coordinator is in trouble");
    }
    Lock lock(mutex);
    connection.closing = true;
    connection.news.notify_all();
    if (connection.member >= 0 && seated(connection)) coordinator.left(connection.member);
    if (!connection.news.wait_for(lock, patience_for_goodbyes, [&] { return !connection.writing; }))
      context->TryCancel();  // a reader that reads nothing
    connections.remove(&connection);
    gone.notify_all();
    lock.unlock();
    if (writer.joinable()) writer.join();
    return status;
  }

  grpc::Status converse(Connection& connection, std::thread& writer) {
    const Bytes nonce = fresh_nonce();
    Assembly assembly(largest_hello);
    if (!write_message(connection.stream, challenge(nonce))) return grpc::Status::CANCELLED;
    try {
      const auto hello = read(connection, assembly);
      if (!hello) return grpc::Status::CANCELLED;
      const Lock lock(mutex);
      const std::int64_t member = coordinator.hello(nonce, *hello);
      for (Connection* other : connections) {  // a member that connects anew has given up its old connection
        if (other->member != member || other->closing) continue;
        other->closing = true;
        other->context.TryCancel();
      }
      connection.member = member;
      coordinator.joined(member);
    } catch (const ProtocolError& error) {
      tell(std::string("a connection was refused: ") + error.what());
      return refusal(grpc::StatusCode::UNAUTHENTICATED, error.what());
    }
    assembly.limit(options.limit);
    writer = std::thread([this, &connection] { write(connection); });
    try {
      while (const auto message = read(connection, assembly)) {
        const Lock lock(mutex);
        if (connection.closing) return {grpc::StatusCode::ABORTED, "this member has another connection"};
        coordinator.received(connection.member, *message);
      }
    } catch (const ProtocolError& error) {
      tell(std::string("a message was refused: ") + error.what());
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
      if (auto message = assembly.take(frame.total(), frame.offset(), frame.bytes())) return message;
    }
    return std::nullopt;
  }

  // In a thread of its own: the next message is asked for when the last one is written.
  void write(Connection& connection) {
    Lock lock(mutex);
    while (!connection.closing) {
      std::optional<Bytes> message;
      try {
        message = coordinator.next_for(connection.member);
      } catch (const std::exception&) {
        if (!trouble) trouble = std::current_exception();
        break;
      }
      if (!message) {
        gone.notify_all();
        connection.news.wait_for(lock, std::chrono::seconds(1));
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
    connection.news.notify_all();
  }

  // Whether it is its member's only one.
  [[nodiscard]] bool seated(const Connection& connection) const {
    return std::none_of(connections.begin(), connections.end(),
                        [&](const Connection* other) { return other != &connection && other->member == connection.member && !other->closing; });
  }

  void tell(const std::string& what) {
    const Lock lock(mutex);
    if (options.told) options.told(what);
  }

  // --- All of them ---

  std::unique_ptr<grpc::Server> started() {
    quiet_logs();
    grpc::SslServerCredentialsOptions tls(GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
    tls.pem_root_certs = options.tls.trusted;
    tls.pem_key_cert_pairs.push_back({options.tls.own.key, options.tls.own.certificate});
    grpc::ResourceQuota quota("relay");
    quota.SetMaxThreads(static_cast<int>(4 * options.members) + 64);
    grpc::ServerBuilder builder;
    builder.SetResourceQuota(quota);
    using From = grpc::ServerBuilder::experimental_type::ExternalConnectionType;
    handler = builder.experimental().AddExternalConnectionAcceptor(From::FROM_FD, grpc::SslServerCredentials(tls));
    builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, 2);
    builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, ping_every_ms);
    builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, ping_patience_ms);
    builder.AddChannelArgument(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
    builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, ping_every_ms / 4);
    builder.SetMaxReceiveMessageSize(static_cast<int>(largest_frame));
    builder.RegisterService(this);
    auto server = builder.BuildAndStart();
    if (server == nullptr) throw std::runtime_error("nobody can be served at " + options.address + ": the key and the certificate do not fit");
    acceptor.start([this](int listener, int fd) {
      grpc::experimental::ExternalConnectionAcceptor::NewConnectionParameters connection;
      connection.listener_fd = listener;
      connection.fd = fd;
      handler->HandleNewConnection(&connection);
    });
    return server;
  }

  // Until the coordinator is over.
  void keep_time() {
    const auto start = Clock::now();
    std::uint64_t handshakes = failed_handshakes();
    std::uint64_t strangers = 0;
    auto next_word = start;
    Lock lock(mutex);
    while (!stopping && !trouble) {
      const auto now = Clock::now();
      coordinator.tick(std::chrono::duration<double>(now - start).count());
      if (coordinator.is_over()) return;
      for (Connection* connection : connections) {
        if (connection->member < 0 && now - connection->since > patience_for_hello) connection->context.TryCancel();
      }
      if (failed_handshakes() != handshakes) {
        handshakes = failed_handshakes();
        if (options.told) options.told("a connection was refused: its certificate is none that this coordinator trusts");
      }
      if (acceptor.refused() != strangers && now >= next_word) {
        strangers = acceptor.refused();
        next_word = now + std::chrono::minutes(1);
        if (options.told)
          options.told(std::to_string(strangers) + " connections were closed so far: at their other end nobody proved in time who they are");
      }
      gone.wait_for(lock, std::chrono::milliseconds(200));
    }
  }

  // What is to be said is said before the door closes; then members go by themselves.
  void see_off() {
    Lock lock(mutex);
    const auto said_all = [this] { return std::none_of(connections.begin(), connections.end(), [](const Connection* one) { return one->writing; }); };
    const auto until = Clock::now() + patience_for_writes;
    while (!stopping && !trouble && !said_all() && Clock::now() < until) gone.wait_for(lock, std::chrono::milliseconds(50));
    const auto last = Clock::now() + patience_for_goodbyes;
    while (!stopping && !trouble && !connections.empty() && Clock::now() < last) gone.wait_for(lock, std::chrono::milliseconds(50));
    for (Connection* connection : connections) {
      connection->closing = true;
      connection->context.TryCancel();
    }
  }

  Coordinator& coordinator;
  const Options options;
  std::unique_ptr<grpc::experimental::ExternalConnectionAcceptor> handler;
  Acceptor acceptor;  // its thread, which uses the handler, ends first
  std::mutex mutex;   // around every call of the coordinator, and what follows
  std::condition_variable gone;
  std::list<Connection*> connections;
  std::exception_ptr trouble;
  std::atomic<bool> stopping = false;
};

RelayServer::RelayServer(Coordinator& coordinator, Options options) : state_(std::make_unique<State>(coordinator, std::move(options))) {
  require_current(state_->options.tls.own.certificate, "the coordinator's own");
}
RelayServer::~RelayServer() = default;

void RelayServer::serve(const std::function<void(int)>& ready) {
  const auto server = state_->started();
  if (ready) ready(state_->acceptor.port());
  try {
    state_->keep_time();
  } catch (...) {
    const Lock lock(state_->mutex);
    if (!state_->trouble) state_->trouble = std::current_exception();
  }
  state_->see_off();
  state_->acceptor.stop();
  server->Shutdown(std::chrono::system_clock::now() + std::chrono::seconds(1));
  server->Wait();
  if (state_->trouble) std::rethrow_exception(state_->trouble);
}

std::size_t RelayServer::unproved() const { return state_->acceptor.waiting(); }

void RelayServer::stop() { state_->stopping = true; }

// The coordinator calls it from within one of its calls: the lock is held.
void RelayServer::wake(std::int64_t member) {
  for (Connection* connection : state_->connections) {
    if (member < 0 || connection->member == member) connection->news.notify_all();
  }
}

}  // namespace sotto
