// One part of the losses' measure, integrated along one line: A^k, or (A + B)^k - A^k, A the transform of the base and B of the middle
// (docs/theory/pld.md, "Rare steps").
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "sotto/core/bound.hpp"
#include "sotto/pld/privacy_loss.hpp"
#include "tail_split/parts.hpp"

namespace sotto::pld_detail {

/// The angle of the lines between which sums on the real line are bounded.
double wide_angle(const Law& distribution, const Split& split);
/// log of A^k if the split has no bulk, else of (A + B)^k - A^k, from above, at a real power.
double log_most(const std::vector<Law>& distributions, const Split& split, const std::vector<Points>& real, double power);
/// Σ k log M(c) of what is composed with the distributions, from above; 0 at c = 0.
double log_beside(const std::vector<LossStep>& others, double c);

class Piece {
 public:
  /// A^k if the split has no bulk, else (A + B)^k - A^k; `real` has their points on the real line. `c` is the line, `right` one to its right,
  /// where Chernoff's bound is taken; `about` has log B(c), distribution by distribution. What is left out of δ(ε) is to be below e^wanted; `depth`
  /// is -log of the relative error of the sums; `most_work` how many terms may be summed. `others` are composed with the distributions.
  Piece(const std::vector<Law>& distributions, const std::vector<LossStep>& others, Direction direction, const Split& split,
        const std::vector<Points>& real, double c, double right, const std::vector<double>& about, double epsilon, double wanted, double depth,
        double most_work);
  [[nodiscard]] bool failed() const { return nodes_.empty(); }
  /// How many terms were summed.
  [[nodiscard]] double work() const { return work_; }
  /// Its part of δ(ε).
  [[nodiscard]] Bound delta(double epsilon) const;
  /// Up to which t the rule goes, what the rest of it may come to, and what it comes to from some t on as far as it goes: at ε = 0, over the same
  /// scale for all pieces on this line.
  [[nodiscard]] double top() const { return step_ * static_cast<double>(nodes_.size() - 1); }
  [[nodiscard]] double cut_off() const { return tail_; }
  [[nodiscard]] double beyond(double t) const;

 private:
  struct Node {
    Complex size;  // over s(s+1) and e^scale
    double error;
  };
  /// On a line Im ℓ = a: ∫ |weight r^p| e^(-t arg r) as a sum.
  struct Ceiling {
    std::vector<double> logs, args;
    double beside;  // log of what the sum leaves out
    double lift;
  };
  bool build(const std::vector<Law>& distributions, const std::vector<Points>& real, const std::vector<double>& about, double epsilon, double wanted,
             double depth);
  bool choose_step(const std::vector<Law>& distributions, const std::vector<Points>& real, double epsilon, double wanted);
  std::optional<double> choose_cut(const std::vector<Law>& distributions, const std::vector<Points>& real, double target, double depth);
  [[nodiscard]] std::vector<Ceiling> base_ceilings(const Law& distribution, double depth) const;
  void evaluate(const std::vector<Law>& distributions, const std::vector<Points>& path, std::size_t count);
  [[nodiscard]] Node node_at(const std::vector<Law>& distributions, const std::vector<Points::Node>& values, double t) const;

  [[nodiscard]] double power(double c) const { return direction_ == Direction::remove ? c + 1 : -c; }

  struct Line {
    std::unique_ptr<LogMgf> line;
    double count;
  };

  Direction direction_;
  Split split_;
  std::vector<LossStep> others_;
  std::vector<Line> beside_;  // the others on the line
  double log_mass_ = 0;       // of the P-mass, from above
  double c_;
  double scale_ = 0;
  double step_ = 0;
  double right_line_;
  double right_top_ = infinity;
  double tail_ = 0;  // over e^scale, at ε = 0
  double most_work_;
  double work_ = 0;
  std::vector<Node> nodes_;
};

}  // namespace sotto::pld_detail
