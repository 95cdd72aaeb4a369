// Turns the remedy of an error into what to type. The library's errors carry a Remedy and know no
// command line; here each remedy gets the flags and commands that carry it out.
#pragma once

#include <exception>
#include <string>

#include "command_line.hpp"

namespace sotto::cli {

/// Returns the error's message and, on a second line, what to type: flags that the command `run`
/// has, and other commands.
std::string with_remedy(const std::exception& error, const Command& run);

/// Returns the command that the arguments call, such as `ledger charge`.
const Command& called_command(const Command& app, int argc, char** argv);

}  // namespace sotto::cli
