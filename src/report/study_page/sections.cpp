// The sections of a study's page: what it protects against, its cost and budget, why the total
// holds, the data.
#include "report/study_page/sections.hpp"

#include <algorithm>
#include <cmath>

#include "accounting/api/currencies.hpp"
#include "report/api/table.hpp"
#include "report/api/text.hpp"
#include "report/charts/picture.hpp"
#include "report/html/document.hpp"
#include "report/html/meter.hpp"
#include "report/study_page/estimate_text.hpp"
#include "sotto/accounting/tradeoff.hpp"
#include "sotto/core/decimal.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/plan/text.hpp"

namespace sotto::report_detail {
namespace {

// A section that is closed until the reader opens it, for details that few readers check.
Markup folded(const std::string& id, const std::string& title, const Markup& content) {
  const Markup details =
      tag("details", {{"class", "fold"}}, "\n" + tag("summary", tag("h2", title)) + "\n" + content);
  return tag("section", {{"id", id}}, "\n" + details + "\n") + "\n";
}

Markup list(const Markup& items) { return tag("ul", "\n" + items) + "\n"; }

// "a, b and c".
std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i)
    text += (i == 0 ? "" : i + 1 == names.size() ? " and " : ", ") + names[i];
  return text;
}

std::string in_percent(double share) {
  return rounded(std::min(100.0, 100 * share), 3, Side::upper) + " %";
}

// Whether the design describes the measurements that were made. It may not if another version of
// sotto stored the answer.
bool is_of_this_design(const StudyReport& report) {
  return print(report.design.plan) == report.release.plan;
}

Answer total_of(const StudyReport& report) {
  if (is_of_this_design(report) && report.design.total) return *report.design.total;
  return epsilon(parse(report.release.plan), Delta(report.release.delta),
                 {Method::tight, std::nullopt, report.ledger.terms.relation, std::nullopt});
}

std::string change_of_data(Relation relation, const std::string& unit) {
  const std::string rows = unit == "row" ? "one row" : "one " + unit + " with all of their rows";
  switch (relation) {
    case Relation::add_remove: return rows + " is added or removed";
    case Relation::replace_one: return rows + " is replaced by any other";
    case Relation::zero_out: return rows + " is replaced by a blank";
    default: return rows + " changes";
  }
}

// Returns what a measurement counts or sums, in words.
std::string quantity_words(const Measurement& m) {
  switch (m.form) {
    case Form::counts:
      return m.aggregate.gather == Gather::bins    ? "a count in each range"
             : m.aggregate.gather == Gather::units ? "a count of units"
                                                   : "a count of rows";
    case Form::sums: return "a sum";
    case Form::halves: return "Σ(x − lower) and Σ(upper − x): count, sum and mean follow from them";
    case Form::thirds: return "three sums of products: count, mean and variance follow from them";
    case Form::tree:
      return "counts of " + std::to_string(m.aggregate.bins.count) + " ranges, and of ranges of " +
             std::to_string(tree_branching) + " of these, in " +
             std::to_string(tree_levels(m.aggregate.bins.count)) + " levels";
  }
  return "";
}

// The sum of all shares of the budget. A query with a requested error takes what that error costs
// and has no share.
double total_share(const Study& study) {
  double all = 0;
  for (const Query& query : study.queries) all += query.error ? 0 : query.share;
  for (const TrainingRequest& ask : study.trainings) all += ask.share;
  return all;
}

// Returns the part of the budget that a measurement takes: a percentage, or the requested error
// that determines it.
std::string share_of(const Study& study, const Measurement& m) {
  const double all = total_share(study);
  double own = 0;
  std::string by_error;
  for (const std::size_t q : m.queries) {
    const Query& query = study.queries[q];
    if (query.error) by_error = "what ± " + readable(*query.error) + " takes";
    own += query.share;
  }
  return !by_error.empty() ? by_error : rounded(100 * own / all, 3, Side::upper) + " %";
}

