// Charts as SVG, CSV and HTML, checked by parsing the output.
#include "report/api/chart.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "../../../support/number.hpp"
#include "report/api/csv.hpp"
#include "report/api/page.hpp"
#include "report/api/svg.hpp"
#include "sotto/core/errors.hpp"

namespace sotto {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t occurrences = 0;
  for (std::size_t at = text.find(part); at != std::string::npos;
       at = text.find(part, at + part.size()))
    ++occurrences;
  return occurrences;
}

// Returns every piece of text between `open` and the next `close`.
std::vector<std::string> between(const std::string& text, const std::string& open,
                                 const std::string& close) {
  std::vector<std::string> pieces;
  for (std::size_t at = text.find(open); at != std::string::npos; at = text.find(open, at)) {
    at += open.size();
    const std::size_t end = text.find(close, at);
    pieces.push_back(text.substr(at, end - at));
  }
  return pieces;
}

// Returns the labels of the axis "x" or "y".
std::vector<std::string> labels(const std::string& picture, const std::string& axis) {
  std::vector<std::string> result;
  for (const std::string& element :
       between(between(picture, "<g class=\"" + axis + "-ticks\">", "</g>").at(0), "<text",
               "</text>")) {
    result.push_back(element.substr(element.find('>') + 1));
  }
  return result;
}

std::vector<double> values(const std::vector<std::string>& texts) {
  std::vector<double> result;
  for (std::string text : texts) {
    const std::string minus = "\u2212";
    if (text.starts_with(minus)) text.replace(0, minus.size(), "-");
    result.push_back(number_in(text));
  }
  return result;
}

std::string path(const std::string& picture) { return between(picture, "<path d=\"", "\"").at(0); }

// Returns what is wrong with the markup: a tag that is not closed in order, or a bare '<' or '&'.
// Empty if nothing is.
std::string imbalance(const std::string& text) {
  std::vector<std::string> open;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '&' && text.find(';', at) > at + 6) return "bare & at " + text.substr(at, 20);
    if (text[at] != '<') continue;
    const std::size_t end = text.find('>', at);
    if (end == std::string::npos) return "tag without end";
    const std::string tag = text.substr(at + 1, end - at - 1);
    at = end;
    if (tag.starts_with('!') || tag.ends_with('/')) continue;
    if (count(tag, "\"") % 2 != 0 || count(tag, "<") != 0) return "bad attributes in " + tag;
    const std::string name = tag.substr(0, tag.find_first_of(" \n"));
    if (!name.starts_with('/')) {
      open.push_back(name);
    } else if (open.empty() || '/' + open.back() != name) {
      return "<" + name + "> closes " + (open.empty() ? "nothing" : open.back());
    } else {
      open.pop_back();
    }
  }
  return open.empty() ? "" : open.back() + " is not closed";
}

Chart of(std::vector<double> x, std::vector<double> y) {
  return {.id = "plain",
          .title = "Plain",
          .caption = "A line.",
          .series = {{.name = "line", .x = std::move(x), .y = std::move(y)}}};
}

Chart histogram() {
  return {.id = "bars",
          .title = "Bars",
          .series = {
              {.name = "counts", .x = {0, 1, 2, 4}, .y = {3, 5, 1}, .style = Series::Style::bars}}};
}

TEST(Svg, EscapesAllText) {
  Chart chart = of({1, 2}, {1, 2});
  chart.title = "a < b";
  chart.caption = "\"q\" & 'r'";
  chart.x_label = "<x>";
  chart.y_label = "y & z";
  chart.series[0].name = "</svg><script>";
  chart.marks = {{.x = 1, .y = 1, .text = "1 < 2\x01"}};
  const std::string picture = svg(chart);
  EXPECT_EQ(imbalance(picture), "");
  EXPECT_EQ(count(picture, "<script"), 0U);
  EXPECT_EQ(count(picture, "</svg>"), 1U);
  EXPECT_EQ(count(picture, "&lt;/svg&gt;&lt;script&gt;"), 1U);
  EXPECT_EQ(count(picture, "&quot;q&quot; &amp; &#39;r&#39;"), 1U);
  EXPECT_EQ(count(picture, "\x01"), 0U);
}

TEST(Svg, NonFinitePointsBreakTheLine) {
  EXPECT_EQ(count(path(svg(of({1, 2, 3, 4, 5}, {1, 2, 3, 4, 5}))), "M"), 1U);
  for (const double hole : {infinity, -infinity, nan}) {
    const std::string broken = path(svg(of({1, 2, 3, 4, 5}, {1, 2, hole, 4, 5})));
    EXPECT_EQ(count(broken, "M"), 2U);
    EXPECT_EQ(count(broken, "L"), 2U);
    EXPECT_EQ(count(broken, "n"), 0U);  // neither inf nor nan
  }
}

