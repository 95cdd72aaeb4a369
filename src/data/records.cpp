#include "records.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "sotto/core/errors.hpp"
#include "sotto/core/json.hpp"
#include "sotto/data/engine.hpp"
#include "utf8.hpp"

namespace sotto {
namespace {

constexpr std::size_t step = 4 * RecordReader::longest_record;
constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

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

std::optional<Typed> typed(const Json& value, Type type) {
  if (value.is_null()) return Typed{};
  switch (type) {
    case Type::boolean:
      if (value.is_boolean()) return value.get<bool>();
      break;
    case Type::integer:
      if (value.is_integer()) return value.get<std::int64_t>();
      break;
    case Type::real:
      if (value.is_number()) return value.get<double>();
      break;
    case Type::text:
      if (value.is_string() && is_text(value.text())) return value.get<std::string>();
      break;
    case Type::date:
    case Type::timestamp:
      if (value.is_string()) return typed(RawField{value.text(), false}, type);
      break;
  }
  return {};
}

}  // namespace

File::File(const std::filesystem::path& path) : descriptor_(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)) {
  if (descriptor_ < 0) throw EngineError("cannot read " + path.string() + ": " + std::strerror(errno), "");
  if (fstat(descriptor_, &at_opening_) != 0 || !S_ISREG(at_opening_.st_mode)) {
    close(descriptor_);
    throw EngineError("cannot read " + path.string() + ": it is not a file", "");
  }
}

File::~File() { close(descriptor_); }

std::size_t File::read(std::uint64_t offset, char* bytes, std::size_t size) const {
  std::size_t done = 0;
  while (done < size) {
    const auto count = pread(descriptor_, bytes + done, size - done, static_cast<off_t>(offset + done));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw EngineError("the file of data cannot be read", std::strerror(errno));
    if (count == 0) break;
    done += static_cast<std::size_t>(count);
  }
  return done;
}

std::string File::path_again() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

void File::require_unchanged() const {
  struct stat now {};
  const bool same = fstat(descriptor_, &now) == 0 && now.st_size == at_opening_.st_size && now.st_mtim.tv_sec == at_opening_.st_mtim.tv_sec &&
                    now.st_mtim.tv_nsec == at_opening_.st_mtim.tv_nsec;
  if (!same) throw EngineError("the file of data was changed while sotto was reading it", "");
}

void scan(std::string_view text, bool last, char separator, Record& record) {
  record.fields.clear();
  std::size_t at = 0;
  for (RawField field;; ++at) {
    record.good = scan_field(text, last, separator, at, field);
    if (!record.good) {
      record.length = first_line(text, last);
      return;
    }
    record.fields.push_back(field);
    if (at == text.size() || text[at] == '\n') break;
  }
  record.length = std::min(at + 1, text.size());
}

Element scan_element(std::string_view text) {
  constexpr std::string_view blank = " \t\r\n";
  std::size_t at = text.find_first_not_of(blank);
  if (at != std::string_view::npos && text[at] == ',') at = text.find_first_not_of(blank, at + 1);
  if (at == std::string_view::npos) return {};
  if (text[at] == ']') return {true, true, text.size(), {}};
  const std::size_t start = at;
  std::size_t depth = 0;
  bool quoted = false;
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (quoted) {
      if (c == '\\') ++at;
      if (c == '"') quoted = false;
    } else if (c == '"') {
      quoted = true;
    } else if (c == '{' || c == '[') {
      ++depth;
    } else if (depth == 0 && (c == ',' || c == ']')) {
      return {true, false, at, text.substr(start, at - start)};
    } else if (c == '}' || c == ']') {
      if (depth == 0) return {};
      --depth;
    }
  }
  return {};
}

Header read_header(const File& file, Layout layout, const std::vector<Column>& columns) {
  std::string start(RecordReader::longest_record, '\0');
  start.resize(file.read(0, start.data(), start.size()));
  std::string_view text = start;
  Header header;
  if (text.starts_with(byte_order_mark)) {
    header.length = byte_order_mark.size();
    text.remove_prefix(byte_order_mark.size());
  }
  if (is_json(layout)) {
    // the first mark is the file's form, not a record
    const auto first = text.find_first_not_of(" \t\r\n");
    const bool is_array = first != std::string_view::npos && text[first] == '[';
    if (layout == Layout::json_lines && is_array) throw InvalidValue("the file of data is one JSON array: write format = \"json-array\"");
    if (layout == Layout::json_array && !is_array) throw InvalidValue("the file of data is no JSON array: it must start with [");
    if (is_array) header.length += first + 1;
    return header;
  }
  Record record;
  scan(text, start.size() == file.size(), layout == Layout::tsv ? '\t' : ',', record);
  if (text.empty() || !record.good) throw InvalidValue("the file of data has no header: its first line must name the columns");
  header.length += record.length;
  header.width = record.fields.size();
  for (const auto& column : columns) {
    std::optional<std::size_t> found;
    for (std::size_t i = 0; i < record.fields.size(); ++i) {
      const auto name = typed(record.fields[i], Type::text);
      if (!name || *name != Typed{column.name}) continue;
      if (found) throw InvalidValue("the file's header names the column \"" + column.name + "\" twice");
      found = i;
    }
    if (!found) throw InvalidValue("the file's header has no column \"" + column.name + "\"");
    header.positions.push_back(*found);
  }
  return header;
}

