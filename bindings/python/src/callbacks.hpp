// Long work that calls back into Python.
#pragma once

#include <nanobind/nanobind.h>

#include <exception>

#include "bindings.hpp"
#include "core/api/stop.hpp"

namespace sotto::python {

/// Callbacks runs work without the interpreter's lock and lets it call Python. An exception that
/// Python raises there, or Ctrl-C, stops the work and is raised at its end.
class Callbacks {
 public:
  /// Calls with the interpreter's lock. Throws Stopped if Python raises, or raised before.
  template <class Call>
  auto call(Call&& call) {
    const nb::gil_scoped_acquire gil;
    if (raised_) throw Stopped();
    try {
      return call();
    } catch (const nb::python_error&) {
      raised_ = std::current_exception();
      throw Stopped();
    }
  }

  /// Reports progress to Python. Returns false if the work must stop.
  template <class Tell>
  bool tell(Tell&& tell) {
    try {
      call([&] {
        tell();
        if (PyErr_CheckSignals() != 0) throw nb::python_error();
      });
      return true;
    } catch (const Stopped&) {
      return false;
    }
  }

  /// As call(), for destructors: an exception is raised by the next call.
  template <class Call>
  void call_at_end(Call&& call) noexcept {
    const nb::gil_scoped_acquire gil;
    try {
      call();
    } catch (const nb::python_error&) {
      if (!raised_) raised_ = std::current_exception();
    }
  }

  template <class Work>
  auto run(Work&& work) {
    try {
      const nb::gil_scoped_release free;
      return work();
    } catch (const std::exception&) {
      if (raised_) std::rethrow_exception(raised_);
      throw;
    }
  }

 private:
  std::exception_ptr raised_;
};

}  // namespace sotto::python
