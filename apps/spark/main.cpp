// sotto-spark: takes orders from the sotto that started it, by the socket that is its standard input, and ends with it.
#include <grpc/support/log.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <condition_variable>
#include <csignal>
#include <deque>
#include <exception>
#include <iostream>
#include <optional>
#include <thread>

#include "session.hpp"
#include "data/api/spark_frames.hpp"

namespace {

using namespace sotto;

constexpr int socket_to_sotto = STDIN_FILENO;

/// Orders as they come; one to stop is carried out at once.
class Orders {
 public:
  std::optional<SparkMessage> next() {
    std::unique_lock lock(mutex_);
    news_.wait(lock, [this] { return !waiting_.empty() || ended_; });
    if (waiting_.empty()) return std::nullopt;
    SparkMessage message = std::move(waiting_.front());
    waiting_.pop_front();
    return message;
  }
  void set(spark::Session* session) {
    const std::lock_guard lock(mutex_);
    session_ = session;
  }
  void listen() {
    for (;;) {
      auto message = read_frame(socket_to_sotto);
      const std::lock_guard lock(mutex_);
      const bool is_end = !message;
      if (session_ != nullptr && (is_end || message->kind == SparkFrame::stop)) session_->stop();
      if (is_end) ended_ = true;
      if (!is_end && message->kind != SparkFrame::stop) waiting_.push_back(std::move(*message));
      news_.notify_one();
      if (is_end) return;
    }
  }

 private:
  std::mutex mutex_;
  std::condition_variable news_;
  std::deque<SparkMessage> waiting_;
  spark::Session* session_ = nullptr;
  bool ended_ = false;
};

void say(SparkFrame kind, std::string_view bytes) { (void)write_frame(socket_to_sotto, kind, bytes); }

void say_failed(const std::string& what, std::string detail) {
  try {
    say(SparkFrame::failed, Json{{"what", what}, {"detail", detail}}.dump());
  } catch (const JsonError&) {
    say(SparkFrame::failed, Json{{"what", what}, {"detail", ""}}.dump());
  }
}

}  // namespace

int main() {
  int type = 0;
  socklen_t size = sizeof type;
  if (getsockopt(socket_to_sotto, SOL_SOCKET, SO_TYPE, &type, &size) != 0) {
    std::cerr << "sotto-spark speaks to Spark for sotto, which starts it\n";
    return 2;
  }
  // Ctrl-C in a terminal reaches both: sotto ends, and its end has the server's work stopped
  for (const int signal : {SIGINT, SIGQUIT, SIGHUP}) std::signal(signal, SIG_IGN);
  (void)prctl(PR_SET_DUMPABLE, 0);                  // it holds a token
  gpr_set_log_function([](gpr_log_func_args*) {});  // what goes wrong is told by a frame
  Orders orders;
  std::thread listener([&orders] { orders.listen(); });
  std::unique_ptr<spark::Session> session;
  const spark::Listener to_sotto{[](std::string_view rows) { say(SparkFrame::rows, rows); },
                                 [](double share) { say(SparkFrame::progress, std::to_string(share)); }};
  while (const auto order = orders.next()) {
    try {
      if (order->kind == SparkFrame::open) {
        session = std::make_unique<spark::Session>(Json::parse(order->bytes));
        orders.set(session.get());
      } else if (order->kind == SparkFrame::query && session) {
        session->run(order->bytes, to_sotto);
      } else {
        throw spark::Failure("sotto-spark and sotto do not understand each other", "are they of one version?");
      }
      say(SparkFrame::done, "");
    } catch (const spark::Failure& error) {
      say_failed(error.what(), error.detail());
    } catch (const std::exception& error) {
      say_failed("the program that speaks to Spark failed", error.what());
    }
  }
  listener.join();
  orders.set(nullptr);
  session.reset();
  return 0;
}
