// Numbers that are released, from whole numbers: no group is too large for them.
#include <gtest/gtest.h>

#include <cmath>

#include "study/api/release.hpp"
#include "study/design/measure.hpp"

namespace sotto {
namespace {

Measurement measurement(Form form, Gather gather, const Steps& steps) {
  Aggregate aggregate;
  aggregate.gather = gather;
  aggregate.steps = steps;
  return {aggregate, form, {}, 0, 0, NoiseKind::laplace, 1, laplace(1), std::nullopt};
}

/// Of one group: n rows with this code.
GroupTotals rows_of(std::int64_t n, std::int64_t code) {
  __extension__ using Wide = __int128;
  const Wide squares = Wide{n} * code * code;
  return {{n},
          {n * code},
          {static_cast<std::int64_t>(squares % (Wide{1} << 62))},
          {static_cast<std::int64_t>(squares >> 62)}};
}

TEST(Coordinates, OfHugeGroupsAreNoErrorAndOneRowMovesThemNoFurther) {
  struct Case {
    Form form;
    Gather gather;
    std::int64_t steps;
  };
  for (const auto& [form, gather, most] :
       {Case{Form::counts, Gather::rows, 1}, Case{Form::sums, Gather::values, 1 << 20},
        Case{Form::halves, Gather::values, 1 << 20}, Case{Form::thirds, Gather::squares, 1 << 10},
        Case{Form::thirds, Gather::squares, 1 << 15}}) {
    const Measurement m = measurement(form, gather, {0, 0, most});
    const double step =
        form == Form::thirds ? std::ldexp(1.0, study_detail::square_shift(m.aggregate.steps)) : 1;
    const auto range = static_cast<double>(most);
    const double claim = form == Form::thirds   ? range * range + 3 * step
                         : form == Form::counts ? 1
                                                : range;
    for (const std::int64_t n :
         {std::int64_t{1} << 32, (std::int64_t{1} << 32) + 1, std::int64_t{1} << 33,
          std::int64_t{1} << 36, std::int64_t{1} << 40}) {
      for (const std::int64_t code : {std::int64_t{0}, std::int64_t{1}, most / 2, most}) {
        const auto before = coordinates(m, rows_of(n, code));
        const auto after = coordinates(m, rows_of(n + 1, code));
        ASSERT_EQ(before.size(), after.size());
        double moved = 0;
        for (std::size_t i = 0; i < before.size(); ++i) moved += std::abs(after[i] - before[i]);
        EXPECT_LE(moved, claim) << n << " rows of " << code;
        for (const double x : after)
          EXPECT_LE(std::abs(x), std::ldexp(step, 53)) << n << " rows of " << code;
      }
    }
  }
}

}  // namespace
}  // namespace sotto
