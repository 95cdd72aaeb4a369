// Reads Arrow's IPC streaming format.
#include "data/arrow/ipc.hpp"

#include <bit>
#include <cstring>
#include <optional>
#include <tuple>

// The format: Apache Arrow, "Serialization and Interprocess Communication". The tables Message,
// Schema and RecordBatch are FlatBuffers: a table starts with the distance back to its list of
// fields, whose entries are the offsets of the fields in the table. The numbers of fields below are
// those of Arrow's Message.fbs and Schema.fbs.
namespace sotto::data_detail {
namespace {

static_assert(std::endian::native == std::endian::little);  // the format is little-endian, too

[[noreturn]] void fail(const char* detail) {
  throw EngineError("Spark's answer cannot be read: it is not an Arrow stream that sotto supports",
                    detail);
}

/// Reads numbers from a buffer of at most 2^31 bytes, and checks each access.
class Buffer {
 public:
  explicit Buffer(std::string_view bytes) : bytes_(bytes) {}
  template <typename T>
  [[nodiscard]] T at(std::uint64_t place) const {
    if (place > bytes_.size() || bytes_.size() - place < sizeof(T)) fail("a message is truncated");
    T value;
    std::memcpy(&value, bytes_.data() + place, sizeof value);
    return value;
  }
  /// Returns the place that the offset at a place points to.
  [[nodiscard]] std::uint64_t follow(std::uint64_t place) const {
    return place + at<std::uint32_t>(place);
  }

 private:
  std::string_view bytes_;
};

/// A FlatBuffers table.
class Table {
 public:
  Table(const Buffer& buffer, std::uint64_t place) : buffer_(&buffer), place_(place) {
    const auto back = buffer.at<std::int32_t>(place);
    const auto fields = static_cast<std::int64_t>(place) - back;
    if (fields < 0) fail("a table is outside its message");
    fields_ = static_cast<std::uint64_t>(fields);
    size_ = buffer.at<std::uint16_t>(fields_);
  }
  /// Returns the place of a field; 0 if it is absent.
  [[nodiscard]] std::uint64_t field(unsigned number) const {
    const unsigned entry = 4 + 2 * number;
    if (entry + 2 > size_) return 0;
    const auto offset = buffer_->at<std::uint16_t>(fields_ + entry);
    return offset == 0 ? 0 : place_ + offset;
  }
  template <typename T>
  [[nodiscard]] T number(unsigned number, T absent) const {
    const auto place = field(number);
    return place == 0 ? absent : buffer_->at<T>(place);
  }
  [[nodiscard]] Table table(unsigned number) const {
    const auto place = field(number);
    if (place == 0) fail("a message lacks a table");
    return {*buffer_, buffer_->follow(place)};
  }
  /// Returns the place of a vector's first element, and its number of elements.
  [[nodiscard]] std::pair<std::uint64_t, std::uint32_t> vector(unsigned number) const {
    const auto place = field(number);
    if (place == 0) return {0, 0};
    const auto start = buffer_->follow(place);
    return {start + 4, buffer_->at<std::uint32_t>(start)};
  }
  [[nodiscard]] const Buffer& buffer() const { return *buffer_; }

