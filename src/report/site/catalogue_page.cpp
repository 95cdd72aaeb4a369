#include <algorithm>

#include "report/html/document.hpp"
#include "report/study_page/estimates.hpp"
#include "report/answers/ledger_words.hpp"
#include "report/html/meter.hpp"
#include "report/charts/picture.hpp"
#include "sotto/core/decimal.hpp"
#include "report/api/catalogue.hpp"
#include "report/api/table.hpp"
#include "report/api/text.hpp"

namespace sotto {
namespace {

using namespace report_detail;

constexpr std::string_view style = R"(
h2 { margin: 2.5rem 0 .6rem; }
ul.data { margin: 1.5rem 0 0; padding: 0; max-width: 44rem; list-style: none; }
ul.data > li { margin: 0; padding: 1.1rem 0 .4rem; border-top: 1px solid var(--rule); }
ul.data h2 { margin: 0; overflow-wrap: anywhere; }
ul.data p { margin: .2rem 0 .5rem; }
ul.data .meter { height: 1rem; }
.soft { color: var(--soft); font-size: .95rem; overflow-wrap: anywhere; }
.good { color: var(--good); font-weight: 600; }
.notice { margin: 1rem 0; padding: .7rem 1rem; max-width: 44rem; border-left: 4px solid #d55e00; background: rgb(213 94 0 / .1); overflow-wrap: anywhere; }
.notice p:last-child { margin: 0; }
:root { --good: #00663f; }
@media (prefers-color-scheme: dark) { :root { --good: #5fd3a4; } }
.way { margin: 0 0 1.5rem; padding: 0; border: 0; }
.part { display: inline-block; margin-right: 1rem; }
code { font-size: .9em; overflow-wrap: anywhere; }
pre { padding: .8rem 1rem; border: 1px solid var(--rule); border-radius: 6px; font-size: .82rem; line-height: 1.45; white-space: pre-wrap; overflow-wrap: anywhere; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .2rem 1.25rem; margin: .5rem 0 1rem; max-width: 44rem; }
dt { color: var(--soft); }
dd { margin: 0; overflow-wrap: anywhere; }
.scroll { overflow-x: auto; }
.scroll svg { min-width: 34rem; }
.table table { width: 100%; font-size: .92rem; }
.table td, .table th { padding-right: .9rem; vertical-align: top; }
.table td.name, .table td.plan, .table td.who { overflow-wrap: anywhere; }
.table td.name { min-width: 10rem; }
.table details { margin: 0; }
.table td.plan { min-width: 10rem; }
.table td.who { min-width: 3.5rem; }
.table td.time, .table td.number, .table td.state { white-space: nowrap; }
footer { margin-top: 3rem; color: var(--soft); font-size: .9rem; }
@media (max-width: 44rem) {
  dl { grid-template-columns: 1fr; }
  dd { margin: 0 0 .4rem; }
  .table table, .table tbody, .table tr, .table td { display: block; }
  .table thead { display: none; }
  .table tr { padding: .6rem 0; border-bottom: 1px solid var(--rule); }
  .table td { padding: 0; border: 0; }
  .table td:empty { display: none; }
  .table td[data-of]::before { content: attr(data-of) " "; color: var(--soft); }
}
)";

std::string page_of(const std::string& title, const std::string& body, const std::string& version) {
  return document(title, std::string(estimates_style) + std::string(meter_style) + std::string(style),
                  body + "<footer>Shown by sotto " + escaped(version) + ", which reads ledgers here and writes nothing.</footer>\n");
}

std::string paragraph(const std::string& text) { return "<p>" + escaped(text) + "</p>\n"; }
std::string soft(const std::string& text) { return "<p class=\"soft\">" + escaped(text) + "</p>\n"; }
std::string item(const std::string& text) { return "<li>" + escaped(text) + "</li>\n"; }
std::string notice(const std::string& text) { return "<div class=\"notice\">" + paragraph(text) + "</div>\n"; }
std::string counted(std::size_t count, const std::string& one, const std::string& several) {
  return count == 0 ? "no " + several : std::to_string(count) + " " + (count == 1 ? one : several);
}

// A request's id; of a digest, which most are, as much as tells it from others.
std::string request_markup(const std::string& request) {
  constexpr std::size_t digest = 64;
  constexpr std::size_t shown = 12;
  if (request.size() < digest || std::min(request.find_first_not_of("0123456789abcdef"), request.size()) != digest)
    return "<code>" + escaped(request) + "</code>";
  return "<code title=\"" + escaped(request) + "\">" + request.substr(0, shown) + "…" + escaped(request.substr(digest)) + "</code>";
}

// A long one is folded.
std::string plan_markup(const std::string& plan) {
  constexpr std::size_t most = 240;
  if (plan.size() <= most) return "<code>" + escaped(plan) + "</code>";
  return "<details><summary>" + std::to_string(plan.size()) + " characters</summary><code>" + escaped(plan) + "</code></details>";
}

// "2026-03-01T12:00:00Z" to be read.
std::string readable_time(std::string time) {
  if (time.size() == 20 && time[10] == 'T' && time.back() == 'Z') {
    time[10] = ' ';
    time.pop_back();
    time += " UTC";
  }
  return time;
}

std::string budget_bar(const Filter& filter) {
  return meter(spent_share(filter), 0) + "<p class=\"soft\"><span class=\"part\"><span class=\"key before\"></span> spent " +
         escaped(rounded(100 * spent_share(filter), 3, Side::upper)) + " % (" + escaped(spent_words(filter)) +
         ")</span> <span class=\"part\"><span class=\"key left\"></span> left " + escaped(left_words(filter)) + "</span></p>\n";
}

std::string protects(const Terms& terms) { return "protects each " + terms.unit + ", " + std::string(name(terms.relation)); }

std::string item_markup(const CatalogueItem& item) {
  const bool has_ledger = item.data && !item.data->is_public;
  std::string text =
      "<li>\n<h2>" + (has_ledger ? "<a href=\"data/" + escaped(item.name) + "/\">" + escaped(item.name) + "</a>" : escaped(item.name)) + "</h2>\n";
  if (item.data && item.data->is_public) text += soft("version " + item.data->version + ", public: nobody is protected, and there is no ledger");
  if (item.balance) {
    const LedgerBalance& balance = *item.balance;
    text += soft("version " + item.data->version + ", " + protects(balance.terms) + ", budget " + print(balance.terms.budget)) +
            budget_bar(balance.filter) +
            soft(counted(balance.charges, "charge", "charges") + (balance.last.empty() ? "" : ", the last " + readable_time(balance.last)) + ", in " +
                 without_password(item.data->ledger));
  }
  if (!item.trouble.empty()) text += notice(item.trouble);
  return text + "</li>\n";
}

std::string state_markup(RequestState state, const Entry& entry) {
  switch (state) {
    case RequestState::answered: {
      const std::string number = std::to_string(entry.number);
      return "<a href=\"" + number + "/\">answered</a> <a href=\"" + number + "/answer.json\" aria-label=\"the answer of entry " + number +
             " as JSON\">JSON</a>";
    }
    case RequestState::begun: return "begun, no answer";
    case RequestState::charged: return "charged";
    case RequestState::unknown: break;
  }
  return "unknown";
}

std::string labelled(const char* kind, const char* label, const std::string& markup) {
  return "<td class=\"" + std::string(kind) + "\"" + (*label != 0 ? " data-of=\"" + std::string(label) + "\"" : "") + ">" + markup + "</td>";
}

std::string entry_row(const LedgerView& view, std::size_t i) {
  const Entry& entry = view.shown[i];
  const std::string title = entry.title.empty() ? "" : "<strong>" + escaped(entry.title) + "</strong><br/>";
  return "<tr>" + labelled("number", "entry", std::to_string(entry.number)) + labelled("time", "", escaped(readable_time(entry.time))) +
         labelled("name", "", title + request_markup(entry.request)) + labelled("plan", "", plan_markup(entry.plan)) +
         labelled("cost", "cost", escaped(charge_text(entry.cost, view.state.filter))) +
         labelled("who", entry.who.empty() ? "" : "by", escaped(entry.who)) + labelled("state", "", state_markup(view.states[i], entry)) + "</tr>\n";
}

std::string entries_markup(const LedgerView& view) {
  std::string text = "<section id=\"entries\">\n<h2>Entries</h2>\n";
  if (view.shown.empty())
    return text + paragraph(view.state.entries.empty() ? "Nothing was charged yet." : "There are no older ones.") + "</section>\n";
  std::string rows;
  for (std::size_t i = 0; i < view.shown.size(); ++i) rows += entry_row(view, i);
  std::string all;
  for (const char* words : {"entry", "time", "request", "event", "cost", "by", "state"}) all += heading(words);
  text += table(all, rows);
  if (view.older) text += "<p><a href=\"?before=" + std::to_string(*view.older) + "\">older entries</a></p>\n";
  return text + "</section>\n";
}

std::string chain_markup(const LedgerView& view, const std::string& check) {
  std::string text = "<section id=\"chain\">\n<h2>The chain</h2>\n";
  if (!view.finding) {
    text += paragraph("Recomputing every cost takes longer than a page may. This line does:");
  } else if (view.finding->sound) {
    text += "<p><span class=\"good\">Sound:</span> " + escaped(view.finding->words) + ".</p>\n" +
            paragraph("An older state that was put back whole has a sound chain, too. Who keeps this line can tell:");
  } else {
    text += notice("Not sound: " + view.finding->words + ".") + paragraph("This line checks it again:");
  }
  return text + "<pre>" + escaped(check) + "</pre>\n</section>\n";
}

std::string terms_markup(const LedgerView& view) {
  const LedgerState& state = view.state;
  std::string text = "<section id=\"terms\">\n<h2>Terms</h2>\n<dl>\n";
  const auto term = [&text](const char* what, const std::string& value) {
    if (!value.empty()) text += "<dt>" + std::string(what) + "</dt><dd>" + escaped(value) + "</dd>\n";
  };
  term("data", state.terms.name + ", version " + view.data.version);
  term("source", state.terms.source);
  term("unit", state.terms.unit + (state.terms.unit_type.empty() || state.terms.unit_type == state.terms.unit ? "" : ", " + state.terms.unit_type));
  term("relation", std::string(name(state.terms.relation)));
  term("budget", print(state.terms.budget));
  term("ledger", without_password(view.data.ledger));
  term("id", state.id);
  term("created", readable_time(state.created));
  const std::string& witness = view.data.witness;  // a command may have what lets it in elsewhere
  term("witness", witness.empty() ? "none" : (witness.front() == '|' ? "a command" : witness) + ", which is asked at each charge, not by this page");
  return text + "</dl>\n<p><a href=\"ledger.json\">All of it as JSON</a></p>\n</section>\n";
}

std::string budget_markup(const LedgerState& state) {
  std::string text = budget_bar(state.filter) + "<ul>\n";
  text += item("However the questions go on, all answers together satisfy ε ≤ " + promised(state.promise.epsilon) +
               " at δ = " + promised(state.promise.delta) + ".");
  if (state.tight) {
    text += item("What was charged so far, had it been fixed in advance, costs ε ≤ " + up(*state.tight) +
                 " at the same δ: nobody may rely on it who chooses questions from answers.");
  }
  return text + "</ul>\n<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"The budget over time\">" +
         picture(ledger_chart(state), Heading::beside) + "</div>\n";
}

}  // namespace

std::string catalogue_page(const std::vector<CatalogueItem>& items, const std::string& version) {
  std::string text = "<h1>Catalogue</h1>\n";
  if (items.empty()) return page_of("Catalogue", text + paragraph("There are no data in it yet."), version);
  text += paragraph(counted(items.size(), "data set", "data sets") + ", and what is left of the budget of each.") + "<ul class=\"data\">\n";
  for (const CatalogueItem& item : items) text += item_markup(item);
  return page_of("Catalogue", text + "</ul>\n", version);
}

std::string ledger_page(const LedgerView& view, const std::string& check, const std::string& version) {
  const LedgerState& state = view.state;
  const std::string title = "The budget of " + state.terms.name;
  std::string text =
      "<nav class=\"way\" aria-label=\"Way\"><a href=\"../../\">Catalogue</a></nav>\n<h1>" + escaped(title) + "</h1>\n" +
      soft(protects(state.terms) + ", budget " + print(state.terms.budget) + ", " + counted(state.entries.size(), "charge", "charges"));
  if (view.finding && !view.finding->sound) text += notice("This ledger is not sound: " + view.finding->words + ".");
  text += budget_markup(state) + entries_markup(view) + chain_markup(view, check) + terms_markup(view);
  return page_of(title, text, version);
}

}  // namespace sotto
