// A model from its description.
#pragma once

#include <memory>
#include <string>

#include "sotto/learning/model.hpp"

namespace sotto {

/// The model whose description() this is. InvalidValue for any other text.
std::unique_ptr<Model> model_of(const std::string& description);

/// How many features a row of that model has. InvalidValue for a text that describes no model.
std::size_t width_of_model(const std::string& description);

}  // namespace sotto
