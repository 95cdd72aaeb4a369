// A catalogue, its ledgers and its answers as pages, and that making them changes no file.
#include "report/api/site.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>

#include "data/api/inspect.hpp"
#include "report/api/catalogue.hpp"
#include "report/api/study.hpp"
#include "sotto/plan/text.hpp"
#include "study/api/run.hpp"

namespace sotto {
namespace {

namespace fs = std::filesystem;

bool mentions(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// A table of a thousand rows.
class Thousand : public Engine {
 public:
  [[nodiscard]] Dialect dialect() const override { return Dialect::duckdb; }
  [[nodiscard]] std::string table() const override { return "people"; }
  [[nodiscard]] std::int64_t memory() const override { return 0; }
  Rows query(const std::string& /*sql*/, const Progress& /*progress*/) override {
    return {1, {std::int64_t{1000}}};
  }
};

std::string verify_words(const std::string& place, const Head& head) {
  return "verify " + place + " " + head.hash;
}

class Site : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "sotto-site-XXXXXX").string();
    folder = mkdtemp(name.data());
    catalogue = Catalogue(folder);
    std::ofstream(folder / "p.csv") << "v\n1\n";
    write("people", data);
    (void)Ledger::create(place(), {"people", "row", Relation::add_remove, ZcdpBudget{0.5, 0}, "row",
                                   identity(catalogue.find("people").source)});
  }
  void TearDown() override { fs::remove_all(folder); }

  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder / (name + ".data.toml")) << text;
  }
  [[nodiscard]] std::string place() const { return (folder / "people.sotto").string(); }
  void charge(const std::string& request, const std::string& title = "") const {
    (void)Ledger::open(place()).charge(
        {{.request = request, .content = "", .event = parse("gaussian(50)"), .title = title}});
  }
  sotto::RunResult go(bool again = false) const {
    const Study study = parse_study(count, catalogue.find("people"));
    Ledger ledger = Ledger::open(place());
    return run(study, make_design(study, ledger.terms()), ledger,
               [] { return std::make_unique<Thousand>(); }, {.again = again});
  }
  [[nodiscard]] std::optional<SitePage> page(const std::string& path,
                                             const std::string& query = "") const {
    return site().page(path, query);
  }
  [[nodiscard]] std::string body(const std::string& path, const std::string& query = "") const {
    const auto result = page(path, query);
    EXPECT_TRUE(result && !result->failed) << path << " " << (result ? result->body : "nothing");
    return result ? result->body : "";
  }
  [[nodiscard]] CatalogueSite site() const { return {catalogue, {"9.9", verify_words}}; }

  const std::string data =
      "name = \"people\"\nversion = \"1\"\nsource = \"p.csv\"\nunit = \"row\"\nledger = "
      "\"people.sotto\"\n[columns.v]\ntype = \"real\"\nnull = "
      "\"drop\"\nbounds = [0, 10]\n";
  const std::string count =
      "title = \"How <many> & \\\"who\\\"\"\ndata = \"people\"\n[budget]\nrho = "
      "0.1\n[[query]]\nname = \"n\"\nask = \"count\"\n";
  fs::path folder;
  Catalogue catalogue{""};
};

TEST_F(Site, TheCatalogueShowsRemainingBudgetsAndReadErrors) {
  charge("first");
  write("open",
        "name = \"open\"\nversion = \"7\"\nsource = \"p.csv\"\npublic = true\n[columns.v]\ntype = "
        "\"real\"\nnull = \"drop\"\nbounds = [0, 1]\n");
  write("torn", "name = \"torn\"\nversion = <b>\n");
  write("lost",
        "name = \"lost\"\nversion = \"1\"\nsource = \"p.csv\"\nunit = \"row\"\nledger = "
        "\"no.sotto\"\n[columns.v]\ntype = \"real\"\nnull = "
        "\"drop\"\nbounds = [0, 1]\n");
  const std::string text = body("/");
  EXPECT_TRUE(mentions(text, "<a href=\"data/people/\">people</a>")) << text;
  EXPECT_TRUE(mentions(text, "protects each row, add-remove, budget zcdp(0.5, 0)") &&
              mentions(text, "1 charge, the last "))
      << text;
  EXPECT_TRUE(mentions(text, "spent 0.04 % (0.0002)") &&
              mentions(text, "left 99.9 % of ε = 5.222 at δ = 1e-06 (rho 0.4998"))
      << text;
  EXPECT_TRUE(mentions(text, "version 7, public: nobody is protected")) << text;
  EXPECT_FALSE(mentions(text, "data/open/") || page("/data/open/")) << text;
  EXPECT_TRUE(mentions(text, "torn.data.toml: line 2")) << text;
  EXPECT_TRUE(mentions(text, "there is no ledger " + (folder / "no.sotto").string())) << text;
  EXPECT_FALSE(mentions(text, "<script")) << text;
}

