// Text that others wrote, on its way to someone's eyes: what may stand in a name, and how the rest is shown.
#pragma once

#include <string>
#include <string_view>

namespace sotto {

// Unsafe to show are control characters (a terminal obeys them, a newline forges a line), those that turn the direction of a text, that break
// lines or that cannot be seen (U+200B, the tags), and bytes that are no UTF-8.

/// Every character of the text can be shown as it is.
bool is_plain(std::string_view text);

/// InvalidValue unless the text is plain; `what` names it: "the title".
void require_plain_name(std::string_view text, const std::string& what);

/// The text on one line, with what is not plain in visible form: \u{1b} a character, \x{ff} a byte that belongs to none.
std::string escaped_for_terminal(std::string_view text);

/// The same of several lines: a newline stays, and what follows it is indented, so that no line looks like one of sotto's own.
std::string escaped_lines(std::string_view text);

/// What is to be read as it was written, such as a file: newlines and tabs stay where they are, "\r\n" is a newline.
std::string escaped_document(std::string_view text);

/// A JSON text with the unsafe characters of its strings as \u escapes; it means the same.
std::string escaped_json(std::string_view json);

}  // namespace sotto
