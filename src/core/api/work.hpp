// How much an answer may cost. Work is counted, so that answers are the same on every machine; a clock is used only where it was asked for.
#pragma once

#include <exception>
#include <limits>
#include <optional>

#include "sotto/core/errors.hpp"

namespace sotto {

/// The work that was allowed is done. What was proved before holds; what was under way is dropped.
class OutOfWork : public std::exception, public Remediable {
 public:
  OutOfWork() : Remediable(Remedy::work) {}
  [[nodiscard]] const char* what() const noexcept override {
    return "the work that an answer may take by default is done before anything was proved: allow more";
  }
};

/// What may be spent: work, whose unit is about a nanosecond of one core, the bytes that one table may have, and seconds, if a clock is to end it.
struct Allowance {
  double work = std::numeric_limits<double>::infinity();
  double bytes = std::numeric_limits<double>::infinity();
  std::optional<double> seconds = std::nullopt;
};

inline Allowance half_of(Allowance all) {
  all.work /= 2;
  if (all.seconds) all.seconds = *all.seconds / 2;
  return all;
}

/// While it lives, what this thread computes may take so much, and never more than a limit around it leaves. With a clock around it, a unit of
/// work is a nanosecond.
class WorkLimit {
 public:
  explicit WorkLimit(const Allowance& allowance);
  explicit WorkLimit(double work) : WorkLimit(Allowance{.work = work}) {}
  ~WorkLimit();
  WorkLimit(const WorkLimit&) = delete;
  WorkLimit& operator=(const WorkLimit&) = delete;
  WorkLimit(WorkLimit&&) = delete;
  WorkLimit& operator=(WorkLimit&&) = delete;

  /// What was spent since it began.
  [[nodiscard]] double spent() const;
  /// Whether something was left out since, for lack of work or of bytes.
  [[nodiscard]] bool cut() const;

 private:
  double begin_, outer_end_, outer_bytes_;
  long cuts_;
  bool clock_;
};

/// Counts work that is about to be done. OutOfWork where it is more than what is left.
void spend(double work);
/// What is left: infinite without a limit.
double work_left();
/// What one table may have.
double bytes_allowed();
/// Notes that something was left out for lack of work or of bytes.
void note_cut();

/// What several answers together may take, one after the other.
class WorkPool {
 public:
  explicit WorkPool(const Allowance& allowance) : left_(allowance) {}
  /// Runs `way` with at most this share of what is left.
  template <class Way>
  void use(double share, Way&& way);
  /// Whether something was left out.
  [[nodiscard]] bool cut() const { return cut_; }

 private:
  Allowance left_;
  bool cut_ = false;
};

/// Runs `way` with at most this share of what is left; false if that was not enough.
template <class Way>
bool attempted(double share, Way&& way) {
  const WorkLimit limit(share * work_left());
  try {
    way();
    return true;
  } catch (const OutOfWork&) {
    return false;
  }
}

template <class Way>
void WorkPool::use(double share, Way&& way) {
  Allowance part{.work = share * left_.work, .bytes = left_.bytes};
  if (left_.seconds) part.seconds = share * *left_.seconds;
  const WorkLimit limit(part);
  try {
    way();
  } catch (const OutOfWork&) {  // what it had by then is kept
  }
  left_.work -= limit.spent();
  if (left_.seconds) left_.seconds = *left_.seconds - limit.spent() * 1e-9;
  cut_ = cut_ || limit.cut();
}

}  // namespace sotto
