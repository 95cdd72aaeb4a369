// The page of a study: its sections and drawings, and that all text in it is escaped.
#include <gtest/gtest.h>

#include <limits>
#include <regex>
#include <string>

#include "../../../support/number.hpp"
#include "../../../support/one_text.hpp"
#include "report/api/study.hpp"
#include "sotto/plan/text.hpp"
#include "study/api/design.hpp"

namespace sotto {
namespace {

constexpr const char* studied = R"(
title = "Visits & more"
[data]
name = "visits"
version = "2025"
source = "visits.csv"
unit = "person"
public_rows = 1000
[columns.person]
type = "integer"
null = "drop"
[columns.region]
type = "text"
null = { value = "north" }
values = ["north", "south"]
[columns.income]
type = "real"
null = "drop"
bounds = [0, 100]
[budget]
epsilon = 4
delta = 1e-5
[[query]]
name = "people"
ask = "distinct"
by = ["region"]
[[query]]
name = "income"
ask = "mean"
of = "income"
[[query]]
name = "all income"
ask = "sum"
of = "income"
)";

// A study with hand-written answers.
struct Fixture {
  Study study;
  Terms terms{"visits", "person", Relation::add_remove, ApproximateBudget{8, 1e-4}};
  Design design;
  Release release;
  PublicAnswers beside;
  LedgerState ledger;

  explicit Fixture(const std::string& text = studied)
      : study(study_in(text)), design(sotto::make_design(study, terms)), ledger(state()) {
    release = {"the-request",
               "2026-01-01T00:00:00Z",
               study.title,
               study.data_name,
               study.data_version,
               "the-ledger",
               study.unit,
               "add-remove",
               0.95,
               print(design.plan),
               design.cost,
               1e-5,
               4,
               1e-5,
               study.text,
               {}};
    for (const Query& query : study.queries)
      release.answers.push_back({query.name, query.ask, query.of, query.by, query.where, "", {}});
    release.answers[0].estimates = {group({"north"}, 50, 25, 75), group({"south"}, 100, 90, 110)};
    for (std::size_t i = 1; i < study.queries.size(); ++i)
      release.answers[i].estimates = {group({}, 12345.6, 12340.6, 12350.6)};
  }

  static Estimate group(std::vector<std::string> keys, double value, double low, double high) {
    return {std::move(keys), std::nullopt, std::nullopt, std::nullopt, value, low, high};
  }

  LedgerState state() {
    Filter filter(terms.budget, terms.relation);
    const Charge cost = filter.admit(design.plan, design.at).cost;
    return {"the-ledger",
            "2026-01-01T00:00:00Z",
            terms,
            filter,
            {{1, "2026-01-01T00:00:10Z", "the-request", "c", print(design.plan), cost, "h"}},
            {1, "abc"},
            filter.claim(Delta(1e-4)),
            4.0};
  }

  [[nodiscard]] std::string page() const {
    const std::string check =
        "ledger verify <it> --head " + std::to_string(ledger.head.number) + ":" + ledger.head.hash;
    return study_page({study, design, release, beside, ledger, check, "9.8.7"});
  }
};

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos;
       at = text.find(part, at + part.size()))
    ++count;
  return count;
}

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(StudyPage, HasEverySection) {
  const std::string page = Fixture().page();
  for (const char* id :
       {"answers", "protection", "cost", "budget", "derivation", "data", "record"}) {
    EXPECT_EQ(count_of(page, "<section id=\"" + std::string(id) + "\">"), 1U) << id;
  }
  for (const char* part : {"<h1>Visits &amp; more</h1>", "the-request", "the-ledger",
                           "<pre>ledger verify &lt;it&gt; --head 1:abc</pre>", "9.8.7", "2025",
                           "data = &quot;visits&quot;", "1,000 rows", "counts in at most 1 group",
                           "read as north", "row left out", "0 to 100"}) {
    EXPECT_TRUE(holds(page, part)) << part;
  }
}

TEST(StudyPage, NeedsNoScriptAndNoOtherFile) {
  const std::string page = Fixture().page();
  EXPECT_FALSE(holds(page, "<script"));
  EXPECT_FALSE(holds(page, "src="));
  EXPECT_FALSE(holds(page, "<link"));
  EXPECT_FALSE(holds(page, "@import"));
  EXPECT_EQ(count_of(page, "http"), count_of(page, "xmlns=\"http://www.w3.org/2000/svg\""));
}

