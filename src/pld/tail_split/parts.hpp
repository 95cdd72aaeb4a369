// The distribution of a Poisson-sampled step, split by smooth weights into a bulk of small losses, a middle and a far part.
// With y = q e^ℓ and Γ(x) = e^-x Σ_{i<n} x^i/i!, which falls from 1 to 0 about x = n: the bulk has the weight Γ(θ₁²y²), the far part
// 1 - Γ(θ₂²y²), the middle what is between. All are entire in ℓ (docs/theory/pld.md, "Rare steps").
#pragma once

#include <algorithm>
#include <vector>

#include "support.hpp"
#include "tail_split/base_noise.hpp"

namespace sotto::pld_detail {

struct Law {
  RoundedDouble mu;
  RoundedDouble q;
  double count;
  std::shared_ptr<const BaseNoise> noise;
};

/// Where the parts meet, by log θ. Without θ₁ there is no bulk, and the middle is called the base.
struct Split {
  int order;                // n
  double bulk = -infinity;  // log θ₁
  double far = -infinity;   // log θ₂
  [[nodiscard]] bool has_bulk() const { return bulk > -infinity; }
  /// log of the y at which Γ(θ²y²) falls.
  [[nodiscard]] double place(double log_theta) const { return 0.5 * std::log(order) - log_theta; }
  [[nodiscard]] double theta_at(double log_y) const { return 0.5 * std::log(order) - log_y; }
  [[nodiscard]] double base_theta() const { return has_bulk() ? bulk : far; }
  /// Angles are smaller where the weights fall more steeply.
  [[nodiscard]] double angle() const { return std::min(1.6, std::sqrt(32.0 / order)); }
};

/// log(1 + y) from log y.
inline double log_one_plus(double log_y) { return log_y > 40 ? log_y : std::log1p(std::exp(log_y)); }

/// How far along z the sums go, to the left and to the right: those of the base and the middle to `near`, those of the far part and
/// the base's complement to `right`.
struct Ends {
  double near, right;
  double left;
};

/// Ends past which all is below e^-depth of itself, for powers up to this one and on lines up to the angle of whose double this is the cosine.
Ends ends_for(const Law& distribution, const Split& split, double cosine, double power, double depth);

/// Upper bounds, cell by cell, on the size of everything on a line Im ℓ = angle.
class Cells {
 public:
  /// `cosine` is that of twice the angle, or less.
  Cells(const Law& distribution, const Split& split, double angle, double cosine, double power, Ends ends);
  /// log ∫ |weight r^p| e^(-t arg r) of the middle part, for every Im s >= t.
  [[nodiscard]] double middle(double power, double t) const;
  /// log ∫ of the base's |weight| (|r^p| + 1 + size |r - 1|) and of its complement's (1 + size |r - 1|).
  [[nodiscard]] double base(double power, double size) const;
  /// log ∫ of the base's |weight r^p|.
  [[nodiscard]] double base_power(double power) const;
  /// log ∫ of the far part's |weight|, and of its |weight (r - 1)|.
  [[nodiscard]] double far() const;
  [[nodiscard]] double far_rise() const;
  /// log ∫ of the far part's weight r^-power (on the real line).
  [[nodiscard]] double far_below(double power) const;
  /// What the two outermost cells, which are infinite, hold of `middle`, `base` and `far`.
  [[nodiscard]] double edge_middle(double power) const;
  [[nodiscard]] double edge_base(double power, double size) const;
  [[nodiscard]] double edge_far() const;
  [[nodiscard]] double edge_far_rise() const;
  /// Past its right end the bounds fall, for powers up to this one.
  [[nodiscard]] bool falls() const { return falls_; }

 private:
  struct Cell {
    double log_base, log_middle, log_far;  // of the mass and the weight together
    double plain, plain_rise;              // of the base and its complement, and times |r - 1|
    double log_most, log_least, log_rise, arg;
  };
  std::vector<Cell> cells_;
  [[nodiscard]] double base_in(const Cell& cell, double power, double size) const;
  [[nodiscard]] double power_of(const Cell& cell, double power) const { return power * (power > 0 ? cell.log_most : floor_); }

  double lift_;
  double floor_;                   // log r >= this, on every line
  double log_outer_, outer_rise_;  // far mass of 1, its logarithm, and of r beyond the right end
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
  Points(const Law& distribution, const Split& split, double b, double half, double power, double size, double depth, double about);
  /// How many of them move from node to node.
  [[nodiscard]] std::size_t moving() const;
  [[nodiscard]] bool failed() const { return points_.empty(); }
  /// E_Q[weight r^power], where b = 0.
  [[nodiscard]] Node at(double power) const;
  /// E_Q[weight r^(power + i n step)], n = 0, 1, …
  [[nodiscard]] std::vector<Node> nodes(double power, double step, std::size_t count) const;
  /// E_Q of the far part times e^raised, and E_Q[r - 1] there.
  [[nodiscard]] Value far_mass(double raised) const;
  [[nodiscard]] Value far_rise() const;

 private:
  struct Point {
    double log;                                                                // of the mass, by which all weights are to be multiplied
    double mass;                                                               // the mass itself, or 0 where it is no double
    Complex base, complement, middle, far;                                     // weights
    double base_error_bound, complement_error, middle_error_bound, far_error;  // absolute
    Complex u, rise;                                                           // log r, and r - 1 times the mass
    double u_error, rise_error;
    double log_far;  // a bound on log of the far weight, where that is left out
  };
  struct Errors {  // of the base: square (|β|² + |β|) of points near 0, flat + steep |β| of others, fixed + fixed_steep |β|; of the middle
    double square = 0, flat = 0, steep = 0, fixed = 0, fixed_steep = 0, middle_flat = 0, middle_steep = 0;
    void add(const Point& point, double powered, double p, double many);
    [[nodiscard]] Node of(Complex base, Complex middle, double p, double t) const;
  };
  [[nodiscard]] Errors missing(double p) const;

  Ends ends_;
  Cells bound_;
  std::vector<Point> points_;
  double log_damping_ = 0;  // log of 2/(e^(2π half/step) - 1)
};

}  // namespace sotto::pld_detail
