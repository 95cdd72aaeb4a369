// Audit results as text and as charts; a contradicted claim is reported as a finding.
#include "report/api/audit.hpp"

#include <gtest/gtest.h>

#include "report/api/svg.hpp"
#include "sotto/plan/text.hpp"

namespace sotto {
namespace {

Audit example(double epsilon) {
  Audit audit;
  audit.confidence = 0.95;
  audit.epsilon = {epsilon, {"0 and 1", "output >= 1.5", true, 300, 100, 1000, 0.27, 0.12}};
  audit.delta = {0.25, {"0 and 1", "output >= 0.5", true, 600, 300, 1000, 0.57, 0.32}};
  audit.histogram = {"output", {0, 1, 2}, {0.7, 0.3}, {0.4, 0.6}, 1.5};
  return audit;
}

TEST(AuditText, ComparesTheMeasuredBoundsWithTheClaim) {
  const std::string text = audit_text(parse("laplace(1)"), example(0.8), {1, 0.4}, Format::table);
  EXPECT_NE(text.find("measured >= 0.8 with confidence 95 %, claimed <= 1 "), std::string::npos)
      << text;
  EXPECT_NE(text.find("300 times on the second input, 100 times on the first, of 1000 each"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("nothing against the claim"), std::string::npos) << text;
  EXPECT_EQ(finding_text(parse("laplace(1)"), example(0.8), {1, 0.4}), "");
}

TEST(AuditText, AContradictionIsReportedAsAFinding) {
  const Plan plan = parse("laplace(1)");
  EXPECT_NE(audit_text(plan, example(1.2), {1, 0.4}, Format::table).find("FINDING"),
            std::string::npos);
  EXPECT_NE(audit_text(plan, example(1.2), {1, 0.4}, Format::json).find("\"contradicts\":true"),
            std::string::npos);
  const std::string finding = finding_text(plan, example(1.2), {1, 0.4});
  EXPECT_NE(finding.find("FINDING: laplace(1) does not keep its claim: epsilon measured >= 1.2 "
                         "with confidence 95 %, claimed <= 1;"),
            std::string::npos)
      << finding;
  EXPECT_NE(finding.find("once in 20 audits"), std::string::npos) << finding;
  EXPECT_NE(finding_text(plan, example(0.8), {1, 0.2}).find("delta measured >= 0.25"),
            std::string::npos);
}

TEST(AuditFigure, HoldsBothCharts) {
  const Plan plan = parse("laplace(1)");
  EXPECT_EQ(audit_histogram_chart(plan, example(0.8)).series.size(), 3U);
  const Chart profile = audit_profile_chart(plan, example(0.8), {1, 0.4});
  ASSERT_EQ(profile.marks.size(), 2U);
  EXPECT_EQ(profile.marks[0].x, 0.8);
  EXPECT_EQ(profile.marks[1].y, 0.25);
  const std::string picture = audit_svg(plan, example(0.8), {1, 0.4});
  EXPECT_NE(picture.find("audit-outputs.title"), std::string::npos);
  EXPECT_NE(picture.find("audit-profile.title"), std::string::npos);
  EXPECT_EQ(picture.substr(picture.size() - 7), "</svg>\n");
}

}  // namespace
}  // namespace sotto
