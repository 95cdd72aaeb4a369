// Long work that whoever asked for it can stop.
#pragma once

#include <exception>
#include <functional>

namespace sotto {

/// Whoever asked no longer wants the answer.
class Stopped : public std::exception {
 public:
  [[nodiscard]] const char* what() const noexcept override { return "stopped, since whoever asked for it said so"; }
};

/// While it lives, what this thread computes asks `stop` after about every 20 ms of counted work (work.hpp), and ends by Stopped where it says yes. A
/// later one takes the place of one around it.
class StopQuestion {
 public:
  explicit StopQuestion(std::function<bool()> stop);
  ~StopQuestion();
  StopQuestion(const StopQuestion&) = delete;
  StopQuestion& operator=(const StopQuestion&) = delete;

 private:
  std::function<bool()> stop_;
  const std::function<bool()>* outer_;
};

}  // namespace sotto
