// sotto ledger: the durable budget, for whoever holds the data.
#include "sotto/ledger/ledger.hpp"

#include <filesystem>
#include <iostream>

#include "cli/budget.hpp"
#include "cli/catalogue.hpp"
#include "cli/command.hpp"
#include "sotto/core/decimal.hpp"
#include "sotto/core/errors.hpp"
#include "core/api/file.hpp"
#include "core/api/text.hpp"
#include "sotto/ledger/key.hpp"
#include "sotto/plan/text.hpp"
#include "report/api/ledger.hpp"
#include "report/api/svg.hpp"

namespace sotto::cli {
namespace {

struct Options {
  std::string file, from, plan, request, name, unit = "row", unit_type, source, relation, head, writer, at, key, witness, title, catalogue;
  std::vector<std::string> writer_keys;
  std::string epsilon, delta, rho, order, mu, slack;
  bool sum = false, drop = false, unverified = false;
  std::string at_delta;
};

Budget budget_of(const Options& o) {
  const auto number = [](const std::string& text, const char* option) { return text.empty() ? 0 : number_of(text, option); };
  const double delta = number(o.delta, "--delta");
  int kinds = 0;
  for (const std::string& kind : {o.rho, o.mu, o.epsilon, o.plan}) kinds += kind.empty() ? 0 : 1;
  if (kinds != 1) throw InvalidValue("a ledger has one budget: --epsilon E --delta D, --rho R, --order A --epsilon E, --mu M, or --plan PLAN");
  if (o.epsilon.empty() && !o.order.empty()) throw InvalidValue("--order goes with --epsilon");
  if (o.epsilon.empty() && o.sum) throw InvalidValue("--sum goes with --epsilon");
  if (!o.delta.empty() && !o.plan.empty()) throw InvalidValue("--delta goes with --rho, --epsilon or --mu");
  if (!o.plan.empty()) return CommittedBudget{parse(o.plan)};
  if (!o.slack.empty() && (o.epsilon.empty() || !o.order.empty() || o.sum || delta == 0))
    throw InvalidValue("--slack goes with --epsilon and --delta");
  if (!o.rho.empty()) return ZcdpBudget{number_of(o.rho, "--rho"), delta};
  if (!o.mu.empty()) return GdpBudget{number_of(o.mu, "--mu"), delta};
  if (!o.order.empty()) return RenyiBudget{number_of(o.order, "--order"), number_of(o.epsilon, "--epsilon"), delta};
  return promised_budget(number_of(o.epsilon, "--epsilon"), delta, o.slack, o.sum);
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
    throw InvalidValue("--head is what show and verify print: a number, a colon and 64 digits");
  return {static_cast<std::int64_t>(number_of(text.substr(0, colon), "--head")), text.substr(colon + 1)};
}

LedgerOptions options_of(const Options& o) {
  return {.key = o.key, .witness = o.witness, .writer = o.writer, .writer_keys = o.writer_keys, .unit_type = o.unit_type, .source = o.source};
}

// Reading and charging: the ledger may be named by its data, whose file also says where key and witness are.
Options found(Options o) {
  const LedgerPlace at = ledger_place(o.file, o.catalogue);
  o.file = at.place;
  if (o.key.empty()) o.key = at.key;
  if (o.witness.empty()) o.witness = at.witness;
  return o;
}

void run_create(const Typed& typed, const Options& o) {
  const Terms terms{.name = o.name.empty() ? without_password(o.file) : o.name,
                    .unit = o.unit,
                    .relation = relation_of(o.relation),
                    .budget = budget_of(o),
                    .unit_type = o.unit_type,
                    .source = o.source};
  if (o.file.find("://") == std::string::npos) {
    require_folder_of(o.file);
    if (std::filesystem::exists(o.file)) {
      throw InvalidValue(o.file + " exists already, and a ledger's budget is fixed: type another name, or sotto ledger show " + o.file);
    }
  }
  const Ledger ledger = Ledger::create(o.file, terms, options_of(o));
  if (!typed.quiet) {
    say("made " + without_password(o.file) + " with the budget " + print(ledger.terms().budget) + ", and its key " +
        (o.key.empty() ? default_key(o.file) : o.key));
    warn_of_delta(o.delta, typed.quiet, std::nullopt, o.unit);
    say_what_it_counts(ledger.terms().budget, o.mu.empty() && !o.delta.empty() ? number_of(o.delta, "--delta") : 0);
  }
  std::cout << head_text(ledger.head()) << "\n";
}

void run_key(const Typed& typed, const Options& o) {
  const SigningKey key = SigningKey::generate();
  key.write(o.file);
  if (!typed.quiet) say("made the key " + o.file + "; whoever makes the ledger adds its public part: --writer-key KEY");
  std::cout << key.public_key() << "\n";
}

void run_show(const Typed& typed, const Options& o) {
  const auto delta = o.at_delta.empty() ? std::nullopt : std::optional(Delta(number_of(o.at_delta, "--delta")));
  const Ledger ledger = Ledger::open(o.file, {.witness = o.witness});
  const LedgerState state = state_of(ledger, delta);
  if (!typed.plot.empty()) write_file(typed.plot, svg(ledger_chart(state)));
  std::cout << ledger_text(state, format_of(typed));
  warn_of_delta(o.at_delta, typed.quiet, std::nullopt, state.terms.unit);
}

void run_verify(const Options& o) {
  const Ledger ledger = Ledger::open(o.file, options_of(o));
  const Finding finding = ledger.verify(o.head.empty() ? std::nullopt : std::optional(head_of(o.head)));
  if (!finding.sound) throw LedgerError(without_password(o.file) + " is not sound: " + finding.words);
  std::cout << "sound       " << escaped_for_terminal(finding.words) << "\nhead        " << head_text(finding.head) << "\n";
}

void run_charge(const Typed& typed, const Options& o) {
  Ledger ledger = Ledger::open(o.file, options_of(o));
  const Plan event = parse(o.plan);
  const auto at = o.at.empty() ? std::nullopt : std::optional(Delta(number_of(o.at, "--at")));
  const Ledger::Order order{.request = o.request, .content = digest(print(event)), .event = event, .at = at, .title = o.title};
  const Receipt receipt = ledger.charge(std::vector{order}).front();
  if (!receipt.repeated) note_charge();
  if (at) warn_of_delta(at->value(), typed.quiet, std::nullopt, ledger.terms().unit);
  if (!typed.quiet) std::cerr << "sotto: " << (receipt.repeated ? "charged before, and not again" : "charged") << "\n";
  std::cout << receipt_text(receipt, ledger.filter()) << "head        " << head_text(ledger.head()) << "\n";
}

void run_witness(const Typed& typed, const Options& o) {
  if (o.witness.empty()) throw InvalidValue("which witness? Type --witness FILE, or write witness = \"FILE\" in the data's file");
  Ledger ledger = Ledger::open(o.file, options_of(o));
  ledger.start_witness();
  if (!typed.quiet) say("the witness " + o.witness + " keeps the head of this ledger from now on");
  std::cout << head_text(ledger.head()) << "\n";
}

std::string counted(std::int64_t count, const std::string& one) { return std::to_string(count) + " " + one + (count == 1 ? "" : "s"); }

void run_repair(const Typed& typed, const Options& o) {
  const Repair repair = Ledger::repair(o.file, options_of(o), !o.drop);
  std::string what = repair.records == 0 ? "" : counted(repair.records, "record") + " that no key of the ledger signed";
  if (repair.answers > 0) what += (what.empty() ? "" : " and ") + counted(repair.answers, "answer") + " without a mark";
  std::cout << escaped_json(repair.dropped);
  if (repair.records == 0 && repair.answers == 0) {
    if (!typed.quiet) say("nothing to repair: every record leads to the signed head " + head_text(repair.kept));
  } else if (!o.drop) {
    say("behind the signed head " + head_text(repair.kept) + ": " + what + ", shown above. To drop them, type: --drop");
  } else if (!typed.quiet) {
    say("dropped " + what + ", and noted it in the ledger; its head is " + head_text(repair.head));
  }
}

void run_import(const Typed& typed, const Options& o) {
  if (!std::filesystem::exists(o.from)) throw std::runtime_error("cannot open " + o.from + "\ntype: sotto ledger export OLD > " + o.from);
  const std::string exported = read_file(o.from, most_written_text);
  if (exported.find("\"sotto.ledger/") == std::string::npos) {
    throw InvalidValue(o.from + " is not an exported ledger\ntype: sotto ledger export OLD > FILE, and import that");
  }
  const Ledger ledger = Ledger::import(o.file, exported, options_of(o));
  if (!typed.quiet) say("made " + without_password(o.file) + " with " + std::to_string(ledger.entries().size()) + " charges");
  std::cout << head_text(ledger.head()) << "\n";
}

}  // namespace

void add_ledger(Command& app, Typed& typed) {
  static Options o;
  Command* ledger = app.add_subcommand(
      "ledger",
      "Examples:\n"
      "  sotto ledger create people.sotto --unit person --relation add-remove --epsilon 3 --delta 1e-6\n"
      "  sotto ledger charge people.sotto 'gaussian(10)' --request 2026-survey\n"
      "  sotto ledger show people\n"
      "  sotto ledger verify people.sotto\n"
      "  sotto ledger verify people.sotto --witness /mnt/elsewhere/heads\n"
      "  sotto ledger create postgresql://owner@localhost/people --key people.key --writer curator --relation add-remove --rho 0.5\n"
      "\n"
      "The budget, kept in a file or a PostgreSQL database: charges are durable, never taken back, and admitted by a filter that\n"
      "holds for analysts who choose each question from the answers so far.");
  ledger->require_subcommand(1);
  const auto sub = [&](const char* name, const char* words) {
    Command* command = ledger->add_subcommand(name, words);
    command->add_flag("--quiet", typed.quiet, "print nothing but errors on stderr");
    return command;
  };
  const auto make = [&](const char* name, const char* words) {
    Command* command = sub(name, words);
    command->add_option("FILE", o.file, "the ledger: a file, or postgresql://USER@HOST/DATABASE")->required();
    return command;
  };
  const auto use = [&](const char* name, const char* words) {
    Command* command = sub(name, words);
    command->add_option("LEDGER", o.file, "the ledger: the name of its data, a file, or postgresql://USER@HOST/DATABASE")->required();
    command->add_option("--catalogue", o.catalogue, catalogue_words);
    return command;
  };
  const auto key_option = [](Command* command) {
    command->add_option("--key", o.key, "the file of the signing key (default: people.key for people.sotto; required for a database)");
  };
  const auto witness_option = [](Command* command) {
    command->add_option("--witness", o.witness,
                        "keeps copies of ledger heads elsewhere: in a file, or by '|COMMAND', which is run with `give ID` and `last ID`");
  };
  Command* create = make("create", "A new ledger; its budget, unit and relation are fixed from then on.");
  create->add_option("--relation", o.relation, "add-remove, replace-one or zero-out")->required();
  create->add_option("--unit", o.unit, "the unit of privacy: a column such as person, or row")->capture_default_str();
  create->add_option("--unit-type", o.unit_type, "the type of the unit's column, such as integer or text");
  create->add_option("--name", o.name, "of the data; else the file's");
  create->add_option("--source", o.source, "what the data are: a file's canonical path, or a table's place");
  create->add_option("--rho", o.rho, "a zCDP budget: the rho of the events add up");
  create->add_option("--epsilon", o.epsilon,
                     "the epsilon of the budget: at --delta, accounted in Gaussian DP with slack, which accepts every event; without --delta, the\n"
                     "sum of pure epsilons; with --order, accounted in Rényi DP");
  create->add_option("--slack", o.slack, "the part of --delta set aside for the slack of single events (default: a tenth)");
  create->add_flag("--sum", o.sum, "epsilon and delta of the events add up: for few events, or pure ones");
  create->add_option("--order", o.order, "the one order of a Rényi budget");
  create->add_option("--mu", o.mu, "a Gaussian DP budget: the mu^2 of the events add up; --delta is its slack");
  create->add_option("--plan", o.plan, "a plan committed in advance: its parts may be run as often as it says, and its tight total is the cost");
  create->add_option("--delta", o.delta,
                     "the delta of the budget; with --rho, --order or --mu, the most that the delta of events may add up to (default 0)");
  const char* writer = "a database role that may only read the ledger and append to it";
  create->add_option("--writer", o.writer, writer);
  create->add_option("--writer-key", o.writer_keys, "the public key of another writer who may charge; may be repeated")->allow_extra_args(false);
  key_option(create);
  witness_option(create);
  create->callback([&typed] {
    typed.plan = o.plan = plan_text(o.plan);
    run_create(typed, o);
  });

  Command* show = use("show", "What was spent, what is left, and every entry.");
  show->add_option("--delta", o.at_delta, "the delta at which epsilon is promised (default: the budget's own, else 1e-6)");
  show->add_option("--format", typed.format, "table, json or csv")->capture_default_str();
  show->add_option("--plot", typed.plot, "draws what was spent over time to this SVG file");
  show->callback([&typed] { run_show(typed, found(o)); });

  Command* verify = use("verify", "Recomputes every hash, total and signature; with --head or --witness, checks that no older state was restored.");
  verify->add_option("--head", o.head, "a head that was kept elsewhere, as show prints it");
  witness_option(verify);
  verify->callback([] { run_verify(found(o)); });

  Command* charge = use("charge", "Charges an event by hand, for a release that sotto does not make.");
  charge->add_option("PLAN", o.plan, std::string("the event, such as 'gaussian(10)'") + plan_forms)->required();
  charge->add_option("--request", o.request, "its id, such as --request survey-2026: charged once, however often it is asked for")->required();
  charge->add_option("--title", o.title, "what it is, for whoever reads the ledger");
  key_option(charge);
  witness_option(charge);
  charge->add_option("--at", o.at,
                     "where epsilon and delta add up: charges the event's tight epsilon at this delta, and the delta; in Gaussian DP: its slack");
  charge->callback([&typed] {
    typed.plan = o.plan = plan_text(o.plan);
    run_charge(typed, found(o));
  });

  Command* witness = use("witness", "Says that a witness is new: it keeps the ledger's head from now on.");
  witness_option(witness);
  witness->callback([&typed] { run_witness(typed, found(o)); });

  Command* repair = use("repair", "Shows what somebody without a key added behind the last signed head, which no charge accepts; --drop drops it.");
  repair->add_flag("--drop", o.drop, "drop it, and note that in the ledger; in a database as the owner of its tables");
  key_option(repair);
  witness_option(repair);
  repair->callback([&typed] { run_repair(typed, found(o)); });

  Command* exporter = use("export", "The whole ledger as lines of JSON.");
  exporter->add_flag("--unverified", o.unverified, "what is stored, also where its chain is broken or an answer was changed");
  exporter->callback([] { std::cout << escaped_json(Ledger::open(found(o).file).exported(o.unverified)); });
  Command* importer = make("import", "A new ledger from what export wrote.");
  importer->add_option("FROM", o.from, "the exported lines")->required();
  importer->add_option("--writer", o.writer, writer);
  importer->add_option("--unit-type", o.unit_type, "the type of the unit's column, which a ledger of version 1 does not state");
  importer->add_option("--source", o.source, "what the data are, which a ledger of version 1 does not state");
  key_option(importer);
  importer->callback([&typed] { run_import(typed, o); });

  Command* key = ledger->add_subcommand("key", "A key for one more writer of a ledger that will be made; prints its public part.");
  key->add_option("FILE", o.file, "the key's file; it stays with the writer")->required();
  key->add_flag("--quiet", typed.quiet, "print nothing but errors on stderr");
  key->callback([&typed] { run_key(typed, o); });
}

}  // namespace sotto::cli
