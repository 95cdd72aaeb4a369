// One meter a thread, which nested limits save and restore.
#include "core/api/work.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "core/api/stop.hpp"

namespace sotto {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double clock_interval = 1e5;  // units of work between two readings of the clock
constexpr double stop_interval = 2e7;   // units of work between two calls of the stop callback

struct Meter {
  double spent = 0;  // in units of work, or in nanoseconds since `start` if a limit uses the clock
  double end = infinity;  // `spent` must not exceed this
  double bytes = infinity;
  long cuts = 0;
  int depth = 0;  // how many limits enclose each other
  bool uses_clock = false;
  double since_clock = 0;  // units of work since the last reading of the clock
  long long start = 0;
  const std::function<bool()>* stop = nullptr;
  double since_stop = 0;  // units of work since the last call of `stop`
};

constinit thread_local Meter meter;

long long nanoseconds() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

void read_clock() {
  meter.since_clock = 0;
  meter.spent = static_cast<double>(nanoseconds() - meter.start);
}

}  // namespace

WorkLimit::WorkLimit(const Allowance& allowance)
    : begin_(meter.depth++ == 0 ? meter.spent = 0
                                : meter.spent),  // the outermost limit counts from 0: in a large
                                                 // sum a double loses single units
      outer_end_(meter.end),
      outer_bytes_(meter.bytes),
      cuts_(meter.cuts),
      starts_clock_(allowance.seconds && !meter.uses_clock) {
  if (starts_clock_) {
    meter.uses_clock = true;
    meter.start = nanoseconds() - static_cast<long long>(meter.spent);
  }
  if (meter.uses_clock) {
    read_clock();
    begin_ = meter.spent;
  }
  const double most = allowance.seconds ? 1e9 * *allowance.seconds : allowance.work;
  meter.end = std::min(meter.end, begin_ + std::max(0.0, most));
  meter.bytes = std::min(meter.bytes, allowance.bytes);
}

WorkLimit::~WorkLimit() {
  --meter.depth;
  meter.end = outer_end_;
  meter.bytes = outer_bytes_;
  if (starts_clock_) meter.uses_clock = false;
}

double WorkLimit::spent() const { return meter.spent - begin_; }

bool WorkLimit::cut() const { return meter.cuts > cuts_; }

StopCheck::StopCheck(std::function<bool()> stop) : stop_(std::move(stop)), outer_(meter.stop) {
  meter.stop = &stop_;
  meter.since_stop = 0;
}

StopCheck::~StopCheck() { meter.stop = outer_; }

void spend(double work) {
  if (meter.stop != nullptr && (meter.since_stop += work) > stop_interval) {
    meter.since_stop = 0;
    if ((*meter.stop)()) throw Stopped();
  }
  if (meter.uses_clock) {
    meter.since_clock += work;
    if (meter.since_clock > clock_interval) read_clock();
  } else {
    meter.spent += work;
  }
  if (meter.spent > meter.end) {
    ++meter.cuts;
    throw OutOfWork();
  }
}

double work_left() {
  if (meter.uses_clock) read_clock();
  return std::max(0.0, meter.end - meter.spent);
}

double bytes_allowed() { return meter.bytes; }

void note_cut() { ++meter.cuts; }

}  // namespace sotto
