// Words questions and notes about the data for the curator, who may see names and a few values.
#include "survey_messages.hpp"

#include <algorithm>

#include "command.hpp"
#include "sotto/core/errors.hpp"

namespace sotto::cli {
namespace {

// Quotes the first characters of a name or value: enough to find it in the file, and no more of the
// data.
std::string excerpt(const std::string& text) {
  constexpr std::size_t most = 20;
  std::size_t end = std::min(text.size(), most);
  while (end > 0 && end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80)
    --end;
  return "\"" + text.substr(0, end) + (end < text.size() ? "…" : "") + "\"";
}

// Returns "c1,c2,c3,…", for the curator to replace.
std::string placeholders(std::size_t count) {
  constexpr std::size_t most = 60;
  std::string names;
  for (std::size_t i = 1; i <= std::min(count, most); ++i)
    names += (i == 1 ? "c" : ",c") + std::to_string(i);
  return names + (count > most ? ",…" : "");
}

}  // namespace

// Blanks around a name are a reason to doubt it only with --no-trim; else --trim is asked for
// first.
std::vector<NameDoubt> doubts_of(const ReadingArguments& reading, const Survey& survey) {
  std::vector<NameDoubt> doubts;
  if (reading.header) return doubts;
  for (const NameDoubt& doubt : survey.doubts) {
    if (reading.no_trim || !doubt.is_of_blanks) doubts.push_back(doubt);
  }
  return doubts;
}

namespace {

// The first line may be a record, whose values would become names, which studies and reports show.
std::string header_complaint(const ReadingArguments& reading, const Survey& survey) {
  const std::vector<NameDoubt> doubts = doubts_of(reading, survey);
  if (doubts.empty()) return "";
  constexpr std::size_t most = 3;
  std::string reasons;
  for (std::size_t i = 0; i < std::min(most, doubts.size()); ++i) {
    const NameDoubt& doubt = doubts[i];
    reasons += (i == 0 ? "" : ", ") + (doubt.name.empty() ? "a name" : excerpt(doubt.name)) + " " +
               doubt.why;
  }
  if (doubts.size() > most) reasons += ", and " + std::to_string(doubts.size() - most) + " more";
  return "the first line does not look like a header, which names the columns: " + reasons +
         ".\nIf the file has no header, name its " + std::to_string(survey.usual_fields) +
         " columns: type --names " + placeholders(survey.usual_fields) +
         "\nIf it is a header, as you see in the file: type --header";
}

std::string records_complaint(const ReadingArguments& reading, const Survey& survey) {
  if (survey.malformed <= survey.records) return "";
  std::string text = std::to_string(survey.malformed) + " of " +
                     std::to_string(survey.malformed + survey.records) + " records cannot be read";
  if (survey.header_fields != survey.usual_fields) {
    text += ": most have " + std::to_string(survey.usual_fields) + " fields, and " +
            (reading.has_names ? "--names has " : "the first line names ") +
            std::to_string(survey.header_fields);
  }
  return text +
         ". Does the file have this format and this delimiter? If not, type --format or "
         "--delimiter, or repair the file";
}

std::string trim_complaint(const ReadingArguments& reading, const Survey& survey) {
  if (reading.trim || reading.no_trim || survey.with_blanks.empty()) return "";
  std::string names;
  constexpr std::size_t most = 5;
  const bool has_names = doubts_of(reading, survey).empty();  // names in doubt may be values
  for (std::size_t i = 0; has_names && i < std::min(most, survey.with_blanks.size()); ++i)
    names += (i == 0 ? " of " : ", ") + excerpt(survey.with_blanks[i]);
  if (has_names && survey.with_blanks.size() > most) names += ", …";
  return "texts" + names +
         " start or end with a blank, and \" yes\" differs from \"yes\". To remove such blanks, "
         "type --trim; to keep them, type "
         "--no-trim";
}

}  // namespace

void require_decisions(const ReadingArguments& reading, const Survey& survey) {
  std::string all;
  for (const std::string& complaint :
       {header_complaint(reading, survey), records_complaint(reading, survey),
        trim_complaint(reading, survey)}) {
    if (!complaint.empty()) all += (all.empty() ? "" : "\n") + complaint;
  }
  if (!all.empty()) throw InvalidValue(all);
}

void say_what_is_absent(const ReadingArguments& reading, const Survey& survey) {
  std::string names;
  for (const std::string& name : survey.left_out)
    names += (names.empty() ? "" : ", ") + excerpt(name);
  if (!names.empty()) {
    say("note: no study can read " + names +
        ": their values are lists, objects or of another type that sotto does not read. Write the "
        "parts that are "
        "needed as columns of their own");
  }
  const bool is_file =
      !reading.file.empty() && survey.records + survey.malformed == 0 && survey.header_fields > 0;
  if (is_file) say("note: " + reading.file + " has names of columns and no record");
}

std::string first_column_names(const std::vector<Column>& columns) {
  constexpr std::size_t most = 6;
  std::string all;
  for (std::size_t i = 0; i < std::min(most, columns.size()); ++i)
    all += (i == 0 ? "" : ", ") + columns[i].name;
  return all + (columns.size() > most ? ", …" : "");
}

}  // namespace sotto::cli
