// Validation and escaping of untrusted text before it is displayed.
#pragma once

#include <string>
#include <string_view>

namespace sotto {

// A character is unsafe to display if it is a control character (a terminal obeys it, and a newline
// forges a line), if it changes the direction of the text, breaks a line or is invisible (U+200B,
// the tags), or if it is a byte outside of valid UTF-8. Text without unsafe characters is plain.

/// Returns whether the bytes are UTF-8, without surrogates and overlong forms.
bool is_utf8(std::string_view text);

/// Returns whether the text is plain.
bool is_plain(std::string_view text);

/// Throws InvalidValue unless the text is plain. `what` names the text in the message: "the title".
void require_plain_name(std::string_view text, const std::string& what);

/// Returns the text on one line, with each unsafe character spelt out: \u{1b} for a character,
/// \x{ff} for a byte that is not UTF-8.
std::string escaped_for_terminal(std::string_view text);

/// Escapes a text of several lines for a terminal. Newlines stay, and every line after the first is
/// indented by two spaces, so that no line can pass for one of sotto's.
std::string escaped_lines(std::string_view text);

/// Escapes a document, such as a file, whose layout must stay: newlines and tabs are not changed,
/// and "\r\n" becomes a newline.
std::string escaped_document(std::string_view text);

/// Escapes the unsafe characters within the strings of a JSON text as \u sequences, so that the
/// text denotes an equal value.
std::string escaped_json(std::string_view json);

}  // namespace sotto
