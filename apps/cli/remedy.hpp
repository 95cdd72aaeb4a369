// What to type against an error: the library says what would help, and here it gets the names that the command has for it.
#pragma once

#include <exception>
#include <string>

#include "command_line.hpp"

namespace sotto::cli {

/// The error's message and, on a line of its own, what to type: flags of the command that was run, as far as it has them, and other commands.
std::string with_remedy(const std::exception& error, const Command& run);

/// The command that these words call, such as `ledger charge`.
const Command& command_called(const Command& app, int argc, char** argv);

}  // namespace sotto::cli
