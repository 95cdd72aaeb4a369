// The search in two phases: bracket the crossing by growing steps, then narrow the bracket.
#include "numerics/api/crossing.hpp"

#include <algorithm>
#include <cmath>

#include "numerics/api/search.hpp"

namespace sotto {
namespace {

constexpr double ulp = 0x1p-52;
// The step in log x if no evaluation suggests a length.
const double stride = std::log(16.0);

struct Point {
  double x = 0;
  double y = 0;
  double resolution = 0;
  // Whether y is finite and moderate, so that interpolation may use it.
  [[nodiscard]] bool guides() const { return x > 0 && std::abs(y) < 600; }
};

// Each returns log x of the zero of the curve through the points, or NaN if a point cannot guide.
double secant(const Point& a, const Point& b) {
  const double u = std::log(a.x);
  return a.guides() && b.guides() ? u - a.y * (std::log(b.x) - u) / (b.y - a.y) : NAN;
}
double quadratic(const Point& a, const Point& b, const Point& c) {
  if (!a.guides() || !b.guides() || !c.guides()) return NAN;
  return std::log(a.x) * b.y * c.y / ((a.y - b.y) * (a.y - c.y)) +
         std::log(b.x) * a.y * c.y / ((b.y - a.y) * (b.y - c.y)) +
         std::log(c.x) * a.y * b.y / ((c.y - a.y) * (c.y - b.y));
}

class Finder {
 public:
  Finder(const CrossingRange& range, const std::function<Excess(double)>& excess)
      : range_(range), excess_(excess) {}

  Crossing find() {
    probe(std::clamp(range_.start, range_.low, range_.high));
    if (bracket()) narrow();
    Crossing result;
    if (holds_.x > 0) result.holds = holds_.x;
    if (fails_.x > 0) result.fails = fails_.x;
    return result;
  }

 private:
  void probe(double x) {
    ++evaluations_;
    const auto [y, resolution] = excess_(x);
    first_ = before_;
    before_ = last_;
    last_ = {x, std::isnan(y) ? INFINITY : y, resolution};
    (last_.y <= 0 ? holds_ : fails_) = last_;
  }

  // Steps towards the crossing until the condition held at one point and failed at another. Returns
  // false if the range or the evaluations end first.
  bool bracket() {
    double least = 4 * ulp;
    while (!(holds_.x > 0 && fails_.x > 0)) {
      const bool up = (last_.y <= 0) != range_.holds_high;
      const double limit = up ? range_.high : range_.low;
      if (last_.x == limit || evaluations_ >= range_.max_evaluations) return false;
      double step = outward_step();
      if (step < std::max(least, 2 * tolerance())) {
        step = std::max(least, 2 * tolerance());
        least = 64 * step;
      }
      double x = last_.x * std::exp(up ? step : -step);
      if (range_.whole)
        x = up ? std::max(std::floor(x), last_.x + 1) : std::min(std::ceil(x), last_.x - 1);
      probe(up ? std::min(x, limit) : std::max(x, limit));
    }
    return true;
  }

  // Estimates the distance to the crossing in log x.
  [[nodiscard]] double outward_step() const {
    if (!last_.guides()) return stride;
    double slope = 1;
    if (before_.guides()) {
      slope = std::abs((last_.y - before_.y) / std::log(last_.x / before_.x));
      if (!(slope > 1e-3)) return stride;
    }
    return std::min(std::abs(last_.y) / slope, 2 * stride);
  }

  [[nodiscard]] double tolerance() const {
    return std::max(range_.tolerance, std::min(last_.resolution / 4, 1e-7));
  }
  [[nodiscard]] double low() const { return std::min(holds_.x, fails_.x); }
  [[nodiscard]] double high() const { return std::max(holds_.x, fails_.x); }
  [[nodiscard]] bool close() const {
    if (range_.whole) return high() - low() <= 1;
    return high() - low() <= std::max(2 * tolerance(), 16 * ulp) * high();
  }

  void narrow() {
    int idle_holds = 0;  // for how many turns the end `holds_` has not moved
    int idle_fails = 0;
    for (int turn = 0; !close() && evaluations_ < range_.max_evaluations; ++turn) {
      const bool slow = idle_holds > 1 || idle_fails > 1;
      margin_ = slow ? 16 * margin_ : std::max(tolerance(), 4 * ulp);
      probe(inside(turn > 30 ? std::log(low()) / 2 + std::log(high()) / 2 : candidate(slow)));
      if (last_.y <= 0) {
        idle_holds = 0;
        if (++idle_fails > 1) fails_.y /= 2;  // Illinois: halve the weight of an end that stays
      } else {
        idle_fails = 0;
        if (++idle_holds > 1) holds_.y /= 2;
      }
    }
    if (range_.whole || tolerance() > 0 || evaluations_ >= range_.max_evaluations) return;
    // bisect the few doubles between the ends
    const double fails = fails_.x;
    if (holds_.x > fails) {
      holds_.x = first_true(std::nextafter(fails, INFINITY), holds_.x,
                            [&](double x) { return excess_(x).value <= 0; });
      fails_.x = std::nextafter(holds_.x, 0);
    } else {
      fails_.x = first_true(std::nextafter(holds_.x, INFINITY), fails,
                            [&](double x) { return !(excess_(x).value <= 0); });
      holds_.x = std::nextafter(fails_.x, 0);
    }
  }

  // Returns the next guess, as log x. `slow`: an end has not moved for two turns.
  [[nodiscard]] double candidate(bool slow) const {
    for (const Point& end : {holds_, fails_}) {
      // inside() moves the guess off the end
      if (std::abs(end.y) <= std::max(8 * ulp, end.resolution)) return std::log(end.x);
    }
    const double from = std::log(low());
    const double to = std::log(high());
    const auto within = [&](double u) { return u > from && u < to; };
    if (!slow) {
      if (const double u = quadratic(first_, before_, last_); within(u)) return u;
      if (const double u = secant(last_, before_); within(u)) return u;
    }
    if (const double u = secant(holds_, fails_); within(u)) return u;
    return from / 2 + to / 2;
  }

  // Converts a guess to x, at least a margin away from both ends, so that an end that lies next to
  // the crossing is followed by the other one.
  [[nodiscard]] double inside(double u) const {
    if (range_.whole) return std::clamp(std::floor(std::exp(u)), low() + 1, high() - 1);
    const double middle = std::sqrt(low()) * std::sqrt(high());
    return std::clamp(std::exp(u), std::min(low() * (1 + margin_), middle),
                      std::max(high() * (1 - margin_), middle));
  }

  const CrossingRange& range_;
  const std::function<Excess(double)>& excess_;
  Point first_, before_, last_;
  Point holds_, fails_;
  double margin_ = 0;
  int evaluations_ = 0;
};

}  // namespace

Crossing find_crossing(const CrossingRange& range, const std::function<Excess(double)>& excess) {
  return Finder(range, excess).find();
}

}  // namespace sotto
