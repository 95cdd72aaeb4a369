// Reads the state of a ledger, and writes it as a table, JSON, CSV and a chart.
#include "report/api/ledger.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <map>

#include "accounting/api/currencies.hpp"
#include "core/api/text.hpp"
#include "report/answers/ledger_words.hpp"
#include "report/api/answers_json.hpp"
#include "report/api/table.hpp"
#include "sotto/core/decimal.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/plan/text.hpp"

namespace sotto {
namespace {

using namespace report_detail;

// Returns all entries as one plan, in which equal entries are repetitions; nullopt for an empty
// ledger.
std::optional<Plan> together(const std::vector<Entry>& entries) {
  std::map<std::string, int> counts;
  for (const Entry& entry : entries) ++counts[entry.plan];
  std::vector<Plan> parts;
  for (const auto& [text, count] : counts)
    parts.push_back(count == 1 ? parse(text) : count * parse(text));
  return parts.empty() ? std::nullopt : std::optional<Plan>(Sum{std::move(parts)});
}

std::optional<double> tight_of(const std::vector<Entry>& entries, Delta delta, Relation relation) {
  try {
    const std::optional<Plan> plan = together(entries);
    if (!plan) return std::nullopt;
    return epsilon(*plan, delta, {.relation = relation}).value.upper;
  } catch (const OutsideConditions&) {
    return std::nullopt;
  } catch (const std::invalid_argument& error) {
    throw LedgerError(std::string("a plan in the ledger cannot be read: it is damaged (") +
                      error.what() + ")");
  }
}

bool is_committed(const LedgerState& state) {
  return std::holds_alternative<CommittedBudget>(state.terms.budget);
}

// Returns the total of the charges after each entry, rounded up.
std::vector<Charge> totals_of(const LedgerState& state) {
  std::vector<Charge> totals;
  Real amount = 0;
  Real delta = 0;
  for (const Entry& entry : state.entries) {
    amount += Real(entry.cost.amount);
    delta += Real(entry.cost.delta);
    totals.push_back({amount.upper(), delta.upper()});
  }
  return totals;
}

// Returns the label of the chart's y axis.
std::string currency_label(const Budget& budget) {
  if (std::holds_alternative<ApproximateBudget>(budget)) return "ε";
  if (std::holds_alternative<ZcdpBudget>(budget)) return "ρ";
  if (const auto* renyi = std::get_if<RenyiBudget>(&budget))
    return "Rényi divergence of order " + shortest(renyi->order);
  if (std::holds_alternative<GdpBudget>(budget)) return "μ²";
  return "parts of the committed plan";
}

std::string head_text(const Head& head) { return std::to_string(head.number) + ":" + head.hash; }

// Returns the name of the budget's currency in ASCII, for terminals.
std::string amount_name(const Budget& budget) {
  if (std::holds_alternative<ApproximateBudget>(budget)) return "epsilon";
  if (std::holds_alternative<ZcdpBudget>(budget)) return "rho";
  return std::holds_alternative<GdpBudget>(budget) ? "mu^2" : "divergence";
}

// Prefixes of the two parts of a charge. In a Gaussian budget the δ is the slack of the filter.
const char* amount_prefix(const Budget& budget) {
  return std::holds_alternative<GdpBudget>(budget) ? "mu^2 " : "";
}
const char* delta_prefix(const Budget& budget) {
  return std::holds_alternative<GdpBudget>(budget) ? ", slack " : ", delta ";
}

std::string bar_text(double share) {
  constexpr long width = 40;
  const auto filled = static_cast<std::size_t>(std::clamp(std::lround(share * width), 0L, width));
  return "[" + std::string(filled, '#') + std::string(width - filled, '.') + "] " +
         rounded(100 * share, 3, Side::upper) + " %";
}

// Returns "  by anna: Ages in town". Entries of ledger version 1 have neither a name nor a title.
std::string author_text(const Entry& entry) {
  return (entry.who.empty() ? "" : "  by " + entry.who) +
         (entry.title.empty() ? "" : ": " + entry.title);
}

std::string table(const LedgerState& state) {
  const Terms& terms = state.terms;
  const Filter& filter = state.filter;
  std::string out =
      field("data", terms.name + ", by " + terms.unit + ", " + std::string(name(terms.relation))) +
      field("budget", print(terms.budget));
  out += field("spent", spent_words(filter)) + field("left", left_words(filter));
  out += field("promise", "epsilon <= " + promise_text(state.promise.epsilon) +
                              " at delta = " + promise_text(state.promise.delta) +
                              (is_committed(state) ? ", in whatever order the parts are run"
                                                   : ", however the analyst goes on"));
  if (state.tight) {
    const std::size_t count = state.entries.size();
    out += field("tight", "epsilon <= " + rounded_up(*state.tight) + " had " +
                              (count == 1 ? "this one" : "these " + std::to_string(count)) +
                              " been fixed in advance");
  }
  out += field("", bar_text(spent_share(filter)));
  for (const Entry& e : state.entries) {
    out += escaped_for_terminal(
               std::to_string(e.number) + "  " + e.time + "  " + rounded_up(e.cost.amount) +
               (e.cost.delta > 0 ? delta_prefix(terms.budget) + rounded_up(e.cost.delta) : "") +
               "  " + e.plan + "  (" + e.request + ")" + author_text(e)) +
           "\n";
  }
  return out + field("chain", state.chain.words) + field("head", head_text(state.head));
}

Json charge_json(const Charge& charge) {
  return {{"amount", charge.amount}, {"delta", charge.delta}};
}

std::string json(const LedgerState& state) {
  const Terms& terms = state.terms;
  Json json{{"schema", "sotto.ledger-state/1"},
            {"id", state.id},
            {"created", state.created},
            {"name", terms.name},
            {"unit", terms.unit},
            {"relation", name(terms.relation)},
            {"budget", print(terms.budget)}};
  json["limit"] = charge_json(state.filter.limit());
  json["spent"] = charge_json(state.filter.spent());
  json["left"] = left_json(state.filter);
  if (is_committed(state)) {
    const auto rest = state.filter.rest();
    json["rest"] = rest ? Json(print(*rest)) : Json(nullptr);
  }
  json["claim"] = {{"delta", state.promise.delta}, {"epsilon", number(state.promise.epsilon)}};
  if (state.tight) json["tight_if_fixed_in_advance"] = number(*state.tight);
  json["head"] = head_text(state.head);
  json["verified"] = state.chain.sound;
  json["chain"] = state.chain.words;
  json["entries"] = Json::array();
  const std::vector<Charge> totals = totals_of(state);
  for (std::size_t i = 0; i < totals.size(); ++i) {
    const Entry& e = state.entries[i];
    json["entries"].push_back({{"number", e.number},
                               {"time", e.time},
                               {"request", e.request},
                               {"content", e.content},
                               {"who", e.who},
                               {"title", e.title},
                               {"plan", e.plan},
                               {"cost", e.cost.amount},
                               {"delta", e.cost.delta},
                               {"total", charge_json(totals[i])}});
  }
  return line(json);
}

// Parses a time as the ledger writes it, in seconds since 1970.
std::optional<double> seconds_of(const std::string& time) {
  int year = 0;
  unsigned month = 0;
  unsigned day = 0;
  int hour = 0;
  int minute = 0;
  int second = 0;
  if (std::sscanf(time.c_str(), "%d-%u-%uT%d:%d:%dZ", &year, &month, &day, &hour, &minute,
                  &second) != 6)
    return std::nullopt;
  const std::chrono::sys_days date =
      std::chrono::year(year) / std::chrono::month(month) / std::chrono::day(day);
  return static_cast<double>(date.time_since_epoch().count()) * 86400 + hour * 3600 + minute * 60 +
         second;
}

// The position of each entry on the x axis, and the label of the axis. If a time cannot be parsed,
// the axis counts entries instead.
struct Times {
  std::vector<double> at;
  std::string label;
};

Times times_of(const LedgerState& state) {
  Times times;
  const std::optional<double> start = seconds_of(state.created);
  for (const Entry& entry : state.entries) {
    const std::optional<double> at = seconds_of(entry.time);
    if (!start || !at) break;
    times.at.push_back(*at - *start);
  }
  if (times.at.size() < state.entries.size()) {
    times.at.clear();
    for (const Entry& entry : state.entries) times.at.push_back(static_cast<double>(entry.number));
    times.label = "entries";
    return times;
  }
  struct Unit {
    double seconds;
    const char* name;
  };
  // The largest unit of which the whole span has at least two.
  constexpr std::array units{Unit{86400, "days"}, Unit{3600, "hours"}, Unit{60, "minutes"},
                             Unit{1, "seconds"}};
  const double span = times.at.empty() ? 0 : times.at.back();
  const auto* unit = std::find_if(units.begin(), units.end() - 1,
                                  [span](const Unit& u) { return span >= 2 * u.seconds; });
  for (double& at : times.at) at /= unit->seconds;
  times.label = std::string(unit->name) + " since " + state.created;
  return times;
}

}  // namespace

std::string report_detail::charge_text(const Charge& charge, const Filter& filter) {
  const Budget& budget = filter.budget();
  return amount_prefix(budget) + rounded_up(charge.amount) +
         (filter.limit().delta > 0 ? delta_prefix(budget) + rounded_up(charge.delta) : "");
}

Json report_detail::left_json(const Filter& filter) {
  const Charge left = filter.left();
  return {{"percent", percent_left(filter)}, {"amount", left.amount}, {"delta", left.delta}};
}

std::string report_detail::cost_words(double epsilon, double delta, bool shares_delta) {
  return "ε = " + rounded_up(epsilon) + " at δ = " + shortest(delta) +
         (shares_delta ? ", its share of the ledger's δ," : "");
}

double report_detail::spent_share(const Filter& filter) {
  const double limit = filter.limit().amount;
  return limit > 0 ? filter.spent().amount / limit : 0;
}

std::string report_detail::spent_words(const Filter& filter) {
  if (!std::holds_alternative<CommittedBudget>(filter.budget()))
    return charge_text(filter.spent(), filter);
  return shortest(filter.spent().amount) + " of " + shortest(filter.limit().amount) + " parts";
}

std::string report_detail::left_words(const Filter& filter) {
  if (!std::holds_alternative<CommittedBudget>(filter.budget()))
    return remaining_budget_line(filter);
  const auto rest = filter.rest();
  return rest ? print(*rest) : "nothing";
}

std::string remaining_budget_line(const Filter& filter) {
  const Charge left = filter.left();
  const Charge limit = filter.limit();
  const Budget& budget = filter.budget();
  if (std::holds_alternative<CommittedBudget>(budget)) return remaining_budget_text(filter);
  return remaining_budget_text(filter) + " (" + amount_name(budget) + " " +
         remaining_amount(left.amount, limit.amount) +
         (limit.delta > 0 ? delta_prefix(budget) + remaining_amount(left.delta, limit.delta) : "") +
         ")";
}

LedgerState state_of(const Ledger& ledger, std::optional<Delta> delta) {
  LedgerState state{ledger.id(),
                    ledger.created(),
                    ledger.terms(),
                    ledger.filter(),
                    ledger.entries(),
                    ledger.head(),
                    {},
                    {},
                    ledger.verify_chain()};
  const Delta at = delta.value_or(promised_delta(state.terms.budget));
  state.promise = state.filter.claim(at);
  state.tight = tight_of(state.entries, at, state.terms.relation);
  return state;
}

std::string ledger_text(const LedgerState& state, Format format) {
  if (format == Format::json) return json(state);
  if (format == Format::table) return table(state);
  std::string out = csv_row({"number", "time", "request", "plan", "cost", "delta", "who", "title"});
  for (const Entry& e : state.entries) {
    out += csv_row({std::to_string(e.number), e.time, e.request, e.plan, shortest(e.cost.amount),
                    shortest(e.cost.delta), e.who, e.title});
  }
  return out;
}

std::string receipt_text(const Receipt& receipt, const Filter& filter) {
  const Entry& entry = receipt.entry;
  return field("entry", std::to_string(entry.number)) +
         field("cost", charge_text(entry.cost, filter)) +
         field("left", remaining_budget_line(filter));
}

Chart ledger_chart(const LedgerState& state) {
  const Times times = times_of(state);
  const std::vector<Charge> totals = totals_of(state);
  Series spent{.name = "charged", .x = {0}, .y = {0}};
  for (std::size_t i = 0; i < totals.size(); ++i) {  // a step function: constant until the charge
    spent.x.insert(spent.x.end(), {times.at[i], times.at[i]});
    spent.y.insert(spent.y.end(), {spent.y.back(), totals[i].amount});
  }
  const double end = std::max(spent.x.back(), 1.0);
  spent.x.push_back(end);
  spent.y.push_back(spent.y.back());
  const double limit = state.filter.limit().amount;
  return {.id = "ledger",
          .title = "The budget of " + state.terms.name,
          .caption = "What was charged to " + print(state.terms.budget) +
                     ". However it goes on: ε ≤ " + promise_text(state.promise.epsilon) +
                     " at δ = " + promise_text(state.promise.delta) + ".",
          .x_label = times.label,
          .y_label = currency_label(state.terms.budget),
          .series = {spent,
                     {.name = "the budget",
                      .x = {0, end},
                      .y = {limit, limit},
                      .style = Series::Style::dashed}}};
}

}  // namespace sotto
