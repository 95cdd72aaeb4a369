// The curator's files: what they may say, how a study finds them, and the drafts that the command
// writes.
#include "study/api/data_file.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "data/api/inspect.hpp"
#include "study/api/design.hpp"
#include "study/api/draft.hpp"
#include "study/api/study.hpp"

namespace sotto {
namespace {

namespace fs = std::filesystem;

const std::string people =
    "name = \"people\"\nversion = \"1\"\nsource = \"p.csv\"\nunit = \"person\"\nledger = "
    "\"people.sotto\"\n"
    "[columns.person]\ntype = \"integer\"\nnull = \"drop\"\n[columns.age]\ntype = "
    "\"integer\"\nnull = \"drop\"\n";
const std::string asks =
    "data = \"people\"\n[budget]\nepsilon = 1\n[[query]]\nname = \"n\"\nask = \"count\"\n";

class CatalogueFolder : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "sotto-catalogue-XXXXXX").string();
    folder = mkdtemp(name.data());
  }
  void TearDown() override { fs::remove_all(folder); }
  void write(const std::string& file, const std::string& text) const {
    std::ofstream(folder / file) << text;
  }

  fs::path folder;
};

std::string message(const std::function<void()>& call) {
  try {
    call();
  } catch (const StudyError& error) {
    return error.what();
  }
  return "nothing";
}

TEST_F(CatalogueFolder, ANameIsAllThatLeadsToADataFile) {
  write("people.data.toml", people);
  fs::create_directories(folder / "hr");
  write("hr/salaries.data.toml", people);
  const Catalogue catalogue(folder / "hr" / "..");
  EXPECT_EQ(catalogue.find("people").name, "people");
  for (const char* name : {"hr/salaries", "../people", "..", ".", "", "/etc/passwd", "a b",
                           "people.data.toml/..", "pe\x1bople", "people\n"}) {
    EXPECT_FALSE(is_data_name(name)) << name;
    EXPECT_THROW((void)catalogue.find(name), StudyError) << name;
  }
  EXPECT_NE(message([&] { (void)catalogue.find("others"); }).find("there are: people"),
            std::string::npos);
}

TEST_F(CatalogueFolder, AFileThatCallsItsDataOtherwiseIsRefused) {
  write("others.data.toml", people);
  EXPECT_NE(message([&] {
              (void)Catalogue(folder).find("others");
            }).find("`name` is \"people\", but the file is called others.data.toml"),
            std::string::npos);
}

TEST_F(CatalogueFolder, ASparkIsDescribedByATableOrAPath) {
  const auto with = [&](const std::string& source) {
    std::string text = people;
    return text.replace(text.find("source = \"p.csv\""), std::string("source = \"p.csv\"").size(),
                        source);
  };
  const std::string far = "spark = \"sc://spark.example.org/;use_ssl=true\"\n";
  const DataFile data = parse_data_file(
      with(far +
           "table = \"main.survey.people\"\ntoken = \"spark.token\"\nauthority = \"/etc/ca.pem\""),
      folder);
  const auto& spark = std::get<SparkSource>(data.source);
  EXPECT_EQ(spark.table, "main.survey.people");
  EXPECT_EQ(spark.token, folder / "spark.token");
  EXPECT_EQ(spark.authority, "/etc/ca.pem");
  EXPECT_EQ(parse_data_file(draft_data_file(data), folder).source.index(), data.source.index());
  EXPECT_EQ(std::get<SparkSource>(parse_data_file(draft_data_file(data), "/").source).token,
            folder / "spark.token");
  const auto path = parse_data_file(
      with("spark = \"sc://localhost\"\npath = \"/data/people\"\nformat = \"delta\""), folder);
  EXPECT_EQ(identity(path.source), "spark:localhost:15002/path:/data/people");
  const auto refusal = [&](const std::string& source) {
    return message([&] { (void)parse_data_file(with(source), folder); });
  };
  EXPECT_NE(refusal(far).find("table = "), std::string::npos);
  EXPECT_NE(refusal(far + "table = \"t\"\npath = \"/p\"").find("either `table` or `path`"),
            std::string::npos);
  EXPECT_NE(refusal(far + "table = \"t\"\nformat = \"delta\"").find("`format` goes with `path`"),
            std::string::npos);
  EXPECT_NE(refusal(far + "table = \"t\"\nrecords = \"lines\"").find("goes with `source`"),
            std::string::npos);
  EXPECT_NE(refusal(far + "source = \"p.csv\"\ntable = \"t\"").find("say where the data are"),
            std::string::npos);
  EXPECT_NE(refusal("source = \"p.csv\"\ntoken = \"t\"").find("`token` goes with `spark`"),
            std::string::npos);
  EXPECT_NE(refusal("spark = \"sc://spark.example.org\"\ntable = \"t\"").find("needs TLS"),
            std::string::npos);
  EXPECT_NE(refusal("spark = \"sc://localhost/;use_ssl=true;token=abc\"\ntable = \"t\"")
                .find("must not hold a token"),
            std::string::npos);
}

