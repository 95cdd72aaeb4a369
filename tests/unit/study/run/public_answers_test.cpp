// What stands beside the answers to public data: the numbers without noise, and those in the data,
// of which nothing is cut.
#include "study/api/public_answers.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "sotto/core/decimal.hpp"

namespace sotto {
namespace {

namespace fs = std::filesystem;

const std::string libduckdb = SOTTO_SOURCE_DIR "/build/duckdb/libduckdb.so";

struct Record {
  int host;
  std::string protocol;
  double bytes;
};

// Three hosts of very different size; values far beyond the bounds.
std::vector<Record> records() {
  std::vector<Record> all;
  for (int i = 0; i < 1000; ++i) all.push_back({1, i % 4 == 0 ? "udp" : "tcp", 0.5 * i});
  for (int i = 0; i < 30; ++i) all.push_back({2, "tcp", -3.25 * i});
  for (int i = 0; i < 7; ++i) all.push_back({3, "udp", 1e9 + i});
  return all;
}

class PublicAnswersTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!fs::exists(libduckdb)) GTEST_SKIP() << "no DuckDB; type: ./dev duckdb";
    std::string name = (fs::temp_directory_path() / "sotto-public-XXXXXX").string();
    folder = mkdtemp(name.data());
    std::ofstream file(folder / "d.csv");
    file << "host,protocol,bytes\n";
    for (const Record& r : records())
      file << r.host << "," << r.protocol << "," << shortest(r.bytes) << "\n";
    file << "2,,\n";  // a row without key and value
  }
  void TearDown() override {
    if (!folder.empty()) fs::remove_all(folder);
  }

  static Study study_of(const std::vector<Query>& queries) {
    Study study;
    study.data_name = "d";
    study.data_version = "1";
    study.unit = "host";
    study.columns.resize(3);
    study.columns[0].name = "host";
    study.columns[0].type = Type::integer;
    study.columns[1].name = "protocol";
    study.columns[1].values = {std::string("tcp"), std::string("udp"), std::string("icmp")};
    study.columns[2].name = "bytes";
    study.columns[2].type = Type::real;
    study.columns[2].lower = 0;
    study.columns[2].upper = 100;
    study.rho = 1;
    study.queries = queries;
    return study;
  }
  static Query query(Aggregation ask, bool by = true) {
    Query query;
    query.name = name_of(ask);
    query.ask = ask;
    if (ask != Aggregation::count && ask != Aggregation::distinct) query.of = "bytes";
    if (by) query.by = {"protocol"};
    query.rows = 20;
    query.groups = 2;
    if (ask == Aggregation::quantiles) query.quantiles = {0.25, 0.5};
    if (ask == Aggregation::histogram) query.step = 50;
    return query;
  }

  // Both answers to one query, in the order of its estimates.
  struct Both {
    std::vector<double> without_noise, in_the_data;
    std::vector<std::string> cuts;
  };
  Both both(const Query& query) const {
    const Study study = study_of({query});
    const Design design =
        sotto::make_design(study, {"d", "host", Relation::add_remove, ZcdpBudget{10, 0}});
    Limits limits;
    limits.duckdb = libduckdb;
    const auto engine =
        open_engine(FileSource{folder / "d.csv", ""}, stored_columns(study), limits);
    Release release{};
    release.answers.resize(1);
    const PublicAnswers found = public_answers(study, design, *engine, release);
    Both numbers;
    for (const Estimate& e : found.without_noise[0].estimates)
      numbers.without_noise.push_back(e.value);
    for (const Estimate& e : found.in_the_data[0].estimates) numbers.in_the_data.push_back(e.value);
    numbers.cuts = found.in_the_data[0].cuts;
    return numbers;
  }
  static std::vector<double> values(const std::string& protocol) {
    std::vector<double> all;
    for (const Record& r : records()) {
      if (r.protocol == protocol) all.push_back(r.bytes);
    }
    std::sort(all.begin(), all.end());
    return all;
  }

  fs::path folder;
};

