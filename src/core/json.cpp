// A recursive-descent parser over a text in memory, and a writer of the shortest numbers.
#include "core/api/json.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <unordered_map>

namespace sotto {
namespace {

constexpr int depth_limit = 1000;

// Returns the length of the UTF-8 character at the start of `text`, or 0 if it is invalid.
std::size_t character_at(std::string_view text) {
  const auto byte = [&](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
  };
  const auto follows = [&](std::size_t i) { return (byte(i) & 0xC0U) == 0x80U; };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return follows(1) ? 2 : 0;
  if (first >= 0xE0 && first <= 0xEF) {
    // a longer form than the character needs
    const bool overlong = first == 0xE0 && byte(1) < 0xA0;
    const bool surrogate = first == 0xED && byte(1) > 0x9F;
    return follows(1) && follows(2) && !overlong && !surrogate ? 3 : 0;
  }
  if (first >= 0xF0 && first <= 0xF4) {
    const bool overlong = first == 0xF0 && byte(1) < 0x90;
    const bool beyond = first == 0xF4 && byte(1) > 0x8F;
    return follows(1) && follows(2) && follows(3) && !overlong && !beyond ? 4 : 0;
  }
  return 0;
}

void append_utf8(std::string& out, std::uint32_t c) {
  const auto put = [&out](std::uint32_t byte) { out += static_cast<char>(byte); };
  if (c < 0x80) {
    put(c);
  } else if (c < 0x800) {
    put(0xC0 | c >> 6);
    put(0x80 | (c & 0x3F));
  } else if (c < 0x10000) {
    put(0xE0 | c >> 12);
    put(0x80 | (c >> 6 & 0x3F));
    put(0x80 | (c & 0x3F));
  } else {
    put(0xF0 | c >> 18);
    put(0x80 | (c >> 12 & 0x3F));
    put(0x80 | (c >> 6 & 0x3F));
    put(0x80 | (c & 0x3F));
  }
}

// Collects the members of an object. It searches names one by one while they are few, then by a
// hash table.
class Members {
 public:
  Json& named(std::string name) {
    if (const auto place = place_of(name)) return members_[*place].value;
    if (!places_.empty()) places_.emplace(name, members_.size());
    return members_.emplace_back(Json::Member{std::move(name), nullptr}).value;
  }
  Json::Object release() { return std::move(members_); }

 private:
  std::optional<std::size_t> place_of(const std::string& name) {
    constexpr std::size_t few = 16;
    if (members_.size() < few) {
      const auto it = std::find_if(members_.begin(), members_.end(),
                                   [&](const Json::Member& m) { return m.name == name; });
      return it == members_.end() ? std::nullopt
                                  : std::optional(static_cast<std::size_t>(it - members_.begin()));
    }
    if (places_.empty()) {
      for (std::size_t i = 0; i < members_.size(); ++i) places_.emplace(members_[i].name, i);
    }
    const auto it = places_.find(name);
    return it == places_.end() ? std::nullopt : std::optional(it->second);
  }

  Json::Object members_;
  std::unordered_map<std::string, std::size_t> places_;
};

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text), rest_(text) {
    if (rest_.starts_with("\xEF\xBB\xBF")) rest_.remove_prefix(3);  // a byte order mark
  }

  void whole(Json& into) {
    value(into, 0);
    skip_space();
    if (!rest_.empty()) malformed();
  }

 private:
  // Reports the byte of the text that is `offset` bytes ahead.
  [[noreturn]] void malformed(std::size_t offset = 0) const {
    if (offset >= rest_.size()) throw JsonError("the text is not JSON: it ends too early");
    throw JsonError("the text is not JSON: unexpected character at byte " +
                    std::to_string(text_.size() - rest_.size() + offset + 1));
  }

