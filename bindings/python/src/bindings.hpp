// Shared by the files of the module: the bind functions, argument parsing, and long work that
// Ctrl-C interrupts.
#pragma once

#include <nanobind/nanobind.h>

#include <optional>
#include <string>

#include "core/api/stop.hpp"
#include "report/api/answers.hpp"
#include "sotto/accounting/account.hpp"
#include "sotto/core/errors.hpp"

namespace sotto::python {

namespace nb = nanobind;

void bind_errors(nb::module_& m);
void bind_plans(nb::module_& m);
void bind_accounting(nb::module_& m);
void bind_attacker(nb::module_& m);
void bind_charts(nb::module_& m);
void bind_mechanisms(nb::module_& m);
void bind_ledger(nb::module_& m);
void bind_study(nb::module_& m);
void bind_learning(nb::module_& m);
void bind_federated(nb::module_& m);
void bind_simulations(nb::module_& m);

/// Returns the text without trailing newlines.
inline std::string chomped(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

/// Whether Ctrl-C was pressed; if so, the Python exception is set.
inline bool interrupted() {
  const nb::gil_scoped_acquire gil;
  return PyErr_CheckSignals() != 0;
}

/// Runs `work` without the interpreter's lock; Ctrl-C interrupts it.
template <class Work>
auto unlocked(Work&& work) {
  try {
    const nb::gil_scoped_release free;
    const StopCheck question(interrupted);
    return work();
  } catch (const Stopped&) {
    throw nb::python_error();
  }
}

/// The arguments of an accounting function. The parsers below throw InvalidValue, which names the
/// argument.
struct QuestionArguments {
  std::string by = "tight";
  std::optional<std::string> relation = std::nullopt;
  std::optional<double> order = std::nullopt;
  std::optional<double> precision = std::nullopt;
  std::optional<double> seconds = std::nullopt;
};
Question question_of(const QuestionArguments& arguments);
std::optional<Relation> relation_of(const std::optional<std::string>& name);
std::optional<double> seconds_of(std::optional<double> seconds);
Format format_of(const std::string& name);

}  // namespace sotto::python
