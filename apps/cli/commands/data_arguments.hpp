// The arguments of `sotto data`, and the source that they describe.
#pragma once

#include <string>
#include <vector>

#include "cli/command.hpp"
#include "data/api/survey.hpp"

namespace sotto::cli::data {

/// The arguments of all subcommands.
struct CommonArguments {
  std::string catalogue;
  bool quiet = false;
};

/// The budget of the ledger that `init` and `ledger` create.
struct BudgetArguments {
  std::string relation = "add-remove", epsilon, delta, rho, slack;
  bool sum = false;
  bool second_ledger = false;
};

struct DuckdbArguments {
  std::string path;
  bool any = false;
};

struct InitArguments : CommonArguments {
  std::string file, postgresql, spark;            ///< one of them is typed
  std::string table, path, token, authority;      ///< for a database or Spark
  std::string format, records, delimiter, names;  ///< for a file
  std::vector<std::string> null_text;
  bool header = false, trim = false, no_trim = false;
  std::string name, unit, unit_label, version, publisher;
  std::string ledger, witness;
  BudgetArguments budget;
  DuckdbArguments duckdb;
};

/// Throws InvalidValue unless the arguments name something that can be read as data.
void require_source(const InitArguments& arguments);
/// Returns --name, else a name derived from that of the table or file. Throws InvalidValue.
std::string name_of_data(const InitArguments& arguments);
/// Returns the source that the arguments describe. Throws InvalidValue, with what to type.
Source source_of(const InitArguments& arguments);

}  // namespace sotto::cli::data