// Returns the ε that an event costs by itself at the study's δ, or "—" if no method gives one.
std::string epsilon_alone(const Plan& event, const StudyReport& report) {
  try {
    return rounded(
        epsilon(event, Delta(report.release.delta),
                {Method::tight, std::nullopt, report.ledger.terms.relation, std::nullopt})
            .value.upper,
        3, Side::upper);
  } catch (const OutsideConditions&) {
    return "—";
  }
}

// A paragraph for each measurement that several queries share.
Markup shared_measurements(const StudyReport& report) {
  Markup text;
  for (const Measurement& m : report.design.measurements) {
    if (m.queries.size() < 2) continue;
    std::vector<std::string> names;
    for (const std::size_t q : m.queries) names.push_back("“" + report.study.queries[q].name + "”");
    text += paragraph(listed(names) + " are read from one measurement, and paid for once.");
  }
  return text;
}

Markup cost_row(const StudyReport& report, const Measurement& m) {
  std::string names;
  for (const std::size_t q : m.queries)
    names += (names.empty() ? "" : ", ") + report.study.queries[q].name;
  const bool is_laplace = m.kind == NoiseKind::laplace;
  Markup noise = code(print(m.event));
  std::string what = quantity_words(m);
  Plan all = m.event;
  if (m.search) {
    noise += empty_tag("br") + code(print(m.search->selection.event()));
    what += "; before it, which keys are shown: those with at least " +
            rounded(m.search->selection.threshold(), 4, Side::upper) + " units, after noise";
    all = m.event + m.search->selection.event();
  }
  const std::string sensitivity =
      rounded(is_laplace ? m.l1 : m.l2, 6, Side::upper) + (is_laplace ? " (L1)" : " (L2)");
  return table_row(cell(names) + cell(what) + cell(noise) + cell(sensitivity) +
                   cell(share_of(report.study, m)) + cell(epsilon_alone(all, report)));
}

// Returns what the noise of a training is added to.
struct NoisyQuantity {
  std::string operator()(const Training&) const {
    return "in each step the sum of the units’ gradients, each clipped, in clipping norms";
  }
  std::string operator()(const SufficientStatistics&) const {
    return "sums of products of features and target, in units of their sensitivity";
  }
  std::string operator()(const OutputPerturbation&) const {
    return "the minimum of a strongly convex loss, in units of its sensitivity";
  }
  std::string operator()(const ObjectivePerturbation&) const {
    return "the minimum of a loss with a random line in it; and a little noise on it";
  }
  std::string operator()(const IndividualTraining&) const {
    return "in each step a sum of clipped gradients, of the units whose own budget lasts";
  }
};

Markup training_row(const StudyReport& report, const TrainDesign& design) {
  const TrainingRequest& ask = report.study.trainings[design.ask];
  Markup noise = code(print(design.event));
  std::string what = std::visit(NoisyQuantity{}, design.how);
  Plan all = design.event;
  if (design.test_event) {
    noise += empty_tag("br") + code(print(*design.test_event));
    what += "; behind it the numbers of right and wrong predictions in a private test";
    all = all + *design.test_event;
  }
  const std::string share =
      rounded(100 * ask.share / total_share(report.study), 3, Side::upper) + " %";
  return table_row(cell(ask.name) + cell(what) + cell(noise) + cell("") + cell(share) +
                   cell(epsilon_alone(all, report)));
}

// A derivation as a list item, with its premises as a list inside it.
Markup proof(const Derivation& d) {
  Markup content = tag("strong", d.guarantee);
  if (!d.plan.empty()) content += " for " + code(d.plan);
  std::string theorem = "by " + d.theorem + " [" + d.reference + "]";
  for (const Condition& condition : d.conditions) theorem += "; with " + condition;
  content += empty_tag("br") + tag("span", {{"class", "by"}}, theorem);
  if (!d.premises.empty()) {
    Markup premises;
    for (const Derivation& premise : d.premises) premises += proof(premise);
    content += "\n" + tag("ul", "\n" + premises);
  }
  return item(content);
}

