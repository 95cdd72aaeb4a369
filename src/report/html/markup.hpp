// A builder of HTML and SVG in which text cannot become markup: the type of a value decides whether
// it is escaped.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sotto::report_detail {

/// The name of an element or of an attribute. Only a literal converts to it, so no name can come
/// from data.
class MarkupName {
 public:
  consteval MarkupName(const char* literal) : text_(literal) {}
  [[nodiscard]] std::string_view text() const { return text_; }

 private:
  std::string_view text_;
};

struct Attribute;
using Attributes = std::vector<Attribute>;

/// A fragment of HTML or SVG: elements and escaped text. Text converts to Markup by being escaped,
/// so a string that holds "<b>" is displayed as "<b>" and cannot open an element. Elements come
/// from tag() and empty_tag(); trusted_markup() is the only function that takes characters as they
/// are.
class Markup {
 public:
  Markup() = default;
  Markup(std::string_view text);
  Markup(const std::string& text) : Markup(std::string_view(text)) {}
  Markup(const char* text) : Markup(std::string_view(text)) {}

  Markup& operator+=(const Markup& next);
  friend Markup operator+(Markup first, const Markup& next) { return std::move(first += next); }

  [[nodiscard]] bool empty() const { return characters_.empty(); }
  /// The characters of the fragment, to be written to a file or sent to a browser.
  [[nodiscard]] const std::string& str() const { return characters_; }

 private:
  friend Markup tag(MarkupName name, const Attributes& attributes, const Markup& content);
  friend Markup empty_tag(MarkupName name, const Attributes& attributes);
  friend Markup trusted_markup(std::string_view characters);

  std::string characters_;
};

/// An attribute of an element. Its value is text, which is escaped, or trusted_markup(), and never
/// an element. An attribute whose value is nullopt is left out.
struct Attribute {
  MarkupName name;
  std::optional<Markup> value;
};

/// Returns `<name attributes>content</name>`, with the attributes in the order given.
Markup tag(MarkupName name, const Attributes& attributes, const Markup& content);
Markup tag(MarkupName name, const Markup& content);

/// Returns `<name attributes/>`, an element that cannot have content.
Markup empty_tag(MarkupName name, const Attributes& attributes = {});

/// Returns the characters unescaped. Only for markup that sotto itself wrote and that holds no
/// data, such as a style sheet.
Markup trusted_markup(std::string_view characters);

}  // namespace sotto::report_detail
