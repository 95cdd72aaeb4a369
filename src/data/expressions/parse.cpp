// The parser of row expressions, by recursive descent. The grammar, from the loosest operator:
//   expression  = conjunction { OR conjunction }
//   conjunction = negation { AND negation }
//   negation    = NOT negation | test
//   test        = sum [ ( = | <> | < | <= | > | >= ) sum | IS [NOT] NULL | [NOT] IN ( list )
//                 | [NOT] BETWEEN sum AND sum ]
//   sum         = product { ( + | - ) product }
//   product     = sign { ( * | / ) sign }
//   sign        = - sign | primary
//   primary     = constant | column | ( expression ) | CASE … END | function ( list )
//                 | EXTRACT ( part FROM expression ) | TRY_CAST ( expression AS type )
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string_view>
#include <utility>

#include "data/expressions/names.hpp"
#include "data/expressions/tokens.hpp"
#include "sotto/core/errors.hpp"

namespace sotto::expression {
namespace {

constexpr int most_parentheses = 200;  // nested in each other

constexpr std::array<std::pair<std::string_view, Op>, 6> comparisons{{{"=", Op::equal},
                                                                      {"<>", Op::not_equal},
                                                                      {"<", Op::less},
                                                                      {"<=", Op::less_equal},
                                                                      {">", Op::greater},
                                                                      {">=", Op::greater_equal}}};
constexpr std::array<std::pair<std::string_view, Op>, 5> functions{{{"coalesce", Op::coalesce},
                                                                    {"least", Op::least},
                                                                    {"greatest", Op::greatest},
                                                                    {"floor", Op::floor},
                                                                    {"abs", Op::abs}}};

class Parser {
 public:
  Parser(const Source& source, const std::vector<Column>& columns)
      : source_(source), columns_(columns), tokens_(tokens(source)) {}

  Pointer parse() {
    if (here().kind == Kind::end)
      fail("the expression is empty: expected a value, such as age >= 18");
    Pointer all = expression();
    if (here().kind != Kind::end) unexpected("an operator or the end");
    return all;
  }

 private:
  // --- tokens ---
  [[nodiscard]] const Token& here(std::size_t ahead = 0) const {
    return tokens_[std::min(next_ + ahead, tokens_.size() - 1)];
  }
  [[nodiscard]] bool is_word(std::string_view word, std::size_t ahead = 0) const {
    return here(ahead).word == word && !word.empty();
  }
  [[nodiscard]] bool is_symbol(std::string_view symbol, std::size_t ahead = 0) const {
    return here(ahead).kind == Kind::symbol && here(ahead).text == symbol;
  }
  bool take_word(std::string_view word) {
    if (!is_word(word)) return false;
    ++next_;
    return true;
  }
  bool take_symbol(std::string_view symbol) {
    if (!is_symbol(symbol)) return false;
    ++next_;
    return true;
  }
  [[noreturn]] void fail(const std::string& what) const { source_.fail(here().at, what); }
  [[noreturn]] void unexpected(const std::string& wanted) const {
    if (const std::string advice = advice_on(here().word); !advice.empty()) fail(advice);
    const std::string actual = here().kind == Kind::end    ? "the end"
                               : here().kind == Kind::text ? "a text"
                                                           : "'" + here().text + "'";
    fail("expected " + wanted + ", found " + actual);
  }
  void expect_word(const char* word, const char* upper_case) {
    if (!take_word(word)) unexpected(upper_case);
  }
  void expect_symbol(const char* symbol) {
    if (!take_symbol(symbol)) unexpected(std::string("'") + symbol + "'");
  }

  struct Nesting {
    explicit Nesting(Parser& parser) : depth(parser.depth_) {
      if (++depth > most_parentheses) parser.fail("the expression is nested too deeply");
    }
    ~Nesting() { --depth; }
    Nesting(const Nesting&) = delete;
    Nesting& operator=(const Nesting&) = delete;
    int& depth;
  };

  // --- grammar ---
  Pointer expression() {
    const Nesting nesting(*this);
    return chain("or", Op::either,
                 [this] { return chain("and", Op::both, [this] { return negation(); }); });
  }

  template <class Term>
  Pointer chain(const char* word, Op op, Term term) {
    Pointer first = term();
    if (!is_word(word)) return first;
    const std::size_t at = here().at;
    std::vector<Pointer> all{std::move(first)};
    while (take_word(word)) all.push_back(term());
    return logic(source_, at, op, std::move(all));
  }

  Pointer negation() {
    const std::size_t at = here().at;
    if (!take_word("not")) return test();
    const Nesting nesting(*this);
    return logic(source_, at, Op::negation, {negation()});
  }

