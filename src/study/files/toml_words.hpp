// Explains TOML syntax errors and unknown keys by what to write instead.
#pragma once

#include <string>
#include <vector>

namespace sotto::study_detail {

/// Returns what to write instead of line `line`, counted from 1, which the TOML parser rejects.
/// `parsers` is the parser's error.
std::string words_for_toml(const std::string& text, std::size_t line, const std::string& parsers);

/// Returns `there is no `top` here; did you mean …? There are: …`, or how to do what the word
/// suggests if no key does it.
std::string words_for_key(const std::string& word, const std::vector<std::string>& known);

/// Returns such a text for an unknown kind of query, `ask = "avg"`.
std::string words_for_ask(const std::string& word, const std::vector<std::string>& known);

/// Returns a corrected setting for a number in quotes, with a decimal comma or with a percent sign,
/// such as `epsilon = 0.5`; else an example, such as `epsilon = 1`.
std::string example_of_number(const std::string& key, const std::string& written);

}  // namespace sotto::study_detail
