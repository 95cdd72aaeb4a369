// How far a command is, for whoever waits at a terminal.
#pragma once

#include <unistd.h>

#include <chrono>
#include <iostream>
#include <string>

#include "command.hpp"

namespace sotto::cli {

/// A bar on a terminal's stderr, from the second second on; wiped when all is done.
class ProgressBar {
 public:
  explicit ProgressBar(const Typed& typed) : shown_(!typed.quiet && isatty(STDERR_FILENO) == 1) {}
  void tell(double share) {
    using namespace std::chrono;
    const auto now = steady_clock::now();
    if (!shown_ || now - start_ < seconds(1) || (share < 1 && now - last_ < milliseconds(100))) return;
    last_ = now;
    constexpr std::size_t width = 40;
    const auto full = static_cast<std::size_t>(share * width);
    std::cerr << "\r[" << std::string(full, '#') << std::string(width - full, '.') << "] " << static_cast<int>(100 * share) << " %";
    if (share >= 1) std::cerr << "\r" << std::string(width + 9, ' ') << "\r";
    std::cerr << std::flush;
  }

 private:
  bool shown_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::chrono::steady_clock::time_point last_ = start_;
};

}  // namespace sotto::cli
