// The plan that stands for flags of a training, such as --batch 256 --n 60000 --epochs 15 --noise 1.1.
#pragma once

#include <string>
#include <vector>

namespace sotto::cli {

/// `3516 * poisson(256/60000, gaussian(1.1))` for words of a command line that describe a training by flags that sotto does
/// not have; numbers that are missing stand there as words. `spare` is the value of the flag that has none among the words.
/// Empty where the words have no such flag.
std::string plan_of_flags(const std::vector<std::string>& words, const std::string& spare);

}  // namespace sotto::cli
