// Cuts files into records, and records into values of the declared columns.
#include "data/records/records.hpp"

#include <algorithm>

#include "data/text/suggestion.hpp"
#include "sotto/core/errors.hpp"

namespace sotto::data_detail {
namespace {

constexpr std::size_t step = 4 * RecordReader::longest_record;
constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
constexpr std::string_view blank = " \t\r\n";
const std::vector<std::string> no_null_text;

/// Returns the length of the first line with its line end; 0 if the text does not contain it.
std::size_t first_line(std::string_view text, bool last) {
  const auto end = text.find('\n');
  return end != std::string_view::npos ? end + 1 : last ? text.size() : 0;
}

std::string_view without_carriage_return(std::string_view line) {
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  return line;
}

/// Reads one field from `at` on, and moves `at` to the separator or line end after it. Returns
/// false if the field does not follow RFC 4180 or does not end within the text.
bool scan_field(std::string_view text, bool last, char separator, std::size_t& at,
                RawField& field) {
  if (at < text.size() && text[at] == '"') {
    const auto start = ++at;
    for (;; at += 2) {
      at = text.find('"', at);
      if (at == std::string_view::npos) return false;
      if (at + 1 == text.size() || text[at + 1] != '"') break;
    }
    field = {text.substr(start, at - start), true};
    ++at;
    if (at < text.size() && text[at] == '\r' &&
        (at + 1 < text.size() ? text[at + 1] == '\n' : last))
      ++at;
    return at == text.size() ? last : text[at] == separator || text[at] == '\n';
  }
  const auto start = at;
  while (at < text.size() && text[at] != separator && text[at] != '\n') {
    if (text[at] == '"') return false;
    ++at;
  }
  if (at == text.size() && !last) return false;
  field = {text.substr(start, at - start), false};
  if (at == text.size() || text[at] == '\n') field.text = without_carriage_return(field.text);
  return true;
}

/// Returns the length of the array element at the start of the text, by its brackets and quotes; 0
/// if it does not end within the text.
std::size_t element_length(std::string_view text) {
  RecordFormat array;
  array.layout = Layout::json_array;
  RecordSkipper skipper;
  skipper.start(array);
  const auto length = skipper.pass(text);
  return skipper.ended() ? length : 0;
}

/// Finds the declared columns among the names. `what` is the subject of errors: "the file's
/// header".
void find_positions(Header& header, const std::vector<Column>& columns, const std::string& what) {
  for (const auto& column : columns) {
    const auto it = std::find(header.names.begin(), header.names.end(), column.name);
    if (it == header.names.end()) {
      throw InvalidValue(what + " has no column \"" + column.name + "\"" +
                         suggestion(column.name, header.names));
    }
    if (std::find(it + 1, header.names.end(), column.name) != header.names.end()) {
      throw InvalidValue(what + " names the column \"" + column.name + "\" twice");
    }
    header.positions.push_back(static_cast<std::size_t>(it - header.names.begin()));
  }
}

}  // namespace

void scan_record(std::string_view text, bool last, const RecordFormat& format, Record& record) {
  record.fields.clear();
  if (format.by_lines) {
    record.length = first_line(text, last);
    record.good = record.length > 0;
    if (!record.good) return;
    text = text.substr(0, record.length);
    last = true;
  }
  std::size_t at = 0;
  for (RawField field;; ++at) {
    record.good = scan_field(text, last, format.separator, at, field);
    if (!record.good) {
      if (!format.by_lines) record.length = 0;
      return;
    }
    record.fields.push_back(field);
    if (at == text.size() || text[at] == '\n') break;
  }
  record.length = std::min(at + 1, text.size());
}

void RecordSkipper::start(const RecordFormat& format) {
  const bool by_lines = format.layout == Layout::json_lines ||
                        (format.layout == Layout::separated && format.by_lines);
  *this = {};
  kind_ = by_lines                              ? Kind::line
          : format.layout == Layout::json_array ? Kind::element
                                                : Kind::quoted;
  ended_ = false;
}

std::size_t RecordSkipper::pass(std::string_view text) {
  switch (kind_) {
    case Kind::line: return pass_line(text);
    case Kind::quoted: return pass_quoted(text);
    case Kind::element: return pass_element(text);
  }
  return 0;
}

std::size_t RecordSkipper::pass_line(std::string_view text) {
  const auto end = text.find('\n');
  ended_ = end != std::string_view::npos;
  return ended_ ? end + 1 : text.size();
}

// The file follows RFC 4180, so that every quote opens or closes a field; a doubled quote does
// both.
std::size_t RecordSkipper::pass_quoted(std::string_view text) {
  for (std::size_t at = 0;; ++at) {
    at = in_quotes_ ? text.find('"', at) : text.find_first_of("\"\n", at);
    if (at == std::string_view::npos) return text.size();
    ended_ = text[at] == '\n';
    if (ended_) return at + 1;
    in_quotes_ = !in_quotes_;
  }
}

// An object, an array or a text ends with its closing bracket or quote, any other value before a
// separator.
std::size_t RecordSkipper::pass_element(std::string_view text) {
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (escaped_) {
      escaped_ = false;
    } else if (in_quotes_) {
      escaped_ = c == '\\';
      in_quotes_ = c != '"';
      ended_ = depth_ == 0 && !in_quotes_;
    } else if (c == '"') {
      in_quotes_ = true;
    } else if (c == '{' || c == '[') {
      ++depth_;
    } else if (depth_ > 0) {
      if (c == '}' || c == ']') ended_ = --depth_ == 0;
    } else if (c == ',' || c == ']' || blank.find(c) != std::string_view::npos) {
      ended_ = true;
      return at;
    }
    if (ended_) return at + 1;
  }
  return text.size();
}

