// Cells of losses, between rungs or about them: what they hold, and where their means lie (docs/theory/contour.md, "A ladder of losses").
#pragma once

#include <cmath>
#include <cstdint>

#include "law.hpp"
#include "rungs.hpp"

namespace sotto::loss_detail {

inline constexpr double just_below = -0x1p-1000;  // 0 as seen from below
inline constexpr std::int64_t near_heap = 4096;   // rungs next to a heap, whose cells are cut exactly

// A cell of losses: its ends, masses and slopes.
class Cell {
 public:
  Cell(const LossLaw& law, double low, const LossLaw::Edge& from, double high, const LossLaw::Edge& to)
      : law_(law), low_(low), high_(high), from_(from), to_(to) {
    if (low < 0 && high > 0) {
      without_ = sum(law.without(from, law.edge(just_below)), law.without(law.edge(0), to));
    } else {
      without_ = law.without(from, to);
    }
  }
  [[nodiscard]] const LossLaw::Mass& without() const { return without_; }
  [[nodiscard]] LossLaw::Mass with() const {
    if (!(low_ < 0 && high_ > 0)) return law_.with(from_, to_);
    return sum(law_.with(from_, law_.edge(just_below)), law_.with(law_.edge(0), to_));
  }
  // Nothing is known where a density has a kink.
  [[nodiscard]] LossLaw::Slopes slopes() const {
    if ((low_ < 0 && high_ > 0) || low_ < law_.least() || high_ > law_.most()) return {-infinity, infinity};
    const LossLaw::Slopes slopes = law_.slopes(from_, to_);
    const double room = 1e-9;  // cells are a little longer or shorter than they are written down
    return {slopes.least - room * (1 + std::abs(slopes.least)), slopes.most + room * (1 + std::abs(slopes.most))};
  }

 private:
  static LossLaw::Mass sum(const LossLaw::Mass& a, const LossLaw::Mass& b) {  // of small losses
    return {a.at(0) + b.at(0), std::max(a.room, b.room) + 8 * unit * (1 + std::abs(a.log) + std::abs(b.log))};
  }

  const LossLaw& law_;
  double low_, high_;
  LossLaw::Edge from_, to_;
  LossLaw::Mass without_{};
};

inline std::int64_t rung_at(double start, double height, double loss) { return static_cast<std::int64_t>(std::floor((loss - start) / height)); }
/// How far off losses may be: the most at the ends, or nearly so.
double rounded(const LossLaw& law, double low, double high);

/// What a cell between two rungs gives them, times e^loss of the lower: its mass, and of that the share of the upper one so that P keeps its mass.
/// Bounds from above on both make a larger pair.
struct Raise {
  double mass, share;
  double least;  // the mass, from below
};
Raise raise(const Cell& cell, double loss, double height);

/// What a cell about a rung tells: its mass times e^rung, and the mean of its loss from the rung; from below.
struct Lump {
  double weight, mean;
};
Lump lump(const Cell& cell, double low, double high, double rung);
/// log of E_Q[e^L] over Q's mass, from below.
double mean_of(const LossLaw::Mass& with, const LossLaw::Mass& without);
/// Where cells about rungs are to end for their means to lie on the rungs, or a margin above them, by the density's slope there.
double end_below(const LossLaw& law, double rung, double height, double margin);

/// Down, of a law with a heap: nothing where its mean is not found.
std::optional<Rungs> lowered_about(const LossLaw& law, double heap, const Span& span);

}  // namespace sotto::loss_detail
