// Elements are written as in XML, so that the same builder serves HTML and SVG.
#include "report/html/markup.hpp"

#include "report/api/text.hpp"

namespace sotto::report_detail {
namespace {

// Returns `<name a="1" b="2"`, without the end of the tag.
std::string opening(MarkupName name, const Attributes& attributes) {
  std::string result = "<" + std::string(name.text());
  for (const Attribute& attribute : attributes) {
    if (!attribute.value) continue;
    result += ' ' + std::string(attribute.name.text()) + "=\"" + attribute.value->str() + '"';
  }
  return result;
}

}  // namespace

Markup::Markup(std::string_view text) : characters_(escaped(text)) {}

Markup& Markup::operator+=(const Markup& next) {
  characters_ += next.characters_;
  return *this;
}

Markup tag(MarkupName name, const Attributes& attributes, const Markup& content) {
  Markup element;
  element.characters_ =
      opening(name, attributes) + '>' + content.characters_ + "</" + std::string(name.text()) + '>';
  return element;
}

Markup tag(MarkupName name, const Markup& content) { return tag(name, Attributes{}, content); }

Markup empty_tag(MarkupName name, const Attributes& attributes) {
  Markup element;
  element.characters_ = opening(name, attributes) + "/>";
  return element;
}

Markup trusted_markup(std::string_view characters) {
  Markup markup;
  markup.characters_ = characters;
  return markup;
}

}  // namespace sotto::report_detail