bool holds(const std::vector<std::string>& all, const std::string& one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

TEST_F(PublicAnswersTest, ACountOfFewRowsOfEachUnitStandsBesideTheCountInTheData) {
  const Both found = both(query(Aggregation::count));
  EXPECT_EQ(found.without_noise,
            (std::vector<double>{40, 27,
                                 0}));  // 20 of host 1 and of host 2; 20 of host 1 and 7 of host 3
  EXPECT_EQ(found.in_the_data, (std::vector<double>{780, 257, 0}));
  EXPECT_TRUE(holds(found.cuts, "at most 20 rows of each host in a group"));
  EXPECT_TRUE(holds(found.cuts, "each host in at most 2 groups"));
}

TEST_F(PublicAnswersTest, WithoutKeysTheDataAreOneGroup) {
  EXPECT_EQ(both(query(Aggregation::count, false)).in_the_data, (std::vector<double>{1038}));
  EXPECT_EQ(both(query(Aggregation::distinct, false)).in_the_data, (std::vector<double>{3}));
}

TEST_F(PublicAnswersTest, OfUnitsSumsMeansVariancesAndDeviationsAreThoseOfTheData) {
  EXPECT_EQ(both(query(Aggregation::distinct)).in_the_data, (std::vector<double>{2, 2, 0}));
  const Both sum = both(query(Aggregation::sum));
  const Both mean = both(query(Aggregation::mean));
  const Both variance = both(query(Aggregation::variance));
  const Both deviation = both(query(Aggregation::deviation));
  EXPECT_TRUE(holds(sum.cuts, "values above 100 count as 100, below 0 as 0"));
  const char* protocols[] = {"tcp", "udp"};
  for (std::size_t g = 0; g < 2; ++g) {
    const auto all = values(protocols[g]);
    long double total = 0;
    for (const double x : all) total += x;
    const long double middle = total / static_cast<long double>(all.size());
    long double squares = 0;
    for (const double x : all) squares += (x - middle) * (x - middle);
    const double spread = static_cast<double>(squares / static_cast<long double>(all.size()));
    EXPECT_DOUBLE_EQ(sum.in_the_data[g], static_cast<double>(total));
    EXPECT_DOUBLE_EQ(mean.in_the_data[g], static_cast<double>(middle));
    EXPECT_NEAR(variance.in_the_data[g], spread, 1e-9 * spread);
    EXPECT_NEAR(deviation.in_the_data[g], std::sqrt(spread), 1e-9 * std::sqrt(spread));
    EXPECT_GT(std::abs(mean.without_noise[g] - mean.in_the_data[g]), 10);  // the clamps are felt
  }
  EXPECT_EQ(sum.in_the_data[2], 0);
  EXPECT_TRUE(std::isnan(mean.in_the_data[2]));  // there is no mean of nothing
}

TEST_F(PublicAnswersTest, AMeanOfTotalsIsTheSumByTheUnits) {
  Query asked = query(Aggregation::mean);
  asked.clamp_total = true;
  const Both found = both(asked);
  const auto tcp = values("tcp");
  double total = 0;
  for (const double x : tcp) total += x;
  EXPECT_NEAR(found.in_the_data[0], total / 2, 1e-6);
  EXPECT_TRUE(holds(found.cuts, "a total of each host above 100 counts as 100, below 0 as 0"));
}

TEST_F(PublicAnswersTest, QuantilesLieBetweenTheirNeighbours) {
  const Both found = both(query(Aggregation::quantiles));
  const auto tcp = values("tcp");
  for (std::size_t i = 0; i < 2; ++i) {
    const double place = (i == 0 ? 0.25 : 0.5) * static_cast<double>(tcp.size() - 1);
    const auto below = static_cast<std::size_t>(place);
    EXPECT_NEAR(found.in_the_data[i],
                tcp[below] + (place - std::floor(place)) * (tcp[below + 1] - tcp[below]), 1e-9);
  }
  EXPECT_TRUE(holds(found.cuts, "to the nearest 0.098"));
}

TEST_F(PublicAnswersTest, AHistogramCountsWhatLiesBeyondInItsFirstAndLastBin) {
  const Both found = both(query(Aggregation::histogram));  // bins [0, 50) and [50, 100)
  const auto tcp = values("tcp");
  const auto low =
      static_cast<double>(std::count_if(tcp.begin(), tcp.end(), [](double x) { return x < 50; }));
  EXPECT_EQ(found.in_the_data[0], low);
  EXPECT_EQ(found.in_the_data[1], static_cast<double>(tcp.size()) - low);
  EXPECT_TRUE(
      holds(found.cuts, "values below 0 count in the first range, from 100 on in the last"));
}

}  // namespace
}  // namespace sotto