TEST(StudyPage, ListsOnlyTheColumnsThatTheStudyReads) {
  std::string text = studied;
  const std::string more =
      "[columns.\"39, State-gov\"]\ntype = \"text\"\nnull = \"drop\"\nvalues = [\"a person\"]\n";
  const std::string filtered =
      "[columns.age]\ntype = \"integer\"\nnull = \"drop\"\n[columns.born]\ntype = "
      "\"integer\"\nnull = \"drop\"\n";
  const std::string derived =
      "[columns.old]\ntype = \"boolean\"\nderive = \"born < 1950\"\nnull = \"drop\"\n";
  text.replace(text.find("[columns.region]"), 0, more + filtered + derived);
  text += "where = \"age >= 65\"\nby = [\"old\"]\n";
  const std::string page = Fixture(text).page();
  EXPECT_FALSE(holds(page, "State-gov"));
  EXPECT_FALSE(holds(page, "a person"));
  const std::string table = page.substr(page.find("<section id=\"data\">"));
  for (const char* used : {"<td>person</td>", "<td>region</td>", "<td>income</td>", "<td>age</td>",
                           "<td>born</td>", "<td>old</td>"}) {
    EXPECT_TRUE(holds(table, used)) << used;
  }
}

TEST(StudyPage, HasADateAndThePublisherIfThereIsOne) {
  Fixture fixture;
  EXPECT_TRUE(holds(fixture.page(), "id=\"byline\">Answered on 2026-01-01.<"));
  EXPECT_FALSE(holds(fixture.page(), "Published"));
  fixture.study.publisher = "Office <of> Statistics";
  EXPECT_TRUE(
      holds(fixture.page(),
            "id=\"byline\">Published by Office &lt;of&gt; Statistics. Answered on 2026-01-01.<"));
  const std::string stored =
      stored_answer_page({fixture.release, fixture.ledger, "", "check", "9.8.7", "Office"});
  EXPECT_TRUE(holds(stored, "Published by Office. Answered on 2026-01-01."));
}

TEST(StudyPage, EscapesAllNames) {
  std::string text = studied;
  const std::string evil = "<script>alert('&')</script>";
  for (const char* name : {"Visits & more", "name = \"people\"", "name = \"income\""}) {
    const std::size_t at = text.find(name);
    ASSERT_NE(at, std::string::npos);
    text.replace(at, std::string(name).size(),
                 name[0] == 'V' ? evil : "name = \"" + evil + std::to_string(at) + "\"");
  }
  text.replace(text.find("\"south\""), 7, "\"" + evil + "\"");
  Fixture fixture(text);
  fixture.release.answers[0].estimates[1].keys = {evil};
  fixture.release.answers[0].where = evil;
  fixture.release.answers[0].by = {evil};
  fixture.release.data_version = evil;
  fixture.beside = {fixture.release.answers, fixture.release.answers};
  fixture.ledger.terms.name = evil;
  const std::string page = study_page(
      {fixture.study, fixture.design, fixture.release, fixture.beside, fixture.ledger, evil, evil});
  EXPECT_FALSE(holds(page, "<script"));
  EXPECT_GE(count_of(page, "&lt;script&gt;"), 10U);

  // Two keys, bins and several quantiles each have separate headings.
  QueryAnswer& a = fixture.release.answers[0];
  for (Estimate& e : a.estimates) e.keys = {evil, evil};
  EXPECT_FALSE(holds(fixture.page(), "<script"));
  for (Estimate& e : a.estimates) e.quantile = e.value / 200;
  EXPECT_FALSE(holds(fixture.page(), "<script"));
  a.ask = Aggregation::histogram;
  for (Estimate& e : a.estimates) e.from = e.to = 1;
  EXPECT_FALSE(holds(fixture.page(), "<script"));
}

TEST(StudyPage, DrawsValueAndIntervalOnOneScale) {
  const std::string page = Fixture().page();
  // the axis goes from 0 to 120: 25, 50 and 75 of it
  EXPECT_TRUE(
      holds(page, "<line class=\"whisker\" x1=\"20.83%\" y1=\"13\" x2=\"62.5%\" y2=\"13\"/>"));
  EXPECT_TRUE(holds(page, "<rect class=\"bar\" x=\"0%\" y=\"6\" width=\"41.67%\" height=\"14\"/>"));
  EXPECT_TRUE(holds(page, "<circle class=\"dot\" cx=\"41.67%\""));
}

