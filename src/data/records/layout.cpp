// Decides how a file of records is divided into records.
#include "data/records/layout.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "sotto/core/errors.hpp"

namespace sotto::data_detail {
namespace {

constexpr std::size_t step = std::size_t{4} << 20U;
constexpr std::size_t deepest = 1'000'000;

/// Reads the bytes of a file one after the other, and remembers the last one that was passed.
class Bytes {
 public:
  explicit Bytes(const File& file) : file_(file) {}
  /// True unless the file ends here.
  bool more() {
    if (at_ < end_) return true;
    offset_ += end_;
    buffer_.resize(step);
    end_ = file_.read(offset_, buffer_.data(), step);
    at_ = 0;
    return end_ > 0;
  }
  [[nodiscard]] std::uint64_t place() const { return offset_ + at_; }
  [[nodiscard]] char before() const { return before_; }
  [[nodiscard]] char here() const { return buffer_[at_]; }
  void pass() { before_ = buffer_[at_++]; }
  /// Moves to the next c. Returns false if there is none.
  bool find(char c) {
    while (more()) {
      const auto* match =
          static_cast<const char*>(std::memchr(buffer_.data() + at_, c, end_ - at_));
      if (match != nullptr) {
        move_to(static_cast<std::size_t>(match - buffer_.data()));
        return true;
      }
      move_to(end_);
    }
    return false;
  }
  /// Moves from inside a quoted field to its closing quote, or to the end of the file. Returns
  /// whether it passed a line end.
  bool pass_quoted() {
    bool crossed = false;
    while (more()) {
      const auto* quote =
          static_cast<const char*>(std::memchr(buffer_.data() + at_, '"', end_ - at_));
      const auto end = quote == nullptr ? end_ : static_cast<std::size_t>(quote - buffer_.data());
      crossed = crossed || std::memchr(buffer_.data() + at_, '\n', end - at_) != nullptr;
      move_to(end);
      if (quote != nullptr) break;
    }
    return crossed;
  }

 private:
  void move_to(std::size_t at) {
    if (at > at_) before_ = buffer_[at - 1];
    at_ = at;
  }

