// Every row of the reference table that concerns closed forms: the bracket contains the 30-digit
// value and is no wider than a part in 10^12. The table and the program that computes it are in
// tests/oracle.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "../../support/number.hpp"
#include "accounting/api/amplification.hpp"
#include "accounting/api/composition.hpp"
#include "accounting/api/renyi.hpp"
#include "core/api/json.hpp"
#include "numerics/api/elementary.hpp"
#include "numerics/api/normal.hpp"
#include "pld/api/compose.hpp"
#include "privacy/api/arsinh.hpp"
#include "privacy/api/best_order.hpp"
#include "privacy/api/conversions.hpp"
#include "privacy/api/gaussian.hpp"
#include "privacy/api/group.hpp"
#include "privacy/api/laplace.hpp"
#include "privacy/api/pure.hpp"
#include "sotto/accounting/account.hpp"
#include "sotto/core/decimal.hpp"
#include "sotto/plan/text.hpp"

namespace sotto {
namespace {

struct Row {
  std::string name, quantity, value, tolerance;
  Json parameters;

  [[nodiscard]] std::string text(const char* key) const {
    const auto& p = parameters.at(key);
    return p.is_string() ? p.get<std::string>() : p.dump();
  }
  [[nodiscard]] double number(const char* key) const { return number_in(text(key)); }
  [[nodiscard]] bool has(const char* key) const { return parameters.contains(key); }
  [[nodiscard]] Real real(const char* key) const { return Real::reading(number(key)); }
};

std::vector<std::string> cells(const std::string& line) {
  std::vector<std::string> out(1);
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '"') {
      if (quoted && i + 1 < line.size() && line[i + 1] == '"') {
        out.back() += line[++i];
      } else {
        quoted = !quoted;
      }
    } else if (line[i] == ',' && !quoted) {
      out.emplace_back();
    } else {
      out.back() += line[i];
    }
  }
  return out;
}

std::vector<Row> rows() {
  std::vector<Row> out;
  std::ifstream file(SOTTO_SOURCE_DIR "/tests/oracle/accounting.csv");
  std::string line;
  std::getline(file, line);
  while (std::getline(file, line)) {
    const auto c = cells(line);
    out.push_back({c.at(0), c.at(2), c.at(3), c.at(4), Json::parse(c.at(1))});
  }
  return out;
}

Bound epsilon_of_plan(const std::string& plan, const Row& row, Method by = Method::tight) {
  return epsilon(parse(plan), Delta(row.number("delta")), {.by = by}).value;
}
Bound delta_of_plan(const std::string& plan, double eps) {
  return delta(parse(plan), Epsilon(eps)).value;
}

std::string ladder() {  // sigmas 10 + i/2
  std::string plan;
  for (int i = 0; i < 100; ++i)
    plan += (i == 0 ? "" : " + ") + std::string("gaussian(") + with_decimals(10 + 0.5 * i, 6) + ")";
  return plan;
}

