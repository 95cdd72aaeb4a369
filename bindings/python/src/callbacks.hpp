// Long work that calls Python now and then.
#pragma once

#include <nanobind/nanobind.h>

#include <exception>

#include "bindings.hpp"
#include "core/api/stop.hpp"

namespace sotto::python {

/// Work without the interpreter's lock that calls Python now and then. What Python raises there, or Ctrl-C, ends the work and is raised at its end.
class Callbacks {
 public:
  /// With the interpreter's lock; Stopped where Python raises, or has raised before.
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

  /// Tells Python how far the work is; false asks to stop it.
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

  /// The same where nothing may be thrown: the next call ends the work.
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
