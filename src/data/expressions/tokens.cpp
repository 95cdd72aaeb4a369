// Splits the text of a row expression into tokens.
#include "data/expressions/tokens.hpp"

#include <array>
#include <cctype>
#include <string_view>
#include <utility>

#include "data/text/utf8.hpp"

namespace sotto::expression {
namespace {

constexpr std::array<std::pair<std::string_view, const char*>, 15> unsupported{{
    {"--",
     "comments are not allowed in an expression; to subtract a negative number write a - (-1)"},
    {"/*", "comments are not allowed in an expression"},
    {";", "write one expression, without ';'"},
    {"::", "write TRY_CAST(x AS integer): a cast that fails is NULL"},
    {"%", "there is no remainder operator: write a - b * floor(a / b)"},
    {"^", "there is no power operator: write x * x"},
    {"**", "there is no power operator: write x * x"},
    {"`", "put the name of a column in double quotes, or write it without quotes"},
    {"~", "patterns are not supported: list the texts that match, as in sex IN ('Male', 'Female')"},
    {"$", "parameters and dollar quotes are not supported"},
    {"?", "parameters are not supported: write the value itself"},
    {"{", "braces are not allowed in an expression"},
    {"[", "lists and subscripts are not supported"},
    {"!", "write NOT, or <> between two values"},
    {".", "write the name of the column without a table"},
}};
// Operators of other languages, each with its equivalent here.
constexpr std::array<std::pair<std::string_view, std::string_view>, 8> replaced{{{"&&", "AND"},
                                                                                 {"||", "OR"},
                                                                                 {"===", "="},
                                                                                 {"==", "="},
                                                                                 {"=>", ">="},
                                                                                 {"=<", "<="},
                                                                                 {"&", "AND"},
                                                                                 {"|", "OR"}}};
constexpr std::array<std::string_view, 13> symbols{"<>", "!=", "<=", ">=", "(", ")", ",",
                                                   "+",  "-",  "*",  "/",  "<", ">"};

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool starts_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}
bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

class Lexer {
 public:
  explicit Lexer(const Source& source) : source_(source), text_(source.text()) {}

  std::vector<Token> all() {
    std::vector<Token> tokens;
    for (;;) {
      while (at_ < text_.size() && is_space(text_[at_])) ++at_;
      tokens.push_back(next());
      if (tokens.back().kind == Kind::end) return tokens;
    }
  }

 private:
  [[nodiscard]] char peek(std::size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }
  Token since(std::size_t start, Kind kind) {
    return {kind, std::string(text_.substr(start, at_ - start)), "", start};
  }

  Token next() {
    const std::size_t start = at_;
    if (at_ == text_.size()) return {Kind::end, "", "", start};
    const char c = peek();
    if (starts_word(c)) {
      while (starts_word(peek()) || is_digit(peek())) ++at_;
      Token token = since(start, Kind::word);
      token.word = lower(token.text);
      return token;
    }
    if (is_digit(c) || (c == '.' && is_digit(peek(1)))) return number();
    if (c == '\'') return {Kind::text, enclosed('\'', "a text"), "", start};
    if (c == '"') return {Kind::quoted, enclosed('"', "a column's name"), "", start};
    const std::string_view rest = text_.substr(at_);
    for (const auto& [sign, meant] : replaced) {
      if (rest.starts_with(sign)) fail_other(start, sign, meant);
    }
    for (const auto& [sign, advice] : unsupported) {
      if (rest.starts_with(sign) && !rest.starts_with("!=")) source_.fail(start, advice);
    }
    for (const std::string_view symbol : symbols) {
      if (!rest.starts_with(symbol)) continue;
      at_ += symbol.size();
      return {Kind::symbol, symbol == "!=" ? "<>" : std::string(symbol), "", start};
    }
    if (c == '=') {
      ++at_;
      return {Kind::symbol, "=", "", start};
    }
    source_.fail(start, std::isprint(static_cast<unsigned char>(c)) != 0
                            ? std::string("'") + c + "' is not allowed in an expression"
                            : "a character that is not allowed in an expression");
  }

  // Returns the whole text with `meant` in place of each `sign` that is outside quotes.
  [[nodiscard]] std::string corrected(std::string_view sign, std::string_view meant) const {
    std::string whole;
    char quote = '\0';
    for (std::size_t i = 0; i < text_.size(); ++i) {
      const char c = text_[i];
      if (quote == '\0' && text_.substr(i).starts_with(sign)) {
        const bool is_word = starts_word(meant.front());
        i += sign.size() - 1;
        whole += (is_word && !whole.ends_with(' ') ? " " : "") + std::string(meant) +
                 (is_word && !text_.substr(i + 1).starts_with(' ') ? " " : "");
        continue;
      }
      if (quote == '\0' && (c == '\'' || c == '"')) {
        quote = c;
      } else if (c == quote) {
        quote = '\0';
      }
      whole += c;
    }
    return whole;
  }
  [[noreturn]] void fail_other(std::size_t at, std::string_view sign,
                               std::string_view meant) const {
    constexpr std::size_t most = 120;  // bytes of a message
    const std::string what = "write " + std::string(meant) + " for " + std::string(sign);
    source_.fail(at, text_.size() <= most ? what + ": " + corrected(sign, meant) : what);
  }

  Token number() {
    const std::size_t start = at_;
    Kind kind = Kind::integer;
    while (is_digit(peek())) ++at_;
    if (peek() == '.') {
      kind = Kind::real;
      ++at_;
      while (is_digit(peek())) ++at_;
    }
    const std::size_t sign = peek(1) == '+' || peek(1) == '-' ? 1 : 0;
    if ((peek() == 'e' || peek() == 'E') && is_digit(peek(1 + sign))) {
      kind = Kind::real;
      at_ += 1 + sign;
      while (is_digit(peek())) ++at_;
    }
    if (starts_word(peek()) || peek() == '.')
      source_.fail(start, "a letter or a second point follows a number: write 1.5 or 2e-3");
    return since(start, kind);
  }

  // Reads a text in quotes and returns it without them; a doubled quote stands for one.
  std::string enclosed(char quote, const char* what) {
    const std::size_t start = at_;
    std::string inside;
    for (++at_; at_ < text_.size(); ++at_) {
      if (text_[at_] == quote) {
        if (peek(1) != quote) {
          ++at_;
          return inside;
        }
        ++at_;
      }
      inside += text_[at_];
    }
    source_.fail(start, std::string(what) + " is not closed: expected " + quote);
  }

  const Source& source_;
  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

std::vector<Token> tokens(const Source& source) {
  if (source.text().size() > most_bytes)
    source.fail(most_bytes, "an expression has at most " + std::to_string(most_bytes) + " bytes");
  if (!data_detail::is_text(source.text()))
    source.fail(0, "the expression must be valid UTF-8 without zero bytes");
  return Lexer(source).all();
}

}  // namespace sotto::expression
