// The law of a privacy loss itself, for losses of which it is known in closed form: masses between losses, under P and under Q, and atoms.
#pragma once

#include <cmath>
#include <memory>
#include <optional>
#include <vector>

#include "sotto/loss/loss.hpp"
#include "support.hpp"

namespace sotto::loss_detail {

class LossLaw {
 public:
  virtual ~LossLaw() = default;
  /// A loss as the law sees it. It is taken to be another one, the same for every call, within `off` of it: so the masses between many losses are
  /// those of a partition.
  struct Edge {
    double loss;
    double place;  // where the noise has it
    double rate;   // how fast the base's loss moves with this one
  };
  /// value e^log: under Q a large loss may have a mass that is no double.
  struct Mass {
    double value;
    double room;  // relative
    double log = 0;
    [[nodiscard]] double at(double raised) const { return value * std::exp(log + raised); }
  };
  struct Slopes {
    double least, most;
  };
  struct Place {
    double loss;
    double loss_room;  // absolute
    double mass;       // under Q, over e^log
    double room;       // relative
    double log = 0;
  };
  [[nodiscard]] virtual Edge edge(double loss) const = 0;
  [[nodiscard]] virtual double off(double loss) const = 0;
  /// What lies between two losses of one sign, beside the atoms, under Q and under P.
  [[nodiscard]] virtual Mass without(const Edge& from, const Edge& to) const = 0;
  [[nodiscard]] virtual Mass with(const Edge& from, const Edge& to) const = 0;
  /// The least and the largest slope of log of the density under Q between two losses of one sign.
  [[nodiscard]] virtual Slopes slopes(const Edge& from, const Edge& to) const = 0;
  [[nodiscard]] virtual std::vector<Place> atoms() const { return {}; }
  /// There is nothing beside them.
  [[nodiscard]] virtual bool only_atoms() const { return false; }
  /// The least and the largest loss.
  [[nodiscard]] virtual double least() const { return -infinity; }
  [[nodiscard]] virtual double most() const { return infinity; }
  /// P's mass that is not told, above the largest loss, at most: as good as nothing.
  [[nodiscard]] virtual double beyond() const { return 0; }
  /// Where the losses of nearly all outcomes may be heaped up, closer than any two rungs are, if that is anywhere and there is no other atom.
  [[nodiscard]] virtual std::optional<double> heap() const { return std::nullopt; }
  /// E_Q[e^(L - heap) - 1] between two losses on one side of the heap: its size.
  [[nodiscard]] virtual Mass beside_heap(const Edge& /*from*/, const Edge& /*to*/) const { return {0, infinity}; }
};

using LawPtr = std::shared_ptr<const LossLaw>;

LawPtr gaussian_law(const Near& mu);
LawPtr laplace_law(const Near& x);
LawPtr exponential_law(const Near& x);
/// Arsinh noise: κ = A²/(2σ²) >= 1, shift = Δ/A.
LawPtr arsinh_law(const Near& kappa, const Near& shift);
/// Poisson sampling of one of these.
LawPtr sampled_law(const LawPtr& base, const Near& rate, Direction direction);
/// Sampling without replacement of one of these.
LawPtr replaced_law(const LawPtr& base, const Near& rate);

/// A loss that tells its law; nothing where that is too long.
class KnownLoss {
 public:
  virtual ~KnownLoss() = default;
  [[nodiscard]] virtual LawPtr law() const = 0;
};

}  // namespace sotto::loss_detail