 private:
  const Buffer* buffer_;
  std::uint64_t place_, fields_ = 0;
  unsigned size_ = 0;
};

enum Header : std::uint8_t { schema_header = 1, dictionary_header = 2, batch_header = 3 };
enum TypeCode : std::uint8_t { int_type = 2, floating_type = 3, utf8_type = 5 };

ArrowKind kind_of(const Table& field) {
  if (field.field(4) != 0) return ArrowKind::other;  // dictionary-encoded
  switch (field.number<std::uint8_t>(2, 0)) {
    case int_type: {
      const Table type = field.table(3);
      return type.number<std::int32_t>(0, 0) == 64 && type.number<std::uint8_t>(1, 0) != 0
                 ? ArrowKind::whole
                 : ArrowKind::other;
    }
    case floating_type:
      return field.table(3).number<std::int16_t>(0, 0) == 2 ? ArrowKind::number : ArrowKind::other;
    case utf8_type: return ArrowKind::text;
    default: return ArrowKind::other;
  }
}

std::vector<ArrowKind> kinds_of(const Table& schema) {
  if (schema.number<std::int16_t>(0, 0) != 0) fail("the stream is big-endian");
  const auto [first, count] = schema.vector(1);
  std::vector<ArrowKind> kinds;
  for (std::uint32_t i = 0; i < count; ++i)
    kinds.push_back(
        kind_of(Table(schema.buffer(), schema.buffer().follow(first + 4 * std::uint64_t{i}))));
  return kinds;
}

/// The columns of a batch, copied to aligned memory.
class Columns {
 public:
  Columns(const Table& header, std::string_view body, const std::vector<ArrowKind>& kinds)
      : body_(body) {
    const auto rows = header.number<std::int64_t>(0, 0);
    if (rows < 0 || static_cast<std::uint64_t>(rows) > std::uint64_t{1} << 31U)
      fail("the number of rows of a batch is not between 0 and 2^31");
    if (header.field(3) != 0)
      fail("a batch is compressed: configure the server to send Arrow batches uncompressed");
    batch.rows = static_cast<std::size_t>(rows);
    std::tie(nodes_, node_count_) = header.vector(1);
    std::tie(buffers_, buffer_count_) = header.vector(2);
    if (node_count_ < kinds.size() || buffer_count_ < 2 * kinds.size())
      fail("a batch lacks a column");
    if (!kinds.empty()) {  // the lists are complete, before memory is allocated for the columns
      (void)header.buffer().at<std::int64_t>(nodes_ + 16 * (kinds.size() - 1) + 8);
      (void)header.buffer().at<std::int64_t>(buffers_ + 16 * (std::uint64_t{buffer_count_} - 1) +
                                             8);
    }
    int64s_.resize(kinds.size());
    numbers_.resize(kinds.size());
    validity_.resize(kinds.size());
    texts_.resize(kinds.size());
    batch.columns.resize(kinds.size());
    for (std::size_t c = 0; c < kinds.size(); ++c) read(header.buffer(), c, kinds[c]);
  }

  Batch batch;

 private:
  void read(const Buffer& buffer, std::size_t c, ArrowKind kind) {
    if (buffer.at<std::int64_t>(nodes_ + 16 * c) != static_cast<std::int64_t>(batch.rows))
      fail("a column has another length than its batch");
    Batch::Column& column = batch.columns[c];
    if (const auto bits = next(buffer); !bits.empty()) {
      validity_[c].assign(batch.rows / 64 + 1, 0);
      require(bits, (batch.rows + 7) / 8);
      std::memcpy(validity_[c].data(), bits.data(), (batch.rows + 7) / 8);
      column.validity = validity_[c].data();
    }
    const auto values = next(buffer);
    if (kind == ArrowKind::text) {
      const auto bytes = next(buffer);
      texts_[c] = texts(values, bytes, column);
      column.texts = texts_[c].data();
      return;
    }
    require(values, 8 * batch.rows);
    if (kind == ArrowKind::whole) column.int64s = copy(int64s_[c], values);
    if (kind == ArrowKind::number) column.numbers = copy(numbers_[c], values);
  }

  template <typename Number>
  const Number* copy(std::vector<Number>& numbers, std::string_view values) const {
    numbers.resize(batch.rows);
    if (batch.rows > 0) std::memcpy(numbers.data(), values.data(), sizeof(Number) * batch.rows);
    return numbers.data();
  }