std::string value_text(const Value& value) {
  if (const auto* yes = std::get_if<bool>(&value)) return *yes ? "true" : "false";
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return std::to_string(*whole);
  if (const auto* real = std::get_if<double>(&value)) return readable(*real);
  return std::get<std::string>(value);
}

Markup column_row(const StudyColumn& column) {
  constexpr std::size_t most = 12;
  std::string values;
  for (std::size_t i = 0; i < std::min(most, column.values.size()); ++i)
    values += (i == 0 ? "" : ", ") + value_text(column.values[i]);
  if (column.values.size() > most)
    values += ", … (" + std::to_string(column.values.size()) + " in all)";
  const std::string bounds =
      column.lower ? readable(*column.lower) + " to " + readable(*column.upper) : "";
  const Markup origin = column.derive.empty() ? "stored" : code(column.derive);
  const std::string null =
      column.if_null ? "read as " + value_text(*column.if_null) : "row left out";
  return table_row(cell(column.name) + cell(name_of(column.type)) + cell(origin) + cell(null) +
                   cell(bounds) + cell(values));
}

// Returns how much of a unit a measurement counts.
std::string contribution_limit(const StudyReport& report, const Aggregate& aggregate) {
  if (!aggregate.unit) return "each row counts by itself";
  const std::int64_t groups = aggregate.groups_a_unit;
  const std::int64_t rows = aggregate.rows_a_group;
  std::string text = "each " + unit_word(report) + " counts in at most " + std::to_string(groups) +
                     (groups == 1 ? " group" : " groups") + ", with at most " +
                     std::to_string(rows) + (rows == 1 ? " row" : " rows") + " in each";
  if (aggregate.gather == Gather::totals) text += ", and with a total within the bounds";
  return text;
}

// A list item for each query that has a measurement: how much of a unit it counts, and which keys
// are public.
Markup contributions(const StudyReport& report) {
  Markup items;
  for (const Query& query : report.study.queries) {
    const auto serves_query = [&](const Measurement& m) {
      return std::any_of(m.queries.begin(), m.queries.end(),
                         [&](std::size_t q) { return &report.study.queries[q] == &query; });
    };
    const auto measurement = std::find_if(report.design.measurements.begin(),
                                          report.design.measurements.end(), serves_query);
    if (measurement == report.design.measurements.end()) continue;
    std::string line =
        "“" + query.name + "”: " + contribution_limit(report, measurement->aggregate);
    if (!query.by.empty()) {
      line += query.private_keys ? "; which keys there are is not public and was found with noise, "
                                   "so rare ones are missing"
                                 : "; which keys there are is public, and no other is counted";
    }
    items += item(line + ".");
  }
  return items;
}

}  // namespace

std::string unit_word(const StudyReport& report) {
  return report.study.unit_label.empty() || report.release.unit == "row" ? report.release.unit
                                                                         : report.study.unit_label;
}

Markup federation_section(const StudyReport& report) {
  if (!report.release.federation) return {};
  const Federation& f = *report.release.federation;
  const std::string honest = std::to_string(f.honest);
  Markup text = paragraph("These numbers are sums over " + std::to_string(f.members.size()) +
                          " parties: " + listed(f.members) +
                          ". Each computed on its own data, where they are, and added noise of its "
                          "own before anything left it.");
  if (!f.missing.empty())
    text += paragraph("Not every number has the data of " + listed(f.missing) +
                      ", who dropped out on the way.");
  text += list(item("Nobody saw the numbers of one party, not even with its noise: not the others, "
                    "and not the coordinator, which holds no key.") +
               item("Up to " + std::to_string(f.colluding) +
                    (f.colluding == 1 ? " party" : " parties") +
                    " and the coordinator together, whatever they do, see sums of at least " +
                    honest + (f.honest == 1 ? " other party" : " other parties") +
                    " with the noise of each: what ε and δ promise holds against them, too.") +
               item("No sum of fewer than " + std::to_string(f.threshold) +
                    " parties was opened. Every party checked each sum, and who signed for it."));
  text += paragraph(
      "That somebody took part is no secret, nor is when. A party that lies about its data can "
      "spoil a sum; it learns nothing by it.");
  return section("parties", "Who answered, and what nobody could learn", text);
}

