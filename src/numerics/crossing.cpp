#include "numerics/api/crossing.hpp"

#include <algorithm>
#include <cmath>

#include "numerics/api/search.hpp"

namespace sotto {
namespace {

constexpr double ulp = 0x1p-52;
// A step where nothing tells how far to go.
const double stride = std::log(16.0);

struct Point {
  double x = 0;
  double y = 0;
  double blur = 0;
  [[nodiscard]] bool steers() const { return x > 0 && std::abs(y) < 600; }
};

// log x of the zero through two points, or through three; NaN where they do not say.
double secant(const Point& a, const Point& b) {
  const double u = std::log(a.x);
  return a.steers() && b.steers() ? u - a.y * (std::log(b.x) - u) / (b.y - a.y) : NAN;
}
double quadratic(const Point& a, const Point& b, const Point& c) {
  if (!a.steers() || !b.steers() || !c.steers()) return NAN;
  return std::log(a.x) * b.y * c.y / ((a.y - b.y) * (a.y - c.y)) + std::log(b.x) * a.y * c.y / ((b.y - a.y) * (b.y - c.y)) +
         std::log(c.x) * a.y * b.y / ((c.y - a.y) * (c.y - b.y));
}

class Finder {
 public:
  Finder(const CrossingRange& range, const std::function<Excess(double)>& excess) : range_(range), excess_(excess) {}

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
    const auto [y, blur] = excess_(x);
    first_ = before_;
    before_ = last_;
    last_ = {x, std::isnan(y) ? INFINITY : y, blur};
    (last_.y <= 0 ? holds_ : fails_) = last_;
  }

  // Goes on in the direction of the crossing until both kinds were seen; false if the range ends first.
  bool bracket() {
    double least = 4 * ulp;
    while (!(holds_.x > 0 && fails_.x > 0)) {
      const bool up = (last_.y <= 0) != range_.holds_high;
      const double limit = up ? range_.high : range_.low;
      if (last_.x == limit || evaluations_ >= range_.most) return false;
      double step = outward_step();
      if (step < std::max(least, 2 * tolerance())) {
        step = std::max(least, 2 * tolerance());
        least = 64 * step;
      }
      double x = last_.x * std::exp(up ? step : -step);
      if (range_.whole) x = up ? std::max(std::floor(x), last_.x + 1) : std::min(std::ceil(x), last_.x - 1);
      probe(up ? std::min(x, limit) : std::max(x, limit));
    }
    return true;
  }

  // How far the crossing seems to be, in log x.
  [[nodiscard]] double outward_step() const {
    if (!last_.steers()) return stride;
    double slope = 1;
    if (before_.steers()) {
      slope = std::abs((last_.y - before_.y) / std::log(last_.x / before_.x));
      if (!(slope > 1e-3)) return stride;
    }
    return std::min(std::abs(last_.y) / slope, 2 * stride);
  }

  [[nodiscard]] double tolerance() const { return std::max(range_.tolerance, std::min(last_.blur / 4, 1e-7)); }
  [[nodiscard]] double low() const { return std::min(holds_.x, fails_.x); }
  [[nodiscard]] double high() const { return std::max(holds_.x, fails_.x); }
  [[nodiscard]] bool close() const {
    if (range_.whole) return high() - low() <= 1;
    return high() - low() <= std::max(2 * tolerance(), 16 * ulp) * high();
  }

  void narrow() {
    int kept_holds = 0;  // for how many turns an end has stayed where it was
    int kept_fails = 0;
    for (int turn = 0; !close() && evaluations_ < range_.most; ++turn) {
      const bool slow = kept_holds > 1 || kept_fails > 1;
      margin_ = slow ? 16 * margin_ : std::max(tolerance(), 4 * ulp);
      probe(inside(turn > 30 ? std::log(low()) / 2 + std::log(high()) / 2 : candidate(slow)));
      if (last_.y <= 0) {
        kept_holds = 0;
        if (++kept_fails > 1) fails_.y /= 2;
      } else {
        kept_fails = 0;
        if (++kept_holds > 1) holds_.y /= 2;
      }
    }
    if (range_.whole || tolerance() > 0 || evaluations_ >= range_.most) return;
    const double fails = fails_.x;  // a few doubles are left
    if (holds_.x > fails) {
      holds_.x = first_true(std::nextafter(fails, INFINITY), holds_.x, [&](double x) { return excess_(x).value <= 0; });
      fails_.x = std::nextafter(holds_.x, 0);
    } else {
      fails_.x = first_true(std::nextafter(holds_.x, INFINITY), fails, [&](double x) { return !(excess_(x).value <= 0); });
      holds_.x = std::nextafter(fails_.x, 0);
    }
  }

  // The next guess as log x.
  [[nodiscard]] double candidate(bool slow) const {
    for (const Point& end : {holds_, fails_}) {
      if (std::abs(end.y) <= std::max(8 * ulp, end.blur)) return std::log(end.x);  // beside it, then
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

  // A guess as x, off the ends, so that an end beside the crossing closes in on it.
  [[nodiscard]] double inside(double u) const {
    if (range_.whole) return std::clamp(std::floor(std::exp(u)), low() + 1, high() - 1);
    const double middle = std::sqrt(low()) * std::sqrt(high());
    return std::clamp(std::exp(u), std::min(low() * (1 + margin_), middle), std::max(high() * (1 - margin_), middle));
  }

  const CrossingRange& range_;
  const std::function<Excess(double)>& excess_;
  Point first_, before_, last_;
  Point holds_, fails_;
  double margin_ = 0;
  int evaluations_ = 0;
};

}  // namespace

Crossing crossing(const CrossingRange& range, const std::function<Excess(double)>& excess) { return Finder(range, excess).find(); }

}  // namespace sotto
