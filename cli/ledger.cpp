// sotto ledger: the durable budget, for whoever holds the data.
#include "sotto/ledger/ledger.hpp"

#include <CLI/CLI.hpp>
#include <fstream>
#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "command.hpp"
#include "sotto/core/decimal.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/plan/text.hpp"
#include "sotto/report/csv.hpp"

namespace sotto::cli {
namespace {

using Json = nlohmann::ordered_json;

struct Options {
  std::string file, from, plan, request, name, unit = "row", relation, head;
  std::string epsilon, delta, rho, order, mu;
  std::string at_delta = "1e-6";
};

Budget budget_of(const Options& o) {
  const auto number = [](const std::string& text, const char* option) { return text.empty() ? 0 : number_of(text, option); };
  const double delta = number(o.delta, "--delta");
  const int kinds = static_cast<int>(!o.rho.empty()) + static_cast<int>(!o.mu.empty()) + static_cast<int>(!o.epsilon.empty());
  if (kinds != 1) throw InvalidValue("a ledger has one budget: --rho R, --epsilon E, --order A --epsilon E, or --mu M");
  if (!o.rho.empty()) return ZcdpBudget{number_of(o.rho, "--rho"), delta};
  if (!o.mu.empty()) return GdpBudget{number_of(o.mu, "--mu")};
  if (!o.order.empty()) return RenyiBudget{number_of(o.order, "--order"), number_of(o.epsilon, "--epsilon"), delta};
  return ApproximateBudget{number_of(o.epsilon, "--epsilon"), delta};
}

Relation relation_of(const std::string& text) {
  const auto relation = relation_named(text);
  if (!relation || *relation == Relation::as_stated) throw InvalidValue("--relation must be add-remove, replace-one or zero-out");
  return *relation;
}

std::string head_text(const Head& head) { return std::to_string(head.number) + ":" + head.hash; }

Head head_of(const std::string& text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos || text.size() != colon + 65)
    throw InvalidValue("--head is what show and verify print: a number, a colon and 64 digits");
  return {static_cast<std::int64_t>(number_of(text.substr(0, colon), "--head")), text.substr(colon + 1)};
}

void run_create(const Typed& typed, const Options& o) {
  const Ledger ledger = Ledger::create(o.file, {o.name.empty() ? o.file : o.name, o.unit, relation_of(o.relation), budget_of(o)});
  if (!typed.quiet) std::cerr << "sotto: made " << o.file << " with the budget " << print(ledger.terms().budget) << "\n";
  std::cout << head_text(ledger.head()) << "\n";
}

// The plan of all entries together, if there is one.
std::optional<Plan> together(const std::vector<Entry>& entries) {
  if (entries.empty()) return std::nullopt;
  std::vector<Plan> parts;
  for (const Entry& entry : entries) parts.push_back(parse(entry.plan));
  return Plan(Sum{std::move(parts)});
}

void run_show(const Typed& typed, const Options& o) {
  const Ledger ledger = Ledger::open(o.file);
  const Filter filter = ledger.filter();
  const std::vector<Entry> entries = ledger.entries();
  const Delta delta(number_of(o.at_delta, "--delta"));
  const Claim claim = filter.claim(delta);
  std::optional<double> tight;
  if (const auto plan = together(entries)) {
    try {
      tight = epsilon(*plan, delta, {.relation = ledger.terms().relation}).value.upper;
    } catch (const OutsideConditions&) {
    }
  }
  const Terms& terms = ledger.terms();
  if (format_of(typed) == Format::json) {
    Json json{{"schema", "sotto.ledger-state/1"}, {"id", ledger.id()}, {"name", terms.name}, {"unit", terms.unit}, {"relation", name(terms.relation)},
              {"budget", print(terms.budget)}};
    json["spent"] = {{"amount", filter.spent().amount}, {"delta", filter.spent().delta}};
    json["left"] = {{"amount", filter.left().amount}, {"delta", filter.left().delta}};
    json["claim"] = {{"delta", delta.value()}, {"epsilon", std::isfinite(claim.epsilon) ? Json(claim.epsilon) : Json("inf")}};
    if (tight) json["tight_if_fixed_in_advance"] = *tight;
    json["head"] = head_text(ledger.head());
    json["entries"] = Json::array();
    for (const Entry& e : entries) {
      json["entries"].push_back(
          {{"number", e.number}, {"time", e.time}, {"request", e.request}, {"plan", e.plan}, {"cost", e.cost.amount}, {"delta", e.cost.delta}});
    }
    std::cout << json.dump() << "\n";
    return;
  }
  if (format_of(typed) == Format::csv) {
    std::cout << "number,time,request,plan,cost,delta\n";
    for (const Entry& e : entries) {
      std::cout << e.number << "," << e.time << "," << csv_field(e.request) << "," << csv_field(e.plan) << "," << shortest(e.cost.amount) << ","
                << shortest(e.cost.delta) << "\n";
    }
    return;
  }
  const auto up = [](double x) { return rounded(x, 7, Side::upper); };
  std::cout << "data        " << terms.name << ", by " << terms.unit << ", " << name(terms.relation) << "\n"
            << "budget      " << print(terms.budget) << "\n"
            << "spent       " << up(filter.spent().amount) << (filter.spent().delta > 0 ? ", delta " + up(filter.spent().delta) : "") << "\n"
            << "left        " << rounded(filter.left().amount, 7, Side::lower) << "\n"
            << "promise     epsilon <= " << up(claim.epsilon) << " at delta = " << shortest(delta.value()) << ", however the analyst goes on\n";
  if (tight) std::cout << "tight       epsilon <= " << up(*tight) << " had these " << entries.size() << " been fixed in advance\n";
  constexpr int width = 40;
  const double share = filter.limit().amount > 0 ? filter.spent().amount / filter.limit().amount : 0;
  const int filled = std::min(width, static_cast<int>(share * width + 0.5));
  std::cout << "            [" << std::string(static_cast<std::size_t>(filled), '#') << std::string(static_cast<std::size_t>(width - filled), '.')
            << "] " << rounded(100 * share, 3, Side::upper) << " %\n";
  for (const Entry& e : entries)
    std::cout << e.number << "  " << e.time << "  " << up(e.cost.amount) << "  " << e.plan << "  (" << e.request << ")\n";
  std::cout << "head        " << head_text(ledger.head()) << "\n";
}

void run_verify(const Options& o) {
  const Ledger ledger = Ledger::open(o.file);
  const Finding finding = ledger.verify(o.head.empty() ? std::nullopt : std::optional(head_of(o.head)));
  if (!finding.sound) throw LedgerError(o.file + " is not sound: " + finding.words);
  std::cout << "sound       " << finding.words << "\nhead        " << head_text(finding.head) << "\n";
}

void run_charge(const Typed& typed, const Options& o) {
  Ledger ledger = Ledger::open(o.file);
  const Plan event = parse(o.plan);
  const Receipt receipt = ledger.charge(o.request, digest(print(event)), event);
  if (!typed.quiet) std::cerr << "sotto: " << (receipt.repeated ? "charged before, and not again" : "charged") << "\n";
  std::cout << "entry       " << receipt.entry.number << "\ncost        " << rounded(receipt.entry.cost.amount, 7, Side::upper) << "\nleft        "
            << rounded(ledger.filter().left().amount, 7, Side::lower) << "\nhead        " << head_text(ledger.head()) << "\n";
}

void run_import(const Typed& typed, const Options& o) {
  std::ifstream in(o.from);
  if (!in) throw std::runtime_error("cannot open " + o.from);
  const Ledger ledger = Ledger::import(o.file, std::string(std::istreambuf_iterator<char>(in), {}));
  if (!typed.quiet) std::cerr << "sotto: made " << o.file << " with " << ledger.entries().size() << " entries\n";
  std::cout << head_text(ledger.head()) << "\n";
}

}  // namespace

