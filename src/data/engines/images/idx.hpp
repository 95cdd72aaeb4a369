// Reads images and labels in the IDX format.
#pragma once

#include <vector>

#include "sotto/data/engine.hpp"
#include "sotto/data/examples.hpp"

namespace sotto::data_detail {

/// Throws InvalidValue or EngineError unless the headers of the files fit the declaration.
void require_fit(const IdxSource& source);

/// Returns all labels, in the order of the images.
std::vector<unsigned char> read_labels(const IdxSource& source);

/// Returns the images whose label is in the list. Their class is the index of their label in it.
/// With an empty list, returns all images, with class 0.
Examples read_images(const IdxSource& source, const std::vector<Value>& labels,
                     const Limits& limits, const Progress& progress);

}  // namespace sotto::data_detail
