// The words for each remedy, and which command they are for.
#include "remedy.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

#include "sotto/core/errors.hpp"

namespace sotto::cli {
namespace {

struct Advice {
  Remedy remedy;
  const char*
      flag;  // without the dashes; empty: the advice is another command, which applies always
  const char* words;
};

constexpr std::array advice{
    Advice{Remedy::method, "by", "--by METHOD"},
    Advice{Remedy::relation, "relation", "--relation RELATION"},
    Advice{Remedy::work, "precision", "--precision P"},
    Advice{Remedy::work, "time", "--time SECONDS"},
    Advice{Remedy::event_delta, "at", "--at DELTA"},
    Advice{Remedy::each, "each", "--each"},
    Advice{Remedy::memory, "memory", "--memory SIZE"},
    Advice{Remedy::known_duckdb, "", "./dev duckdb, in sotto's sources"},
    Advice{Remedy::known_duckdb, "duckdb", "--duckdb FILE, the path of a known libduckdb.so"},
    Advice{Remedy::any_duckdb, "any-duckdb", "--any-duckdb"},
    Advice{Remedy::key_file, "key", "--key FILE"},
    Advice{Remedy::public_key, "", "sotto ledger key"},
    Advice{Remedy::create_ledger, "", "sotto ledger create"},
    Advice{Remedy::ledger_delta, "", "sotto ledger create --delta D"},
    Advice{Remedy::data_ledger, "", "sotto data ledger"},
    Advice{Remedy::import_ledger, "",
           "sotto ledger export OLD > old.json, then sotto ledger import NEW old.json --unit-type "
           "TYPE --source SOURCE"},
    Advice{Remedy::verify_ledger, "", "sotto ledger verify"},
    Advice{Remedy::show_ledger, "", "sotto ledger show NAME"},
    Advice{Remedy::new_request, "new", "--new"},
    Advice{Remedy::repeat_request, "request", "--request ID"},
    Advice{Remedy::describe_data, "", "sotto data init FILE"},
    Advice{Remedy::sum_ledger, "", "sotto ledger create --sum"},
    Advice{Remedy::start_witness, "", "sotto ledger witness LEDGER"},
    Advice{Remedy::repair_ledger, "", "sotto ledger repair LEDGER"},
};

// Whether the table has advice for every remedy.
constexpr bool is_complete() {
  Remedy all = Remedy::none;
  for (const Advice& one : advice) all = all | one.remedy;
  return static_cast<std::uint32_t>(all) ==
         2 * static_cast<std::uint32_t>(Remedy::known_duckdb) - 1;
}
static_assert(is_complete(), "each Remedy needs an Advice");

bool has_flag(const Command& command, const std::string& flag) {
  const auto options = command.options();
  return std::any_of(options.begin(), options.end(), [&flag](const OptionInfo& option) {
    return std::find(option.long_names.begin(), option.long_names.end(), flag) !=
           option.long_names.end();
  });
}

}  // namespace

std::string with_remedy(const std::exception& error, const Command& run) {
  const auto* known = dynamic_cast<const Remediable*>(&error);
  std::string words;
  for (const Advice& one : advice) {
    if (known == nullptr || !includes(known->remedy(), one.remedy)) continue;
    const std::string flag = one.flag;
    if (flag.empty() || has_flag(run, flag))
      words += (words.empty() ? "" : ", or ") + std::string(one.words);
  }
  return error.what() + (words.empty() ? "" : "\ntype: " + words);
}

const Command& called_command(const Command& app, int argc, char** argv) {
  const Command* at = &app;
  for (int i = 1; i < argc; ++i) {
    const auto commands = at->commands();
    const auto it = std::find_if(commands.begin(), commands.end(), [&](const Command* command) {
      return command->name() == argv[i];
    });
    if (it == commands.end()) break;
    at = *it;
  }
  return *at;
}

}  // namespace sotto::cli
