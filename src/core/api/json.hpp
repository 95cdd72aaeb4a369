// A JSON value (RFC 8259): read, looked into, built and written. Members keep their order; of two members with one name the last counts.
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

/// Text that is not JSON, or a value that is not what was asked for.
class JsonError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A member of an object. (A template, so that it may hold a value whose type is not complete yet.)
template <class Value>
struct JsonMember {
  std::string name;
  Value value;
  friend bool operator==(const JsonMember&, const JsonMember&) = default;
};

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

  /// Reads a whole text; JsonError if it is not JSON in UTF-8, nested more than 1,000 deep, or holds a number beyond doubles.
  static Json parse(std::string_view text);
  /// The same; nothing instead of an error.
  static std::optional<Json> read(std::string_view text);
  /// Writes on one line; a number that is not finite is null. JsonError for text that is not UTF-8.
  std::string dump() const;

  bool is_null() const { return std::holds_alternative<std::nullptr_t>(value_); }
  bool is_boolean() const { return std::holds_alternative<bool>(value_); }
  /// A number that is written without a fraction or exponent and fits 64 bits with a sign.
  bool is_integer() const { return std::holds_alternative<std::int64_t>(value_); }
  bool is_number() const { return is_integer() || std::holds_alternative<double>(value_); }
  bool is_string() const { return std::holds_alternative<std::string>(value_); }
  bool is_array() const { return std::holds_alternative<Array>(value_); }
  bool is_object() const { return std::holds_alternative<Object>(value_); }

  /// The value as T: bool, a signed integer, double, std::string, or a vector of these. JsonError if it is another.
  template <class T>
  T get() const;
  template <class T>
    requires(std::same_as<T, std::string> || std::same_as<T, double> || std::same_as<T, std::int64_t> || std::same_as<T, bool>)
  operator T() const {
    return get<T>();
  }
  const std::string& text() const;

  /// How many items or members; 0 for others.
  std::size_t size() const;
  bool empty() const { return size() == 0; }
  /// The items of an array, and none of others.
  Array::const_iterator begin() const;
  Array::const_iterator end() const;
  /// JsonError for what is no object.
  const Object& members() const;
  /// A member's value, or nullptr.
  const Json* find(std::string_view name) const;
  bool contains(std::string_view name) const { return find(name) != nullptr; }
  /// JsonError where there is no such member or item.
  const Json& at(std::string_view name) const;
  const Json& at(std::size_t index) const;
  const Json& operator[](const char* name) const { return at(name); }
  const Json& operator[](std::string_view name) const { return at(name); }
  const Json& operator[](std::integral auto index) const { return at(static_cast<std::size_t>(index)); }
  /// A member's text, or `otherwise` where there is no such member.
  std::string value(std::string_view name, const std::string& otherwise) const;

  /// The member of that name, made as null if it is new; a null becomes an object first.
  Json& operator[](std::string_view name);
  Json& operator[](const char* name) { return (*this)[std::string_view(name)]; }
  Json& operator[](std::integral auto index) { return const_cast<Json&>(at(static_cast<std::size_t>(index))); }
  /// Appends to an array; a null becomes one first.
  void push_back(Json item);

  /// Numbers are equal by value, objects with equal members in the same order.
  friend bool operator==(const Json& a, const Json& b) { return a.equals(b); }
  friend bool operator==(const Json& a, const char* b) { return a.equals(Json(b)); }
  template <class T>
    requires std::is_arithmetic_v<T>
  friend bool operator==(const Json& a, T b) {
    return a.equals(Json(b));
  }

 private:
  template <class T>
  using Scalar = std::conditional_t<std::same_as<T, bool>, bool, std::conditional_t<std::integral<T>, std::int64_t, double>>;
  template <class T>
  static Json of(T value) {
    Json json;
    json.value_ = std::move(value);
    return json;
  }
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
    if (static_cast<std::int64_t>(narrow) != wide || (narrow < 0) != (wide < 0)) throw JsonError("a whole number is out of range");
    return narrow;
  } else if constexpr (std::floating_point<T>) {
    return static_cast<T>(number());
  } else if constexpr (std::same_as<T, std::string>) {
    return text();
  } else {
    if (!is_array()) throw JsonError("it is no array");
    T items;
    for (const Json& item : *this) items.push_back(item.get<typename T::value_type>());
    return items;
  }
}

}  // namespace sotto
