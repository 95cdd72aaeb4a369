// Files of records as rows of declared columns. A value that cannot be read as declared is NULL of its own column, and a record that is none is
// left out, alone: nothing is guessed from the contents, nothing in them is an error, and what is in one record does not change how another is
// read.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "data/records/file.hpp"
#include "data/records/layout.hpp"
#include "sotto/data/schema.hpp"

namespace sotto::data_detail {

/// A field as it stands in a text file, less the quotes around it; quotes inside are still doubled.
struct RawField {
  std::string_view text;
  bool quoted = false;
};
/// A date is its days, a timestamp its microseconds since 1970.
using Typed = std::variant<std::monostate, bool, std::int64_t, double, std::string>;

/// How values are read.
struct ValueManner {
  const std::vector<std::string>& null_text;
  bool trim = false;  ///< texts, too: without blanks at their ends
};
/// A text without blanks and tabs at its ends.
std::string_view trimmed(std::string_view text);
/// A field by its declared type: NULL if it is empty or one of `null_text`, nothing if it cannot be read.
std::optional<Typed> typed(const RawField& field, Type type, const ValueManner& manner);
/// A whole number from one that is written otherwise, if it is one and no larger than 2^53 in size.
std::optional<Typed> whole_of(double value);
/// The objects of JSON by their columns: a value each, nothing for one that cannot be read; nothing at all if the text is no object.
std::optional<std::vector<std::optional<Typed>>> typed_object(std::string_view text, const std::vector<Column>& columns, const ValueManner& manner);
/// The names in an object and the narrowest type of each value (none: NULL); nothing if the text is no object.
struct NamedType {
  std::string name;
  std::optional<Type> type;
  bool has_blanks;         ///< it is a text with blanks at its ends
  bool is_nested = false;  ///< it is an array or an object, which have none of the types
};
std::optional<std::vector<NamedType>> types_of_object(std::string_view text, const std::vector<std::string>& null_text);
/// The narrowest type of a field; none: NULL.
std::optional<Type> type_of(const RawField& field, const std::vector<std::string>& null_text);
/// The narrowest type that has the values of both.
Type wider(Type a, Type b);

/// A record of separated values by RFC 4180. A bad one breaks the rules.
struct Record {
  bool good = false;
  std::size_t length = 0;  ///< with the line's end; 0 if it is not in sight
  std::vector<RawField> fields;
};
/// The record at the start of the text; `last`: the file ends where the text does. By lines, a bad record is a line like any other.
void scan(std::string_view text, bool last, const Manner& manner, Record& record);

/// The columns that a file has, and where its records start.
struct Header {
  std::vector<std::string> names;      ///< none in JSON
  std::vector<std::size_t> positions;  ///< of the declared columns
  std::uint64_t length = 0;
};
/// InvalidValue if a declared column is not there, or twice, or if JSON lines are an array or an array is none; EngineError for an array that is
/// broken.
Header read_header(const File& file, const Manner& manner, const std::vector<Column>& columns);

/// How far reading has come, for those who watch.
struct Counters {
  std::atomic<std::uint64_t> bytes{0};
  std::atomic<std::uint64_t> malformed{0};                  ///< records that were left out
  std::atomic<std::uint64_t> records{0};                    ///< that were read
  std::atomic<std::uint64_t> passes{0};                     ///< over the file: a statement may look at it more than once
  std::vector<std::atomic<std::uint64_t>> unreadable = {};  ///< of each column: values that are not of its type; empty: not counted
};

/// Where a record that is too long ends: its true end, whatever its length.
class Skip {
 public:
  void start(const Manner& manner);
  /// How many of these bytes belong to the record; it is over if that is not all of them, or if ended().
  std::size_t pass(std::string_view text);
  [[nodiscard]] bool ended() const { return ended_; }

 private:
  std::size_t pass_line(std::string_view text);
  std::size_t pass_quoted(std::string_view text);
  std::size_t pass_element(std::string_view text);

  enum class Kind { line, quoted, element } kind_ = Kind::line;
  bool ended_ = true;
  bool in_quotes_ = false;
  bool escaped_ = false;
  std::uint64_t depth_ = 0;
};

/// One pass over a file, by as many threads as like.
class RecordReader {
 public:
  static constexpr std::size_t longest_record = std::size_t{1} << 20U;

  RecordReader(const File& file, const Manner& manner, const std::vector<Column>& columns, const Header& header, Counters& counters);
  /// The next rows, at most `most` of them, one after the other; none at the end. `marked`: after the values of a row stand as many booleans:
  /// which of them cannot be read.
  std::vector<Typed> read(std::size_t most, bool marked = false);
  /// The next records as they stand, at most `most` of them; false at the end.
  struct Batch;
  bool cut(std::size_t most, Batch& batch);

 private:
  void fill();
  void pass(std::size_t length);
  void cut_separated(std::string_view window, bool last, Batch& batch);
  void cut_json_line(std::string_view window, bool last, Batch& batch);
  void cut_element(std::string_view window, Batch& batch);
  void skip_record();
  void append(const Batch& batch, bool marked, std::vector<Typed>& rows) const;

  const File& file_;
  const Manner& manner_;
  const std::vector<Column>& columns_;
  const Header& header_;
  Counters& counters_;

  std::mutex mutex_;
  std::string buffer_;
  std::size_t at_ = 0;
  std::uint64_t offset_;
  bool last_ = false;
  bool ended_ = false;  // the array
  Skip skip_;
  Record record_;
};

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

}  // namespace sotto::data_detail