Markup protection_section(const StudyReport& report) {
  // Under add-remove an attacker tests whether a unit is present; under another relation, which of
  // two data sets it is.
  const Release& r = report.release;
  const Delta delta(r.delta);
  const Relation relation = report.ledger.terms.relation;
  const bool presence = relation == Relation::add_remove;
  const std::string right = in_percent((1 + advantage(r.epsilon, delta)) / 2);
  const std::string detected = in_percent(true_positive_rate(r.epsilon, delta, 0.01));
  Markup text = paragraph("The promise compares two data sets that differ in that " +
                          change_of_data(relation, unit_word(report)) +
                          ". Whoever sees these answers, knows all the rest of the data and has "
                          "all the computers there are:");
  text += list(item("who tells by the toss of a coin " +
                    (presence ? "whether a certain " + unit_word(report) + " is in the data"
                              : std::string("which of the two data sets it is")) +
                    " is right half of the time; with these answers at most " + right +
                    " of the time;") +
               item(presence ? "who accuses 1 % of those who are not in the data finds at most " +
                                   detected + " of those who are."
                             : "who is wrong about one of them in 1 % of all cases is right about "
                               "the other in at most " +
                                   detected + "."));
  text += paragraph(
      "These are the most that ε and δ allow; the noise itself may allow less. What is true of "
      "people in general can be learnt all the same, and be "
      "held "
      "against those who are not in the data too.");
  return section("protection", "What an attacker could learn", text);
}

Markup cost_section(const StudyReport& report) {
  const Release& r = report.release;
  Markup text = paragraph("All answers together cost ε = " + rounded(r.epsilon, 7, Side::upper) +
                          " at δ = " + shortest(r.delta) +
                          ". That is what each of them alone costs, composed as one plan that was "
                          "fixed before the first answer.");
  if (is_of_this_design(report)) {
    Markup rows;
    for (const Measurement& m : report.design.measurements) rows += cost_row(report, m);
    for (const TrainDesign& training : report.design.trainings)
      rows += training_row(report, training);
    text += table(heading("answers") + heading("what was measured") + heading("noise") +
                      heading("sensitivity") + heading("share") + heading("ε alone"),
                  rows);
    text += shared_measurements(report);
    text +=
        paragraph("The sensitivity is how much the measured numbers change at most if " +
                  change_of_data(report.ledger.terms.relation, unit_word(report)) +
                  "; noise is in proportion to it. A larger share of the budget means less noise.");
  } else {
    text += paragraph(
        "The answers were kept by another version of sotto, which measured otherwise; its whole "
        "plan stands below.");
  }
  text += paragraph("The whole plan: " + code(r.plan));
  return folded("cost", "What it cost, and why", text);
}