  void skip_space() {
    const auto end = rest_.find_first_not_of(" \t\n\r");
    rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end);
  }
  bool take(char c) {
    skip_space();
    if (rest_.empty() || rest_[0] != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  void word(std::string_view word) {
    if (!rest_.starts_with(word)) malformed();
    rest_.remove_prefix(word.size());
  }

  void value(Json& into, int depth) {
    if (depth > depth_limit)
      throw JsonError("arrays and objects are nested more than " + std::to_string(depth_limit) +
                      " levels deep");
    skip_space();
    if (rest_.empty()) malformed();
    switch (rest_[0]) {
      case '{': return object(into, depth);
      case '[': return array(into, depth);
      case '"': into = string(); return;
      case 't':
        word("true");
        into = true;
        return;
      case 'f':
        word("false");
        into = false;
        return;
      case 'n':
        word("null");
        into = nullptr;
        return;
      default: return number(into);
    }
  }

  void array(Json& into, int depth) {
    rest_.remove_prefix(1);
    into = Json::array();
    if (take(']')) return;
    do {
      Json item;
      value(item, depth + 1);
      into.push_back(std::move(item));
    } while (take(','));
    if (!take(']')) malformed();
  }

  void object(Json& into, int depth) {
    rest_.remove_prefix(1);
    Members members;
    if (!take('}')) {
      do {
        skip_space();
        if (rest_.empty() || rest_[0] != '"') malformed();
        std::string name = string();
        if (!take(':')) malformed();
        value(members.named(std::move(name)), depth + 1);
      } while (take(','));
      if (!take('}')) malformed();
    }
    into = Json(members.release());
  }

  // Reads four hexadecimal digits.
  std::uint32_t hex() {
    std::uint32_t code = 0;
    const char* begin = rest_.data();
    if (rest_.size() < 4 || std::from_chars(begin, begin + 4, code, 16).ptr != begin + 4)
      malformed();
    rest_.remove_prefix(4);
    return code;
  }

  void escape(std::string& out) {
    if (rest_.empty()) malformed();
    const char c = rest_[0];
    rest_.remove_prefix(1);
    constexpr std::string_view letters = "\"\\/bfnrt";
    constexpr std::string_view meant = "\"\\/\b\f\n\r\t";
    if (const auto at = letters.find(c); at != std::string_view::npos) {
      out += meant[at];
      return;
    }
    if (c != 'u') malformed();
    std::uint32_t code = hex();
    if (code >= 0xD800 && code <= 0xDBFF) {  // the first half of a surrogate pair
      word("\\u");
      const std::uint32_t low = hex();
      if (low < 0xDC00 || low > 0xDFFF) malformed();
      code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
    } else if (code >= 0xDC00 && code <= 0xDFFF) {
      malformed();
    }
    append_utf8(out, code);
  }

  std::string string() {
    rest_.remove_prefix(1);
    std::string out;
    for (;;) {
      std::size_t plain = 0;
      while (plain < rest_.size() && rest_[plain] != '"' && rest_[plain] != '\\') {
        if (static_cast<unsigned char>(rest_[plain]) < 0x20) malformed(plain);
        const std::size_t length = character_at(rest_.substr(plain));
        if (length == 0) malformed(plain);
        plain += length;
      }
      out.append(rest_.substr(0, plain));
      rest_.remove_prefix(plain);
      if (rest_.empty()) malformed();
      const bool closed = rest_[0] == '"';
      rest_.remove_prefix(1);
      if (closed) return out;
      escape(out);
    }
  }

  std::size_t digits(std::size_t from) const {
    std::size_t at = from;
    while (at < rest_.size() && rest_[at] >= '0' && rest_[at] <= '9') ++at;
    return at - from;
  }

  void number(Json& into) {
    std::size_t at = rest_[0] == '-' ? 1 : 0;
    const std::size_t before_point = digits(at);
    if (before_point == 0 || (before_point > 1 && rest_[at] == '0')) malformed(at);
    at += before_point;
    bool whole = true;
    if (at < rest_.size() && rest_[at] == '.') {
      const std::size_t fraction = digits(at + 1);
      if (fraction == 0) malformed(at + 1);
      at += 1 + fraction;
      whole = false;
    }
    if (at < rest_.size() && (rest_[at] == 'e' || rest_[at] == 'E')) {
      ++at;
      if (at < rest_.size() && (rest_[at] == '+' || rest_[at] == '-')) ++at;
      const std::size_t exponent = digits(at);
      if (exponent == 0) malformed(at);
      at += exponent;
      whole = false;
    }
    const char* begin = rest_.data();
    const char* end = begin + at;
    if (std::int64_t integer = 0; whole && std::from_chars(begin, end, integer).ec == std::errc()) {
      into = integer;
    } else {
      double real = 0;
      if (std::from_chars(begin, end, real).ec != std::errc())
        real = beyond_doubles(rest_.substr(0, at));
      into = real;
    }
    rest_.remove_prefix(at);
  }

  // Returns the value of a number that std::from_chars finds out of range: zero if it underflows.
  // Throws JsonError if it overflows.
  static double beyond_doubles(std::string_view number) {
    const bool negative = number[0] == '-';
    if (negative) number.remove_prefix(1);
    const auto e = std::min(number.find_first_of("eE"), number.size());
    const auto point = std::min(number.find('.'), e);
    std::int64_t exponent = 0;
    if (e < number.size()) {
      const bool plus = number[e + 1] == '+';
      const auto read = std::from_chars(number.data() + e + (plus ? 2 : 1),
                                        number.data() + number.size(), exponent);
      constexpr std::int64_t huge = std::int64_t{1} << 60;
      if (read.ec != std::errc() || exponent > huge || exponent < -huge)
        exponent = number[e + 1] == '-' ? -huge : huge;
    }
    const auto first = number.find_first_of("123456789");
    const auto places = first < point ? static_cast<std::int64_t>(point - first)
                                      : -static_cast<std::int64_t>(first - point);
    if (places + exponent > 0)
      throw JsonError("a number is beyond the range of doubles, about -1.8e+308 to 1.8e+308");
    return negative ? -0.0 : 0.0;
  }

  std::string_view text_;
  std::string_view rest_;  // the part of the text that is not read yet
};

void write_text(std::string& out, std::string_view text) {
  out += '"';
  while (!text.empty()) {
    const std::size_t length = character_at(text);
    if (length == 0) throw JsonError("a string is not UTF-8");
    const auto c = static_cast<unsigned char>(text[0]);
    constexpr std::string_view special = "\"\\\b\f\n\r\t";
    constexpr std::string_view letters = "\"\\bfnrt";
    if (const auto at = special.find(text[0]); length == 1 && at != std::string_view::npos) {
      out += '\\';
      out += letters[at];
    } else if (c < 0x20) {
      constexpr std::string_view hex = "0123456789abcdef";
      out += "\\u00";
      out += hex[c >> 4];
      out += hex[c & 15];
    } else {
      out.append(text.substr(0, length));
    }
    text.remove_prefix(length);
  }
  out += '"';
}

// Writes the fewest digits that read back as x, with a point or an exponent, so that a reader does
// not take the number for an integer.
void write_number(std::string& out, double x) {
  if (!std::isfinite(x)) {
    out += "null";
    return;
  }
  if (x == 0) {
    out += std::signbit(x) ? "-0.0" : "0.0";
    return;
  }
  char buffer[32];
  const auto end =
      std::to_chars(buffer, buffer + sizeof buffer, x, std::chars_format::scientific).ptr;
  std::string_view written(buffer, static_cast<std::size_t>(end - buffer));
  if (written[0] == '-') {
    out += '-';
    written.remove_prefix(1);
  }
  const auto e = written.find('e');
  std::string digits(1, written[0]);
  if (e > 2) digits += written.substr(2, e - 2);
  int exponent = 0;
  std::from_chars(written.data() + e + (written[e + 1] == '+' ? 2 : 1),
                  written.data() + written.size(), exponent);
  constexpr int most_before_point = 15;
  constexpr int most_zeros_behind_point = 3;
  const int before_point = exponent + 1;
  const auto places = static_cast<int>(digits.size());
  if (before_point > most_before_point || before_point <= -most_zeros_behind_point - 1) {
    out += digits[0];
    if (places > 1) out += "." + digits.substr(1);
    out += written.substr(e);
  } else if (before_point <= 0) {
    out += "0." + std::string(static_cast<std::size_t>(-before_point), '0') + digits;
  } else if (places <= before_point) {
    out += digits + std::string(static_cast<std::size_t>(before_point - places), '0') + ".0";
  } else {
    out += digits.insert(static_cast<std::size_t>(before_point), 1, '.');
  }
}

}  // namespace

