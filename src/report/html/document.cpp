#include "report/html/document.hpp"

#include "report/api/text.hpp"

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

std::string document(const std::string& title, std::string_view more_style, const std::string& body) {
  return "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
         "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n<title>" +
         escaped(title) + "</title>\n<style>" + std::string(style) + std::string(more_style) + "</style>\n</head>\n<body>\n<main>\n" + body +
         "</main>\n</body>\n</html>\n";
}

std::string cell(const std::string& text) { return "<td>" + escaped(text) + "</td>"; }
std::string heading(const std::string& text) { return "<th scope=\"col\">" + escaped(text) + "</th>"; }

std::string table(const std::string& headings, const std::string& rows) {
  return "<div class=\"table\"><table>\n<thead><tr>" + headings + "</tr></thead>\n<tbody>\n" + rows + "</tbody>\n</table></div>\n";
}

}  // namespace sotto::report_detail
