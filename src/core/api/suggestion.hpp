// Suggestions for misspelt or abbreviated words ("did you mean gaussian?"), and for numbers with a
// decimal comma or a percent sign.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sotto {

/// A word that users of other tools write for a known word: {"avg", "mean"}.
struct Synonym {
  std::string_view written;
  std::string_view meant;
};

/// Returns the known word that `word` most likely means, or an empty string. The first rule that
/// finds a word wins: equality up to case and punctuation; a synonym; one letter changed, added,
/// dropped or swapped with its neighbour; an abbreviation such as `wor` or `gauss`; at most a third
/// of the letters changed.
std::string closest(std::string_view word, const std::vector<std::string>& known,
                    const std::vector<Synonym>& synonyms = {});

/// Returns whether the words are equal up to case, spaces, `-`, `_` and `.`.
bool same_folded(std::string_view a, std::string_view b);

/// Returns `did you mean "age"? There are: sex, age`, or `there are: sex, age` if no known word is
/// close, or an empty string if no word is known. Omits names that are unsafe to print (text.hpp)
/// or longer than 100 bytes, and lists at most 40.
std::string suggestion(std::string_view word, const std::vector<std::string>& known,
                       const std::vector<Synonym>& synonyms = {});

/// Returns advice on a number with a decimal comma or a percent sign: `: write a decimal point,
/// 0.5` for 0,5 and `: write a share, 0.01` for 1%. Returns an empty string for any other text.
std::string advice_on_number(std::string_view text);

}  // namespace sotto
