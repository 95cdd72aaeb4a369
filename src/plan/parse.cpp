// The parser of plans, by recursive descent over this grammar:
//   plan     = term { "+" term }
//   term     = ( count | "?" | "(" hole ")" ) "*" term | name "(" arguments ")" | "(" plan ")"
//   argument = [ name "=" ] ( number [ "/" number ] | hole ) | plan
//   hole     = [ number "*" ] "?" [ ( "*" | "/" ) number ]
#include <array>
#include <cctype>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/api/join.hpp"
#include "core/api/suggestion.hpp"
#include "plan/fields.hpp"
#include "sotto/core/decimal.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/plan/text.hpp"

namespace sotto {
namespace {

constexpr int depth_limit = 200;

// Returns the names of all mechanisms and operators.
std::vector<std::string> known_words() {
  std::vector<std::string> words;
  plan_detail::any_kind_of_leaf(
      [&]<class T>(T) {
        words.emplace_back(plan_detail::name_of<T>);
        return false;
      },
      static_cast<const Node*>(nullptr));
  words.insert(words.end(), {"poisson", "without_replacement", "parallel", "group"});
  return words;
}

const std::vector<Synonym> synonyms{{"subsampled", "poisson"},
                                    {"sample", "poisson"},
                                    {"subsample", "poisson"},
                                    {"bernoulli", "poisson"},
                                    {"uniform_sample", "without_replacement"},
                                    {"swor", "without_replacement"},
                                    {"fixed_size", "without_replacement"},
                                    {"normal", "gaussian"},
                                    {"exp", "exponential"},
                                    {"em", "exponential"},
                                    {"exponential_mechanism", "exponential"},
                                    {"krr", "randomized_response"},
                                    {"warner", "randomized_response"},
                                    {"geometric", "discrete_laplace"},
                                    {"rho", "zcdp"},
                                    {"cdp", "zcdp"},
                                    {"renyi", "rdp"},
                                    {"eps", "pure"},
                                    {"epsilon", "pure"},
                                    {"dp", "pure"},
                                    {"mu", "gdp"},
                                    {"epsilon_delta", "approx"}};

// Examples for the mechanisms and operators whose arguments need an explanation.
constexpr std::array<std::pair<std::string_view, std::string_view>, 4> forms{
    {{"randomized_response",
      "randomized_response(0.75), where 0.75 is the probability of the truth"},
     {"poisson", "poisson(0.01, gaussian(1)), where 0.01 is the rate"},
     {"without_replacement", "without_replacement(10, 1000, gaussian(1)), for 10 of 1000"},
     {"group", "group(5, gaussian(1))"}}};

// Returns "did you mean gaussian?", with an example if the arguments need one, or the list of all
// names.
std::string instead_of(std::string_view name) {
  const std::string best = closest(name, known_words(), synonyms);
  if (best.empty()) return "there are: " + join(known_words());
  for (const auto& [word, form] : forms) {
    if (word == best) return "did you mean " + best + "? It is written " + std::string(form);
  }
  return "did you mean " + best + "?";
}

// Returns an example of the operator whose first argument has this name.
std::string example_with(std::string_view field) {
  return field == "rate"   ? "poisson(0.01, gaussian(1))"
         : field == "size" ? "group(5, gaussian(1))"
                           : "without_replacement(10, 1000, gaussian(1))";
}

// A parser of one text. Every error is a ParseError with the column at fault.
class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  // Parses the whole text.
  Plan parse() {
    Plan plan = sum();
    skip_space();
    if (peek() == '*') fail_after_plan();
    if (at_ < text_.size()) fail("expected '+' or the end of the plan");
    return plan;
  }

