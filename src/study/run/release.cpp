// Computes answers from released numbers: the coordinates of a measurement, and intervals for each
// group.
#include "study/api/release.hpp"

#include <algorithm>
#include <cmath>

#include "sotto/core/errors.hpp"
#include "sotto/mechanisms/additive.hpp"
#include "sotto/plan/text.hpp"
#include "study/design/cuts.hpp"
#include "study/design/measure.hpp"
#include "study/files/value_text.hpp"
#include "study/run/intervals.hpp"

namespace sotto {
namespace {

using study_detail::text_of;

using study_detail::Interval;
using study_detail::Noise;
__extension__ using Wide = __int128;

void add_tree(std::vector<double>& all, std::vector<double> leaves) {
  for (;;) {
    all.insert(all.end(), leaves.begin(), leaves.end());
    if (leaves.size() <= static_cast<std::size_t>(tree_branching)) return;
    std::vector<double> above((leaves.size() + tree_branching - 1) / tree_branching);
    for (std::size_t i = 0; i < leaves.size(); ++i) above[i / tree_branching] += leaves[i];
    leaves = std::move(above);
  }
}

// Returns the interval of a number that is known not to be negative, cut to [0, ∞). A negative
// noisy value moves the whole interval up first: it then still covers the exact number, and never
// shrinks to a point.
Interval above_zero(Interval interval) {
  const double up = std::max(0.0, -interval.value);
  return {interval.value, std::max(0.0, interval.low + up), std::max(0.0, interval.high + up)};
}
Interval below_zero(Interval interval) {
  const Interval mirrored = above_zero({-interval.value, -interval.high, -interval.low});
  return {interval.value, 0.0 - mirrored.high, 0.0 - mirrored.low};
}

// GroupReader computes a query's answer from the numbers of one group. Work that all groups share
// is done once.
class GroupReader {
 public:
  GroupReader(const Query& query, const Measurement& m, const Noise& noise, double alpha)
      : query_(query), form_(m.form), steps_(m.aggregate.steps), noise_(noise), alpha_(alpha) {
    if (query.ask != Aggregation::count && query.ask != Aggregation::distinct &&
        query.ask != Aggregation::sum && query.ask != Aggregation::histogram)
      return;
    std::vector<double> weights;
    for (const Weight& w : study_detail::weights_of(m.form, steps_, query))
      weights.push_back(w.size);
    linear_.emplace(noise, std::move(weights), alpha);
  }

  [[nodiscard]] Interval operator()(std::span<const double> numbers) const {
    if (linear_) {
      const Interval interval = (*linear_)(numbers);
      if (query_.ask != Aggregation::sum || steps_.low >= 0) return above_zero(interval);
      return steps_.high <= 0 ? below_zero(interval) : interval;
    }
    const double lower = steps_.lower();
    const double upper = steps_.upper();
    if (query_.ask == Aggregation::mean) {
      return form_ == Form::halves
                 ? study_detail::mean_of_halves(noise_, numbers, lower, upper, alpha_)
                 : study_detail::mean_of_thirds(noise_, numbers, lower, upper, alpha_);
    }
    const Interval variance =
        study_detail::variance_of_thirds(noise_, numbers, lower, upper, alpha_);
    if (query_.ask == Aggregation::variance) return variance;
    return {std::sqrt(variance.value), std::sqrt(variance.low), std::sqrt(variance.high)};
  }

