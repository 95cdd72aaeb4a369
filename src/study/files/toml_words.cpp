// Explanations for mistakes in TOML: each says what to write instead.
#include "study/files/toml_words.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <regex>
#include <sstream>
#include <string_view>

#include "core/api/join.hpp"
#include "core/api/suggestion.hpp"
#include "core/api/text.hpp"
#include "sotto/core/decimal.hpp"
#include "sotto/core/errors.hpp"

namespace sotto::study_detail {
namespace {

constexpr std::size_t longest_line =
    200;  // longer lines are neither matched with patterns nor quoted in errors

constexpr const char* form =
    "a line is `name = value`, with texts in quotes, or the name of a section in brackets";

std::string trimmed(const std::string& text) {
  const auto first = text.find_first_not_of(" \t\r");
  return first == std::string::npos
             ? ""
             : text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

std::string line_at(const std::string& text, std::size_t number) {
  std::istringstream lines(text);
  std::string line;
  for (std::size_t i = 0; i < number && std::getline(lines, line); ++i) {
  }
  return trimmed(line);
}

bool looks_like_a_table(const std::string& text) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    line = trimmed(line);
    if (line.empty() || line.front() == '#') continue;
    if (line.front() == '{') return true;  // JSON, an object a line
    return line.find('=') == std::string::npos && line.front() != '[' &&
           line.find_first_of(",;\t|") != std::string::npos;
  }
  return false;
}

bool is_binary(const std::string& text) {
  return text.substr(0, 4096).find('\0') != std::string::npos;
}

// A mistake that the form of a line shows: a pattern, and an explanation with its groups $1, $2, …
struct Form {
  const char* pattern;
  const char* words;
};
constexpr std::array forms{
    Form{R"(^([^=]*?)\s*=\s*([+-]?\d+),(\d+)\s*(#.*)?$)",
         "a number has a decimal point and not a comma: write $1 = $2.$3"},
    Form{R"(^([^=]*?)\s*=\s*([+-]?)\.(\d+)\s*(#.*)?$)",
         "a number begins with a digit: write $1 = $020.$3"},
    Form{R"(^([^=]*?)\s*=\s*([+-]?\d+)\.\s*(#.*)?$)",
         "a number ends with a digit: write $1 = $2.0"},
    Form{R"(^([^=]*?)\s*={2,}\s*(.*)$)", "write one `=`: $1 = $2"},
    Form{R"(^([^=]*?)\s*:=?\s*(\S.*)$)", "write `=` between a name and its value: $1 = $2"},
    Form{R"(^(.*)(“|”|„|‘|’)(.*)$)",
         "write straight quotes, \" or ', and not the curved ones of a word processor"},
    Form{R"(^([^=]*?)\s*=\s*(True|TRUE|yes|Yes|on)\s*$)", "write $1 = true"},
    Form{R"(^([^=]*?)\s*=\s*(False|FALSE|no|No|off)\s*$)", "write $1 = false"},
    Form{R"(^([^=]*?)\s*=\s*(None|null|NULL|nil)\s*$)",
         "leave the line out: what is not written has no value"},
    Form{R"(^([^=\s]+)\s*=\s*([A-Za-z_][\w .-]*?)\s*(#.*)?$)",
         "a text stands in quotes: write $1 = \"$2\""},
    Form{R"(^([^=\s]+)\s*=\s*(#.*)?$)", "there is no value: write $1 = …, or leave the line out"},
    Form{R"(^([^=]*?)\s*=\s*("[^"]*|'[^']*)$)", "a text ends with the quote that it began with"},
    Form{R"(^([^=]*?)\s*=\s*(\[[^\]]*)$)", "a list ends with a closing bracket: write $1 = $2]"},
    Form{R"(^(\[\[?)([^\[\]]+)$)",
         "the name of a section stands in closed brackets: [budget] or [[query]]"},
    Form{R"(^([^=\[\]]+)$)", "a line needs `=` between a name and its value: confidence = 0.95"},
};

// Returns the likely intent of a duplicate section.
std::string words_for_second(const std::string& line) {
  const std::size_t first = line.find_first_not_of("[ ");
  const std::size_t last = line.find_first_of("] ", first == std::string::npos ? 0 : first);
  const bool is_section =
      line.starts_with("[") && first != std::string::npos && last != std::string::npos;
  const std::string name =
      is_section ? line.substr(first, last - first) : trimmed(line.substr(0, line.find('=')));
  if (name == "query" || name == "train")
    return "[" + name + "] stands here for the second time: write every one as [[" + name + "]]";
  return "`" + name +
         "` stands here for the second time: leave one of them, with all that belongs to it";
}

// Returns the parser's error without the names of its functions.
std::string plain(const std::string& parsers) {
  static const std::regex inside("^Error while parsing [^:]*: ");
  return std::regex_replace(escaped_for_terminal(parsers), inside, "");
}

struct Hint {
  std::string_view word, words;
};
constexpr std::string_view largest =
    "every group has an answer, and taking the largest of them costs nothing: leave it out, and "
    "sort the answers";
constexpr std::string_view of_study =
    "it is the whole study's, below [budget]; what a query gets of it is its `share`, such as "
    "share = 2";
constexpr std::array hints{
    Hint{"top", largest},
    Hint{"limit", largest},
    Hint{"order", largest},
    Hint{"sort", largest},
    Hint{"order_by", largest},
    Hint{"having",
         "a condition on rows is `where`; of groups, keys = \"private\" keeps those with enough "
         "units"},
    Hint{"margins", "ask each margin by a query of its own"},
    Hint{"epsilon", of_study},
    Hint{"eps", of_study},
    Hint{"delta", of_study},
    Hint{"rho", of_study},
    Hint{"budget", of_study},
    Hint{"seed",
         "noise has no seed: it would not protect those who know it. The same study gives the same "
         "answer again, free of charge"},
    Hint{"sensitivity", "it follows from `bounds` of the columns, `rows` and `groups`"},
    Hint{"sigma", "noise follows from `error`, or from the budget and `share`"},
    Hint{"mechanism", "write noise = \"laplace\" or noise = \"gaussian\""},
};
const std::vector<Synonym> keys{
    {"queries", "query"},     {"eps", "epsilon"},           {"group_by", "by"},
    {"groupby", "by"},        {"filter", "where"},          {"column", "of"},
    {"columns", "of"},        {"statistic", "ask"},         {"type", "ask"},
    {"bins", "step"},         {"dataset", "data"},          {"select", "ask"},
    {"function", "ask"},      {"bound", "bounds"},          {"range", "bounds"},
    {"categories", "values"}, {"levels", "values"},         {"title", "name"},
    {"label", "name"},        {"percentiles", "quantiles"}, {"max_rows", "rows"},
    {"max_groups", "groups"}, {"nullable", "null"},         {"missing", "null"},
    {"weight", "share"}};
const std::vector<Synonym> questions{{"avg", "mean"},
                                     {"average", "mean"},
                                     {"std", "deviation"},
                                     {"stddev", "deviation"},
                                     {"sd", "deviation"},
                                     {"stdev", "deviation"},
                                     {"standard_deviation", "deviation"},
                                     {"var", "variance"},
                                     {"count_distinct", "distinct"},
                                     {"nunique", "distinct"},
                                     {"unique", "distinct"},
                                     {"number", "count"},
                                     {"n", "count"},
                                     {"size", "count"},
                                     {"len", "count"},
                                     {"frequency", "count"},
                                     {"freq", "count"},
                                     {"table", "count"},
                                     {"total", "sum"},
                                     {"hist", "histogram"},
                                     {"bins", "histogram"},
                                     {"percentile", "quantiles"},
                                     {"percentiles", "quantiles"},
                                     {"quartiles", "quantiles"},
                                     {"iqr", "quantiles"}};
constexpr std::string_view extreme =
    "the smallest and the largest value are those of one person: write ask = \"quantiles\" with "
    "quantiles = [0.01, 0.99]";
constexpr std::string_view parts =
    "write two queries, a sum and a count or another sum, and divide their answers: that costs "
    "nothing more";
constexpr std::array asks{
    Hint{"min", extreme},
    Hint{"max", extreme},
    Hint{"minimum", extreme},
    Hint{"maximum", extreme},
    Hint{"range", extreme},
    Hint{"mode", "write ask = \"count\" with by = [\"…\"], and take the largest answer"},
    Hint{"top", "write ask = \"count\" with by = [\"…\"], and take the largest answers"},
    Hint{"ratio", parts},
    Hint{"share",
         "write ask = \"mean\" of a derived column: derive = \"CASE WHEN … THEN 1 ELSE 0 END\", "
         "with bounds = [0, 1]"},
    Hint{"proportion",
         "write ask = \"mean\" of a derived column: derive = \"CASE WHEN … THEN 1 ELSE 0 END\", "
         "with bounds = [0, 1]"},
    Hint{"correlation", "write a [[train]] with model = \"linear\" of one column on the other"},
    Hint{"regression", "write a [[train]] with model = \"linear\" or \"logistic\""},
};

template <class Hints>
std::string_view hint_on(const Hints& hints_on, const std::string& word) {
  const auto it = std::find_if(hints_on.begin(), hints_on.end(),
                               [&](const Hint& hint) { return same_folded(hint.word, word); });
  return it == hints_on.end() ? std::string_view() : it->words;
}

bool is_known(const std::string& name, const std::vector<std::string>& known) {
  return std::find(known.begin(), known.end(), name) != known.end();
}

// Returns the synonyms of words that are known here: `data` is not known below [budget].
std::vector<Synonym> known_here(const std::vector<Synonym>& synonyms,
                                const std::vector<std::string>& known) {
  std::vector<Synonym> result;
  std::copy_if(synonyms.begin(), synonyms.end(), std::back_inserter(result),
               [&](const Synonym& s) { return is_known(std::string(s.meant), known); });
  return result;
}

}  // namespace

std::string words_for_toml(const std::string& text, std::size_t line, const std::string& parsers) {
  if (is_binary(text)) return "this file is binary: studies and data files are text, in TOML";
  if (parsers.find("cannot redefine") != std::string::npos)
    return words_for_second(line_at(text, line));
  if (looks_like_a_table(text)) {
    return "this looks like a table of data, and not like a study or a data file: these have lines "
           "such as data = \"visits\"";
  }
  std::string at = line_at(text, line);
  if (at.empty() && line > 1)
    at = line_at(text, line - 1);  // an unclosed text or list is reported at the next line
  if (at.size() <= longest_line) {
    std::smatch match;
    static const std::regex percent(R"(^([^=]*?)\s*=\s*([+-]?[\d.,]+\s*%)\s*(#.*)?$)");
    if (std::regex_match(at, match, percent)) {
      return "a share is a number: write " +
             escaped_for_terminal(example_of_number(trimmed(match[1]), match[2]));
    }
    for (const Form& one : forms) {
      if (std::regex_match(at, match, std::regex(one.pattern)))
        return escaped_for_terminal(match.format(one.words));
    }
  }
  const std::string line_text = at.size() <= longest_line
                                    ? "`" + escaped_for_terminal(at) + "` cannot be read: "
                                    : "the line cannot be read: ";
  return line_text + plain(parsers) + "; " + form;
}

std::string words_for_key(const std::string& word, const std::vector<std::string>& known) {
  const std::string there = "there is no `" + word + "` here";
  const std::vector<Synonym> synonyms = known_here(keys, known);
  const std::string_view hint = hint_on(hints, word);
  if (hint.empty() || !closest(word, known, synonyms).empty())
    return there + "; " + suggestion(word, known, synonyms);
  return there + ": " + std::string(hint) + ". There are: " + join(known);
}

std::string words_for_ask(const std::string& word, const std::vector<std::string>& known) {
  const std::string there = "there is no ask = \"" + word + "\"";
  const std::string_view hint = hint_on(asks, word);
  if (hint.empty()) return there + "; " + suggestion(word, known, questions);
  return there + ": " + std::string(hint) + ". `ask` is one of: " + join(known);
}

std::string example_of_number(const std::string& key, const std::string& written) {
  const std::string text = trimmed(written);
  const std::string advice = advice_on_number(text);
  if (!advice.empty()) return key + " = " + advice.substr(advice.rfind(' ') + 1);
  try {
    return key + " = " + shortest(read_number(text));
  } catch (const InvalidValue&) {
    return key + " = " + (key == "delta" ? "1e-6" : key == "confidence" ? "0.95" : "1");
  }
}

}  // namespace sotto::study_detail
