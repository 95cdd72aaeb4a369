// A session of Spark Connect.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <string_view>

#include "core/api/json.hpp"

namespace sotto::spark {

/// what() is fit for anyone; detail() may speak of the data.
class Failure : public std::runtime_error {
 public:
  Failure(const std::string& what, std::string detail) : std::runtime_error(what), detail_(std::move(detail)) {}
  [[nodiscard]] const std::string& detail() const { return detail_; }

 private:
  std::string detail_;
};

struct Listener {
  std::function<void(std::string_view)> rows;  ///< a whole Arrow stream
  std::function<void(double)> progress;
};

class Session {
 public:
  /// As a frame `open` says. Failure.
  explicit Session(const Json& opening);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// Runs one query. Failure.
  void run(const std::string& sql, const Listener& listener);
  /// Ends the one under way, from another thread.
  void stop();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sotto::spark
