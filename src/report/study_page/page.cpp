// The page of a study: title, summary, notices and answers, followed by the sections of
// sections.hpp.
#include <algorithm>
#include <cmath>

#include "report/api/study.hpp"
#include "report/api/text.hpp"
#include "report/html/document.hpp"
#include "report/html/meter.hpp"
#include "report/study_page/estimate_text.hpp"
#include "report/study_page/estimates.hpp"
#include "report/study_page/sections.hpp"
#include "sotto/core/decimal.hpp"
#include "sotto/plan/text.hpp"

namespace sotto {
namespace {

using report_detail::Markup;
using report_detail::paragraph;
using report_detail::tag;

constexpr std::string_view style = R"(
h2 { margin: 3rem 0 .6rem; padding-top: .8rem; border-top: 1px solid var(--rule); font-size: 1.45rem; }
h3 { margin: 2.2rem 0 .1rem; font-size: 1.15rem; line-height: 1.3; }
h4 { margin: 1.2rem 0 0; font-size: 1rem; }
.asked { margin: 0 0 .4rem; color: var(--soft); font-size: .95rem; }
.notice { margin: 1rem 0; padding: .7rem 1rem; max-width: 44rem; border-left: 4px solid #d55e00; background: rgb(213 94 0 / .1); }
.notice p:last-child { margin: 0; }
.subtitle { color: var(--soft); }
main > ul, section > ul { max-width: 44rem; padding-left: 1.3rem; }
li { margin: .2rem 0; }
code { font-size: .9em; overflow-wrap: anywhere; }
pre { overflow-x: auto; padding: .8rem 1rem; border: 1px solid var(--rule); border-radius: 6px; font-size: .82rem; line-height: 1.45; }
.scroll { overflow-x: auto; }
.scroll svg { min-width: 34rem; }
.proof, .proof ul { padding-left: 1.1rem; list-style: none; border-left: 1px solid var(--rule); }
.proof { margin: 0; border: 0; padding: 0; font-size: .93rem; }
.proof li { margin: .5rem 0; overflow-wrap: anywhere; }
.proof .by { color: var(--soft); }
.table table { font-size: .92rem; }
.table td, .table th { vertical-align: top; }
details.fold { margin: 0; color: inherit; font-size: inherit; border-top: 1px solid var(--rule); }
details.fold > summary { padding: .8rem 0; }
details.fold > summary h2 { display: inline; margin: 0; padding: 0; border: 0; }
footer { margin-top: 3rem; color: var(--soft); font-size: .9rem; }
)";

std::string quantiles_sentence(const QueryAnswer& a) {
  const bool median = std::all_of(a.estimates.begin(), a.estimates.end(),
                                  [](const Estimate& e) { return e.quantile == 0.5; });
  return median ? "The median of " + a.of
                : "The values of " + a.of + " below which a given part of the rows lies";
}

// Returns a query as a sentence.
std::string query_sentence(const QueryAnswer& a, const std::string& unit) {
  std::string text;
  switch (a.ask) {
    case Aggregation::count: text = "How many rows"; break;
    case Aggregation::distinct:
      text = unit == "row" ? "How many rows" : "How many, each " + unit + " counted once";
      break;
    case Aggregation::sum: text = "The sum of " + a.of; break;
    case Aggregation::mean: text = "The mean of " + a.of; break;
    case Aggregation::variance: text = "The variance of " + a.of; break;
    case Aggregation::deviation: text = "The standard deviation of " + a.of; break;
    case Aggregation::histogram:
      text = "How many rows have a value of " + a.of + " in each range";
      break;
    case Aggregation::quantiles: text = quantiles_sentence(a); break;
  }
  for (std::size_t i = 0; i < a.by.size(); ++i)
    text += (i == 0 ? ", for each " : " and ") + a.by[i];
  if (!a.where.empty()) text += ", of the rows where " + report_detail::on_one_line(a.where);
  return text + ".";
}

// Returns e^ε, rounded up: the factor by which one unit can change the probability of an outcome.
std::string factor(double epsilon) {
  const double odds = std::exp(epsilon);
  if (odds < 1e15) return readable(read_number(rounded(odds, odds < 1e6 ? 3 : 2, Side::upper)));
  return "10^" + readable(std::ceil(epsilon / std::log(10.0)));
}

// Returns what the report holds: "answers 2 questions about", "has one model learned from", or
// both.
std::string contents_words(const Release& r) {
  const std::string models =
      r.models.size() == 1 ? "one model" : std::to_string(r.models.size()) + " models";
  const std::string questions =
      r.answers.size() == 1 ? "one question" : std::to_string(r.answers.size()) + " questions";
  if (r.models.empty()) return "answers " + questions + " about";
  if (r.answers.empty()) return "has " + models + " learned from";
  return "answers " + questions + " and has " + models + " learned from";
}

// States the guarantee, the definition of differential privacy in words: P(E | D) <= e^ε P(E | D')
// + δ.
Markup summary(const StudyReport& report) {
  const Release& r = report.release;
  const std::string unit = report_detail::unit_word(report);
  const std::string one = r.unit == "row" ? "row" : unit + "’s data";
  std::string text = "This report " + contents_words(r) + " “" + r.data_name + "”, version " +
                     r.data_version + ", and protects each " + unit +
                     (r.unit == "row" ? "" : " with all of their rows") +
                     ". Random noise is added to every number, ";
  if (std::isinf(r.epsilon)) {
    text += "but so little that nothing bounds what can be learnt from one " + one +
            " (differential privacy with ε = inf";
  } else {
    text +=
        "so that nothing that follows from reading them, whatever else the reader knows, is more "
        "than " +
        factor(r.epsilon) + " times as likely because of one " + one +
        " (differential privacy with ε = " + rounded(r.epsilon, 4, Side::upper);
  }
  if (r.delta > 0) {
    // The blanks are no-break spaces, which keep the equation on one line.
    text += ", up to a probability of δ\u00a0=\u00a0" + shortest(r.delta) +
            (r.shares_delta ? ", the study’s share of the ledger’s" : "");
  }
  return paragraph(text + ").");
}

// Returns the publisher, if one is named, and the day on which the answers were drawn. The day
// comes from the release, so a page that is made again later is the same.
Markup byline(const StudyReport& report) {
  const std::string day = report.release.time.substr(0, report.release.time.find('T'));
  const std::string by =
      report.study.publisher.empty() ? "" : "Published by " + report.study.publisher + ". ";
  return tag("p", {{"class", "asked"}, {"id", "byline"}}, by + "Answered on " + day + ".") + "\n";
}

Markup notice(const Markup& paragraphs) {
  return tag("div", {{"class", "notice"}}, "\n" + paragraphs) + "\n";
}

// A warning that the page shows values without noise, and the warnings of the design.
Markup notices(const StudyReport& report) {
  Markup text;
  if (!report.public_answers.empty()) {
    text += paragraph(
        "The numbers without noise, and those in the data, stand beside the answers, because "
        "whoever ran the study said that the data are public. "
        "With "
        "secret data such a page must not be made. Where not all rows of someone count, those that "
        "do were drawn anew for the number without "
        "noise.");
  }
  for (const std::string& warning : report.design.warnings) text += paragraph(warning + ".");
  return text.empty() ? Markup() : notice(text);
}

report_detail::PublicEstimates public_estimates_of(const PublicAnswers& answers,
                                                   std::size_t query) {
  if (query >= answers.without_noise.size() || query >= answers.in_the_data.size()) return {};
  return {&answers.without_noise[query], &answers.in_the_data[query]};
}

Markup answers_section(const StudyReport& report) {
  const Release& r = report.release;
  if (r.answers.empty()) return {};
  Markup text = report_detail::legend(r.confidence, !report.public_answers.empty());
  for (std::size_t i = 0; i < r.answers.size(); ++i) {
    const QueryAnswer& a = r.answers[i];
    text += tag("h3", with_limit(a.name, a.limit)) + "\n" +
            paragraph("asked", query_sentence(a, report_detail::unit_word(report))) +
            report_detail::drawn_estimates(a, public_estimates_of(report.public_answers, i),
                                           r.confidence);
    for (const std::string& remark : report_detail::remarks(a, r.confidence))
      text += paragraph("asked", remark);
  }
  return report_detail::section("answers", "The answers", text);
}

std::string title_of(const Release& release) {
  return release.title.empty() ? "A study of " + release.data_name : release.title;
}

// `sections` lie between the heading and the footer.
std::string page_of(const StudyReport& report, const Markup& sections) {
  const std::string title = title_of(report.release);
  const Markup styles = report_detail::trusted_markup(report_detail::estimates_style) +
                        report_detail::trusted_markup(report_detail::meter_style) +
                        report_detail::trusted_markup(style);
  const Markup footer = tag("footer", "Made by sotto " + report.version + ".") + "\n";
  return report_detail::document(
      title, styles,
      tag("h1", title) + "\n" + byline(report) + summary(report) + sections + footer);
}

}  // namespace

std::string study_page(const StudyReport& report) {
  return page_of(
      report, notices(report) + answers_section(report) + report_detail::models_section(report) +
                  report_detail::federation_section(report) +
                  report_detail::protection_section(report) +
                  report_detail::budget_section(report) + report_detail::cost_section(report) +
                  report_detail::derivation_section(report) + report_detail::data_section(report) +
                  report_detail::record_section(report));
}

std::string stored_answer_page(const StoredAnswer& stored) {
  // The sections below read only these members of a study and a design, which are stored with the
  // answer.
  const Release& r = stored.release;
  Study study;
  study.unit = r.unit;
  study.unit_label = r.unit;
  study.publisher = stored.publisher;
  const Design design{stored.ledger.terms.relation,
                      {},
                      {},
                      parse(r.plan),
                      r.cost,
                      std::nullopt,
                      std::nullopt,
                      std::nullopt,
                      {}};
  const StudyReport report{study, design, r, {}, stored.ledger, stored.check, stored.version};

  return page_of(report, notice(paragraph(stored.why)) + answers_section(report) +
                             report_detail::models_section(report) +
                             report_detail::federation_section(report) +
                             report_detail::protection_section(report) +
                             report_detail::budget_section(report) +
                             report_detail::record_section(report));
}

}  // namespace sotto