/// Records cut from the file, to be read without the lock.
struct RecordReader::Batch {
  struct Place {
    std::size_t start, length;
    bool quoted;
  };
  std::string bytes;
  std::vector<Place> places;  ///< the declared fields of one record after the other; of JSON, the record
  [[nodiscard]] RawField field(std::size_t i) const { return {std::string_view(bytes).substr(places[i].start, places[i].length), places[i].quoted}; }
  void add(const RawField& field) {
    places.push_back({bytes.size(), field.text.size(), field.quoted});
    bytes += field.text;
  }
};

RecordReader::RecordReader(const File& file, Layout layout, const std::vector<Column>& columns, const Header& header,
                           std::atomic<std::uint64_t>& done)
    : file_(file), layout_(layout), columns_(columns), header_(header), done_(done), offset_(header.length) {}

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
  done_.fetch_add(length, std::memory_order_relaxed);
}

bool RecordReader::cut(std::size_t most, Batch& batch) {
  const std::lock_guard lock(mutex_);
  const auto wanted = most * (is_json(layout_) ? 1 : columns_.size());
  while (batch.places.size() < wanted && batch.bytes.size() < step) {
    fill();
    if (at_ == buffer_.size()) return !batch.places.empty();
    if (ended_) {
      pass(buffer_.size() - at_);
      continue;
    }
    const auto window = std::string_view(buffer_).substr(at_, longest_record);
    const bool last = last_ && at_ + window.size() == buffer_.size();
    if (in_long_line_) {
      const auto rest = first_line(window, last);
      in_long_line_ = rest == 0;
      pass(in_long_line_ ? window.size() : rest);
      continue;
    }
    if (layout_ == Layout::json_array) {
      const Element element = scan_element(window);
      ended_ = !element.good || element.end;
      if (ended_) continue;
      batch.add({element.text, false});
      pass(element.length);
      continue;
    }
    if (layout_ == Layout::json_lines) {
      record_.length = first_line(window, last);
      if (record_.length > 0) batch.add({window.substr(0, record_.length), false});
    } else {
      scan(window, last, layout_ == Layout::tsv ? '\t' : ',', record_);
      const bool blank = record_.fields.size() == 1 && record_.fields[0].text.empty() && !record_.fields[0].quoted;
      if (record_.good && record_.fields.size() == header_.width && !blank) {
        for (const auto position : header_.positions) batch.add(record_.fields[position]);
      }
    }
    in_long_line_ = record_.length == 0;
    pass(in_long_line_ ? window.size() : record_.length);
  }
  return true;
}

void RecordReader::append(const Batch& batch, std::vector<Typed>& rows) const {
  const auto width = columns_.size();
  const auto count = batch.places.size() / (is_json(layout_) ? 1 : width);
  for (std::size_t record = 0; record < count; ++record) {
    const auto before = rows.size();
    std::optional<Json> object;
    if (is_json(layout_)) {
      object = Json::read(batch.field(record).text);
      if (!object || !object->is_object()) continue;
    }
    for (std::size_t i = 0; i < width; ++i) {
      std::optional<Typed> value;
      if (is_json(layout_)) {
        const Json* found = object->find(columns_[i].name);
        value = found == nullptr ? Typed{} : typed(*found, columns_[i].type);
      } else {
        value = typed(batch.field(record * width + i), columns_[i].type);
      }
      if (!value) {
        rows.resize(before);
        break;
      }
      rows.push_back(std::move(*value));
    }
  }
}

std::vector<Typed> RecordReader::read(std::size_t most) {
  std::vector<Typed> rows;
  for (Batch batch; rows.empty() && cut(most, batch); batch = {}) append(batch, rows);
  return rows;
}

}  // namespace sotto