TEST_F(Site, ALedgerPagesItsEntriesNewestFirst) {
  EXPECT_TRUE(mentions(body("/data/people/"), "Nothing was charged yet."));
  std::vector<Ledger::ChargeRequest> orders;
  for (std::size_t i = 1; i <= entries_a_page + 5; ++i)
    orders.push_back(
        {.request = "r" + std::to_string(i), .content = "", .event = parse("gaussian(50)")});
  (void)Ledger::open(place()).charge(orders);
  const std::string first = body("/data/people/");
  EXPECT_TRUE(mentions(first, "205 charges") && mentions(first, "<code>r205</code>") &&
              mentions(first, "<code>r6</code>"))
      << first;
  EXPECT_FALSE(mentions(first, "<code>r5</code>"));
  EXPECT_LT(first.find("<code>r205</code>"), first.find("<code>r204</code>"));
  EXPECT_TRUE(mentions(first, "href=\"?before=6\"")) << first;
  const std::string rest = body("/data/people/", "before=6");
  EXPECT_TRUE(mentions(rest, "<code>r5</code>") && mentions(rest, "<code>r1</code>"));
  EXPECT_FALSE(mentions(rest, "<code>r6</code>") || mentions(rest, "?before="));
  EXPECT_TRUE(mentions(body("/data/people/", "before=1"), "There are no older ones."));
  EXPECT_TRUE(mentions(body("/data/people/", "before=9223372036854775807"), "<code>r205</code>"));
  EXPECT_TRUE(mentions(first, "<svg") && mentions(first, "Sound:") &&
              mentions(first, "verify " + place()))
      << first;
}

TEST_F(Site, TheNextPageShowsANewCharge) {
  const CatalogueSite open = site();
  EXPECT_TRUE(mentions(open.page("/", "")->body, "no charges"));
  charge("first");
  EXPECT_TRUE(mentions(open.page("/", "")->body, "1 charge"));
  EXPECT_TRUE(mentions(open.page("/data/people/", "")->body, "<code>first</code>"));
}

TEST_F(Site, UntrustedTextIsEscaped) {
  charge("<script>alert(1)</script>", "</title><img src=x onerror=alert(1)>\" ' &");
  for (const char* path : {"/", "/data/people/"}) {
    const std::string text = body(path);
    EXPECT_FALSE(mentions(text, "<script") || mentions(text, "<img") ||
                 mentions(text, "onerror=alert(1)>"))
        << text;
  }
  EXPECT_TRUE(
      mentions(body("/data/people/"), "&lt;img src=x onerror=alert(1)&gt;&quot; &#39; &amp;"));
}

TEST_F(Site, AStoredAnswerGivesTheReportOfItsRun) {
  const sotto::RunResult run = go();
  const Study study = parse_study(count, catalogue.find("people"));
  const Ledger ledger = Ledger::open(place());
  const Design charged = make_design(study, ledger.terms());
  const LedgerState state = state_of(ledger);
  EXPECT_TRUE(mentions(body("/data/people/"), "<a href=\"1/\">answered</a>"));
  EXPECT_EQ(
      body("/data/people/1/"),
      study_page(
          {study, charged, run.release, {}, state, verify_words("people", state.head), "9.9"}));
  EXPECT_EQ(body("/data/people/1/answer.json"),
            release_text(run.release, state.head, {}, Format::json));
  EXPECT_EQ(body("/data/people/ledger.json"), ledger_text(state, Format::json));
  EXPECT_EQ(page("/data/people/ledger.json")->type, "application/json");
  // A second charge of a study leads to the same study.
  const sotto::RunResult second = go(true);
  ASSERT_TRUE(second.release.request.ends_with("/2"));
  const std::string again = body("/data/people/4/");
  EXPECT_TRUE(mentions(again, "What it cost, and why") && mentions(again, second.release.request))
      << again;
}

TEST_F(Site, AnAnswerIsShownAloneIfItsDataFileChanged) {
  (void)go();
  std::string other = data;
  other.replace(other.find("[0, 10]"), 7, "[0, 20]");
  write("people", other);
  const std::string text = body("/data/people/1/");
  EXPECT_TRUE(mentions(text, "These are the answers as they were kept.") &&
              mentions(text, "How many rows."))
      << text;
  EXPECT_TRUE(mentions(text, "How &lt;many&gt; &amp; &quot;who&quot;") &&
              mentions(text, "For the record"))
      << text;
  EXPECT_FALSE(mentions(text, "What it cost, and why")) << text;
  EXPECT_TRUE(mentions(text, "verify people "));
  EXPECT_FALSE(mentions(text, folder.string())) << "a report names no place";
}

