// The privacy loss of a pointwise maximum of profiles: above 0 intervals with the density of
// Gaussian or Laplace noise, and atoms between them; the mirror image below 0; and the remaining
// mass at 0. M(s) - 1 = E_Q[e^((s+1)ℓ) + e^(-sℓ) - 1 - e^ℓ; ℓ > 0], by Gauss-Legendre quadrature
// for small t, and from the ends of the intervals for large t
// (docs/theory/pld/moment-generating-functions.md, "Intervals of the pointwise maximum").
#include <cmath>

#include "numerics/api/elementary.hpp"
#include "numerics/api/gauss_legendre.hpp"
#include "pld/subsampling/symmetric_sum.hpp"

namespace sotto {
namespace {

using pld_detail::infinity;
using pld_detail::log_sum;
using pld_detail::root_two_pi;
using pld_detail::RoundedDouble;
using pld_detail::unit;

struct RoundedPiece {
  LossPiece::Noise noise;
  RoundedDouble parameter;
  double from;
  double to;
  double log_share;
  double share_error;

  explicit RoundedPiece(const LossPiece& piece)
      : noise(piece.noise),
        parameter(piece.parameter),
        from(piece.from),
        to(piece.to),
        log_share(std::log(RoundedDouble(piece.share).value)),
        share_error(RoundedDouble(piece.share).relative + 4 * unit * (1 + std::abs(log_share))) {}

  // Returns the log of the density under Q.
  [[nodiscard]] double log_at(double loss) const {
    const double x = parameter.value;
    if (noise == LossPiece::Noise::laplace) return log_share - std::log(4.0) - (loss + x) / 2;
    const double z = loss / x + x / 2;
    return log_share - z * z / 2 - std::log(root_two_pi * x);
  }
  // Returns a bound on the relative error of the density.
  [[nodiscard]] double error_at(double loss) const {
    const double x = parameter.value;
    const double size = noise == LossPiece::Noise::laplace
                            ? loss + x
                            : std::pow(loss / x + x / 2, 2) + loss + x * x;
    return share_error + (1 + size) * (parameter.relative + 8 * unit);
  }
  // Returns the log of a bound on |density| on the box of real parts from `low` to `high` and
  // imaginary parts up to `height`.
  [[nodiscard]] double log_bound_on_box(double low, double high, double height) const {
    const double x = parameter.value;
    if (noise == LossPiece::Noise::laplace) return log_at(low);
    const double centre = -x * x / 2;
    const double nearest = low > centre ? low : std::min(high, centre);
    return log_at(nearest) + height * height / (2 * x * x);
  }
  // Returns the log of the maximum of the density times e^(power ℓ) on the piece.
  [[nodiscard]] double peak(double power) const {
    const double x = parameter.value;
    double best = log_at(from) + power * from;
    if (noise == LossPiece::Noise::laplace) return std::max(best, log_at(to) + power * to);
    const double top = std::clamp((power - 0.5) * x * x, from,
                                  to);  // where the log slope -ℓ/μ² - 1/2 + power is 0
    return std::max(best, log_at(top) + power * top);
  }
  // Returns the log of a bound on E_Q[e^(power ℓ); ℓ > beyond] for an unbounded Gaussian piece.
  [[nodiscard]] double tail(double power, double beyond) const {
    const double x = parameter.value;
    return log_share + power * (power - 1) * x * x / 2 +
           pld_detail::log_normal_tail(beyond / x + x / 2 - power * x) +
           1e-12 * (1 + power * power * x * x);
  }
};

struct RoundedAtom {
  double loss;
  double loss_error;
  double log_mass;
  double mass_error;  // relative