TEST_F(CatalogueFolder, AnySpellingOfASourceMatches) {
  write("p.csv", "person,age\n");
  fs::create_symlink(folder / "p.csv", folder / "link.csv");
  write("people.data.toml", people);
  const Catalogue catalogue(folder);
  EXPECT_EQ(catalogue.of_source(identity(FileSource{folder / "link.csv", ""})),
            std::vector<std::string>{"people"});
  EXPECT_EQ(catalogue.of_source(identity(FileSource{folder / "." / "p.csv", ""})),
            std::vector<std::string>{"people"});
  EXPECT_TRUE(catalogue.of_source(identity(FileSource{folder / "other.csv", ""})).empty());
}

TEST(DataFiles, PathsAreRelativeToTheDataFile) {
  const DataFile data = parse_data_file(people, "/srv/catalogue");
  EXPECT_EQ(std::get<FileSource>(data.source).path, "/srv/catalogue/p.csv");
  EXPECT_EQ(data.ledger, "/srv/catalogue/people.sotto");
  EXPECT_EQ(unit_type(data), "integer");
  EXPECT_EQ(data.unit_label, "person");
}

TEST(DataFiles, AStudyMayNarrowBoundsAndNotWidenThem) {
  const DataFile data = parse_data_file(people + "bounds = [0, 100]\n", "/");
  const Study narrow = parse_study(asks + "[columns.age]\nbounds = [18, 65]\n", data);
  EXPECT_EQ(column_of(narrow, "age", 0).lower, 18);
  EXPECT_THROW((void)parse_study(asks + "[columns.age]\nbounds = [0, 101]\n", data), StudyError);
  // where the curator gave none, the analyst's are as safe as any
  EXPECT_EQ(column_of(parse_study(asks + "[columns.age]\nbounds = [0, 101]\n",
                                  parse_data_file(people, "/")),
                      "age", 0)
                .upper,
            101);
}

TEST(DataFiles, DeclaredColumnsArePartOfTheRequestId) {
  const std::string before = parse_study(asks, parse_data_file(people, "/")).declared;
  EXPECT_EQ(parse_study(asks, parse_data_file("# a comment\n" + people, "/")).declared, before);
  EXPECT_NE(parse_study(asks, parse_data_file(people + "bounds = [0, 100]\n", "/")).declared,
            before);
}

TEST(DataFiles, AUsersConfigurationNamesTheCatalogue) {
  EXPECT_EQ(catalogue_in("catalogue = \"/srv/data\"\n", "/home/a/.config/sotto"), "/srv/data");
  EXPECT_EQ(catalogue_in("catalogue = \"data\"\n", "/home/a/.config/sotto"),
            "/home/a/.config/sotto/data");
  EXPECT_TRUE(catalogue_in("", "/").empty());
  EXPECT_THROW((void)catalogue_in("catalog = \"x\"\n", "/"), StudyError);
}

// A one-file study is answered with the two files it becomes, and these are good.
TEST(DataFiles, AStudyWithItsDataIsShownAsTheTwoFilesThatItBecomes) {
  const std::string one =
      "title = \"T\"\n[data]\nname = \"people\"\nversion = \"1\"\nsource = \"../hr/p.csv\"\nunit = "
      "\"person\"\nrows = 3\n[columns.person]\ntype = "
      "\"integer\"\nnull = \"drop\"\n[columns.old]\ntype = \"boolean\"\nderive = \"person > "
      "5\"\nnull = \"drop\"\n[budget]\nledger = "
      "\"mine.sotto\"\nepsilon = 1\n[[query]]\nname = \"n\"\nask = \"count\"\n";
  const TwoFiles files = split_study(one);
  const std::string said = message([&] { (void)data_of(one); });
  EXPECT_NE(said.find(files.data), std::string::npos);
  EXPECT_NE(said.find(files.study), std::string::npos);
  EXPECT_EQ(data_of(files.study), "people");
  const DataFile data = parse_data_file(files.data, "/c");
  EXPECT_EQ(data.ledger, "/c/mine.sotto");
  const Study study = parse_study(files.study, data);
  EXPECT_EQ(study.queries.at(0).rows, 3);
  EXPECT_EQ(study.columns.size(), 2U);
}

