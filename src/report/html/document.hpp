// The elements that all HTML pages share: the document with its style sheet, paragraphs, lists,
// tables, sections.
#pragma once

#include <string>

#include "report/html/markup.hpp"

namespace sotto::report_detail {

/// Returns a complete HTML document that has no script and needs no other file. `more_style` is a
/// style sheet, as trusted_markup(), that is put behind the common one.
std::string document(const std::string& title, const Markup& more_style, const Markup& body);

// Block elements end with a newline; `code`, `cell` and `heading` stand inside a line and do not.

Markup paragraph(const Markup& content);
/// A paragraph of a CSS class.
Markup paragraph(const std::string& css_class, const Markup& content);
/// An item of a list.
Markup item(const Markup& content);
Markup code(const std::string& text);
/// A section with a heading; `id` is the anchor that links lead to.
Markup section(const std::string& id, const std::string& title, const Markup& content);

/// A cell of a table, and the heading of a column.
Markup cell(const Markup& content);
Markup heading(const std::string& text);
/// A row of a table; `cells` are its cells.
Markup table_row(const Markup& cells);
/// A table that scrolls where it is wider than the page. `headings` are cells, `rows` are whole
/// rows.
Markup table(const Markup& headings, const Markup& rows);

}  // namespace sotto::report_detail
