// A session of Spark Connect: one view of the data, and one query at a time.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <string_view>

#include "core/api/json.hpp"

namespace sotto::spark {

/// An error of Spark. what() has no content of the data and may be shown to anyone; detail() is the
/// server's message, which may contain data.
class Failure : public std::runtime_error {
 public:
  Failure(const std::string& what, std::string detail)
      : std::runtime_error(what), detail_(std::move(detail)) {}
  [[nodiscard]] const std::string& detail() const { return detail_; }

 private:
  std::string detail_;
};

/// Receives the results of a query.
struct Listener {
  std::function<void(std::string_view)> rows;  ///< called with whole Arrow streams
  std::function<void(double)> progress;        ///< called with the share of tasks that are done
};

class Session {
 public:
  /// Opens the session that the JSON of a frame `open` describes. Throws Failure.
  explicit Session(const Json& opening);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// Runs one query. Throws Failure.
  void run(const std::string& sql, const Listener& listener);
  /// Cancels the running query. May be called from another thread.
  void stop();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sotto::spark
