// Where to split the losses and on which lines to integrate the parts: looked for on a coarse table, which proves nothing.
#pragma once

#include <vector>

#include "sotto/pld/privacy_loss.hpp"
#include "tail_split/parts.hpp"

namespace sotto::pld_detail {

/// log of the parts' transforms at real c, roughly, for cuts at given places and lines at given c.
class Outline {
 public:
  /// How many lines there are for every one that was given.
  static constexpr std::size_t between_lines = 4;
  /// `places` are where the weights of this order fall, in log y, y = q e^ℓ, ascending; `lines` the c, ascending; more are put
  /// between them. `others` are composed with the distributions and not split.
  Outline(const std::vector<Law>& distributions, const std::vector<LossStep>& others, Direction direction, int order, std::vector<double> places,
          std::vector<double> lines);
  [[nodiscard]] const std::vector<double>& places() const { return places_; }
  [[nodiscard]] const std::vector<double>& lines() const { return lines_; }
  /// log Π A^k, A what lies below a place, with the others.
  [[nodiscard]] double below(std::size_t place, std::size_t line) const;
  /// log of Π (A + B)^k - Π A^k, A what lies below the first place and B what lies between, with the others.
  [[nodiscard]] double between(std::size_t first, std::size_t last, std::size_t line) const;

  /// log B of one distribution.
  [[nodiscard]] double part(std::size_t distribution, std::size_t first, std::size_t last, std::size_t line) const;

 private:
  struct Table {
    double count;
    std::vector<double> parts;  // line by line: what lies below the first place, minus 1, then between each place and the next
  };
  void refine();
  [[nodiscard]] const double* at(const Table& table, std::size_t line) const { return table.parts.data() + line * places_.size(); }

  std::vector<double> places_, lines_;
  std::vector<double> beside_;  // line by line: log of the others' transform
  std::vector<Table> tables_;
};

}  // namespace sotto::pld_detail
