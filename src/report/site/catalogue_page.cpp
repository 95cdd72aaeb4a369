// The HTML of the catalogue and of a ledger's page.
#include <algorithm>

#include "report/answers/ledger_words.hpp"
#include "report/api/catalogue.hpp"
#include "report/api/table.hpp"
#include "report/api/text.hpp"
#include "report/charts/picture.hpp"
#include "report/html/document.hpp"
#include "report/html/meter.hpp"
#include "report/study_page/estimates.hpp"
#include "sotto/core/decimal.hpp"

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

std::string page_of(const std::string& title, const Markup& body, const std::string& version) {
  const Markup footer = tag("footer", "Shown by sotto " + version +
                                          ", which reads ledgers here and writes nothing.") +
                        "\n";
  return document(
      title, trusted_markup(estimates_style) + trusted_markup(meter_style) + trusted_markup(style),
      body + footer);
}

Markup soft(const std::string& text) { return paragraph("soft", text); }
Markup notice(const std::string& text) {
  return tag("div", {{"class", "notice"}}, paragraph(text)) + "\n";
}
Markup link(const std::string& address, const std::string& text) {
  return tag("a", {{"href", address}}, text);
}

std::string counted(std::size_t count, const std::string& one, const std::string& several) {
  return count == 0 ? "no " + several : std::to_string(count) + " " + (count == 1 ? one : several);
}

// The id of a request. Most ids are SHA-256 digests; of those only the first characters are shown.
Markup request_markup(const std::string& request) {
  constexpr std::size_t digest = 64;
  constexpr std::size_t prefix = 12;
  const bool is_digest =
      request.size() >= digest &&
      std::min(request.find_first_not_of("0123456789abcdef"), request.size()) == digest;
  if (!is_digest) return code(request);
  return tag("code", {{"title", request}},
             request.substr(0, prefix) + "…" + request.substr(digest));
}

// A long plan is folded.
Markup plan_markup(const std::string& plan) {
  constexpr std::size_t most = 240;
  if (plan.size() <= most) return code(plan);
  return tag("details", tag("summary", std::to_string(plan.size()) + " characters") + code(plan));
}

// Returns "2026-03-01 12:00:00 UTC" for "2026-03-01T12:00:00Z"; another text is returned as it is.
std::string readable_time(std::string time) {
  if (time.size() == 20 && time[10] == 'T' && time.back() == 'Z') {
    time[10] = ' ';
    time.pop_back();
    time += " UTC";
  }
  return time;
}

Markup budget_bar(const Filter& filter) {
  const auto part = [](const char* key, const std::string& text) {
    return tag("span", {{"class", "part"}}, tag("span", {{"class", key}}, "") + text);
  };
  const std::string spent =
      rounded(100 * spent_share(filter), 3, Side::upper) + " % (" + spent_words(filter) + ")";
  return meter(spent_share(filter), 0) +
         paragraph("soft", part("key before", " spent " + spent) + " " +
                               part("key left", " left " + left_words(filter)));
}

std::string protects(const Terms& terms) {
  return "protects each " + terms.unit + ", " + std::string(name(terms.relation));
}

Markup item_markup(const CatalogueItem& item) {
  const bool has_ledger = item.data && !item.data->is_public;
  Markup text =
      "\n" +
      tag("h2", has_ledger ? link("data/" + item.name + "/", item.name) : Markup(item.name)) + "\n";
  if (item.data && item.data->is_public)
    text += soft("version " + item.data->version +
                 ", public: nobody is protected, and there is no ledger");
  if (item.balance) {
    const LedgerBalance& balance = *item.balance;
    text += soft("version " + item.data->version + ", " + protects(balance.terms) + ", budget " +
                 print(balance.terms.budget)) +
            budget_bar(balance.filter) +
            soft(counted(balance.charges, "charge", "charges") +
                 (balance.last.empty() ? "" : ", the last " + readable_time(balance.last)) +
                 ", in " + without_password(item.data->ledger));
  }
  if (!item.trouble.empty()) text += notice(item.trouble);
  return report_detail::item(text);
}

Markup state_markup(RequestState state, const Entry& entry) {
  switch (state) {
    case RequestState::answered: {
      const std::string number = std::to_string(entry.number);
      const std::string description = "the answer of entry " + number + " as JSON";
      return link(number + "/", "answered") + " " +
             tag("a", {{"href", number + "/answer.json"}, {"aria-label", description}}, "JSON");
    }
    case RequestState::begun: return "begun, no answer";
    case RequestState::charged: return "charged";
    case RequestState::unknown: break;
  }
  return "unknown";
}

// A cell with a CSS class. On narrow screens, where a row becomes a block, `label` is shown before
// the content unless it is empty.
Markup labelled_cell(const char* css_class, const std::string& label, const Markup& content) {
  return tag("td",
             {{"class", css_class},
              {"data-of", label.empty() ? std::nullopt : std::optional<Markup>(label)}},
             content);
}

