// The library's errors as exceptions of Python: sotto/errors.py has the classes, and the arguments
// that would help.
#include <nanobind/stl/string.h>

#include "bindings.hpp"
#include "core/api/file.hpp"
#include "core/api/work.hpp"
#include "federated/api/identity.hpp"
#include "ledger/api/request.hpp"
#include "sotto/data/engine.hpp"
#include "sotto/random/random.hpp"
#include "study/api/limit.hpp"

namespace sotto::python {
namespace {

std::uint32_t remedy_of(const std::exception& error) {
  const auto* known = dynamic_cast<const Remediable*>(&error);
  return known == nullptr ? 0 : static_cast<std::uint32_t>(known->remedy());
}

template <class... Details>
nb::object make_error(const char* type, const std::exception& error, Details&&... details) {
  return nb::module_::import_("sotto.errors")
      .attr(type)(error.what(), nb::arg("remedy") = remedy_of(error), details...);
}

// Returns the Python exception of an error; None for an error that is not the library's.
nb::object error_of(const std::exception_ptr& thrown);

// Returns RequestFailed with the original error as its cause.
nb::object failed_request(const RequestFailed& error) {
  nb::object failed = make_error("RequestFailed", error, nb::arg("request") = error.request());
  try {
    std::rethrow_if_nested(error);
  } catch (...) {
    failed.attr("__cause__") = error_of(std::current_exception());
  }
  return failed;
}

nb::object error_of(const std::exception_ptr& thrown) {
  try {
    std::rethrow_exception(thrown);
  } catch (const ParseError& e) {
    return make_error("ParseError", e, nb::arg("column") = e.column());
  } catch (const InvalidValue& e) {
    return make_error("InvalidValue", e);
  } catch (const OutsideConditions& e) {
    return make_error("OutsideConditions", e);
  } catch (const OutOfWork& e) {
    return make_error("OutOfWork", e);
  } catch (const BudgetRefused& e) {
    return make_error("BudgetRefused", e,
                      nb::arg("missing") = nb::make_tuple(e.missing().amount, e.missing().delta));
  } catch (const RequestFailed& e) {
    return failed_request(e);
  } catch (const RequestClosed& e) {
    return make_error("RequestClosed", e);
  } catch (const LedgerError& e) {
    return make_error("LedgerError", e);
  } catch (const LimitNotChosen& e) {
    const std::string arguments = e.rows() && e.groups() ? "rows=…, groups=…"
                                  : e.rows()             ? "rows=…"
                                                         : "groups=…";
    const StudyError named(std::string(e.what()) + "\nOf a query that Python builds: query.limit(" +
                               arguments + "), or session.limit(" + arguments + ")",
                           0);
    return make_error("StudyError", named, nb::arg("line") = e.line());
  } catch (const StudyError& e) {
    return make_error("StudyError", e, nb::arg("line") = e.line());
  } catch (const EngineError& e) {
    return make_error("EngineError", e, nb::arg("detail") = e.detail());
  } catch (const NotApproved& e) {
    return make_error("NotApproved", e);
  } catch (const ProtocolError& e) {
    return make_error("ProtocolError", e);
  } catch (const FileError& e) {
    return e.is_absent() ? nb::module_::import_("builtins").attr("FileNotFoundError")(e.what())
                         : make_error("InvalidValue", e);
  } catch (const LinkLost& e) {
    return make_error("LinkLost", e);
  } catch (const NoEntropy& e) {
    return make_error("NoEntropy", e);
  } catch (...) {
    return nb::none();
  }
}

void translate(const std::exception_ptr& thrown, void*) {
  const nb::object error = error_of(thrown);
  if (error.is_none()) std::rethrow_exception(thrown);
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(error.ptr())), error.ptr());
}

}  // namespace

void bind_errors(nb::module_& m) {
  nb::register_exception_translator(translate);
  nb::dict remedies;
  const auto add = [&](const char* name, Remedy remedy) {
    remedies[nb::int_(static_cast<std::uint32_t>(remedy))] = name;
  };
  add("method", Remedy::method);
  add("relation", Remedy::relation);
  add("work", Remedy::work);
  add("event_delta", Remedy::event_delta);
  add("each", Remedy::each);
  add("memory", Remedy::memory);
  add("any_duckdb", Remedy::any_duckdb);
  add("key_file", Remedy::key_file);
  add("public_key", Remedy::public_key);
  add("create_ledger", Remedy::create_ledger);
  add("ledger_delta", Remedy::ledger_delta);
  add("data_ledger", Remedy::data_ledger);
  add("import_ledger", Remedy::import_ledger);
  add("verify_ledger", Remedy::verify_ledger);
  add("show_ledger", Remedy::show_ledger);
  add("new_request", Remedy::new_request);
  add("repeat_request", Remedy::repeat_request);
  add("describe_data", Remedy::describe_data);
  add("sum_ledger", Remedy::sum_ledger);
  add("start_witness", Remedy::start_witness);
  add("repair_ledger", Remedy::repair_ledger);
  add("known_duckdb", Remedy::known_duckdb);
  m.attr("REMEDIES") = remedies;
}

}  // namespace sotto::python
