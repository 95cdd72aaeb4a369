// Questions about a table from C++: what is charged when, and that no text becomes another
// question.
#include "sotto/study/table.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <thread>

#include "../../../support/in_duckdb.hpp"
#include "data/api/inspect.hpp"
#include "data/arrow/abi.hpp"
#include "sotto/core/errors.hpp"
#include "study/api/run.hpp"
#include "study/api/study.hpp"
#include "study/api/study_text.hpp"

namespace sotto {
namespace {

namespace fs = std::filesystem;

const TableDescription people{.columns = {{.name = "person", .type = Type::integer},
                                          listed_column("region", {"north", "south"}),
                                          bounded_column("spent", 0, 100),
                                          {.name = "city"},
                                          {.name = "weight", .type = Type::real}},
                              .unit = "person"};

std::string message(const std::function<void()>& call) {
  try {
    call();
  } catch (const InvalidValue& error) {
    return error.what();
  }
  return "no InvalidValue";
}

bool mentions(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

class TableFolder : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "sotto-table-XXXXXX").string();
    folder = mkdtemp(name.data());
    place = (folder / "visits.sotto").string();
    std::ofstream file(folder / "visits.csv");
    file << "person,region,spent,city,weight\n";
    for (int person = 0; person < 3000;
         ++person) {  // two visits each: 1000 people of the north, who spend 40 each time
      const bool is_north = person % 3 == 0;
      for (int visit = 0; visit < 2; ++visit) {
        file << person << ',' << (is_north ? "north,40" : "south,10")
             << (person < 2000 ? ",big" : ",small") << ",1.5\n";
      }
    }
  }
  void TearDown() override { fs::remove_all(folder); }

  [[nodiscard]] Table visits(const TableDescription& description = people) const {
    return {(folder / "visits.csv").string(), description, {.threads = 2, .duckdb = libduckdb}};
  }
  [[nodiscard]] Ledger ledger_of(const Table& table) const {
    return table.open_or_create_ledger(place, ApproximateBudget{10, 1e-6});
  }
  [[nodiscard]] std::vector<Entry> entries() const { return Ledger::open(place).entries(); }

  fs::path folder;
  std::string place;
};

// Runs that read rows.
class TableRuns : public TableFolder {
 protected:
  void SetUp() override {
    if (!fs::exists(libduckdb)) GTEST_SKIP() << "no DuckDB; type: ./dev duckdb";
    TableFolder::SetUp();
  }
  void TearDown() override {
    if (!folder.empty()) TableFolder::TearDown();
  }
};

QuestionBuilder limited(const Table& table, std::int64_t rows = 2) {
  return table.limit_rows(rows).limit_groups(1);
}

TEST_F(TableRuns, ASumByGroupIsNearTheTruthAndRepeatsForFree) {
  const Table table = visits();
  Ledger ledger = ledger_of(table);
  const TableQuestion spent = limited(table).group_by("region").sum("spent");
  const ReleasedNumbers first = table.answer(ledger, spent, {.epsilon = 1});
  ASSERT_EQ(first.numbers.size(), 2U);
  EXPECT_EQ(first.numbers[0].keys, std::vector<std::string>{"north"});
  EXPECT_EQ(first.numbers[0].question, "sum spent by region");
  EXPECT_EQ(first.numbers[0].limit, "at most 2 rows per person, in 1 group");
  EXPECT_NEAR(first.numbers[0].value, 80'000, 10'000);
  EXPECT_NEAR(first.numbers[1].value, 40'000, 10'000);
  for (const ReleasedNumber& n : first.numbers) {
    EXPECT_LT(n.low, n.value);
    EXPECT_LT(n.value, n.high);
    EXPECT_TRUE(n.value != 80'000 && n.value != 40'000) << "no noise";
  }
  EXPECT_FALSE(first.repeated);
  EXPECT_GT(first.charge.amount, 0.9);
  EXPECT_LE(first.charge.amount, 1);

  const ReleasedNumbers second = table.answer(ledger, spent, {.epsilon = 1});
  EXPECT_TRUE(second.repeated);
  EXPECT_EQ(second.json, first.json);
  EXPECT_EQ(entries().size(), 1U);
  const ReleasedNumbers anew = table.answer(ledger, spent, {.epsilon = 1, .again = true});
  EXPECT_FALSE(anew.repeated);
  EXPECT_NE(anew.numbers[0].value, first.numbers[0].value);
  EXPECT_EQ(entries().size(), 2U);
}

