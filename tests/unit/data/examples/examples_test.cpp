// Examples in memory and in temporary files, from matrices, and from IDX files.
#include "sotto/data/examples.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <zlib.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <random>

#include "sotto/core/errors.hpp"

namespace sotto {
namespace {

namespace fs = std::filesystem;

TEST(Codes, ValuesOutsideTheBoundsAreClamped) {
  const Scaled both{-3, 7};
  const Scaled unit{-3, 7, true};
  for (const double low :
       {-3.0, -3.1, -1e308, -std::numeric_limits<double>::infinity(), std::nan("")}) {
    EXPECT_EQ(code_of(low, both), -feature_one);
    EXPECT_EQ(code_of(low, unit), 0);
  }
  for (const double high : {7.0, 7.1, 1e308, std::numeric_limits<double>::infinity()}) {
    EXPECT_EQ(code_of(high, both), feature_one);
    EXPECT_EQ(code_of(high, unit), feature_one);
  }
  EXPECT_EQ(code_of(2, both), 0);
  EXPECT_EQ(code_of(2, unit), feature_one / 2);
}

TEST(Codes, AreTheNearestGridPointForAnyBounds) {
  std::mt19937_64 dice(1);
  for (int i = 0; i < 100'000; ++i) {
    const double size = std::exp2(std::uniform_real_distribution<double>(-400, 400)(dice));
    const double lower = std::uniform_real_distribution<double>(-1, 1)(dice) * size;
    const double upper =
        std::nextafter(lower + size * std::exp2(-static_cast<double>(dice() % 40)), 1e300);
    if (upper - lower < 1e-150) continue;
    const Scaled scale{lower, upper, dice() % 2 == 0};
    const double value =
        lower + std::uniform_real_distribution<double>(0, 1)(dice) * (upper - lower);
    const int first = scale.from_zero ? 0 : -feature_one;
    const int code = code_of(value, scale);
    ASSERT_GE(code, first);
    ASSERT_LE(code, feature_one);
    const int steps = feature_one - first;
    const double exact = (value - lower) / (upper - lower) * steps + first;
    ASSERT_LE(std::abs(code - exact), 0.5 + 1e-6);
    for (const double edge :
         {lower, upper, std::nextafter(lower, upper), std::nextafter(upper, lower)}) {
      ASSERT_GE(code_of(edge, scale), first);
      ASSERT_LE(code_of(edge, scale), feature_one);
    }
  }
}

TEST(Codes, RoundTrip) {
  for (const Scaled& scale :
       {Scaled{0, 1, true}, Scaled{-1, 1}, Scaled{17, 90}, Scaled{-1e10, 3, true}}) {
    for (int code = scale.from_zero ? 0 : -feature_one; code <= feature_one; ++code) {
      ASSERT_EQ(code_of(value_of(static_cast<std::int16_t>(code), scale), scale), code);
    }
    EXPECT_EQ(value_of(feature_one, scale), scale.upper);
  }
}

TEST(Codes, BadBoundsAreRefused) {
  for (const Scaled& scale :
       {Scaled{1, 1}, Scaled{2, 1}, Scaled{0, 1e151}, Scaled{0, std::nan("")}, Scaled{0, 1e-160}}) {
    EXPECT_THROW(require_sound(scale), InvalidValue);
  }
}

TEST(Features, HaveOneNameEach) {
  const std::vector<Column> columns{{"age", Type::integer}, {"region", Type::text}};
  const std::vector<Feature> features{
      {"age", {Expression::parse("age", columns), {}}, Scaled{0, 100}},
      {"region",
       {Expression::parse("region", columns), {}},
       OneOf{{std::string("north"), std::string("south")}}}};
  EXPECT_EQ(width_of(features), 3U);
  EXPECT_EQ(names_of(features), (std::vector<std::string>{"age", "region=north", "region=south"}));
}

Examples build_examples(std::size_t rows, std::size_t width, std::int64_t memory,
                        const fs::path& scratch = {}) {
  Examples::Builder builder(width, memory, scratch);
  for (std::size_t i = 0; i < rows; ++i) {
    if (i % 3 != 1) builder.next_unit();
    const auto row = builder.add(static_cast<std::int16_t>(i % 10));
    for (std::size_t j = 0; j < width; ++j)
      row[j] = static_cast<std::int16_t>((i * 31 + j * 7) % 30'000);
  }
  return std::move(builder).build();
}

TEST(Making, RowsStartAtMultiplesOf32BytesWithZerosBetween) {
  for (const std::size_t width : {1U, 15U, 16U, 17U, 109U}) {
    const Examples examples = build_examples(1000, width, 0);
    EXPECT_EQ(examples.width(), width);
    EXPECT_EQ(examples.stride(), (width + 15) / 16 * 16);
    for (std::size_t i = 0; i < examples.rows(); ++i) {
      ASSERT_EQ(reinterpret_cast<std::uintptr_t>(examples.row(i)) % 32, 0U);
      for (std::size_t j = width; j < examples.stride(); ++j) ASSERT_EQ(examples.row(i)[j], 0);
    }
  }
}

TEST(Making, RowsOfAUnitAreConsecutive) {
  const Examples examples = build_examples(10, 2, 0);  // 0 1 | 2 | 3 4 | 5 | …
  EXPECT_FALSE(examples.one_row_a_unit());
  EXPECT_EQ(examples.units(), 7U);
  EXPECT_EQ(examples.first(0), 0U);
  EXPECT_EQ(examples.first(1), 2U);
  EXPECT_EQ(examples.first(2), 3U);
  EXPECT_EQ(examples.first(7), 10U);
}

TEST(Making, UnitsOfOneRowAreRowsAndEmptyUnitsAreIgnored) {
  Examples::Builder builder(1);
  for (int i = 0; i < 5; ++i) {
    builder.next_unit();
    builder.next_unit();
    builder.add(0);
  }
  builder.next_unit();
  const Examples examples = std::move(builder).build();
  EXPECT_TRUE(examples.one_row_a_unit());
  EXPECT_EQ(examples.units(), 5U);
  Examples::Builder none(1);
  none.next_unit();
  EXPECT_EQ(std::move(none).build().units(), 0U);
  EXPECT_EQ(Examples::Builder(3).build().units(), 0U);
}

TEST(Making, CopiesOutliveTheOriginal) {
  std::optional<Examples> first = build_examples(100, 3, 0);
  const Examples copy = *first;
  first.reset();
  EXPECT_EQ(copy.row(99)[0], 99 * 31 % 30'000);
  EXPECT_EQ(copy.target(99), 9);
}

void expect_equal(const Examples& a, const Examples& b) {
  ASSERT_EQ(a.rows(), b.rows());
  ASSERT_EQ(a.units(), b.units());
  for (std::size_t u = 0; u <= a.units(); ++u) ASSERT_EQ(a.first(u), b.first(u));
  for (std::size_t i = 0; i < a.rows(); ++i) {
    ASSERT_EQ(a.target(i), b.target(i));
    ASSERT_EQ(std::memcmp(a.row(i), b.row(i), 2 * a.stride()), 0) << i;
  }
}

TEST(Making, ATemporaryFileHasEqualRowsAndIsDeleted) {
  char name[] = "/var/tmp/sotto-examples-XXXXXX";
  const fs::path folder = mkdtemp(name);
  const Examples in_memory = build_examples(300'000, 17, 0);
  for (const std::int64_t memory : {1L, 3'000'000L, 30'000'000L}) {
    const Examples on_disk = build_examples(300'000, 17, memory, folder);
    EXPECT_TRUE(fs::is_empty(folder));  // the file has no name
    expect_equal(in_memory, on_disk);
    std::ifstream maps("/proc/self/maps");
    const std::string text{std::istreambuf_iterator<char>(maps), {}};
    EXPECT_EQ(text.find(folder.string()) != std::string::npos, memory < 19'000'000)
        << memory;  // 64 bytes a row
  }
  EXPECT_TRUE(fs::is_empty(folder));
  fs::remove(folder);
  EXPECT_THROW(build_examples(100'000, 17, 1, "/no/such/folder"), EngineError);
}

TEST(Making, AFullDiskIsAnErrorThatNamesTheFolder) {
  char name[] = "/var/tmp/sotto-examples-XXXXXX";
  const fs::path folder = mkdtemp(name);
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  rlimit small = before;
  small.rlim_cur = 8'000'000;
  const auto handler = signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &small);
  std::string what;
  try {
    build_examples(300'000, 17, 3'000'000, folder);
  } catch (const EngineError& error) {
    what = error.what();
  }
  setrlimit(RLIMIT_FSIZE, &before);
  signal(SIGXFSZ, handler);
  EXPECT_NE(what.find(folder.string()), std::string::npos) << what;
  EXPECT_NE(what.find("the disk is full"), std::string::npos) << what;
  EXPECT_TRUE(fs::is_empty(folder));
  fs::remove(folder);
}

TEST(Matrices, BecomeCodesSortedByUnit) {
  const std::vector<double> values{0, 5, 1, 10, 0.5, -1, 0.25, 0};
  const std::vector<double> targets{1, 0, 2, 1};
  const std::vector<std::int64_t> units{7, -3, 7, 4};
  Matrix matrix{values, 2, {{0, 1, true}, {0, 10}}, targets};
  const Examples plain = examples_of(matrix);
  ASSERT_EQ(plain.rows(), 4U);
  EXPECT_TRUE(plain.one_row_a_unit());
  EXPECT_EQ(plain.row(0)[0], 0);
  EXPECT_EQ(plain.row(0)[1], 0);
  EXPECT_EQ(plain.row(1)[0], feature_one);
  EXPECT_EQ(plain.row(1)[1], feature_one);
  EXPECT_EQ(plain.row(2)[0], feature_one / 2);
  EXPECT_EQ(plain.row(2)[1], -feature_one);
  EXPECT_EQ(plain.target(2), 2);
  matrix.units = units;
  const Examples grouped = examples_of(matrix);
  EXPECT_EQ(grouped.units(), 3U);
  EXPECT_EQ(grouped.first(1), 2U);
  EXPECT_EQ(grouped.row(1)[0], feature_one / 2);  // the second row of unit 7
  EXPECT_EQ(grouped.target(2), 0);
  matrix.target_scale = Scaled{0, 2};
  EXPECT_EQ(examples_of(matrix).target(0), 0);
}

TEST(Matrices, WithInconsistentSizesAreRefused) {
  const std::vector<double> values{0, 1, 2};
  const std::vector<double> one{1};
  const std::vector<double> half{0.5, 1, 2};
  const std::vector<std::int64_t> units{1};
  EXPECT_THROW(examples_of({values, 2, {{0, 1}, {0, 1}}}), InvalidValue);
  EXPECT_THROW(examples_of({values, 0, {}}), InvalidValue);
  EXPECT_THROW(examples_of({values, 1, {{0, 1}, {0, 1}}}), InvalidValue);
  EXPECT_THROW(examples_of({values, 1, {{1, 1}}}), InvalidValue);
  EXPECT_THROW(examples_of({values, 1, {{0, 1}}, one}), InvalidValue);
  EXPECT_THROW(examples_of({values, 1, {{0, 1}}, half}), InvalidValue);
  EXPECT_THROW(examples_of({values, 1, {{0, 1}}, {}, {}, units}), InvalidValue);
}

// ---- IDX ----

std::string big_endian(std::uint32_t n) {
  return {static_cast<char>(n >> 24U), static_cast<char>(n >> 16U & 255U),
          static_cast<char>(n >> 8U & 255U), static_cast<char>(n & 255U)};
}

class Idx : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/sotto-idx-XXXXXX";
    folder = mkdtemp(name);
    images = big_endian(0x803) + big_endian(3) + big_endian(2) + big_endian(2);
    for (const int pixel : {0, 255, 51, 102, 1, 2, 3, 4, 254, 128, 127, 0})
      images += static_cast<char>(pixel);
    labels = big_endian(0x801) + big_endian(3) + std::string("\x07\x00\x09", 3);
  }
  void TearDown() override { fs::remove_all(folder); }
  [[nodiscard]] Images read(const std::string& of_images, const std::string& of_labels,
                            std::size_t classes = 10) const {
    std::ofstream(folder / "images", std::ios::binary) << of_images;
    std::ofstream(folder / "labels", std::ios::binary) << of_labels;
    return read_idx(folder / "images", folder / "labels", classes);
  }
  std::string packed(const std::string& bytes) const {
    const auto path = folder / "packed.gz";
    gzFile file = gzopen(path.c_str(), "wb");
    gzwrite(file, bytes.data(), static_cast<unsigned>(bytes.size()));
    gzclose(file);
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  fs::path folder;
  std::string images;
  std::string labels;
};

TEST_F(Idx, ImagesAreRowsOfPixelsFromZeroToOne) {
  for (const bool zipped : {false, true}) {
    const Images result = zipped ? read(packed(images), packed(labels)) : read(images, labels);
    EXPECT_EQ(result.height, 2U);
    EXPECT_EQ(result.width, 2U);
    ASSERT_EQ(result.examples.rows(), 3U);
    EXPECT_EQ(result.examples.width(), 4U);
    EXPECT_EQ(result.examples.row(0)[0], 0);
    EXPECT_EQ(result.examples.row(0)[1], feature_one);
    EXPECT_EQ(result.examples.row(0)[2], 3277);  // 0.2 · 16384 = 3276.8
    EXPECT_EQ(result.examples.row(2)[3], 0);
    EXPECT_EQ(result.examples.target(0), 7);
    EXPECT_EQ(result.examples.target(1), 0);
    EXPECT_EQ(result.examples.target(2), 9);
  }
}

TEST_F(Idx, InvalidFilesAreRefused) {
  const auto with = [](std::string text, std::size_t at, char byte) {
    text[at] = byte;
    return text;
  };
  for (std::size_t size = 0; size < images.size(); ++size)
    EXPECT_THROW(read(images.substr(0, size), labels), InvalidValue) << size;
  for (std::size_t size = 0; size < labels.size(); ++size)
    EXPECT_THROW(read(images, labels.substr(0, size)), InvalidValue) << size;
  const std::string zipped = packed(images);
  for (std::size_t size = 11; size < zipped.size(); ++size)
    EXPECT_THROW(read(zipped.substr(0, size), labels), InvalidValue) << size;
  EXPECT_THROW(read(images + "x", labels), InvalidValue);
  EXPECT_THROW(read(images, labels + "x"), InvalidValue);
  EXPECT_THROW(read(labels, labels), InvalidValue);
  EXPECT_THROW(read(images, images), InvalidValue);
  EXPECT_THROW(read(with(images, 2, '\x0d'), labels), InvalidValue);   // floats
  EXPECT_THROW(read(with(images, 7, '\x02'), labels), InvalidValue);   // fewer images than labels
  EXPECT_THROW(read(with(images, 11, '\x00'), labels), InvalidValue);  // no height
  EXPECT_THROW(read(with(images, 8, '\x7f'), labels), InvalidValue);   // too high
  EXPECT_THROW(read(with(zipped, zipped.size() - 6, '\x55'), labels),
               InvalidValue);  // a wrong checksum
  EXPECT_THROW(read(images, labels, 9), InvalidValue);
  EXPECT_THROW(read(images, labels, 0), InvalidValue);
  EXPECT_NO_THROW(read(images, labels, 256));
  EXPECT_THROW(read_idx(folder / "nothing", folder / "labels"), EngineError);
}

TEST(Mnist, HasItsKnownNumbers) {
  const fs::path folder = SOTTO_SOURCE_DIR "/../shared/data/mnist";
  const fs::path other = SOTTO_SOURCE_DIR "/../../shared/data/mnist";
  const fs::path data = fs::exists(folder) ? folder : other;
  if (!fs::exists(data)) GTEST_SKIP() << "no MNIST in ../shared/data/mnist";
  const Images test =
      read_idx(data / "t10k-images-idx3-ubyte.gz", data / "t10k-labels-idx1-ubyte.gz");
  EXPECT_EQ(test.height, 28U);
  EXPECT_EQ(test.width, 28U);
  ASSERT_EQ(test.examples.rows(), 10'000U);
  EXPECT_EQ(test.examples.target(0), 7);
  std::vector<int> classes(10);
  for (std::size_t i = 0; i < test.examples.rows(); ++i)
    ++classes.at(static_cast<std::size_t>(test.examples.target(i)));
  EXPECT_EQ(classes, (std::vector<int>{980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009}));
  double mean = 0;
  for (std::size_t i = 0; i < test.examples.rows(); ++i) {
    for (std::size_t j = 0; j < 784; ++j) mean += test.examples.row(i)[j];
  }
  EXPECT_NEAR(mean / 16384 / 784 / 10'000, 0.1325, 0.0001);
}

TEST(Examples, APartHasOnlyItsOwnUnits) {
  Examples::Builder builder(2);
  for (std::int16_t i = 0; i < 6; ++i) {  // units of rows 0 | 1 2 | 3 | 4 5
    if (i == 1 || i == 3 || i == 4) builder.next_unit();
    builder.add(i)[0] = static_cast<std::int16_t>(10 + i);
  }
  const Examples all = std::move(builder).build();
  ASSERT_EQ(all.units(), 4U);
  const Examples some = all.part(1, 3);
  EXPECT_EQ(some.units(), 2U);
  EXPECT_EQ(some.rows(), 3U);
  EXPECT_EQ(some.first(1), 2U);
  EXPECT_EQ(some.row(0), all.row(1));
  EXPECT_EQ(some.target(2), 3);
  EXPECT_FALSE(all.part(2, 3).one_row_a_unit());  // treated as in the whole
  EXPECT_EQ(all.part(4, 4).units(), 0U);
  EXPECT_EQ(all.part(4, 4).rows(), 0U);
  EXPECT_THROW((void)all.part(2, 5), InvalidValue);
  EXPECT_THROW((void)all.part(3, 2), InvalidValue);
}

}  // namespace
}  // namespace sotto
