#include "data/engines/postgresql/copy_reader.hpp"

#include <bit>

// The head: eleven bytes, four of flags, four with the length of what follows. A row: two bytes with the number of fields; each field has four bytes
// with its length, -1 for NULL, and its bytes; numbers have their first byte first. The end: -1 in place of the number of fields.
namespace sotto::data_detail {
namespace {

constexpr std::size_t rows_a_batch = 4096;
constexpr std::string_view signature("PGCOPY\n\377\r\n\0", 11);

class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}
  [[nodiscard]] bool is_empty() const { return bytes_.empty(); }
  std::string_view take(std::size_t size) {
    if (size > bytes_.size()) throw std::logic_error("a row of COPY is cut off");
    const auto taken = bytes_.substr(0, size);
    bytes_.remove_prefix(size);
    return taken;
  }
  template <class Number>
  Number number() {
    std::make_unsigned_t<Number> n = 0;
    for (const char c : take(sizeof(Number))) n = static_cast<decltype(n)>(n << 8U | static_cast<unsigned char>(c));
    return static_cast<Number>(n);
  }

 private:
  std::string_view bytes_;
};

}  // namespace

CopiedRows::CopiedRows(const std::vector<Batch::Kind>& kinds, const Taker& take) : kinds_(kinds), take_(take), columns_(kinds.size()) {}

void CopiedRows::add(std::string_view message) {
  Reader reader(message);
  if (!has_begun_) {
    if (reader.take(signature.size()) != signature) throw std::logic_error("COPY has another format");
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
    if (static_cast<std::size_t>(fields) != kinds_.size()) throw std::logic_error("a stream has other columns than were asked for");
    for (std::size_t c = 0; c < kinds_.size(); ++c) {
      Column& column = columns_[c];
      if (rows_ % 64 == 0) column.known.push_back(0);
      const auto size = reader.number<std::int32_t>();
      const bool is_known = size >= 0;
      if (is_known) column.known.back() |= std::uint64_t{1} << (rows_ % 64);
      if (kinds_[c] == Batch::Kind::text) {
        if (is_known) column.bytes += reader.take(static_cast<std::size_t>(size));
        column.ends.push_back(column.bytes.size());
        continue;
      }
      if (is_known && size != 8) throw std::logic_error("a stream has other columns than were asked for");
      const std::int64_t bits = is_known ? reader.number<std::int64_t>() : 0;
      if (kinds_[c] == Batch::Kind::number) {
        column.numbers.push_back(std::bit_cast<double>(bits));
      } else {
        column.wholes.push_back(bits);
      }
    }
    if (++rows_ == rows_a_batch) give();
  }
}

void CopiedRows::finish() {
  if (has_ended_ && rows_ > 0) give();
}

void CopiedRows::give() {
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
    batch.columns.push_back({column.numbers.data(), column.wholes.data(), column.texts.data(), column.known.data()});
  }
  take_(batch);
  for (Column& column : columns_) {
    column.numbers.clear();
    column.wholes.clear();
    column.ends.clear();
    column.bytes.clear();
    column.known.clear();
  }
  rows_ = 0;
}

}  // namespace sotto::data_detail
