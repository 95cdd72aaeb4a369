// Tables in memory by the Arrow C data interface: they are read in place, with the semantics of
// files.
#include "sotto/data/arrow.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <deque>
#include <filesystem>
#include <string>
#include <vector>

#include "data/arrow/abi.hpp"
#include "sotto/core/errors.hpp"

namespace sotto {
namespace {

using data_detail::ArrowArray;
using data_detail::ArrowArrayStream;
using data_detail::ArrowSchema;

// A table with one batch for each of `offsets`, all of them on equal buffers. It owns what it
// exports.
class TestTable {
 public:
  void add(const char* name, const char* format, std::vector<const void*> buffers) {
    names_.emplace_back(name);
    formats_.emplace_back(format);
    buffers_.push_back(std::move(buffers));
  }
  // The dictionary of the last column: texts or numbers, with their own offset.
  void look_up(const char* format, std::vector<const void*> buffers, std::int64_t offset,
               std::int64_t length) {
    look_ups_.push_back({names_.size() - 1, format, std::move(buffers), {}, {}});
    LookUp& entry = look_ups_.back();
    entry.schema = {entry.format.c_str(), "", nullptr, 2, 0, nullptr, nullptr, nullptr, nullptr};
    entry.values = {length,  -1,
                    offset,  static_cast<std::int64_t>(entry.buffers.size()),
                    0,       entry.buffers.data(),
                    nullptr, nullptr,
                    nullptr, nullptr};
  }
  struct Part {
    std::int64_t offset, length;
  };
  std::vector<Part> parts;
  int released = 0;

  ArrowArrayStream stream() {
    return {.get_schema =
                [](ArrowArrayStream* of, ArrowSchema* out) {
                  auto& source = *static_cast<TestTable*>(of->private_data);
                  source.schemas_.clear();
                  source.schema_places_.clear();
                  source.schemas_.reserve(source.names_.size());
                  for (std::size_t i = 0; i < source.names_.size(); ++i) {
                    source.schemas_.push_back({source.formats_[i].c_str(), source.names_[i].c_str(),
                                               nullptr, 2, 0, nullptr, nullptr, nullptr, nullptr});
                    source.schema_places_.push_back(&source.schemas_[i]);
                  }
                  for (LookUp& look_up : source.look_ups_)
                    source.schemas_[look_up.column].dictionary = &look_up.schema;
                  *out = {"+s",
                          "",
                          nullptr,
                          0,
                          static_cast<std::int64_t>(source.names_.size()),
                          source.schema_places_.data(),
                          nullptr,
                          [](ArrowSchema* s) { s->release = nullptr; },
                          nullptr};
                  return 0;
                },
            .get_next =
                [](ArrowArrayStream* of, ArrowArray* out) {
                  auto& source = *static_cast<TestTable*>(of->private_data);
                  *out = {};
                  if (source.next_ == source.parts.size()) return 0;
                  const Part part = source.parts[source.next_++];
                  auto& batch = source.batches_.emplace_back(std::make_unique<Batch>());
                  for (auto& buffers : source.buffers_) {
                    batch->columns.push_back({part.offset + part.length, -1, 0,
                                              static_cast<std::int64_t>(buffers.size()), 0,
                                              buffers.data(), nullptr, nullptr, nullptr, nullptr});
                  }
                  for (LookUp& look_up : source.look_ups_)
                    batch->columns[look_up.column].dictionary = &look_up.values;
                  for (auto& column : batch->columns) batch->places.push_back(&column);
                  *out = {part.length,
                          0,
                          part.offset,
                          1,
                          static_cast<std::int64_t>(batch->places.size()),
                          source.none_,
                          batch->places.data(),
                          nullptr,
                          [](ArrowArray* a) {
                            ++static_cast<TestTable*>(a->private_data)->released;
                            a->release = nullptr;
                          },
                          of->private_data};
                  return 0;
                },
            .get_last_error = [](ArrowArrayStream*) -> const char* { return nullptr; },
            .release = [](ArrowArrayStream* s) { s->release = nullptr; },
            .private_data = this};
  }

