// sotto-spark: speaks to Spark for the process that started it. Commands arrive over the socket
// that is its standard input; it ends with that process.
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

#include "data/api/spark_frames.hpp"
#include "session.hpp"

namespace {

using namespace sotto;

constexpr int socket_to_sotto = STDIN_FILENO;

/// A queue of commands. A thread fills it by listen(); `stop` is not queued but carried out at
/// once.
class CommandQueue {
 public:
  /// Waits for the next command. Returns nothing at the end of the input.
  std::optional<SparkMessage> next() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !waiting_.empty() || ended_; });
    if (waiting_.empty()) return std::nullopt;
    SparkMessage message = std::move(waiting_.front());
    waiting_.pop_front();
    return message;
  }
  /// Sets the session whose query `stop` cancels.
  void set_session(spark::Session* session) {
    const std::lock_guard lock(mutex_);
    session_ = session;
  }
  /// Reads commands until the end of the input, which cancels the running query.
  void listen() {
    for (;;) {
      auto message = read_frame(socket_to_sotto);
      const std::lock_guard lock(mutex_);
      const bool is_end = !message;
      if (session_ != nullptr && (is_end || message->kind == SparkFrame::stop)) session_->stop();
      if (is_end) ended_ = true;
      if (!is_end && message->kind != SparkFrame::stop) waiting_.push_back(std::move(*message));
      changed_.notify_one();
      if (is_end) return;
    }
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<SparkMessage> waiting_;
  spark::Session* session_ = nullptr;
  bool ended_ = false;
};

void send(SparkFrame kind, std::string_view bytes) {
  (void)write_frame(socket_to_sotto, kind, bytes);
}

// Sends a failure, without its detail if that is not UTF-8.
void send_failure(const std::string& what, const std::string& detail) {
  try {
    send(SparkFrame::failed, Json{{"what", what}, {"detail", detail}}.dump());
  } catch (const JsonError&) {
    send(SparkFrame::failed, Json{{"what", what}, {"detail", ""}}.dump());
  }
}

}  // namespace

int main() {
  int type = 0;
  socklen_t size = sizeof type;
  if (getsockopt(socket_to_sotto, SOL_SOCKET, SO_TYPE, &type, &size) != 0) {
    std::cerr << "sotto-spark: this program is started by sotto and cannot be used by itself; "
                 "type: sotto data init --spark CONNECTION\n";
    return 2;
  }
  // Ctrl-C in a terminal reaches sotto, too: sotto ends, and the end of its socket stops the query
  // here.
  for (const int signal : {SIGINT, SIGQUIT, SIGHUP}) std::signal(signal, SIG_IGN);
  (void)prctl(PR_SET_DUMPABLE, 0);  // no core dumps and no debugger: the process holds a token
  gpr_set_log_function([](gpr_log_func_args*) {});  // failures are reported in frames
  CommandQueue queue;
  std::thread listener([&queue] { queue.listen(); });
  std::unique_ptr<spark::Session> session;
  const spark::Listener to_sotto{
      [](std::string_view rows) { send(SparkFrame::rows, rows); },
      [](double share) { send(SparkFrame::progress, std::to_string(share)); }};
  while (const auto command = queue.next()) {
    try {
      if (command->kind == SparkFrame::open) {
        session = std::make_unique<spark::Session>(Json::parse(command->bytes));
        queue.set_session(session.get());
      } else if (command->kind == SparkFrame::query && session) {
        session->run(command->bytes, to_sotto);
      } else {
        throw spark::Failure("sotto-spark does not understand sotto: install both from one version",
                             "unexpected frame");
      }
      send(SparkFrame::done, "");
    } catch (const spark::Failure& error) {
      send_failure(error.what(), error.detail());
    } catch (const std::exception& error) {
      send_failure("the program that speaks to Spark failed", error.what());
    }
  }
  listener.join();
  queue.set_session(nullptr);
  session.reset();
  return 0;
}
