// The names of training flags in other tools, and the plan that they describe.
#include "training_flags.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string_view>

#include "core/api/suggestion.hpp"
#include "sotto/core/decimal.hpp"
#include "sotto/core/errors.hpp"

namespace sotto::cli {
namespace {

// A quantity, and the flags by which other tools name it.
struct Names {
  std::string_view meant;
  std::vector<std::string_view> written;
};
const std::vector<Names> flags{
    {"batch", {"batch", "batch-size", "b", "lot-size", "expected-batch-size"}},
    {"rows",
     {"n", "dataset-size", "samples", "num-samples", "num-examples", "sample-size", "size",
      "population", "records", "rows", "train-size"}},
    {"epochs", {"epochs", "epoch", "num-epochs", "e"}},
    {"steps", {"steps", "num-steps", "iterations", "iters", "max-steps"}},
    {"noise", {"noise", "noise-multiplier", "sigma", "noise-scale", "z"}},
    {"rate", {"rate", "sample-rate", "sampling-rate", "sampling-probability", "q"}},
};

// Returns the quantity that a flag names, or nothing.
std::string_view meaning_of(std::string_view word) {
  const std::string_view name = word.substr(std::min(word.find_first_not_of('-'), word.size()));
  for (const Names& flag : flags) {
    if (std::any_of(flag.written.begin(), flag.written.end(),
                    [&](std::string_view w) { return same_folded(w, name); }))
      return flag.meant;
  }
  return {};
}

class Flags {
 public:
  Flags(const std::vector<std::string>& words, const std::string& spare) {
    for (std::size_t i = 0; i < words.size(); ++i) {
      if (!words[i].starts_with('-')) continue;
      const std::size_t equals = words[i].find('=');
      const std::string_view meaning = meaning_of(std::string_view(words[i]).substr(0, equals));
      if (meaning.empty()) continue;
      const bool has_next = i + 1 < words.size() && !words[i + 1].starts_with('-');
      values_.emplace_back(meaning, equals != std::string::npos ? words[i].substr(equals + 1)
                                    : has_next                  ? words[i + 1]
                                                                : spare);
    }
  }
  bool empty() const { return values_.empty(); }
  // Returns 0 if the flag is absent or its value is not a number above 0.
  double number(std::string_view meaning) const {
    const auto it = std::find_if(values_.begin(), values_.end(),
                                 [&](const auto& one) { return one.first == meaning; });
    if (it == values_.end()) return 0;
    try {
      const double value = read_number(it->second);
      return value > 0 && std::isfinite(value) ? value : 0;
    } catch (const InvalidValue&) {
      return 0;
    }
  }
  std::string text(std::string_view meaning, const char* otherwise) const {
    const double value = number(meaning);
    return value > 0 ? shortest(value) : otherwise;
  }

 private:
  std::vector<std::pair<std::string_view, std::string>> values_;
};

}  // namespace

std::string plan_of_flags(const std::vector<std::string>& words, const std::string& spare) {
  const Flags typed(words, spare);
  if (typed.empty()) return "";
  const bool has_rate = typed.number("rate") > 0;
  const std::string rate = has_rate
                               ? typed.text("rate", "")
                               : typed.text("batch", "BATCH") + "/" + typed.text("rows", "ROWS");
  const double rows_per_batch = has_rate ? 1 / typed.number("rate")
                                : typed.number("batch") > 0
                                    ? typed.number("rows") / typed.number("batch")
                                    : 0;
  std::string steps = typed.text("steps", "STEPS");
  const double count = std::ceil(typed.number("epochs") * rows_per_batch);
  if (typed.number("steps") == 0 && count >= 1 && count <= 0x1p53)
    steps = std::to_string(static_cast<std::int64_t>(count));
  return steps + " * poisson(" + rate + ", gaussian(" + typed.text("noise", "NOISE") + "))";
}

}  // namespace sotto::cli
