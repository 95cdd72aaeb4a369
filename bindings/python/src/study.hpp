// Opens and runs studies for Python, of one party and of several.
#pragma once

#include <nanobind/nanobind.h>

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "callbacks.hpp"
#include "sotto/data/arrow.hpp"
#include "sotto/ledger/ledger.hpp"
#include "study/api/run.hpp"
#include "study/api/study.hpp"

namespace sotto::python {

using ProgressCallback = std::optional<std::function<void(const std::string&, double)>>;

/// Returns a watcher that calls `on_progress` and stops the run on Ctrl-C.
inline Watcher watcher(Callbacks& callbacks, const ProgressCallback& on_progress) {
  return [&callbacks, &on_progress](const std::string& what, double share) {
    return callbacks.tell([&] {
      if (on_progress) (*on_progress)(what, share);
    });
  };
}

/// A study with its catalogue, data file, ledger and design.
struct Opened {
  Catalogue catalogue;
  DataFile data;
  Study study;
  Ledger ledger;
  Design design;

  using Designer = std::function<Design(const Study&, const Ledger&)>;
  static Opened of(const std::filesystem::path& folder, const std::string& text,
                   const Designer& design);
};

/// The result of a run, with its report.
struct Ran {
  Release release;
  Head head;
  bool repeated;
  std::string page;                 // the report as HTML
  std::vector<std::string> models;  // the models as signed model files
};

/// The arguments that say how a study's data are read.
struct Reading {
  int threads = 0;
  std::int64_t memory = 0;
  std::filesystem::path duckdb;
  bool any_duckdb = false;
  std::filesystem::path spark = {};
  [[nodiscard]] Limits limits() const;
};

/// Returns rows in memory from an object with `__arrow_c_stream__`; empty for None, which means the
/// data file's.
std::optional<ArrowTable> table_of(const nb::object& rows);

/// Runs `work` with an engine and options, and returns the result with its report.
using StudyWork = std::function<RunResult(Opened&, const std::function<std::unique_ptr<Engine>()>&,
                                          const RunOptions&, const Watcher&)>;
Ran run_opened(Opened& opened, Callbacks& callbacks, const Reading& reading, RunOptions options,
               const ProgressCallback& on_progress, const nb::object& rows, const StudyWork& work);

}  // namespace sotto::python
