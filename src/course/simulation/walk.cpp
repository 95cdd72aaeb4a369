// Admits a step by its proof, and tests it on random records.
#include "course/api/walk.hpp"

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "sotto/core/decimal.hpp"
#include "sotto/core/values.hpp"

namespace sotto {
namespace {

constexpr std::size_t width = 2;  // two dimensions suffice to find an expansion

struct Record {
  double x[width];
  std::int16_t target;
};

double norm(const double* x) { return std::hypot(x[0], x[1]); }

void clip(double* gradient, double most) {
  const double length = norm(gradient);
  if (length <= most) return;
  for (std::size_t j = 0; j < width; ++j) gradient[j] *= most / length;
}

void move(const WalkStep& step, const std::vector<Record>& records, double* w) {
  double sum[width] = {0, 0};
  const double from[width] = {w[0], w[1]};
  for (const Record& record : records) {
    const double output = from[0] * record.x[0] + from[1] * record.x[1];
    double slope = 0;
    step.loss.slope({&output, 1}, record.target, {&slope, 1});
    double gradient[width] = {slope * record.x[0], slope * record.x[1]};
    if (step.clipping == WalkStep::Clipping::each_record) clip(gradient, step.clip);
    for (std::size_t j = 0; j < width; ++j)
      sum[j] += gradient[j] / static_cast<double>(records.size());
  }
  if (step.clipping == WalkStep::Clipping::average) clip(sum, step.clip);
  for (std::size_t j = 0; j < width; ++j) w[j] -= step.step * sum[j];
}

}  // namespace

double largest_expansion(const WalkStep& step, std::int64_t tries) {
  (void)require_positive(step.clip, "clip");
  (void)require_positive(step.step, "step");
  std::mt19937_64 words(1);  // not noise: a search that is the same on every run
  const auto uniform = [&words](double from, double to) {
    return from + (to - from) * static_cast<double>(words() >> 11U) * 0x1p-53;
  };
  const auto direction = [&](double* x, double length) {
    const double angle = uniform(0, 2 * std::acos(-1.0));
    x[0] = length * std::cos(angle);
    x[1] = length * std::sin(angle);
  };
  double largest = 0;
  for (std::int64_t i = 0; i < tries; ++i) {
    std::vector<Record> records(1 + words() % 4);
    for (Record& record : records) {
      direction(record.x, words() % 4 == 0 ? uniform(0, 1) : 1);
      const bool classes = step.loss.is_of_classes();
      record.target = static_cast<std::int16_t>(classes ? words() % 2 : words() % 32768 - 16384);
    }
    double one[width];
    direction(one, std::exp(uniform(-3, 4)));
    double apart[width];
    const double distance = std::exp(uniform(-9, 0));
    direction(apart, distance);
    double other[width] = {one[0] + apart[0], one[1] + apart[1]};
    const double before = std::hypot(one[0] - other[0], one[1] - other[1]);
    move(step, records, one);
    move(step, records, other);
    largest = std::max(largest, std::hypot(one[0] - other[0], one[1] - other[1]) / before);
  }
  return largest;
}

WalkAdmission admit_to_walk(const WalkStep& step) {
  WalkAdmission result;
  if (step.loss.outputs(2) != 1) {
    result.reason =
        "a model with several outputs: clipping their gradient together is no contraction by any "
        "proof here";
    return result;
  }
  result.expansion = largest_expansion(step);
  const double most = 2 / step.loss.smoothness();
  if (step.clipping == WalkStep::Clipping::average) {
    result.reason =
        "clipping the average of gradients is no contraction (a step was seen to expand " +
        rounded(result.expansion, 4, Side::upper) + " times): clip each record's";
  } else if (!(step.step <= most)) {
    result.reason = "a step of " + shortest(step.step) +
                    " is longer than 2/beta = " + shortest(most) + ": take a shorter one";
  } else if (result.expansion > 1 + 1e-9) {
    result.reason =
        "a step was seen to expand " + rounded(result.expansion, 4, Side::upper) + " times";
  } else {
    result.admitted = true;
  }
  return result;
}

bool is_contraction_admitted(const WalkStep& step) { return admit_to_walk(step).admitted; }

}  // namespace sotto
