// Escaping for markup, and an estimate of text widths that needs no font.
#include "report/api/text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "core/api/text.hpp"

namespace sotto::report_detail {
namespace {

constexpr std::string_view minus = "\u2212";

// Widths in units of the font size, slightly above those of common system fonts.
double letter_width(char c) {
  constexpr std::string_view narrow = "iljtfrI.,:;'|!()[] -";
  constexpr std::string_view wide = "mwMW@%";
  if (narrow.find(c) != std::string_view::npos) return 0.38;
  if (wide.find(c) != std::string_view::npos) return 0.95;
  return c >= 'A' && c <= 'Z' ? 0.7 : 0.6;
}

std::string number(double x, int decimals) {
  std::array<char, 512> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), x,
                                 std::chars_format::fixed, decimals)
                       .ptr;
  return {buffer.data(), end};
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  for (const char c : escaped_document(text)) {
    switch (c) {
      case '&': result += "&amp;"; break;
      case '<': result += "&lt;"; break;
      case '>': result += "&gt;"; break;
      case '"': result += "&quot;"; break;
      case '\'': result += "&#39;"; break;
      default: result += c;
    }
  }
  return result;
}

double text_width(std::string_view text, double size) {
  double width = 0;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80) width += letter_width(c);
    if (byte >= 0xC0) width += 0.6;  // counts once per character, at its first byte
  }
  return width * size;
}

std::vector<std::string> wrapped(std::string_view text, double size, double width) {
  std::vector<std::string> lines(1);
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find_first_of(" \t\n\r", begin), text.size());
    const std::string word(text.substr(begin, end - begin));
    begin = end + 1;
    if (word.empty()) continue;
    std::string& line = lines.back();
    if (line.empty()) {
      line = word;
    } else if (text_width(line + ' ' + word, size) <= width) {
      line += ' ' + word;
    } else {
      lines.push_back(word);
    }
  }
  return lines;
}

double widest_of(const std::vector<std::string>& lines, double size) {
  double widest = 0;
  for (const std::string& line : lines) widest = std::max(widest, text_width(line, size));
  return widest;
}

std::string coordinate(double length) {
  std::string text = number(length, 2);
  while (text.back() == '0') text.pop_back();
  if (text.back() == '.') text.pop_back();
  return text == "-0" ? "0" : text;
}

std::string fixed(double x, int decimals) {
  if (x == 0) return "0";
  return (x < 0 ? std::string(minus) : std::string()) + number(std::fabs(x), decimals);
}

std::string power_of_ten(int exponent) {
  constexpr std::array<std::string_view, 10> digits{"⁰", "¹", "²", "³", "⁴",
                                                    "⁵", "⁶", "⁷", "⁸", "⁹"};
  std::string text = "10";
  for (const char c : std::to_string(exponent))
    text += c == '-' ? std::string_view("⁻") : digits[static_cast<std::size_t>(c - '0')];
  return text;
}

}  // namespace sotto::report_detail