Markup entry_row(const LedgerView& view, std::size_t i) {
  const Entry& entry = view.page_entries[i];
  const Markup title =
      entry.title.empty() ? Markup() : tag("strong", entry.title) + empty_tag("br");
  return table_row(labelled_cell("number", "entry", std::to_string(entry.number)) +
                   labelled_cell("time", "", readable_time(entry.time)) +
                   labelled_cell("name", "", title + request_markup(entry.request)) +
                   labelled_cell("plan", "", plan_markup(entry.plan)) +
                   labelled_cell("cost", "cost", charge_text(entry.cost, view.state.filter)) +
                   labelled_cell("who", entry.who.empty() ? "" : "by", entry.who) +
                   labelled_cell("state", "", state_markup(view.page_states[i], entry)));
}

Markup entries_markup(const LedgerView& view) {
  if (view.page_entries.empty()) {
    const char* const reason =
        view.state.entries.empty() ? "Nothing was charged yet." : "There are no older ones.";
    return section("entries", "Entries", paragraph(reason));
  }
  Markup rows;
  for (std::size_t i = 0; i < view.page_entries.size(); ++i) rows += entry_row(view, i);
  Markup headings;
  for (const char* words : {"entry", "time", "request", "event", "cost", "by", "state"})
    headings += heading(words);
  Markup text = table(headings, rows);
  if (view.older)
    text += paragraph(link("?before=" + std::to_string(*view.older), "older entries"));
  return section("entries", "Entries", text);
}

// The result of verifying the chain, and the command that verifies it against the present head.
Markup chain_markup(const LedgerView& view, const std::string& verify_command) {
  Markup text;
  if (!view.finding) {
    text = paragraph("Recomputing every cost takes longer than a page may. This line does:");
  } else if (view.finding->sound) {
    text = paragraph(tag("span", {{"class", "good"}}, "Sound:") + " " + view.finding->words + ".") +
           paragraph(
               "An older state that was put back whole has a sound chain, too. Who keeps this line "
               "can tell:");
  } else {
    text =
        notice("Not sound: " + view.finding->words + ".") + paragraph("This line checks it again:");
  }
  return section("chain", "The chain", text + tag("pre", verify_command) + "\n");
}

Markup terms_markup(const LedgerView& view) {
  const LedgerState& state = view.state;
  Markup list;
  const auto term = [&list](const char* label, const std::string& value) {
    if (!value.empty()) list += tag("dt", label) + tag("dd", value) + "\n";
  };
  term("data", state.terms.name + ", version " + view.data.version);
  term("source", state.terms.source);
  term("unit", state.terms.unit +
                   (state.terms.unit_type.empty() || state.terms.unit_type == state.terms.unit
                        ? ""
                        : ", " + state.terms.unit_type));
  term("relation", std::string(name(state.terms.relation)));
  term("budget", print(state.terms.budget));
  term("ledger", without_password(view.data.ledger));
  term("id", state.id);
  term("created", readable_time(state.created));
  // A witness may be a command ("|..."), which can contain credentials for another system: it is
  // not shown.
  const std::string& witness = view.data.witness;
  term("witness", witness.empty() ? "none"
                                  : (witness.front() == '|' ? "a command" : witness) +
                                        ", which is asked at each charge, not by this page");
  return section(
      "terms", "Terms",
      tag("dl", "\n" + list) + "\n" + paragraph(link("ledger.json", "All of it as JSON")));
}

Markup budget_markup(const LedgerState& state) {
  Markup items = item("However the questions go on, all answers together satisfy ε ≤ " +
                      promise_text(state.promise.epsilon) +
                      " at δ = " + promise_text(state.promise.delta) + ".");
  if (state.tight) {
    items += item("What was charged so far, had it been fixed in advance, costs ε ≤ " +
                  rounded_up(*state.tight) +
                  " at the same δ: nobody may rely on it who chooses questions from answers.");
  }
  const Attributes scroll{{"class", "scroll"},
                          {"tabindex", "0"},
                          {"role", "region"},
                          {"aria-label", "The budget over time"}};
  return budget_bar(state.filter) + tag("ul", "\n" + items) + "\n" +
         tag("div", scroll, picture(ledger_chart(state), Heading::beside)) + "\n";
}

}  // namespace

std::string catalogue_page(const std::vector<CatalogueItem>& items, const std::string& version) {
  const Markup title = tag("h1", "Catalogue") + "\n";
  if (items.empty())
    return page_of("Catalogue", title + paragraph("There are no data in it yet."), version);
  Markup list;
  for (const CatalogueItem& item : items) list += item_markup(item);
  return page_of("Catalogue",
                 title +
                     paragraph(counted(items.size(), "data set", "data sets") +
                               ", and what is left of the budget of each.") +
                     tag("ul", {{"class", "data"}}, "\n" + list) + "\n",
                 version);
}

std::string ledger_page(const LedgerView& view, const std::string& verify_command,
                        const std::string& version) {
  const LedgerState& state = view.state;
  const std::string title = "The budget of " + state.terms.name;
  const Attributes navigation{{"class", "way"}, {"aria-label", "Way"}};
  Markup text = tag("nav", navigation, link("../../", "Catalogue")) + "\n" + tag("h1", title) +
                "\n" +
                soft(protects(state.terms) + ", budget " + print(state.terms.budget) + ", " +
                     counted(state.entries.size(), "charge", "charges"));
  if (view.finding && !view.finding->sound)
    text += notice("This ledger is not sound: " + view.finding->words + ".");
  text += budget_markup(state) + entries_markup(view) + chain_markup(view, verify_command) +
          terms_markup(view);
  return page_of(title, text, version);
}

}  // namespace sotto