TEST(Svg, APointBetweenBreaksIsADot) {
  EXPECT_EQ(count(path(svg(of({1, 2, 3, 4}, {1, nan, 2, infinity}))), "h0"), 2U);
}

TEST(Svg, NonPositivePointsBreakTheLineOnALogarithmicAxis) {
  Chart chart = of({1, 2, 3, 4, 5}, {1, 2, 0, 4, 5});
  EXPECT_EQ(count(path(svg(chart)), "M"), 1U);
  chart.log_y = true;
  EXPECT_EQ(count(path(svg(chart)), "M"), 2U);
}

TEST(Svg, TicksAreRoundAndCoverTheData) {
  std::mt19937_64 generator(7);
  std::uniform_real_distribution<double> exponent(-2.5, 5.5);
  std::uniform_real_distribution<double> share(-1, 1);
  for (int round = 0; round < 500; ++round) {
    const double size = std::pow(10.0, exponent(generator));
    const double low = size * share(generator);
    const double high = low + size * (1.001 + share(generator));
    const auto texts = labels(svg(of({low, high}, {0, 1})), "x");
    if (texts.back().find("×") != std::string::npos) continue;  // long numbers, tested below
    const auto ticks = values(texts);
    ASSERT_GE(ticks.size(), 4U);
    ASSERT_LE(ticks.size(), 11U);
    const double step = ticks[1] - ticks[0];
    EXPECT_LE(ticks.front(), low + 1e-5 * step);
    EXPECT_GE(ticks.back(), high - 1e-5 * step);
    EXPECT_GT(high - low, 0.4 * (ticks.back() - ticks.front()));
    for (std::size_t i = 1; i < ticks.size(); ++i)
      EXPECT_NEAR(ticks[i] - ticks[i - 1], step, 1e-6 * step);
    const double mantissa = step / std::pow(10.0, std::floor(std::log10(step) + 1e-9));
    EXPECT_LT(std::min({std::fabs(mantissa - 1), std::fabs(mantissa - 2), std::fabs(mantissa - 2.5),
                        std::fabs(mantissa - 5)}),
              1e-6)
        << step;
  }
}

TEST(Svg, TicksKeepTheSameDecimals) {
  EXPECT_EQ(labels(svg(of({0, 1}, {0, 3})), "x"),
            (std::vector<std::string>{"0", "0.2", "0.4", "0.6", "0.8", "1.0"}));
  EXPECT_EQ(labels(svg(of({0, 2.5e6}, {0, 3})), "x"),
            (std::vector<std::string>{"0", "0.5×10⁶", "1.0×10⁶", "1.5×10⁶", "2.0×10⁶", "2.5×10⁶"}));
}

TEST(Svg, LogarithmicAxesAreLabelledAtDecades) {
  Chart chart = of({1, 1000}, {1e-12, 1});
  chart.log_x = chart.log_y = true;
  EXPECT_EQ(labels(svg(chart), "x"), (std::vector<std::string>{"1", "10", "100", "1000"}));
  EXPECT_EQ(labels(svg(chart), "y"),
            (std::vector<std::string>{"10⁻¹²", "10⁻¹⁰", "10⁻⁸", "10⁻⁶", "10⁻⁴", "10⁻²", "10⁰"}));
}

TEST(Svg, ShortLogarithmicAxesAreLabelledBetweenDecades) {
  Chart chart = of({3, 40}, {300, 700});
  chart.log_x = chart.log_y = true;
  EXPECT_EQ(labels(svg(chart), "x"), (std::vector<std::string>{"2", "5", "10", "20", "50"}));
  EXPECT_EQ(labels(svg(chart), "y"), (std::vector<std::string>{"300", "400", "500", "600", "700"}));
}

TEST(Svg, EqualRatiosAreEqualLengthsOnALogarithmicAxis) {
  Chart chart = of({1, 10, 100}, {1, 10, 100});
  chart.log_x = chart.log_y = true;
  double x[3];
  double y[3];
  ASSERT_EQ(std::sscanf(path(svg(chart)).c_str(), "M%lf %lfL%lf %lfL%lf %lf", &x[0], &y[0], &x[1],
                        &y[1], &x[2], &y[2]),
            6);
  EXPECT_NEAR(x[2] - x[1], x[1] - x[0], 0.011);
  EXPECT_NEAR(y[2] - y[1], y[1] - y[0], 0.011);
  EXPECT_LT(y[2], y[0]);
}