TEST(StudyPage, DrawsOneFourAndFiftyGroups) {
  for (const std::size_t groups : {1U, 4U, 50U}) {
    Fixture fixture;
    fixture.release.answers.resize(1);
    auto& estimates = fixture.release.answers[0].estimates;
    estimates.clear();
    for (std::size_t i = 0; i < groups; ++i) {
      const auto size = static_cast<double>(i * 1000);
      estimates.push_back(
          Fixture::group({"group " + std::to_string(i)}, size, size - 30, size + 30));
    }
    const std::string page = fixture.page();
    const std::string answers =
        page.substr(page.find("<table class=\"estimates\">"),
                    page.find("</table>") - page.find("<table class=\"estimates\">"));
    EXPECT_EQ(count_of(answers, "<th scope=\"row\""), groups);
    EXPECT_EQ(count_of(answers, "class=\"whisker\""), 3 * groups);
    EXPECT_EQ(count_of(answers, "class=\"dot\""), groups);
    EXPECT_EQ(count_of(answers, "class=\"exact\""), 0U);
  }
}

TEST(StudyPage, DrawsInfiniteIntervalsUpToTheEdge) {
  Fixture fixture;
  const double infinity = std::numeric_limits<double>::infinity();
  fixture.release.answers[0].estimates[0] = Fixture::group({"north"}, 50, -infinity, infinity);
  const std::string page = fixture.page();
  EXPECT_TRUE(holds(page, "<line class=\"whisker\" x1=\"-1%\" y1=\"13\" x2=\"101%\" y2=\"13\"/>"));
  EXPECT_FALSE(holds(page, "nan%"));
  EXPECT_FALSE(holds(page, "inf%"));
}

TEST(StudyPage, ShowsASingleNumberLarge) {
  const std::string page = Fixture().page();
  EXPECT_TRUE(holds(page, "<p class=\"big\">12,346 <small>± 5</small></p>"))
      << page.substr(page.find("class=\"big\""), 80);
}

TEST(StudyPage, DrawsAHistogramWithItsTable) {
  Fixture fixture;
  QueryAnswer& a = fixture.release.answers[1];
  a.ask = Aggregation::histogram;
  a.estimates.clear();
  for (int i = 0; i < 12; ++i) {
    Estimate e = Fixture::group({}, 10.0 * i, 10.0 * i - 3, 10.0 * i + 3);
    e.from = 5.0 * i;
    e.to = 5.0 * i + 5;
    a.estimates.push_back(e);
  }
  const std::string page = fixture.page();
  const std::size_t start = page.find("<div class=\"histogram\">");
  ASSERT_NE(start, std::string::npos);
  const std::string picture = page.substr(start, page.find("</div>", start) - start);
  EXPECT_EQ(count_of(picture, "class=\"bar\""), 12U);
  EXPECT_EQ(count_of(picture, "class=\"whisker\""), 36U);
  EXPECT_TRUE(holds(page, "<th scope=\"row\">below 5</th>"));
  EXPECT_TRUE(holds(page, "<th scope=\"row\">50 to 55</th>"));
  EXPECT_TRUE(holds(page, "<th scope=\"row\">55 and more</th>"));
}

TEST(StudyPage, NamesQuantilesInWords) {
  Fixture fixture;
  QueryAnswer& a = fixture.release.answers[1];
  a.ask = Aggregation::quantiles;
  a.estimates = {Fixture::group({}, 20, 19, 21), Fixture::group({}, 50, 49, 51)};
  a.estimates[0].quantile = 0.25;
  a.estimates[1].quantile = 0.5;
  const std::string page = fixture.page();
  EXPECT_TRUE(holds(page, "25 % are below"));
  EXPECT_TRUE(holds(page, "median"));
}

TEST(StudyPage, NamesTheGroupsOfOneQuantileByTheirKeys) {
  Fixture fixture;
  QueryAnswer& a = fixture.release.answers[0];
  a.ask = Aggregation::quantiles;
  a.of = "income";
  for (Estimate& e : a.estimates) e.quantile = 0.5;
  const std::string page = fixture.page();
  EXPECT_TRUE(holds(page, "The median of income, for each region."));
  EXPECT_TRUE(holds(page, "class=\"short\">south</th>"));
  EXPECT_FALSE(holds(page, "class=\"part\""));
}

