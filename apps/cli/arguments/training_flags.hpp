// Suggests a plan to a person who types the flags of a training, such as --batch 256 --n 60000
// --epochs 15 --noise 1.1, where a plan is expected.
#pragma once

#include <string>
#include <vector>

namespace sotto::cli {

/// Returns a plan such as `3516 * poisson(256/60000, gaussian(1.1))` for the flags among `words`,
/// with names in capitals for absent numbers; empty if no flag of a training is among them. `spare`
/// is the value of the flag that has no value among the words.
std::string plan_of_flags(const std::vector<std::string>& words, const std::string& spare);

}  // namespace sotto::cli
