// A coordinator within the process of the test, and connections to it without sockets.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "federated/api/coordinator.hpp"
#include "federated/api/member.hpp"
#include "sotto/random/random.hpp"

namespace sotto::testing {

/// The coordinator, with a clock in a thread of its own. Safe for concurrent members.
class LocalRelay {
 public:
  explicit LocalRelay(const SessionContext& context, std::filesystem::path journal = {})
      : context_(context),
        primitives_(real_primitives(context.session.bits)),
        journal_(std::move(journal)) {
    start();
    clock_ = std::thread([this] {
      while (!stop_) {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        const std::lock_guard lock(mutex_);
        now_ += 0.02;
        if (coordinator_) coordinator_->tick(now_);
        changed_.notify_all();
      }
    });
  }
  ~LocalRelay() {
    stop_ = true;
    clock_.join();
  }
  /// Replaces the coordinator by a new one that starts from its journal, as after a crash.
  void restart() {
    const std::lock_guard lock(mutex_);
    ++life_;
    coordinator_.reset();
    start();
    changed_.notify_all();
  }
  /// Waits until the coordinator's clock has advanced by this much.
  void wait(double seconds) {
    std::unique_lock lock(mutex_);
    const double until = now_ + seconds;
    changed_.wait(lock, [&] { return now_ >= until; });
  }
  [[nodiscard]] bool is_over() {
    const std::lock_guard lock(mutex_);
    return coordinator_->is_over();
  }
  [[nodiscard]] std::vector<RoundResult> results() {
    const std::lock_guard lock(mutex_);
    return coordinator_->results();
  }
  [[nodiscard]] std::optional<std::string> failure() {
    const std::lock_guard lock(mutex_);
    return coordinator_->failure();
  }

  std::unique_ptr<Link> connect() { return std::make_unique<LocalLink>(*this); }

 private:
  class LocalLink final : public Link {
   public:
    explicit LocalLink(LocalRelay& relay) : relay_(relay), nonce_(signing_seed()) {
      const std::lock_guard lock(relay_.mutex_);
      life_ = relay_.life_;
    }
    ~LocalLink() override {
      const std::lock_guard lock(relay_.mutex_);
      if (member_ >= 0 && life_ == relay_.life_) relay_.coordinator_->on_disconnect(member_);
    }
    void send(const Bytes& message) override {
      const std::lock_guard lock(relay_.mutex_);
      require_life();
      try {
        if (member_ < 0) {
          member_ = relay_.coordinator_->hello(nonce_, message);
          relay_.coordinator_->on_connect(member_);
        } else {
          relay_.coordinator_->on_message(member_, message);
        }
      } catch (const ProtocolError& error) {
        throw ProtocolError(std::string("the coordinator refuses this member: ") +
                            error.what());  // as over gRPC
      }
      relay_.changed_.notify_all();
    }
    std::optional<Bytes> receive(std::chrono::milliseconds patience) override {
      std::unique_lock lock(relay_.mutex_);
      require_life();
      if (!challenged_) {
        challenged_ = true;
        return relay_.coordinator_->challenge(nonce_);
      }
      std::optional<Bytes> message;
      relay_.changed_.wait_for(lock, patience, [&] {
        return life_ != relay_.life_ || (message = relay_.coordinator_->next_for(member_));
      });
      require_life();
      return message;
    }

   private:
    void require_life() const {
      if (life_ != relay_.life_) throw LinkLost("the coordinator is gone");
    }
    LocalRelay& relay_;
    Bytes nonce_;
    int life_ = 0;
    std::int64_t member_ = -1;
    bool challenged_ = false;
  };

  void start() {
    coordinator_ = std::make_unique<Coordinator>(context_, *primitives_,
                                                 Coordinator::Options{.journal = journal_});
  }

  const SessionContext& context_;
  std::unique_ptr<Primitives> primitives_;
  std::filesystem::path journal_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::unique_ptr<Coordinator> coordinator_;
  int life_ = 0;
  double now_ = 0;
  std::atomic<bool> stop_ = false;
  std::thread clock_;
};

}  // namespace sotto::testing