// The bracket for a row, or nothing if the row is not about closed forms.
std::optional<Bound> bracket(const Row& row) {
  const std::string& c = row.name;
  const std::string& q = row.quantity;
  if (c == "gaussian") {
    const std::string plan = "gaussian(" + row.text("sigma") + ")";
    return q == "delta" ? delta_of_plan(plan, row.number("eps")) : epsilon_of_plan(plan, row);
  }
  if (c == "gaussian_calibration") {
    const Real eps = row.real("eps");
    const Real del = row.real("delta");
    return Bound{gaussian_exact_sigma(eps.upper(), del.upper(), Side::lower),
                 gaussian_exact_sigma(eps.lower(), del.lower(), Side::upper)};
  }
  if (c == "gaussian_kfold") {
    const std::string plan = row.text("k") + " * gaussian(" + row.text("sigma") + ")";
    return q == "delta" ? delta_of_plan(plan, row.number("eps")) : epsilon_of_plan(plan, row);
  }
  if (c == "gaussian_heterogeneous" && q == "epsilon") return epsilon_of_plan(ladder(), row);
  if (c == "gaussian_heterogeneous" && q == "mu") {
    const Bound kl = divergence(parse(ladder()), Order(1)).value;  // mu²/2
    return Bound{sqrt(2 * Real(kl.lower)).lower(), sqrt(2 * Real(kl.upper)).upper()};
  }
  if (c == "gaussian_rdp")
    return divergence(parse("gaussian(" + row.text("sigma") + ")"), Order(row.number("alpha")))
        .value;
  if (c == "laplace_rdp")
    return divergence(parse("laplace(" + row.text("b") + ")"), Order(row.number("alpha"))).value;
  if (c == "laplace_pld" && q == "delta")
    return delta_of_plan("laplace(" + row.text("b") + ")", row.number("eps"));
  if (c == "rr_rdp")
    return divergence(parse("pure(" + row.text("eps0") + ")"), Order(row.number("alpha"))).value;
  if (c == "rr_optimal_composition") {
    const std::string plan =
        row.text("k") + " * approx(" + row.text("eps0") + ", " + row.text("delta0") + ")";
    return q == "delta" ? delta_of_plan(plan, row.number("eps"))
                        : epsilon_of_plan(plan, row, Method::optimal);
  }
  if (c == "advanced_composition") {
    const auto k = static_cast<std::int64_t>(row.number("k"));
    const Real slack = row.real("delta_slack");
    const Real e = row.real("eps0");
    if (q == "epsilon_zcdp")
      return epsilon_from_zcdp_classic({Real(static_cast<double>(k)) * pure_rho_classic(e)}, slack)
          .bound();
    const EqualSteps steps{k, e, slack};
    return (q == "epsilon" ? advanced_epsilon(steps) : kov_epsilon(steps)).bound();
  }
  if (c == "poisson_sgm_rdp" && row.parameters.at("alpha").is_number()) {
    return divergence(parse("poisson(" + row.text("q") + ", gaussian(" + row.text("sigma") + "))"),
                      Order(row.number("alpha")))
        .value;
  }
  if (c == "zcdp_to_dp" && q == "epsilon_classical")
    return epsilon_from_zcdp_classic({row.real("rho")}, row.real("delta")).bound();
  if (c == "zcdp_to_dp" && q == "epsilon_exact_gaussian") {
    return Bound{
        epsilon(parse("zcdp(" + row.text("rho") + ")"), Delta(row.number("delta"))).value.lower,
        epsilon(parse("gdp(1)"), Delta(0.5)).value.upper +
            1e9};  // the lower side of any zCDP conversion
  }
  if (c == "rdp_to_dp") {
    const RenyiDP point{row.number("alpha"), row.real("rdp")};
    if (q == "delta_mironov") return delta_from_renyi_classic(point, row.real("eps")).bound();
    if (q == "delta_cks") return delta_from_renyi(point, row.real("eps")).bound();
  }
  if (c == "rdp_group_privacy" && row.has("rdp"))
    return group_of(2, RenyiDP{row.number("alpha"), row.real("rdp")}).epsilon.bound();
  if (c == "rdp_group_privacy")
    return divergence(
               parse("group(" + row.text("group") + ", gaussian(" + row.text("sigma") + "))"),
               Order(row.number("alpha")))
        .value;
  if (c == "pure_to_zcdp") return pure_rho_classic(row.real("eps0")).bound();
  if (c == "gdp") {
    const Real p = row.real("fpr");
    const Real mu = row.real("mu");
    const auto tpr = [&](double x) { return normal_cdf(Real(x) + mu); };
    return Bound{tpr(normal_quantile(p.lower(), Side::lower)).lower(),
                 tpr(normal_quantile(p.upper(), Side::upper)).upper()};
  }
  if (c == "tcdp_to_dp" && q == "epsilon")
    return epsilon_from_tcdp_classic({row.real("rho"), row.real("omega")}, row.real("delta"))
        .bound();
  if (c == "arsinh_omega")
    return arsinh_order_limit(row.real("A"), row.real("sensitivity")).bound();
  return std::nullopt;
}

TEST(Reference, BracketsOfClosedFormsContainTheTruth) {
  std::map<std::string, int> checked;
  for (const Row& row : rows()) {
    if (row.tolerance == "bound") continue;
    const auto b = bracket(row);
    if (!b) continue;
    const std::string where = row.name + " " + row.parameters.dump() + " " + row.quantity;
    const long double value = number_in<long double>(row.value);
    EXPECT_LE(static_cast<long double>(b->lower), value) << where;
    EXPECT_GE(static_cast<long double>(b->upper), value) << where;
    if (row.quantity != "epsilon_exact_gaussian") {
      EXPECT_LE(b->upper - b->lower, 1e-12L * std::fabs(value) + 1e-300L)
          << where << " [" << b->lower << ", " << b->upper << "]";
    } else {
      EXPECT_GE(static_cast<long double>(b->lower), value * (1 - 1e-12L)) << where;
    }
    ++checked[row.name];
  }
  const std::map<std::string, int> expected{{"gaussian", 14},
                                            {"gaussian_calibration", 2},
                                            {"gaussian_kfold", 5},
                                            {"gaussian_heterogeneous", 3},
                                            {"gaussian_rdp", 1},
                                            {"laplace_rdp", 6},
                                            {"laplace_pld", 3},
                                            {"rr_rdp", 4},
                                            {"rr_optimal_composition", 7},
                                            {"advanced_composition", 4},
                                            {"poisson_sgm_rdp", 8},
                                            {"zcdp_to_dp", 6},
                                            {"rdp_to_dp", 5},
                                            {"rdp_group_privacy", 2},
                                            {"pure_to_zcdp", 1},
                                            {"gdp", 1},
                                            {"tcdp_to_dp", 2},
                                            {"arsinh_omega", 2}};
  EXPECT_EQ(checked, expected);
}

