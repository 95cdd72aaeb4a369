// JSON values (RFC 8259): parsing, access, construction and writing. Members keep their order. If
// an object repeats a name, the last value counts.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

namespace sotto {

/// The error for text that is not JSON, and for a value of another kind than the caller requires.
class JsonError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A member of an object. It is a template because Json is still incomplete where it is declared.
template <class Value>
struct JsonMember {
  std::string name;
  Value value;
  friend bool operator==(const JsonMember&, const JsonMember&) = default;
};

/// A JSON value: null, a boolean, a number, a string, an array or an object.
class Json {
 public:
  using Member = JsonMember<Json>;
  using Array = std::vector<Json>;
  using Object = std::vector<Member>;

  Json() = default;
  Json(std::nullptr_t) {}
  Json(const char* text) : value_(std::string(text)) {}
  Json(std::string text) : value_(std::move(text)) {}
  Json(std::string_view text) : value_(std::string(text)) {}
  template <class T>
    requires std::is_arithmetic_v<T>
  Json(T value) : value_(static_cast<Scalar<T>>(value)) {}
  template <class T>
  Json(const std::vector<T>& items) : value_(Array(items.begin(), items.end())) {}
  Json(std::initializer_list<Member> members);  // {{"name", value}, …}
  explicit Json(Object members) : value_(std::move(members)) {}
  static Json array() { return of(Array()); }
  static Json object() { return of(Object()); }

  /// Parses a text that holds one value. Throws JsonError if it is not JSON in UTF-8, if it nests
  /// more than 1,000 levels deep, or if a number is beyond the range of doubles.
  static Json parse(std::string_view text);
  /// Parses as parse() does, and returns nothing instead of throwing.
  static std::optional<Json> try_parse(std::string_view text);
  /// Writes the value on one line. Infinities and NaN become null. Throws JsonError if a string is
  /// not UTF-8.
  std::string dump() const;

  bool is_null() const { return std::holds_alternative<std::nullptr_t>(value_); }
  bool is_boolean() const { return std::holds_alternative<bool>(value_); }
  /// Returns whether it is a number without a fraction and an exponent that fits std::int64_t.
  bool is_integer() const { return std::holds_alternative<std::int64_t>(value_); }
  bool is_number() const { return is_integer() || std::holds_alternative<double>(value_); }
  bool is_string() const { return std::holds_alternative<std::string>(value_); }
  bool is_array() const { return std::holds_alternative<Array>(value_); }
  bool is_object() const { return std::holds_alternative<Object>(value_); }

  /// Returns the value as a T: bool, an integer, double, std::string, or a vector of these. Throws
  /// JsonError if it is of another kind, or an integer out of T's range.
  template <class T>
  T get() const;
  template <class T>
    requires(std::same_as<T, std::string> || std::same_as<T, double> ||
             std::same_as<T, std::int64_t> || std::same_as<T, bool>)
  operator T() const {
    return get<T>();
  }
  /// Returns the string. Throws JsonError if the value is not one.
  const std::string& text() const;

  /// Returns the number of items or members; 0 for a value that is neither an array nor an object.
  std::size_t size() const;
  bool empty() const { return size() == 0; }
  // The range of an array's items; empty for other values.
  Array::const_iterator begin() const;
  Array::const_iterator end() const;
  /// Returns the members. Throws JsonError if the value is not an object.
  const Object& members() const;
  /// Returns the value of a member, or nullptr.
  const Json* find(std::string_view name) const;
  bool contains(std::string_view name) const { return find(name) != nullptr; }
  // Each returns the value of a member or an item. Throws JsonError if it is absent.
  const Json& at(std::string_view name) const;
  const Json& at(std::size_t index) const;
  const Json& operator[](const char* name) const { return at(name); }
  const Json& operator[](std::string_view name) const { return at(name); }
  const Json& operator[](std::integral auto index) const {
    return at(static_cast<std::size_t>(index));
  }
  /// Returns the string of a member, or `otherwise` if the member is absent.
  std::string value(std::string_view name, const std::string& otherwise) const;

  /// Returns the value of a member, and adds the member with the value null if it is absent. A null
  /// becomes an empty object first.
  Json& operator[](std::string_view name);
  Json& operator[](const char* name) { return (*this)[std::string_view(name)]; }
  Json& operator[](std::integral auto index) {
    return const_cast<Json&>(at(static_cast<std::size_t>(index)));
  }
  /// Appends an item. A null becomes an empty array first.
  void push_back(Json item);

  /// Numbers are equal if their values are, objects if their members are equal and in equal order.
  friend bool operator==(const Json& a, const Json& b) { return a.equals(b); }
  friend bool operator==(const Json& a, const char* b) { return a.equals(Json(b)); }
  template <class T>
    requires std::is_arithmetic_v<T>
  friend bool operator==(const Json& a, T b) {
    return a.equals(Json(b));
  }

 private:
  template <class T>
  using Scalar = std::conditional_t<std::same_as<T, bool>, bool,
                                    std::conditional_t<std::integral<T>, std::int64_t, double>>;
  template <class T>
  static Json of(T value) {
    Json json;
    json.value_ = std::move(value);
    return json;
  }
  [[noreturn]] void fail_kind(const char* expected) const;
  bool equals(const Json& other) const;
  void write(std::string& out) const;
  bool boolean() const;
  std::int64_t integer() const;
  double number() const;

  std::variant<std::nullptr_t, bool, std::int64_t, double, std::string, Array, Object> value_;
};

inline Json::Json(std::initializer_list<Member> members) : value_(Object(members)) {}

template <class T>
T Json::get() const {
  if constexpr (std::same_as<T, bool>) {
    return boolean();
  } else if constexpr (std::integral<T>) {
    const std::int64_t wide = integer();
    const T narrow = static_cast<T>(wide);
    if (static_cast<std::int64_t>(narrow) != wide || (narrow < 0) != (wide < 0))
      throw JsonError("a whole number is out of range: " + std::to_string(wide));
    return narrow;
  } else if constexpr (std::floating_point<T>) {
    return static_cast<T>(number());
  } else if constexpr (std::same_as<T, std::string>) {
    return text();
  } else {
    if (!is_array()) fail_kind("an array");
    T items;
    for (const Json& item : *this) items.push_back(item.get<typename T::value_type>());
    return items;
  }
}

}  // namespace sotto
