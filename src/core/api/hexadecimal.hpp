// Bytes written as hexadecimal digits, and read back.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace sotto {

/// The letters that stand for the digits 10 to 15.
enum class HexLetters { lower, upper };

/// Returns two digits for each byte, the high one first: "\x0a\xff" gives "0aff".
std::string hexadecimal(std::span<const unsigned char> bytes,
                        HexLetters letters = HexLetters::lower);
std::string hexadecimal(std::string_view bytes, HexLetters letters = HexLetters::lower);

/// Returns the bytes that `digits` stand for. Empty if their number is odd, or if one of them is
/// not a digit or one of the letters a to f in lower case.
std::optional<std::string> from_hexadecimal(std::string_view digits);

}  // namespace sotto
