// Images and labels in the IDX format, as a source of data.
#pragma once

#include <vector>

#include "sotto/data/engine.hpp"
#include "sotto/data/examples.hpp"

namespace sotto::data_detail {

/// What the files' heads say fits what is declared. InvalidValue, EngineError.
void require_fit(const IdxSource& source);

/// All labels, in the order of the images.
std::vector<unsigned char> read_labels(const IdxSource& source);

/// The images whose label is in the list, as the class that is its place there; without a list all of them, as class 0.
Examples read_images(const IdxSource& source, const std::vector<Value>& labels, const Limits& limits, const Progress& progress);

}  // namespace sotto::data_detail
