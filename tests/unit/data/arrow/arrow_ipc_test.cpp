// Reading Arrow's IPC streams: valid ones, truncated ones and changed ones.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>

#include "data/arrow/ipc.hpp"

namespace sotto {
namespace {

using data_detail::ArrowKind;
using data_detail::read_arrow_stream;

// Streams that pyarrow wrote.
std::string stream(const std::string& name) {
  std::ifstream in(SOTTO_SOURCE_DIR "/tests/fuzz/seeds/arrow_ipc/" + name, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

struct Read {
  std::vector<ArrowKind> kinds;
  std::vector<std::optional<std::int64_t>> int64s;
  std::vector<std::optional<std::string>> texts;
  std::vector<std::optional<double>> numbers;
};

Read read(const std::string& bytes) {
  Read all;
  read_arrow_stream(
      bytes, [&](const auto& kinds) { all.kinds = kinds; },
      [&](const Batch& batch) {
        for (std::size_t i = 0; i < batch.rows; ++i) {
          const auto& [n, t, x] = std::tie(batch.columns[0], batch.columns[1], batch.columns[2]);
          all.int64s.push_back(n.is_null(i) ? std::nullopt : std::optional(n.int64s[i]));
          all.texts.push_back(t.is_null(i) ? std::nullopt : std::optional(std::string(t.texts[i])));
          all.numbers.push_back(x.is_null(i) ? std::nullopt : std::optional(x.numbers[i]));
        }
      });
  return all;
}

TEST(ArrowStream, ReadsNumbersTextsAndNulls) {
  const Read all = read(stream("three_kinds"));
  EXPECT_EQ(all.kinds, (std::vector{ArrowKind::whole, ArrowKind::text, ArrowKind::number}));
  ASSERT_EQ(all.int64s.size(), 103U);
  EXPECT_EQ(all.int64s[0], 1);
  EXPECT_EQ(all.int64s[1], std::nullopt);
  EXPECT_EQ(all.int64s[2], -3);
  EXPECT_EQ(all.texts[2], "größe");
  EXPECT_EQ(all.texts[1], std::nullopt);
  EXPECT_EQ(all.numbers[2], INFINITY);
  for (std::size_t i = 0; i < 100; ++i) {
    EXPECT_EQ(all.int64s[3 + i], static_cast<std::int64_t>(i));
    EXPECT_EQ(all.texts[3 + i], i % 3 == 0 ? std::nullopt : std::optional(std::to_string(i)));
    EXPECT_EQ(all.numbers[3 + i], static_cast<double>(i) / 2);
  }
}

TEST(ArrowStream, ReadsSlicesAndEmptyStreams) {
  const Read slice = read(stream("slice"));
  ASSERT_EQ(slice.int64s.size(), 2U);
  EXPECT_EQ(slice.int64s[0], std::nullopt);
  EXPECT_EQ(slice.texts[1], "größe");
  EXPECT_EQ(read(stream("no_batch")).kinds.size(), 3U);
  EXPECT_EQ(read(stream("empty")).int64s.size(), 0U);
}

TEST(ArrowStream, RefusesUnsupportedColumns) {
  for (const char* name : {"narrow", "nested", "dictionary", "compressed"})
    EXPECT_THROW(read(stream(name)), EngineError) << name;
  EXPECT_THROW(read(""), EngineError);
  EXPECT_THROW(read("no stream"), EngineError);
}

TEST(ArrowStream, TruncatedOrChangedStreamsNeverCrash) {
  const auto read_if_good = [](const std::string& bytes) {
    std::vector<ArrowKind> kinds;
    const auto take = [&](const Batch& batch) {
      ASSERT_EQ(batch.columns.size(), kinds.size());
      for (std::size_t c = 0; c < kinds.size(); ++c) {
        for (std::size_t i = 0; i < batch.rows; ++i) {
          const bool is_text = kinds[c] == ArrowKind::text && !batch.columns[c].is_null(i);
          EXPECT_TRUE(!is_text || batch.columns[c].texts[i].size() <= bytes.size());
        }
      }
    };
    try {
      read_arrow_stream(
          bytes, [&](const auto& columns) { kinds = columns; }, take);
    } catch (const EngineError&) {
    }
  };
  const std::string whole = stream("three_kinds");
  for (std::size_t size = 0; size < whole.size(); ++size) read_if_good(whole.substr(0, size));
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (const char value : {'\0', '\x7f', '\x80', '\xff'}) {
      std::string other = whole;
      other[at] = value;
      read_if_good(other);
    }
  }
}

}  // namespace
}  // namespace sotto
