// Choices with any parameters: InvalidValue, or one of the values that there are, in good time.
#include "sotto/mechanisms/choice.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "numbers.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/random/uniform.hpp"

namespace {

using namespace sotto;

std::int64_t whole(double x) { return std::abs(x) < 0x1p62 ? static_cast<std::int64_t>(x) : -1; }

void respond(Numbers& numbers) {
  const double p = numbers.any();
  const std::int64_t k = whole(numbers.any());
  const Respondent respondent =
      numbers.byte() % 2 == 0 ? Respondent(p, k) : Respondent::with_epsilon(Epsilon(p), k);
  require_that(respondent.p() > 0 && respondent.p() <= 1);
  for (int i = 0; i < 8; ++i) {
    const std::int64_t answer = respondent.respond(whole(numbers.any()));
    require_that(answer >= 0 && answer < respondent.values());
  }
}

void choose(Numbers& numbers) {
  const Selection selection(Epsilon(numbers.any()), numbers.any());
  std::vector<double> scores;
  while (!numbers.is_empty() && scores.size() < 16) scores.push_back(numbers.any());
  for (int i = 0; i < 4; ++i) require_that(selection.choose(scores) < scores.size());
}

void sample(Numbers& numbers) {
  const PoissonSample poisson(numbers.any());
  for (int i = 0; i < 8; ++i) require_that(poisson.skip() <= std::uint64_t{1} << 63U);
}

void toss(Numbers& numbers) {
  const double p = numbers.any();
  const bool heads = bernoulli(p);
  require_that(p > 0 || !heads);
  const Decay decay{numbers.any(), numbers.any(), numbers.any(), numbers.any()};
  (void)bernoulli_exp(decay);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Numbers numbers(data, size);
  try {
    switch (numbers.byte() % 4) {
      case 0: respond(numbers); break;
      case 1: choose(numbers); break;
      case 2: sample(numbers); break;
      default: toss(numbers); break;
    }
  } catch (const InvalidValue&) {
  }
  return 0;
}
