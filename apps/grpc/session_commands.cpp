// enroll, init, approve: keys where they are used, one session for all, and everybody's yes to it.
#include <cmath>
#include <filesystem>
#include <iostream>

#include "cli/budget.hpp"
#include "cli/catalogue.hpp"
#include "commands.hpp"
#include "federated/api/proposal.hpp"
#include "report/api/sums.hpp"
#include "study/api/federated.hpp"

namespace sotto::cli {
namespace {

// A member's card; what is none is told with the command that makes one.
Member card_in(const std::string& file) {
  constexpr const char* made = "\ntype: sotto federate enroll NAME, which makes NAME.member.json";
  if (!std::filesystem::exists(file)) throw InvalidValue("there is no card " + file + made);
  try {
    return parse_card(read_text(file));
  } catch (const ProtocolError& error) {
    throw InvalidValue(file + ": " + error.what() + made);
  }
}

struct InitOptions {
  std::vector<std::string> members;
  std::string coordinator, address, title, threshold, colluding = "1", size, sigma, epsilon, delta, sensitivity, most, rounds = "1", spare = "0",
                                                      deadline = "60", bits = "64", relation = "add-remove", mean, study, catalogue;
  bool by_authority = false;
};

std::int64_t whole(const std::string& text, const char* option) {
  const double number = number_of(text, option);
  if (number != std::floor(number) || std::fabs(number) > 0x1p52) throw InvalidValue(std::string(option) + " " + text + " is not a whole number");
  return static_cast<std::int64_t>(number);
}

// Whoever makes the session reads the study with a data file of its own; every member checks it against theirs.
Session for_study(const Session& base, const InitOptions& options) {
  for (const auto& [option, typed] : {std::pair{"--most", &options.most},
                                      {"--mean", &options.mean},
                                      {"--sigma", &options.sigma},
                                      {"--epsilon", &options.epsilon},
                                      {"--delta", &options.delta}}) {
    if (!typed->empty()) throw InvalidValue(std::string(option) + " is for a session without a study: a study has its budget and bounds itself");
  }
  const std::string text = read_text(options.study);
  const Catalogue catalogue = catalogue_of(options.catalogue);
  const DataFile data = catalogue.find(data_of(text));
  const Study study = parse_study(text, data, [&](const std::string& name) { return catalogue.find(name); });
  return session_for(study, Ledger::open(data.ledger).terms().relation, base);
}

SumItem item_of(const Session& session, const InitOptions& options) {
  const double most = number_of(options.most, "--most");
  if (options.mean.empty()) {
    const double moved = options.sensitivity.empty() ? 1 : number_of(options.sensitivity, "--sensitivity");
    return {.name = "values", .size = options.size.empty() ? 1 : whole(options.size, "--size"), .sensitivity = moved, .most = most};
  }
  if (!options.size.empty() || !options.sensitivity.empty()) {
    throw InvalidValue("--mean LOWER,UPPER says what is summed and how much one unit moves it: leave out --size and --sensitivity");
  }
  const std::size_t comma = options.mean.find(',');
  if (comma == std::string::npos) throw InvalidValue("--mean " + options.mean + " is not two bounds: type --mean LOWER,UPPER, such as --mean 0,100");
  return item_of_mean(session, {number_of(options.mean.substr(0, comma), "--mean"), number_of(options.mean.substr(comma + 1), "--mean")}, most);
}

Session session_of(const InitOptions& options) {
  Session session;
  session.title = options.title;
  for (const std::string& file : options.members) session.members.push_back(card_in(file));
  session.certificate = card_in(options.coordinator).certificate;
  session.colluding = whole(options.colluding, "--colluding");
  session.threshold = options.threshold.empty() ? 0 : whole(options.threshold, "--threshold");
  session.bits = static_cast<int>(whole(options.bits, "--bits"));
  session.spare = whole(options.spare, "--spare");
  session.deadline = whole(options.deadline, "--deadline");
  session.relation = options.relation;
  if (options.address.find(':') == std::string::npos) {
    throw InvalidValue("--address " + options.address + " has no port: type --address HOST:PORT, such as --address " + options.address + ":4711");
  }
  session.coordinator = options.address;
  if (options.by_authority) {
    session.certificate.clear();
    for (Member& member : session.members) member.certificate.clear();
  }
  session = begin_session(std::move(session));
  if (!options.study.empty()) return for_study(session, options);
  if (options.most.empty())
    throw InvalidValue(
        "what is summed? Type --study FILE, or, for one vector of numbers, --most M and --epsilon E --delta D, or, for a mean, --mean LOWER,UPPER "
        "too");
  SumItem item = item_of(session, options);
  item.rounds = whole(options.rounds, "--rounds");
  if (!options.sigma.empty()) {
    if (!options.epsilon.empty()) throw InvalidValue("--sigma and --epsilon both say how much noise: leave one out");
    return session_of_sums(session, item, number_of(options.sigma, "--sigma"));
  }
  if (options.epsilon.empty() || options.delta.empty()) throw InvalidValue("how much noise? Type --sigma S, or --epsilon E --delta D");
  return session_of_sums(session, item, Epsilon(number_of(options.epsilon, "--epsilon")), Delta(number_of(options.delta, "--delta")));
}

void run_enroll(const std::string& name, const std::string& folder) {
  const Enrolled made = enroll(name, folder);
  std::cout << spoken(made.card.key) << "\n";
  say(made.key_file.string() + " is secret and stays here; send " + made.card_file.string() +
      " to whoever makes the session, and read these words to them aloud");
}

void run_approve(const std::string& file, const std::string& key_file, const std::string& delta) {
  const Session session = parse_session(session_text_in(file));
  const AgreedSession agreed = sotto::agreed(session);
  const std::int64_t self = member_with(session, signing_public_key(read_key(key_file).seed));
  std::cout << session_text(session, self, Delta(number_of(delta, "--delta")));
  MemberFolder(key_file, agreed).approve();
  warn_of_delta(delta, false);
  say(session.members[static_cast<std::size_t>(self)].name + " agrees. Ask each of the others for their words: they must be the ones above");
}

}  // namespace

std::string session_text_in(const std::string& file) {
  if (std::filesystem::exists(file)) return read_text(file);
  throw InvalidValue("there is no session " + file + "\ntype: sotto federate init --member CARD … > " + file + ", or ask who made it for the file");
}

void add_enroll(Command& app) {
  struct Options {
    std::string name, folder = ".";
  };
  const auto options = std::make_shared<Options>();
  Command* command = app.add_subcommand(
      "enroll",
      "Examples:\n"
      "  sotto federate enroll hospital-a\n"
      "\n"
      "Makes a member's key, which stays where it is made, and its card, which the others get. Prints the key as words to read aloud.");
  command->add_option("NAME", options->name, "what the others call this member, or this coordinator")->required();
  command->add_option("--folder", options->folder, "where NAME.member.key and NAME.member.json are put")->capture_default_str();
  command->callback([options] { run_enroll(options->name, options->folder); });
}

void add_init(Command& app) {
  const auto options = std::make_shared<InitOptions>();
  Command* command = app.add_subcommand("init",
                                        "Examples:\n"
                                        "  sotto federate init --member a.member.json --member b.member.json --member c.member.json\n"
                                        "    --coordinator-card relay.member.json --address 127.0.0.1:4711 --sigma 50 --most 1000 > session.json\n"
                                        "\n"
                                        "Writes a session, to stdout: who sums what, with which noise. Every member has to approve it.");
  command->add_option("--member", options->members, "a member's card, such as --member a.member.json; once for each")
      ->required()
      ->allow_extra_args(false);
  command->add_option("--coordinator-card", options->coordinator, "the coordinator's card")->required();
  command->add_option("--address", options->address, "where members reach the coordinator, HOST:PORT")->required();
  command->add_option("--study", options->study, "the study that all members run, each on its own data");
  command->add_option("--catalogue", options->catalogue, catalogue_words);
  command->add_option("--title", options->title, "what it is in words; a study has its own");
  command->add_option("--colluding", options->colluding, "so many members may pool what they see, with the coordinator")->capture_default_str();
  command->add_option("--threshold", options->threshold, "so many members open a sum; without it the least that is sound");
  command->add_option("--size", options->size, "how many numbers each member has; without it 1");
  command->add_option("--sensitivity", options->sensitivity, "how much one unit moves them at most, in L2; without it 1");
  command->add_option("--sigma", options->sigma, "the standard deviation of the noise in a sum, at least");
  command->add_option("--epsilon", options->epsilon, "or what all rounds may cost, with --delta");
  command->add_option("--delta", options->delta, "at this delta");
  command->add_option("--most", options->most, "no member's number is larger; with --mean: no member has more units");
  command->add_option("--mean", options->mean,
                      "LOWER,UPPER: the mean of one value of each unit, between these public bounds, and how many units there are");
  command->add_option("--rounds", options->rounds, "so many sums, one after the other")->capture_default_str();
  command->add_option("--spare", options->spare, "so many more rounds for those that fail; they are paid for in advance")->capture_default_str();
  command->add_option("--deadline", options->deadline, "seconds that the coordinator waits in each phase")->capture_default_str();
  command->add_option("--bits", options->bits, "of an element of a sum: 32 or 64")->capture_default_str();
  command->add_option("--relation", options->relation, "under which the sensitivity is stated")->capture_default_str();
  command->add_flag("--by-authority", options->by_authority, "leave the cards' certificates out: an authority's are used, --tls-ca");
  command->callback([options] {
    std::cout << to_text(session_of(*options));
    warn_of_delta(options->delta, false);
  });
}

void add_approve(Command& app) {
  struct Options {
    std::string session, key, delta = "1e-6";
  };
  const auto options = std::make_shared<Options>();
  Command* command = app.add_subcommand("approve",
                                        "Examples:\n"
                                        "  sotto federate approve session.json --key a.member.key\n"
                                        "\n"
                                        "Shows who takes part, what may be learned and what it costs, and remembers that this member agrees.");
  command->add_option("SESSION", options->session, "the session's file")->required();
  command->add_option("--key", options->key, "this member's key")->required();
  command->add_option("--delta", options->delta, "at which epsilon is shown")->capture_default_str();
  command->callback([options] { run_approve(options->session, options->key, options->delta); });
}

}  // namespace sotto::cli
