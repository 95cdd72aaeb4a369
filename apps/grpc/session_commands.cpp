// sotto federate enroll, init and approve: a member creates its key where it is used, one of them
// writes the session, and every member approves it.
#include <cmath>
#include <filesystem>
#include <iostream>
#include <memory>

#include "cli/arguments/budget.hpp"
#include "cli/catalogue.hpp"
#include "commands.hpp"
#include "federated/api/proposal.hpp"
#include "report/api/sums.hpp"
#include "study/api/federated.hpp"

namespace sotto::cli {
namespace {

// Returns a member's card. Throws InvalidValue, with the command that creates one, for another
// file.
Member card_in(const std::string& file) {
  constexpr const char* remedy =
      "\ntype: sotto federate enroll NAME, which creates NAME.member.json";
  if (!std::filesystem::exists(file)) throw InvalidValue("there is no card " + file + remedy);
  try {
    return parse_card(read_text(file));
  } catch (const ProtocolError& error) {
    throw InvalidValue(file + ": " + error.what() + remedy);
  }
}

struct InitArguments {
  std::vector<std::string> members;
  std::string coordinator, address, title;
  std::string study, catalogue;                                // a study, or numbers:
  std::string size, sensitivity, most, mean, rounds = "1";     // what is summed
  std::string sigma, epsilon, delta, relation = "add-remove";  // the noise
  std::string threshold, colluding = "1", spare = "0", deadline = "60", bits = "64";
  bool by_authority = false;
};

// Returns an option as a whole number; the session checks its range.
std::int64_t whole(const std::string& text, const char* option) {
  const double number = number_of(text, option);
  if (number != std::floor(number) || std::fabs(number) > 0x1p52)
    throw InvalidValue(std::string(option) + " " + text +
                       " is not allowed: it must be a whole number");
  return static_cast<std::int64_t>(number);
}

// Returns the session of a study. The creator reads the study with their own data file; every
// member checks it against theirs.
Session for_study(const Session& base, const InitArguments& arguments) {
  for (const auto& [option, typed] : {std::pair{"--most", &arguments.most},
                                      {"--mean", &arguments.mean},
                                      {"--sigma", &arguments.sigma},
                                      {"--epsilon", &arguments.epsilon},
                                      {"--delta", &arguments.delta}}) {
    if (!typed->empty())
      throw InvalidValue(std::string(option) +
                         " is for a session without a study: leave it out, because a study states "
                         "its own budget and bounds");
  }
  const std::string text = read_text(arguments.study);
  const Catalogue catalogue = catalogue_of(arguments.catalogue);
  const DataFile data = catalogue.find(data_of(text));
  const Study study =
      parse_study(text, data, [&](const std::string& name) { return catalogue.find(name); });
  return session_for(study, Ledger::open(data.ledger).terms().relation, base);
}

SumItem item_of(const Session& session, const InitArguments& arguments) {
  const double most = number_of(arguments.most, "--most");
  if (arguments.mean.empty()) {
    const double sensitivity =
        arguments.sensitivity.empty() ? 1 : number_of(arguments.sensitivity, "--sensitivity");
    return {.name = "values",
            .size = arguments.size.empty() ? 1 : whole(arguments.size, "--size"),
            .sensitivity = sensitivity,
            .most = most};
  }
  if (!arguments.size.empty() || !arguments.sensitivity.empty()) {
    throw InvalidValue(
        "--mean LOWER,UPPER implies the size and the sensitivity: leave out --size and "
        "--sensitivity");
  }
  const std::size_t comma = arguments.mean.find(',');
  if (comma == std::string::npos)
    throw InvalidValue("--mean " + arguments.mean +
                       " is not two bounds: type --mean LOWER,UPPER, such as --mean 0,100");
  return item_of_mean(session,
                      {number_of(arguments.mean.substr(0, comma), "--mean"),
                       number_of(arguments.mean.substr(comma + 1), "--mean")},
                      most);
}

Session session_of(const InitArguments& arguments) {
  Session session;
  session.title = arguments.title;
  for (const std::string& file : arguments.members) session.members.push_back(card_in(file));
  session.certificate = card_in(arguments.coordinator).certificate;
  session.colluding = whole(arguments.colluding, "--colluding");
  session.threshold = arguments.threshold.empty() ? 0 : whole(arguments.threshold, "--threshold");
  session.bits = static_cast<int>(whole(arguments.bits, "--bits"));
  session.spare = whole(arguments.spare, "--spare");
  session.deadline = whole(arguments.deadline, "--deadline");
  session.relation = arguments.relation;
  if (arguments.address.find(':') == std::string::npos) {
    throw InvalidValue("--address " + arguments.address +
                       " has no port: type --address HOST:PORT, such as --address " +
                       arguments.address + ":4711");
  }
  session.coordinator = arguments.address;
  if (arguments.by_authority) {
    session.certificate.clear();
    for (Member& member : session.members) member.certificate.clear();
  }
  session = begin_session(std::move(session));
  if (!arguments.study.empty()) return for_study(session, arguments);
  if (arguments.most.empty())
    throw InvalidValue(
        "what is summed? Type --study FILE; or, for a vector of numbers, --most M and --epsilon E "
        "--delta D; or, for a mean, --mean LOWER,UPPER "
        "as well");
  SumItem item = item_of(session, arguments);
  item.rounds = whole(arguments.rounds, "--rounds");
  if (!arguments.sigma.empty()) {
    if (!arguments.epsilon.empty())
      throw InvalidValue("--sigma and --epsilon both say how much noise: leave one out");
    return session_of_sums(session, item, number_of(arguments.sigma, "--sigma"));
  }
  if (arguments.epsilon.empty() || arguments.delta.empty())
    throw InvalidValue("how much noise? Type --sigma S, or --epsilon E --delta D");
  return session_of_sums(session, item, Epsilon(number_of(arguments.epsilon, "--epsilon")),
                         Delta(number_of(arguments.delta, "--delta")));
}

void run_enroll(const std::string& name, const std::string& folder) {
  const Enrollment enrolled = enroll(name, folder);
  std::cout << fingerprint_words(enrolled.card.key) << "\n";
  say(enrolled.key_file.string() + " is secret and stays here; send " +
      enrolled.card_file.string() +
      " to the creator of the session, and read these words aloud to them");
}

void run_approve(const std::string& file, const std::string& key_file, const std::string& delta) {
  const Session session = parse_session(session_text_in(file));
  const SessionContext context = sotto::context_of(session);
  const std::int64_t self = member_with(session, signing_public_key(read_key(key_file).seed));
  std::cout << session_text(session, self, Delta(number_of(delta, "--delta")));
  MemberFolder(key_file, context).approve();
  warn_of_delta(delta, false);
  say(session.members[static_cast<std::size_t>(self)].name +
      " approves the session. Ask every other member for their words: they must be those above");
}

}  // namespace

std::string session_text_in(const std::string& file) {
  if (std::filesystem::exists(file)) return read_text(file);
  throw InvalidValue("there is no session " + file +
                     "\ntype: sotto federate init --member CARD … > " + file +
                     ", or ask its creator for the file");
}

void add_enroll(Command& app) {
  struct Arguments {
    std::string name, folder = ".";
  };
  const auto arguments = std::make_shared<Arguments>();
  Command* command = app.add_subcommand("enroll", "Create a member's key and its public card",
                                        "Examples:\n"
                                        "  sotto federate enroll hospital-a\n"
                                        "\n"
                                        "Creates a member's key, which stays on this machine, and "
                                        "its card, which the other members get. Prints\n"
                                        "the key as words to read aloud.");
  command
      ->add_option("NAME", arguments->name,
                   "the name that the others see, of this member or this coordinator")
      ->required();
  command
      ->add_option("--folder", arguments->folder,
                   "the folder for NAME.member.key and NAME.member.json")
      ->capture_default_str();
  command->callback([arguments] { run_enroll(arguments->name, arguments->folder); });
}

void add_init(Command& app) {
  const auto arguments = std::make_shared<InitArguments>();
  Command* command = app.add_subcommand(
      "init", "Write a session: who sums what, with which noise",
      "Examples:\n"
      "  sotto federate init --member a.member.json --member b.member.json --member c.member.json\n"
      "    --coordinator-card relay.member.json --address 127.0.0.1:4711 --sigma 50 --most 1000 > "
      "session.json\n"
      "\n"
      "Writes a session to stdout: who sums what, with which noise. Every member has to approve "
      "it.");
  command
      ->add_option("--member", arguments->members,
                   "a member's card, such as --member a.member.json; repeated for each member")
      ->required()
      ->allow_extra_args(false);
  command->add_option("--coordinator-card", arguments->coordinator, "the coordinator's card")
      ->required();
  command
      ->add_option("--address", arguments->address,
                   "where members reach the coordinator, HOST:PORT")
      ->required();
  command->add_option("--study", arguments->study,
                      "the study that all members run, each on its own data");
  command->add_option("--catalogue", arguments->catalogue, catalogue_words);
  command->add_option("--title", arguments->title, "a description; a study has its own");
  command
      ->add_option("--colluding", arguments->colluding,
                   "how many members may pool what they see, with the coordinator")
      ->capture_default_str();
  command->add_option("--threshold", arguments->threshold,
                      "how many members open a sum (default: the least that is secure)");
  command->add_option("--size", arguments->size, "how many numbers each member has (default 1)");
  command->add_option("--sensitivity", arguments->sensitivity,
                      "how much one unit moves them at most, in L2 (default 1)");
  command->add_option("--sigma", arguments->sigma,
                      "the least standard deviation of the noise in a sum");
  command->add_option("--epsilon", arguments->epsilon,
                      "instead of --sigma, with --delta: what all rounds may cost");
  command->add_option("--delta", arguments->delta, "the delta of --epsilon");
  command->add_option(
      "--most", arguments->most,
      "the largest absolute value of a member's number; with --mean: the most units of a member");
  command->add_option(
      "--mean", arguments->mean,
      "LOWER,UPPER: sums one value per unit, between these public bounds, and the number of units");
  command->add_option("--rounds", arguments->rounds, "the number of sums, one after the other")
      ->capture_default_str();
  command
      ->add_option("--spare", arguments->spare,
                   "further rounds, in case some fail; they are paid for in advance")
      ->capture_default_str();
  command
      ->add_option("--deadline", arguments->deadline,
                   "how many seconds the coordinator waits in each phase")
      ->capture_default_str();
  command->add_option("--bits", arguments->bits, "the bits of an element of a sum: 32 or 64")
      ->capture_default_str();
  command
      ->add_option("--relation", arguments->relation,
                   "the neighbouring relation of the sensitivity")
      ->capture_default_str();
  command->add_flag(
      "--by-authority", arguments->by_authority,
      "leaves the cards' certificates out: every party uses its authority's, --tls-ca");
  command->callback([arguments] {
    std::cout << to_text(session_of(*arguments));
    warn_of_delta(arguments->delta, false);
  });
}

void add_approve(Command& app) {
  struct Arguments {
    std::string session, key, delta = "1e-6";
  };
  const auto arguments = std::make_shared<Arguments>();
  Command* command = app.add_subcommand("approve", "Show a session, and approve it for this member",
                                        "Examples:\n"
                                        "  sotto federate approve session.json --key a.member.key\n"
                                        "\n"
                                        "Shows who takes part, what may be learned and what it "
                                        "costs, and stores this member's approval.");
  command->add_option("SESSION", arguments->session, "the session's file")->required();
  command->add_option("--key", arguments->key, "this member's key")->required();
  command->add_option("--delta", arguments->delta, "the delta at which epsilon is shown")
      ->capture_default_str();
  command->callback(
      [arguments] { run_approve(arguments->session, arguments->key, arguments->delta); });
}

}  // namespace sotto::cli