  explicit RoundedAtom(const Atom& atom) {
    loss = std::max(atom.loss.estimate(), 1e-300);
    loss_error =
        std::max({atom.loss.upper() - loss, loss - atom.loss.lower(), 0.0}) + 2 * unit * loss;
    // the middle of the mass's bounds; if its lower bound is 0, its loss may be anything smaller,
    // too
    const double low = std::max(0.0, atom.mass.lower());
    const double high = std::max(atom.mass.upper(), 1e-300);
    const double middle = (low + high) / 2;
    log_mass = std::log(middle);
    mass_error =
        (low > 0 ? 1 : 3) * (high - low) / (2 * middle) + 4 * unit * (1 + std::abs(log_mass));
  }
};

class PointwiseMaximumLogMgf : public LogMgf {
 public:
  PointwiseMaximumLogMgf(const std::vector<RoundedPiece>& pieces,
                         const std::vector<RoundedAtom>& atoms, Bound rest, double c)
      : pieces_(pieces), atoms_(atoms), rest_(rest), c_(c) {
    double top = -infinity;
    for (const RoundedPiece& piece : pieces_) {
      const bool gaussian = piece.noise == LossPiece::Noise::gaussian;
      top = std::max(top, piece.peak(c + 1) +
                              std::log(gaussian ? piece.parameter.value : piece.to - piece.from));
      far_ = std::max(far_, gaussian ? min_turns / piece.parameter.value : 3 / piece.to);
    }
    for (const RoundedAtom& atom : atoms_) {
      top = std::max(top, atom.log_mass + (c + 1) * atom.loss);
      far_ = std::max(far_, 3 / std::max(atom.loss, 1e-3));
    }
    scaled_ = top > 1;
    scale_ = scaled_ ? top : 0;
    prepare(0, 1e-14);
  }
  void prepare(double end, double tolerance) override {
    const double top = std::min(end, far_);
    sum_error_ = infinity;
    if (!(end < 1e9) || !std::isfinite(scale_)) return;
    sum_ = pld_detail::SymmetricSum(c_, scaled_, scale_);
    for (const RoundedAtom& atom : atoms_)
      sum_.add(atom.loss, atom.log_mass, atom.mass_error + (2 + c_) * atom.loss_error,
               atom.loss_error);
    const double target =
        std::log(tolerance) + scale_ - std::log(4.0 * static_cast<double>(pieces_.size() + 1));
    double error = -infinity;
    for (const RoundedPiece& piece : pieces_) {
      double last = piece.to;
      if (std::isinf(last)) {
        last = piece.from + piece.parameter.value;
        const auto beyond = [&](double from) { return std::log(4.0) + piece.tail(c_ + 1, from); };
        while (beyond(last) > target) last += 0.5 * piece.parameter.value;
        error = log_sum(error, beyond(last));
      }
      const double here = fill(piece, last, top, target);
      if (std::isinf(here) && here > 0) return;
      error = log_sum(error, here);
    }
    sum_error_ = std::exp(error - scale_);
  }
  LogMgfValue at(double t) const override {
    return t <= far_ ? sum_.at(t, sum_error_) : from_ends(t);
  }
  double work() const override {
    return static_cast<double>(40 * pieces_.size() + 2 * atoms_.size());
  }  // the quadrature serves the first few nodes only
  // The atoms do not decay. By one integration by parts, a piece is at most (ends + variation of
  // G)/τ with G the density times e^((c+1)ℓ) or e^(-cℓ). G has at most one peak, so that is at most
  // twice its maximum over τ.
  double decay_bound(double t, Extent /*reach*/) const override {
    const double all = pld_detail::upper_log_mgf(at(0));
    if (t <= 0 || std::isinf(all)) return all;
    double sum = std::log(std::max(rest_.upper, 1e-300));
    double error_bound = 0;
    for (const RoundedAtom& atom : atoms_) {
      sum = log_sum(sum, atom.log_mass + log_sum((c_ + 1) * atom.loss, -c_ * atom.loss));
      error_bound = std::max(error_bound, atom.mass_error + (c_ + 1) * atom.loss_error);
    }
    for (const RoundedPiece& piece : pieces_) {
      const double far = std::isinf(piece.to)
                             ? piece.from + (c_ + 2) * piece.parameter.value * piece.parameter.value
                             : piece.to;
      error_bound = std::max(error_bound, piece.error_at(far));
      sum =
          log_sum(sum, std::log(2.0) - std::log(t) + log_sum(piece.peak(c_ + 1), piece.peak(-c_)));
    }
    return std::min(
        all,
        sum + error_bound +
            64 * unit * (4 + std::abs(sum) + static_cast<double>(atoms_.size() + pieces_.size())));
  }

 private:
  static constexpr double min_turns =
      14;  // of e^(itℓ) within μ: with more of them, a piece is evaluated from its ends
  struct Integral {
    Complex value;
    double error;
  };

