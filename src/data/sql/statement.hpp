// The SQL of an aggregate.
#pragma once

#include <string>
#include <vector>

#include "data/sql/dialect.hpp"
#include "sotto/data/bounded.hpp"

namespace sotto::data_detail {

class Statement {
 public:
  Statement(Dialect dialect, std::string table, const std::vector<Column>& columns, const Aggregate& aggregate, const BoundingKey& key);

  /// In which order a unit's groups are chosen and its rows brought together: the numbers are the same.
  enum class Form {
    groups_first,  ///< rows of groups that are not chosen are left out early
    pairs_first,   ///< units and groups are paired before the choice: less work where few pairs are left out
  };
  /// Some of the units, by a hash of their names; without units, some of the groups. What is found of all parts adds up to what is found of all.
  struct Part {
    std::int64_t index = 0;
    std::int64_t count = 1;
  };
  /// Key values as text (or, with a unit, the group's number), the bin if there are bins, the count, the sum, the sum of squares as text.
  [[nodiscard]] std::string gathered(bool whole_numbers, Form form, Part part) const;
  /// Both forms are known.
  [[nodiscard]] bool has_forms() const;
  /// Parts are known.
  [[nodiscard]] bool has_parts() const;
  /// Of one unit in `sampled`: how many they are, in how many groups they are, together, and with how many rows.
  static constexpr std::int64_t sampled = 509;
  [[nodiscard]] std::string sample() const;
  /// About how many bytes DuckDB needs for these, as measured.
  [[nodiscard]] double bytes_for(Form form, double units, double pairs, double rows) const;
  /// The form from what sample() gave.
  [[nodiscard]] Form form_for(std::int64_t units, std::int64_t pairs) const;
  /// Key values as text, and the number of units in each group.
  [[nodiscard]] std::string present(Part part) const;

 private:
  [[nodiscard]] std::string base(bool whole_numbers, Part part) const;
  [[nodiscard]] std::string in_part(Part part) const;
  [[nodiscard]] bool adds_doubles(bool whole_numbers) const;
  [[nodiscard]] std::string code(bool whole_numbers) const;
  [[nodiscard]] std::string number() const;
  [[nodiscard]] std::string field(const Field& field) const;
  [[nodiscard]] std::string unit_number() const;
  [[nodiscard]] std::string pick() const;
  [[nodiscard]] bool is_small() const;
  [[nodiscard]] std::int64_t largest_code() const;
  [[nodiscard]] double largest_number() const;
  [[nodiscard]] std::string place(bool small) const;
  [[nodiscard]] std::string reach(const std::string& of) const;
  [[nodiscard]] bool chooses() const;
  [[nodiscard]] std::string kept() const;
  [[nodiscard]] std::string named_keys() const;
  [[nodiscard]] std::string of_rows(bool whole_numbers, Part part) const;
  [[nodiscard]] std::string of_units(bool whole_numbers, Form form, Part part) const;
  [[nodiscard]] std::string in_one_look(const std::string& numbered) const;
  [[nodiscard]] std::string order() const;
  [[nodiscard]] bool by_lists() const;
  [[nodiscard]] std::string final_sums(const std::string& count, const std::string& sum, const std::string& square) const;
  [[nodiscard]] std::uint64_t draw(std::uint64_t stream, std::uint64_t index) const;

  Dialect dialect_;
  const SqlDialect& sql_;
  std::string table_;
  const std::vector<Column>& columns_;
  const Aggregate& aggregate_;
  const BoundingKey& key_;
  std::string stored_ = "=";  // what a column as it is stored goes by, beside the cleaned ones
};

}  // namespace sotto::data_detail
