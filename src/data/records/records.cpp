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

/// The length of the first line with its end; 0 if it has none.
std::size_t first_line(std::string_view text, bool last) {
  const auto end = text.find('\n');
  return end != std::string_view::npos ? end + 1 : last ? text.size() : 0;
}

std::string_view without_carriage_return(std::string_view line) {
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  return line;
}

/// One field from `at` on, which moves to what ends it. False if it breaks the rules or is not ended within the text.
bool scan_field(std::string_view text, bool last, char separator, std::size_t& at, RawField& field) {
  if (at < text.size() && text[at] == '"') {
    const auto start = ++at;
    for (;; at += 2) {
      at = text.find('"', at);
      if (at == std::string_view::npos) return false;
      if (at + 1 == text.size() || text[at + 1] != '"') break;
    }
    field = {text.substr(start, at - start), true};
    ++at;
    if (at < text.size() && text[at] == '\r' && (at + 1 < text.size() ? text[at + 1] == '\n' : last)) ++at;
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

/// The length of the element at the start of the text, as far as brackets and texts say; 0 if it is not ended within it.
std::size_t element_length(std::string_view text) {
  Manner array;
  array.layout = Layout::json_array;
  Skip skip;
  skip.start(array);
  const auto length = skip.pass(text);
  return skip.ended() ? length : 0;
}

/// Where the declared columns stand among the names. `what` starts the sentence.
void find_positions(Header& header, const std::vector<Column>& columns, const std::string& what) {
  for (const auto& column : columns) {
    const auto found = std::find(header.names.begin(), header.names.end(), column.name);
    if (found == header.names.end()) {
      throw InvalidValue(what + " has no column \"" + column.name + "\"" + what_there_is(column.name, header.names));
    }
    if (std::find(found + 1, header.names.end(), column.name) != header.names.end()) {
      throw InvalidValue(what + " names the column \"" + column.name + "\" twice");
    }
    header.positions.push_back(static_cast<std::size_t>(found - header.names.begin()));
  }
}

}  // namespace

void scan(std::string_view text, bool last, const Manner& manner, Record& record) {
  record.fields.clear();
  if (manner.by_lines) {
    record.length = first_line(text, last);
    record.good = record.length > 0;
    if (!record.good) return;
    text = text.substr(0, record.length);
    last = true;
  }
  std::size_t at = 0;
  for (RawField field;; ++at) {
    record.good = scan_field(text, last, manner.separator, at, field);
    if (!record.good) {
      if (!manner.by_lines) record.length = 0;
      return;
    }
    record.fields.push_back(field);
    if (at == text.size() || text[at] == '\n') break;
  }
  record.length = std::min(at + 1, text.size());
}

void Skip::start(const Manner& manner) {
  const bool by_lines = manner.layout == Layout::json_lines || (manner.layout == Layout::separated && manner.by_lines);
  *this = {};
  kind_ = by_lines ? Kind::line : manner.layout == Layout::json_array ? Kind::element : Kind::quoted;
  ended_ = false;
}

std::size_t Skip::pass(std::string_view text) {
  switch (kind_) {
    case Kind::line: return pass_line(text);
    case Kind::quoted: return pass_quoted(text);
    case Kind::element: return pass_element(text);
  }
  return 0;
}

std::size_t Skip::pass_line(std::string_view text) {
  const auto end = text.find('\n');
  ended_ = end != std::string_view::npos;
  return ended_ ? end + 1 : text.size();
}

// The file keeps the rules, so that every quote opens or closes; a doubled one does both.
std::size_t Skip::pass_quoted(std::string_view text) {
  for (std::size_t at = 0;; ++at) {
    at = in_quotes_ ? text.find('"', at) : text.find_first_of("\"\n", at);
    if (at == std::string_view::npos) return text.size();
    ended_ = text[at] == '\n';
    if (ended_) return at + 1;
    in_quotes_ = !in_quotes_;
  }
}

// An object, an array or a text ends with its last mark, anything else before a separator.
std::size_t Skip::pass_element(std::string_view text) {
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

Header read_header(const File& file, const Manner& manner, const std::vector<Column>& columns) {
  std::string start(RecordReader::longest_record, '\0');
  start.resize(file.read(0, start.data(), start.size()));
  std::string_view text = start;
  Header header;
  if (text.starts_with(byte_order_mark)) {
    header.length = byte_order_mark.size();
    text.remove_prefix(byte_order_mark.size());
  }
  if (manner.is_json()) {
    // the first mark is the file's form, not a record
    const auto first = text.find_first_not_of(blank);
    const bool is_array = first != std::string_view::npos && text[first] == '[';
    if (manner.layout == Layout::json_lines && is_array) throw InvalidValue("the file of data is one JSON array: write format = \"json-array\"");
    if (manner.layout == Layout::json_array && !is_array) throw InvalidValue("the file of data is no JSON array: it must start with [");
    if (is_array) {
      require_array(file);
      header.length += first + 1;
    }
    return header;
  }
  if (!manner.names.empty()) {
    header.names = manner.names;
    find_positions(header, columns, "`names`");
    return header;
  }
  Record record;
  scan(text, start.size() == file.size(), manner, record);
  if (text.empty() || !record.good) throw InvalidValue("the file of data has no header: its first line must name the columns");
  header.length += record.length;
  for (const RawField& field : record.fields) {
    const auto name = typed(field, Type::text, {no_null_text, manner.trim});
    header.names.push_back(name && std::holds_alternative<std::string>(*name) ? std::get<std::string>(*name) : "");
  }
  find_positions(header, columns, "the file's header");
  return header;
}

RecordReader::RecordReader(const File& file, const Manner& manner, const std::vector<Column>& columns, const Header& header, Counters& counters)
    : file_(file), manner_(manner), columns_(columns), header_(header), counters_(counters), offset_(header.length) {
  counters_.passes.fetch_add(1, std::memory_order_relaxed);
}

void RecordReader::fill() {
  if (last_ || buffer_.size() - at_ >= longest_record) return;
  buffer_.erase(0, at_);
  at_ = 0;
  const auto kept = buffer_.size();
  buffer_.resize(kept + step);
  const auto count = file_.read(offset_, buffer_.data() + kept, step);
  buffer_.resize(kept + count);
  offset_ += count;
  last_ = count < step;
}

void RecordReader::pass(std::size_t length) {
  at_ += length;
  counters_.bytes.fetch_add(length, std::memory_order_relaxed);
}

void RecordReader::skip_record() {
  skip_.start(manner_);
  counters_.malformed.fetch_add(1, std::memory_order_relaxed);
}

void RecordReader::cut_separated(std::string_view window, bool last, Batch& batch) {
  scan(window, last, manner_, record_);
  if (record_.length == 0) return skip_record();
  const bool blank_line = record_.fields.size() == 1 && record_.fields[0].text.empty() && !record_.fields[0].quoted;
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
  const auto wanted = most * (manner_.is_json() ? 1 : header_.positions.size());
  while (batch.places.size() < wanted && batch.bytes.size() < step) {
    fill();
    if (at_ == buffer_.size()) return !batch.places.empty();
    if (ended_) {
      pass(buffer_.size() - at_);
      continue;
    }
    const auto window = std::string_view(buffer_).substr(at_, longest_record);
    const bool last = last_ && at_ + window.size() == buffer_.size();
    if (!skip_.ended()) {
      pass(skip_.pass(window));
      continue;
    }
    switch (manner_.layout) {
      case Layout::separated: cut_separated(window, last, batch); break;
      case Layout::json_lines: cut_json_line(window, last, batch); break;
      case Layout::json_array: cut_element(window, batch); break;
    }
  }
  return true;
}

void RecordReader::append(const Batch& batch, bool marked, std::vector<Typed>& rows) const {
  const auto width = columns_.size();
  const auto count = batch.places.size() / (manner_.is_json() ? 1 : width);
  const ValueManner manner{manner_.null_text, manner_.trim};
  std::vector<std::optional<Typed>> values(width);
  std::vector<std::uint64_t> unreadable(width);
  std::uint64_t records = 0;
  for (std::size_t record = 0; record < count; ++record) {
    if (manner_.is_json()) {
      auto object = typed_object(batch.field(record).text, columns_, manner);
      if (!object) {
        counters_.malformed.fetch_add(1, std::memory_order_relaxed);
        continue;
      }
      values = std::move(*object);
    } else {
      for (std::size_t i = 0; i < width; ++i) values[i] = typed(batch.field(record * width + i), columns_[i].type, manner);
    }
    ++records;
    for (std::size_t i = 0; i < width; ++i) unreadable[i] += values[i] ? 0 : 1;
    for (auto& value : values) rows.push_back(value ? std::move(*value) : Typed{});
    if (!marked) continue;
    for (const auto& value : values) rows.emplace_back(!value.has_value());
  }
  counters_.records.fetch_add(records, std::memory_order_relaxed);
  for (std::size_t i = 0; i < counters_.unreadable.size(); ++i) counters_.unreadable[i].fetch_add(unreadable[i], std::memory_order_relaxed);
}

std::vector<Typed> RecordReader::read(std::size_t most, bool marked) {
  std::vector<Typed> rows;
  for (Batch batch; rows.empty() && cut(most, batch); batch = {}) append(batch, marked, rows);
  return rows;
}

}  // namespace sotto::data_detail
