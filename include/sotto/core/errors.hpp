// The errors of the library: an invalid value, a plan that does not parse, a theorem whose
// conditions fail. Each may name a remedy.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>

namespace sotto {

/// A step that helps against an error. The message of the error says the step in the library's own
/// terms. A program that has another name for the step, as the command line has its flags, can add
/// that name. Several remedies are combined with `|`.
enum class Remedy : std::uint32_t {
  none = 0,
  method = 1U << 0U,           ///< choose another Method
  relation = 1U << 1U,         ///< choose another Relation
  work = 1U << 2U,             ///< allow a finer precision, or more seconds, in the Question
  event_delta = 1U << 3U,      ///< charge the event at a δ
  each = 1U << 4U,             ///< release every number as a query of its own
  memory = 1U << 5U,           ///< raise Limits::memory
  any_duckdb = 1U << 6U,       ///< set Limits::any_duckdb
  key_file = 1U << 7U,         ///< set LedgerOptions::key to another file
  public_key = 1U << 8U,       ///< pass the text of SigningKey::public_key
  create_ledger = 1U << 9U,    ///< create a ledger
  ledger_delta = 1U << 10U,    ///< create a ledger whose budget has a δ
  data_ledger = 1U << 11U,     ///< create a ledger for the data
  import_ledger = 1U << 12U,   ///< export the ledger, and import it with new terms
  verify_ledger = 1U << 13U,   ///< call Ledger::verify
  show_ledger = 1U << 14U,     ///< read the entries of the ledger
  new_request = 1U << 15U,     ///< ask in a new request, which is charged again
  repeat_request = 1U << 16U,  ///< ask for the existing request by its id
  describe_data = 1U << 17U,   ///< put a description of the data into the catalogue
  sum_ledger = 1U << 18U,      ///< create a ledger that adds up ε and δ
  start_witness = 1U << 19U,   ///< declare the witness to be new
  repair_ledger = 1U << 20U,   ///< drop an unsigned tail of the ledger
  known_duckdb = 1U << 21U,    ///< install the DuckDB that sotto knows, or set Limits::duckdb to it
};

constexpr Remedy operator|(Remedy a, Remedy b) {
  return static_cast<Remedy>(static_cast<std::uint32_t>(a) | static_cast<std::uint32_t>(b));
}
constexpr bool includes(Remedy all, Remedy one) {
  return (static_cast<std::uint32_t>(all) & static_cast<std::uint32_t>(one)) != 0;
}

/// The base of errors that may name a remedy.
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

/// The error for a value outside its range. The message names the parameter, the value and the
/// range.
class InvalidValue : public std::invalid_argument, public Remediable {
 public:
  explicit InvalidValue(const std::string& what, Remedy remedy = Remedy::none)
      : std::invalid_argument(what), Remediable(remedy) {}
};

/// The error for the text of a plan that does not parse. `column` counts bytes from 1.
class ParseError : public std::invalid_argument {
 public:
  ParseError(const std::string& what, std::size_t column)
      : std::invalid_argument(what), column_(column) {}
  [[nodiscard]] std::size_t column() const { return column_; }

 private:
  std::size_t column_;
};

/// The error for a number that no theorem gives, because a condition fails. The message names the
/// condition and an alternative.
class OutsideConditions : public std::domain_error, public Remediable {
 public:
  explicit OutsideConditions(const std::string& what, Remedy remedy = Remedy::none)
      : std::domain_error(what), Remediable(remedy) {}
};

}  // namespace sotto
