// Recognises files that sotto does not read, and says how to convert them.
#include "file_format.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>
#include <vector>

#include "core/api/file.hpp"
#include "core/api/text.hpp"
#include "data/api/survey.hpp"
#include "sotto/core/errors.hpp"

namespace sotto::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_checked = std::size_t{1} << 24U;  // the bytes whose encoding is checked

// Returns the first bytes of a file, or nothing if it cannot be read.
std::string start_of(const std::string& file, std::size_t most) {
  try {
    return RegularFile(file).read(most);
  } catch (const FileError&) {  // the reader of the data reports why
    return {};
  }
}

// Returns the offset of the first byte that is not UTF-8. A character that is cut off at the end
// counts as valid.
std::size_t end_of_utf8(std::string_view bytes) {
  std::size_t at = 0;
  while (at < bytes.size()) {
    const auto lead = static_cast<unsigned char>(bytes[at]);
    const std::size_t size = lead < 0x80                    ? 1
                             : lead >= 0xC2 && lead <= 0xDF ? 2
                             : (lead & 0xF0U) == 0xE0       ? 3
                             : lead >= 0xF0 && lead <= 0xF4 ? 4
                                                            : 0;
    if (size == 0) return at;
    for (std::size_t i = 1; i < size; ++i) {
      if (at + i == bytes.size()) return bytes.size();
      if ((static_cast<unsigned char>(bytes[at + i]) & 0xC0U) != 0x80) return at;
    }
    at += size;
  }
  return at;
}

struct Compression {
  std::string_view extension, magic, command;
};
constexpr std::array compressions{
    Compression{".gz", "\x1f\x8b", "gunzip -k "},
    Compression{".zip", "PK\x03\x04", "unzip "},
    Compression{".zst", "\x28\xb5\x2f\xfd", "unzstd "},
    Compression{".bz2", "BZh", "bunzip2 -k "},
    Compression{".xz",
                "\xfd"
                "7zXZ",
                "unxz -k "},
};
const std::vector<std::string> sheets{".xlsx", ".xls", ".ods", ".xlsm"};
const std::vector<std::string> unreadable{".sav",     ".dta",   ".sas7bdat", ".rds",   ".rda",
                                          ".feather", ".arrow", ".orc",      ".avro",  ".h5",
                                          ".pkl",     ".db",    ".sqlite",   ".duckdb"};
const std::vector<std::string> known{".csv", ".tsv", ".json", ".jsonl", ".ndjson", ".parquet"};

bool contains(const std::vector<std::string>& all, const std::string& one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

// Quotes a word for a shell, if necessary.
std::string in_shell(const std::string& word) {
  const auto is_plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("_-./,:=+@%").find(c) != std::string_view::npos;
  };
  if (!word.empty() && std::all_of(word.begin(), word.end(), is_plain)) return word;
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

void require_uncompressed(const std::string& file, const std::string& extension,
                          std::string_view start) {
  for (const Compression& one : compressions) {
    const bool is_sheet =
        one.extension == ".zip" && contains(sheets, extension);  // spreadsheets are ZIP archives
    if (!start.starts_with(one.magic) || is_sheet) continue;
    const std::string within =
        extension == one.extension ? fs::path(file).replace_extension().string() : "FILE";
    throw InvalidValue(file + " is compressed, and sotto reads uncompressed files\ntype: " +
                       std::string(one.command) + in_shell(file) + ", then sotto data init " +
                       in_shell(within));
  }
}

void require_utf8(const std::string& file, std::string_view bytes) {
  const bool is_utf16 = bytes.starts_with("\xff\xfe") || bytes.starts_with("\xfe\xff");
  const std::size_t end = end_of_utf8(bytes);
  if (!is_utf16 && end == bytes.size()) return;
  const auto line =
      1 + std::count(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(end), '\n');
  const std::string where = is_utf16 ? " is in UTF-16"
                                     : " is not in UTF-8 (line " + std::to_string(line) +
                                           "), and most likely in Latin-1 or Windows-1252";
  const fs::path path(file);
  const std::string converted =
      (path.parent_path() / (path.stem().string() + "-utf8" + path.extension().string())).string();
  throw InvalidValue(file + where +
                     ", and sotto reads UTF-8: names and texts would be damaged\ntype: iconv -f " +
                     (is_utf16 ? "UTF-16" : "WINDOWS-1252") + " -t UTF-8 " + in_shell(file) +
                     " > " + in_shell(converted) + ", then sotto data init " + in_shell(converted));
}

// Throws InvalidValue if the header has no comma and another character that is often a delimiter.
void require_commas(const std::string& file, std::string_view bytes) {
  const std::string_view header = bytes.substr(0, bytes.find_first_of("\r\n"));
  if (header.find(',') != std::string_view::npos) return;
  const auto count = [&](char c) { return std::count(header.begin(), header.end(), c); };
  const std::string typed = count(';') > 0    ? "--delimiter ';'"
                            : count('\t') > 0 ? "--format tsv"
                            : count('|') > 0  ? "--delimiter '|'"
                                              : "";
  if (typed.empty()) return;
  throw InvalidValue("the header of " + file + " has no comma, so it would be one column: \"" +
                     std::string(header.substr(0, 100)) + "\"\ntype: " + typed +
                     ", if that separates the columns");
}

}  // namespace

void require_readable_format(const std::string& file, const std::string& format,
                             const std::string& delimiter) {
  const std::string extension = fs::path(file).extension().string();
  if (!fs::is_regular_file(file)) return;
  const std::string start = start_of(file, 4096);
  require_uncompressed(file, extension, start);
  if (format.empty() && contains(sheets, extension)) {
    throw InvalidValue(file +
                       " is a spreadsheet: save it as CSV (UTF-8) in the program that made "
                       "it\ntype: sotto data init " +
                       in_shell(fs::path(file).replace_extension(".csv").string()));
  }
  if (format.empty() && contains(unreadable, extension)) {
    throw InvalidValue(file + " is in a format that sotto does not read, " + extension +
                       ": export it as Parquet or CSV\ntype: sotto data init " +
                       in_shell(fs::path(file).replace_extension(".parquet").string()));
  }
  if (format.empty() && !contains(known, extension)) {
    const std::string likely = format_by_content(file);
    throw InvalidValue(
        "the name of " + file + " does not say its format; it looks like " + likely +
        "\ntype: sotto data init " + in_shell(file) + " --format " + likely +
        ", or with another one of csv, tsv, json (one object per line), json-array, parquet");
  }
  const bool is_of_objects =
      extension == ".json" || extension == ".jsonl" || extension == ".ndjson";
  if (format.empty() && is_of_objects && format_by_content(file) == "json-array") {
    throw InvalidValue(file +
                       " is one JSON array, not one object per line\ntype: sotto data init " +
                       in_shell(file) + " --format json-array");
  }
  const bool is_parquet = format == "parquet" || (format.empty() && extension == ".parquet");
  if (is_parquet) return;
  const std::string bytes = start_of(file, most_checked);
  require_utf8(file, bytes);
  const bool is_csv = format == "csv" || (format.empty() && extension == ".csv");
  if (is_csv && delimiter.empty()) require_commas(file, bytes);
}

}  // namespace sotto::cli
