// Estimates of moments: each distribution becomes lumps of mass, cells and atoms, which are summed
// with every tilt.
#include "pld/grid/moment_table.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/api/work.hpp"
#include "pld/saddle_point/inversion_integral.hpp"

namespace sotto::pld_detail {

// A piece of a distribution: P-mass that is spread evenly around a loss.
struct Lump {
  double loss, weight, half_width;
  std::size_t boundary;  // the index of the first boundary at or above the loss
};

namespace {

// Collects the lumps of one distribution, of cells and of atoms.
class Lumps {
 public:
  Lumps(const LossDistribution& distribution, double low, double high, double epsilon,
        const std::vector<double>& boundaries)
      : boundaries_(boundaries) {
    add_cells(distribution, cell_edges(distribution, low, high), low);
    add_atoms(distribution, high, epsilon);
  }
  [[nodiscard]] const std::vector<Lump>& all() const { return lumps_; }

 private:
  static constexpr int cells = 1024;

  // Equidistant edges, edges that come ever closer to the bulk, the boundaries, and 0.
  [[nodiscard]] std::vector<double> cell_edges(const LossDistribution& distribution, double low,
                                               double high) const {
    const double bulk = distribution.bulk().value_or(std::max(0.0, low));
    std::vector<double> edges;
    for (int i = 0; i < cells; ++i) edges.push_back(low + (high - low) * i / cells);
    edges.push_back(high);
    for (int i = 0; i < 200; ++i) {
      const double apart = (high - low) * std::exp2(-0.2 * i);
      for (const double edge : {bulk - apart, bulk + apart}) {
        if (edge > low && edge < high) edges.push_back(edge);
      }
    }
    for (const double edge : boundaries_) {
      if (edge > low && edge < high) edges.push_back(edge);
    }
    edges.push_back(0);
    edges.push_back(-infinity);
    std::sort(edges.begin(), edges.end());
    edges.erase(
        std::remove_if(edges.begin(), edges.end(), [&](double edge) { return edge > high; }),
        edges.end());
    return edges;
  }

  void add(double loss, double weight, double half_width) {
    const auto boundary = static_cast<std::size_t>(
        std::lower_bound(boundaries_.begin(), boundaries_.end(), loss) - boundaries_.begin());
    if (weight > 0)
      lumps_.push_back({loss, weight, half_width, std::min(boundary, boundaries_.size() - 1)});
  }

  void add_cells(const LossDistribution& distribution, const std::vector<double>& edges,
                 double low) {
    for (std::size_t i = 1; i < edges.size(); ++i) {
      const double to = edges[i] == 0 && edges[i - 1] < 0 ? -0x1p-1000 : edges[i];
      spend(300);
      const LossDistribution::Edge a = distribution.edge(edges[i - 1]);
      const LossDistribution::Edge b = distribution.edge(to);
      const LossDistribution::Mass p = distribution.mass_p(a, b);
      const LossDistribution::Mass q = distribution.mass_q(a, b);
      const double loss = std::log(p.value / q.value) + p.log - q.log;
      const double from = std::max(low, edges[i - 1]);
      if (p.value > 0 && q.value > 0)
        add(std::clamp(loss, from, std::max(low, to)), p.as_double(), (to - from) / 2);
    }
  }

  // Of many atoms, those that are close together become one lump.
  void add_atoms(const LossDistribution& distribution, double high, double epsilon) {
    double weight = 0;
    double moment = 0;
    double first = 0;
    auto atoms = distribution.atoms();
    const bool many = atoms.size() > cells;
    if (many)
      std::sort(atoms.begin(), atoms.end(),
                [](const auto& a, const auto& b) { return a.loss < b.loss; });
    for (const LossDistribution::PointMass& atom : atoms) {
      const double loss = std::min(atom.loss, high);
      const double own = atom.mass * std::exp(atom.log + atom.loss);
      if (weight > 0 && (!many || loss - first > 0.01 * std::abs(loss) + 1e-4 * epsilon)) {
        add(moment / weight, weight, 0);
        weight = moment = 0;
      }
      if (weight == 0) first = loss;
      weight += own;
      moment += own * loss;
    }
    if (weight > 0) add(moment / weight, weight, 0);
  }

