// The work behind a study is linear in the number of its public groups, from its files to its
// report. Work is counted as allocated bytes, which are the same on every machine.
#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>
#include <map>
#include <new>
#include <string>

#include "report/api/study.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/plan/text.hpp"
#include "study/api/design.hpp"

namespace {
thread_local std::size_t allocated = 0;  // bytes, by this thread
}

// noinline, or GCC warns about the pair of malloc and delete
[[gnu::noinline]] void* operator new(std::size_t size) {
  allocated += size;
  if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t /*size*/) noexcept {
  std::free(memory);
}

namespace sotto {
namespace {

// An engine whose table has one row in each group.
class OneRowEach : public Engine {
 public:
  explicit OneRowEach(const Aggregate& aggregate) {
    const bool is_binned = aggregate.gather == Gather::bins;
    const bool by_name = !aggregate.unit;
    for (std::size_t g = 0; g < aggregate.groups.size(); ++g) {
      if (by_name) {
        for (const Value& value : aggregate.groups[g])
          rows_.cells.emplace_back(std::get<std::string>(value));
      } else {
        rows_.cells.emplace_back(static_cast<std::int64_t>(g));
      }
      if (is_binned) rows_.cells.emplace_back(std::int64_t{0});
      rows_.cells.emplace_back(std::int64_t{1});  // rows
      rows_.cells.emplace_back(std::int64_t{7});  // the sum
      if (aggregate.gather == Gather::squares)
        rows_.cells.emplace_back(std::string("49"));  // of squares
    }
    rows_.width = aggregate.groups.empty() ? 0 : rows_.cells.size() / aggregate.groups.size();
  }
  [[nodiscard]] Dialect dialect() const override { return Dialect::postgresql; }
  [[nodiscard]] std::string table() const override { return "people"; }
  Rows query(const std::string& sql, const Progress& /*progress*/) override {
    EXPECT_FALSE(sql.empty());
    return rows_;
  }

 private:
  Rows rows_;
};

std::string listed_values(std::size_t count) {
  std::string text = "values = [";
  for (std::size_t i = 0; i < count; ++i)
    text += (i == 0 ? "\"k" : ", \"k") + std::to_string(i) + "\"";
  return text + "]\n";
}

std::string data_text(std::size_t groups, const std::string& unit) {
  return "name = \"d\"\nversion = \"1\"\nsource = \"d.csv\"\nunit = \"" + unit +
         "\"\nledger = \"d.sotto\"\n[columns.person]\ntype = \"integer\"\nnull = \"drop\"\n"
         "[columns.age]\ntype = \"integer\"\nnull = \"drop\"\nbounds = [0, 100]\n"
         "[columns.note]\ntype = \"text\"\nnull = \"drop\"\n" +
         listed_values(groups);
}

std::string study_text(const std::string& ask) {
  const bool counts = ask == "count" || ask == "distinct";
  return "title = \"t\"\ndata = \"d\"\ngroups = 2\nrows = 1\n[budget]\nepsilon = 1\ndelta = "
         "1e-6\n[[query]]\n"
         "name = \"q\"\nby = [\"note\"]\nask = \"" +
         ask + "\"\n" + (counts ? "" : "of = \"age\"\n") +
         (ask == "quantiles" || ask == "histogram" ? "step = 50\n" : "");
}

// Bytes that each stage allocates.
std::map<std::string, double> work_of(std::size_t groups, const std::string& ask,
                                      const std::string& unit) {
  std::map<std::string, double> work;
  const auto counted = [&](const std::string& stage, const auto& run) {
    const std::size_t before = allocated;
    auto result = run();
    work[stage] = static_cast<double>(allocated - before);
    return result;
  };
  const std::string text = data_text(groups, unit);
  const Terms terms{"d", unit, Relation::add_remove, ApproximateBudget{8, 1e-4}};
  const DataFile data = counted("data file", [&] { return parse_data_file(text, "/"); });
  const Study study = counted("study", [&] { return parse_study(study_text(ask), data); });
  const Design planned = counted("design", [&] { return make_design(study, terms); });
  const Measurement& m = planned.measurements.front();
  OneRowEach engine(m.aggregate);
  const GroupTotals gathered = counted("statement and reading", [&] {
    return gather(engine, stored_columns(study), m.aggregate, {{1, 2, 3, 4}});
  });
  const std::vector<double> numbers =
      counted("coordinates", [&] { return coordinates(m, gathered); });
  Release release{
      "r",  "2026-01-01T00:00:00Z", "t",          "d",  "1", "l",  unit,       "add-remove",
      0.95, print(planned.plan),    planned.cost, 1e-6, 1,   1e-6, study.text, {}};
  release.answers.push_back(counted("intervals", [&] {
    return answer(study, study.queries.front(), m, m.aggregate.groups, numbers);
  }));
  EXPECT_GE(release.answers.front().estimates.size(), groups);
  const std::string stored = counted("kept answer", [&] { return to_json(release); });
  const Release again = counted("kept answer, read", [&] { return read_release(stored); });
  for (const Format format : {Format::table, Format::csv, Format::json}) {
    counted("answers as " + std::to_string(static_cast<int>(format)), [&] {
      return release_text(again, {1, "h"}, {}, format).size();
    });
  }
  Filter filter(terms.budget, terms.relation);
  const Charge cost = filter.admit(planned.plan, planned.at).cost;
  const LedgerState ledger{"l",
                           "2026-01-01T00:00:00Z",
                           terms,
                           filter,
                           {{1, "2026-01-01T00:00:10Z", "r", "c", print(planned.plan), cost, "h"}},
                           {1, "h"},
                           filter.claim(Delta(1e-4)),
                           4.0};
  counted("report", [&] {
    return study_page({study, planned, again, {}, ledger, "c", "9"}).size();
  });
  return work;
}

TEST(ManyGroups, EveryStageAllocatesLinearly) {
  for (const std::string unit : {"row", "person"}) {
    for (const std::string ask :
         {"count", "distinct", "sum", "mean", "variance", "deviation", "histogram", "quantiles"}) {
      const auto few = work_of(40, ask, unit);
      const auto many = work_of(640, ask, unit);
      for (const auto& [stage, bytes] : many) {
        // 16 times the groups: linear work is 16 times as much, quadratic work 256 times; a growing
        // buffer may double
        EXPECT_LE(bytes, 33 * few.at(stage) + 4096) << ask << " by " << unit << ": " << stage;
      }
    }
  }
}

double seconds_to_narrow(std::size_t values) {
  const DataFile data = parse_data_file(data_text(values, "row"), "/");
  const std::string text = study_text("count") + "[columns.note]\n" + listed_values(values);
  double least = 1e9;
  for (int i = 0; i < 3; ++i) {
    const std::clock_t start = std::clock();
    EXPECT_EQ(parse_study(text, data).columns.back().values.size(), values);
    least = std::min(least, static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
  }
  return least;
}

// Comparisons allocate nothing, so processor time is measured: 16 times as much if linear, 256
// times if quadratic.
TEST(ManyGroups, ComparingListedValuesTakesLinearTime) {
  EXPECT_LE(seconds_to_narrow(32'000), 64 * std::max(seconds_to_narrow(2'000), 1e-3));
}

}  // namespace
}  // namespace sotto
