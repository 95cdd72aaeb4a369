// Reads the binary format of PostgreSQL's COPY.
#include "data/engines/postgresql/copy_reader.hpp"

#include <bit>

// The format: a signature of 11 bytes, 4 bytes of flags, 4 bytes with the length of an extension,
// and the extension. Then rows: 2 bytes with the number of fields, and for each field 4 bytes with
// its length, or -1 for NULL, and its bytes. Numbers are big-endian. At the end, the number of
// fields is -1.
namespace sotto::data_detail {
namespace {

constexpr std::size_t rows_a_batch = 4096;
constexpr std::string_view signature("PGCOPY\n\377\r\n\0", 11);

class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}
  [[nodiscard]] bool is_empty() const { return bytes_.empty(); }
  std::string_view take(std::size_t size) {
    if (size > bytes_.size()) throw std::logic_error("a message of COPY is truncated");
    const auto part = bytes_.substr(0, size);
    bytes_.remove_prefix(size);
    return part;
  }
  template <class Number>
  Number number() {
    std::make_unsigned_t<Number> n = 0;
    for (const char c : take(sizeof(Number)))
      n = static_cast<decltype(n)>(n << 8U | static_cast<unsigned char>(c));
    return static_cast<Number>(n);
  }

 private:
  std::string_view bytes_;
};

}  // namespace

CopyReader::CopyReader(const std::vector<Batch::Kind>& kinds, const BatchCallback& take)
    : kinds_(kinds), take_(take), columns_(kinds.size()) {}

void CopyReader::add(std::string_view message) {
  Reader reader(message);
  if (!has_begun_) {
    if (reader.take(signature.size()) != signature)
      throw std::logic_error("COPY does not have its binary format");
    reader.number<std::int32_t>();
    reader.take(static_cast<std::size_t>(reader.number<std::int32_t>()));
    has_begun_ = true;
  }
  while (!reader.is_empty()) {
    const auto fields = reader.number<std::int16_t>();
    if (fields == -1) {
      has_ended_ = true;
      return;
    }
    if (static_cast<std::size_t>(fields) != kinds_.size())
      throw std::logic_error("the columns of a stream do not have the requested types");
    for (std::size_t c = 0; c < kinds_.size(); ++c) {
      Column& column = columns_[c];
      if (rows_ % 64 == 0) column.validity.push_back(0);
      const auto size = reader.number<std::int32_t>();
      const bool is_valid = size >= 0;
      if (is_valid) column.validity.back() |= std::uint64_t{1} << (rows_ % 64);
      if (kinds_[c] == Batch::Kind::text) {
        if (is_valid) column.bytes += reader.take(static_cast<std::size_t>(size));
        column.ends.push_back(column.bytes.size());
        continue;
      }
      if (is_valid && size != 8)
        throw std::logic_error("the columns of a stream do not have the requested types");
      const std::int64_t bits = is_valid ? reader.number<std::int64_t>() : 0;
      if (kinds_[c] == Batch::Kind::number) {
        column.numbers.push_back(std::bit_cast<double>(bits));
      } else {
        column.int64s.push_back(bits);
      }
    }
    if (++rows_ == rows_a_batch) pass_batch();
  }
}

void CopyReader::finish() {
  if (has_ended_ && rows_ > 0) pass_batch();
}

void CopyReader::pass_batch() {
  Batch batch;
  batch.rows = rows_;
  for (std::size_t c = 0; c < kinds_.size(); ++c) {
    Column& column = columns_[c];
    column.texts.clear();
    std::size_t start = 0;
    for (const std::size_t end : column.ends) {
      column.texts.emplace_back(column.bytes.data() + start, end - start);
      start = end;
    }
    batch.columns.push_back(
        {column.numbers.data(), column.int64s.data(), column.texts.data(), column.validity.data()});
  }
  take_(batch);
  for (Column& column : columns_) {
    column.numbers.clear();
    column.int64s.clear();
    column.ends.clear();
    column.bytes.clear();
    column.validity.clear();
  }
  rows_ = 0;
}

}  // namespace sotto::data_detail