TEST(Svg, YMaxEndsTheAxis) {
  Chart chart = of({0, 1, 2}, {0, 1, 1e200});
  chart.y_max = 4.5;
  const auto ticks = values(labels(svg(chart), "y"));
  EXPECT_LE(ticks.back(), 4.5);
  EXPECT_GE(ticks.back(), 4);
}

TEST(Svg, BarsStandOnZero) {
  const std::string picture = svg(histogram());
  EXPECT_EQ(labels(picture, "y").front(), "0");
  EXPECT_EQ(labels(picture, "x").back(), "4.0");
  EXPECT_EQ(count(path(picture), "M"), 1U);
  EXPECT_EQ(count(path(picture), "L"), 7U);       // up, over three bars, down
  EXPECT_EQ(count(picture, "fill-opacity"), 2U);  // bars and legend
}

TEST(Svg, MarksOutsideThePlotAreLeftOut) {
  Chart chart = of({0, 1}, {0, 1});
  chart.marks = {{.x = 0.5, .y = 0.5, .text = "in"},
                 {.x = 0.5, .y = nan, .text = "no place"},
                 {.x = 0.5, .y = 5, .text = "above"}};
  chart.y_max = 1;
  const std::string picture = svg(chart);
  EXPECT_EQ(count(picture, "<circle"), 1U);
  EXPECT_EQ(count(picture, ">in<"), 1U);
}

TEST(Svg, CoordinatesHaveAtMostTwoDecimals) {
  const std::string line = path(svg(of({0, 1.0 / 3, 2.0 / 3, 1}, {0.1, 1.0 / 7, 0.5, 1})));
  for (std::size_t at = line.find('.'); at != std::string::npos; at = line.find('.', at + 1)) {
    EXPECT_LE(line.find_first_of(" L", at) == std::string::npos ? line.size() - at
                                                                : line.find_first_of(" L", at) - at,
              3U);
  }
}

TEST(Svg, IsWellFormedForAnyNumbers) {
  const std::vector<double> odd{0,     -0.0, 1,         -1, 1e-320,   5e-324,    1e308, -1e308,
                                1e300, 1e-9, 1 + 1e-12, 1,  infinity, -infinity, nan,   2.5e15};
  std::mt19937_64 generator(11);
  std::uniform_int_distribution<std::size_t> any(0, odd.size() - 1);
  for (unsigned round = 0; round < 2000; ++round) {
    Chart chart = of({}, {});
    for (unsigned i = 0; i < round % 6; ++i) {
      chart.series[0].x.push_back(odd[any(generator)]);
      chart.series[0].y.push_back(odd[any(generator)]);
    }
    chart.marks = {{.x = odd[any(generator)], .y = odd[any(generator)], .text = "here"}};
    chart.log_x = round % 2 == 0;
    chart.log_y = round % 3 == 0;
    const double top = odd[any(generator)];
    if (std::fabs(top) < 1e300 && (top > 0 || !chart.log_y)) chart.y_max = top;
    const std::string picture = svg(chart);
    ASSERT_EQ(imbalance(picture), "");
    ASSERT_EQ(count(picture, "nan"), 0U);
    ASSERT_EQ(count(picture, "inf"), 0U);
    ASSERT_LT(picture.size(), 30000U);
  }
}

TEST(Svg, RefusesInconsistentCharts) {
  EXPECT_THROW(svg(of({1, 2}, {1})), InvalidValue);
  for (const char* id : {"", "1st", "a b", "a.b", "a\"", "../a"}) {
    Chart chart = of({1}, {1});
    chart.id = id;
    EXPECT_THROW(svg(chart), InvalidValue) << id;
    EXPECT_THROW(csv(chart), InvalidValue) << id;
  }
  Chart bars = histogram();
  bars.series[0].x = {0, 1, 1, 2};
  EXPECT_THROW(svg(bars), InvalidValue);
  bars.series[0].x = {0, 1, 2};
  EXPECT_THROW(svg(bars), InvalidValue);
  Chart capped = of({1}, {1});
  capped.y_max = infinity;
  EXPECT_THROW(svg(capped), InvalidValue);
  capped.y_max = 0;
  EXPECT_NO_THROW(svg(capped));
  capped.log_y = true;
  EXPECT_THROW(svg(capped), InvalidValue);
}

