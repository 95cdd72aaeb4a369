// Parts of `sotto run` for programs that run a study in another way, such as `sotto party`.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "cli/command.hpp"
#include "study/api/run.hpp"

namespace sotto::cli {

/// The arguments of a command that runs a study, as typed.
struct RunArguments : OutputArguments {
  std::string file, catalogue, report, models, request, memory, duckdb, witness;
  int threads = 0;
  bool again = false, dry_run = false, is_public = false, detail = false, any_duckdb = false;
};

/// How to run a study. An empty function stands for what `sotto run` does.
struct RunTask {
  Ranks* ranks = nullptr;                  ///< other processes that train with this one
  std::function<std::string()> text = {};  ///< returns the study's text
  std::function<Design(const Study& study, const Terms& terms)> design = {};
  std::function<RunResult(const Study& study, Ledger& ledger,
                          const std::function<std::unique_ptr<Engine>()>& open,
                          const RunOptions& options, const Watcher& watcher)>
      run = {};
  std::function<bool()> should_continue = {};  ///< returns false to stop the run
};

/// Returns the command that checks a ledger against its present head.
std::string verify_line(const std::string& place, const Head& head);
/// Adds the options of every command that runs a study.
void add_run_options(Command& run, RunArguments& arguments);
/// Runs the study, prints the answers, and writes reports and models. With --detail, prints an
/// engine's own error, too, which may contain data.
void run_study(const RunArguments& arguments, const RunTask& task);

}  // namespace sotto::cli