void add_ledger(CLI::App& app, Typed& typed) {
  static Options o;
  CLI::App* ledger = app.add_subcommand("ledger",
                                        "Examples:\n"
                                        "  sotto ledger create people.sotto --unit person --relation add-remove --rho 0.5\n"
                                        "  sotto ledger charge people.sotto 'gaussian(10)' --request 2026-survey\n"
                                        "  sotto ledger show people.sotto\n"
                                        "  sotto ledger verify people.sotto\n"
                                        "\n"
                                        "The budget, kept in a file: charges are durable, never taken back, and admitted by a filter that\n"
                                        "holds for analysts who choose each question from the answers so far.");
  ledger->require_subcommand(1);
  const auto sub = [&](const char* name, const char* words) {
    CLI::App* command = ledger->add_subcommand(name, words);
    command->add_option("FILE", o.file, "the ledger")->required();
    command->add_flag("--quiet", typed.quiet, "no words on stderr but errors");
    return command;
  };
  CLI::App* create = sub("create", "A new ledger; its budget, unit and relation are fixed from then on.");
  create->add_option("--relation", o.relation, "add-remove, replace-one or zero-out")->required();
  create->add_option("--unit", o.unit, "whom it protects: a column such as person, or row")->capture_default_str();
  create->add_option("--name", o.name, "of the data; else the file's");
  create->add_option("--rho", o.rho, "a zCDP budget: rho of the events adds up");
  create->add_option("--epsilon", o.epsilon, "a budget in epsilon: epsilon and delta of the events add up; with --order, in Rényi DP");
  create->add_option("--order", o.order, "the one order of a Rényi budget");
  create->add_option("--mu", o.mu, "a Gaussian budget, for Gaussian events alone");
  create->add_option("--delta", o.delta, "what the delta of approx() events may add up to (default 0)");
  create->callback([&typed] { run_create(typed, o); });

  CLI::App* show = sub("show", "What was spent, what is left, and every entry.");
  show->add_option("--delta", o.at_delta, "the delta at which epsilon is promised")->capture_default_str();
  show->add_option("--format", typed.format, "table, json or csv")->capture_default_str();
  show->callback([&typed] { run_show(typed, o); });

  CLI::App* verify = sub("verify", "Recomputes every hash and total; with --head, that nothing was put back.");
  verify->add_option("--head", o.head, "the head that was kept outside, as show prints it");
  verify->callback([] { run_verify(o); });

  CLI::App* charge = sub("charge", "Charges an event by hand, for a release that sotto does not make.");
  charge->add_option("PLAN", o.plan, "the event")->required();
  charge->add_option("--request", o.request, "its id: charged once, however often it is asked for")->required();
  charge->callback([&typed] {
    typed.plan = o.plan;
    run_charge(typed, o);
  });

  CLI::App* exporter = sub("export", "The whole ledger as lines of JSON.");
  exporter->callback([] { std::cout << Ledger::open(o.file).exported(); });
  CLI::App* importer = sub("import", "A new ledger from what export wrote.");
  importer->add_option("FROM", o.from, "the exported lines")->required();
  importer->callback([&typed] { run_import(typed, o); });
}

}  // namespace sotto::cli