  // Returns log M for large t, where e^(itℓ) oscillates fast: each piece is evaluated from its two
  // ends, from which the path of integration goes up to Im ℓ = 45/t.
  [[nodiscard]] LogMgfValue from_ends(double t) const {
    const double shrink = std::exp(-scale_);
    Complex sum{(rest_.lower + rest_.upper) / 2 * shrink, 0};
    double error = (rest_.upper - rest_.lower) * shrink + 4 * unit * sum.re;
    for (const RoundedAtom& atom : atoms_) {
      const double y = t * atom.loss;
      const double rise = std::exp(atom.log_mass + (c_ + 1) * atom.loss - scale_);
      const double fall = std::exp(atom.log_mass - c_ * atom.loss - scale_);
      sum += Complex{(rise + fall) * std::cos(y), (rise - fall) * std::sin(y)};
      error +=
          (rise + fall) * (atom.mass_error +
                           (std::hypot(c_ + 1, t) + 1) * (atom.loss_error + 4 * unit * atom.loss) +
                           32 * unit * (1 + std::abs(scale_)));
    }
    for (const RoundedPiece& piece : pieces_) {
      const Integral up = piece.noise == LossPiece::Noise::laplace
                              ? laplace_ends(piece, c_ + 1, t)
                              : gaussian_ends(piece, c_ + 1, t);
      const Integral down = piece.noise == LossPiece::Noise::laplace ? laplace_ends(piece, -c_, t)
                                                                     : gaussian_ends(piece, -c_, t);
      sum += up.value + Complex{down.value.re, -down.value.im};
      error += up.error + down.error;
    }
    return pld_detail::log_of_scaled(sum, scale_, error);
  }
  // Returns ∫ density e^((power + it)ℓ) over a Laplace piece, which is elementary.
  [[nodiscard]] Integral laplace_ends(const RoundedPiece& piece, double power, double t) const {
    const Complex w{power - 0.5, t};
    Integral sum{{0, 0}, 0};
    for (const double end : {piece.to, -piece.from}) {
      const double loss = std::abs(end);
      const double size = std::exp(piece.log_at(loss) + power * loss - scale_);
      const Complex value = (size * Complex{std::cos(t * loss), std::sin(t * loss)}) / w;
      sum.value += (end > 0 ? 1 : -1) * value;
      sum.error += abs(value) *
                   (piece.error_at(loss) +
                    unit * (64 + 4 * t * loss + 8 * std::abs(power) * loss + 8 * std::abs(scale_)));
    }
    return sum;
  }
  // Returns the same integral over a Gaussian piece. From an end ℓ the path upwards gives
  // density e^(power ℓ) e^(itℓ) (i/t) ∫ e^(-κv + ηv²) dv over v from 0 to 45, with κ = 1 - iω/t,
  // ω = power - 1/2 - ℓ/μ² and η = 1/(2μ²t²). e^(ηv²) is replaced by terms of its series, each
  // integrated to infinity. The connection between the two legs is below e^(-45 + 45²η) of the
  // integral on the real line.
  [[nodiscard]] Integral gaussian_ends(const RoundedPiece& piece, double power, double t) const {
    constexpr double top = 45;
    constexpr int terms = 16;
    const double m = piece.parameter.value;
    const double eta = 1 / (2 * m * m * t * t);
    const double connection = std::exp(-top + eta * top * top);
    const double moment =
        power * (power - 1) * m * m / 2 + piece.log_share;  // log E_Q[e^(power ℓ)]
    Integral sum{{0, 0}, 1.01 * connection * std::exp(moment - scale_)};
    for (const bool first : {true, false}) {
      const double loss = first ? piece.from : piece.to;
      if (std::isinf(loss)) continue;
      const double omega = power - 0.5 - loss / (m * m);
      const Complex inverse = Complex{1, 0} / Complex{1, -omega / t};
      const Complex square = inverse * inverse;
      Complex term = inverse;
      Complex series{0, 0};
      double last = 1;  // η^n (2n)!/n!
      for (int n = 0; n < terms; ++n) {
        series += last * term;
        term = square * term;
        last *= 2 * (2 * n + 1) * eta;
      }
      const double size = std::exp(piece.log_at(loss) + power * loss - scale_) / t;
      const double y = t * loss;
      const Complex value = size * (Complex{-std::sin(y), std::cos(y)} * series);
      sum.value += (first ? 1 : -1) * value;
      sum.error +=
          size * (std::exp(eta * top * top) * last + 4 * connection + piece.error_at(loss) +
                  4 * piece.parameter.relative * (1 + std::abs(omega) / t) +
                  unit * (64 + 4 * y + 8 * std::abs(power) * loss + 8 * std::abs(scale_)));
    }
    return sum;
  }

