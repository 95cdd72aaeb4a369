// Suggestions for a misspelt or abbreviated word, "did you mean gaussian?", and for numbers as they are written elsewhere.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sotto {

/// A word that people write for a known one, such as another tool's name: {"avg", "mean"}.
struct Synonym {
  std::string_view written;
  std::string_view meant;
};

/// The known word that `word` most likely stands for, or an empty text. In this order: the same
/// word up to case and punctuation; a synonym; one letter changed, added, dropped or swapped with
/// its neighbour; an abbreviation such as `wor` or `gauss`; at most a third of the letters changed.
std::string closest(std::string_view word, const std::vector<std::string>& known, const std::vector<Synonym>& synonyms = {});

/// True if the words are the same up to case, spaces, `-`, `_` and `.`.
bool same_folded(std::string_view a, std::string_view b);

/// `did you mean "age"? There are: sex, age`; without a close word `there are: sex, age`; empty if
/// nothing is known. Names that could not be shown as they are, are left out; the list is short.
std::string suggestion(std::string_view word, const std::vector<std::string>& known, const std::vector<Synonym>& synonyms = {});

/// What to write for a number with a decimal comma or a percent sign: `: write a decimal point, 0.5` for 0,5 and
/// `: write a share, 0.01` for 1%. Empty for any other text.
std::string advice_on_number(std::string_view text);

}  // namespace sotto
