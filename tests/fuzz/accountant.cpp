// Plans with parameters of all sizes: bounds in order, no NaN, ε and δ that agree, and as a fuzzer
// no call of more than five seconds without sanitizers.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <initializer_list>
#include <optional>
#include <string>

#include "round_trip.hpp"
#include "sotto/accounting/account.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/plan/text.hpp"

namespace sotto {
namespace {

#ifdef SOTTO_FUZZER
constexpr double most_seconds =
    40;  // of processor time under sanitizers, which cost a factor of eight
#else
constexpr double most_seconds = INFINITY;  // a replay gives the same on every machine
#endif

struct Bytes {
  const std::uint8_t* data;
  std::size_t left;

  unsigned next(unsigned choices) {
    if (left == 0) return 0;
    --left;
    return *data++ % choices;
  }
};

// "name(a, b, …)". (A braced list is evaluated in order; operands of + are not.)
std::string call(const char* name, std::initializer_list<std::string> arguments) {
  std::string text = name;
  const char* before = "(";
  for (const std::string& argument : arguments) {
    text += before + argument;
    before = ", ";
  }
  return text + ")";
}

std::string number(Bytes& bytes, int least, int most) {
  const unsigned digits = 1 + bytes.next(99);
  const int exponent =
      least + static_cast<int>(bytes.next(static_cast<unsigned>(most - least + 1)));
  return std::to_string(digits) + "e" + std::to_string(exponent);
}
std::string noise(Bytes& bytes) { return number(bytes, -8, 8); }
std::string probability(Bytes& bytes) { return number(bytes, -14, -2); }
std::string whole(Bytes& bytes, unsigned least, unsigned choices) {
  return std::to_string(least + bytes.next(choices));
}

std::string plan(Bytes& bytes, int depth) {
  const auto inner = [&] { return plan(bytes, depth - 1); };
  switch (bytes.next(depth > 0 ? 20 : 12)) {
    case 0: return call("gaussian", {noise(bytes)});
    case 1: return call("laplace", {noise(bytes)});
    case 2: return call("discrete_laplace", {noise(bytes), whole(bytes, 1, 9)});
    case 3: return call("discrete_gaussian", {noise(bytes), whole(bytes, 1, 9)});
    case 4: return call("randomized_response", {probability(bytes), whole(bytes, 2, 5)});
    case 5: return call("pure", {number(bytes, -10, 2)});
    case 6: return call("approx", {number(bytes, -10, 2), probability(bytes)});
    case 7: return call("exponential", {number(bytes, -10, 2)});
    case 8: return call("zcdp", {number(bytes, -10, 2)});
    case 9: return call("arsinh", {number(bytes, -6, 0), noise(bytes)});
    case 10: return call("rdp", {number(bytes, 0, 3), number(bytes, -6, 1)});
    case 11: return call("tcdp", {number(bytes, -8, 1), number(bytes, 0, 4)});
    case 12:
    case 13: {
      const std::string times = whole(bytes, 2, 200);
      return times + " * (" + inner() + ")";
    }
    case 14: {
      const std::string times = number(bytes, 1, 7);
      return times + " * (" + inner() + ")";
    }
    case 15: {
      const std::string first = inner();
      return first + " + " + inner();
    }
    case 16:
    case 17: return call("poisson", {probability(bytes), inner()});
    case 18: return call("without_replacement", {whole(bytes, 1, 100), "100000", inner()});
    default: return call("parallel", {inner(), inner()});
  }
}

template <class F>
std::optional<Bound> timed(F ask) {
  const std::clock_t start = std::clock();
  std::optional<Bound> value;
  try {
    value = ask().value;
  } catch (const OutsideConditions&) {
  }
  demand(static_cast<double>(std::clock() - start) < most_seconds * CLOCKS_PER_SEC);
  if (value) {
    demand(!std::isnan(value->lower) && !std::isnan(value->upper));
    demand(value->lower <= value->upper);
    demand(value->upper >= 0);
  }
  return value;
}

void ask(const std::string& text, double small) {
  const Plan plan = parse(text);
  const auto cost = timed([&] { return epsilon(plan, Delta(small)); });
  if (!cost) return;
  // what suffices suffices, and what does not does not, up to the readings of a decimal
  if (std::isfinite(cost->upper)) {
    const auto there = timed([&] { return delta(plan, Epsilon(cost->upper)); });
    if (there) demand(there->upper <= 1 && there->lower <= small * (1 + 1e-9));
  }
  if (std::isfinite(cost->lower) && cost->lower > 0) {
    const auto there = timed([&] { return delta(plan, Epsilon(cost->lower)); });
    if (there) demand(there->upper >= small * (1 - 1e-9));
  }
}

}  // namespace
}  // namespace sotto

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  sotto::Bytes bytes{data, size};
  const double small = std::pow(10.0, -1 - static_cast<double>(bytes.next(15)));
  const std::string text = sotto::plan(bytes, 3);
  try {
    sotto::ask(text, small);
  } catch (const sotto::InvalidValue&) {
  } catch (const sotto::ParseError&) {
  }
  return 0;
}