// The witness changes the file as soon as the charge is written, which a run that read it before
// would not notice.
TEST_F(TableRuns, TheChargeIsInTheLedgerBeforeARowIsRead) {
  const Table table = visits();
  const std::string heads = (folder / "heads").string();
  const std::string script = (folder / "witness").string();
  std::ofstream(script) << "#!/bin/sh\nif [ \"$1\" = give ]; then cat >> " << heads
                        << "; [ $(wc -l < " << heads << ") -lt 2 ] || echo '1,north,5,big,1' >> "
                        << (folder / "visits.csv").string() << "; else grep \"^$2 \" " << heads
                        << " 2>/dev/null | tail -n 1; fi\n";
  fs::permissions(script, fs::perms(0700));
  Ledger ledger = table.open_or_create_ledger(place, ApproximateBudget{10, 1e-6},
                                              Relation::add_remove, {.witness = "|" + script});
  try {
    (void)table.answer(ledger, limited(table).count(), {.epsilon = 1});
    FAIL() << "the file changed";
  } catch (const EngineError& error) {
    EXPECT_TRUE(mentions(error.what(), "can be run again under its charge")) << error.what();
  }
  ASSERT_EQ(entries().size(), 1U);
  EXPECT_EQ(Ledger::open(place).state(entries()[0].request), RequestState::charged);
}

TEST_F(TableRuns, ARefusedBudgetReadsNothingAndChargesNothing) {
  const Table table = visits();
  Ledger ledger = ledger_of(table);
  const TableQuestion count = limited(table).count();
  EXPECT_THROW((void)table.answer(ledger, count, {.epsilon = 11}), BudgetRefused);
  EXPECT_TRUE(entries().empty());
  const CostPreview preview = table.preview(ledger, count, {.epsilon = 11});
  EXPECT_FALSE(preview.admitted);
  EXPECT_TRUE(mentions(preview.refusal, "with epsilon = ")) << preview.refusal;
  fs::remove(folder / "visits.csv");
  EXPECT_THROW((void)table.answer(ledger, count, {.epsilon = 1}),
               EngineError);  // before the charge
  EXPECT_TRUE(entries().empty());
}

TEST_F(TableRuns, APreviewChargesNothingAndEqualsTheCharge) {
  const Table table = visits();
  Ledger ledger = ledger_of(table);
  const std::vector<TableQuestion> both{limited(table).group_by("region").mean("spent"),
                                        limited(table).count({.error = 50.0})};
  const CostPreview before = table.preview(ledger, both, {.epsilon = 2});
  EXPECT_TRUE(before.admitted);
  EXPECT_FALSE(before.repeated);
  EXPECT_TRUE(entries().empty());
  const ReleasedNumbers answers = table.answer(ledger, both, {.epsilon = 2});
  ASSERT_EQ(entries().size(), 1U);
  EXPECT_EQ(entries()[0].cost, before.charge);
  EXPECT_EQ(answers.charge, before.charge);
  EXPECT_EQ(answers.epsilon, before.epsilon);
  EXPECT_EQ(answers.delta, before.delta);
  EXPECT_EQ(ledger.filter().spent(), before.charge);
  const CostPreview after = table.preview(ledger, both, {.epsilon = 2});
  EXPECT_TRUE(after.repeated);
  EXPECT_EQ(after.charge, Charge{});
  EXPECT_EQ(table.preview(ledger, both, {.epsilon = 2, .again = true}).charge, before.charge);
}

TEST_F(TableRuns, EveryKindOfQuestionRuns) {
  const Table table = visits();
  Ledger ledger = ledger_of(table);
  const QuestionBuilder q = limited(table);
  const ReleasedNumbers answers =
      table.answer(ledger,
                   {q.count(), q.count_distinct(), q.sum("spent", {.noise = "gaussian"}),
                    q.sum("spent", {.name = "totals", .clamp = "total"}), q.mean("spent"),
                    q.variance("spent"), q.deviation("spent"), q.histogram("spent", {.step = 25.0}),
                    q.median("spent"), q.quantiles("spent", {0.25, 0.75}),
                    q.where("spent > 20").where("region = 'north'").count({.name = "north"}),
                    q.group_by("region", {"north"}).count_distinct(), q.count()},
                   {.epsilon = 9, .delta = 1e-7, .confidence = 0.99, .title = "All"});
  std::vector<std::string> questions;
  double north = 0;
  for (const ReleasedNumber& n : answers.numbers) {
    if (questions.empty() || questions.back() != n.question) questions.push_back(n.question);
    if (n.question == "north") north = n.value;
    EXPECT_EQ(n.from.has_value(), n.question == "histogram spent");
    EXPECT_EQ(n.quantile.has_value(),
              n.question == "quantiles spent" || n.question == "median spent")
        << n.question;
    EXPECT_LE(n.low, n.high);
  }
  const std::vector<std::string> expected{
      "count",          "distinct",           "sum spent",       "totals",       "mean spent",
      "variance spent", "deviation spent",    "histogram spent", "median spent", "quantiles spent",
      "north",          "distinct by region", "count 2"};
  EXPECT_EQ(questions, expected);
  EXPECT_NEAR(north, 2000, 300);

  const ReleasedNumbers keys =
      table.answer(ledger, limited(table).private_keys().group_by("city").count(),
                   {.epsilon = 0.9, .delta = 1e-7});
  ASSERT_EQ(keys.numbers.size(), 2U);
  EXPECT_EQ(keys.numbers[0].keys, std::vector<std::string>{"big"});
}

