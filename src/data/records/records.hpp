// Reads files of records as rows of declared columns.
//
// A value that cannot be read as its type is NULL, in its own column alone. A record that cannot be
// read is skipped, alone. Nothing is guessed from the contents, no content is an error, and one
// record never changes how another is read.
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

/// A field as in the file, without the quotes around it. Quotes inside it are still doubled.
struct RawField {
  std::string_view text;
  bool quoted = false;
};
/// A value of a column. A date is its days since 1970, a timestamp its microseconds since 1970.
using Scalar = std::variant<std::monostate, bool, std::int64_t, double, std::string>;

/// How a single value is read.
struct ValueFormat {
  const std::vector<std::string>& null_text;
  bool trim = false;  ///< removes spaces and tabs at both ends of texts
};
/// Returns the text without spaces and tabs at both ends.
std::string_view trimmed(std::string_view text);
/// Parses a field by its declared type: NULL if it is empty or one of `null_text`. Returns nullopt
/// if it cannot be read.
std::optional<Scalar> parse_scalar(const RawField& field, Type type, const ValueFormat& format);
/// Returns a double as an integer, if it is one of at most 2^53 in magnitude.
std::optional<Scalar> integer_of(double value);
/// Parses a JSON object. Returns a value for each column, nullopt for one that cannot be read;
/// nullopt for the whole if the text is not an object.
std::optional<std::vector<std::optional<Scalar>>> parse_object(std::string_view text,
                                                               const std::vector<Column>& columns,
                                                               const ValueFormat& format);
/// A member of a JSON object with the narrowest type of its value.
struct NamedType {
  std::string name;
  std::optional<Type> type;  ///< empty: NULL, or nested
  bool has_blanks;           ///< it is a text that starts or ends with a space or tab
  bool is_nested = false;    ///< it is an array or an object
};
/// Returns the members of an object; nullopt if the text is not an object.
std::optional<std::vector<NamedType>> types_of_object(std::string_view text,
                                                      const std::vector<std::string>& null_text);
/// Returns the narrowest type of a field; nullopt if it is NULL.
std::optional<Type> type_of(const RawField& field, const std::vector<std::string>& null_text);
/// Returns the narrowest type that has all values of both.
Type wider(Type a, Type b);

/// A record of separated values. It is `good` if it follows RFC 4180.
struct Record {
  bool good = false;
  std::size_t length = 0;  ///< with its line end; 0 if the text does not contain the line end
  std::vector<RawField> fields;
};
/// Reads the record at the start of the text. `last`: the file ends where the text ends. If records
/// are lines, a bad record is one line, like any other.
void scan_record(std::string_view text, bool last, const RecordFormat& format, Record& record);

/// The columns of a file, and where its records start.
struct Header {
  std::vector<std::string> names;      ///< empty for JSON
  std::vector<std::size_t> positions;  ///< of the declared columns among the names
  std::uint64_t length = 0;            ///< bytes before the first record
};
/// Reads the header. Throws InvalidValue if a declared column is absent or appears twice, or if the
/// file is a JSON array and declared as lines, or the reverse. Throws EngineError for an array that
/// is not well formed.
Header read_header(const File& file, const RecordFormat& format,
                   const std::vector<Column>& columns);

/// Progress and results of reading. Atomic, since the threads of an engine update them.
struct Counters {
  std::atomic<std::uint64_t> bytes{0};
  std::atomic<std::uint64_t> malformed{0};  ///< records that were skipped
  std::atomic<std::uint64_t> records{0};    ///< records that were read
  /// Passes over the file: a statement may read it more than once.
  std::atomic<std::uint64_t> passes{0};
  /// For each column, values that are not of its type. Empty: not counted.
  std::vector<std::atomic<std::uint64_t>> unreadable = {};
};

/// Skips a record that is too long, to its true end, whatever its length.
class RecordSkipper {
 public:
  void start(const RecordFormat& format);
  /// Returns how many of these bytes belong to the record. The record has ended if there are more,
  /// or if ended().
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

/// Single-pass reader of a file, safe for concurrent callers. The threads cut records from the file
/// one after the other, and parse them in parallel.
class RecordReader {
 public:
  static constexpr std::size_t longest_record = std::size_t{1} << 20U;

  RecordReader(const File& file, const RecordFormat& format, const std::vector<Column>& columns,
               const Header& header, Counters& counters);
  /// Returns the values of the next rows, at most `most` rows, row by row; empty at the end.
  /// `flagged`: after its values, each row has a boolean for each of them, true if it cannot be
  /// read.
  std::vector<Scalar> read(std::size_t most, bool flagged = false);
  /// Cuts the next records from the file, at most `most`, without parsing their fields. Returns
  /// false at the end.
  struct Batch;
  bool cut(std::size_t most, Batch& batch);

 private:
  void fill();
  void pass(std::size_t length);
  void cut_separated(std::string_view window, bool last, Batch& batch);
  void cut_json_line(std::string_view window, bool last, Batch& batch);
  void cut_element(std::string_view window, Batch& batch);
  void skip_record();
  void append(const Batch& batch, bool flagged, std::vector<Scalar>& rows) const;

  const File& file_;
  const RecordFormat& format_;
  const std::vector<Column>& columns_;
  const Header& header_;
  Counters& counters_;

  std::mutex mutex_;
  std::string buffer_;
  std::size_t at_ = 0;
  std::uint64_t offset_;
  bool last_ = false;
  bool ended_ = false;  // the JSON array
  RecordSkipper skipper_;
  Record record_;
};

/// Records that were cut from the file. They are parsed without the lock.
struct RecordReader::Batch {
  struct Place {
    std::size_t start, length;
    bool quoted;
  };
  std::string bytes;
  std::vector<Place> places;  ///< the declared fields of each record; for JSON, the whole record
  [[nodiscard]] RawField field(std::size_t i) const {
    return {std::string_view(bytes).substr(places[i].start, places[i].length), places[i].quoted};
  }
  void add(const RawField& field) {
    places.push_back({bytes.size(), field.text.size(), field.quoted});
    bytes += field.text;
  }
};

}  // namespace sotto::data_detail