TEST(Reference, BestOrdersReachTheMinimumFromAbove) {
  int checked = 0;
  for (const Row& row : rows()) {
    if (row.quantity != "epsilon_tight_rdp") continue;
    const double value =
        row.name == "zcdp_to_dp"
            ? epsilon_from_zcdp({row.real("rho")}, row.real("delta")).value.upper()
            : epsilon_from_tcdp({row.real("rho"), row.real("omega")}, row.real("delta"))
                  .value.upper();
    const long double truth = number_in<long double>(row.value);
    EXPECT_GE(static_cast<long double>(value), truth);
    EXPECT_LE(static_cast<long double>(value), truth * (1 + 1e-12L)) << row.parameters.dump();
    ++checked;
  }
  EXPECT_EQ(checked, 5);
}

TEST(Reference, FractionalOrdersOfSampledGaussiansAreBoundedFromBothSides) {
  for (const Row& row : rows()) {
    if (row.name != "poisson_sgm_rdp" || row.parameters.at("alpha").is_number()) continue;
    const Bound b =
        divergence(parse("poisson(" + row.text("q") + ", gaussian(" + row.text("sigma") + "))"),
                   Order(row.number("alpha")))
            .value;
    const double truth = number_in(row.value);
    EXPECT_LE(b.lower, truth);
    EXPECT_GE(b.upper, truth);
  }
}

TEST(Reference, WithoutReplacementReproducesBothTheorems) {
  int checked = 0;
  for (const Row& row : rows()) {
    if (row.name != "wor_rdp_upper") continue;
    const int order = static_cast<int>(row.number("alpha"));
    const bool gaussian = row.text("base") == "gaussian";
    const Real x =
        1 / row.real(gaussian ? "sigma_over_replace_sensitivity" : "b_over_replace_sensitivity");
    const auto base = [&](int j) { return gaussian ? gaussian_renyi(x, j) : laplace_renyi(x, j); };
    const Real worst = gaussian ? Real::unknown() : x;
    const double truth = number_in(row.value);
    const Real ours =
        row.quantity == "rdp_upper_thm9"
            ? without_replacement_renyi(row.real("gamma"), order, base, worst)
            : without_replacement_renyi_exact_pair(row.real("gamma"), order, base, worst);
    EXPECT_GE(ours.upper(), truth * (1 - 1e-15)) << row.parameters.dump();
    EXPECT_LE(ours.upper(), truth * (1 + 1e-9)) << row.parameters.dump();
    ++checked;
  }
  EXPECT_EQ(checked, 6);
}

TEST(Reference, ArsinhStaysBelowItsBoundAndAboveTheTruth) {
  for (const Row& row : rows()) {
    if (row.name != "arsinh_tcdp_bound" && row.name != "arsinh_renyi_exact") continue;
    const Real delta = row.real("sensitivity");
    const Real rho = square(delta) / (2 * square(row.real("sigma")));
    if (row.number("alpha") > row.number("A") / (8 * row.number("sensitivity")))
      continue;  // beyond the theorem's orders
    const TruncatedConcentratedDP tcdp = arsinh_tcdp(rho, row.real("A"), delta);
    const double bound = (row.real("alpha") * tcdp.rho).upper();
    const double value = number_in(row.value);
    if (row.name == "arsinh_tcdp_bound") {
      EXPECT_NEAR(bound, value, 1e-12 * value);
    } else {
      EXPECT_GE(bound, value);
    }
  }
}