Json Json::parse(std::string_view text) {
  Json json;
  Reader(text).whole(json);
  return json;
}

std::optional<Json> Json::try_parse(std::string_view text) {
  try {
    return parse(text);
  } catch (const JsonError&) {
    return std::nullopt;
  }
}

std::string Json::dump() const {
  std::string out;
  write(out);
  return out;
}

void Json::write(std::string& out) const {
  if (is_null()) {
    out += "null";
  } else if (is_boolean()) {
    out += boolean() ? "true" : "false";
  } else if (is_integer()) {
    out += std::to_string(integer());
  } else if (is_number()) {
    write_number(out, number());
  } else if (is_string()) {
    write_text(out, text());
  } else if (is_array()) {
    out += '[';
    bool first = true;
    for (const Json& item : *this) {
      if (!first) out += ',';
      first = false;
      item.write(out);
    }
    out += ']';
  } else {
    out += '{';
    bool first = true;
    for (const Member& member : members()) {
      if (!first) out += ',';
      first = false;
      write_text(out, member.name);
      out += ':';
      member.value.write(out);
    }
    out += '}';
  }
}

bool Json::equals(const Json& other) const {
  if (is_integer() != other.is_integer() && is_number() && other.is_number())
    return number() == other.number();
  return value_ == other.value_;
}

