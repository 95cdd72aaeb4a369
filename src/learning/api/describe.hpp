// Makes models from their descriptions.
#pragma once

#include <memory>
#include <string>

#include "sotto/learning/model.hpp"

namespace sotto {

/// Returns the model with this description(). Throws InvalidValue for any other text.
std::unique_ptr<Model> model_of(const std::string& description);

/// Returns how many features a row of the described model has. Throws InvalidValue for any other
/// text.
std::size_t width_of_model(const std::string& description);

}  // namespace sotto