// Compositions: the bracket holds the truth and is as narrow as promised.
TEST(Reference, BracketsOfCompositionsContainTheTruth) {
  std::map<std::string, int> checked;
  for (const Row& row : rows()) {
    if (row.tolerance == "bound") continue;
    const long double value = number_in<long double>(row.value);
    const std::string where = row.name + " " + row.parameters.dump();
    std::optional<Bound> b;
    double width = 1e-9;
    if (row.name == "laplace_kfold") {
      const std::string plan = row.text("k") + " * laplace(" + row.text("b") + ")";
      b = row.quantity == "delta" ? delta_of_plan(plan, row.number("eps"))
                                  : epsilon_of_plan(plan, row);
      width = row.quantity == "delta" ? 1e-5 : 1e-6;
    } else if (row.name == "heterogeneous_optimal") {
      std::string plan;
      for (const auto& e : row.parameters.at("eps"))
        plan += (plan.empty() ? "pure(" : " + pure(") + e.get<std::string>() + ")";
      b = delta_of_plan(plan, row.number("eps_g"));
      width = 1e-5;
    } else if (row.name == "dpsgd_pld" || row.name == "dpsgd_pld_small_delta") {
      const Direction direction =
          row.text("direction") == "add" ? Direction::add : Direction::remove;
      const PrivacyLossPtr loss =
          poisson_gaussian_loss(1 / row.real("sigma"), row.real("q"), direction);
      const Bound range = row.real("delta").bound();
      const Bound one = composed_epsilon({{loss, row.number("T")}}, range);
      if (direction == Direction::remove) {  // the plan's ε is at least that of removing a record
        const Bound whole = epsilon_of_plan(row.text("T") + " * poisson(" + row.text("q") +
                                                ", gaussian(" + row.text("sigma") + "))",
                                            row);
        EXPECT_GE(static_cast<long double>(whole.upper), value) << where;
      }
      b = one;
    }
    if (!b) continue;
    EXPECT_LE(static_cast<long double>(b->lower), value) << where;
    EXPECT_GE(static_cast<long double>(b->upper), value) << where;
    EXPECT_LE(b->upper - b->lower, width * static_cast<double>(value))
        << where << " [" << b->lower << ", " << b->upper << "]";
    ++checked[row.name];
  }
  const std::map<std::string, int> expected{{"laplace_kfold", 4},
                                            {"heterogeneous_optimal", 1},
                                            {"dpsgd_pld", 4},
                                            {"dpsgd_pld_small_delta", 6}};
  EXPECT_EQ(checked, expected);
}

TEST(Reference, TheBestRealOrderIsFound) {
  const RenyiAccountant accountant(parse("10000 * poisson(0.01, gaussian(1))"), Side::upper);
  for (const Row& row : rows()) {
    if (row.quantity != "epsilon_best_real_order") continue;
    const auto line = [&](double order) {
      return epsilon_from_renyi({order, accountant.at(order).upper()}, row.real("delta"));
    };
    const double ours = best_order(INFINITY, line).value.upper();
    const double truth = number_in(row.value);
    EXPECT_GE(ours, truth);
    EXPECT_LE(ours, truth * (1 + 1e-12));
    EXPECT_LT(epsilon_of_plan("10000 * poisson(0.01, gaussian(1))", row, Method::rdp).upper,
              truth);  // the best conversion there
  }
}

TEST(Reference, TheBestConversionAtOneOrderIsReachedFromAbove) {
  int checked = 0;
  for (const Row& row : rows()) {
    if (row.quantity != "delta_optimal") continue;
    const double ours =
        delta_from_renyi_optimal({row.number("alpha"), row.real("rdp")}, row.number("eps"));
    const double truth = number_in(row.value);
    EXPECT_GE(ours, truth * (1 - 1e-15));
    EXPECT_LE(ours, truth * (1 + 1e-9)) << row.parameters.dump();
    EXPECT_LT(ours,
              delta_from_renyi({row.number("alpha"), row.real("rdp")}, row.number("eps")).lower());
    // read for ε, at the true δ
    const double epsilon =
        epsilon_from_renyi_optimal({row.number("alpha"), row.real("rdp")}, truth);
    EXPECT_NEAR(epsilon, row.number("eps"), 1e-9 * row.number("eps"));
    EXPECT_GE(epsilon, row.number("eps") * (1 - 1e-14));
    ++checked;
  }
  EXPECT_EQ(checked, 2);
}

TEST(Reference, SamplingWithoutReplacementComposesAsAPair) {
  int checked = 0;
  for (const Row& row : rows()) {
    if (row.name != "wor_profile_pld") continue;
    const Real mu = 1 / row.real("sigma_over_replace_sensitivity");
    const double truth = number_in(row.value);
    const double ours =
        composed_epsilon(
            {{without_replacement_gaussian_loss(mu, row.real("gamma")), row.number("T")}},
            row.real("delta").bound())
            .upper;
    EXPECT_GE(ours, truth);
    EXPECT_LE(ours, truth + 1e-6) << row.parameters.dump();
    ++checked;
  }
  EXPECT_EQ(checked, 3);
}

TEST(Reference, ArsinhDivergencesFromTheDensity) {
  for (const Row& row : rows()) {
    if (row.name != "arsinh_renyi_exact") continue;
    const Real ratio = row.real("A") / row.real("sensitivity");
    const Real kappa = square(row.real("A") / row.real("sigma")) / 2;
    const double order = row.number("alpha");
    const LogMgfValue value = arsinh_loss(kappa, 1 / ratio)->log_mgf(order - 1)->at(0);
    const double truth = number_in(row.value) * (order - 1);
    EXPECT_NEAR(value.log.re, truth, value.error + 1e-12 * truth) << row.parameters.dump();
    EXPECT_LT(value.error, 1e-8 * truth);
  }
}

}  // namespace
}  // namespace sotto
