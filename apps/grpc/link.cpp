// A member's end of a connection.
#include <condition_variable>
#include <mutex>
#include <thread>

#include "transport.hpp"
#include "wire.hpp"

namespace sotto {
namespace {

using namespace grpc_detail;
using Lock = std::unique_lock<std::mutex>;

constexpr auto patience_to_connect = std::chrono::seconds(25);

bool is_loopback(const std::string& target) { return target.starts_with("127.") || target.starts_with("localhost:") || target.starts_with("[::1]:"); }

class GrpcLink final : public Link {
 public:
  GrpcLink(const std::string& target, const std::shared_ptr<grpc::Channel>& channel, std::uint64_t limit)
      : target_(target), stub_(relay::Relay::NewStub(channel)), stream_(stub_->Join(&context_)), reader_([this, limit] { read(limit); }) {
    Lock lock(mutex_);
    news_.wait_for(lock, patience_to_connect, [this] { return inbox_ || ended_; });  // the coordinator speaks first
    if (inbox_) return;
    const bool silent = !ended_;
    lock.unlock();
    end();
    if (silent) throw LinkLost("the coordinator at " + target_ + " does not answer");
    lost();
  }
  GrpcLink(const GrpcLink&) = delete;
  GrpcLink& operator=(const GrpcLink&) = delete;
  ~GrpcLink() override { end(); }

  void send(const Bytes& message) override {
    {
      const Lock lock(writing_);
      if (!finished_ && write_message(*stream_, message)) return;
    }
    Lock lock(mutex_);
    news_.wait_for(lock, std::chrono::seconds(5), [this] { return ended_; });  // for the coordinator's reason
    lock.unlock();
    lost();
  }

  std::optional<Bytes> receive(std::chrono::milliseconds patience) override {
    Lock lock(mutex_);
    news_.wait_for(lock, patience, [this] { return inbox_ || ended_; });
    if (inbox_) {
      std::optional<Bytes> message = std::exchange(inbox_, std::nullopt);
      lock.unlock();
      room_.notify_one();
      return message;
    }
    if (!ended_) return std::nullopt;
    lock.unlock();
    lost();
  }

 private:
  // In a thread of its own; it holds one message that is not taken yet, and gRPC stops the sender.
  void read(std::uint64_t limit) {
    std::string broken;
    try {
      Assembly assembly(limit);
      for (relay::Frame frame; stream_->Read(&frame);) {
        auto message = assembly.take(frame.total(), frame.offset(), frame.bytes());
        if (!message) continue;
        Lock lock(mutex_);
        room_.wait(lock, [this] { return !inbox_ || closing_; });
        if (closing_) break;
        inbox_ = std::move(message);
        news_.notify_all();
      }
    } catch (const std::exception& error) {
      broken = error.what();
      context_.TryCancel();
    }
    const Lock writing(writing_);  // a write ends when the connection has
    finished_ = true;
    grpc::Status status = closing() ? grpc::Status::CANCELLED : stream_->Finish();
    const Lock lock(mutex_);
    status_ = std::move(status);
    broken_ = broken;
    ended_ = true;
    news_.notify_all();
  }

  [[nodiscard]] bool closing() {
    const Lock lock(mutex_);
    return closing_;
  }

  void end() {
    {
      const Lock lock(mutex_);
      closing_ = true;
    }
    room_.notify_all();
    context_.TryCancel();
    if (reader_.joinable()) reader_.join();
  }

  [[noreturn]] void lost() {
    const Lock lock(mutex_);
    if (!broken_.empty()) throw ProtocolError("the coordinator breaks the protocol: " + broken_);
    throw_ended(target_, {static_cast<int>(status_.error_code()), status_.error_message()});
  }

  const std::string target_;
  std::mutex mutex_, writing_;
  std::condition_variable news_, room_;
  std::optional<Bytes> inbox_;
  bool closing_ = false, ended_ = false;
  bool finished_ = false;  // under writing_
  std::string broken_;
  grpc::Status status_;
  grpc::ClientContext context_;
  std::unique_ptr<relay::Relay::Stub> stub_;
  std::unique_ptr<grpc::ClientReaderWriter<relay::Frame, relay::Frame>> stream_;
  std::thread reader_;
};

}  // namespace

Connect grpc_connect(const std::string& target, const Tls& tls, std::uint64_t limit) {
  quiet_logs();
  require_current(tls.own.certificate, "this member's own");
  if (!tls.by_authority) require_current(tls.trusted, "the coordinator's");
  return [target, tls, limit]() -> std::unique_ptr<Link> {
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);  // a new connection each time
    arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, ping_every_ms);
    arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, ping_patience_ms);
    arguments.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);  // as many as are needed
    arguments.SetMaxReceiveMessageSize(static_cast<int>(largest_frame));
    if (!tls.by_authority) arguments.SetSslTargetNameOverride("sotto");
    if (is_loopback(target)) arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
    const auto credentials = grpc::SslCredentials({tls.trusted, tls.own.key, tls.own.certificate});
    return std::make_unique<GrpcLink>(target, grpc::CreateCustomChannel(target, credentials, arguments), limit);
  };
}

}  // namespace sotto
