// The markup builder: text is escaped because of its type, and elements are written byte by byte as
// the pages need them.
#include "report/html/markup.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <type_traits>

#include "report/html/document.hpp"

namespace sotto::report_detail {
namespace {

TEST(Markup, TextOfEveryStringTypeIsEscaped) {
  const std::string escaped_text = "&lt;b&gt; &amp; &quot;c&quot; &#39;d&#39;";
  EXPECT_EQ(Markup("<b> & \"c\" 'd'").str(), escaped_text);
  EXPECT_EQ(Markup(std::string("<b> & \"c\" 'd'")).str(), escaped_text);
  EXPECT_EQ(Markup(std::string_view("<b> & \"c\" 'd'")).str(), escaped_text);
  EXPECT_EQ(tag("p", std::string("<script>")).str(), "<p>&lt;script&gt;</p>");
}

TEST(Markup, UnsafeCharactersAreSpeltOut) {
  EXPECT_EQ(Markup("a\x1b[2Kb").str(), "a\\u{1b}[2Kb");
  EXPECT_EQ(Markup("two\nlines\tand a tab").str(), "two\nlines\tand a tab");
}

TEST(Markup, MarkupIsNotEscapedAgain) {
  const Markup inner = tag("b", "x & y");
  EXPECT_EQ(inner.str(), "<b>x &amp; y</b>");
  EXPECT_EQ(tag("p", inner).str(), "<p><b>x &amp; y</b></p>");
  EXPECT_EQ(tag("p", "1 < " + inner + " > " + std::string("<0>")).str(),
            "<p>1 &lt; <b>x &amp; y</b> &gt; &lt;0&gt;</p>");
  Markup sum = inner;
  sum += "<";
  sum += inner;
  EXPECT_EQ(sum.str(), inner.str() + "&lt;" + inner.str());
}

TEST(Markup, AttributesKeepTheirOrderAndAreEscaped) {
  EXPECT_EQ(tag("td", {{"class", "number"}}, "1").str(), "<td class=\"number\">1</td>");
  const std::string evil = "\"><script>";
  EXPECT_EQ(tag("a", {{"href", "?q=" + evil}, {"title", evil}}, "x").str(),
            "<a href=\"?q=&quot;&gt;&lt;script&gt;\" title=\"&quot;&gt;&lt;script&gt;\">x</a>");
}

TEST(Markup, AttributesWithoutValueAreLeftOut) {
  EXPECT_EQ(tag("i", {{"id", std::nullopt}, {"class", "a"}, {"role", std::nullopt}}, "").str(),
            "<i class=\"a\"></i>");
  EXPECT_EQ(tag("i", {{"class", ""}}, "").str(), "<i class=\"\"></i>");
}

TEST(Markup, EmptyElementsAreClosed) {
  EXPECT_EQ(empty_tag("br").str(), "<br/>");
  EXPECT_EQ(empty_tag("line", {{"x1", "0"}, {"x2", "5%"}}).str(), "<line x1=\"0\" x2=\"5%\"/>");
}

TEST(Markup, TrustedMarkupIsTakenAsItIs) {
  EXPECT_EQ(tag("style", trusted_markup("a > b { font: 'c' }")).str(),
            "<style>a > b { font: 'c' }</style>");
  EXPECT_EQ(tag("text", {{"font-family", trusted_markup("'Segoe UI'")}}, "x").str(),
            "<text font-family=\"'Segoe UI'\">x</text>");
}

TEST(Markup, KnowsWhetherItIsEmpty) {
  EXPECT_TRUE(Markup().empty());
  EXPECT_TRUE(Markup("").empty());
  EXPECT_FALSE(tag("p", "").empty());
}

// A name that could come from data would let data open an element.
TEST(Markup, NamesAreLiteralsAlone) {
  EXPECT_FALSE((std::is_constructible_v<MarkupName, std::string>));
  EXPECT_FALSE((std::is_constructible_v<MarkupName, std::string_view>));
  EXPECT_FALSE((std::is_convertible_v<Markup, std::string>));
}

TEST(Markup, ADocumentEscapesItsTitleAndNotItsStyle) {
  const std::string page = document("<t>", trusted_markup("q > r {}"), paragraph("<p>"));
  EXPECT_EQ(page.substr(0, 16), "<!doctype html>\n");
  EXPECT_NE(page.find("<title>&lt;t&gt;</title>\n<style>"), std::string::npos);
  EXPECT_NE(
      page.find(
          "q > r "
          "{}</style>\n</head>\n<body>\n<main>\n<p>&lt;p&gt;</p>\n</main>\n</body>\n</html>\n"),
      std::string::npos);
}

}  // namespace
}  // namespace sotto::report_detail
