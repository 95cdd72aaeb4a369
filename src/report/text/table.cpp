// Bounds are rounded outward to seven digits, so that the printed number is a bound, too.
#include "report/api/table.hpp"

#include <algorithm>
#include <cmath>

#include "core/api/text.hpp"
#include "report/api/csv.hpp"
#include "sotto/core/decimal.hpp"

namespace sotto::report_detail {

std::size_t display_width(const std::string& text) {
  // Every character has exactly one byte that is not a continuation byte of UTF-8.
  const auto begins_character = [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  };
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), begins_character));
}

std::string rounded_up(double x) { return rounded(x, 7, Side::upper); }
std::string rounded_down(double x) {
  return std::isinf(x) && x < 0 ? "not known" : rounded(x, 7, Side::lower);
}
std::string remaining_amount(double left, double limit) {
  return left <= 0x1p-48 * limit ? "0" : rounded_down(left);
}

std::string end_of_bracket(double x, Side side) {
  if (!std::isfinite(x)) return side == Side::upper ? rounded_up(x) : rounded_down(x);
  const std::string inward = rounded(x, 7, side == Side::upper ? Side::lower : Side::upper);
  const double decimal = read_number(inward);
  const bool itself = decimal == x;
  if (!itself && std::abs(decimal - x) <= 0x1p-48 * std::abs(x)) return inward + " (to 15 digits)";
  return side == Side::upper ? rounded_up(x) : rounded_down(x);
}

std::string promise_text(double x) {
  const std::string short_form = rounded(x, 7, Side::lower);
  if (!std::isfinite(x) || read_number(short_form) < x * (1 - 0x1p-48)) return rounded_up(x);
  return short_form + (read_number(short_form) < x ? " (to 15 digits)" : "");
}

std::string csv_number(double x) { return std::isinf(x) && x < 0 ? "" : shortest(x); }

std::string csv_row(const std::vector<std::string>& cells) {
  std::string out;
  for (std::size_t i = 0; i < cells.size(); ++i) out += (i == 0 ? "" : ",") + csv_field(cells[i]);
  return out + "\n";
}

std::string padded(const std::string& text, std::size_t width) {
  const std::size_t own = display_width(text);
  return text + std::string(width > own ? width - own : 0, ' ');
}

std::string field(const std::string& label, const std::string& value) {
  return padded(label, 12) + escaped_for_terminal(value) + "\n";
}

std::string notes_text(const std::vector<std::string>& notes) {
  std::string out;
  for (const std::string& note : notes) out += field("note", note);
  return out;
}

std::string relation_text(Relation relation) {
  if (relation == Relation::as_stated)
    return "as stated (whichever relation the sensitivities were stated in)";
  return std::string(name(relation));
}

std::string notes_text(const Answer& answer) { return notes_text(answer.notes); }
std::string relation_text(const Answer& answer) { return relation_text(answer.relation); }

}  // namespace sotto::report_detail
