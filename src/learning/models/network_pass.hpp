// One tile of rows, forward and backward: what each row's gradient is made of, and its norm by layers.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "learning/kernels/aligned.hpp"
#include "learning/kernels/network_kernels.hpp"
#include "sotto/data/examples.hpp"
#include "learning/models/stages.hpp"

namespace sotto::learning_detail {

/// What one thread works in.
struct Workspace {
  explicit Workspace(const Stages& shape);

  std::vector<Aligned<float>> values;  ///< what enters each stage, and what leaves the last
  std::array<Aligned<float>, 2> slopes;
  Aligned<float> scratch;
  std::vector<Aligned<float>> kept;          ///< of each learned layer: an outer product's slopes [output][row], or gradients [parameter][row]
  std::vector<std::vector<double>> squares;  ///< of each learned layer, for each row: the square of its gradient's norm, from above
  std::vector<double> outputs, output_slopes;
  std::vector<std::int16_t> nothing;  ///< a row of zeros

  // The books of outer products: rows that wait to be multiplied, all layers alike.
  std::vector<Aligned<double>> coefficients;  ///< [output][book_rows]
  std::vector<Aligned<std::int16_t>> codes;   ///< [row][stride], unless they are the examples'
  std::array<const std::int16_t*, book_rows> rows{};
  std::size_t booked = 0;
  // Whole numbers that wait to be added up, of the other layers.
  std::vector<Aligned<std::int32_t>> sums;  ///< [parameter][lane]
  std::size_t summed = 0;                   ///< tiles
  std::vector<double> own;                  ///< the gradient of a unit with several rows
  std::vector<Aligned<float>> plain;        ///< of comparisons
};
/// From one row's codes in a book to the next one's.
std::size_t code_stride(std::size_t inputs);

/// The tile's rows, at most shape.rows of them; the rest of the tile is filled with zeros.
void load_tile(const Stages& stages, Workspace& space, const Examples& examples, std::span<const std::uint32_t> rows);
void forward_tile(const Stages& stages, Workspace& space);
/// A row's outputs after forward_tile.
void outputs_of_tile(const Stages& stages, const Workspace& space, std::size_t row, std::span<double> outputs);
/// Forward and backward: fills `kept`; with `more`, gradients are added to those of earlier tiles. InvalidValue for a class that the loss does not
/// know.
void run_tile(const Stages& stages, Workspace& space, const LossFunction& loss, const Examples& examples, std::span<const std::uint32_t> rows,
              bool more = false);
/// Fills `squares`, after run_tile.
void measure_tile(const Stages& stages, Workspace& space);
/// Puts the tile's inputs of outer products into the books, at space.booked.
void book_inputs(const Stages& stages, Workspace& space, const Examples& examples, std::span<const std::uint32_t> rows);

}  // namespace sotto::learning_detail
