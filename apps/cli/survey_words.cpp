#include "survey_words.hpp"

#include <algorithm>

#include "command.hpp"
#include "sotto/core/errors.hpp"

namespace sotto::cli {
namespace {

// A few of the curator's own words: names are short, and of values no more is shown than it takes to find them.
std::string excerpt(const std::string& text) {
  constexpr std::size_t most = 20;
  std::size_t end = std::min(text.size(), most);
  while (end > 0 && end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80) --end;
  return "\"" + text.substr(0, end) + (end < text.size() ? "…" : "") + "\"";
}

std::string placeholders(std::size_t count) {
  constexpr std::size_t most = 60;
  std::string names;
  for (std::size_t i = 1; i <= std::min(count, most); ++i) names += (i == 1 ? "c" : ",c") + std::to_string(i);
  return names + (count > most ? ",…" : "");
}

}  // namespace

// Blanks around a name are no reason to doubt it while it is open whether they are parts of texts: that is asked by itself.
std::vector<NameDoubt> doubts_of(const Reading& o, const Survey& found) {
  std::vector<NameDoubt> doubts;
  if (o.header) return doubts;
  for (const NameDoubt& doubt : found.doubts) {
    if (o.no_trim || !doubt.is_of_blanks) doubts.push_back(doubt);
  }
  return doubts;
}

namespace {

// The first line may be a record. Its values would become names, which studies and reports show.
std::string header_complaint(const Reading& o, const Survey& found) {
  const std::vector<NameDoubt> doubts = doubts_of(o, found);
  if (doubts.empty()) return "";
  constexpr std::size_t most = 3;
  std::string reasons;
  for (std::size_t i = 0; i < std::min(most, doubts.size()); ++i) {
    const NameDoubt& doubt = doubts[i];
    reasons += (i == 0 ? "" : ", ") + (doubt.name.empty() ? "a name" : excerpt(doubt.name)) + " " + doubt.why;
  }
  if (doubts.size() > most) reasons += ", and " + std::to_string(doubts.size() - most) + " more";
  return "the first line does not look like a header, which names the columns: " + reasons + ".\nIf the file has no header, name its " +
         std::to_string(found.usual_fields) + " columns: type --names " + placeholders(found.usual_fields) +
         "\nIf you looked, and it is a header: type --header";
}

std::string records_complaint(const Reading& o, const Survey& found) {
  if (found.malformed <= found.records) return "";
  std::string text = std::to_string(found.malformed) + " of " + std::to_string(found.malformed + found.records) + " records cannot be read";
  if (found.header_fields != found.usual_fields) {
    text += ": most have " + std::to_string(found.usual_fields) + " fields, and " + (o.has_names ? "--names has " : "the first line names ") +
            std::to_string(found.header_fields);
  }
  return text + ". Is the file of this format, with this delimiter? Else type --format or --delimiter, or repair the file";
}

std::string trim_complaint(const Reading& o, const Survey& found) {
  if (o.trim || o.no_trim || found.with_blanks.empty()) return "";
  std::string names;
  constexpr std::size_t most = 5;
  const bool has_names = doubts_of(o, found).empty();  // else they may be values
  for (std::size_t i = 0; has_names && i < std::min(most, found.with_blanks.size()); ++i)
    names += (i == 0 ? " of " : ", ") + excerpt(found.with_blanks[i]);
  if (has_names && found.with_blanks.size() > most) names += ", …";
  return "texts" + names +
         " start or end with a blank, and \" yes\" is another value than \"yes\". To leave such blanks out, type --trim; to keep them, type "
         "--no-trim";
}

}  // namespace

// Requires the decisions that change what names and values mean. Nothing is created before a person has made them.
void require_decisions(const Reading& o, const Survey& found) {
  std::string all;
  for (const std::string& complaint : {header_complaint(o, found), records_complaint(o, found), trim_complaint(o, found)}) {
    if (!complaint.empty()) all += (all.empty() ? "" : "\n") + complaint;
  }
  if (!all.empty()) throw InvalidValue(all);
}

// Columns and records that a curator expects and studies will not find.
void say_what_is_absent(const Reading& o, const Survey& found) {
  std::string names;
  for (const std::string& name : found.left_out) names += (names.empty() ? "" : ", ") + excerpt(name);
  if (!names.empty()) {
    say("note: no study can read " + names +
        ": the values are lists, objects or of another type that sotto does not read. Write what is needed of "
        "them as columns of their own");
  }
  const bool is_file = !o.file.empty() && found.records + found.malformed == 0 && found.header_fields > 0;
  if (is_file) say("note: " + o.file + " has names of columns and no record");
}

// The first names, in which a record that is no header shows.
std::string first_names(const std::vector<Column>& columns) {
  constexpr std::size_t most = 6;
  std::string all;
  for (std::size_t i = 0; i < std::min(most, columns.size()); ++i) all += (i == 0 ? "" : ", ") + columns[i].name;
  return all + (columns.size() > most ? ", …" : "");
}

}  // namespace sotto::cli
