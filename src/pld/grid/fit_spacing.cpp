// The spacing of a grid, fitted to the distances between atoms.
#include "pld/grid/fit_spacing.hpp"

#include <algorithm>
#include <cmath>

#include "core/api/work.hpp"

namespace sotto::pld_detail {
namespace {

constexpr double min_spacings_apart =
    3;  // atoms that are closer together do not both get a grid point
constexpr std::size_t max_fitted_atoms =
    64;  // a step with more atoms, on no lattice, does not choose the spacing
constexpr double max_spacings_tried = 16384;

// The distance between two atoms, which should be a whole number of spacings, and their tilted
// mass.
struct Gap {
  double apart;
  double weight;
};

// Returns the gaps of one step's atoms: the lattice spacing if they are on a lattice, and otherwise
// the distance of each atom from the heaviest one; none if there are too many.
std::vector<Gap> gaps_of(const DistributedStep& step, double tilt, double scale) {
  std::vector<Gap> gaps;
  auto atoms = step.distribution->atoms();
  if (atoms.size() < 2) return gaps;
  std::sort(atoms.begin(), atoms.end(),
            [](const LossDistribution::PointMass& a, const LossDistribution::PointMass& b) {
              return a.loss < b.loss;
            });
  const auto weight = [&](const LossDistribution::PointMass& atom) {
    return step.step.count * atom.mass * std::exp(atom.log + (1 + tilt) * atom.loss - scale);
  };
  double sum = 0;
  double apart = infinity;
  std::size_t heaviest = 0;
  for (std::size_t i = 0; i < atoms.size(); ++i) {
    sum += weight(atoms[i]);
    if (i > 0) apart = std::min(apart, atoms[i].loss - atoms[i - 1].loss);
    if (weight(atoms[i]) > weight(atoms[heaviest])) heaviest = i;
  }

  // the spacing of a lattice from its whole range, since a single distance is rounded more
  const double range = atoms.back().loss - atoms.front().loss;
  const double even = range / std::round(range / apart);
  const bool lattice =
      std::all_of(atoms.begin(), atoms.end(), [&](const LossDistribution::PointMass& atom) {
        const double place = (atom.loss - atoms.front().loss) / even;
        return std::abs(place - std::round(place)) < 1e-9;
      });
  if (lattice) return {{even, sum}};
  if (atoms.size() > max_fitted_atoms) return gaps;
  for (std::size_t i = 0; i < atoms.size(); ++i) {
    if (i != heaviest)
      gaps.push_back({std::abs(atoms[i].loss - atoms[heaviest].loss), weight(atoms[i])});
  }
  return gaps;
}

}  // namespace

double fit_spacing(const std::vector<DistributedStep>& steps, const GridChoice& choice,
                   double spacing) {
  std::vector<Gap> all;
  for (std::size_t step = 0; step < steps.size(); ++step) {
    const std::vector<Gap> gaps = gaps_of(steps[step], choice.tilt(), choice.scale(step));
    all.insert(all.end(), gaps.begin(), gaps.end());
  }
  all.erase(
      std::remove_if(all.begin(), all.end(),
                     [&](const Gap& gap) { return !(gap.apart / spacing >= min_spacings_apart); }),
      all.end());
  if (all.empty()) return spacing;
  const auto largest_by = [&](double Gap::*member) {
    return *std::max_element(all.begin(), all.end(), [member](const Gap& a, const Gap& b) {
      return a.*member < b.*member;
    });
  };
  double best = spacing;
  double least_off_grid = infinity;
  for (const Gap& by : {largest_by(&Gap::weight), largest_by(&Gap::apart)}) {
    const double closest = std::floor(by.apart / spacing);
    for (double count = closest; count >= min_spacings_apart && count > 0.85 * closest &&
                                 count > closest - max_spacings_tried;
         --count) {
      const double tried = by.apart / count;
      spend(10 + 3 * static_cast<double>(all.size()));
      double off_grid = 0;
      for (const Gap& one : all)
        off_grid += one.weight * std::abs(one.apart / tried - std::round(one.apart / tried));
      if (!(off_grid < least_off_grid)) continue;
      least_off_grid = off_grid;
      best = tried;
    }
  }
  return best;
}

}  // namespace sotto::pld_detail