Header read_header(const File& file, const RecordFormat& format,
                   const std::vector<Column>& columns) {
  std::string start(RecordReader::longest_record, '\0');
  start.resize(file.read(0, start.data(), start.size()));
  std::string_view text = start;
  Header header;
  if (text.starts_with(byte_order_mark)) {
    header.length = byte_order_mark.size();
    text.remove_prefix(byte_order_mark.size());
  }
  if (format.is_json()) {
    // the first character decides the form of the file, before any record
    const auto first = text.find_first_not_of(blank);
    const bool is_array = first != std::string_view::npos && text[first] == '[';
    if (format.layout == Layout::json_lines && is_array)
      throw InvalidValue(
          "the file of data is one JSON array, not one object a line: write format = "
          "\"json-array\"");
    if (format.layout == Layout::json_array && !is_array)
      throw InvalidValue(
          "the file of data is not a JSON array: it must start with [. If it has one object a "
          "line, write format = \"json\"");
    if (is_array) {
      require_array(file);
      header.length += first + 1;
    }
    return header;
  }
  if (!format.names.empty()) {
    header.names = format.names;
    find_positions(header, columns, "`names`");
    return header;
  }
  Record record;
  scan_record(text, start.size() == file.size(), format, record);
  if (text.empty() || !record.good)
    throw InvalidValue("the file of data has no header: its first line must name the columns");
  header.length += record.length;
  for (const RawField& field : record.fields) {
    const auto name = parse_scalar(field, Type::text, {no_null_text, format.trim});
    header.names.push_back(
        name && std::holds_alternative<std::string>(*name) ? std::get<std::string>(*name) : "");
  }
  find_positions(header, columns, "the file's header");
  return header;
}

RecordReader::RecordReader(const File& file, const RecordFormat& format,
                           const std::vector<Column>& columns, const Header& header,
                           Counters& counters)
    : file_(file),
      format_(format),
      columns_(columns),
      header_(header),
      counters_(counters),
      offset_(header.length) {
  counters_.passes.fetch_add(1, std::memory_order_relaxed);
}

void RecordReader::fill() {
  if (last_ || buffer_.size() - at_ >= longest_record) return;
  buffer_.erase(0, at_);
  at_ = 0;
  const auto remaining = buffer_.size();
  buffer_.resize(remaining + step);
  const auto count = file_.read(offset_, buffer_.data() + remaining, step);
  buffer_.resize(remaining + count);
  offset_ += count;
  last_ = count < step;
}

void RecordReader::pass(std::size_t length) {
  at_ += length;
  counters_.bytes.fetch_add(length, std::memory_order_relaxed);
}