 private:
  const Query& query_;
  Form form_;
  Steps steps_;
  Noise noise_;
  double alpha_;
  std::optional<study_detail::Linear> linear_;  // for counts and sums
};

}  // namespace

std::size_t numbers_of_group(const Measurement& m) {
  switch (m.form) {
    case Form::counts:
      return m.aggregate.gather == Gather::bins ? static_cast<std::size_t>(m.aggregate.bins.count)
                                                : 1;
    case Form::sums: return 1;
    case Form::halves: return 2;
    case Form::thirds: return 3;
    case Form::tree: {
      auto size = static_cast<std::size_t>(m.aggregate.bins.count);
      std::size_t all = size;
      while (size > static_cast<std::size_t>(tree_branching)) {
        size = (size + tree_branching - 1) / tree_branching;
        all += size;
      }
      return all;
    }
  }
  return 0;
}

namespace {

// Converts an integer to double, clamped to ±2^53. Groups of up to 2^32 rows stay below that.
// Clamping larger numbers moves no two of them apart, so the sensitivity holds; an error would
// reveal something about the data.
double exactly(Wide whole) {
  constexpr Wide most = Wide{1} << 53U;
  return static_cast<double>(std::clamp(whole, -most, most));
}

}  // namespace

std::vector<double> coordinates(const Measurement& m, const GroupTotals& gathered) {
  const Steps& steps = m.aggregate.steps;
  const double unit = steps.unit();
  std::vector<double> all;
  if (m.form == Form::tree) {
    const auto bins = static_cast<std::size_t>(m.aggregate.bins.count);
    for (std::size_t start = 0; start < gathered.counts.size(); start += bins) {
      add_tree(all, {gathered.counts.begin() + static_cast<std::ptrdiff_t>(start),
                     gathered.counts.begin() + static_cast<std::ptrdiff_t>(start + bins)});
    }
    return all;
  }
  for (std::size_t g = 0; g < gathered.counts.size(); ++g) {
    const std::int64_t n = gathered.counts[g];
    if (m.form == Form::counts) {
      all.push_back(exactly(n));
      continue;
    }
    const Wide s = gathered.sums[g];
    if (m.form == Form::sums) {
      all.push_back(exactly(s + Wide{n} * steps.low) * unit);
    } else if (m.form == Form::halves) {
      all.push_back(exactly(s) * unit);
      all.push_back(exactly(Wide{n} * steps.range() - s) * unit);
    } else {
      const Wide q =
          (Wide{gathered.carries.empty() ? 0 : gathered.carries[g]} << 62U) + gathered.squares[g];
      const Wide range = steps.range();
      const int shift = study_detail::square_shift(steps);
      const double scale = std::ldexp(unit * unit, shift);
      for (const Wide third :
           {Wide{n} * range * range - 2 * range * s + q, 2 * (range * s - q), q}) {
        all.push_back(exactly(third >> shift) * scale);
      }
    }
  }
  return all;
}

QueryAnswer answer(const Study& study, const Query& query, const Measurement& m,
                   const std::vector<std::vector<Value>>& groups,
                   const std::vector<double>& numbers, bool exact) {
  const Noise noise{m.kind, exact ? 0 : m.scale, std::ldexp(1.0, grid_for_scale(m.scale))};
  const double alpha = 1 - study.confidence;
  const std::size_t width = numbers_of_group(m);
  if (numbers.size() != groups.size() * width) {
    throw InvalidValue("a measurement of " + std::to_string(groups.size()) + " groups has " +
                       std::to_string(groups.size() * width) + " numbers, not " +
                       std::to_string(numbers.size()));
  }
  QueryAnswer result{query.name,
                     query.ask,
                     query.of,
                     query.by,
                     query.where,
                     print(m.event),
                     {},
                     study_detail::cuts_of(study, query, m),
                     limit_of(study, query, m)};
  const GroupReader read(query, m, noise, alpha);
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const auto part = std::span(numbers).subspan(g * width, width);
    Estimate base{{}, std::nullopt, std::nullopt, std::nullopt, 0, 0, 0};
    for (const Value& value : groups[g]) base.keys.push_back(text_of(value));
    const auto add = [&](const Interval& interval) {
      base.value = interval.value;
      base.low = interval.low;
      base.high = interval.high;
      result.estimates.push_back(base);
    };
    if (query.ask == Aggregation::histogram) {
      const Bins& bins = m.aggregate.bins;
      for (std::size_t b = 0; b < width; ++b) {
        base.from = bins.lower + static_cast<double>(b) * bins.width;
        base.to = *base.from + bins.width;
        add(read(part.subspan(b, 1)));
      }
    } else if (query.ask == Aggregation::quantiles) {
      const Bins& bins = m.aggregate.bins;
      for (const double q : query.quantiles) {
        base.quantile = q;
        add(study_detail::quantile_of_tree(noise, part, {bins.count, bins.lower, bins.width}, q,
                                           alpha));
      }
    } else {
      add(read(part));
    }
  }
  return result;
}

}  // namespace sotto