  const File& file_;
  std::string buffer_;
  std::size_t at_ = 0;
  std::size_t end_ = 0;
  std::uint64_t offset_ = 0;
  char before_ = '\n';
};

std::string line_of(const File& file, std::uint64_t place) {
  std::string buffer(step, '\0');
  std::uint64_t lines = 1;
  for (std::uint64_t at = 0; at < place; at += step) {
    const auto count = file.read(at, buffer.data(), std::min<std::uint64_t>(step, place - at));
    lines += static_cast<std::uint64_t>(
        std::count(buffer.begin(), buffer.begin() + static_cast<std::ptrdiff_t>(count), '\n'));
  }
  return "line " + std::to_string(lines);
}

// Line numbers depend on the data: only the detail, which the curator alone sees, has one.
[[noreturn]] void refuse(const std::string& what, const std::string& detail) {
  throw EngineError(
      "the file of data does not match its declaration, and nothing was charged: " + what, detail);
}

void require_plain(const File& file) {
  char start[6] = {};
  file.read(0, start, sizeof start);
  const std::string_view bytes(start, sizeof start);
  for (const std::string_view mark : {std::string_view("\x1f\x8b"), std::string_view("PK\x03\x04"),
                                      std::string_view("\x28\xb5\x2f\xfd"), std::string_view("BZh"),
                                      std::string_view("\xfd"
                                                       "7zXZ")}) {
    if (bytes.starts_with(mark))
      throw InvalidValue("the file of data is compressed: unpack it first, such as by gunzip");
  }
}

char separator_of(const FileSource& source, Format format) {
  if (source.delimiter.empty()) return format == Format::tsv ? '\t' : ',';
  const char c = source.delimiter.front();
  const bool is_one = source.delimiter.size() == 1 && c != '"' && c != '\n' && c != '\r' &&
                      c != '\0' && static_cast<unsigned char>(c) < 0x80;
  if (!is_one)
    throw InvalidValue(
        "`delimiter` must be one ASCII character, such as \";\", and neither a quote nor a line "
        "end");
  return c;
}

void require_no_separators(const FileSource& source) {
  const char* only = " is for separated values: leave it out for JSON";
  if (!source.records.empty()) throw InvalidValue(std::string("`records`") + only);
  if (!source.delimiter.empty()) throw InvalidValue(std::string("`delimiter`") + only);
  if (!source.names.empty())
    throw InvalidValue(std::string("`names`") + only + ", whose records name their columns");
}

}  // namespace

void require_array(const File& file) {
  Bytes bytes(file);
  const auto refuse_here = [&](const char* why) {
    refuse("it is not one JSON array from its first to its last byte",
           line_of(file, bytes.place()) + ": " + why);
  };
  std::vector<bool> braces;  // for each open bracket, whether it is a brace
  if (!bytes.find('[')) refuse_here("there is no [");
  for (; bytes.more(); bytes.pass()) {
    const char c = bytes.here();
    if (c == '"') {
      bytes.pass();
      for (; bytes.more() && bytes.here() != '"'; bytes.pass()) {
        if (bytes.here() != '\\') continue;
        bytes.pass();
        if (!bytes.more()) break;
      }
      if (!bytes.more()) refuse_here("a text is not closed");
    } else if (c == '{' || c == '[') {
      braces.push_back(c == '{');
      if (braces.size() > deepest) refuse_here("more than 1000000 brackets are open");
    } else if (c == '}' || c == ']') {
      if (braces.back() != (c == '}')) refuse_here("a bracket closes one of another kind");
      braces.pop_back();
      if (braces.empty()) break;
    }
  }
  if (!bytes.more()) refuse_here("the array is not closed");
  bytes.pass();
  for (; bytes.more(); bytes.pass()) {
    if (std::strchr(" \t\r\n", bytes.here()) == nullptr) refuse_here("text follows the array");
  }
}

Format format_of(const FileSource& source) {
  const std::string extension = source.path.extension().string();
  const std::string format = source.format.empty() ? extension : "." + source.format;
  if (format == ".csv") return extension == ".tsv" ? Format::tsv : Format::csv;
  if (format == ".tsv") return Format::tsv;
  if (format == ".json" || format == ".jsonl" || format == ".ndjson") return Format::json;
  if (format == ".json-array") return Format::json_array;
  if (format == ".parquet") return Format::parquet;
  for (const char* packed : {".gz", ".zip", ".zst", ".bz2", ".xz"}) {
    if (format == packed)
      throw InvalidValue("\"" + source.path.filename().string() +
                         "\" is compressed: unpack it first, such as by gunzip");
  }
  throw InvalidValue(
      "\"" + format.substr(std::min<std::size_t>(1, format.size())) +
      "\" is not a format: write csv, tsv, json (one object a line), json-array or parquet");
}

Quotes find_quotes(const File& file, char separator) {
  Quotes unusual;
  const auto note = [](std::optional<std::uint64_t>& place, std::uint64_t at) {
    if (!place) place = at;
  };
  constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
  Bytes bytes(file);
  while (bytes.find('"')) {
    const std::uint64_t start = bytes.place();
    bool opens = bytes.before() == separator || bytes.before() == '\n';
    if (start == byte_order_mark.size() && !opens) {
      char first[3] = {};
      file.read(0, first, sizeof first);
      opens = std::string_view(first, sizeof first) == byte_order_mark;
    }
    bytes.pass();
    if (!opens) {
      note(unusual.unsound, start);
      continue;
    }
    for (;;) {
      if (bytes.pass_quoted()) note(unusual.crossing, start);
      if (!bytes.more()) {  // the quote is never closed: all lines that follow are inside it
        note(unusual.unsound, start);
        note(unusual.crossing, start);
        return unusual;
      }
      bytes.pass();
      if (!bytes.more() || bytes.here() != '"') break;
      bytes.pass();
    }
    if (!bytes.more() || bytes.here() == separator || bytes.here() == '\n') continue;
    if (bytes.here() == '\r') {
      bytes.pass();
      if (!bytes.more() || bytes.here() == '\n') continue;
    }
    note(unusual.unsound, start);
  }
  return unusual;
}

RecordFormat record_format_of(const File& file, const FileSource& source) {
  const Format format = format_of(source);
  require_plain(file);
  RecordFormat records;
  records.null_text = source.null_text;
  records.names = source.names;
  records.trim = source.trim;
  if (format == Format::json || format == Format::json_array) {
    require_no_separators(source);
    records.layout = format == Format::json ? Layout::json_lines : Layout::json_array;
    return records;
  }

  records.separator = separator_of(source, format);
  if (source.records == "lines") return records;
  if (!source.records.empty() && source.records != "quoted") {
    throw InvalidValue("`records` = \"" + source.records +
                       "\" is unknown: write \"lines\" (a quoted field never contains a line end) "
                       "or \"quoted\" (RFC 4180: it may)");
  }
  const Quotes quotes = find_quotes(file, records.separator);
  if (source.records == "quoted") {
    records.by_lines = false;
    if (quotes.unsound) {
      refuse("its records are declared \"quoted\", and its quotes do not follow RFC 4180",
             line_of(file, *quotes.unsound) +
                 ": a quote neither opens nor closes a field, or it is never closed");
    }
  } else if (quotes.crossing) {
    refuse(
        "declare how its records end: records = \"lines\" (a quoted field never contains a line "
        "end) or records = \"quoted\" (RFC 4180: it may)",
        line_of(file, *quotes.crossing) + ": a line ends inside quotes");
  }
  return records;
}

}  // namespace sotto::data_detail
