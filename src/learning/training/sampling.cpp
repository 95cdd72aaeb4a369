// Draws batches, and returns the plan event of each kind of sampling.
#include "sotto/learning/sampling.hpp"

#include <algorithm>
#include <unordered_set>

#include "sotto/core/errors.hpp"

namespace sotto {
namespace {

std::string no_theorem(const char* what, Relation relation, const char* instead) {
  return std::string(what) + " has no theorem under " + std::string(name(relation)) + ": " +
         instead;
}

}  // namespace

Plan sampled(const Sampling& sampling, const Plan& step, Relation relation) {
  if (const auto* poisson_sampling = std::get_if<PoissonSampling>(&sampling)) {
    if (relation != Relation::add_remove) {
      throw OutsideConditions(no_theorem(
          "Poisson sampling", relation, "use batches of a fixed size, or all units in every step"));
    }
    return poisson(poisson_sampling->rate, step);
  }
  if (const auto* fixed = std::get_if<FixedSizeSampling>(&sampling)) {
    if (relation != Relation::replace_one) {
      throw OutsideConditions(no_theorem("a batch of fixed size", relation,
                                         "use Poisson sampling, or all units in every step"));
    }
    return without_replacement(static_cast<double>(fixed->batch),
                               static_cast<double>(fixed->population), step);
  }
  return step;
}

Sampler::Sampler(const Sampling& sampling, std::size_t units) : sampling_(sampling), units_(units) {
  if (units >= (std::uint64_t{1} << 31U))
    throw InvalidValue("there are " + std::to_string(units) +
                       " units: a training has fewer than 2^31");
  if (const auto* poisson_sampling = std::get_if<PoissonSampling>(&sampling))
    (void)PoissonSample(poisson_sampling->rate);
  if (const auto* fixed = std::get_if<FixedSizeSampling>(&sampling)) {
    if (fixed->batch < 1 || fixed->batch > fixed->population)
      throw InvalidValue("`batch` is " + std::to_string(fixed->batch) +
                         ": it must be from 1 to the population, " +
                         std::to_string(fixed->population));
    if (static_cast<std::size_t>(fixed->population) != units) {
      throw InvalidValue(
          "`population` is " + std::to_string(fixed->population) + " units, and there are " +
          std::to_string(units) +
          ": under replace-one the number of units is public, so write the exact number");
    }
  }
}

std::vector<std::uint32_t> Sampler::start(std::uint64_t step, Stream& stream) const {
  const auto* fixed = std::get_if<FixedSizeSampling>(&sampling_);
  if (fixed == nullptr) return {};
  // Floyd's algorithm draws a uniformly random set [Bentley1987].
  stream.start(step, (std::uint64_t{1} << 48U) - 1);  // no block has this number
  std::unordered_set<std::uint32_t> chosen;
  chosen.reserve(static_cast<std::size_t>(fixed->batch));
  for (auto j = static_cast<std::uint64_t>(fixed->population - fixed->batch);
       j < static_cast<std::uint64_t>(fixed->population); ++j) {
    const auto candidate = static_cast<std::uint32_t>(uniform_below(j + 1, stream));
    if (!chosen.insert(candidate).second) chosen.insert(static_cast<std::uint32_t>(j));
  }
  std::vector<std::uint32_t> sorted(chosen.begin(), chosen.end());
  std::sort(sorted.begin(), sorted.end());
  return sorted;
}

void Sampler::draw(std::uint64_t step, std::size_t block, const std::vector<std::uint32_t>& started,
                   Stream& stream, std::vector<std::uint32_t>& batch) const {
  const std::size_t first = block * units_a_block;
  const std::size_t end = std::min(units_, first + units_a_block);
  if (const auto* poisson_sampling = std::get_if<PoissonSampling>(&sampling_)) {
    const PoissonSample sample(poisson_sampling->rate);
    stream.start(step, block);
    for (std::size_t unit = first; unit < end; ++unit) {
      const std::uint64_t skip = sample.skip(stream);
      if (skip >= end - unit) return;
      unit += static_cast<std::size_t>(skip);
      batch.push_back(static_cast<std::uint32_t>(unit));
    }
  } else if (std::holds_alternative<FixedSizeSampling>(sampling_)) {
    const auto from = std::lower_bound(started.begin(), started.end(), first);
    batch.insert(batch.end(), from, std::lower_bound(from, started.end(), end));
  } else {
    for (std::size_t unit = first; unit < end; ++unit)
      batch.push_back(static_cast<std::uint32_t>(unit));
  }
}

}  // namespace sotto
