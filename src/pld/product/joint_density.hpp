// The density, under Q, of the loss of Gaussian noise together with other steps, all of symmetric pairs. The Gaussian makes it an
// entire function: it is read off the product of the transforms by a sum over a vertical line (docs/theory/pld.md, "Several kinds of noise").
#pragma once

#include <vector>

#include "sotto/pld/privacy_loss.hpp"
#include "support.hpp"

namespace sotto::pld_detail {

class JointDensity {
 public:
  /// `rest` are the other steps, each with a largest loss.
  JointDensity(const Real& squared_mu, const std::vector<LossStep>& rest);

  struct Value {
    double log;          // of the density
    double error_bound;  // relative; infinite where nothing is known
  };
  /// The density at a loss.
  [[nodiscard]] Value at(double loss) const;
  struct ComplexValue {
    double log;
    Complex factor;      // the density is e^log times this
    double error_bound;  // of the factor, absolute; infinite where nothing is known
    double size;         // on the real line the factor is at most this
  };
  [[nodiscard]] ComplexValue at(Complex loss) const;
  /// log of a bound on the density at every loss within [low, high].
  [[nodiscard]] double above(double low, double high) const;
  /// log of a bound on E_Q[e^(σL); L > from], σ >= 0 and from >= 0.
  [[nodiscard]] double tail(double sigma, double from) const;
  /// log of a bound on E_Q[e^(σL)], σ >= 1.
  [[nodiscard]] double moment(double sigma) const;

  [[nodiscard]] const RoundedDouble& mu() const { return mu_; }
  /// All of the steps.
  [[nodiscard]] const std::vector<LossStep>& steps() const { return steps_; }
  /// The largest loss of the rest.
  [[nodiscard]] double rest() const { return rest_; }
  /// Up to which loss the density is known.
  [[nodiscard]] double reach() const { return reach_; }

 private:
  // The transform under Q on the line Re s = σ, over its value at σ.
  struct Line {
    double sigma;
    double top;                  // log E_Q[e^(σL)], from above
    double scale;                // the same, about
    std::vector<Complex> nodes;  // at 0, h, 2h, …, all but the first twice
    std::vector<double> errors;  // of each
    double error;                // of the sum of the nodes, all in one
    double size;                 // the sum of the nodes' sizes
  };
  [[nodiscard]] Line line_at(double sigma) const;
  [[nodiscard]] const Line& best_line(double place) const;
  [[nodiscard]] double aliases(const Line& line, double place) const;

  RoundedDouble mu_;
  double rest_ = 0;
  double reach_ = 0;
  double step_ = 0;  // h
  std::vector<LossStep> steps_;
  std::vector<Line> lines_;
};

}  // namespace sotto::pld_detail
