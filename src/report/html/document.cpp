// The common style sheet is part of every page: a page is one file, which can be passed on.
#include "report/html/document.hpp"

namespace sotto::report_detail {
namespace {

constexpr std::string_view style = R"(
:root { color-scheme: light dark; --paper: #f7f7f5; --ink: #222; --soft: #5c5c5c; --rule: #d9d9d4; --link: #00609c; }
@media (prefers-color-scheme: dark) {
  :root { --paper: #16181c; --ink: #e4e4e0; --soft: #a5a5a0; --rule: #3a3d43; --link: #7cc4f2; }
}
body { margin: 0 auto; padding: 2.5rem 1.25rem 4rem; max-width: 60rem; background: var(--paper); color: var(--ink);
  font: 1.0625rem/1.6 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; }
h1 { margin: 0 0 1rem; font-size: 1.9rem; line-height: 1.2; }
h2 { margin: 0 0 .35rem; font-size: 1.25rem; line-height: 1.3; }
p { margin: 0 0 1rem; max-width: 44rem; }
a { color: var(--link); }
nav { margin: 1.5rem 0 0; padding: 1rem 0; border: solid var(--rule); border-width: 1px 0; }
nav ol { margin: 0; padding-left: 1.5rem; }
figure { margin: 3rem 0 0; scroll-margin-top: 1rem; }
figcaption { margin: 0 0 .75rem; }
figcaption p { margin: 0; }
figure svg { display: block; width: 100%; max-width: 100%; height: auto; border-radius: 6px; box-shadow: 0 0 0 1px var(--rule); }
details, .source { margin: .75rem 0 0; color: var(--soft); font-size: .9rem; }
summary { cursor: pointer; }
.table { overflow-x: auto; }
table { margin: .5rem 0; border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .15rem 1.25rem .15rem 0; border-bottom: 1px solid var(--rule); text-align: left; font-weight: 400; vertical-align: bottom; }
thead th { color: var(--ink); font-weight: 600; }
@media print { figure { break-inside: avoid; } }
)";

}  // namespace

std::string document(const std::string& title, const Markup& more_style, const Markup& body) {
  const Markup head =
      "\n" + empty_tag("meta", {{"charset", "utf-8"}}) + "\n" +
      empty_tag("meta",
                {{"name", "viewport"}, {"content", "width=device-width, initial-scale=1"}}) +
      "\n" + tag("title", title) + "\n" + tag("style", trusted_markup(style) + more_style) + "\n";
  const Markup page =
      tag("head", head) + "\n" + tag("body", "\n" + tag("main", "\n" + body) + "\n") + "\n";
  return (trusted_markup("<!doctype html>\n") + tag("html", {{"lang", "en"}}, "\n" + page) + "\n")
      .str();
}

Markup paragraph(const Markup& content) { return tag("p", content) + "\n"; }

Markup paragraph(const std::string& css_class, const Markup& content) {
  return tag("p", {{"class", css_class}}, content) + "\n";
}

Markup item(const Markup& content) { return tag("li", content) + "\n"; }

Markup code(const std::string& text) { return tag("code", text); }

Markup section(const std::string& id, const std::string& title, const Markup& content) {
  return tag("section", {{"id", id}}, "\n" + tag("h2", title) + "\n" + content) + "\n";
}

Markup cell(const Markup& content) { return tag("td", content); }

Markup heading(const std::string& text) { return tag("th", {{"scope", "col"}}, text); }

Markup table_row(const Markup& cells) { return tag("tr", cells) + "\n"; }

Markup table(const Markup& headings, const Markup& rows) {
  const Markup content =
      "\n" + tag("thead", tag("tr", headings)) + "\n" + tag("tbody", "\n" + rows) + "\n";
  return tag("div", {{"class", "table"}}, tag("table", content)) + "\n";
}

}  // namespace sotto::report_detail
