// sotto ledger: creates, shows, verifies and charges the durable budget.
#include "sotto/ledger/ledger.hpp"

#include <filesystem>
#include <iostream>
#include <memory>

#include "cli/arguments/budget.hpp"
#include "cli/arguments/plan_arguments.hpp"
#include "cli/catalogue.hpp"
#include "core/api/file.hpp"
#include "core/api/text.hpp"
#include "report/api/ledger.hpp"
#include "report/api/svg.hpp"
#include "sotto/core/decimal.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/ledger/key.hpp"
#include "sotto/plan/text.hpp"

namespace sotto::cli {
namespace {

// The arguments of all subcommands; each has the options for some of them.
struct Arguments : OutputArguments {
  std::string ledger;  // a file, an address, or the name of data
  std::string catalogue, key, witness;
  std::string name, unit = "row", unit_type, source, relation, writer;  // create
  std::vector<std::string> writer_keys;
  std::string epsilon, delta, rho, order, mu, slack;  // create: the budget
  bool sum = false;
  std::string plan;                // create, charge
  std::string request, title, at;  // charge
  std::string head;                // verify
  std::string exported;            // import: the file
  bool drop = false;               // repair
  bool unverified = false;         // export
};

// Returns the budget that was typed. Throws InvalidValue unless there is exactly one.
Budget budget_of(const Arguments& arguments) {
  const auto number = [](const std::string& text, const char* option) {
    return text.empty() ? 0 : number_of(text, option);
  };
  const double delta = number(arguments.delta, "--delta");
  int kinds = 0;
  for (const std::string& kind : {arguments.rho, arguments.mu, arguments.epsilon, arguments.plan})
    kinds += kind.empty() ? 0 : 1;
  if (kinds != 1)
    throw InvalidValue(
        "a ledger has one budget: type --epsilon E --delta D, --rho R, --order A --epsilon E, --mu "
        "M, or --plan PLAN");
  if (arguments.epsilon.empty() && !arguments.order.empty())
    throw InvalidValue("--order goes with --epsilon");
  if (arguments.epsilon.empty() && arguments.sum) throw InvalidValue("--sum goes with --epsilon");
  if (!arguments.delta.empty() && !arguments.plan.empty())
    throw InvalidValue("--delta goes with --rho, --epsilon or --mu");
  if (!arguments.plan.empty()) return CommittedBudget{parse_plan(arguments.plan)};
  if (!arguments.slack.empty() && (arguments.epsilon.empty() || delta == 0))
    throw InvalidValue("--slack goes with --epsilon and a --delta above 0");
  if (!arguments.slack.empty() && (!arguments.order.empty() || arguments.sum))
    throw InvalidValue(std::string("--slack does not go with ") +
                       (arguments.sum ? "--sum" : "--order") + ": leave one of them out");
  if (!arguments.rho.empty()) return ZcdpBudget{number_of(arguments.rho, "--rho"), delta};
  if (!arguments.mu.empty()) return GdpBudget{number_of(arguments.mu, "--mu"), delta};
  if (!arguments.order.empty())
    return RenyiBudget{number_of(arguments.order, "--order"),
                       number_of(arguments.epsilon, "--epsilon"), delta};
  return promised_budget(number_of(arguments.epsilon, "--epsilon"), delta, arguments.slack,
                         arguments.sum);
}

Relation relation_of(const std::string& text) {
  const auto relation = relation_named(text);
  if (!relation || *relation == Relation::as_stated) throw InvalidValue(unknown_relation(text));
  return *relation;
}

std::string head_text(const Head& head) { return std::to_string(head.number) + ":" + head.hash; }

Head head_of(const std::string& text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos || text.size() != colon + 65)
    throw InvalidValue(
        "--head " + text +
        " is not a head, which is what show and verify print: a number, a colon and 64 digits");
  return {static_cast<std::int64_t>(number_of(text.substr(0, colon), "--head")),
          text.substr(colon + 1)};
}

LedgerOptions options_of(const Arguments& arguments) {
  return {.key = arguments.key,
          .witness = arguments.witness,
          .writer = arguments.writer,
          .writer_keys = arguments.writer_keys,
          .unit_type = arguments.unit_type,
          .source = arguments.source};
}

// Resolves the name of data to its ledger, with the key and witness that its data file names.
Arguments resolved(Arguments arguments) {
  const LedgerPlace at = ledger_place(arguments.ledger, arguments.catalogue);
  arguments.ledger = at.place;
  if (arguments.key.empty()) arguments.key = at.key;
  if (arguments.witness.empty()) arguments.witness = at.witness;
  return arguments;
}

void run_create(const Arguments& arguments) {
  const Terms terms{
      .name = arguments.name.empty() ? without_password(arguments.ledger) : arguments.name,
      .unit = arguments.unit,
      .relation = relation_of(arguments.relation),
      .budget = budget_of(arguments),
      .unit_type = arguments.unit_type,
      .source = arguments.source};
  if (arguments.ledger.find("://") == std::string::npos) {
    require_folder_of(arguments.ledger);
    if (std::filesystem::exists(arguments.ledger)) {
      throw InvalidValue(
          arguments.ledger +
          " exists already, and its budget is fixed: type another name, or sotto ledger show " +
          arguments.ledger);
    }
  }
  const Ledger ledger = Ledger::create(arguments.ledger, terms, options_of(arguments));
  if (!arguments.quiet) {
    say("created " + without_password(arguments.ledger) + " with the budget " +
        print(ledger.terms().budget) + ", and its key " +
        (arguments.key.empty() ? default_key(arguments.ledger) : arguments.key));
    warn_of_delta(arguments.delta, arguments.quiet, std::nullopt, arguments.unit);
    say_promise(ledger.terms().budget, arguments.mu.empty() && !arguments.delta.empty()
                                           ? number_of(arguments.delta, "--delta")
                                           : 0);
  }
  std::cout << head_text(ledger.head()) << "\n";
}

void run_key(const Arguments& arguments) {
  const SigningKey key = SigningKey::generate();
  key.write(arguments.key);
  if (!arguments.quiet)
    say("created the key " + arguments.key +
        "; to create a ledger with this writer, add its public part: --writer-key KEY");
  std::cout << key.public_key() << "\n";
}

void run_show(const Arguments& arguments) {
  const auto delta = arguments.delta.empty()
                         ? std::nullopt
                         : std::optional(Delta(number_of(arguments.delta, "--delta")));
  const Ledger ledger = Ledger::open(arguments.ledger, {.witness = arguments.witness});
  const LedgerState state = state_of(ledger, delta);
  if (!arguments.plot.empty()) write_file(arguments.plot, svg(ledger_chart(state)));
  std::cout << ledger_text(state, format_of(arguments));
  warn_of_delta(arguments.delta, arguments.quiet, std::nullopt, state.terms.unit);
}

void run_verify(const Arguments& arguments) {
  const Ledger ledger = Ledger::open(arguments.ledger, options_of(arguments));
  const Finding finding =
      ledger.verify(arguments.head.empty() ? std::nullopt : std::optional(head_of(arguments.head)));
  if (!finding.sound)
    throw LedgerError(without_password(arguments.ledger) + " is not sound: " + finding.words);
  std::cout << "sound       " << escaped_for_terminal(finding.words) << "\nhead        "
            << head_text(finding.head) << "\n";
}

void run_charge(const Arguments& arguments) {
  Ledger ledger = Ledger::open(arguments.ledger, options_of(arguments));
  const Plan event = parse_plan(arguments.plan);
  const auto at =
      arguments.at.empty() ? std::nullopt : std::optional(Delta(number_of(arguments.at, "--at")));
  const Ledger::ChargeRequest order{.request = arguments.request,
                                    .content = digest(print(event)),
                                    .event = event,
                                    .at = at,
                                    .title = arguments.title};
  const Receipt receipt = ledger.charge(std::vector{order}).front();
  if (!receipt.repeated) note_charge();
  if (at) warn_of_delta(at->value(), arguments.quiet, std::nullopt, ledger.terms().unit);
  if (!arguments.quiet)
    std::cerr << "sotto: "
              << (receipt.repeated ? "this request was charged before: it is not charged again"
                                   : "charged")
              << "\n";
  std::cout << receipt_text(receipt, ledger.filter()) << "head        " << head_text(ledger.head())
            << "\n";
}

void run_witness(const Arguments& arguments) {
  if (arguments.witness.empty())
    throw InvalidValue(
        "no witness is named: type --witness FILE, or write witness = \"FILE\" in the data file");
  Ledger ledger = Ledger::open(arguments.ledger, options_of(arguments));
  ledger.start_witness();
  if (!arguments.quiet)
    say("the witness " + arguments.witness + " keeps the head of this ledger from now on");
  std::cout << head_text(ledger.head()) << "\n";
}

std::string counted(std::int64_t count, const std::string& one) {
  return std::to_string(count) + " " + one + (count == 1 ? "" : "s");
}

void run_repair(const Arguments& arguments) {
  const Repair repair = Ledger::repair(arguments.ledger, options_of(arguments), !arguments.drop);
  std::string unsigned_part =
      repair.records == 0 ? ""
                          : counted(repair.records, "record") + " that no key of the ledger signed";
  if (repair.answers > 0)
    unsigned_part += (unsigned_part.empty() ? "" : " and ") + counted(repair.answers, "answer") +
                     " without a mark";
  std::cout << escaped_json(repair.dropped);
  if (repair.records == 0 && repair.answers == 0) {
    if (!arguments.quiet)
      say("nothing to repair: every record leads to the signed head " +
          head_text(repair.signed_head));
  } else if (!arguments.drop) {
    say("after the signed head " + head_text(repair.signed_head) + ": " + unsigned_part +
        ", shown above. To drop them, type: --drop");
  } else if (!arguments.quiet) {
    say("dropped " + unsigned_part + ", and noted it in the ledger; its head is " +
        head_text(repair.head));
  }
}

void run_import(const Arguments& arguments) {
  if (!std::filesystem::exists(arguments.exported))
    throw std::runtime_error("cannot open " + arguments.exported + ": there is no such file" +
                             "\ntype: sotto ledger export OLD > " + arguments.exported);
  const std::string exported = read_file(arguments.exported, max_generated_file_size);
  if (exported.find("\"sotto.ledger/") == std::string::npos) {
    throw InvalidValue(
        arguments.exported +
        " is not an exported ledger\ntype: sotto ledger export OLD > FILE, and import that");
  }
  const Ledger ledger = Ledger::import(arguments.ledger, exported, options_of(arguments));
  if (!arguments.quiet)
    say("created " + without_password(arguments.ledger) + " with " +
        std::to_string(ledger.entries().size()) + " charges");
  std::cout << head_text(ledger.head()) << "\n";
}

// --- Options ---

constexpr const char* writer_words =
    "a database role that may only read the ledger and append to it";

Command* add(Command& parent, Arguments& arguments, const char* name, const char* summary,
             const char* description) {
  Command* command = parent.add_subcommand(name, summary, description);
  add_quiet(*command, arguments);
  return command;
}

// Adds a command that creates a ledger.
Command* add_creating(Command& parent, Arguments& arguments, const char* name, const char* summary,
                      const char* description) {
  Command* command = add(parent, arguments, name, summary, description);
  command
      ->add_option("FILE", arguments.ledger,
                   "the ledger: a file, or postgresql://USER@HOST/DATABASE")
      ->required();
  return command;
}

// Adds a command that opens a ledger, which may be named by its data.
Command* add_opening(Command& parent, Arguments& arguments, const char* name, const char* summary,
                     const char* description) {
  Command* command = add(parent, arguments, name, summary, description);
  command
      ->add_option("LEDGER", arguments.ledger,
                   "the ledger: the name of its data, a file, or postgresql://USER@HOST/DATABASE")
      ->required();
  command->add_option("--catalogue", arguments.catalogue, catalogue_words);
  return command;
}

void add_key(Command& command, Arguments& arguments) {
  command.add_option("--key", arguments.key,
                     "the file of the signing key (default: people.key for people.sotto; required "
                     "for a database)");
}

void add_witness(Command& command, Arguments& arguments) {
  command.add_option("--witness", arguments.witness,
                     "keeps copies of ledger heads elsewhere: in a file, or by '|COMMAND', which "
                     "is run with `give ID` and `last ID`");
}

void add_create(Command& parent) {
  const auto arguments = std::make_shared<Arguments>();
  Command* create = add_creating(
      parent, *arguments, "create", "Create a ledger; its budget, unit and relation are fixed",
      "Creates a ledger. Its budget, unit and relation are fixed from then on.");
  create->add_option("--relation", arguments->relation, "add-remove, replace-one or zero-out")
      ->required();
  create
      ->add_option("--unit", arguments->unit,
                   "the unit of privacy: a column such as person, or row")
      ->capture_default_str();
  create->add_option("--unit-type", arguments->unit_type,
                     "the type of the unit's column, such as integer or text");
  create->add_option("--name", arguments->name, "the name of the data (default: the file's)");
  create->add_option("--source", arguments->source,
                     "what the data are: a file's canonical path, or a table's address");
  create->add_option("--rho", arguments->rho, "a zCDP budget: the rho of the events add up");
  create->add_option("--epsilon", arguments->epsilon,
                     "the epsilon of the budget: at --delta, accounted in Gaussian DP with slack, "
                     "which accepts every event; without --delta, the\n"
                     "sum of pure epsilons; with --order, accounted in Rényi DP");
  create->add_option(
      "--slack", arguments->slack,
      "the part of --delta set aside for the slack of single events (default: a tenth)");
  create->add_flag("--sum", arguments->sum,
                   "adds up epsilon and delta of the events: for few events, or pure ones");
  create->add_option("--order", arguments->order, "the one order of a Rényi budget");
  create->add_option("--mu", arguments->mu,
                     "a Gaussian DP budget: the mu^2 of the events add up; --delta is its slack");
  create->add_option("--plan", arguments->plan,
                     "a plan committed in advance: its parts may be run as often as it says, and "
                     "its tight total is the cost");
  create->add_option("--delta", arguments->delta,
                     "the delta of the budget; with --rho, --order or --mu, the most that the "
                     "delta of events may add up to (default 0)");
  create->add_option("--writer", arguments->writer, writer_words);
  create
      ->add_option("--writer-key", arguments->writer_keys,
                   "the public key of another writer who may charge; may be repeated")
      ->allow_extra_args(false);
  add_key(*create, *arguments);
  add_witness(*create, *arguments);
  create->callback([arguments] {
    arguments->plan = plan_text(arguments->plan);
    run_create(*arguments);
  });
}

void add_show(Command& parent) {
  const auto arguments = std::make_shared<Arguments>();
  Command* show =
      add_opening(parent, *arguments, "show", "Show what was spent, what is left, and every entry",
                  "Shows what was spent, what is left, and every entry.");
  show->add_option("--delta", arguments->delta,
                   "the delta at which epsilon is promised (default: the budget's own, else 1e-6)");
  add_format(*show, *arguments);
  show->add_option("--plot", arguments->plot, "draws what was spent over time to this SVG file");
  show->callback([arguments] { run_show(resolved(*arguments)); });
}

void add_verify(Command& parent) {
  const auto arguments = std::make_shared<Arguments>();
  Command* verify =
      add_opening(parent, *arguments, "verify", "Check every hash, total and signature",
                  "Recomputes every hash, total and signature; with --head or --witness, also "
                  "checks that no older state was restored.");
  verify->add_option("--head", arguments->head,
                     "a head that you kept elsewhere, as show prints it");
  add_witness(*verify, *arguments);
  verify->callback([arguments] { run_verify(resolved(*arguments)); });
}

void add_charge(Command& parent) {
  const auto arguments = std::make_shared<Arguments>();
  Command* charge = add_opening(
      parent, *arguments, "charge", "Charge an event by hand, for a release outside of sotto",
      "Charges an event by hand, for a release that sotto does not make.");
  charge
      ->add_option("PLAN", arguments->plan,
                   std::string("the event, such as 'gaussian(10)'") + plan_forms)
      ->required();
  charge
      ->add_option(
          "--request", arguments->request,
          "its id, such as --request survey-2026: however often it is typed, it is charged once")
      ->required();
  charge->add_option("--title", arguments->title, "a description for readers of the ledger");
  add_key(*charge, *arguments);
  add_witness(*charge, *arguments);
  charge->add_option("--at", arguments->at,
                     "where epsilon and delta add up: charges the event's tight epsilon at this "
                     "delta, and the delta; in Gaussian DP: its slack");
  charge->callback([arguments] {
    arguments->plan = plan_text(arguments->plan);
    run_charge(resolved(*arguments));
  });
}

void add_witness_command(Command& parent) {
  const auto arguments = std::make_shared<Arguments>();
  Command* witness = add_opening(parent, *arguments, "witness",
                                 "Start a new witness, which keeps the head from now on",
                                 "Starts a new witness: it keeps the ledger's head from now on.");
  add_witness(*witness, *arguments);
  witness->callback([arguments] { run_witness(resolved(*arguments)); });
}

void add_repair(Command& parent) {
  const auto arguments = std::make_shared<Arguments>();
  Command* repair = add_opening(parent, *arguments, "repair",
                                "Show, or drop, records that were added without a key",
                                "Shows the records after the last signed head, which somebody "
                                "added without a key and no charge accepts; --drop drops "
                                "them.");
  repair->add_flag(
      "--drop", arguments->drop,
      "drops them, and notes that in the ledger; in a database as the owner of its tables");
  add_key(*repair, *arguments);
  add_witness(*repair, *arguments);
  repair->callback([arguments] { run_repair(resolved(*arguments)); });
}

void add_export(Command& parent) {
  const auto arguments = std::make_shared<Arguments>();
  Command* command =
      add_opening(parent, *arguments, "export", "Print the whole ledger as lines of JSON",
                  "Prints the whole ledger as lines of JSON.");
  command->add_flag("--unverified", arguments->unverified,
                    "prints what is stored even if the chain is broken or an answer was changed");
  command->callback([arguments] {
    std::cout << escaped_json(
        Ledger::open(resolved(*arguments).ledger).export_text(arguments->unverified));
  });
}

void add_import(Command& parent) {
  const auto arguments = std::make_shared<Arguments>();
  Command* command =
      add_creating(parent, *arguments, "import", "Create a ledger from an exported one",
                   "Creates a ledger from the lines that export printed.");
  command->add_option("FROM", arguments->exported, "the file with the exported lines")->required();
  command->add_option("--writer", arguments->writer, writer_words);
  command->add_option("--unit-type", arguments->unit_type,
                      "the type of the unit's column, which a ledger of version 1 does not state");
  command->add_option("--source", arguments->source,
                      "what the data are, which a ledger of version 1 does not state");
  add_key(*command, *arguments);
  command->callback([arguments] { run_import(*arguments); });
}

void add_key_command(Command& parent) {
  const auto arguments = std::make_shared<Arguments>();
  Command* key = parent.add_subcommand("key", "Create a key for one more writer",
                                       "Creates a key for one more writer of a ledger that will be "
                                       "created, and prints its public part.");
  key->add_option("FILE", arguments->key, "the key's file, which stays with the writer")
      ->required();
  add_quiet(*key, *arguments);
  key->callback([arguments] { run_key(*arguments); });
}

}  // namespace

void add_ledger(Command& app) {
  Command* ledger =
      app.add_subcommand("ledger", "Create, show, verify and charge the durable budget",
                         "Examples:\n"
                         "  sotto ledger create people.sotto --unit person --relation add-remove "
                         "--epsilon 3 --delta 1e-6\n"
                         "  sotto ledger charge people.sotto 'gaussian(10)' --request 2026-survey\n"
                         "  sotto ledger show people\n"
                         "  sotto ledger verify people.sotto\n"
                         "  sotto ledger verify people.sotto --witness /mnt/elsewhere/heads\n"
                         "  sotto ledger create postgresql://owner@localhost/people --key "
                         "people.key --writer curator --relation add-remove --rho 0.5\n"
                         "\n"
                         "Keeps the budget in a file or a PostgreSQL database. Charges are durable "
                         "and never taken back. A filter admits them that holds\n"
                         "for analysts who choose each question from the answers so far.");
  ledger->require_subcommand(1);
  add_create(*ledger);
  add_show(*ledger);
  add_verify(*ledger);
  add_charge(*ledger);
  add_witness_command(*ledger);
  add_repair(*ledger);
  add_export(*ledger);
  add_import(*ledger);
  add_key_command(*ledger);
}

}  // namespace sotto::cli