TEST(Csv, QuotesNamesThatNeedIt) {
  Chart chart{.id = "quotes"};
  chart.series = {{.name = "plain", .x = {1}, .y = {2}},
                  {.name = "a,b", .x = {1}, .y = {2}},
                  {.name = "say \"x\"", .x = {1}, .y = {2}},
                  {.name = "two\nlines", .x = {1}, .y = {2}}};
  EXPECT_EQ(csv(chart),
            "series,x,y\nplain,1,2\n\"a,b\",1,2\n\"say \"\"x\"\"\",1,2\ntwo\\u{a}lines,1,2\n");
}

TEST(Csv, DisarmsFormulasAndKeepsNumbers) {
  for (const char* formula :
       {"=1+1", "+1", "-1+1", "@SUM(A1)", "\t=1", "\r=1", "  =1", "\uFF1D1", "-"})
    EXPECT_EQ(csv_field(formula)[0], '\'') << formula;
  for (const char* number : {"-1", "-1.5e-7", "-inf", "0.1"}) EXPECT_EQ(csv_field(number), number);
}

TEST(Csv, WritesNumbersThatReadBackTheSame) {
  EXPECT_EQ(csv(of({0.1, 1e-300, 3}, {1.0 / 3, infinity, nan})),
            "series,x,y\nline,0.1,0.3333333333333333\nline,1e-300,inf\nline,3,nan\n");
}

TEST(Csv, WritesBarsByTheirLeftEdges) {
  EXPECT_EQ(csv(histogram()), "series,x,y\ncounts,0,3\ncounts,1,5\ncounts,2,1\n");
}

std::vector<Chart> three_charts() {
  Chart first = of({1, 2}, {1, 2});
  Chart second = histogram();
  Chart third = of(std::vector<double>(41, 1), std::vector<double>(41, 2));
  first.title = "The <first>";
  third.id = "plain-title";  // could collide with an id inside the first chart
  third.title = "The third";
  return {first, second, third};
}

TEST(Page, HoldsEveryChartOnce) {
  const std::string text = page("Report & more", "One.\n\nTwo < three.", three_charts());
  EXPECT_EQ(imbalance(text), "");
  EXPECT_EQ(count(text, "<svg "), 3U);
  EXPECT_EQ(count(text, "<figure "), 3U);
  EXPECT_EQ(count(text, "<h2>The &lt;first&gt;</h2>"), 1U);
  EXPECT_EQ(count(text, "<h2>The third</h2>"), 1U);
  EXPECT_EQ(count(text, "<h1>Report &amp; more</h1>"), 1U);
  EXPECT_EQ(count(text, "<p>Two &lt; three.</p>"), 1U);
}

TEST(Page, IdsAreUniqueAndAllReferencesResolve) {
  const std::string text = page("Report", "", three_charts());
  const auto ids = between(text, " id=\"", "\"");
  const std::set<std::string> unique(ids.begin(), ids.end());
  EXPECT_EQ(unique.size(), ids.size());
  for (const std::string& anchor : between(text, "href=\"#", "\""))
    EXPECT_TRUE(unique.contains(anchor)) << anchor;
  for (const std::string& anchor : between(text, "url(#", ")"))
    EXPECT_TRUE(unique.contains(anchor)) << anchor;
  EXPECT_EQ(between(text, "href=\"#", "\"").size(), 3U);
}

TEST(Page, NeedsNoOtherFile) {
  const std::string text = page("Report", "", three_charts());
  for (const char* loader : {"<script", "<link", "<img", "src=", "@import", "url(http"})
    EXPECT_EQ(count(text, loader), 0U) << loader;
}

TEST(Page, ShowsShortDataAsATableAndNamesTheFileOfLongData) {
  const std::string text = page("Report", "", three_charts());
  EXPECT_EQ(count(text, "<details>"), 2U);
  EXPECT_EQ(count(text, "<tr><td>1</td><td>5</td></tr>"), 1U);
  EXPECT_EQ(count(text, "data in plain-title.csv"), 1U);
}

TEST(Page, TabulatesSeriesWithDifferentXBelowEachOther) {
  Chart chart = of({1, 2}, {3, 4});
  chart.series.push_back({.name = "other", .x = {5}, .y = {infinity}});
  EXPECT_EQ(count(page("Report", "", {chart}), "<tr><td>other</td><td>5</td><td>inf</td></tr>"),
            1U);
}

TEST(Page, RefusesTwoChartsWithTheSameId) {
  EXPECT_THROW(page("Report", "", {histogram(), histogram()}), InvalidValue);
}

}  // namespace
}  // namespace sotto
