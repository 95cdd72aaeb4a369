// The settings of a question, which are kept in their order.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "sotto/study/table.hpp"

namespace sotto::study_detail {

// Returns the setting of this key if it has this type, else null.
template <class T>
const T* setting_of(const TableQuestion& question, const std::string& key) {
  for (const auto& [name, setting] : question.settings) {
    if (name == key) return std::get_if<T>(&setting);
  }
  return nullptr;
}

// Returns the columns that a question groups by.
inline std::vector<Value> grouped_by(const TableQuestion& question) {
  const auto* columns = setting_of<std::vector<Value>>(question, "by");
  return columns == nullptr ? std::vector<Value>() : *columns;
}

}  // namespace sotto::study_detail