  const std::vector<double>& boundaries_;
  std::vector<Lump> lumps_;
};

}  // namespace

double lowest_relevant_loss(const DistributedStep& step, double epsilon, double log_delta) {
  return std::max(step.distribution->min_loss(),
                  -std::max(40 * epsilon / std::max(5.0, -0.25 * log_delta),
                            60 * step.step.loss->standard_deviation()));
}

MomentTable::MomentTable(const std::vector<DistributedStep>& known,
                         const std::vector<bool>& unstratified, const std::vector<double>& ends,
                         double epsilon, double log_delta, std::vector<double> chosen_tilts)
    : tilts(std::move(chosen_tilts)) {
  choose_boundaries(known, unstratified, ends, epsilon);
  for (std::size_t i = 0; i < known.size(); ++i) {
    const double low = lowest_relevant_loss(known[i], epsilon, log_delta);
    const Lumps lumps(*known[i].distribution, low, ends[i], epsilon, boundaries);
    add_moments({known[i].step.count, ends[i], unstratified[i], {}, {}}, lumps.all());
  }
}

double MomentTable::log_moment(std::optional<std::size_t> from, std::size_t to,
                               std::size_t tilt) const {
  spend((40 + 15 * static_cast<double>(from ? to - *from : 0)) * static_cast<double>(steps.size()));
  double base = 0;
  double ratio = 0;
  for (const Step& step : steps) {
    const double* below = step.below.data() + tilt * boundaries.size();
    if (!from || step.unstratified) {
      base += step.count * below[step.unstratified ? boundaries.size() - 1 : to];
      continue;
    }
    const double* between = step.between.data() + tilt * boundaries.size();
    double part = -infinity;
    for (std::size_t i = *from + 1; i <= to; ++i) part = log_sum(part, between[i]);
    base += step.count * below[*from];
    ratio += step.count * std::log1p(std::exp(part - below[*from]));
  }
  return from ? base + log_expm1(ratio) : base;
}

std::pair<double, double> MomentTable::min_chernoff(std::optional<std::size_t> from, std::size_t to,
                                                    double epsilon) const {
  std::pair<double, double> best{infinity, 0};
  for (std::size_t i = 1; i < tilts.size(); ++i) {
    const double here = log_moment(from, to, i) - tilts[i] * epsilon + chernoff_factor(tilts[i]);
    if (here < best.first) best = {here, tilts[i]};
  }
  return best;
}

// Boundaries in geometric progression around ε, between atoms that are far apart, and the largest
// loss.
void MomentTable::choose_boundaries(const std::vector<DistributedStep>& known,
                                    const std::vector<bool>& unstratified,
                                    const std::vector<double>& ends, double epsilon) {
  double end = 0;
  for (std::size_t i = 0; i < known.size(); ++i) end = std::max(end, unstratified[i] ? 0 : ends[i]);
  for (double loss = 0.002 * std::min(epsilon, end); loss < std::min(0.9 * end, 8 * epsilon);
       loss *= 1.3)
    boundaries.push_back(loss);
  for (std::size_t i = 0; i < known.size(); ++i) {
    if (unstratified[i]) continue;
    std::vector<double> losses;
    for (const LossDistribution::PointMass& atom : known[i].distribution->atoms())
      losses.push_back(atom.loss);
    std::sort(losses.begin(), losses.end());
    for (std::size_t j = 1; j < losses.size(); ++j) {
      const double middle = (losses[j - 1] + losses[j]) / 2;
      if (losses[j] - losses[j - 1] > 0.05 * epsilon && middle > 0.1 * epsilon &&
          middle < std::min(0.9 * end, 4 * epsilon)) {
        boundaries.push_back(middle);
      }
    }
  }
  boundaries.push_back(end);
  std::sort(boundaries.begin(), boundaries.end());
}

// Computes the moments of one step. Between two boundaries they are summed relative to the largest
// loss there, so that nothing overflows.
void MomentTable::add_moments(Step step, const std::vector<Lump>& lumps) {
  std::vector<double> tops(boundaries.size(), -infinity);
  for (const Lump& lump : lumps) tops[lump.boundary] = std::max(tops[lump.boundary], lump.loss);
  std::vector<double> sums(boundaries.size());
  for (const double tilt : tilts) {
    spend(12 * static_cast<double>(lumps.size()) + 30 * static_cast<double>(boundaries.size()));
    std::fill(sums.begin(), sums.end(), 0.0);
    for (const Lump& lump : lumps) {
      const double spread = std::min(20.0, tilt * lump.half_width);
      sums[lump.boundary] += lump.weight * std::exp(tilt * (lump.loss - tops[lump.boundary])) *
                             (spread > 0.01 ? std::sinh(spread) / spread : 1);
    }
    double below = -infinity;
    for (std::size_t i = 0; i < boundaries.size(); ++i) {
      const double here = sums[i] > 0 ? std::log(sums[i]) + tilt * tops[i] : -infinity;
      below = log_sum(below, here);
      step.between.push_back(here);
      step.below.push_back(below);
    }
  }
  steps.push_back(std::move(step));
}

}  // namespace sotto::pld_detail
