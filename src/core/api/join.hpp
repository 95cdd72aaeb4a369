// Joining: one text from the items of a list, with a separator between them.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace sotto {

/// Returns the texts of `items`, in order, with `separator` between them. `text_of` is a function
/// or a pointer to a member that returns an item's text; by default the items are texts themselves.
/// Empty texts at the front of the list are not followed by a separator.
template <class Items, class TextOf = std::identity>
std::string join(const Items& items, std::string_view separator = ", ", TextOf text_of = {}) {
  std::string all;
  for (const auto& item : items) {
    if (!all.empty()) all += separator;
    all += std::invoke(text_of, item);
  }
  return all;
}

}  // namespace sotto
