// What all pages in HTML have in common: the head, the style, a table.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sotto::report_detail {

/// A document without scripts that needs no other file. `body` and `more_style` are markup.
std::string document(const std::string& title, std::string_view more_style, const std::string& body);

/// Text, escaped, as a cell and as a column's heading.
std::string cell(const std::string& text);
std::string heading(const std::string& text);
/// Rows of markup below a line of headings.
std::string table(const std::string& headings, const std::string& rows);

}  // namespace sotto::report_detail
