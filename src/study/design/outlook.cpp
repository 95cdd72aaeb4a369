// Previews the charge of a study, and searches for a cheaper alternative to a refused one.
#include "study/api/outlook.hpp"

#include <algorithm>
#include <cmath>

#include "accounting/api/currencies.hpp"
#include "sotto/core/decimal.hpp"
#include "sotto/core/errors.hpp"
#include "study/api/run.hpp"

namespace sotto {
namespace {

std::optional<Design> design_if_possible(const Study& study, const Terms& terms) {
  try {
    return make_design(study, terms);
  } catch (const StudyError&) {
  } catch (const InvalidValue&) {
  } catch (const OutsideConditions&) {
  }
  return std::nullopt;
}

bool fits(const Charge& cost, const Charge& left) {
  return cost.amount <= left.amount && cost.delta <= left.delta;
}

bool is_without_delta(const Study& study, const Design& design) {
  return study.epsilon && study.delta.value_or(0) == 0 && !design.shares_delta;
}

// Returns the study with its share of the ledger's δ and free choice of noise.
Study with_delta(Study study) {
  study.delta.reset();
  for (Query& query : study.queries) {
    if (query.noise == NoiseChoice::laplace) query.noise = NoiseChoice::best;
  }
  return study;
}

// Returns "with epsilon = 0.55 it takes 3.1 %": the study with a smaller ε or ρ that the remaining
// budget covers. The first guess scales ε by a power of remaining budget over cost: 1 if the
// currency is linear in it, 1/2 if it is quadratic.
std::string smaller(Study study, const Charge& cost, const Terms& terms, const Charge& left) {
  std::optional<double>& setting = study.epsilon ? study.epsilon : study.rho;
  if (!setting || !(left.amount > 0 && cost.amount > 0)) return "";
  const double power =
      study.rho || std::holds_alternative<ApproximateBudget>(terms.budget) ? 1 : 0.5;
  const double all = *setting;
  double part = std::min(1.0, std::pow(left.amount / cost.amount, power));
  if (cost.delta > left.delta) part = std::min(part, left.delta / cost.delta);
  for (int turn = 0; turn < 4 && part * all > 0; ++turn, part *= 0.85) {
    setting = read_number(rounded(all * part, 2, Side::lower));
    const auto design = design_if_possible(study, terms);
    if (design && fits(design->cost, left)) {
      return "with " + std::string(study.rho ? "rho" : "epsilon") + " = " + shortest(*setting) +
             " it takes " + percent_of_budget(terms.budget, design->cost);
    }
  }
  return "";
}

std::string cheaper_alternative(const Study& study, const Design& design, const Terms& terms,
                                const Filter& filter) {
  if (std::holds_alternative<CommittedBudget>(terms.budget)) return "";
  const Charge left = filter.left();
  if (is_without_delta(study, design)) {
    const auto share = share_of_delta(terms.budget, terms.relation, study.epsilon, study.rho);
    const auto other = share ? design_if_possible(with_delta(study), terms) : std::nullopt;
    if (other && other->shares_delta && other->cost.amount < design.cost.amount &&
        fits(other->cost, left)) {
      return "with delta = " + shortest(*share) + " and Gaussian noise it takes " +
             percent_of_budget(terms.budget, other->cost);
    }
  }
  return smaller(study, design.cost, terms, left);
}

}  // namespace

std::string with_alternative(const Study& study, const Design& design, const Terms& terms,
                             const Filter& filter) {
  const std::string other = cheaper_alternative(study, design, terms, filter);
  return other.empty() ? "" : "; " + other;
}

ChargePreview preview_charge(const Study& study, const Design& design, const Ledger& ledger,
                             bool again) {
  Filter filter = ledger.filter();
  if (!again && ledger.charge_of(request_id(study, ledger))) {
    return {.answered = ledger.answer(request_id(study, ledger)).has_value(),
            .charged = true,
            .admitted = true,
            .after = filter};
  }
  require_limits(study);
  const Filter before = filter;
  const Decision decision = filter.admit(design.plan, design.at);
  ChargePreview preview{.answered = false,
                        .charged = false,
                        .admitted = decision.admitted,
                        .after = filter,
                        .missing = decision.missing};
  if (!decision)
    preview.refusal =
        refusal_text(before, decision) + with_alternative(study, design, ledger.terms(), before);
  return preview;
}

}  // namespace sotto