 private:
  // --- characters ---
  void skip_space() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
  }
  char peek() {
    skip_space();
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool take(char c) {
    if (peek() != c || c == '\0') return false;
    ++at_;
    return true;
  }
  void expect(char c, const char* what) {
    if (!take(c)) fail(std::string("expected ") + what);
  }
  [[noreturn]] void fail(const std::string& message) { fail_at(at_, message); }
  [[noreturn]] void fail_at(std::size_t at, const std::string& message) {
    std::string actual = at < text_.size() ? "'" + std::string(1, text_[at]) + "'" : "the end";
    if (at < text_.size() && std::isprint(static_cast<unsigned char>(text_[at])) == 0)
      actual = "an unreadable character";
    throw ParseError(message + ", found " + actual, at + 1);
  }

  // --- words and numbers ---
  // Reads letters, digits and underscores; empty if none follow.
  std::string_view word() {
    skip_space();
    const std::size_t start = at_;
    while (at_ < text_.size() &&
           (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 || text_[at_] == '_'))
      ++at_;
    return text_.substr(start, at_ - start);
  }
  // Returns whether a number or a hole follows.
  bool number_ahead() {
    const char c = peek();
    if (std::isdigit(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '-' || c == '?')
      return true;
    const std::size_t start = at_;
    const std::string_view w = word();
    at_ = start;
    return w == "inf" || w == "nan";
  }
  // Reads a number or a quotient, or a hole with or without a factor.
  Parameter number_or_hole() {
    skip_space();
    const std::size_t start = at_;
    double factor = 1;
    if (peek() != '?') {
      factor = number();
      if (take('/')) factor = quotient(factor, start);
      const std::size_t end = at_;
      if (!take('*') || peek() != '?') {
        at_ = end;  // the `*` belongs to what follows
        return factor;
      }
    }
    take('?');
    if (take('*')) {
      factor *= number();
    } else if (take('/')) {
      factor /= number();
    }
    if (!(factor > 0 && factor < std::numeric_limits<double>::infinity()))
      throw ParseError("the factor of '?' must be a number in (0, inf)", start + 1);
    return factor * hole;
  }
  // Reads the divisor of a quotient, of whole numbers only: the double is then the real quotient,
  // rounded once.
  double quotient(double dividend, std::size_t start) {
    const double divisor = number();
    constexpr double most = 0x1p53;
    const auto whole = [&](double x) { return x == std::floor(x) && std::abs(x) <= most; };
    if (!whole(dividend) || !whole(divisor) || !(divisor > 0)) {
      throw ParseError("only whole numbers can be divided, as in poisson(256/60000, gaussian(1))",
                       start + 1);
    }
    return dividend / divisor;
  }
  double number() {
    skip_space();
    const std::size_t start = at_;
    while (at_ < text_.size() && number_character(start)) ++at_;
    if (at_ < text_.size() && text_[at_] == '%') {
      const std::string advice = advice_on_number(text_.substr(start, at_ + 1 - start));
      if (!advice.empty()) throw ParseError("a number has no percent sign" + advice, start + 1);
    }
    try {
      return read_number(text_.substr(start, at_ - start));
    } catch (const InvalidValue& e) {
      if (at_ == start) fail("expected a number or '?'");
      throw ParseError(e.what(), start + 1);
    }
  }
  // Returns whether the character at at_ continues the number that began at `start`.
  [[nodiscard]] bool number_character(std::size_t start) const {
    const char c = text_[at_];
    if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '_') return true;
    const bool after_exponent = at_ > start && (text_[at_ - 1] == 'e' || text_[at_ - 1] == 'E');
    return (c == '-' || c == '+') && (after_exponent || (c == '-' && at_ == start));
  }

  // Returns "; if it has a decimal comma…" if the number at `column` continues with a comma and
  // digits, as in 0,01.
  [[nodiscard]] std::string advice_on_comma(std::size_t column) const {
    const auto end_of_digits = [&](std::size_t at) {
      while (at < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at])) != 0) ++at;
      return at;
    };
    const std::size_t comma = end_of_digits(column);
    if (comma >= text_.size() || text_[comma] != ',') return "";
    const std::string advice =
        advice_on_number(text_.substr(column, end_of_digits(comma + 1) - column));
    return advice.empty() ? "" : "; if it has a decimal comma" + advice;
  }

  // Makes a plan of a node. Throws ParseError at `column` if a value is not allowed.
  template <class T>
  Plan make(T node, std::size_t column) {
    try {
      return Plan(std::move(node));
    } catch (const InvalidValue& e) {
      throw ParseError(e.what(), column + 1);
    }
  }
  // Throws ParseError at `column` if the value is not allowed in the field.
  void checked(const Parameter& value, const plan_detail::Field& field, std::size_t column) {
    try {
      plan_detail::check(value, field);
    } catch (const InvalidValue& e) {
      throw ParseError(e.what() + advice_on_comma(column), column + 1);
    }
  }

  // Fails on a number of steps behind its plan, as in gaussian(1) * 100.
  [[noreturn]] void fail_after_plan() {
    const std::size_t star = at_;
    const std::string before(text_.substr(0, star));
    std::string steps(text_.substr(star + 1));
    const auto is_space = [](char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; };
    std::erase_if(steps, is_space);
    const bool is_number = !steps.empty() && steps.size() <= 20 &&
                           steps.find_first_not_of("0123456789") == std::string::npos;
    const std::string plan = before.substr(0, before.find_last_not_of(" \t\n") + 1);
    const std::string sum = plan.find('+') == std::string::npos ? plan : "(" + plan + ")";
    fail_at(star, "the number of steps comes before '*', as in " +
                      (is_number && plan.size() <= 100 ? steps + " * " + sum : "10 * gaussian(1)"));
  }

  // --- grammar ---
  Plan sum() {
    if (++depth_ > depth_limit) fail("the plan is nested too deeply");
    std::vector<Plan> parts{term()};
    while (take('+')) parts.push_back(term());
    --depth_;
    return Sum{std::move(parts)};
  }

  Plan term() {
    if (++depth_ > depth_limit) fail("the plan is nested too deeply");
    Plan plan = term_inside();
    --depth_;
    return plan;
  }

  Plan term_inside() {
    skip_space();
    const std::size_t start = at_;
    if (peek() == '(' && !steps_in_parentheses()) {
      take('(');
      Plan plan = sum();
      expect(')', "')'");
      return plan;
    }
    if (number_ahead() || peek() == '(') {
      const Parameter steps = step_count();
      if (!take('*')) fail("expected '*' and a plan after the number of steps");
      checked(steps, plan_detail::Field{"steps", plan_detail::Range::count}, start);
      return make(Repeat{steps, term()}, start);
    }
    const std::string name(word());
    if (name.empty()) fail("expected a plan, such as gaussian(1) or 100 * laplace(10)");
    return call(name, start);
  }

  // Returns whether a parenthesis opens a number of steps, as in (2*?), and not a plan: it holds a
  // hole and no other parenthesis.
  bool steps_in_parentheses() {
    const std::string_view inside = text_.substr(at_ + 1, text_.find(')', at_) - at_ - 1);
    return inside.find('?') != std::string_view::npos && inside.find('(') == std::string_view::npos;
  }

  // Reads a number of steps: 100, ?, ?/2 or (2*?). A factor needs parentheses, since 2 * ? * A
  // repeats ? * A twice.
  Parameter step_count() {
    if (take('(')) {
      const Parameter steps = number_or_hole();
      expect(')', "')' after the number of steps");
      return steps;
    }
    if (!take('?')) return number();
    if (!take('/')) return hole;
    return hole / number();
  }

  // Reads the arguments of a mechanism or an operator, and makes its plan.
  Plan call(const std::string& name, std::size_t start) {
    std::optional<Plan> plan;
    const auto open = [&] { expect('(', ("'(' after " + name).c_str()); };
    if (plan_detail::with_leaf_named(name, [&](auto node) {
          open();
          read_arguments(node);
          plan = make(node, start);
        })) {
      return *plan;
    }
    if (name == "poisson") {
      open();
      const Parameter rate = argument(plan_detail::Field{"rate", plan_detail::Range::rate});
      return finish(start, [&](Plan inner) {
        return make(Poisson{rate, std::move(inner)}, start);
      });
    }
    if (name == "without_replacement") {
      open();
      const Parameter batch = argument(plan_detail::Field{"batch", plan_detail::Range::count});
      expect(',', "',' and the population");
      const Parameter population =
          argument(plan_detail::Field{"population", plan_detail::Range::count});
      return finish(start, [&](Plan inner) {
        return make(WithoutReplacement{batch, population, std::move(inner)}, start);
      });
    }
    if (name == "group") {
      open();
      const Parameter size = argument(plan_detail::Field{"size", plan_detail::Range::count});
      return finish(start, [&](Plan inner) { return make(Group{size, std::move(inner)}, start); });
    }
    if (name == "parallel") {
      open();
      std::vector<Plan> parts{sum()};
      while (take(',')) parts.push_back(sum());
      expect(')', "',' or ')'");
      return make(Parallel{std::move(parts)}, start);
    }
    throw ParseError("unknown mechanism '" + name + "': " + instead_of(name), start + 1);
  }

  // Reads the last argument of an operator: ", plan )".
  template <class F>
  Plan finish(std::size_t /*start*/, F make_operator) {
    expect(',', "',' and a plan");
    Plan inner = sum();
    expect(')', "')'");
    return make_operator(std::move(inner));
  }

  // Reads one number of an operator, with or without its name.
  Parameter argument(const plan_detail::Field& field) {
    skip_space();
    std::size_t start = at_;
    const std::string_view name = number_ahead() ? std::string_view{} : word();
    if (!name.empty()) {
      if (name != field.name) {
        if (peek() == '(')
          throw ParseError(std::string(field.name) + " comes first and the plan last, as in " +
                               example_with(field.name),
                           start + 1);
        fail_at(start, "expected " + std::string(field.name) + " (a number or '?')");
      }
      expect('=', "'='");
      skip_space();
      start = at_;
    }
    const Parameter value = number_or_hole();
    checked(value, field, start);
    return value;
  }

  struct Argument {
    std::string name;  // empty if its position says which it is
    Parameter value;
    std::size_t column;
    bool used = false;
  };

  // Throws ParseError if a name is not one of the node's, or if a number without a name follows a
  // named one.
  template <class T>
  static void require_names(const std::vector<Argument>& arguments) {
    std::string names;
    T node{};
    plan_detail::each_field(node, [&](Parameter&, const plan_detail::Field& field) {
      names += (names.empty() ? "" : ", ") + std::string(field.name);
    });
    bool named = false;
    for (const Argument& argument : arguments) {
      bool known = argument.name.empty();
      plan_detail::each_field(node, [&](Parameter&, const plan_detail::Field& field) {
        known = known || argument.name == field.name;
      });
      if (!known)
        throw ParseError(
            std::string(plan_detail::name_of<T>) + " takes " + names + ", not " + argument.name,
            argument.column + 1);
      if (named && argument.name.empty()) {
        throw ParseError(written(argument.value) +
                             " has no name and follows a named number: name it, or put it in front",
                         argument.column + 1);
      }
      named = named || !argument.name.empty();
    }
  }

  // Returns a number or a hole as print() writes it.
  static std::string written(const Parameter& value) {
    if (!value.is_hole()) return shortest(value.value());
    return value.factor() == 1 ? "?" : shortest(value.factor()) + "*?";
  }

  // Reads the arguments of a leaf, up to the closing parenthesis.
  std::vector<Argument> argument_list() {
    std::vector<Argument> arguments;
    if (take(')')) return arguments;
    do {
      std::string name;
      if (!number_ahead()) {
        name = word();
        if (name.empty()) fail("expected a number, '?' or name=number");
        expect('=', ("'=' after " + name).c_str());
      }
      skip_space();
      const std::size_t column = at_;
      arguments.push_back({name, number_or_hole(), column});
    } while (take(','));
    expect(')', "',' or ')'");
    return arguments;
  }

  // Reads the arguments of a leaf into its fields, by name or by position.
  template <class T>
  void read_arguments(T& node) {
    std::vector<Argument> arguments = argument_list();
    const std::size_t end = at_ - 1;
    require_names<T>(arguments);
    std::size_t position = 0;
    std::string names;
    plan_detail::each_field(node, [&](Parameter& parameter, const plan_detail::Field& field) {
      names += (names.empty() ? "" : ", ") + std::string(field.name);
      Argument* match = nullptr;
      if (position < arguments.size() && arguments[position].name.empty())
        match = &arguments[position];
      for (Argument& argument : arguments) {
        if (argument.name != field.name) continue;
        if (match != nullptr && match != &argument)
          throw ParseError(std::string(field.name) + " is given twice", argument.column + 1);
        match = &argument;
      }
      ++position;
      if (match != nullptr && !match->used) {
        match->used = true;
        checked(match->value, field, match->column);
        parameter = match->value;
      } else if (!field.has_default) {
        fail_at(end, std::string(plan_detail::name_of<T>) + " needs " + std::string(field.name));
      }
    });
    for (const Argument& argument : arguments) {
      if (!argument.used) {
        throw ParseError(std::string(plan_detail::name_of<T>) + " takes " + names +
                             " and no further number: remove it",
                         argument.column + 1);
      }
    }
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

Plan parse(std::string_view text) { return Parser(text).parse(); }

}  // namespace sotto