TEST_F(TableRuns, ManyThreadsAskOneTableAndOneLedger) {
  const Table table = visits();
  Ledger ledger = ledger_of(table);
  std::vector<ReleasedNumbers> answers(8);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    threads.emplace_back([&, i] {
      const TableQuestion question =
          i < 4 ? limited(table).count() : limited(table).where("spent > 20").count();
      EXPECT_NO_THROW(answers[i] = table.answer(ledger, question, {.epsilon = 0.5}));
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (std::size_t i = 0; i < answers.size(); ++i)
    EXPECT_EQ(answers[i].json, answers[i < 4 ? 0 : 4].json);
  EXPECT_EQ(entries().size(), 2U);
}

// --- rows in memory ---

// A stream of one batch with a column `spent` of as many rows as there are numbers.
class OneColumn {
 public:
  explicit OneColumn(std::vector<double> numbers) : numbers_(std::move(numbers)) {}
  bool released = false;

  data_detail::ArrowArrayStream stream() {
    return {.get_schema =
                [](data_detail::ArrowArrayStream* of, data_detail::ArrowSchema* out) {
                  auto& self = *static_cast<OneColumn*>(of->private_data);
                  self.child_ = {"g", "spent", nullptr, 2, 0, nullptr, nullptr, nullptr, nullptr};
                  *out = {"+s",    "",
                          nullptr, 0,
                          1,       &self.child_place_,
                          nullptr, [](data_detail::ArrowSchema* s) { s->release = nullptr; },
                          nullptr};
                  return 0;
                },
            .get_next =
                [](data_detail::ArrowArrayStream* of, data_detail::ArrowArray* out) {
                  auto& self = *static_cast<OneColumn*>(of->private_data);
                  *out = {};
                  if (self.is_read_) return 0;
                  self.is_read_ = true;
                  const auto rows = static_cast<std::int64_t>(self.numbers_.size());
                  self.column_ = {rows,          0,       0,       2,       0,
                                  self.buffers_, nullptr, nullptr, nullptr, nullptr};
                  *out = {rows,
                          0,
                          0,
                          1,
                          1,
                          self.none_,
                          &self.column_place_,
                          nullptr,
                          [](data_detail::ArrowArray* a) { a->release = nullptr; },
                          nullptr};
                  return 0;
                },
            .get_last_error = [](data_detail::ArrowArrayStream*) -> const char* { return nullptr; },
            .release =
                [](data_detail::ArrowArrayStream* of) {
                  static_cast<OneColumn*>(of->private_data)->released = true;
                  of->release = nullptr;
                },
            .private_data = this};
  }

 private:
  std::vector<double> numbers_;
  const void* none_[1] = {nullptr};
  const void* buffers_[2] = {nullptr, numbers_.data()};
  data_detail::ArrowSchema child_{};
  data_detail::ArrowSchema* child_place_ = &child_;
  data_detail::ArrowArray column_{};
  data_detail::ArrowArray* column_place_ = &column_;
  bool is_read_ = false;
};

const TableDescription receipts{
    .columns = {bounded_column("spent", 0, 100)}, .unit = "row", .name = "receipts"};

TEST_F(TableRuns, RowsInMemoryAreAskedLikeAFile) {
  OneColumn rows(std::vector<double>(5000, 20.0));
  auto stream = rows.stream();
  const Table table = Table::from_arrow(&stream, receipts, {.threads = 2, .duckdb = libduckdb});
  EXPECT_TRUE(rows.released);
  Ledger ledger = table.open_or_create_ledger(place, ZcdpBudget{1, 0});
  EXPECT_EQ(ledger.terms().source, "memory");
  const ReleasedNumbers answers = table.answer(ledger, table.sum("spent"), {.rho = 0.5});
  EXPECT_NEAR(answers.numbers.at(0).value, 100'000, 1000);
  EXPECT_TRUE(table.answer(ledger, table.sum("spent"), {.rho = 0.5}).repeated);
  // a file is other data, whatever its name
  TableDescription same = people;
  same.name = "receipts";
  same.unit = "row";
  EXPECT_TRUE(mentions(
      message([&] { (void)visits(same).answer(ledger, visits(same).sum("spent"), {.rho = 0.1}); }),
      "its source is \"memory\""));
}

TEST(TableInMemory, NeedsAName) {
  OneColumn rows({1});
  auto stream = rows.stream();
  TableDescription nameless = receipts;
  nameless.name = "";
  EXPECT_TRUE(mentions(message([&] { (void)Table::from_arrow(&stream, nameless); }),
                       "set TableDescription::name"));
  EXPECT_TRUE(rows.released);
}

// --- ledgers ---

TEST_F(TableFolder, ALedgerIsCreatedOnceAndOpenedThen) {
  const std::string id = ledger_of(visits()).id();
  EXPECT_EQ(ledger_of(visits()).id(), id);
  const Terms terms = Ledger::open(place).terms();
  EXPECT_EQ(terms.name, "visits");
  EXPECT_EQ(terms.unit, "person");
  EXPECT_EQ(terms.unit_type, "integer");
  EXPECT_EQ(terms.source, fs::canonical(folder / "visits.csv").string());
}

TEST_F(TableFolder, ALedgerOfOtherDataIsRefused) {
  const Table table = visits();
  Ledger ledger = ledger_of(table);
  std::ofstream(folder / "other.csv") << "person\n";
  const Table other((folder / "other.csv").string(), people);
  TableDescription renamed = people;
  renamed.name = "visits";
  const Table moved((folder / "other.csv").string(), renamed);
  TableDescription by_row = people;
  by_row.unit = "row";
  TableDescription by_text = people;
  by_text.columns[0].type = Type::text;
  const std::vector<std::pair<Table, std::string>> wrong{
      {other, "its name is \"visits\", and the table's is \"other\""},
      {moved, "its source is \""},
      {visits(by_row), "its unit is \"person\", and the table's is \"row\""},
      {visits(by_text), "its unit's type is \"integer\", and the table's is \"text\""}};
  for (const auto& [one, words] : wrong) {
    const std::string opened = message([&, &t = one] { (void)ledger_of(t); });
    EXPECT_TRUE(mentions(opened, words) && mentions(opened, place)) << opened;
    const std::string answered =
        message([&, &t = one] { (void)t.answer(ledger, t.limit_rows(1).count(), {.epsilon = 1}); });
    EXPECT_TRUE(mentions(answered, words)) << answered;
    const std::string previewed = message(
        [&, &t = one] { (void)t.preview(ledger, t.limit_rows(1).count(), {.epsilon = 1}); });
    EXPECT_TRUE(mentions(previewed, words)) << previewed;
  }
  EXPECT_TRUE(mentions(message([&] {
                         (void)table.open_or_create_ledger(place, ApproximateBudget{20, 1e-6});
                       }),
                       "has the budget approx(10, 1e-06)"));
  EXPECT_TRUE(mentions(message([&] {
                         (void)table.open_or_create_ledger(place, ApproximateBudget{10, 1e-6},
                                                           Relation::replace_one);
                       }),
                       "replace"));
  EXPECT_TRUE(entries().empty());
  std::ofstream(folder / "text.sotto") << "no ledger";
  EXPECT_THROW((void)table.open_or_create_ledger((folder / "text.sotto").string(),
                                                 ApproximateBudget{10, 1e-6}),
               LedgerError);
  EXPECT_THROW((void)table.open_or_create_ledger((folder / "new.sotto").string(),
                                                 ApproximateBudget{10, 1e-6}, Relation::add_remove,
                                                 {.read_only = true}),
               LedgerError);
  EXPECT_FALSE(fs::exists(folder / "new.sotto"));
}

TEST_F(TableRuns, ARelativePathIsResolvedWhenTheTableIsMade) {
  const fs::path before = fs::current_path();
  fs::current_path(folder);
  const Table table("visits.csv", people, {.threads = 2, .duckdb = libduckdb});
  fs::current_path(before);
  Ledger ledger = ledger_of(table);
  EXPECT_EQ(ledger.terms().source, fs::canonical(folder / "visits.csv").string());
  EXPECT_NEAR(table.answer(ledger, table.count_distinct(), {.epsilon = 1}).numbers.at(0).value,
              3000, 100);
}

// --- descriptions ---

TEST_F(TableFolder, WrongDescriptionsAreErrors) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  const auto refused = [&](const TableColumn& column) {
    TableDescription wrong = people;
    wrong.columns.push_back(column);
    return message([&] { (void)visits(wrong); });
  };
  const std::vector<std::pair<TableColumn, std::string>> columns{
      {bounded_column("x", nan, 1), "infinite or NaN"},
      {bounded_column("x", 0, nan), "infinite or NaN"},
      {bounded_column("x", -infinity, 1), "infinite or NaN"},
      {bounded_column("x", 1, 1), "not below"},
      {bounded_column("x", 2, 1), "not below"},
      {bounded_column("x", 0, 1e200), "at most 1e100"},
      {bounded_column("x", 0, 1, Type::text), "only columns of type integer or real have bounds"},
      {{.name = "x", .type = Type::real, .lower = 0.0}, "column \"x\": it has one bound"},
      {{.name = "x", .type = Type::real, .upper = 0.0}, "it has one bound"},
      {{.name = ""}, "without a name"},
      {{.name = "spent"}, "described twice"},
      {{.name = "a\nb"}, "control character"},
      {{.name = std::string("a\0b", 3)}, "control character"},
      {{.name = "a\xff"}, "not UTF-8"},
      {{.name = "a\u202e"}, "control character"},
      {listed_column("x", {"a", "a"}), "twice"},
      {listed_column("x", {1}), "a text"},
      {listed_column("x", {"1"}, Type::integer), "a whole number"},
      {listed_column("x", {1.5}, Type::integer), "a whole number"},
      {listed_column("x", {0.5}, Type::real), "cannot be keys"},
      {listed_column("x", {"31.1.2026"}, Type::date), "date"},
      {listed_column("x", {"a\xc3"}), "not UTF-8"},
      {listed_column("x", {std::string("a\0b", 3)}), "without NUL"},
      {{.name = "x", .type = Type::integer, .if_null = "none"}, "a whole number"},
      {{.name = "x", .type = Type::real, .if_null = nan}, "infinite or NaN"}};
  for (const auto& [column, words] : columns) {
    const std::string found = refused(column);
    EXPECT_TRUE(mentions(found, words)) << column.name << ": " << found;
    EXPECT_FALSE(mentions(found, "line ") || mentions(found, "columns.")) << found;
  }
  const auto with = [&](const std::function<void(TableDescription&)>& change) {
    TableDescription wrong = people;
    change(wrong);
    return message([&] { (void)visits(wrong); });
  };
  EXPECT_TRUE(mentions(with([](auto& d) { d.unit = "persn"; }), "did you mean \"person\"?"));
  EXPECT_TRUE(mentions(with([](auto& d) { d.unit = ""; }), "TableDescription::unit is empty"));
  EXPECT_TRUE(mentions(with([](auto& d) { d.unit = "weight"; }), "cannot identify a unit"));
  EXPECT_TRUE(mentions(with([](auto& d) { d.columns.clear(); }), "columns is empty"));
  EXPECT_TRUE(mentions(with([](auto& d) { d.version = ""; }), "version is empty"));
  EXPECT_TRUE(mentions(with([](auto& d) { d.version = "1\n2"; }), "control character"));
  EXPECT_TRUE(mentions(with([](auto& d) { d.name = "../visits"; }), "set TableDescription::name"));
  EXPECT_TRUE(mentions(with([&](auto& d) { d.size = nan; }), "infinite or NaN"));
  EXPECT_TRUE(mentions(with([](auto& d) { d.size = -1; }), "must be above 0"));
  EXPECT_TRUE(mentions(message([] { (void)Table("", people); }), "path is empty"));
  EXPECT_TRUE(mentions(message([] { (void)Table("postgresql://ada:secret@host/db", people); }),
                       "PostgresSource"));
  EXPECT_FALSE(
      mentions(message([] { (void)Table("postgresql://ada:secret@host/db", people); }), "secret"));
  EXPECT_TRUE(mentions(message([] { (void)Table(IdxSource{}, people); }), "images are no table"));
  EXPECT_TRUE(mentions(
      message([] { (void)Table(FileSource{.path = "a.csv", .names = {"person"}}, people); }),
      "has no column \"region\""));
}

// Requests agree with those of a catalogue that says the same.
TEST_F(TableFolder, ADescriptionIsTheDataFileThatSaysTheSame) {
  TableDescription description = people;
  description.columns[2].if_null = 0.0;
  description.columns.push_back({.name = "member", .type = Type::boolean});
  const std::string file =
      "name = \"visits\"\nversion = \"1\"\nsource = \"visits.csv\"\nunit = \"person\"\nledger = "
      "\"visits.sotto\"\n"
      "[columns.person]\ntype = \"integer\"\nnull = \"drop\"\n[columns.region]\ntype = "
      "\"text\"\nnull = \"drop\"\nvalues = [\"north\", \"south\"]\n"
      "[columns.spent]\ntype = \"real\"\nnull = { value = 0 }\nbounds = [0, "
      "100]\n[columns.city]\ntype = \"text\"\nnull = \"drop\"\n"
      "[columns.weight]\ntype = \"real\"\nnull = \"drop\"\n[columns.member]\ntype = "
      "\"boolean\"\nnull = \"drop\"\n";
  const DataFile of_catalogue = parse_data_file(file, folder);
  const DataFile of_description = parse_data_file(description_text("visits", description), folder);
  const std::string text = study_text("visits", {limited(visits(description)).sum("spent")},
                                      study_settings({.epsilon = 1}));
  EXPECT_EQ(parse_study(text, of_description).declared, parse_study(text, of_catalogue).declared);
  EXPECT_EQ(of_description.columns.back().values, (std::vector<Value>{false, true}));
}

// --- questions ---

TEST_F(TableFolder, QuestionsThatCannotBeAskedAreErrorsInTheWordsOfCpp) {
  const Table table = visits();
  const Ledger ledger = ledger_of(table);
  const QuestionBuilder q = limited(table);
  const auto refused = [&](const TableQuestion& question,
                           const Spending& spending = {.epsilon = 1}) {
    const std::string words = message([&] { (void)table.preview(ledger, question, spending); });
    EXPECT_FALSE(mentions(words, "line ") || mentions(words, "[[query]]") ||
                 mentions(words, "[columns.") || mentions(words, "[budget]"))
        << words;
    return words;
  };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(mentions(refused(q.sum("weight")),
                       "question \"sum weight\": column \"weight\" has no bounds: describe it as "
                       "bounded_column(\"weight\", "));
  EXPECT_TRUE(mentions(refused(q.mean("city")), "needs numbers"));
  EXPECT_TRUE(mentions(refused(q.sum("spend")), "did you mean \"spent\"?"));
  EXPECT_TRUE(mentions(
      refused(q.group_by("city").count()),
      "list them in listed_column(\"city\", {…}) or in group_by(…); else call private_keys()"));
  EXPECT_TRUE(mentions(refused(q.group_by("weight").count()), "cannot be a key"));
  EXPECT_TRUE(mentions(
      refused(q.group_by("region", {"east"}).count()),
      "\"east\" is not among the values that the description lists for column \"region\""));
  EXPECT_TRUE(mentions(refused(q.where("region = 'east'").count()), "add it to the listed values"));
  EXPECT_TRUE(mentions(refused(q.group_by("region").group_by("region").count()), "twice"));
  EXPECT_TRUE(
      mentions(refused(q.group_by("city").private_keys().count(), {.epsilon = 1, .delta = 0}),
               "write delta = 1e-6 in Spending"));
  EXPECT_TRUE(mentions(refused(q.private_keys().count()), "call group_by(…)"));
  EXPECT_TRUE(mentions(refused(q.quantiles("spent", {1.5})),
                       "question \"quantiles spent\": quantiles are between 0 and 1"));
  EXPECT_TRUE(mentions(refused(q.quantiles("spent", {nan})), "infinite or NaN"));
  EXPECT_TRUE(
      mentions(refused(q.count({.error = -1.0})), "question \"count\": `error` must be above 0"));
  EXPECT_TRUE(mentions(refused(q.count({.error = 5.0, .share = 1.0})), "not both"));
  EXPECT_TRUE(mentions(refused(q.count({.noise = "uniform"})), "\"laplace\" or \"gaussian\""));
  EXPECT_TRUE(mentions(refused(q.where("spend > 3").count()), "did you mean spent"));
  EXPECT_TRUE(mentions(refused(q.where("spent > 3; DROP TABLE visits").count()), "one expression"));
  EXPECT_TRUE(mentions(refused(table.limit_rows(0).count()), "whole number from 1"));
  EXPECT_TRUE(mentions(refused(q.count(), {}), "neither epsilon nor rho"));
  EXPECT_TRUE(mentions(refused(q.count(), {.epsilon = 1, .rho = 1}), "set one of them"));
  EXPECT_TRUE(
      mentions(refused(q.count(), {.epsilon = nan}), "`epsilon`: a number is infinite or NaN"));
  EXPECT_TRUE(mentions(refused(q.count(), {.epsilon = -1}), "must be above 0"));
  EXPECT_TRUE(mentions(refused(q.count(), {.epsilon = 1, .confidence = 2}),
                       "confidence is from 0.5 to 0.9999"));
  EXPECT_TRUE(mentions(
      message([&] { (void)table.preview(ledger, std::vector<TableQuestion>{}, {.epsilon = 1}); }),
      "a run needs a question"));
}

TEST_F(TableFolder, LimitsThatNobodyChoseAreNamedByTheirCalls) {
  const Table table = visits();
  Ledger ledger = ledger_of(table);
  const auto refused = [&](const TableQuestion& question) {
    const std::string previewed =
        message([&] { (void)table.preview(ledger, question, {.epsilon = 1}); });
    EXPECT_EQ(message([&] { (void)table.answer(ledger, question, {.epsilon = 1}); }), previewed);
    EXPECT_FALSE(mentions(previewed, "line ") || mentions(previewed, "rows = 1") ||
                 mentions(previewed, "[[query]]"))
        << previewed;
    return previewed;
  };
  const std::string both = refused(table.group_by("region").sum("spent"));
  EXPECT_TRUE(mentions(both, "limit_rows(…)") && mentions(both, "limit_groups(…)") &&
              mentions(both, "\"sum spent by region\""))
      << both;
  const std::string rows = refused(table.count());
  EXPECT_TRUE(mentions(rows, "limit_rows(…)") && !mentions(rows, "limit_groups")) << rows;
  const std::string groups = refused(table.group_by("region").count_distinct());
  EXPECT_TRUE(mentions(groups, "limit_groups(…)") && !mentions(groups, "limit_rows")) << groups;
  EXPECT_TRUE(entries().empty());
}

TEST(QuestionBuilder, ASecondConditionCannotUndoTheFirst) {
  const QuestionBuilder first = QuestionBuilder().where("spent > 3");
  for (const char* hostile : {"true) or (true", "true)", "(true", "')", "\"", ")(", "(')'", ""}) {
    EXPECT_THROW((void)first.where(hostile), InvalidValue) << hostile;
  }
  const auto whole = [](const QuestionBuilder& q) { return study_text("t", {q.count()}, {}); };
  EXPECT_TRUE(mentions(whole(first.where("name = 'it''s )' or \"a ( b\" = 1")),
                       "where = \"(spent > 3) and (name = 'it''s )' or \\\"a ( b\\\" = 1)\""));
}

// --- the text of a study ---

TEST(StudyText, IsWhatThePythonBuilderWrites) {
  const QuestionBuilder q;
  EXPECT_EQ(study_text("visits", {q.group_by("region").limit_rows(2).limit_groups(1).sum("spent")},
                       study_settings({.epsilon = 0.1})),
            "data = \"visits\"\n\n[budget]\nepsilon = 0.1\n\n[[query]]\nname = \"sum spent by "
            "region\"\nask = \"sum\"\nof = \"spent\"\n"
            "by = [\"region\"]\nrows = 2\ngroups = 1\n");
  EXPECT_EQ(
      study_text("shop",
                 {q.where("age >= 65")
                      .where("spent > 1")
                      .group_by("region", {"north"})
                      .count({.error = 30.0}),
                  q.quantiles("age", {0.25, 1}, {.share = 2.0, .step = 0.5}), q.count(), q.count()},
                 study_settings({.delta = 1e-7, .rho = 1, .confidence = 0.9, .title = "a \"b\""})),
      "title = \"a \\\"b\\\"\"\ndata = \"shop\"\nconfidence = 0.9\n\n[budget]\ndelta = 1e-07\nrho "
      "= 1.0\n\n[columns.\"region\"]\n"
      "values = [\"north\"]\n\n[[query]]\nname = \"count by region\"\nask = \"count\"\nwhere = "
      "\"(age >= 65) and (spent > 1)\"\n"
      "by = [\"region\"]\nerror = 30.0\n\n[[query]]\nname = \"quantiles age\"\nask = "
      "\"quantiles\"\nof = \"age\"\nquantiles = [0.25, 1.0]\n"
      "step = 0.5\nshare = 2.0\n\n[[query]]\nname = \"count\"\nask = \"count\"\n\n[[query]]\nname "
      "= \"count 2\"\nask = \"count\"\n");
}

TEST(StudyText, RefusesTwoListsOfOneColumnAndKeepsTheLastOfOneQuestion) {
  const QuestionBuilder q;
  EXPECT_TRUE(mentions(
      message([&] {
        (void)study_text("t", {q.group_by("a", {"x"}).count(), q.group_by("a", {"y"}).count()}, {});
      }),
      "different values"));
  EXPECT_TRUE(
      mentions(study_text("t", {q.group_by("a", {1}).count(), q.group_by("a", {1.0}).count()}, {}),
               "values = [1]\n"));
  EXPECT_TRUE(mentions(
      study_text("t", {q.group_by("a", {"x"}).group_by("b").group_by("a", {"y"}).count()}, {}),
      "values = [\"y\"]\n"));
}

// Whatever a text holds, the study reads back as one question with that text, or is refused.
TEST(StudyText, NoTextChangesTheStudy) {
  const std::vector<std::string> hostile{"\"",
                                         "\\",
                                         "\\\"",
                                         "\"]\n[budget]\nepsilon = 100\n#",
                                         "\"\n\n[[query]]\nname = \"x\"\nask = \"count",
                                         "]\n",
                                         "'''",
                                         "\"\"\"",
                                         "a = 1 # b",
                                         "\r\n[budget]",
                                         "\\u0022",
                                         "\\u0000",
                                         std::string("a\0\"b", 4),
                                         "\x7f",
                                         "\u0085[budget]",
                                         "\u2028[budget]",
                                         "größe €𝕊",
                                         "{ x = 1 }",
                                         "\xc3\"\n[budget]",
                                         "\xff",
                                         "\xed\xa0\x80",
                                         "\xc0\xa2",
                                         "\t",
                                         "."};
  const auto described = [](const std::vector<TableColumn>& columns) {
    return parse_data_file(description_text("t", {.columns = columns, .unit = "row"}), "/");
  };
  int read = 0;
  int refused = 0;
  const auto study_or_refusal = [&](const std::function<Study()>& parse) -> std::optional<Study> {
    try {
      Study study = parse();
      ++read;
      EXPECT_EQ(study.queries.size(), 1U);
      EXPECT_EQ(study.epsilon, 1.0);
      EXPECT_FALSE(study.rho || study.delta);
      return study;
    } catch (const StudyError&) {
    } catch (const InvalidValue&) {
    }
    ++refused;
    return std::nullopt;
  };
  const StudySettings one = study_settings({.epsilon = 1});
  const QuestionBuilder q;
  for (const std::string& text : hostile) {
    if (const auto study = study_or_refusal([&] {
          return parse_study(study_text("t", {q.group_by(text, {"x"}).sum(text)}, one),
                             described({{.name = text}, {.name = "other"}}));
        })) {
      EXPECT_EQ(study->queries[0].by, std::vector<std::string>{text});
      EXPECT_EQ(study->queries[0].of, text);
      EXPECT_EQ(study->columns.size(), 2U);
      EXPECT_EQ(study->columns[0].values, std::vector<Value>{"x"});
    }
    if (const auto study = study_or_refusal([&] {
          return parse_study(study_text("t", {q.group_by("c", {text, "x"}).count()}, one),
                             described({{.name = "c"}}));
        })) {
      EXPECT_EQ(study->columns[0].values, (std::vector<Value>{text, "x"}));
    }
    if (const auto study = study_or_refusal([&] {
          return parse_study(study_text("t", {q.count({.name = text})}, one),
                             described({{.name = "c"}}));
        })) {
      EXPECT_EQ(study->queries[0].name, text);
    }
    if (const auto study = study_or_refusal([&] {
          StudySettings titled = one;
          titled.title = text;
          return parse_study(study_text("t", {q.count()}, titled), described({{.name = "c"}}));
        })) {
      EXPECT_EQ(study->title, text);
    }
    TableQuestion filtered = q.count();
    filtered.settings.emplace_back("where", text);
    if (const auto study = study_or_refusal([&] {
          return parse_study(study_text("t", {filtered}, one), described({{.name = "c"}}));
        })) {
      EXPECT_EQ(study->queries[0].where, text);
    }
    TableQuestion settings = q.count();
    settings.settings.emplace_back(text, std::string("x"));
    EXPECT_THROW((void)study_text("t", {settings}, one), InvalidValue) << text;
  }
  EXPECT_GT(read, 40);
  EXPECT_GT(refused, 20);
}

}  // namespace
}  // namespace sotto