void RecordReader::skip_record() {
  skipper_.start(format_);
  counters_.malformed.fetch_add(1, std::memory_order_relaxed);
}

void RecordReader::cut_separated(std::string_view window, bool last, Batch& batch) {
  scan_record(window, last, format_, record_);
  if (record_.length == 0) return skip_record();
  const bool blank_line =
      record_.fields.size() == 1 && record_.fields[0].text.empty() && !record_.fields[0].quoted;
  if (record_.good && record_.fields.size() == header_.names.size() && !blank_line) {
    for (const auto position : header_.positions) batch.add(record_.fields[position]);
  } else if (!record_.good || !blank_line) {
    counters_.malformed.fetch_add(1, std::memory_order_relaxed);
  }
  pass(record_.length);
}

void RecordReader::cut_json_line(std::string_view window, bool last, Batch& batch) {
  const auto length = first_line(window, last);
  if (length == 0) return skip_record();
  const auto line = window.substr(0, length);
  if (line.find_first_not_of(blank) != std::string_view::npos) batch.add({line, false});
  pass(length);
}

void RecordReader::cut_element(std::string_view window, Batch& batch) {
  const auto start = window.find_first_not_of(" \t\r\n,");
  if (start != 0) return pass(std::min(start, window.size()));
  if (window.front() == ']') {
    ended_ = true;
    return;
  }
  const auto length = element_length(window);
  if (length == 0) return skip_record();
  batch.add({window.substr(0, length), false});
  pass(length);
}

bool RecordReader::cut(std::size_t most, Batch& batch) {
  const std::lock_guard lock(mutex_);
  const auto wanted = most * (format_.is_json() ? 1 : header_.positions.size());
  while (batch.places.size() < wanted && batch.bytes.size() < step) {
    fill();
    if (at_ == buffer_.size()) return !batch.places.empty();
    if (ended_) {
      pass(buffer_.size() - at_);
      continue;
    }
    const auto window = std::string_view(buffer_).substr(at_, longest_record);
    const bool last = last_ && at_ + window.size() == buffer_.size();
    if (!skipper_.ended()) {
      pass(skipper_.pass(window));
      continue;
    }
    switch (format_.layout) {
      case Layout::separated: cut_separated(window, last, batch); break;
      case Layout::json_lines: cut_json_line(window, last, batch); break;
      case Layout::json_array: cut_element(window, batch); break;
    }
  }
  return true;
}

void RecordReader::append(const Batch& batch, bool flagged, std::vector<Scalar>& rows) const {
  const auto width = columns_.size();
  const auto count = batch.places.size() / (format_.is_json() ? 1 : width);
  const ValueFormat format{format_.null_text, format_.trim};
  std::vector<std::optional<Scalar>> values(width);
  std::vector<std::uint64_t> unreadable(width);
  std::uint64_t records = 0;
  for (std::size_t record = 0; record < count; ++record) {
    if (format_.is_json()) {
      auto object = parse_object(batch.field(record).text, columns_, format);
      if (!object) {
        counters_.malformed.fetch_add(1, std::memory_order_relaxed);
        continue;
      }
      values = std::move(*object);
    } else {
      for (std::size_t i = 0; i < width; ++i)
        values[i] = parse_scalar(batch.field(record * width + i), columns_[i].type, format);
    }
    ++records;
    for (std::size_t i = 0; i < width; ++i) unreadable[i] += values[i] ? 0 : 1;
    for (auto& value : values) rows.push_back(value ? std::move(*value) : Scalar{});
    if (!flagged) continue;
    for (const auto& value : values) rows.emplace_back(!value.has_value());
  }
  counters_.records.fetch_add(records, std::memory_order_relaxed);
  for (std::size_t i = 0; i < counters_.unreadable.size(); ++i)
    counters_.unreadable[i].fetch_add(unreadable[i], std::memory_order_relaxed);
}

std::vector<Scalar> RecordReader::read(std::size_t most, bool flagged) {
  std::vector<Scalar> rows;
  for (Batch batch; rows.empty() && cut(most, batch); batch = {}) append(batch, flagged, rows);
  return rows;
}

}  // namespace sotto::data_detail
