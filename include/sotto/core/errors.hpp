// What can go wrong, as types: a bad value, a plan that does not parse, a theorem that does not apply; and what would help.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>

namespace sotto {

/// What would help against an error, for a program that has names of its own for it, as the command has flags. The message says the same in the
/// library's words. Several can be joined by `|`.
enum class Remedy : std::uint32_t {
  none = 0,
  method = 1U << 0U,           ///< another Method
  relation = 1U << 1U,         ///< another Relation
  work = 1U << 2U,             ///< a finer precision, or more seconds, in the Question
  event_delta = 1U << 3U,      ///< charge the event at a δ
  each = 1U << 4U,             ///< every number as a query of its own
  memory = 1U << 5U,           ///< a larger Limits::memory
  any_duckdb = 1U << 6U,       ///< Limits::any_duckdb
  key_file = 1U << 7U,         ///< another LedgerOptions::key
  public_key = 1U << 8U,       ///< the text of SigningKey::public_key
  create_ledger = 1U << 9U,    ///< make a ledger
  ledger_delta = 1U << 10U,    ///< make a ledger whose budget has a δ
  data_ledger = 1U << 11U,     ///< make a ledger for the data
  import_ledger = 1U << 12U,   ///< export the ledger and import it with new terms
  verify_ledger = 1U << 13U,   ///< Ledger::verify
  show_ledger = 1U << 14U,     ///< look at the ledger's entries
  new_request = 1U << 15U,     ///< ask anew, under another charge
  repeat_request = 1U << 16U,  ///< ask for the request by its id
  describe_data = 1U << 17U,   ///< put a description of the data into the catalogue
  sum_ledger = 1U << 18U,      ///< make a ledger that adds up ε and δ
  start_witness = 1U << 19U,   ///< state that the witness is new
  repair_ledger = 1U << 20U,   ///< drop an unsigned tail
  known_duckdb = 1U << 21U,    ///< install the DuckDB that sotto knows, or give its path as Limits::duckdb
};

constexpr Remedy operator|(Remedy a, Remedy b) { return static_cast<Remedy>(static_cast<std::uint32_t>(a) | static_cast<std::uint32_t>(b)); }
constexpr bool includes(Remedy all, Remedy one) { return (static_cast<std::uint32_t>(all) & static_cast<std::uint32_t>(one)) != 0; }

/// An error that may know what would help.
class Remediable {
 public:
  explicit Remediable(Remedy remedy) : remedy_(remedy) {}
  Remediable(const Remediable&) = default;
  Remediable& operator=(const Remediable&) = default;
  virtual ~Remediable() = default;
  [[nodiscard]] Remedy remedy() const { return remedy_; }

 private:
  Remedy remedy_;
};

/// A value outside the range in which it makes sense. The message names the parameter and the range.
class InvalidValue : public std::invalid_argument, public Remediable {
 public:
  explicit InvalidValue(const std::string& what, Remedy remedy = Remedy::none) : std::invalid_argument(what), Remediable(remedy) {}
};

/// A plan's text that cannot be read. `column` counts characters from 1.
class ParseError : public std::invalid_argument {
 public:
  ParseError(const std::string& what, std::size_t column) : std::invalid_argument(what), column_(column) {}
  [[nodiscard]] std::size_t column() const { return column_; }

 private:
  std::size_t column_;
};

/// No theorem gives the number that was asked for. The message names the condition that fails and the way out.
class OutsideConditions : public std::domain_error, public Remediable {
 public:
  explicit OutsideConditions(const std::string& what, Remedy remedy = Remedy::none) : std::domain_error(what), Remediable(remedy) {}
};

}  // namespace sotto
