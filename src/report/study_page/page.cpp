#include <algorithm>
#include <cmath>

#include "report/html/document.hpp"
#include "report/study_page/estimate_text.hpp"
#include "report/study_page/estimates.hpp"
#include "report/html/meter.hpp"
#include "sotto/core/decimal.hpp"
#include "sotto/plan/text.hpp"
#include "report/api/study.hpp"
#include "report/study_page/sections.hpp"
#include "report/api/text.hpp"

namespace sotto {
namespace {

using report_detail::escaped;

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

std::string quantiles_asked(const QueryAnswer& a) {
  const bool median = std::all_of(a.estimates.begin(), a.estimates.end(), [](const Estimate& e) { return e.quantile == 0.5; });
  return median ? "The median of " + a.of : "The values of " + a.of + " below which a given part of the rows lies";
}

// What is asked, as one would say it.
std::string asked(const QueryAnswer& a, const std::string& unit) {
  std::string text;
  switch (a.ask) {
    case Ask::count: text = "How many rows"; break;
    case Ask::distinct: text = unit == "row" ? "How many rows" : "How many, each " + unit + " counted once"; break;
    case Ask::sum: text = "The sum of " + a.of; break;
    case Ask::mean: text = "The mean of " + a.of; break;
    case Ask::variance: text = "The variance of " + a.of; break;
    case Ask::deviation: text = "The standard deviation of " + a.of; break;
    case Ask::histogram: text = "How many rows have a value of " + a.of + " in each range"; break;
    case Ask::quantiles: text = quantiles_asked(a); break;
  }
  for (std::size_t i = 0; i < a.by.size(); ++i) text += (i == 0 ? ", for each " : " and ") + a.by[i];
  if (!a.where.empty()) text += ", of the rows where " + report_detail::on_one_line(a.where);
  return text + ".";
}

std::string factor(double epsilon) {
  const double odds = std::exp(epsilon);
  if (odds < 1e15) return readable(read_number(rounded(odds, odds < 1e6 ? 3 : 2, Side::upper)));
  return "10^" + readable(std::ceil(epsilon / std::log(10.0)));
}

// The definition itself: P(E | D) <= e^ε P(E | D') + δ.
std::string summary(const StudyReport& report) {
  const Release& r = report.release;
  const std::string models = r.models.size() == 1 ? "one model" : std::to_string(r.models.size()) + " models";
  const std::string questions = r.answers.size() == 1 ? "one question" : std::to_string(r.answers.size()) + " questions";
  const std::string count = r.models.empty()    ? "answers " + questions + " about"
                            : r.answers.empty() ? "has " + models + " learned from"
                                                : "answers " + questions + " and has " + models + " learned from";
  const std::string unit = report_detail::unit_word(report);
  const std::string one = r.unit == "row" ? "row" : unit + "’s data";
  std::string text = "This report " + count + " “" + r.data_name + "”, version " + r.data_version + ", and protects each " + unit +
                     (r.unit == "row" ? "" : " with all of their rows") + ". Random noise is added to every number, ";
  if (std::isinf(r.epsilon)) {
    text += "but so little that nothing bounds what can be learnt from one " + one + " (differential privacy with ε = inf";
  } else {
    text += "so that nothing that follows from reading them, whatever else the reader knows, is more than " + factor(r.epsilon) +
            " times as likely because of one " + one + " (differential privacy with ε = " + rounded(r.epsilon, 4, Side::upper);
  }
  if (r.delta > 0) {
    text += ", up to a probability of δ = " + shortest(r.delta) + (r.shares_delta ? ", the study’s share of the ledger’s" : "");
  }
  return "<p>" + escaped(text + ").") + "</p>\n";
}

// Who publishes it, where that is said, and the day on which the answers were drawn: a page that is made again has the same.
std::string byline(const StudyReport& report) {
  const std::string day = report.release.time.substr(0, report.release.time.find('T'));
  const std::string by = report.study.publisher.empty() ? "" : "Published by " + report.study.publisher + ". ";
  return "<p class=\"asked\" id=\"byline\">" + escaped(by + "Answered on " + day + ".") + "</p>\n";
}

std::string notices(const StudyReport& report) {
  std::string text;
  if (!report.beside.empty()) {
    text +=
        "<p>The numbers without noise, and those in the data, stand beside the answers, because whoever ran the study said that the data are public. "
        "With "
        "secret data such a page must not be made. Where not all rows of someone count, those that do were drawn anew for the number without "
        "noise.</p>\n";
  }
  for (const std::string& warning : report.design.warnings) text += "<p>" + escaped(warning) + ".</p>\n";
  return text.empty() ? "" : "<div class=\"notice\">\n" + text + "</div>\n";
}

report_detail::Beside beside_of(const PublicAnswers& beside, std::size_t query) {
  if (query >= beside.without_noise.size() || query >= beside.in_the_data.size()) return {};
  return {&beside.without_noise[query], &beside.in_the_data[query]};
}

std::string answers_section(const StudyReport& report) {
  const Release& r = report.release;
  if (r.answers.empty()) return "";
  std::string text = "<section id=\"answers\">\n<h2>The answers</h2>\n" + report_detail::legend(r.confidence, !report.beside.empty());
  for (std::size_t i = 0; i < r.answers.size(); ++i) {
    const QueryAnswer& a = r.answers[i];
    text += "<h3>" + escaped(with_limit(a.name, a.limit)) + "</h3>\n<p class=\"asked\">" + escaped(asked(a, report_detail::unit_word(report))) +
            "</p>\n" + report_detail::drawn_estimates(a, beside_of(report.beside, i), r.confidence);
    for (const std::string& remark : report_detail::remarks(a, r.confidence)) text += "<p class=\"asked\">" + escaped(remark) + "</p>\n";
  }
  return text + "</section>\n";
}

std::string footer(const std::string& version) { return "<footer>Made by sotto " + escaped(version) + ".</footer>\n"; }

std::string page_of(const std::string& title, const std::string& body) {
  return report_detail::document(title, std::string(report_detail::estimates_style) + std::string(report_detail::meter_style) + std::string(style),
                                 body);
}

}  // namespace

std::string study_page(const StudyReport& report) {
  const Release& r = report.release;
  const std::string title = r.title.empty() ? "A study of " + r.data_name : r.title;
  const std::string body = "<h1>" + escaped(title) + "</h1>\n" + byline(report) + summary(report) + notices(report) + answers_section(report) +
                           report_detail::models_section(report) + report_detail::federation_section(report) +
                           report_detail::protection_section(report) + report_detail::budget_section(report) + report_detail::cost_section(report) +
                           report_detail::derivation_section(report) + report_detail::data_section(report) + report_detail::record_section(report) +
                           footer(report.version);
  return page_of(title, body);
}

std::string kept_page(const KeptAnswer& kept) {
  const Release& r = kept.release;
  const std::string title = r.title.empty() ? "A study of " + r.data_name : r.title;
  Study study;  // what these sections ask of it
  study.unit = r.unit;
  study.unit_label = r.unit;
  study.publisher = kept.publisher;
  const Design design{kept.ledger.terms.relation, {}, {}, parse(r.plan), r.cost, std::nullopt, std::nullopt, std::nullopt, {}};
  const StudyReport report{study, design, r, {}, kept.ledger, kept.check, kept.version};
  const std::string notice = "<div class=\"notice\">\n<p>" + escaped(kept.why) + "</p>\n</div>\n";
  return page_of(title, "<h1>" + escaped(title) + "</h1>\n" + byline(report) + summary(report) + notice + answers_section(report) +
                            report_detail::models_section(report) + report_detail::federation_section(report) +
                            report_detail::protection_section(report) + report_detail::budget_section(report) +
                            report_detail::record_section(report) + footer(kept.version));
}

}  // namespace sotto
