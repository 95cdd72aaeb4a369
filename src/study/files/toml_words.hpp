// Explains TOML syntax errors and unknown keys by what to write instead.
#pragma once

#include <string>
#include <vector>

namespace sotto::study_detail {

/// What to write instead of line `line`, counted from 1, of a text that TOML's parser does not read; `parsers` are its own words.
std::string words_for_toml(const std::string& text, std::size_t line, const std::string& parsers);

/// `there is no `top` here; did you mean …? There are: …`, with what to do where no key does what the word says.
std::string words_for_key(const std::string& word, const std::vector<std::string>& known);

/// The same for a kind of question, `ask = "avg"`.
std::string words_for_ask(const std::string& word, const std::vector<std::string>& known);

/// `epsilon = 0.5` for a number that stands in quotes, has a decimal comma or is followed by %; else `epsilon = 1`.
std::string example_of_number(const std::string& key, const std::string& written);

}  // namespace sotto::study_detail
