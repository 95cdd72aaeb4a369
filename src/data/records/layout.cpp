#include "data/records/layout.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "sotto/core/errors.hpp"

namespace sotto::data_detail {
namespace {

constexpr std::size_t step = std::size_t{4} << 20U;
constexpr std::size_t deepest = 1'000'000;

/// The file's bytes, one after the other, with one that was passed over.
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
  /// Moves to the next such byte; false if there is none.
  bool find(char c) {
    while (more()) {
      const auto* found = static_cast<const char*>(std::memchr(buffer_.data() + at_, c, end_ - at_));
      if (found != nullptr) {
        move_to(static_cast<std::size_t>(found - buffer_.data()));
        return true;
      }
      move_to(end_);
    }
    return false;
  }
  /// Moves to the closing quote or the end of the text in quotes that starts here; whether a line ended on the way.
  bool pass_quoted() {
    bool crossed = false;
    while (more()) {
      const auto* found = static_cast<const char*>(std::memchr(buffer_.data() + at_, '"', end_ - at_));
      const auto end = found == nullptr ? end_ : static_cast<std::size_t>(found - buffer_.data());
      crossed = crossed || std::memchr(buffer_.data() + at_, '\n', end - at_) != nullptr;
      move_to(end);
      if (found != nullptr) break;
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
    lines += static_cast<std::uint64_t>(std::count(buffer.begin(), buffer.begin() + static_cast<std::ptrdiff_t>(count), '\n'));
  }
  return "line " + std::to_string(lines);
}

[[noreturn]] void refuse(const std::string& what, const std::string& detail) {
  throw EngineError("the file of data is not as it is declared, and nothing was charged: " + what, detail);
}

void require_plain(const File& file) {
  char start[6] = {};
  file.read(0, start, sizeof start);
  const std::string_view bytes(start, sizeof start);
  for (const std::string_view mark :
       {std::string_view("\x1f\x8b"), std::string_view("PK\x03\x04"), std::string_view("\x28\xb5\x2f\xfd"), std::string_view("BZh"),
        std::string_view("\xfd"
                         "7zXZ")}) {
    if (bytes.starts_with(mark)) throw InvalidValue("the file of data is compressed: unpack it first, such as by gunzip");
  }
}

char separator_of(const FileSource& source, Format format) {
  if (source.delimiter.empty()) return format == Format::tsv ? '\t' : ',';
  const char c = source.delimiter.front();
  const bool is_one = source.delimiter.size() == 1 && c != '"' && c != '\n' && c != '\r' && c != '\0' && static_cast<unsigned char>(c) < 0x80;
  if (!is_one) throw InvalidValue("`delimiter` is one ASCII character, such as \";\", and no quote or end of a line");
  return c;
}

}  // namespace

void require_array(const File& file) {
  Bytes bytes(file);
  const auto refuse_here = [&](const char* why) {
    refuse("it is no JSON array from its first to its last byte", line_of(file, bytes.place()) + ": " + why);
  };
  std::vector<bool> braces;  // the open brackets
  if (!bytes.find('[')) refuse_here("no array");
  for (; bytes.more(); bytes.pass()) {
    const char c = bytes.here();
    if (c == '"') {
      bytes.pass();
      for (; bytes.more() && bytes.here() != '"'; bytes.pass()) {
        if (bytes.here() != '\\') continue;
        bytes.pass();
        if (!bytes.more()) break;
      }
      if (!bytes.more()) refuse_here("a text is not ended");
    } else if (c == '{' || c == '[') {
      braces.push_back(c == '{');
      if (braces.size() > deepest) refuse_here("too many open brackets");
    } else if (c == '}' || c == ']') {
      if (braces.back() != (c == '}')) refuse_here("a bracket closes one of the other kind");
      braces.pop_back();
      if (braces.empty()) break;
    }
  }
  if (!bytes.more()) refuse_here("the array is not ended");
  bytes.pass();
  for (; bytes.more(); bytes.pass()) {
    if (std::strchr(" \t\r\n", bytes.here()) == nullptr) refuse_here("something comes after the array");
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
    if (format == packed) throw InvalidValue("\"" + source.path.filename().string() + "\" is compressed: unpack it first, such as by gunzip");
  }
  throw InvalidValue("\"" + format.substr(std::min<std::size_t>(1, format.size())) +
                     "\" is no format of a file; there are: csv, tsv, json (an object a line), json-array, parquet");
}

Quotes look_at_quotes(const File& file, char separator) {
  Quotes found;
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
      note(found.unsound, start);
      continue;
    }
    for (;;) {
      if (bytes.pass_quoted()) note(found.crossing, start);
      if (!bytes.more()) {  // never closed: if lines follow they are inside
        note(found.unsound, start);
        note(found.crossing, start);
        return found;
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
    note(found.unsound, start);
  }
  return found;
}

Manner manner_of(const File& file, const FileSource& source) {
  const Format format = format_of(source);
  Manner manner;
  manner.null_text = source.null_text;
  manner.names = source.names;
  manner.trim = source.trim;
  require_plain(file);
  if (format == Format::json || format == Format::json_array) {
    if (!source.records.empty()) throw InvalidValue("`records` is for separated values: leave it out for JSON");
    if (!source.delimiter.empty()) throw InvalidValue("`delimiter` is for separated values: leave it out for JSON");
    if (!source.names.empty()) throw InvalidValue("`names` is for separated values: leave it out for JSON, whose records name their columns");
    manner.layout = format == Format::json ? Layout::json_lines : Layout::json_array;
    return manner;
  }
  manner.separator = separator_of(source, format);
  if (source.records == "lines") return manner;
  if (!source.records.empty() && source.records != "quoted") {
    throw InvalidValue("`records` is \"lines\" (a quote never crosses the end of a line) or \"quoted\" (RFC 4180: it may)");
  }
  const Quotes found = look_at_quotes(file, manner.separator);
  if (source.records == "quoted") {
    manner.by_lines = false;
    if (found.unsound) {
      refuse("its records are declared \"quoted\", and it breaks the rules of RFC 4180 on quotes",
             line_of(file, *found.unsound) + ": a quote that neither opens nor closes a field, or one that is never closed");
    }
  } else if (found.crossing) {
    refuse(
        "declare how its records end: records = \"lines\" (a quote never crosses the end of a line) or records = \"quoted\" (RFC 4180: a field in "
        "quotes may hold ends of lines)",
        line_of(file, *found.crossing) + ": a line ends inside quotes");
  }
  return manner;
}

}  // namespace sotto::data_detail