TEST_F(Site, AnAnswerOfAnotherProgramIsShownUnchanged) {
  Ledger ledger = Ledger::open(place());
  for (const char* request : {"text", "json"}) {
    (void)ledger.charge(request, "", parse("gaussian(50)"));
    ledger.begin(request);
  }
  ledger.keep_answer("text", "forty-two <b>\n");
  ledger.keep_answer("json", "{\"answer\": 42}");
  EXPECT_TRUE(mentions(body("/data/people/1/"), "forty-two &lt;b&gt;"));
  EXPECT_FALSE(page("/data/people/1/answer.json", ""));
  EXPECT_EQ(body("/data/people/3/answer.json"), "{\"answer\": 42}");
}

TEST_F(Site, AnUnknownAddressHasNoPage) {
  charge("first");
  for (const char* path : {"",
                           "/x",
                           "//",
                           "/data",
                           "/data/",
                           "/data/people",
                           "/data/people/0/",
                           "/data/people/2/",
                           "/data/people/1/",
                           "/data/people/01/",
                           "/data/people/+1/",
                           "/data/people/-1/",
                           "/data/people/1",
                           "/data/people/1/x",
                           "/data/people/1/answer.json",
                           "/data/people/1/answer.json/",
                           "/data/people/x.json",
                           "/data/people//",
                           "/data//people/",
                           "//data/people/",
                           "/data/./people/",
                           "/data/../data/people/",
                           "/data/../people.sotto",
                           "/data/../../etc/passwd/",
                           "/data/people.sotto/",
                           "/data/people.key/",
                           "/data/..%2fpeople/",
                           "/data/%70eople/",
                           "/data/PEOPLE/",
                           "/data/people/99999999999999999999/",
                           "/data/people/ledger.json/",
                           "/data/people.data.toml/",
                           "/data/nobody/"}) {
    EXPECT_FALSE(page(path)) << path;
  }
  for (const char* query :
       {"x", "before", "before=", "before=0", "before=-1", "before=1x", "before=1&before=2",
        "before=%31", "Before=1", "before=99999999999999999999"}) {
    EXPECT_FALSE(page("/data/people/", query)) << query;
    EXPECT_FALSE(page("/data/people/ledger.json", "before=1")) << query;
    EXPECT_FALSE(page("/", query)) << query;
  }
}

TEST_F(Site, AWitnessCommandIsNotShown) {
  const auto with = [this](const std::string& witness) {
    std::string other = data;
    write("people", other.insert(other.find("[columns"), "witness = \"" + witness + "\"\n"));
    return body("/data/people/");
  };
  EXPECT_TRUE(mentions(with("heads.log"), "heads.log, which is asked at each charge"));
  const std::string text = with("|curl -H secret https://elsewhere");
  EXPECT_TRUE(mentions(text, "a command, which is asked") && !mentions(text, "secret")) << text;
}

// The bytes and the modification time of each file of the folder.
std::map<std::string, std::pair<std::string, fs::file_time_type>> files_of(const fs::path& folder) {
  std::map<std::string, std::pair<std::string, fs::file_time_type>> files;
  for (const auto& entry : fs::directory_iterator(folder)) {
    std::ifstream in(entry.path(), std::ios::binary);
    files[entry.path().filename()] = {std::string(std::istreambuf_iterator<char>(in), {}),
                                      entry.last_write_time()};
  }
  return files;
}

TEST_F(Site, PagesNeedNoKeyAndNoDataAndChangeNoFile) {
  (void)go();
  charge("other");
  fs::remove(default_key(place()));
  fs::remove(folder / "p.csv");
  const auto before = files_of(folder);
  for (const char* path : {"/", "/data/people/", "/data/people/1/", "/data/people/1/answer.json",
                           "/data/people/ledger.json"})
    (void)body(path);
  EXPECT_EQ(files_of(folder), before);
  EXPECT_TRUE(mentions(body("/data/people/"), "Sound:"));
}

TEST_F(Site, LedgersAreOpenedReadOnly) {
  Ledger ledger = open_to_read(catalogue.find("people"));
  EXPECT_THROW((void)ledger.charge("first", "", parse("gaussian(50)")), LedgerError);
  EXPECT_TRUE(ledger.entries().empty());
}

TEST_F(Site, AnAlteredLedgerIsNotShown) {
  charge("first", "a title");
  charge("second");
  std::fstream file(place(), std::ios::in | std::ios::out | std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  file.seekp(static_cast<std::streamoff>(bytes.find("a title")));
  file << "another";
  file.close();
  const auto result = page("/data/people/");
  ASSERT_TRUE(result && result->failed);
  EXPECT_TRUE(mentions(result->body, "is broken: entry 1 was changed")) << result->body;
  EXPECT_FALSE(mentions(result->body, "Sound:"));
}

TEST_F(Site, AnUnreadableLedgerGivesTheReason) {
  std::ofstream(place(), std::ios::binary) << "no ledger";
  const auto result = page("/data/people/");
  ASSERT_TRUE(result && result->failed);
  EXPECT_TRUE(mentions(result->body, "is not a ledger; it was left as it was")) << result->body;
}

}  // namespace
}  // namespace sotto
