// Arrow streams with wrong lengths, offsets and buffers: an error, never a crash. The tests also
// run under sanitizers.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "data/arrow/abi.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/data/arrow.hpp"

namespace sotto {
namespace {

using data_detail::ArrowArray;
using data_detail::ArrowArrayStream;
using data_detail::ArrowSchema;

constexpr std::int64_t rows = 4;

// A valid table of four rows with one column for each way of storing values. Tests make its schema
// or its batch inconsistent.
class Liar {
 public:
  enum Column : std::size_t {
    whole,
    number,
    flag,
    text,
    large,
    view,
    coded,
    decimal,
    nothing,
    columns
  };

  Liar() {
    const std::array<const char*, columns> formats{"l",  "g", "b",      "u", "U",
                                                   "vu", "i", "d:38,2", "n"};
    const std::array<const char*, columns> names{"whole", "number", "flag",    "text",   "large",
                                                 "view",  "coded",  "decimal", "nothing"};
    buffers_ = {{{nullptr, int64s.data()},
                 {nullptr, numbers.data()},
                 {nullptr, flags.data()},
                 {nullptr, places.data(), letters},
                 {nullptr, large_places.data(), letters},
                 {nullptr, views.data(), letters, view_sizes.data()},
                 {nullptr, codes.data()},
                 {nullptr, decimals.data()},
                 {}}};
    for (std::size_t i = 0; i < columns; ++i) {
      schemas[i] = {formats[i], names[i], nullptr, 2, 0, nullptr, nullptr, nullptr, nullptr};
      arrays[i] = {rows,    0,
                   0,       static_cast<std::int64_t>(buffers_[i].size()),
                   0,       buffers_[i].data(),
                   nullptr, nullptr,
                   nullptr, nullptr};
      schema_places[i] = &schemas[i];
      array_places[i] = &arrays[i];
    }
    look_up_schema = {"u", "", nullptr, 2, 0, nullptr, nullptr, nullptr, nullptr};
    look_up = {rows, 0, 0, 3, 0, look_up_buffers.data(), nullptr, nullptr, nullptr, nullptr};
    schemas[coded].dictionary = &look_up_schema;
    arrays[coded].dictionary = &look_up;
    schema = {"+s",    "",
              nullptr, 0,
              columns, schema_places.data(),
              nullptr, [](ArrowSchema* s) { s->release = nullptr; },
              nullptr};
    batch = {rows,          0,   0, 1, columns, no_buffers.data(), array_places.data(), nullptr,
             release_batch, this};
    for (std::size_t i = 0; i < rows; ++i) {
      // "bcdefghijklmn" begins at the second letter
      const std::int32_t parts[4] = {13, 0x65646362, 0, static_cast<std::int32_t>(i)};
      std::memcpy(&views[16 * i], parts, sizeof parts);
    }
  }
  Liar(const Liar&) = delete;
  Liar& operator=(const Liar&) = delete;

  ArrowArrayStream stream() {
    return {.get_schema =
                [](ArrowArrayStream* of, ArrowSchema* out) {
                  auto& self = *static_cast<Liar*>(of->private_data);
                  *out = self.schema;
                  return self.schema_status;
                },
            .get_next =
                [](ArrowArrayStream* of, ArrowArray* out) {
                  auto& self = *static_cast<Liar*>(of->private_data);
                  *out = {};
                  if (self.batches_read == self.batches) return self.last_status;
                  ++self.batches_read;
                  *out = self.batch;
                  return 0;
                },
            .get_last_error = [](ArrowArrayStream*) -> const char* { return nullptr; },
            .release = [](ArrowArrayStream* s) { s->release = nullptr; },
            .private_data = this};
  }

  void set_view(std::size_t row, std::int32_t length, std::int32_t buffer, std::int32_t offset) {
    const std::int32_t parts[4] = {length, 0, buffer, offset};
    std::memcpy(&views[16 * row], parts, sizeof parts);
  }
  std::vector<const void*>& buffers(Column of) { return buffers_[of]; }

  const char* letters = "abcdefghijklmnopqrstuvwxyz";
  std::array<std::int64_t, rows> int64s{1, 2, 3, 4};
  std::array<double, rows> numbers{0.5, 1, 1.5, 2};
  std::array<std::uint8_t, 1> flags{0b0101};
  std::array<std::int32_t, rows + 1> places{0, 2, 4, 6, 8};
  std::array<std::int64_t, rows + 1> large_places{0, 2, 4, 6, 8};
  std::array<char, 16 * rows> views{};
  std::array<std::int64_t, 1> view_sizes{26};
  std::array<std::int32_t, rows> codes{0, 1, 2, 3};
  std::array<std::int64_t, 2 * rows> decimals{100, 0, 200, 0, 300, 0, 400, 0};
  std::array<const void*, 3> look_up_buffers{nullptr, places.data(), letters};
  std::array<const void*, 1> no_buffers{nullptr};
  std::array<ArrowSchema, columns> schemas{};
  std::array<ArrowArray, columns> arrays{};
  std::array<ArrowSchema*, columns> schema_places{};
  std::array<ArrowArray*, columns> array_places{};
  ArrowSchema schema{}, look_up_schema{};
  ArrowArray batch{}, look_up{};
  std::int64_t batches = 1, batches_read = 0, released = 0;
  int schema_status = 0, last_status = 0;