  Pointer test() {
    Pointer left = sum();
    const std::size_t before = next_;
    Pointer result = comparison_after(std::move(left));
    const bool again = is_word("is") || is_word("in") || is_word("between") || is_word("not");
    if (next_ != before && (again || compares()))
      fail("one comparison at a time: put the first in parentheses, or join two by AND");
    return result;
  }

  [[nodiscard]] bool compares() const {
    for (const auto& [symbol, op] : comparisons) {
      if (is_symbol(symbol)) return true;
    }
    return false;
  }

  Pointer comparison_after(Pointer left) {
    const std::size_t at = here().at;
    for (const auto& [symbol, op] : comparisons) {
      if (!take_symbol(symbol)) continue;
      if (is_word("null"))
        fail("a comparison with NULL is never true: write IS NULL or IS NOT NULL");
      return comparison(source_, at, op, {std::move(left), sum()});
    }
    if (take_word("is")) {
      const bool negative = take_word("not");
      if (!take_word("null"))
        fail("expected NULL or NOT NULL after IS; to test a boolean write it, or NOT and it");
      return negative_of(at, negative, logic(source_, at, Op::is_null, {std::move(left)}));
    }
    const bool negative = is_word("not") && (is_word("in", 1) || is_word("between", 1));
    if (negative) ++next_;
    if (take_word("in")) {
      std::vector<Pointer> inputs = values(std::move(left));
      return negative_of(at, negative, comparison(source_, at, Op::in, std::move(inputs)));
    }
    if (take_word("between")) {
      Pointer least = sum();
      expect_word("and", "AND, as in BETWEEN 1 AND 5");
      return negative_of(
          at, negative,
          comparison(source_, at, Op::between, {std::move(left), std::move(least), sum()}));
    }
    return left;
  }

  Pointer negative_of(std::size_t at, bool negative, Pointer input) {
    return negative ? logic(source_, at, Op::negation, {std::move(input)}) : input;
  }

  // Parses "( list )" and returns `first`, if there is one, and the list.
  std::vector<Pointer> values(Pointer first) {
    std::vector<Pointer> all;
    if (first != nullptr) all.push_back(std::move(first));
    expect_symbol("(");
    do {
      all.push_back(expression());
    } while (take_symbol(","));
    if (!take_symbol(")")) unexpected("',' or ')'");
    return all;
  }

  Pointer sum() {
    Pointer left = product();
    for (;;) {
      const std::size_t at = here().at;
      if (take_symbol("+")) {
        left = arithmetic(source_, at, Op::add, std::move(left), product());
      } else if (take_symbol("-")) {
        left = arithmetic(source_, at, Op::subtract, std::move(left), product());
      } else {
        return left;
      }
    }
  }

  Pointer product() {
    Pointer left = sign();
    for (;;) {
      const std::size_t at = here().at;
      if (take_symbol("*")) {
        left = arithmetic(source_, at, Op::multiply, std::move(left), sign());
      } else if (take_symbol("/")) {
        left = arithmetic(source_, at, Op::divide, std::move(left), sign());
      } else {
        return left;
      }
    }
  }

  Pointer sign() {
    const std::size_t at = here().at;
    if (!take_symbol("-")) return primary();
    if (here().kind == Kind::integer || here().kind == Kind::real) return number(true);
    const Nesting nesting(*this);
    return negated(source_, at, sign());
  }

  Pointer primary() {
    const Token& token = here();
    switch (token.kind) {
      case Kind::integer:
      case Kind::real: return number(false);
      case Kind::text: ++next_; return literal_node(Type::text, token.text);
      case Kind::quoted:
        ++next_;
        return column_node(columns_[find_exactly(source_, token.at, token.text, columns_)]);
      case Kind::word: return word(token);
      default: break;
    }
    if (take_symbol("(")) {
      Pointer inner = expression();
      expect_symbol(")");
      return inner;
    }
    unexpected("a value");
  }

  Pointer word(const Token& token) {
    if (token.word == "true" || token.word == "false") {
      ++next_;
      return literal_node(Type::boolean, token.word == "true");
    }
    if (token.word == "null")
      fail(
          "NULL is allowed as a result of CASE and in TRY_CAST(NULL AS integer); to test for it "
          "write IS NULL");
    if (token.word == "case") return cases();
    if ((token.word == "date" || token.word == "timestamp") && here(1).kind == Kind::text)
      return moment();
    if (is_symbol("(", 1)) return function_call(token);
    if (is_reserved(token.word) && !(is_foreign(token.word) && has_column(token.text)))
      unexpected("a value");
    ++next_;
    return column_node(columns_[find_column(source_, token.at, token.text, columns_)]);
  }

