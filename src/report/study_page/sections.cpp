#include "report/study_page/sections.hpp"

#include <algorithm>
#include <cmath>

#include "report/html/document.hpp"
#include "report/study_page/estimate_text.hpp"
#include "report/html/meter.hpp"
#include "report/charts/picture.hpp"
#include "accounting/api/currencies.hpp"
#include "sotto/accounting/tradeoff.hpp"
#include "sotto/core/decimal.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/plan/text.hpp"
#include "report/api/table.hpp"
#include "report/api/text.hpp"

namespace sotto::report_detail {
namespace {

std::string section(const std::string& id, const std::string& title, const std::string& content) {
  return "<section id=\"" + id + "\">\n<h2>" + escaped(title) + "</h2>\n" + content + "</section>\n";
}
// For those who want to check: folded.
std::string folded(const std::string& id, const std::string& title, const std::string& content) {
  return "<section id=\"" + id + "\">\n<details class=\"fold\">\n<summary><h2>" + escaped(title) + "</h2></summary>\n" + content +
         "</details>\n</section>\n";
}
std::string paragraph(const std::string& text) { return "<p>" + escaped(text) + "</p>\n"; }
std::string item(const std::string& text) { return "<li>" + escaped(text) + "</li>\n"; }
std::string code(const std::string& text) { return "<code>" + escaped(text) + "</code>"; }

std::string in_percent(double share) { return rounded(std::min(100.0, 100 * share), 3, Side::upper) + " %"; }

// An answer that another version kept may have been measured otherwise.
bool is_of_this_design(const StudyReport& report) { return print(report.design.plan) == report.release.plan; }

Answer total_of(const StudyReport& report) {
  if (is_of_this_design(report) && report.design.total) return *report.design.total;
  return epsilon(parse(report.release.plan), Delta(report.release.delta), {Method::tight, std::nullopt, report.ledger.terms.relation, std::nullopt});
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

std::string measured(const Measurement& m) {
  switch (m.form) {
    case Form::counts:
      return m.aggregate.gather == Gather::bins    ? "a count in each range"
             : m.aggregate.gather == Gather::units ? "a count of units"
                                                   : "a count of rows";
    case Form::sums: return "a sum";
    case Form::halves: return "Σ(x − lower) and Σ(upper − x): count, sum and mean follow from them";
    case Form::thirds: return "three sums of products: count, mean and variance follow from them";
    case Form::tree:
      return "counts of " + std::to_string(m.aggregate.bins.count) + " ranges, and of ranges of " + std::to_string(tree_branching) +
             " of these, in " + std::to_string(tree_levels(m.aggregate.bins.count)) + " levels";
  }
  return "";
}

double shares_of(const Study& study) {
  double all = 0;
  for (const Query& query : study.queries) all += query.error ? 0 : query.share;
  for (const TrainAsk& ask : study.trainings) all += ask.share;
  return all;
}

std::string share_of(const Study& study, const Measurement& m) {
  const double all = shares_of(study);
  double own = 0;
  std::string target;
  for (const std::size_t q : m.queries) {
    const Query& query = study.queries[q];
    if (query.error) target = "what ± " + readable(*query.error) + " takes";
    own += query.share;
  }
  return !target.empty() ? target : rounded(100 * own / all, 3, Side::upper) + " %";
}

std::string alone(const Plan& event, const StudyReport& report) {
  try {
    return rounded(epsilon(event, Delta(report.release.delta), {Method::tight, std::nullopt, report.ledger.terms.relation, std::nullopt}).value.upper,
                   3, Side::upper);
  } catch (const OutsideConditions&) {
    return "—";
  }
}

// Several queries on one measurement, said once.
std::string sharing(const StudyReport& report) {
  std::string text;
  for (const Measurement& m : report.design.measurements) {
    if (m.queries.size() < 2) continue;
    std::string names;
    for (std::size_t i = 0; i < m.queries.size(); ++i) {
      names += (i == 0 ? "" : i + 1 == m.queries.size() ? " and " : ", ") + ("“" + report.study.queries[m.queries[i]].name + "”");
    }
    text += paragraph(names + " are read from one measurement, and paid for once.");
  }
  return text;
}

std::string cost_row(const StudyReport& report, const Measurement& m) {
  std::string names;
  for (const std::size_t q : m.queries) names += (names.empty() ? "" : ", ") + report.study.queries[q].name;
  const bool is_laplace = m.kind == NoiseKind::laplace;
  std::string noise = code(print(m.event));
  std::string what = measured(m);
  Plan all = m.event;
  if (m.search) {
    noise += "<br/>" + code(print(m.search->event));
    what += "; before it, which keys are shown: those with at least " + rounded(m.search->threshold, 4, Side::upper) + " units, after noise";
    all = m.event + m.search->event;
  }
  return "<tr>" + cell(names) + cell(what) + "<td>" + noise + "</td>" +
         cell(rounded(is_laplace ? m.l1 : m.l2, 6, Side::upper) + (is_laplace ? " (L1)" : " (L2)")) + cell(share_of(report.study, m)) +
         cell(alone(all, report)) + "</tr>\n";
}

struct Learned {
  std::string operator()(const Training&) const { return "in each step the sum of the units’ gradients, each clipped, in clipping norms"; }
  std::string operator()(const SufficientStatistics&) const { return "sums of products of features and target, in units of their sensitivity"; }
  std::string operator()(const OutputPerturbation&) const { return "the minimum of a strongly convex loss, in units of its sensitivity"; }
  std::string operator()(const ObjectivePerturbation&) const { return "the minimum of a loss with a random line in it; and a little noise on it"; }
  std::string operator()(const IndividualTraining&) const { return "in each step a sum of clipped gradients, of the units whose own budget lasts"; }
};

std::string training_row(const StudyReport& report, const TrainDesign& design) {
  const TrainAsk& ask = report.study.trainings[design.ask];
  std::string noise = code(print(design.event));
  std::string what = std::visit(Learned{}, design.how);
  Plan all = design.event;
  if (design.test_event) {
    noise += "<br/>" + code(print(*design.test_event));
    what += "; behind it the numbers of right and wrong predictions in a private test";
    all = all + *design.test_event;
  }
  return "<tr>" + cell(ask.name) + cell(what) + "<td>" + noise + "</td>" + cell("") +
         cell(rounded(100 * ask.share / shares_of(report.study), 3, Side::upper) + " %") + cell(alone(all, report)) + "</tr>\n";
}

void add_proof(const Derivation& d, std::string& out) {
  out += "<li><strong>" + escaped(d.guarantee) + "</strong>";
  if (!d.plan.empty()) out += " for " + code(d.plan);
  out += "<br/><span class=\"by\">by " + escaped(d.theorem) + " [" + escaped(d.reference) + "]";
  for (const Condition& condition : d.conditions) out += "; with " + escaped(condition);
  out += "</span>";
  if (!d.premises.empty()) {
    out += "\n<ul>\n";
    for (const Derivation& premise : d.premises) add_proof(premise, out);
    out += "</ul>";
  }
  out += "</li>\n";
}

std::string value_text(const Value& value) {
  if (const auto* yes = std::get_if<bool>(&value)) return *yes ? "true" : "false";
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return std::to_string(*whole);
  if (const auto* real = std::get_if<double>(&value)) return readable(*real);
  return std::get<std::string>(value);
}

std::string column_row(const StudyColumn& column) {
  constexpr std::size_t most = 12;
  std::string values;
  for (std::size_t i = 0; i < std::min(most, column.values.size()); ++i) values += (i == 0 ? "" : ", ") + value_text(column.values[i]);
  if (column.values.size() > most) values += ", … (" + std::to_string(column.values.size()) + " in all)";
  const std::string bounds = column.lower ? readable(*column.lower) + " to " + readable(*column.upper) : "";
  return "<tr>" + cell(column.name) + cell(name_of(column.type)) + "<td>" + (column.derive.empty() ? "stored" : code(column.derive)) + "</td>" +
         cell(column.if_null ? "read as " + value_text(*column.if_null) : "row left out") + cell(bounds) + cell(values) + "</tr>\n";
}

std::string contributions(const StudyReport& report) {
  std::string text;
  for (const Query& query : report.study.queries) {
    const auto found = std::find_if(report.design.measurements.begin(), report.design.measurements.end(), [&](const Measurement& m) {
      return std::any_of(m.queries.begin(), m.queries.end(), [&](std::size_t q) { return &report.study.queries[q] == &query; });
    });
    if (found == report.design.measurements.end()) continue;
    std::string line = "“" + query.name + "”: ";
    if (found->aggregate.unit) {
      const std::int64_t groups = found->aggregate.groups_a_unit;
      const std::int64_t rows = found->aggregate.rows_a_group;
      line += "each " + unit_word(report) + " counts in at most " + std::to_string(groups) + (groups == 1 ? " group" : " groups") +
              ", with at most " + std::to_string(rows) + (rows == 1 ? " row" : " rows") + " in each";
      if (found->aggregate.gather == Gather::totals) line += ", and with a total within the bounds";
    } else {
      line += "each row counts by itself";
    }
    if (!query.by.empty()) {
      line += query.private_keys ? "; which keys there are is not public and was found with noise, so rare ones are missing"
                                 : "; which keys there are is public, and no other is counted";
    }
    text += item(line + ".");
  }
  return text;
}

}  // namespace

std::string unit_word(const StudyReport& report) {
  return report.study.unit_label.empty() || report.release.unit == "row" ? report.release.unit : report.study.unit_label;
}

std::string federation_section(const StudyReport& report) {
  if (!report.release.federation) return "";
  const Federation& f = *report.release.federation;
  const auto list = [](const std::vector<std::string>& names) {
    std::string text;
    for (std::size_t i = 0; i < names.size(); ++i) text += (i == 0 ? "" : i + 1 == names.size() ? " and " : ", ") + names[i];
    return text;
  };
  const std::string honest = std::to_string(f.honest);
  std::string text = paragraph("These numbers are sums over " + std::to_string(f.members.size()) + " parties: " + list(f.members) +
                               ". Each computed on its own data, where they are, and added noise of its own before anything left it.");
  if (!f.missing.empty()) text += paragraph("Not every number has the data of " + list(f.missing) + ", who dropped out on the way.");
  text += "<ul>\n" +
          item("Nobody saw the numbers of one party, not even with its noise: not the others, and not the coordinator, which holds no key.") +
          item("Up to " + std::to_string(f.colluding) + (f.colluding == 1 ? " party" : " parties") +
               " and the coordinator together, whatever they do, see sums of at least " + honest +
               (f.honest == 1 ? " other party" : " other parties") + " with the noise of each: what ε and δ promise holds against them, too.") +
          item("No sum of fewer than " + std::to_string(f.threshold) + " parties was opened. Every party checked each sum, and who signed for it.") +
          "</ul>\n";
  text += paragraph("That somebody took part is no secret, nor is when. A party that lies about its data can spoil a sum; it learns nothing by it.");
  return section("parties", "Who answered, and what nobody could learn", text);
}

std::string protection_section(const StudyReport& report) {
  const Release& r = report.release;
  const Delta delta(r.delta);
  const Relation relation = report.ledger.terms.relation;
  const bool presence = relation == Relation::add_remove;
  const std::string right = in_percent((1 + advantage(r.epsilon, delta)) / 2);
  const std::string found = in_percent(true_positive_rate(r.epsilon, delta, 0.01));
  std::string text = paragraph("The promise compares two data sets that differ in that " + change_of_data(relation, unit_word(report)) +
                               ". Whoever sees these answers, knows all the rest of the data and has all the computers there are:");
  text += "<ul>\n" +
          item("who tells by the toss of a coin " +
               (presence ? "whether a certain " + unit_word(report) + " is in the data" : std::string("which of the two data sets it is")) +
               " is right half of the time; with these answers at most " + right + " of the time;") +
          item(presence ? "who accuses 1 % of those who are not in the data finds at most " + found + " of those who are."
                        : "who is wrong about one of them in 1 % of all cases is right about the other in at most " + found + ".") +
          "</ul>\n";
  text += paragraph(
      "These are the most that ε and δ allow; the noise itself may allow less. What is true of people in general can be learnt all the same, and be "
      "held "
      "against those who are not in the data too.");
  return section("protection", "What an attacker could learn", text);
}

std::string cost_section(const StudyReport& report) {
  const Release& r = report.release;
  std::string text = paragraph("All answers together cost ε = " + rounded(r.epsilon, 7, Side::upper) + " at δ = " + shortest(r.delta) +
                               ". That is what each of them alone costs, composed as one plan that was fixed before the first answer.");
  if (is_of_this_design(report)) {
    std::string rows;
    for (const Measurement& m : report.design.measurements) rows += cost_row(report, m);
    for (const TrainDesign& training : report.design.trainings) rows += training_row(report, training);
    text += table(
        heading("answers") + heading("what was measured") + heading("noise") + heading("sensitivity") + heading("share") + heading("ε alone"), rows);
    text += sharing(report);
    text += paragraph("The sensitivity is how much the measured numbers change at most if " +
                      change_of_data(report.ledger.terms.relation, unit_word(report)) +
                      "; noise is in proportion to it. A larger share of the budget means less noise.");
  } else {
    text += paragraph("The answers were kept by another version of sotto, which measured otherwise; its whole plan stands below.");
  }
  text += "<p>The whole plan: " + code(r.plan) + "</p>\n";
  return folded("cost", "What it cost, and why", text);
}

std::string budget_section(const StudyReport& report) {
  const LedgerState& state = report.ledger;
  const Chart chart = ledger_chart(state);
  const double limit = state.filter.limit().amount;
  const double spent = state.filter.spent().amount;
  const double own = report.release.cost.amount;
  std::string text = meter(limit > 0 ? (spent - own) / limit : 0, limit > 0 ? own / limit : 0);
  const auto part = [limit](double amount) {
    const double percent = limit > 0 ? 100 * std::max(0.0, amount) / limit * (1 - 0x1p-48) : 0;
    return escaped(rounded(percent, 3, Side::upper) + " % (" + rounded(std::max(0.0, amount), 4, Side::upper) + ")");
  };
  text += "<p><span class=\"key before\"></span> other requests " + part(spent - own) + " &nbsp; <span class=\"key this\"></span> this study " +
          part(own) + " &nbsp; <span class=\"key left\"></span> left " + escaped(left_of_promise(state.filter)) + " (" +
          escaped(left_over(state.filter.left().amount, limit)) + " of " + escaped(rounded(limit, 4, Side::lower)) + " in " + escaped(chart.y_label) +
          ")</p>\n";
  text += "<ul>\n" + item("The budget of “" + state.terms.name + "” is " + print(state.terms.budget) + ", for each " + unit_word(report) +
                          ", under " + std::string(name(state.terms.relation)) + ".");
  text += item("It binds: however the questions go on, all answers together satisfy ε ≤ " + promised(state.promise.epsilon) +
               " at δ = " + promised(state.promise.delta) + ".");
  if (state.tight) {
    text += item("What was charged so far, had it been fixed in advance, costs ε ≤ " + up(*state.tight) +
                 " at the same δ. That is tighter, but nobody may rely on it who chooses questions from answers.");
  }
  text += "</ul>\n<div class=\"scroll\">" + picture(chart, Heading::beside) + "</div>\n";
  return section("budget", "The budget after this study", text);
}

std::string derivation_section(const StudyReport& report) {
  std::string text = paragraph(
      "Why the total holds, from the conclusion down to what it rests on. References in brackets are listed in sotto's docs/references.bib.");
  try {
    text += "<ul class=\"proof\">\n";
    add_proof(total_of(report).derivation, text);
    text += "</ul>\n";
  } catch (const OutsideConditions& refusal) {
    return folded("derivation", "Why the total holds", paragraph(refusal.what()));
  }
  return folded("derivation", "Why the total holds", text);
}

std::string data_section(const StudyReport& report) {
  const Study& study = report.study;
  std::string rows;
  const std::vector<std::string> used = columns_in_use(study);
  for (const StudyColumn& column : study.columns) {
    if (std::find(used.begin(), used.end(), column.name) != used.end()) rows += column_row(column);
  }
  std::string text =
      paragraph("What is known, without looking at the data, about the columns that this study reads, and how they were read:") +
      table(heading("column") + heading("type") + heading("from") + heading("NULL") + heading("clamped to") + heading("public values"), rows);
  text += "<ul>\n";
  text += item(study.unit == "row" ? "Each row is protected by itself. Someone with several rows is protected less."
                                   : "Protected is each " + unit_word(report) + ": all rows with the same value of the column " + study.unit +
                                         ", byte by byte. Rows without one are left out.");
  if (study.public_rows) text += item("That there are about " + in_thousands(shown(*study.public_rows, 10)) + " rows is public.");
  text += contributions(report);
  text += item("A row that cannot be read as the columns say is left out. Which of too many rows of one " + unit_word(report) +
               " count is drawn at random.");
  text += item("Intervals speak of the noise alone. With a confidence of " + shortest(100 * study.confidence) +
               " % each, they hold the number that clamping and the bounds above leave, not what the data would have said without them.");
  text += "</ul>\n";
  return folded("data", "The data and the assumptions", text);
}

std::string record_section(const StudyReport& report) {
  const Release& r = report.release;
  std::string text = "<p>Request " + code(r.request) + ", answered " + escaped(r.time) + ", charged to the ledger " + code(r.ledger) + ".</p>\n";
  text += "<p>Keep this line; it shows whether the ledger was changed or put back:</p>\n<pre>" + escaped(report.check) + "</pre>\n";
  text += "<p>The study, as it was run:</p>\n<pre>" + escaped(r.study) + "</pre>\n";
  return folded("record", "For the record", text);
}

}  // namespace sotto::report_detail
