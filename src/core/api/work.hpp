// Limits on the cost of a computation. Work is counted in units, not timed, so that results are the
// same on every machine; a clock limits it only if the caller sets a number of seconds.
#pragma once

#include <exception>
#include <limits>
#include <optional>

#include "sotto/core/errors.hpp"

namespace sotto {

/// The error that ends a computation at its work limit. Bounds that were proved before it hold; the
/// unfinished step has no result.
class OutOfWork : public std::exception, public Remediable {
 public:
  OutOfWork() : Remediable(Remedy::work) {}
  [[nodiscard]] const char* what() const noexcept override {
    return "no bound was proved within the work limit: allow a finer precision, or more seconds";
  }
};

/// The limits of a computation.
struct Allowance {
  /// In units of about a nanosecond of one core. Ignored if `seconds` is set.
  double work = std::numeric_limits<double>::infinity();
  /// The largest size of one table, such as a discretised distribution.
  double bytes = std::numeric_limits<double>::infinity();
  /// If set, the computation ends by the clock.
  std::optional<double> seconds = std::nullopt;
};

/// Returns half of the work or of the seconds; the bytes of a table stay.
inline Allowance half_of(Allowance all) {
  all.work /= 2;
  if (all.seconds) all.seconds = *all.seconds / 2;
  return all;
}

/// A scoped limit: work that its thread does during its lifetime counts against it and against
/// every enclosing limit. If an enclosing limit uses the clock, one unit of work is one nanosecond.
class WorkLimit {
 public:
  explicit WorkLimit(const Allowance& allowance);
  explicit WorkLimit(double work) : WorkLimit(Allowance{.work = work}) {}
  ~WorkLimit();
  WorkLimit(const WorkLimit&) = delete;
  WorkLimit& operator=(const WorkLimit&) = delete;
  WorkLimit(WorkLimit&&) = delete;
  WorkLimit& operator=(WorkLimit&&) = delete;

  /// Returns the units spent since the limit began.
  [[nodiscard]] double spent() const;
  /// Returns whether a result was cut since then: left out, or left wider, for lack of work or of
  /// bytes.
  [[nodiscard]] bool cut() const;

 private:
  double begin_, outer_end_, outer_bytes_;
  long cuts_;
  bool starts_clock_;
};

/// Counts work that is about to be done. Throws OutOfWork if the limit does not cover it, and
/// Stopped (stop.hpp) if the caller cancelled the computation.
void spend(double work);
/// Returns the units that remain; infinity without a limit.
double work_left();
/// Returns the largest size of one table; infinity without a limit.
double bytes_allowed();
/// Records in every active limit that a result was cut, for lack of work or of bytes.
void note_cut();

/// An allowance that several computations share, one after the other.
class SharedAllowance {
 public:
  explicit SharedAllowance(const Allowance& allowance) : left_(allowance) {}
  /// Runs `step` with at most the fraction `share` of what remains. A step that runs out of work is
  /// abandoned without an error.
  template <class Step>
  void use(double share, Step&& step);
  /// Returns whether a step ran out of work or cut a result.
  [[nodiscard]] bool cut() const { return cut_; }

 private:
  Allowance left_;
  bool cut_ = false;
};

/// Runs `step` with at most the fraction `share` of the work that remains. Returns false if that
/// was not enough.
template <class Step>
bool finishes_within(double share, Step&& step) {
  const WorkLimit limit(share * work_left());
  try {
    step();
    return true;
  } catch (const OutOfWork&) {
    return false;
  }
}

template <class Step>
void SharedAllowance::use(double share, Step&& step) {
  Allowance part{.work = share * left_.work, .bytes = left_.bytes};
  if (left_.seconds) part.seconds = share * *left_.seconds;
  const WorkLimit limit(part);
  try {
    step();
  } catch (const OutOfWork&) {  // results that the step stored before that stay valid
  }
  left_.work -= limit.spent();
  if (left_.seconds) left_.seconds = *left_.seconds - limit.spent() * 1e-9;
  cut_ = cut_ || limit.cut();
}

}  // namespace sotto
