// The steps of SGD, momentum and Adam, with projection and averaging.
#include "sotto/learning/optimiser.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "learning/models/names.hpp"

namespace sotto {
namespace {

using learning_detail::name_in;
using learning_detail::Named;
using learning_detail::parse_in;

constexpr std::array<Named<OptimiserKind>, 3> kinds{{{OptimiserKind::sgd, "sgd"},
                                                     {OptimiserKind::momentum, "momentum"},
                                                     {OptimiserKind::adam, "adam"}}};
constexpr std::array<Named<StepSizes>, 3> all_sizes{{{StepSizes::constant, "constant"},
                                                     {StepSizes::inverse_root, "inverse-root"},
                                                     {StepSizes::cosine, "cosine"}}};
constexpr std::array<Named<Averaging>, 3> averages{{{Averaging::none, "none"},
                                                    {Averaging::uniform, "uniform"},
                                                    {Averaging::second, "second-half"}}};

double size_at(const Optimiser& optimiser, std::int64_t step, std::int64_t steps) {
  switch (optimiser.sizes) {
    case StepSizes::constant: break;
    case StepSizes::inverse_root: return optimiser.size / std::sqrt(static_cast<double>(step));
    case StepSizes::cosine:
      return optimiser.size *
             (1 + std::cos(std::numbers::pi * static_cast<double>(step - 1) /
                           static_cast<double>(steps))) /
             2;
  }
  return optimiser.size;
}

// Keeps parameters finite if steps are far too long, so that checkpoints and releases stay valid.
double finite(double x) { return x == x ? std::clamp(x, -1e100, 1e100) : 0; }

void project(std::vector<double>& parameters, const Region& region) {
  if (const auto* box = std::get_if<Box>(&region)) {
    for (double& p : parameters) p = std::clamp(p, box->lower, box->upper);
    return;
  }
  const double radius = std::get<Ball>(region).radius;
  double square = 0;
  for (const double p : parameters) square += p * p;
  if (square <= radius * radius) return;
  const double shrink = radius / std::sqrt(square);
  for (double& p : parameters) p *= shrink;
}

void average(Iterate& iterate, Averaging averaging, std::int64_t steps) {
  const std::int64_t skipped = averaging == Averaging::second ? steps / 2 : 0;
  if (averaging == Averaging::none || iterate.step <= skipped) return;
  if (iterate.mean.empty()) iterate.mean.assign(iterate.parameters.size(), 0);
  const double share = 1 / static_cast<double>(iterate.step - skipped);
  for (std::size_t j = 0; j < iterate.mean.size(); ++j)
    iterate.mean[j] += share * (iterate.parameters[j] - iterate.mean[j]);
}

}  // namespace

std::string name_of(OptimiserKind kind) { return name_in<OptimiserKind>(kinds, kind); }
OptimiserKind parse_optimiser(const std::string& name) {
  return parse_in<OptimiserKind>(kinds, "optimiser", name);
}
std::string name_of(StepSizes sizes) { return name_in<StepSizes>(all_sizes, sizes); }
StepSizes parse_step_sizes(const std::string& name) {
  return parse_in<StepSizes>(all_sizes, "rule for step sizes", name);
}
std::string name_of(Averaging averaging) { return name_in<Averaging>(averages, averaging); }
Averaging parse_averaging(const std::string& name) {
  return parse_in<Averaging>(averages, "averaging", name);
}

void advance(Iterate& iterate, const Optimiser& optimiser, std::int64_t steps,
             std::span<const double> gradient) {
  const std::int64_t t = ++iterate.step;
  const double size = size_at(optimiser, t, steps);
  std::vector<double>& parameters = iterate.parameters;
  if (optimiser.kind != OptimiserKind::sgd && iterate.first.empty())
    iterate.first.assign(parameters.size(), 0);
  if (optimiser.kind == OptimiserKind::adam && iterate.second.empty())
    iterate.second.assign(parameters.size(), 0);
  const double beta1 = optimiser.momentum;
  const double warm1 = 1 - std::pow(beta1, static_cast<double>(t));
  const double warm2 = 1 - std::pow(optimiser.beta2, static_cast<double>(t));
  for (std::size_t j = 0; j < parameters.size(); ++j) {
    const double g = gradient[j] + optimiser.l2 * parameters[j];
    switch (optimiser.kind) {
      case OptimiserKind::sgd: parameters[j] = finite(parameters[j] - size * g); break;
      case OptimiserKind::momentum:
        iterate.first[j] = finite(beta1 * iterate.first[j] + g);
        parameters[j] = finite(parameters[j] - size * iterate.first[j]);
        break;
      case OptimiserKind::adam:
        iterate.first[j] = finite(beta1 * iterate.first[j] + (1 - beta1) * g);
        iterate.second[j] =
            finite(optimiser.beta2 * iterate.second[j] + (1 - optimiser.beta2) * g * g);
        parameters[j] = finite(parameters[j] - size * (iterate.first[j] / warm1) /
                                                   (std::sqrt(iterate.second[j] / warm2) + 1e-8));
        break;
    }
  }
  if (optimiser.region) project(parameters, *optimiser.region);
  average(iterate, optimiser.averaging, steps);
}

const std::vector<double>& learned(const Iterate& iterate, const Optimiser& optimiser) {
  return optimiser.averaging == Averaging::none || iterate.mean.empty() ? iterate.parameters
                                                                        : iterate.mean;
}

}  // namespace sotto
