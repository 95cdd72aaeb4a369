// Moments of all steps of a composition, below and between boundaries of losses: the estimates from
// which GridChoice chooses strata, tilts and windows.
#pragma once

#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "pld/grid/choose_grid.hpp"

namespace sotto::pld_detail {

/// Returns a loss of one step below which its mass hardly matters at ε.
double lowest_relevant_loss(const DistributedStep& step, double epsilon, double log_delta);

struct Lump;

/// A moment table has estimates of log E_P[e^(cL)] of every step, for every tilt c of a list, over
/// the losses below each boundary and between two boundaries. Strata begin and end at boundaries.
class MomentTable {
 public:
  struct Step {
    double count, max_loss;
    bool unstratified;
    std::vector<double> below,
        between;  // tilt by tilt: below each boundary, and between it and the previous one
  };
  std::vector<double>
      boundaries;             // ascending; the last one is the largest loss that is not truncated
  std::vector<double> tilts;  // ascending, from 0 on
  std::vector<Step> steps;

  /// `ends` are the largest losses of the steps that are not truncated.
  MomentTable(const std::vector<DistributedStep>& known, const std::vector<bool>& unstratified,
              const std::vector<double>& ends, double epsilon, double log_delta,
              std::vector<double> chosen_tilts);

  /// Returns log(Π (A+B)^k - Π A^k) with A the moments below `from` and B those between `from` and
  /// `to`; without `from` log Π A^k, A the moments below `to`. All three arguments are indices.
  [[nodiscard]] double log_moment(std::optional<std::size_t> from, std::size_t to,
                                  std::size_t tilt) const;
  /// Returns the log of the least Chernoff bound of a stratum over all tilts, and its tilt.
  [[nodiscard]] std::pair<double, double> min_chernoff(std::optional<std::size_t> from,
                                                       std::size_t to, double epsilon) const;

 private:
  void choose_boundaries(const std::vector<DistributedStep>& known,
                         const std::vector<bool>& unstratified, const std::vector<double>& ends,
                         double epsilon);
  void add_moments(Step step, const std::vector<Lump>& lumps);
};

}  // namespace sotto::pld_detail
