// sotto federate, coordinator and party. Another program, sotto-federate, runs them, because it
// links gRPC, which needs another build of OpenSSL than this program.
#include <unistd.h>

#include <array>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command.hpp"

namespace sotto::cli {
namespace {

constexpr const char* program = "sotto-federate";

struct ForwardedCommand {
  const char* name;
  bool is_forwarded;  // whether the name itself is the first argument of sotto-federate
  const char* summary;
  const char* description;
};
constexpr std::array commands{
    ForwardedCommand{"federate", false, "Make keys and sessions for members who trust nobody",
                     "Examples:\n"
                     "  sotto federate enroll hospital-a\n"
                     "  sotto federate approve session.json --key hospital-a.member.key\n"
                     "\n"
                     "Makes keys and sessions for members who trust nobody. Its commands are "
                     "enroll, init and approve."},
    ForwardedCommand{"coordinator", true, "Relay between the members of a session",
                     "Examples:\n"
                     "  sotto coordinator session.json --key relay.member.key\n"
                     "\n"
                     "Relays between the members of a session until its sums are known."},
    ForwardedCommand{"party", true, "Take part in a session, and print the sums",
                     "Examples:\n"
                     "  sotto party session.json --key hospital-a.member.key --values a.txt\n"
                     "\n"
                     "Takes part in a session, and prints the sums."}};

}  // namespace

void add_federate(Command& app) {
  for (const ForwardedCommand& one : commands)
    app.add_subcommand(one.name, one.summary, one.description);
}

int forward_to_federate(int argc, char** argv) {
  const std::string_view word = argc > 1 ? argv[1] : "";
  for (const ForwardedCommand& one : commands) {
    if (word != one.name) continue;
    std::error_code error;
    const std::filesystem::path path =
        std::filesystem::read_symlink("/proc/self/exe", error).replace_filename(program);
    std::string name = program;
    std::vector<char*> arguments{name.data()};
    for (int i = one.is_forwarded ? 1 : 2; i < argc; ++i) arguments.push_back(argv[i]);
    arguments.push_back(nullptr);
    execv(path.c_str(), arguments.data());  // returns only if it fails
    if (argc > 2 && (std::string_view(argv[2]) == "--help" || std::string_view(argv[2]) == "-h"))
      return -1;
    say("there is no " + std::string(program) +
        " in the folder of this program: it is built if gRPC is installed" +
        " (on Debian: libgrpc++-dev, libprotobuf-dev, protobuf-compiler-grpc)"
        "\ntype: ./dev federated, in sotto's sources");
    return 1;
  }
  return -1;
}

}  // namespace sotto::cli
