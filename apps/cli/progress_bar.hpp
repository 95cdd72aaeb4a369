// A progress bar on a terminal.
#pragma once

#include <unistd.h>

#include <chrono>
#include <iostream>
#include <string>

namespace sotto::cli {

/// Draws a progress bar on stderr if that is a terminal, from one second after its construction on.
/// The bar is wiped when the work is complete.
class ProgressBar {
 public:
  explicit ProgressBar(bool quiet) : visible_(!quiet && isatty(STDERR_FILENO) == 1) {}
  /// Draws this share of the work, from 0 to 1, as done; at most ten times a second.
  void update(double share) {
    using namespace std::chrono;
    const auto now = steady_clock::now();
    if (!visible_ || now - start_ < seconds(1) || (share < 1 && now - last_ < milliseconds(100)))
      return;
    last_ = now;
    constexpr std::size_t width = 40;
    const auto full = static_cast<std::size_t>(share * width);
    std::cerr << "\r[" << std::string(full, '#') << std::string(width - full, '.') << "] "
              << static_cast<int>(100 * share) << " %";
    if (share >= 1) std::cerr << "\r" << std::string(width + 9, ' ') << "\r";
    std::cerr << std::flush;
  }

 private:
  bool visible_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::chrono::steady_clock::time_point last_ = start_;
};

}  // namespace sotto::cli