  Pointer function_call(const Token& token) {
    const auto begin = [&] { next_ += 2; };
    if (token.word == "try_cast") {
      begin();
      Pointer input = is_word("null") && is_word("as", 1) ? null() : expression();
      expect_word("as", "AS and a type, as in TRY_CAST(x AS integer)");
      const std::size_t at = here().at;
      const Type type = type_named();
      expect_symbol(")");
      return cast(source_, at, std::move(input), type);
    }
    if (token.word == "extract") {
      begin();
      const Token part = here();
      if (part.kind != Kind::word) unexpected("a part: " + parts());
      ++next_;
      expect_word("from", "FROM, as in EXTRACT(year FROM x)");
      Pointer input = expression();
      expect_symbol(")");
      return extraction(source_, part.at, part.word, std::move(input));
    }
    for (const auto& [name, op] : functions) {
      if (token.word != name) continue;
      ++next_;
      if (is_symbol(")", 1)) fail(std::string(name) + " takes a value");
      return call(source_, token.at, op, values(nullptr));
    }
    if (is_reserved(token.word) && !is_foreign(token.word)) unexpected("a value");
    source_.fail(token.at, advice_on_call(token.text));
  }

  Type type_named() {
    const std::string advice = "expected a type: boolean, integer, real, text, date or timestamp";
    if (here().kind != Kind::word) unexpected(advice.substr(9));
    try {
      const Type type = parse_type(here().word);
      ++next_;
      return type;
    } catch (const InvalidValue&) {
      fail(advice);
    }
  }

  Pointer null() {
    ++next_;
    return null_node(Type::integer);
  }

  Pointer cases() {
    const std::size_t at = here().at;
    ++next_;
    std::vector<Pointer> inputs;
    const Op op = is_word("when") ? Op::searched_case : Op::simple_case;
    if (op == Op::simple_case) inputs.push_back(expression());
    if (!is_word("when")) unexpected("WHEN");
    while (take_word("when")) {
      inputs.push_back(expression());
      expect_word("then", "THEN");
      inputs.push_back(result());
    }
    if (take_word("else")) inputs.push_back(result());
    if (!take_word("end")) unexpected("WHEN, ELSE or END");
    return choice(source_, at, op, std::move(inputs));
  }

  Pointer result() {
    const bool alone =
        is_word("null") && (is_word("when", 1) || is_word("else", 1) || is_word("end", 1));
    return alone ? null() : expression();
  }

  [[nodiscard]] bool has_column(const std::string& name) const {
    return std::any_of(columns_.begin(), columns_.end(),
                       [&](const Column& column) { return column.name == name; });
  }

  // --- constants ---
  Pointer number(bool negative) {
    const Token& token = here();
    const std::string text = (negative ? "-" : "") + token.text;
    ++next_;
    if (token.kind == Kind::integer) {
      std::int64_t value = 0;
      if (std::from_chars(text.data(), text.data() + text.size(), value).ec != std::errc{}) {
        source_.fail(token.at,
                     "an integer lies between -9223372036854775808 and 9223372036854775807; a real "
                     "has a point, as in 1.0");
      }
      return literal_node(Type::integer, value);
    }
    const std::string padded = text.front() == '-' ? "-0" + text.substr(1) : "0" + text;  // .5
    double value = 0;
    const auto read = std::from_chars(padded.data(), padded.data() + padded.size(), value);
    const double size = std::abs(value);
    if (read.ec != std::errc{} || size >= most_real || (size > 0 && size < least_real)) {
      source_.fail(token.at, "a real number is 0, or from 1e-150 to below 1e150 in magnitude");
    }
    return literal_node(Type::real, size == 0 ? 0.0 : value);
  }

  Pointer moment() {
    const bool is_date = here().word == "date";
    const Token& text = here(1);
    const std::string canonical =
        is_date ? canonical_date(text.text) : canonical_timestamp(text.text);
    if (canonical.empty()) {
      source_.fail(text.at,
                   is_date ? "not a date: write DATE '2026-01-31', with a year from 0001 to 9999"
                           : "not a timestamp: write TIMESTAMP '2026-01-31 23:59:59', with a year "
                             "from 0001 to 9999");
    }
    next_ += 2;
    return literal_node(is_date ? Type::date : Type::timestamp, canonical);
  }

  const Source& source_;
  const std::vector<Column>& columns_;
  std::vector<Token> tokens_;
  std::size_t next_ = 0;
  int depth_ = 0;
};

}  // namespace

Pointer parse(const Source& source, const std::vector<Column>& columns) {
  Pointer all = Parser(source, columns).parse();
  if (print(*all).size() > most_bytes)
    source.fail(0, "the expression has more than " + std::to_string(most_bytes) +
                       " bytes in its canonical form");
  return all;
}

}  // namespace sotto::expression