 private:
  struct LookUp {
    std::size_t column;
    std::string format;
    std::vector<const void*> buffers;
    ArrowSchema schema;
    ArrowArray values;
  };
  struct Batch {
    std::vector<ArrowArray> columns;
    std::vector<ArrowArray*> places;
  };
  std::vector<std::string> names_, formats_;
  std::deque<LookUp> look_ups_;
  std::vector<std::vector<const void*>> buffers_;
  std::vector<ArrowSchema> schemas_;
  std::vector<ArrowSchema*> schema_places_;
  std::vector<std::unique_ptr<Batch>> batches_;
  std::size_t next_ = 0;
  const void* none_[1] = {nullptr};
};

class Arrow : public testing::Test {
 protected:
  void SetUp() override {
    limits.duckdb = SOTTO_SOURCE_DIR "/build/duckdb/libduckdb.so";
    if (!std::filesystem::exists(limits.duckdb)) GTEST_SKIP() << "no DuckDB; type: ./dev duckdb";
  }
  std::int64_t query(const ArrowTable& table, const std::vector<Column>& columns,
                     const std::string& what) const {
    const auto engine = open_engine(table, columns, limits);
    return std::get<std::int64_t>(
        engine->query("SELECT CAST(" + what + " AS BIGINT) FROM " + engine->table()).at(0, 0));
  }
  Limits limits;
};

TEST_F(Arrow, RowsOfAllBatchesAreReadWithoutACopy) {
  std::vector<std::int64_t> numbers(10'000);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<std::int64_t>(i);
  const std::uint8_t known[] = {0b11111101};  // of the first eight; the table has one batch of them
  TestTable source;
  source.add("n", "l", {nullptr, numbers.data()});
  source.parts = {{0, 3000}, {3000, 1}, {3001, 6999}};
  auto stream = source.stream();
  {
    const ArrowTable table(&stream);
    EXPECT_EQ(stream.release, nullptr);  // ArrowTable owns the stream
    EXPECT_EQ(table.rows(), 10'000);
    EXPECT_EQ(query(table, {{"n", Type::integer}}, "sum(n)"), 49'995'000);
    numbers[9'999] += 5;  // the table reads the changed value: it made no copy
    EXPECT_EQ(query(table, {{"n", Type::integer}}, "sum(n)"), 49'995'005);
    EXPECT_EQ(source.released, 0);
  }
  EXPECT_EQ(source.released, 3);
  TestTable some;
  some.add("n", "l", {known, numbers.data()});
  some.parts = {{0, 4}, {4, 4}};
  auto other = some.stream();
  EXPECT_EQ(query(ArrowTable(&other), {{"n", Type::integer}}, "sum(n)"), 27);  // 1 is NULL
}

TEST_F(Arrow, ValuesOfAnotherTypeAreNull) {
  const double reals[] = {1, 2.5, NAN, 1e300, -4};
  const std::uint64_t wide[] = {1, 2, UINT64_MAX, 4, 5};
  const std::int32_t days[] = {0, 19'000, -800'000, 2'932'897, 1};
  const std::int64_t times[] = {0, 1'500, -1, INT64_MAX, INT64_MIN};
  const std::int32_t places[] = {0, 1, 3, 4, 4, 6};
  const char texts[] =
      "a\xff\xfe"
      "b"
      "\xc3\xa9";
  TestTable source;
  source.add("real", "g", {nullptr, reals});
  source.add("wide", "L", {nullptr, wide});
  source.add("day", "tdD", {nullptr, days});
  source.add("time", "tsm:", {nullptr, times});
  source.add("text", "u", {nullptr, places, texts});
  source.parts = {{0, 5}};
  auto stream = source.stream();
  const ArrowTable table(&stream);
  EXPECT_EQ(query(table, {{"real", Type::integer}}, "count(real)"), 2);  // 1 and -4
  EXPECT_EQ(query(table, {{"real", Type::real}}, "count(real)"), 4);
  EXPECT_EQ(query(table, {{"wide", Type::integer}}, "sum(wide)"), 12);
  EXPECT_EQ(query(table, {{"wide", Type::real}}, "count(wide)"), 5);
  EXPECT_EQ(query(table, {{"day", Type::date}}, "count(day)"), 3);
  EXPECT_EQ(query(table, {{"time", Type::timestamp}}, "count(time)"), 3);
  EXPECT_EQ(query(table, {{"time", Type::timestamp}}, "max(epoch_us(time))"), 1'500'000);
  EXPECT_EQ(query(table, {{"time", Type::timestamp}}, "min(epoch_us(time))"), -1'000);
  EXPECT_EQ(query(table, {{"text", Type::text}}, "count(text)"), 4);  // one is not UTF-8
  EXPECT_EQ(query(table, {{"text", Type::text}}, "max(length(text))"), 1);
}

TEST_F(Arrow, DictionariesAreDecoded) {
  const std::int8_t codes[] = {0, 1, 2, 3, -1, 4, 0, 3};
  const std::uint8_t known[] = {0b10111111};  // the last but one is NULL
  // "south", invalid UTF-8, NULL, "north", between a text that the offset skips and one past the
  // length
  const std::int64_t places[] = {0, 4, 9, 10, 10, 15, 21};
  const char texts[] =
      "skip"
      "south"
      "\xff"
      "north"
      "beyond";
  const std::uint8_t known_texts[] = {0b110111};
  const std::uint32_t number_codes[] = {1, 1, 0, 0, 2, 7, UINT32_MAX, 2};
  const std::int16_t numbers[] = {10, 20, 30};
  TestTable source;
  source.add("region", "c", {known, codes});
  source.look_up("U", {known_texts, places, texts}, 1, 4);
  source.add("n", "I", {nullptr, number_codes});
  source.look_up("s", {nullptr, numbers}, 0, 3);
  source.parts = {{0, 3}, {3, 5}};
  auto stream = source.stream();
  const ArrowTable table(&stream);
  // south, invalid UTF-8, NULL, north, a negative index, an index past the end, NULL, north
  EXPECT_EQ(query(table, {{"region", Type::text}}, "count(region)"), 3);
  EXPECT_EQ(query(table, {{"region", Type::text}}, "count(*) FILTER (region = 'north')"), 2);
  EXPECT_EQ(query(table, {{"region", Type::text}}, "count(*) FILTER (region = 'south')"), 1);
  EXPECT_EQ(query(table, {{"n", Type::integer}}, "count(n)"), 6);
  EXPECT_EQ(query(table, {{"n", Type::integer}}, "sum(n)"), 20 + 20 + 10 + 10 + 30 + 30);
  EXPECT_EQ(query(table, {{"n", Type::real}}, "sum(n)"), 120);
  EXPECT_THROW(open_engine(table, {{"n", Type::text}}, limits), InvalidValue);
}

TEST_F(Arrow, DecimalsAreNumbers) {
  // 128 bits, low half first: 1.00, -2.50, 7, 2^53, 2^53 + 1, and the largest number of 38 digits,
  // with two decimal places
  const std::int64_t wide[] = {100,
                               0,
                               -250,
                               -1,
                               700,
                               0,
                               900'719'925'474'099'200,
                               0,
                               900'719'925'474'099'300,
                               0,
                               INT64_MAX,
                               0x4b3b4ca85a86c47a};
  const std::int32_t narrow[] = {10, 15, -30, 0, 1, 2};
  const std::int64_t middle[] = {10, 15, -30, 0, 1, 2};
  TestTable source;
  source.add("wide", "d:38,2", {nullptr, wide});
  source.add("narrow", "d:9,1,32", {nullptr, narrow});
  source.add("middle", "d:18,1,64", {nullptr, middle});
  source.parts = {{0, 6}};
  auto stream = source.stream();
  const ArrowTable table(&stream);
  EXPECT_EQ(query(table, {{"wide", Type::integer}}, "count(wide)"),
            3);  // the integers that a double holds exactly
  EXPECT_EQ(query(table, {{"wide", Type::integer}}, "sum(wide)"), 8 + (std::int64_t{1} << 53U));
  EXPECT_EQ(query(table, {{"wide", Type::real}}, "count(wide)"), 6);
  EXPECT_EQ(query(table, {{"wide", Type::real}}, "count(*) FILTER (wide = -2.5 OR wide > 9e35)"),
            2);
  for (const char* name : {"narrow", "middle"}) {
    const std::string column = name;
    EXPECT_EQ(query(table, {{name, Type::integer}}, "sum(" + column + ")"), -2) << name;
    EXPECT_EQ(query(table, {{name, Type::integer}}, "count(" + column + ")"), 3) << name;
    EXPECT_EQ(query(table, {{name, Type::real}}, "10 * sum(" + column + ")"), -2) << name;
  }
}

TEST_F(Arrow, TimesWithAZoneAreTimesInUtc) {
  const std::int64_t times[] = {0, -1, 1'500'000, INT64_MAX};
  const std::int64_t days[] = {0, -1, 86'400'000, INT64_MIN};
  TestTable source;
  source.add("zoned", "tsu:America/New_York", {nullptr, times});
  source.add("day", "tdm", {nullptr, days});
  source.add("none", "n", {});
  source.parts = {{0, 4}};
  auto stream = source.stream();
  const ArrowTable table(&stream);
  EXPECT_EQ(query(table, {{"zoned", Type::timestamp}}, "sum(epoch_us(zoned))"), 1'499'999);
  EXPECT_EQ(query(table, {{"zoned", Type::timestamp}}, "count(zoned)"), 3);
  EXPECT_EQ(query(table, {{"day", Type::date}}, "sum(epoch_us(day)) / 86400000000"),
            0);  // 1970-01-01, the day before and the day after
  EXPECT_EQ(query(table, {{"day", Type::date}}, "count(day)"), 3);
  for (const Type type :
       {Type::boolean, Type::integer, Type::real, Type::text, Type::date, Type::timestamp}) {
    EXPECT_EQ(query(table, {{"none", type}}, "count(none)"), 0);
  }
}

TEST_F(Arrow, RefusesTypesThatDoNotFit) {
  const std::int64_t numbers[] = {1};
  TestTable source;
  source.add("n", "l", {nullptr, numbers});
  source.add("coded", "l", {nullptr, numbers});
  source.look_up("u", {nullptr, nullptr, nullptr}, 0, 0);
  source.add("by reals", "g", {nullptr, numbers});
  source.look_up("u", {nullptr, nullptr, nullptr}, 0, 0);
  source.add("decimal", "d:39,2", {nullptr, numbers});
  source.add("scale", "d:5,-2", {nullptr, numbers});
  source.add("bits", "d:5,2,256", {nullptr, numbers});
  source.add("cut off", "d:5", {nullptr, numbers});
  source.add("duration", "tDu", {nullptr, numbers});
  source.parts = {{0, 1}};
  auto stream = source.stream();
  const ArrowTable table(&stream);
  EXPECT_THROW(open_engine(table, {{"m", Type::integer}}, limits), InvalidValue);
  EXPECT_THROW(open_engine(table, {{"n", Type::text}}, limits), InvalidValue);
  EXPECT_THROW(open_engine(table, {{"coded", Type::integer}}, limits), InvalidValue);
  EXPECT_THROW(open_engine(table, {{"by reals", Type::text}}, limits), InvalidValue);
  for (const char* name : {"decimal", "scale", "bits", "cut off"})
    EXPECT_THROW(open_engine(table, {{name, Type::real}}, limits), InvalidValue) << name;
  EXPECT_THROW(open_engine(table, {{"duration", Type::timestamp}}, limits), InvalidValue);
}

}  // namespace
}  // namespace sotto
