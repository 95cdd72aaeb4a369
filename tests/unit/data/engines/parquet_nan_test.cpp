// NaN in a Parquet file whose metadata ignore it, as most writers do: DuckDB decides comparisons by
// the metadata.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "sotto/data/engine.hpp"

namespace sotto {
namespace {

// x = 1, 2, NaN, 4 (64 bits) and f = 1, NaN, 3, 4 (32 bits), with the smallest and largest number
// of each, written by pyarrow: write_table(table, path, compression="none", use_dictionary=False,
// store_schema=False, version="1.0").
constexpr const char* file_in_hex =
    "504152311500154c154c2c15081500150615061c180800000000000010401808000000000000f03f16002808000000"
    "00000010401808000000000000f03f1111000000020000"
    "000801000000000000f03f0000000000000040000000000000f87f00000000000010401500152c152c2c1508150015"
    "0615061c18040000804018040000803f16002804000080"
    "4018040000803f11110000000200000008010000803f0000c07f00004040000080401502193c35001806736368656d"
    "61150400150a2502180178001508250218016600160819"
    "1c192c26001c150a19250600191801781500160816ca0116ca0126083c180800000000000010401808000000000000"
    "f03f1600280800000000000010401808000000000000f0"
    "3f111100191c150015001502003c29061926000800000026001c1508192506001918016615001608168a01168a0126"
    "d2013c18040000804018040000803f1600280400008040"
    "18040000803f111100191c150015001502003c29061926000800000016d4021608260816d402002820706172717565"
    "742d6370702d6172726f772076657273696f6e2032362e"
    "302e31192c1c00001c0000000201000050415231";

std::string bytes_of(const std::string& hex) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
    bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  return bytes;
}

TEST(ParquetNaN, IsNullAndPassesNoFilter) {
  const std::filesystem::path library = SOTTO_SOURCE_DIR "/build/duckdb/libduckdb.so";
  if (!std::filesystem::exists(library)) GTEST_SKIP() << "no DuckDB; type: ./dev duckdb";
  const auto path = std::filesystem::temp_directory_path() /
                    ("sotto-nan-" + std::to_string(::getpid()) + ".parquet");
  std::ofstream(path, std::ios::binary) << bytes_of(file_in_hex);
  Limits limits;
  limits.duckdb = library;
  const auto engine = open_engine(FileSource{path}, {{"x", Type::real}, {"f", Type::real}}, limits);
  for (const char* name : {"x", "f"}) {
    const std::string column = name;
    const Rows rows =
        engine->query("SELECT count(" + column + "), CAST(count(*) FILTER (" + column +
                      " > 50) AS BIGINT), CAST(count(*) FILTER (" + column +
                      " BETWEEN -1e150 AND 1e150) AS BIGINT) FROM " + engine->table());
    EXPECT_EQ(std::get<std::int64_t>(rows.at(0, 0)), 3) << column;
    EXPECT_EQ(std::get<std::int64_t>(rows.at(0, 1)), 0) << column;
    EXPECT_EQ(std::get<std::int64_t>(rows.at(0, 2)), 3) << column;
  }
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace sotto
