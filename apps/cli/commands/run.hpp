// What `sotto run` shares with programs beside it that run a study in another way.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "cli/command_line.hpp"
#include "study/api/run.hpp"

namespace sotto::cli {

struct Typed;

struct RunOptions {
  std::string file, catalogue, page, models, request, memory, duckdb, witness;
  int threads = 0;
  bool again = false, dry = false, is_public = false, detail = false, any_duckdb = false;
};

/// How a study is run; what is empty is as `sotto run` does it.
struct RunTask {
  Ranks* ranks = nullptr;
  std::function<std::string()> text = {};  ///< of the study
  std::function<Design(const Study& study, const Terms& terms)> design = {};
  std::function<Run(const Study& study, Ledger& ledger, const std::function<std::unique_ptr<Engine>()>& open, const Asking& asking,
                    const Watcher& told)>
      run = {};
  std::function<bool()> go_on = {};  ///< false asks to stop
};

/// What checks a ledger against its head of now.
std::string verify_line(const std::string& place, const Head& head);
/// The options that every way of running has.
void add_run_options(Command& run, Typed& typed, RunOptions& options);
/// Runs, prints the answers and writes reports and models; with --detail an engine's own error, too.
void run_telling_detail(const Typed& typed, const RunOptions& options, const RunTask& task);

}  // namespace sotto::cli
