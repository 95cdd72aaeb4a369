// A member's end of a connection to the coordinator.
#include <condition_variable>
#include <mutex>
#include <thread>

#include "transport.hpp"
#include "wire.hpp"

namespace sotto {
namespace {

using namespace grpc_detail;
using Lock = std::unique_lock<std::mutex>;

constexpr auto connect_timeout = std::chrono::seconds(25);

bool is_loopback(const std::string& target) {
  return target.starts_with("127.") || target.starts_with("localhost:") ||
         target.starts_with("[::1]:");
}

class GrpcLink final : public Link {
 public:
  GrpcLink(const std::string& target, const std::shared_ptr<grpc::Channel>& channel,
           std::uint64_t limit)
      : target_(target),
        stub_(relay::Relay::NewStub(channel)),
        stream_(stub_->Join(&context_)),
        reader_([this, limit] { read(limit); }) {
    Lock lock(mutex_);
    changed_.wait_for(lock, connect_timeout,
                      [this] { return inbox_ || ended_; });  // the coordinator speaks first
    if (inbox_) return;
    const bool is_silent = !ended_;
    lock.unlock();
    close();
    if (is_silent) throw LinkLost("the coordinator at " + target_ + " does not answer");
    throw_lost();
  }
  GrpcLink(const GrpcLink&) = delete;
  GrpcLink& operator=(const GrpcLink&) = delete;
  ~GrpcLink() override { close(); }

  void send(const Bytes& message) override {
    {
      const Lock lock(writing_);
      if (!finished_ && write_message(*stream_, message)) return;
    }
    Lock lock(mutex_);
    changed_.wait_for(lock, std::chrono::seconds(5),
                      [this] { return ended_; });  // the coordinator may send its reason
    lock.unlock();
    throw_lost();
  }

  std::optional<Bytes> receive(std::chrono::milliseconds patience) override {
    Lock lock(mutex_);
    changed_.wait_for(lock, patience, [this] { return inbox_ || ended_; });
    if (inbox_) {
      std::optional<Bytes> message = std::exchange(inbox_, std::nullopt);
      lock.unlock();
      inbox_emptied_.notify_one();
      return message;
    }
    if (!ended_) return std::nullopt;
    lock.unlock();
    throw_lost();
  }

 private:
  // Reads in a separate thread. At most one message waits to be received; meanwhile gRPC stops the
  // sender.
  void read(std::uint64_t limit) {
    std::string protocol_error;
    try {
      Assembly assembly(limit);
      for (relay::Frame frame; stream_->Read(&frame);) {
        auto message = assembly.take(frame.total(), frame.offset(), frame.bytes());
        if (!message) continue;
        Lock lock(mutex_);
        inbox_emptied_.wait(lock, [this] { return !inbox_ || closing_; });
        if (closing_) break;
        inbox_ = std::move(message);
        changed_.notify_all();
      }
    } catch (const std::exception& error) {
      protocol_error = error.what();
      context_.TryCancel();
    }
    const Lock writing(writing_);  // a write returns once the connection has ended
    finished_ = true;
    grpc::Status status = is_closing() ? grpc::Status::CANCELLED : stream_->Finish();
    const Lock lock(mutex_);
    status_ = std::move(status);
    protocol_error_ = protocol_error;
    ended_ = true;
    changed_.notify_all();
  }

  [[nodiscard]] bool is_closing() {
    const Lock lock(mutex_);
    return closing_;
  }

  void close() {
    {
      const Lock lock(mutex_);
      closing_ = true;
    }
    inbox_emptied_.notify_all();
    context_.TryCancel();
    if (reader_.joinable()) reader_.join();
  }

  [[noreturn]] void throw_lost() {
    const Lock lock(mutex_);
    if (!protocol_error_.empty())
      throw ProtocolError("the coordinator at " + target_ +
                          " breaks the protocol: " + protocol_error_);
    throw_link_error(target_, {static_cast<int>(status_.error_code()), status_.error_message()});
  }

  const std::string target_;
  std::mutex mutex_, writing_;
  std::condition_variable changed_, inbox_emptied_;
  std::optional<Bytes> inbox_;
  bool closing_ = false, ended_ = false;
  bool finished_ = false;  // guarded by writing_
  std::string protocol_error_;
  grpc::Status status_;
  grpc::ClientContext context_;
  std::unique_ptr<relay::Relay::Stub> stub_;
  std::unique_ptr<grpc::ClientReaderWriter<relay::Frame, relay::Frame>> stream_;
  std::thread reader_;
};

}  // namespace

Connector grpc_connect(const std::string& target, const Tls& tls, std::uint64_t limit) {
  silence_logs();
  require_valid_certificate(tls.own.certificate, "this member's own");
  if (!tls.by_authority) require_valid_certificate(tls.trusted, "the coordinator's");
  return [target, tls, limit]() -> std::unique_ptr<Link> {
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL,
                     1);  // each link has a connection of its own
    arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, ping_every_ms);
    arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, ping_patience_ms);
    arguments.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);  // no limit
    arguments.SetMaxReceiveMessageSize(static_cast<int>(largest_frame));
    if (!tls.by_authority) arguments.SetSslTargetNameOverride("sotto");
    if (is_loopback(target)) arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
    const auto credentials = grpc::SslCredentials({tls.trusted, tls.own.key, tls.own.certificate});
    return std::make_unique<GrpcLink>(
        target, grpc::CreateCustomChannel(target, credentials, arguments), limit);
  };
}

}  // namespace sotto
