// What a study needs around it, and what became of it: for studies of one party and of several.
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

/// Asked by a study's run whether to go on.
inline Watcher watcher(Callbacks& callbacks, const ProgressCallback& told) {
  return [&callbacks, &told](const std::string& what, double share) {
    return callbacks.tell([&] {
      if (told) (*told)(what, share);
    });
  };
}

/// A study with all that it names.
struct Opened {
  Catalogue catalogue;
  DataFile data;
  Study study;
  Ledger ledger;
  Design design;

  using Designer = std::function<Design(const Study&, const Ledger&)>;
  static Opened of(const std::filesystem::path& folder, const std::string& text, const Designer& design);
};

struct Ran {
  Release release;
  Head head;
  bool repeated;
  std::string page;                 // the report
  std::vector<std::string> models;  // as their files
};

/// How a study's data are read: the words of Python for it.
struct Reading {
  int threads = 0;
  std::int64_t memory = 0;
  std::filesystem::path duckdb;
  bool any_duckdb = false;
  std::filesystem::path spark = {};
  [[nodiscard]] Limits limits() const;
};

/// Rows in memory, from what has `__arrow_c_stream__`; nothing: those of the data file.
std::optional<ArrowTable> table_of(const nb::object& rows);

/// Runs `work` with what it asks of its caller, and tells of it.
using StudyWork = std::function<RunResult(Opened&, const std::function<std::unique_ptr<Engine>()>&, const RunOptions&, const Watcher&)>;
Ran run_opened(Opened& opened, Callbacks& callbacks, const Reading& reading, RunOptions options, const ProgressCallback& told, const nb::object& rows,
               const StudyWork& work);

}  // namespace sotto::python
