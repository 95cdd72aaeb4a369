// enroll, init, approve: keys where they are used, one session for all, and everybody's yes to it.
#include <cmath>
#include <iostream>

#include "cli/catalogue.hpp"
#include "commands.hpp"
#include "sotto/accounting/account.hpp"
#include "sotto/core/decimal.hpp"
#include "sotto/core/text.hpp"
#include "sotto/mechanisms/additive.hpp"
#include "sotto/plan/text.hpp"
#include "sotto/random/random.hpp"
#include "sotto/study/federated.hpp"

namespace sotto::cli {
namespace {

struct InitOptions {
  std::vector<std::string> members;
  std::string coordinator, address, title, threshold, colluding = "1", size = "1", sigma, epsilon, delta, sensitivity = "1", most, rounds = "1",
                                    spare = "0", deadline = "60", bits = "64", relation = "add-remove", study, catalogue;
  bool by_authority = false;
};

std::int64_t whole(const std::string& text, const char* option) {
  const double number = number_of(text, option);
  if (number != std::floor(number) || std::fabs(number) > 0x1p52) throw InvalidValue(std::string(option) + " " + text + " is not a whole number");
  return static_cast<std::int64_t>(number);
}

std::string fresh_nonce() {
  static constexpr std::string_view digits = "0123456789abcdef";
  std::string nonce;
  for (int i = 0; i < 32; ++i) nonce += digits[Random::here().word() >> 60U];
  return nonce;
}

// The noise of all rounds, spare ones included: as given, or the least for what they may cost.
void set_noise(Session& session, const InitOptions& options) {
  SumItem& item = session.items.front();
  const auto set = [&](double sigma) {
    item.sigma = sigma;
    item.grid = RoundedNoise::grid_for(sigma / std::sqrt(static_cast<double>(std::max<std::int64_t>(session.honest, 1))));
    session.plan = print(plan_of_sums(session));
  };
  if (!options.sigma.empty()) {
    if (!options.epsilon.empty()) throw InvalidValue("--sigma and --epsilon both say how much noise: leave one out");
    return set(number_of(options.sigma, "--sigma"));
  }
  if (options.epsilon.empty() || options.delta.empty()) throw InvalidValue("how much noise? Type --sigma S, or --epsilon E --delta D");
  const Epsilon target(number_of(options.epsilon, "--epsilon"));
  const Delta delta(number_of(options.delta, "--delta"));
  const Plan hole = parse(std::to_string(item.rounds + session.spare) + " * gaussian(?, " + shortest(item.sensitivity) + ")");
  const double least = additive_for(hole, target, delta).scale();
  for (double more = 0; more < 1e-3; more = more * 2 + 0x1p-52) {  // for the slack of rounded noise, which is tiny
    set(least * (1 + more));
    if (epsilon(parse(session.plan), delta).value.upper <= target.value()) return;
  }
  throw OutsideConditions("no noise was found at which all rounds cost at most --epsilon " + options.epsilon + ": name it with --sigma");
}

// Whoever makes the session reads the study with a data file of its own; every member checks it against theirs.
Session for_study(const Session& base, const InitOptions& options) {
  for (const auto& [option, typed] : {std::pair{"--most", &options.most}, {"--sigma", &options.sigma}, {"--epsilon", &options.epsilon}, {"--delta", &options.delta}}) {
    if (!typed->empty()) throw InvalidValue(std::string(option) + " is for a session without a study: a study has its budget and bounds itself");
  }
  const std::string text = read_text(options.study);
  const Catalogue catalogue = catalogue_of(options.catalogue);
  const DataFile data = catalogue.find(data_of(text));
  const Study study = parse_study(text, data, [&](const std::string& name) { return catalogue.find(name); });
  return session_for(study, Ledger::open(data.ledger).terms().relation, base);
}

Session session_of(const InitOptions& options) {
  Session session;
  session.title = options.title;
  session.nonce = fresh_nonce();
  for (const std::string& file : options.members) session.members.push_back(parse_card(read_text(file)));
  session.certificate = parse_card(read_text(options.coordinator)).certificate;
  session.colluding = whole(options.colluding, "--colluding");
  session.threshold = options.threshold.empty() ? least_threshold(session.size(), session.colluding) : whole(options.threshold, "--threshold");
  session.honest = session.threshold - session.colluding;
  if (session.honest < 1)
    throw InvalidValue("--colluding " + options.colluding + " leaves no noise that those who collude do not know: fewer, or more members");
  session.bits = static_cast<int>(whole(options.bits, "--bits"));
  session.spare = whole(options.spare, "--spare");
  session.deadline = whole(options.deadline, "--deadline");
  session.relation = options.relation;
  session.coordinator = options.address;
  if (options.by_authority) {
    session.certificate.clear();
    for (Member& member : session.members) member.certificate.clear();
  }
  if (!options.study.empty()) return for_study(session, options);
  if (options.most.empty()) throw InvalidValue("what is summed? Type --study FILE, or, for one vector of numbers, --most M and --epsilon E --delta D");
  if (session.title.empty()) session.title = "a sum";
  SumItem item;
  item.name = "values";
  item.size = whole(options.size, "--size");
  item.rounds = whole(options.rounds, "--rounds");
  item.sensitivity = number_of(options.sensitivity, "--sensitivity");
  item.most = number_of(options.most, "--most");
  session.items = {item};
  set_noise(session, options);
  require_sound(session);
  return session;
}

void run_enroll(const std::string& name, const std::string& folder) {
  const MemberKey key = make_member_key(name);
  if (name.find_first_of("/\\") != std::string::npos || name.front() == '.')
    throw InvalidValue("a name stands in file names: it has no / and no . in front");
  const std::filesystem::path base = std::filesystem::path(folder) / name;
  write_key(base.string() + ".member.key", key);
  const Member card = card_of(key);
  write_durably(base.string() + ".member.json", to_text(card));
  std::cout << spoken(card.key) << "\n";
  say(base.string() + ".member.key is secret and stays here; send " + base.string() +
      ".member.json to whoever makes the session, and read these words to them aloud");
}

void run_approve(const std::string& file, const std::string& key_file, const std::string& delta_text) {
  const Session session = parse_session(read_text(file));
  const AgreedSession agreed = sotto::agreed(session);
  const MemberKey key = read_key(key_file);
  const std::int64_t self = member_with(session, signing_public_key(key.seed));
  const Delta delta(number_of(delta_text, "--delta"));
  const Plan plan = parse(session.plan);
  Question question;
  question.relation = relation_named(session.relation);
  std::string text = "session     " + session.title + "\n";
  for (std::size_t i = 0; i < session.members.size(); ++i) {
    text += (i == 0 ? "members     " : "            ") + session.members[i].name + "   " + spoken(session.members[i].key) +
            (static_cast<std::int64_t>(i) == self ? "   (you)" : "") + "\n";
  }
  text += "collude     up to " + std::to_string(session.colluding) + " of " + std::to_string(session.size()) + ", with the coordinator\n";
  text += "threshold   " + std::to_string(session.threshold) + " members open a sum; the noise of " + std::to_string(session.honest) +
          " of them hides each of you\n";
  for (const SumItem& item : session.items) {
    text += "sums        " + std::to_string(item.size) + " numbers up to " + readable(item.most) + ", one unit moves them by " +
            readable(item.sensitivity) + ", noise of " + readable(item.sigma) + ", " + std::to_string(item.rounds) +
            (item.rounds == 1 ? " round\n" : " rounds\n");
  }
  text += "plan        " + session.plan + "   (with " + std::to_string(session.spare) + " spare rounds)\n";
  text += "epsilon     <= " + rounded(epsilon(plan, delta, question).value.upper, 6, Side::upper) + "   at delta = " + shortest(delta.value()) +
          ", " + session.relation + "\n";
  text += "coordinator " + session.coordinator + "\n";
  std::cout << escaped_document(text);
  MemberFolder(key_file, agreed).approve();
  say(session.members[static_cast<std::size_t>(self)].name + " agrees. Ask each of the others for their words: they must be the ones above");
}

}  // namespace

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
  command->add_option("--member", options->members, "a member's card; once for each")->required()->allow_extra_args(false);
  command->add_option("--coordinator-card", options->coordinator, "the coordinator's card")->required();
  command->add_option("--address", options->address, "where members reach the coordinator, HOST:PORT")->required();
  command->add_option("--study", options->study, "the study that all members run, each on its own data");
  command->add_option("--catalogue", options->catalogue, catalogue_words);
  command->add_option("--title", options->title, "what it is in words; a study has its own");
  command->add_option("--colluding", options->colluding, "so many members may pool what they see, with the coordinator")->capture_default_str();
  command->add_option("--threshold", options->threshold, "so many members open a sum; without it the least that is sound");
  command->add_option("--size", options->size, "how many numbers each member has")->capture_default_str();
  command->add_option("--sensitivity", options->sensitivity, "how much one unit moves them at most, in L2")->capture_default_str();
  command->add_option("--sigma", options->sigma, "the standard deviation of the noise in a sum, at least");
  command->add_option("--epsilon", options->epsilon, "or what all rounds may cost, with --delta");
  command->add_option("--delta", options->delta, "at this delta");
  command->add_option("--most", options->most, "no member's number is larger");
  command->add_option("--rounds", options->rounds, "so many sums, one after the other")->capture_default_str();
  command->add_option("--spare", options->spare, "so many more rounds for those that fail; they are paid for in advance")->capture_default_str();
  command->add_option("--deadline", options->deadline, "seconds that the coordinator waits in each phase")->capture_default_str();
  command->add_option("--bits", options->bits, "of an element of a sum: 32 or 64")->capture_default_str();
  command->add_option("--relation", options->relation, "under which the sensitivity is stated")->capture_default_str();
  command->add_flag("--by-authority", options->by_authority, "leave the cards' certificates out: an authority's are used, --tls-ca");
  command->callback([options] { std::cout << to_text(session_of(*options)); });
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