TEST(StudyPage, ShowsExactNumbersForPublicDataOnly) {
  Fixture fixture;
  EXPECT_FALSE(holds(fixture.page(), "class=\"exact\""));
  EXPECT_FALSE(holds(fixture.page(), "in the data, of which"));
  fixture.beside = {fixture.release.answers, fixture.release.answers};
  fixture.beside.without_noise[0].estimates[0].value = 48;
  fixture.beside.in_the_data[0].estimates[0].value = 40;
  fixture.beside.in_the_data[1].estimates[0].value = std::numeric_limits<double>::quiet_NaN();
  const std::string page = fixture.page();
  EXPECT_TRUE(holds(page,
                    "<td data-of=\"without noise\">48</td><td data-of=\"in the data\">40</td><td "
                    "data-of=\"error\">25.00 %</td>"));
  EXPECT_TRUE(holds(page, "In the data: —, an error of —."));
  EXPECT_FALSE(holds(page, "nan"));
  EXPECT_TRUE(holds(page, "said that the data are public"));
  EXPECT_GE(count_of(page, "class=\"exact\""), 2U);
}

TEST(StudyPage, EqualLookingNumbersHaveAnErrorBelowTheirLastDigit) {
  Fixture fixture;
  Estimate& e = fixture.release.answers[0].estimates[0];
  e.value = 813.3;
  e.low = 800;
  e.high = 826;
  fixture.beside = {fixture.release.answers, fixture.release.answers};
  fixture.beside.in_the_data[0].estimates[0].value = 813;
  EXPECT_TRUE(holds(fixture.page(),
                    "<td data-of=\"in the data\">813</td><td data-of=\"error\">below 0.13 %</td>"));
  fixture.beside.in_the_data[0].estimates[0].value = 813.3;
  EXPECT_TRUE(holds(fixture.page(), "<td data-of=\"error\">0.00 %</td>"));
}

TEST(StudyPage, ExplainsLimitsAndIntervalsBelowEachAnswer) {
  Fixture fixture;
  QueryAnswer& a = fixture.release.answers[0];
  a.cuts = {"at most 20 rows of each host", "values above 5 count as 5"};
  EXPECT_TRUE(holds(fixture.page(),
                    "What counts: at most 20 rows of each host; values above 5 count as 5."));
  EXPECT_FALSE(holds(fixture.page(), "outside its interval"));
  a.estimates[0].value = -16;
  a.estimates[0].low = 0;
  EXPECT_TRUE(holds(fixture.page(), "An answer outside its interval cannot be the number itself"));
  while (a.estimates.size() < 61) a.estimates.push_back(a.estimates[1]);
  EXPECT_TRUE(holds(fixture.page(),
                    "Of 61 intervals of 95 % about 3 will not hold the number without noise."));
}

TEST(ReleaseText, OmitsExactNumbersOfOtherGroups) {
  Fixture fixture;
  fixture.beside = {fixture.release.answers, fixture.release.answers};
  const Head head{1, "abc"};
  EXPECT_TRUE(
      holds(release_text(fixture.release, head, fixture.beside, Format::table), "in the data"));
  fixture.beside.in_the_data[0].estimates.pop_back();
  for (const Format format : {Format::table, Format::csv, Format::json}) {
    EXPECT_FALSE(holds(release_text(fixture.release, head, fixture.beside, format),
                       format == Format::table ? "in the data" : "in_the_data"));
  }
}

TEST(StudyPage, CallsTheUnitByItsLabel) {
  Fixture fixture;
  fixture.study.unit_label = "patient";
  const std::string page = fixture.page();
  EXPECT_TRUE(holds(page, "and protects each patient with all of their rows"));
  EXPECT_TRUE(holds(page, "How many, each patient counted once"));
  EXPECT_TRUE(holds(page, "whether a certain patient is in the data"));
  EXPECT_TRUE(holds(page, "the same value of the column person"));
}

TEST(StudyPage, FoldsTheSectionsForSpecialists) {
  const std::string page = Fixture().page();
  for (const char* id : {"cost", "derivation", "data", "record"})
    EXPECT_TRUE(holds(page, "<section id=\"" + std::string(id) + "\">\n<details")) << id;
  for (const char* id : {"answers", "protection", "budget"})
    EXPECT_FALSE(holds(page, "<section id=\"" + std::string(id) + "\">\n<details")) << id;
}