// Says the kind and not the value, which may be long, or a person's.
void Json::fail_kind(const char* expected) const {
  const char* actual = is_null()      ? "null"
                       : is_boolean() ? "a boolean"
                       : is_integer() ? "a whole number"
                       : is_number()  ? "a real number"
                       : is_string()  ? "a string"
                       : is_array()   ? "an array"
                                      : "an object";
  throw JsonError(std::string("expected ") + expected + ", got " + actual);
}

bool Json::boolean() const {
  if (const bool* truth = std::get_if<bool>(&value_)) return *truth;
  fail_kind("true or false");
}

std::int64_t Json::integer() const {
  if (const std::int64_t* number = std::get_if<std::int64_t>(&value_)) return *number;
  fail_kind("a whole number");
}

double Json::number() const {
  if (const double* number = std::get_if<double>(&value_)) return *number;
  if (is_integer()) return static_cast<double>(integer());
  fail_kind("a number");
}

const std::string& Json::text() const {
  if (const std::string* text = std::get_if<std::string>(&value_)) return *text;
  fail_kind("a string");
}

std::size_t Json::size() const {
  if (const Array* items = std::get_if<Array>(&value_)) return items->size();
  if (const Object* members = std::get_if<Object>(&value_)) return members->size();
  return 0;
}

namespace {
const Json::Array no_items;
}

Json::Array::const_iterator Json::begin() const {
  return is_array() ? std::get<Array>(value_).begin() : no_items.begin();
}
Json::Array::const_iterator Json::end() const {
  return is_array() ? std::get<Array>(value_).end() : no_items.end();
}

const Json::Object& Json::members() const {
  if (const Object* members = std::get_if<Object>(&value_)) return *members;
  fail_kind("an object");
}

const Json* Json::find(std::string_view name) const {
  if (!is_object()) return nullptr;
  const Object& all = members();
  const auto it =
      std::find_if(all.begin(), all.end(), [&](const Member& m) { return m.name == name; });
  return it == all.end() ? nullptr : &it->value;
}

const Json& Json::at(std::string_view name) const {
  if (const Json* value = find(name)) return *value;
  throw JsonError("the member \"" + std::string(name) + "\" is missing");
}

const Json& Json::at(std::size_t index) const {
  if (is_array() && index < size()) return std::get<Array>(value_)[index];
  throw JsonError("the array has no item " + std::to_string(index) + ", it has " +
                  std::to_string(size()));
}

std::string Json::value(std::string_view name, const std::string& otherwise) const {
  const Json* value = find(name);
  return value == nullptr ? otherwise : value->text();
}

Json& Json::operator[](std::string_view name) {
  if (is_null()) value_ = Object();
  if (const Json* value = find(name)) return const_cast<Json&>(*value);
  if (!is_object()) fail_kind("an object");
  return std::get<Object>(value_).emplace_back(Member{std::string(name), nullptr}).value;
}

void Json::push_back(Json item) {
  if (is_null()) value_ = Array();
  if (!is_array()) fail_kind("an array");
  std::get<Array>(value_).push_back(std::move(item));
}

}  // namespace sotto
