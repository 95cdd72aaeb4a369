// sotto federate, coordinator and party: run by sotto-federate, a program beside this one, since gRPC brings an OpenSSL of its own.
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

struct Passed {
  const char* name;
  bool is_word;  // of the program, too
  const char* description;
};
constexpr std::array passed{Passed{"federate", false,
                                   "Examples:\n"
                                   "  sotto federate enroll hospital-a\n"
                                   "  sotto federate approve session.json --key hospital-a.member.key\n"
                                   "\n"
                                   "Makes keys and sessions for members who trust nobody: enroll, init, approve."},
                            Passed{"coordinator", true,
                                   "Examples:\n"
                                   "  sotto coordinator session.json --key relay.member.key\n"
                                   "\n"
                                   "Relays between the members of a session until its sums are known."},
                            Passed{"party", true,
                                   "Examples:\n"
                                   "  sotto party session.json --key hospital-a.member.key --values a.txt\n"
                                   "\n"
                                   "Takes part in a session, and prints the sums."}};

}  // namespace

void add_federate(Command& app) {
  for (const Passed& one : passed) app.add_subcommand(one.name, one.description);
}

int pass_to_federate(int argc, char** argv) {
  const std::string_view word = argc > 1 ? argv[1] : "";
  for (const Passed& one : passed) {
    if (word != one.name) continue;
    std::error_code error;
    const std::filesystem::path beside = std::filesystem::read_symlink("/proc/self/exe", error).replace_filename(program);
    std::string own = program;
    std::vector<char*> words{own.data()};
    for (int i = one.is_word ? 1 : 2; i < argc; ++i) words.push_back(argv[i]);
    words.push_back(nullptr);
    execv(beside.c_str(), words.data());  // returns only where there is none
    if (argc > 2 && (std::string_view(argv[2]) == "--help" || std::string_view(argv[2]) == "-h")) return -1;
    say("there is no " + std::string(program) +
        " beside this command: it is built where gRPC is found (on Debian: libgrpc++-dev, libprotobuf-dev, protobuf-compiler-grpc)"
        "\ntype: ./dev federated, in sotto's sources");
    return 1;
  }
  return -1;
}

}  // namespace sotto::cli