Markup budget_section(const StudyReport& report) {
  const LedgerState& state = report.ledger;
  const Chart chart = ledger_chart(state);
  const double limit = state.filter.limit().amount;
  const double spent = state.filter.spent().amount;
  const double own = report.release.cost.amount;

  // The bar, and the key to its parts: other requests, this study, the rest.
  const auto part = [limit](double amount) {
    const double percent = limit > 0 ? 100 * std::max(0.0, amount) / limit * (1 - 0x1p-48) : 0;
    return rounded(percent, 3, Side::upper) + " % (" +
           rounded(std::max(0.0, amount), 4, Side::upper) + ")";
  };
  const auto key = [](const char* css_class) { return tag("span", {{"class", css_class}}, ""); };
  const Markup space = trusted_markup(" &nbsp; ");
  Markup text = meter(limit > 0 ? (spent - own) / limit : 0, limit > 0 ? own / limit : 0);
  text += paragraph(key("key before") + " other requests " + part(spent - own) + space +
                    key("key this") + " this study " + part(own) + space + key("key left") +
                    " left " + remaining_budget_text(state.filter) + " (" +
                    remaining_amount(state.filter.left().amount, limit) + " of " +
                    rounded(limit, 4, Side::lower) + " in " + chart.y_label + ")");

  Markup items = item("The budget of “" + state.terms.name + "” is " + print(state.terms.budget) +
                      ", for each " + unit_word(report) + ", under " +
                      std::string(name(state.terms.relation)) + ".");
  items += item("It binds: however the questions go on, all answers together satisfy ε ≤ " +
                promise_text(state.promise.epsilon) +
                " at δ = " + promise_text(state.promise.delta) + ".");
  if (state.tight) {
    items += item("What was charged so far, had it been fixed in advance, costs ε ≤ " +
                  rounded_up(*state.tight) +
                  " at the same δ. That is tighter, but nobody may rely on it who chooses "
                  "questions from answers.");
  }
  text += list(items) + tag("div", {{"class", "scroll"}}, picture(chart, Heading::beside)) + "\n";
  return section("budget", "The budget after this study", text);
}

Markup derivation_section(const StudyReport& report) {
  const std::string title = "Why the total holds";
  try {
    const Markup tree = proof(total_of(report).derivation);
    return folded("derivation", title,
                  paragraph("Why the total holds, from the conclusion down to what it rests on. "
                            "References in brackets are listed in sotto's "
                            "docs/references.bib.") +
                      tag("ul", {{"class", "proof"}}, "\n" + tree) + "\n");
  } catch (const OutsideConditions& refusal) {
    return folded("derivation", title, paragraph(refusal.what()));
  }
}

Markup data_section(const StudyReport& report) {
  const Study& study = report.study;
  Markup rows;
  const std::vector<std::string> used = columns_in_use(study);
  for (const StudyColumn& column : study.columns) {
    if (std::find(used.begin(), used.end(), column.name) != used.end()) rows += column_row(column);
  }
  Markup text = paragraph(
                    "What is known, without looking at the data, about the columns that this study "
                    "reads, and how they were read:") +
                table(heading("column") + heading("type") + heading("from") + heading("NULL") +
                          heading("clamped to") + heading("public values"),
                      rows);

  Markup items =
      item(study.unit == "row"
               ? "Each row is protected by itself. Someone with several rows is protected less."
               : "Protected is each " + unit_word(report) +
                     ": all rows with the same value of the column " + study.unit +
                     ", byte by byte. Rows without one are left out.");
  if (study.public_rows) {
    items += item("That there are about " +
                  in_thousands(with_interval_digits(*study.public_rows, 10)) + " rows is public.");
  }
  items += contributions(report);
  items += item(
      "A row that cannot be read as the columns say is left out. Which of too many rows of one " +
      unit_word(report) + " count is drawn at random.");
  items += item("Intervals speak of the noise alone. With a confidence of " +
                shortest(100 * study.confidence) +
                " % each, they hold the number that clamping and the bounds above leave, not what "
                "the data would have said without them.");
  return folded("data", "The data and the assumptions", text + list(items));
}

Markup record_section(const StudyReport& report) {
  const Release& r = report.release;
  const auto block = [](const std::string& text) { return tag("pre", text) + "\n"; };
  return folded(
      "record", "For the record",
      paragraph("Request " + code(r.request) + ", answered " + r.time + ", charged to the ledger " +
                code(r.ledger) + ".") +
          paragraph("Keep this line; it shows whether the ledger was changed or put back:") +
          block(report.check) + paragraph("The study, as it was run:") + block(r.study));
}

}  // namespace sotto::report_detail