// The labels of long numbers do not overlap at the width of a picture on a telephone.
TEST(StudyPage, LabelsOfAnAxisDoNotOverlap) {
  Fixture fixture;
  QueryAnswer& a = fixture.release.answers[0];
  for (const double size : {1.0, 1e3, 5e5, 1.3e8, 1.7e12}) {
    a.estimates = {Fixture::group({"north"}, 3.9 * size, 3.8 * size, 4 * size),
                   Fixture::group({"south"}, -1 * size, -1.2 * size, -0.8 * size)};
    const std::string page = fixture.page();
    const std::size_t start = page.find("<tr aria-hidden=\"true\">");
    const std::string axis = page.substr(start, page.find("</tr>", start) - start);
    const std::regex label("<text x=\"([0-9.]+)%\"[^>]*>([^<]*)<");
    double end = -100;
    int labels = 0;
    for (auto at = std::sregex_iterator(axis.begin(), axis.end(), label);
         at != std::sregex_iterator(); ++at, ++labels) {
      const double middle = 3.2 * number_in((*at)[1]);
      const double half =
          3.2 * static_cast<double>((*at)[2].length());  // a digit has some 6 pixels; × and raised
                                                         // digits have several bytes
      EXPECT_GT(middle - half, end) << size << " " << axis;
      end = middle + half;
    }
    EXPECT_GE(labels, 2) << axis;
  }
}

TEST(StudyPage, AnImpossibleAnswerDoesNotWidenTheAxis) {
  Fixture fixture;
  QueryAnswer& a = fixture.release.answers[0];
  a.estimates = {Fixture::group({"north"}, 300000, 299900, 300100),
                 Fixture::group({"south"}, -16, 0, 18)};
  const std::string page = fixture.page();
  const std::size_t start = page.find("<tr aria-hidden=\"true\">");
  EXPECT_FALSE(holds(page.substr(start, page.find("</tr>", start) - start), "−"))
      << page.substr(start, 600);
}

TEST(StudyPage, AHugeEpsilonGivesNeitherNanNorInf) {
  for (const double epsilon : {10.0, 50.0, 710.0, 1e6}) {
    Fixture fixture;
    fixture.release.epsilon = epsilon;
    const std::string page = fixture.page();
    EXPECT_FALSE(holds(page, "nan")) << epsilon;
    EXPECT_FALSE(holds(page, "more than inf")) << epsilon;
  }
}

TEST(StudyPage, NamesTheQueriesThatShareAMeasurement) {
  EXPECT_TRUE(holds(Fixture().page(),
                    "“income” and “all income” are read from one measurement, and paid for once."));
}

TEST(StudyPage, ExplainsEpsilonWithNumbersRoundedUp) {
  Fixture fixture;
  fixture.release.epsilon = 1;  // e = 2.71828…
  const std::string page = fixture.page();
  EXPECT_TRUE(holds(page, "is more than 2.72 times as likely because of one person’s data"));
  EXPECT_TRUE(holds(page, "at most 73.2 % of the time"));  // e / (1 + e), and δ
  EXPECT_TRUE(holds(page, "finds at most 2.72 % of those who are"));
}

TEST(StudyPage, WarnsAboutALargeEpsilonAndALargeDelta) {
  const std::string page = Fixture().page();
  EXPECT_TRUE(holds(page, "is large: an attacker"));
  EXPECT_TRUE(holds(page, "is above 1/n²"));
}

TEST(StudyPage, ShowsThePlanOfAnAnswerThatAnotherDesignMeasured) {
  Fixture fixture;
  fixture.release.plan = "3 * laplace(7)";
  fixture.release.delta = 0;
  const std::string page = fixture.page();
  EXPECT_TRUE(holds(page, "another version of sotto"));
  EXPECT_TRUE(holds(page, "<code>3 * laplace(7)</code>"));
  EXPECT_TRUE(holds(page, "<section id=\"derivation\">"));
  EXPECT_FALSE(
      holds(page.substr(page.find("<section id=\"cost\">"),
                        page.find("<section id=\"budget\">") - page.find("<section id=\"cost\">")),
            print(fixture.design.measurements.front().event)));
}

TEST(StudyPage, ExplainsAnAnswerWithoutKeys) {
  Fixture fixture;
  fixture.release.answers[0].estimates.clear();
  EXPECT_TRUE(holds(fixture.page(), "No key had enough units"));
}

TEST(StudyPage, DependsOnlyOnTheRunAndTheLedger) {
  Fixture fixture;
  const std::string first = fixture.page();
  EXPECT_EQ(first, fixture.page());
  Fixture later;
  later.ledger.head = {2, "def"};
  const std::string second = later.page();
  EXPECT_NE(first, second);
  EXPECT_EQ(std::regex_replace(second, std::regex("2:def"), "1:abc"), first);
}

}  // namespace
}  // namespace sotto
