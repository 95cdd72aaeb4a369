// A column of a table, as its engine stores it.
#pragma once

#include <string>

namespace sotto::data_detail {

/// A stored column with the engine's name of its type.
struct StoredColumn {
  std::string name;
  std::string type;
};

}  // namespace sotto::data_detail