  // Adds a piece up to `last` in panels, halved until the quadrature error of each is below
  // e^(target - 4). Returns the log of all errors; infinite if that takes too many panels.
  double fill(const RoundedPiece& piece, double last, double top, double target) {
    const GaussLegendre& rule = gauss_legendre();
    double error = -infinity;
    double low = piece.from;
    double half = (last - low) / 2;
    while (low < last) {
      half = std::min(2 * half, (last - low) / 2);
      double here = panel_error(piece, low + half, half, top);
      while (here > target - 4) {
        half /= 2;
        if (half < 1e-6 * (last - piece.from)) return infinity;
        here = panel_error(piece, low + half, half, top);
      }
      error = log_sum(error, here);
      for (std::size_t i = 0; i < gauss_points; ++i) {
        const double loss = low + half * (1 + rule.node[i]);
        if (!(loss > 0)) continue;
        sum_.add(loss, std::log(half * rule.weight[i]) + piece.log_at(loss),
                 piece.error_at(loss) + 16 * unit, 4 * unit * loss);
      }
      if (sum_.size() > 50000) return infinity;
      if (last - low - 2 * half < 1e-13 * last) break;
      low += 2 * half;
    }
    return error;
  }
  // Returns the log of a bound on the quadrature error of one panel, from a bound on the integrand
  // on the box around a Bernstein ellipse; the best of several ellipses.
  [[nodiscard]] double panel_error(const RoundedPiece& piece, double centre, double half,
                                   double top) const {
    double best = infinity;
    for (const double rho : {1.3, 2.0, 3.0, 4.5, 7.0, 12.0}) {
      const Ellipse region = ellipse(half, rho);
      const double high = centre + region.reach;
      const double low = centre - region.reach;
      const double powers = log_sum((c_ + 1) * high, -c_ * low) + top * region.height;
      const double whole = log_sum(powers, log_sum(0, high));
      best = std::min(
          best,
          log_gauss_error(half, rho, whole + piece.log_bound_on_box(low, high, region.height)));
    }
    return best;
  }

  const std::vector<RoundedPiece>& pieces_;
  const std::vector<RoundedAtom>& atoms_;
  Bound rest_;
  double c_;
  double far_ = 0;  // from this t on, pieces are evaluated from their ends
  bool scaled_ = false;
  double scale_ = 0;
  pld_detail::SymmetricSum sum_;
  double sum_error_ = infinity;
};

class PointwiseMaximumLoss : public PrivacyLoss {
 public:
  PointwiseMaximumLoss(const std::vector<LossPiece>& pieces, const std::vector<Atom>& atoms,
                       const Real& rest)
      : rest_{std::max(0.0, rest.lower()), std::clamp(rest.upper(), 0.0, 1.0)} {
    for (const LossPiece& piece : pieces) {
      pieces_.emplace_back(piece);
      max_loss_ = std::max(max_loss_, piece.to);
      spread_ = std::max(spread_, std::isinf(piece.to) ? piece.parameter.estimate() : piece.to / 2);
    }
    for (const Atom& atom : atoms) {
      atoms_.emplace_back(atom);
      max_loss_ = std::max(max_loss_, atom.loss.upper());
      spread_ = std::max(spread_, atom.loss.estimate() / 2);
    }
  }
  std::unique_ptr<LogMgf> log_mgf(double c) const override {
    return std::make_unique<PointwiseMaximumLogMgf>(pieces_, atoms_, rest_, c);
  }
  double max_loss() const override { return max_loss_; }
  double standard_deviation() const override { return spread_; }

 private:
  std::vector<RoundedPiece> pieces_;
  std::vector<RoundedAtom> atoms_;
  Bound rest_;
  double max_loss_ = 0;
  double spread_ = 1e-300;
};

}  // namespace

PrivacyLossPtr pointwise_maximum_loss(const std::vector<LossPiece>& pieces,
                                      const std::vector<Atom>& atoms, const Real& rest) {
  return std::make_shared<PointwiseMaximumLoss>(pieces, atoms, rest);
}

}  // namespace sotto
