// Files of records as rows of declared columns. A record that cannot be read as declared is left out, alone: nothing is guessed from the
// contents, nothing in them is an error, and what is in one well-formed record does not change how another is read.
#pragma once

#include <sys/stat.h>

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "sotto/data/schema.hpp"

namespace sotto {

/// An open regular file. Another one renamed over it changes nothing here, and a change of its own is noticed.
class File {
 public:
  /// EngineError if there is no such file or it cannot be read.
  explicit File(const std::filesystem::path& path);
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File();
  /// The bytes from `offset` on; fewer than `size` only at the file's end.
  std::size_t read(std::uint64_t offset, char* bytes, std::size_t size) const;
  [[nodiscard]] std::uint64_t size() const { return static_cast<std::uint64_t>(at_opening_.st_size); }
  /// A path by which this very file can be opened again.
  [[nodiscard]] std::string path_again() const;
  /// EngineError if the file is no longer what it was when it was opened.
  void require_unchanged() const;

 private:
  int descriptor_;
  struct stat at_opening_ {};
};

/// A field as it stands in a text file, less the quotes around it; quotes inside are still doubled.
struct RawField {
  std::string_view text;
  bool quoted = false;
};
/// A date is its days, a timestamp its microseconds since 1970.
using Typed = std::variant<std::monostate, bool, std::int64_t, double, std::string>;

/// A field by its declared type: NULL if it is empty, nothing if it cannot be read.
std::optional<Typed> typed(const RawField& field, Type type);

/// A record of separated values by RFC 4180. A bad one breaks the rules; its length is that of its first line.
struct Record {
  bool good = false;
  std::size_t length = 0;  ///< with the line's end; 0 if none is in sight
  std::vector<RawField> fields;
};
/// The record at the start of the text; `last`: the file ends where the text does.
void scan(std::string_view text, bool last, char separator, Record& record);

/// The element at the start of what is left of a JSON array: a separator before it is passed over. A bad one is not ended within the text;
/// nothing after it can be read.
struct Element {
  bool good = false;
  bool end = false;        ///< the array ends here
  std::size_t length = 0;  ///< with what is before it
  std::string_view text;
};
Element scan_element(std::string_view text);

enum class Layout { csv, tsv, json_lines, json_array };
/// A record is an object, which is parsed by itself.
constexpr bool is_json(Layout layout) { return layout == Layout::json_lines || layout == Layout::json_array; }

/// The columns that a file has, and where its records start.
struct Header {
  std::size_t width = 0;
  std::vector<std::size_t> positions;  ///< of the declared columns
  std::uint64_t length = 0;
};
/// InvalidValue if a declared column is not there, or twice, or if JSON lines are an array or an array is none.
Header read_header(const File& file, Layout layout, const std::vector<Column>& columns);

/// One pass over a file, by as many threads as like.
class RecordReader {
 public:
  static constexpr std::size_t longest_record = std::size_t{1} << 20U;

  /// What it has passed over is added to `done`.
  RecordReader(const File& file, Layout layout, const std::vector<Column>& columns, const Header& header, std::atomic<std::uint64_t>& done);
  /// The next rows, at most `most` of them, one after the other; none at the end.
  std::vector<Typed> read(std::size_t most);

 private:
  struct Batch;
  bool cut(std::size_t most, Batch& batch);
  void fill();
  void pass(std::size_t length);
  void append(const Batch& batch, std::vector<Typed>& rows) const;

  const File& file_;
  const Layout layout_;
  const std::vector<Column>& columns_;
  const Header& header_;
  std::atomic<std::uint64_t>& done_;

  std::mutex mutex_;
  std::string buffer_;
  std::size_t at_ = 0;
  std::uint64_t offset_;
  bool last_ = false;
  bool in_long_line_ = false;
  bool ended_ = false;  // the array
  Record record_;
};

}  // namespace sotto
