// The law of a Poisson-sampled step, split by smooth weights into a heap of small losses, a middle and a far part.
// With y = q e^ℓ and Γ(x) = e^-x Σ_{i<n} x^i/i!, which falls from 1 to 0 about x = n: the heap has the weight Γ(θ₁²y²), the far part
// 1 - Γ(θ₂²y²), the middle what is between. All are entire in ℓ (docs/theory/contour.md, "Rare steps").
#pragma once

#include <algorithm>
#include <vector>

#include "base_noise.hpp"
#include "support.hpp"

namespace sotto::detail {

struct Law {
  Near mu;
  Near q;
  double count;
  std::shared_ptr<const BaseNoise> noise;
};

/// Where the parts meet. θ₁ = 0: there is no heap, and the middle is called the base.
struct Split {
  int order;        // n
  double heap = 0;  // θ₁
  double far = 0;   // θ₂
  /// Where Γ(θ²y²) falls.
  [[nodiscard]] double place(double theta) const { return std::sqrt(static_cast<double>(order)) / theta; }
  [[nodiscard]] double theta_at(double y) const { return std::sqrt(static_cast<double>(order)) / y; }
  [[nodiscard]] double base_theta() const { return heap > 0 ? heap : far; }
  /// Angles are smaller where the weights fall more steeply.
  [[nodiscard]] double angle() const { return std::min(1.6, std::sqrt(32.0 / order)); }
};

/// How far along z the sums go, to the left and to the right: those of the base and the middle to `near`, those of the far part and
/// the base's complement to `right`.
struct Ends {
  double near, right;
  double left;
};

/// Ends past which all is below e^-depth of itself, for powers up to this one and on lines up to the angle of whose double this is the cosine.
Ends ends_for(const Law& law, const Split& split, double cosine, double power, double depth);

/// Upper bounds, cell by cell, on the size of everything on a line Im ℓ = angle.
class Cells {
 public:
  /// `cosine` is that of twice the angle, or less.
  Cells(const Law& law, const Split& split, double angle, double cosine, double power, Ends ends);
  /// log ∫ |weight r^p| e^(-t arg r) of the middle part, for every Im s >= t.
  [[nodiscard]] double middle(double power, double t) const;
  /// log ∫ of the base's |weight| (|r^p| + 1 + size |r - 1|) and of its complement's (1 + size |r - 1|).
  [[nodiscard]] double base(double power, double size) const;
  /// log ∫ of the base's |weight r^p|.
  [[nodiscard]] double base_power(double power) const;
  /// log ∫ of the far part's |weight| (1 + |r - 1|).
  [[nodiscard]] double far() const;
  /// log ∫ of the far part's weight r^-power (on the real line).
  [[nodiscard]] double far_below(double power) const;
  /// What the two outermost cells, which are infinite, hold of `middle`, `base` and `far`.
  [[nodiscard]] double edge_middle(double power) const;
  [[nodiscard]] double edge_base(double power, double size) const;
  [[nodiscard]] double edge_far() const;
  /// Past its right end the bounds fall, for powers up to this one.
  [[nodiscard]] bool falls() const { return falls_; }

 private:
  struct Cell {
    double log_base, log_middle, log_far;  // of the mass and the weight together
    double plain;                          // of the base and its complement
    double log_most, log_least, rise, arg;
  };
  std::vector<Cell> cells_;
  [[nodiscard]] double base_in(const Cell& cell, double power, double size) const;
  [[nodiscard]] double power_of(const Cell& cell, double power) const { return power * (power > 0 ? cell.log_most : floor_); }

  double lift_;
  double floor_;  // log r >= this, on every line
  double outer_;  // far mass of 1 and r beyond the right end
  bool falls_ = false;
};

/// Points on Im ℓ = μb with all weights: the transforms of the parts on Re s = c.
class Points {
 public:
  /// A value and how far off it may be.
  struct Value {
    double value;
    double error;
  };
  struct Node {
    Complex base;  // minus 1
    double base_error;
    Complex middle;
    double middle_error;
  };
  /// Good for powers up to `power` and |s| up to `size`; the errors that it aims at are e^-depth, of the base over the number of steps, and of the
  /// middle relative to e^about.
  Points(const Law& law, const Split& split, double b, double half, double power, double size, double depth, double about);
  [[nodiscard]] std::size_t size() const { return points_.size(); }
  [[nodiscard]] bool failed() const { return points_.empty(); }
  /// E_Q[weight r^power], where b = 0.
  [[nodiscard]] Node at(double power) const;
  /// E_Q[weight r^(power + i n step)], n = 0, 1, …
  [[nodiscard]] std::vector<Node> nodes(double power, double step, std::size_t count) const;
  /// E_Q of the far part, and E_Q[r - 1] there.
  [[nodiscard]] Value far_mass() const;
  [[nodiscard]] Value far_rise() const;

 private:
  struct Point {
    Complex base, complement, middle, far;                     // weights
    double base_room, complement_room, middle_room, far_room;  // absolute
    Complex u, rise;
    double u_room, rise_room;
  };
  struct Errors {  // of the base: square (|β|² + |β|) of points near 0, flat + steep |β| of others, fixed + fixed_steep |β|; of the middle
    double square = 0, flat = 0, steep = 0, fixed = 0, fixed_steep = 0, middle_flat = 0, middle_steep = 0;
    void add(const Point& point, double power, double p, double many);
    [[nodiscard]] Node of(Complex base, Complex middle, double p, double t) const;
  };
  [[nodiscard]] Errors missing(double p) const;

  Ends ends_;
  Cells bound_;
  std::vector<Point> points_;
  double log_damping_ = 0;  // log of 2/(e^(2π half/step) - 1)
};

}  // namespace sotto::detail
