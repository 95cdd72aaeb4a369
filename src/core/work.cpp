#include "core/api/work.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "core/api/stop.hpp"

namespace sotto {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double between_looks = 1e5;      // at the clock
constexpr double between_questions = 2e7;  // whether to stop

struct Meter {
  double spent = 0;
  double end = infinity;
  double bytes = infinity;
  long cuts = 0;
  int depth = 0;        // of limits around each other
  bool clock = false;   // what is spent is the time since `start`
  double unlooked = 0;  // work since the last look at it
  long long start = 0;
  const std::function<bool()>* stop = nullptr;
  double unasked = 0;  // work since it was asked
};

constinit thread_local Meter meter;

long long nanoseconds() { return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

void look() {
  meter.unlooked = 0;
  meter.spent = static_cast<double>(nanoseconds() - meter.start);
}

}  // namespace

WorkLimit::WorkLimit(const Allowance& allowance)
    : begin_(meter.depth++ == 0 ? meter.spent = 0 : meter.spent),  // counted anew, so that no sum grows beyond what a double can add one to
      outer_end_(meter.end),
      outer_bytes_(meter.bytes),
      cuts_(meter.cuts),
      clock_(allowance.seconds && !meter.clock) {
  if (clock_) {
    meter.clock = true;
    meter.start = nanoseconds() - static_cast<long long>(meter.spent);
  }
  if (meter.clock) {
    look();
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
  if (clock_) meter.clock = false;
}

double WorkLimit::spent() const { return meter.spent - begin_; }

bool WorkLimit::cut() const { return meter.cuts > cuts_; }

StopQuestion::StopQuestion(std::function<bool()> stop) : stop_(std::move(stop)), outer_(meter.stop) {
  meter.stop = &stop_;
  meter.unasked = 0;
}

StopQuestion::~StopQuestion() { meter.stop = outer_; }

void spend(double work) {
  if (meter.stop != nullptr && (meter.unasked += work) > between_questions) {
    meter.unasked = 0;
    if ((*meter.stop)()) throw Stopped();
  }
  if (meter.clock) {
    meter.unlooked += work;
    if (meter.unlooked > between_looks) look();
  } else {
    meter.spent += work;
  }
  if (meter.spent > meter.end) {
    ++meter.cuts;
    throw OutOfWork();
  }
}

double work_left() {
  if (meter.clock) look();
  return std::max(0.0, meter.end - meter.spent);
}

double bytes_allowed() { return meter.bytes; }

void note_cut() { ++meter.cuts; }

}  // namespace sotto