  [[nodiscard]] std::vector<std::string_view> texts(std::string_view offsets,
                                                    std::string_view bytes,
                                                    const Batch::Column& column) const {
    if (batch.rows == 0) return {};
    require(offsets, 4 * (batch.rows + 1));
    std::vector<std::string_view> views(batch.rows);
    const Buffer ends(offsets);
    for (std::size_t i = 0; i < batch.rows; ++i) {
      const auto from = ends.at<std::int32_t>(4 * i);
      const auto to = ends.at<std::int32_t>(4 * i + 4);
      if (from < 0 || to < from || static_cast<std::size_t>(to) > bytes.size())
        fail("a text is outside its column");
      if (column.is_null(i)) continue;
      views[i] = bytes.substr(static_cast<std::size_t>(from), static_cast<std::size_t>(to - from));
    }
    return views;
  }

  static void require(std::string_view bytes, std::size_t size) {
    if (bytes.size() < size) fail("a column is shorter than its batch");
  }

  std::string_view next(const Buffer& buffer) {
    if (used_ >= buffer_count_) fail("a batch lacks a buffer");
    const std::uint64_t place = buffers_ + 16 * std::uint64_t{used_++};
    const auto offset = buffer.at<std::int64_t>(place);
    const auto size = buffer.at<std::int64_t>(place + 8);
    // the sizes add up to at most the message, so that columns use no more memory than it
    if (offset < 0 || size < 0 || static_cast<std::uint64_t>(size) > body_.size() - used_bytes_)
      fail("a buffer is outside its batch");
    used_bytes_ += static_cast<std::uint64_t>(size);
    if (static_cast<std::uint64_t>(offset) > body_.size() ||
        static_cast<std::uint64_t>(size) > body_.size() - static_cast<std::uint64_t>(offset)) {
      fail("a buffer is outside its batch");
    }
    return body_.substr(static_cast<std::size_t>(offset), static_cast<std::size_t>(size));
  }

  std::string_view body_;
  std::uint64_t nodes_ = 0, buffers_ = 0, used_bytes_ = 0;
  std::uint32_t node_count_ = 0, buffer_count_ = 0, used_ = 0;
  std::vector<std::vector<std::int64_t>> int64s_;
  std::vector<std::vector<double>> numbers_;
  std::vector<std::vector<std::uint64_t>> validity_;
  std::vector<std::vector<std::string_view>> texts_;
};

}  // namespace

void read_arrow_stream(std::string_view bytes,
                       const std::function<void(const std::vector<ArrowKind>&)>& begin,
                       const BatchCallback& take) {
  std::optional<std::vector<ArrowKind>> kinds;
  const auto cut = [&bytes](std::uint64_t size) {
    if (bytes.size() < size) fail("the stream is truncated");
    const auto part = bytes.substr(0, size);
    bytes.remove_prefix(size);
    return part;
  };
  while (!bytes.empty()) {
    if (Buffer(cut(4)).at<std::uint32_t>(0) != 0xFFFFFFFF)
      fail("the stream has no message where one should start");
    const auto length = Buffer(cut(4)).at<std::int32_t>(0);
    if (length == 0) break;  // the end of the stream
    if (length < 0) fail("a message has a negative length");
    const Buffer metadata(cut(static_cast<std::uint64_t>(length)));
    const Table message(metadata, metadata.follow(0));
    const auto body_length = message.number<std::int64_t>(3, 0);
    if (body_length < 0) fail("the body of a message has a negative length");
    const auto body = cut(static_cast<std::uint64_t>(body_length));
    switch (message.number<std::uint8_t>(1, 0)) {
      case schema_header:
        if (kinds) fail("the stream has two schemas");
        kinds = kinds_of(message.table(2));
        begin(*kinds);
        break;
      case batch_header: {
        if (!kinds) fail("a batch precedes the schema");
        for (const auto kind : *kinds) {
          if (kind == ArrowKind::other)
            fail(
                "unexpected Arrow column type: only double, 64-bit integer and text columns can be "
                "read");
        }
        const Columns columns(message.table(2), body, *kinds);
        if (columns.batch.rows > 0) take(columns.batch);
        break;
      }
      case dictionary_header: fail("the stream has a dictionary-encoded column");
      default: fail("a message is of an unknown kind");
    }
  }
  if (!kinds) fail("the stream has no schema");
}

}  // namespace sotto::data_detail