 private:
  static void release_batch(ArrowArray* array) {
    ++static_cast<Liar*>(array->private_data)->released;
    array->release = nullptr;
  }
  std::array<std::vector<const void*>, columns> buffers_;
};

const std::vector<Column> declared{
    {"whole", Type::integer}, {"number", Type::real},     {"flag", Type::boolean},
    {"text", Type::text},     {"large", Type::text},      {"view", Type::text},
    {"coded", Type::text},    {"decimal", Type::integer}, {"nothing", Type::real}};

class HostileArrow : public testing::Test {
 protected:
  void SetUp() override {
    limits.duckdb = SOTTO_SOURCE_DIR "/build/duckdb/libduckdb.so";
    if (!std::filesystem::exists(limits.duckdb)) GTEST_SKIP() << "no DuckDB; type: ./dev duckdb";
  }
  // Reads every value. Returns the kind and detail of the error.
  [[nodiscard]] std::string read(Liar& liar) const {
    auto stream = liar.stream();
    try {
      const ArrowTable table(&stream);
      const auto engine = open_engine(table, declared, limits);
      const Rows sums = engine->query(
          "SELECT CAST(sum(whole) + sum(number) * 2 + sum(CAST(flag AS INTEGER)) + sum(decimal) AS "
          "BIGINT), max(text), max(large), max(view), "
          "max(coded) FROM " +
          engine->table());
      std::string all;
      for (const Cell& cell : sums.cells) {
        const auto* words = std::get_if<std::string>(&cell);
        const auto* sum = std::get_if<std::int64_t>(&cell);
        all += words != nullptr ? *words + " "
               : sum != nullptr ? std::to_string(*sum) + " "
                                : "NULL ";
      }
      return all;
    } catch (const EngineError& error) {
      return "EngineError: " + error.detail();
    } catch (const InvalidValue& error) {
      return std::string("InvalidValue: ") + error.what();
    }
  }
  void refuses(const std::string& what, const std::function<void(Liar&)>& lie) const {
    Liar liar;
    lie(liar);
    const std::string error = read(liar);
    EXPECT_TRUE(error.starts_with("EngineError: ") || error.starts_with("InvalidValue: "))
        << what << ": " << error;
    EXPECT_EQ(liar.released, liar.batches_read) << what;
  }
  Limits limits;
};

TEST_F(HostileArrow, AnHonestTableIsRead) {
  Liar liar;
  EXPECT_EQ(read(liar), "32 gh gh defghijklmnop gh ");
}

TEST_F(HostileArrow, InconsistentLengthsAndOffsetsAreRefused) {
  for (const std::int64_t bad : {std::int64_t{-1}, INT64_MIN, INT64_MAX, std::int64_t{1} << 40,
                                 (std::int64_t{1} << 40) + 1, std::int64_t{1} << 33}) {
    const std::string number = std::to_string(bad);
    refuses("the batch's length " + number, [&](Liar& l) { l.batch.length = bad; });
    refuses("the batch's offset " + number, [&](Liar& l) { l.batch.offset = bad; });
    for (std::size_t i = 0; i < Liar::nothing; ++i) {
      const std::string at = " of column " + std::to_string(i) + ": " + number;
      refuses("the offset" + at, [&](Liar& l) { l.arrays[i].offset = bad; });
      refuses("the length" + at, [&](Liar& l) { l.arrays[i].length = bad; });
      refuses("both lengths" + at, [&](Liar& l) { l.batch.length = l.arrays[i].length = bad; });
      refuses("every length" + at, [&](Liar& l) {
        l.batch.length = bad;
        for (auto& array : l.arrays) array.length = bad;
      });
    }
    refuses("the dictionary's length " + number, [&](Liar& l) { l.look_up.length = bad; });
    refuses("the dictionary's offset " + number, [&](Liar& l) { l.look_up.offset = bad; });
  }
  for (std::size_t i = 0; i < Liar::columns; ++i)
    refuses("a short column", [&](Liar& l) { l.arrays[i].length = rows - 1; });
  refuses("counted NULLs without a bitmap", [](Liar& l) { l.arrays[Liar::whole].null_count = 1; });
  refuses("more NULLs than rows", [](Liar& l) { l.arrays[Liar::whole].null_count = rows + 1; });
  refuses("fewer NULLs than none", [](Liar& l) { l.arrays[Liar::whole].null_count = -2; });
}

TEST_F(HostileArrow, AbsentBuffersAreRefused) {
  for (std::size_t i = 0; i < Liar::nothing; ++i) {
    const std::string at = "column " + std::to_string(i);
    refuses(at + ": no buffers", [&](Liar& l) { l.arrays[i].buffers = nullptr; });
    refuses(at + ": values are NULL",
            [&](Liar& l) { l.buffers(static_cast<Liar::Column>(i))[1] = nullptr; });
    refuses(at + ": values are nowhere", [&](Liar& l) {
      l.buffers(static_cast<Liar::Column>(i))[1] = reinterpret_cast<const void*>(16);
    });
    refuses(at + ": a bitmap nowhere", [&](Liar& l) {
      l.buffers(static_cast<Liar::Column>(i))[0] = reinterpret_cast<const void*>(16);
    });
    for (const std::int64_t count :
         {std::int64_t{-1}, std::int64_t{0}, std::int64_t{1}, INT64_MIN}) {
      refuses(at + ": " + std::to_string(count) + " buffers",
              [&](Liar& l) { l.arrays[i].n_buffers = count; });
    }
  }
  for (const auto column : {Liar::text, Liar::large, Liar::view}) {
    refuses("letters are NULL", [&](Liar& l) { l.buffers(column)[2] = nullptr; });
    refuses("letters are nowhere",
            [&](Liar& l) { l.buffers(column)[2] = reinterpret_cast<const void*>(4096); });
  }
  refuses("a text of two buffers", [](Liar& l) { l.arrays[Liar::text].n_buffers = 2; });
  refuses("whole numbers of three buffers", [](Liar& l) { l.arrays[Liar::whole].n_buffers = 3; });
  refuses("sizes of views are NULL", [](Liar& l) { l.buffers(Liar::view)[3] = nullptr; });
  refuses("sizes of views are negative", [](Liar& l) { l.view_sizes[0] = -1; });
  refuses("sizes of views are large", [](Liar& l) { l.view_sizes[0] = std::int64_t{1} << 50; });
  refuses("views without their sizes", [](Liar& l) { l.arrays[Liar::view].n_buffers = 2; });
  refuses("the batch's buffers are NULL", [](Liar& l) { l.batch.buffers = nullptr; });
  refuses("the batch has two buffers", [](Liar& l) { l.batch.n_buffers = 2; });
}

TEST_F(HostileArrow, TextsOutsideTheirBuffersAreRefused) {
  refuses("offsets decrease", [](Liar& l) { l.places = {0, 6, 4, 6, 8}; });
  refuses("offsets go beyond the last", [](Liar& l) { l.places = {0, 2, 1 << 30, 1 << 30, 8}; });
  refuses("offsets are negative", [](Liar& l) { l.places = {-5, 2, 4, 6, 8}; });
  refuses("the last offset is negative", [](Liar& l) { l.places = {0, 2, 4, 6, -8}; });
  refuses("the last offset is large", [](Liar& l) { l.places[rows] = INT32_MAX; });
  refuses("large offsets decrease", [](Liar& l) { l.large_places = {0, 6, 4, 6, 8}; });
  refuses("large offsets are negative", [](Liar& l) { l.large_places = {INT64_MIN, 2, 4, 6, 8}; });
  refuses("the last large offset is large", [](Liar& l) { l.large_places[rows] = INT64_MAX; });
  for (const std::int32_t buffer : {1, 2, 7, -1, INT32_MIN, INT32_MAX}) {
    refuses("a view of buffer " + std::to_string(buffer),
            [&](Liar& l) { l.set_view(1, 13, buffer, 0); });
  }
  refuses("a view behind its buffer", [](Liar& l) { l.set_view(1, 13, 0, 20); });
  refuses("a view far behind its buffer", [](Liar& l) { l.set_view(1, INT32_MAX, 0, INT32_MAX); });
  refuses("a view before its buffer", [](Liar& l) { l.set_view(1, 13, 0, -1); });
  refuses("a view of negative length", [](Liar& l) { l.set_view(1, -1, 0, 0); });
  refuses("a view of the least length", [](Liar& l) { l.set_view(1, INT32_MIN, 0, 0); });
}

TEST_F(HostileArrow, IncompleteSchemasAreRefused) {
  refuses("no format", [](Liar& l) { l.schema.format = nullptr; });
  refuses("no children", [](Liar& l) { l.schema.children = nullptr; });
  for (const std::int64_t count :
       {std::int64_t{-1}, INT64_MIN, INT64_MAX, std::int64_t{Liar::columns} - 1, std::int64_t{0}}) {
    refuses(std::to_string(count) + " children", [&](Liar& l) { l.schema.n_children = count; });
    refuses(std::to_string(count) + " children of a batch",
            [&](Liar& l) { l.batch.n_children = count; });
  }
  refuses("a batch without children", [](Liar& l) { l.batch.children = nullptr; });
  for (std::size_t i = 0; i < Liar::columns; ++i) {
    refuses("a child is NULL", [&](Liar& l) { l.schema_places[i] = nullptr; });
    refuses("a batch's child is NULL", [&](Liar& l) { l.array_places[i] = nullptr; });
    refuses("a child has no format", [&](Liar& l) { l.schemas[i].format = nullptr; });
    refuses("a child has a format without words", [&](Liar& l) { l.schemas[i].format = ""; });
    refuses("a child has no name", [&](Liar& l) { l.schemas[i].name = nullptr; });
  }
  refuses("a dictionary is absent", [](Liar& l) { l.arrays[Liar::coded].dictionary = nullptr; });
  refuses("a dictionary that no format has",
          [](Liar& l) { l.arrays[Liar::whole].dictionary = &l.look_up; });
  refuses("a dictionary without a format", [](Liar& l) { l.look_up_schema.format = nullptr; });
  refuses("a dictionary of itself",
          [](Liar& l) { l.look_up_schema.dictionary = &l.look_up_schema; });
  refuses("a dictionary without buffers", [](Liar& l) { l.look_up.buffers = nullptr; });
  refuses("a dictionary of two buffers", [](Liar& l) { l.look_up.n_buffers = 2; });
  refuses("a dictionary whose texts are NULL", [](Liar& l) { l.look_up_buffers[2] = nullptr; });
  for (const char* format : {"d:", "d:0,0", "d:39,0", "d:38,39", "d:38,-1", "d:38,2,256",
                             "d:99999999999,1", "ts", "w:5", "+l", "\xff"}) {
    refuses(format, [&](Liar& l) { l.schemas[Liar::decimal].format = format; });
  }
}

TEST_F(HostileArrow, FailingAndEndlessStreamsAreRefused) {
  refuses("no schema", [](Liar& l) { l.schema_status = EIO; });
  refuses("an error at once", [](Liar& l) {
    l.batches = 0;
    l.last_status = EIO;
  });
  refuses("an error behind three batches", [](Liar& l) {
    l.batches = 3;
    l.last_status = ENOMEM;
  });
  refuses("no end", [](Liar& l) { l.batches = INT64_MAX; });
  refuses("no end of empty batches", [](Liar& l) {
    l.batches = INT64_MAX;
    l.batch.length = 0;
  });
  refuses("no end of long batches", [](Liar& l) {
    l.batches = INT64_MAX;
    l.batch.length = std::int64_t{1} << 39;
    for (auto& array : l.arrays) array.length = std::int64_t{1} << 39;
  });
  Liar liar;
  EXPECT_THROW(ArrowTable(nullptr), EngineError);
  for (const int lacks : {0, 1, 2}) {
    auto stream = liar.stream();
    if (lacks == 0) stream.get_schema = nullptr;
    if (lacks == 1) stream.get_next = nullptr;
    if (lacks == 2) stream.release = nullptr;
    EXPECT_THROW(ArrowTable{&stream}, EngineError);
  }
  auto stream = liar.stream();
  const ArrowTable first(&stream);
  EXPECT_THROW(ArrowTable{&stream}, EngineError) << "it was read before";
}

// The columns are at the end of readable memory, so that a read past a buffer ends the process.
TEST_F(HostileArrow, NothingIsReadPastTheLastValue) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  auto* memory = static_cast<char*>(
      mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(memory, MAP_FAILED);
  ASSERT_EQ(mprotect(memory + page, page, PROT_NONE), 0);
  const auto at_the_end = [&](const void* bytes, std::size_t size) {
    std::memcpy(memory + page - size, bytes, size);
    return memory + page - size;
  };
  {
    Liar liar;
    liar.buffers(Liar::whole)[1] = at_the_end(liar.int64s.data(), sizeof liar.int64s);
    EXPECT_EQ(read(liar), "32 gh gh defghijklmnop gh ");
  }
  refuses("one row more", [&](Liar& l) {
    l.buffers(Liar::whole)[1] = at_the_end(l.int64s.data(), sizeof l.int64s);
    l.arrays[Liar::whole].offset = 1;
  });
  refuses("one offset more", [&](Liar& l) {
    l.buffers(Liar::text)[1] = at_the_end(l.places.data(), sizeof l.places - 4);
  });
  refuses("one letter more", [&](Liar& l) { l.buffers(Liar::text)[2] = at_the_end(l.letters, 7); });
  munmap(memory, 2 * page);
}

}  // namespace
}  // namespace sotto
