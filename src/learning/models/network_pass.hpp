// Forward and backward passes of one tile of rows: the parts of each row's gradient, and their
// norms by layer.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "learning/kernels/aligned.hpp"
#include "learning/kernels/network_kernels.hpp"
#include "learning/models/stages.hpp"
#include "sotto/data/examples.hpp"

namespace sotto::learning_detail {

/// The working memory of one thread.
struct Workspace {
  explicit Workspace(const Stages& shape);

  std::vector<Aligned<float>> values;  ///< inputs of each stage, then the outputs of the last
  std::array<Aligned<float>, 2> slopes;
  Aligned<float> scratch;
  std::vector<Aligned<float>> row_gradients;  ///< per learned layer: slopes [output][row] of an
                                              ///< outer product, else gradients [parameter][row]
  std::vector<std::vector<double>>
      squares;  ///< per learned layer and row: upper bound on the squared norm of the gradient
  std::vector<double> outputs, output_slopes;
  std::vector<std::int16_t> nothing;  ///< a row of zeros

  // Buffers of rows whose outer products are not summed yet.
  std::vector<Aligned<double>> coefficients;  ///< [output][book_rows]
  std::vector<Aligned<std::int16_t>>
      codes;  ///< [row][stride]; unused if inputs are the codes of the examples
  std::array<const std::int16_t*, book_rows> rows{};
  std::size_t booked = 0;
  // Integer sums of the other layers that are not added to the total yet.
  std::vector<Aligned<std::int32_t>> sums;  ///< [parameter][lane]
  std::size_t summed = 0;                   ///< number of tiles in `sums`
  std::vector<double> own;                  ///< the gradient of a unit with several rows
  std::vector<Aligned<float>> plain;        ///< only for plain_gradient()
};
/// Returns the distance between the codes of consecutive buffered rows.
std::size_t code_stride(std::size_t inputs);

/// Loads at most stages.rows rows into the tile and fills the rest with zeros.
void load_tile(const Stages& stages, Workspace& space, const Examples& examples,
               std::span<const std::uint32_t> rows);
void forward_tile(const Stages& stages, Workspace& space);
/// Writes the outputs of a row, after forward_tile.
void outputs_of_tile(const Stages& stages, const Workspace& space, std::size_t row,
                     std::span<double> outputs);
/// Runs forward and backward, and fills `row_gradients`; with `more`, gradients are added to those
/// of earlier tiles. Throws InvalidValue for a class that the loss does not have.
void run_tile(const Stages& stages, Workspace& space, const LossFunction& loss,
              const Examples& examples, std::span<const std::uint32_t> rows, bool more = false);
/// Fills `squares` after run_tile.
void measure_tile(const Stages& stages, Workspace& space);
/// Appends the tile's inputs of outer products to the buffers, from row space.booked on.
void book_inputs(const Stages& stages, Workspace& space, const Examples& examples,
                 std::span<const std::uint32_t> rows);

}  // namespace sotto::learning_detail