DataFile drafted(const std::vector<StudyColumn>& columns, const std::string& unit) {
  DataFile data;
  data.name = "d";
  data.version = "1";
  data.source = FileSource{"/srv/d.csv", "", "lines", {"NA", "a \"quoted\" one"}};
  data.unit = unit;
  data.unit_label = unit;
  data.ledger = "d.sotto";
  data.columns = columns;
  return data;
}

StudyColumn column(const std::string& name, Type type) {
  StudyColumn made;
  made.name = name;
  made.type = type;
  return made;
}

TEST(Drafts, ADataFileReadsBackAsItWasMeant) {
  StudyColumn bounded = column("how \"much\"", Type::real);
  bounded.lower = -1.5;
  bounded.upper = 1e6;
  bounded.if_null = 0.25;
  StudyColumn listed = column("ä.b", Type::text);
  listed.values = {std::string("x"), std::string("y\t")};
  const DataFile data = drafted({column("id", Type::integer), bounded, listed,
                                 column("yes", Type::boolean), column("day", Type::date)},
                                "id");
  const DataFile read = parse_data_file(draft_data_file(data), "/c");
  ASSERT_EQ(read.columns.size(), data.columns.size());
  for (std::size_t i = 0; i < read.columns.size(); ++i) {
    EXPECT_EQ(read.columns[i].name, data.columns[i].name);
    EXPECT_EQ(read.columns[i].type, data.columns[i].type);
    EXPECT_EQ(read.columns[i].if_null, data.columns[i].if_null);
    EXPECT_EQ(read.columns[i].lower, data.columns[i].lower);
    EXPECT_EQ(read.columns[i].upper, data.columns[i].upper);
    if (data.columns[i].type == Type::boolean) continue;  // whose values are known
    EXPECT_EQ(read.columns[i].values, data.columns[i].values);
  }
  EXPECT_EQ(std::get<FileSource>(read.source).null_text,
            std::get<FileSource>(data.source).null_text);
  EXPECT_EQ(read.unit, "id");
  EXPECT_EQ(read.ledger, "/c/d.sotto");
}

// Whatever the data are like and whichever budget they have, the draft of a study can be designed
// as it is.
TEST(Drafts, AStudyCanBeRunAsItIs) {
  StudyColumn bounded = column("v", Type::real);
  bounded.lower = 0;
  bounded.upper = 10;
  const std::vector<std::vector<StudyColumn>> tables{
      {column("id", Type::integer)},
      {column("id", Type::integer), bounded, column("place", Type::text),
       column("yes", Type::boolean)},
      {column("id", Type::integer), column("w", Type::integer), column("when", Type::timestamp)},
      {column("id", Type::text), column("a \"b\"", Type::text), column("x.y", Type::real)},
  };
  for (const auto& columns : tables) {
    for (const char* unit : {"row", "id"}) {
      const DataFile data = parse_data_file(draft_data_file(drafted(columns, unit)), "/");
      for (const Budget& budget : std::vector<Budget>{
               ApproximateBudget{2, 0}, ApproximateBudget{2, 1e-6}, ZcdpBudget{0.5, 0},
               ZcdpBudget{0.5, 1e-6}, GdpBudget{1}, GdpBudget{0.6, 1e-7}}) {
        const std::string unchosen = draft_study(data, budget);
        if (data.unit != "row") {
          EXPECT_THROW(require_limits(parse_study(unchosen, data)), LimitNotChosen) << unchosen;
        }
        const std::string text = draft_study(data, budget, {.rows = 3, .groups = 2, .words = ""});
        SCOPED_TRACE(text);
        const Study study = parse_study(text, data);
        require_limits(study);
        const Design found = make_design(study, {"d", unit, Relation::add_remove, budget});
        EXPECT_TRUE(Filter(budget, Relation::add_remove).admit(found.plan, found.at).admitted);
      }
    }
  }
}

}  // namespace
}  // namespace sotto
