// Cancellation of long computations by a callback.
#pragma once

#include <exception>
#include <functional>

namespace sotto {

/// The error that ends a computation whose caller no longer wants the result.
class Stopped : public std::exception {
 public:
  [[nodiscard]] const char* what() const noexcept override { return "stopped by the caller"; }
};

/// While an object of this class lives, the computations of its thread call `stop` after about
/// every 20 ms of counted work (work.hpp), and throw Stopped once it returns true. The innermost
/// object is the one that is called. An object must be destroyed by the thread that created it.
class StopCheck {
 public:
  explicit StopCheck(std::function<bool()> stop);
  ~StopCheck();
  StopCheck(const StopCheck&) = delete;
  StopCheck& operator=(const StopCheck&) = delete;

 private:
  std::function<bool()> stop_;
  const std::function<bool()>* outer_;
};

}  // namespace sotto
