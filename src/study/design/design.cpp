// Designs a study: chooses the noise of its measurements and trainings to meet its budget at the
// smallest errors.
#include "study/api/design.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <set>

#include "accounting/api/approximate_gdp.hpp"
#include "accounting/api/currencies.hpp"
#include "mechanisms/api/combined.hpp"
#include "privacy/api/gaussian.hpp"
#include "privacy/api/large_delta.hpp"
#include "sotto/accounting/calibrate.hpp"
#include "sotto/core/decimal.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/mechanisms/additive.hpp"
#include "sotto/plan/holes.hpp"
#include "sotto/plan/text.hpp"
#include "study/design/measure.hpp"
#include "study/design/noise_assignment.hpp"

namespace sotto {
namespace {

using study_detail::NoiseAssignment;
using study_detail::OpenMeasurement;
using study_detail::OpenTraining;
using study_detail::scale_of;

Charge cost_of(const Plan& plan, const Terms& terms, std::optional<Delta> at) {
  return Filter(terms.budget, terms.relation).admit(plan, at).cost;
}

// A design under consideration.
struct Candidate {
  std::vector<NoiseKind> kinds;
  std::vector<Plan> leaves;
  double value;    // value of the unknown
  double badness;  // mean log error, weighted by share, plus the weighted log cost
};

// Designer makes the design of one study: it tries assignments of noise and keeps the best.
class Designer {
 public:
  Designer(const Study& study, const Terms& terms)
      : study_(study),
        terms_(terms),
        measurements_(study_detail::open_measurements(study, terms.relation)) {
    searches_ = std::count_if(measurements_.begin(), measurements_.end(),
                              [](const OpenMeasurement& d) { return d.search.has_value(); });
    check_budget();
    if (!study.trainings.empty())
      trainings_ = study_detail::open_trainings(study, terms.relation, mu());
  }

  Design make() {
    Candidate best = choose();
    std::vector<Measurement> measurements;
    std::size_t next = 0;
    for (std::size_t i = 0; i < measurements_.size(); ++i) {
      OpenMeasurement& d = measurements_[i];
      const Plan event = best.leaves[next++];
      require_noise(event);
      Measurement m{d.aggregate,   d.form,          d.queries, d.l1,        d.l2,
                    best.kinds[i], scale_of(event), event,     std::nullopt};
      if (d.search) {
        const Plan of_search = best.leaves[next++];
        require_noise(of_search);
        ++next;  // the leaf of the selection's δ
        m.search = KeySearch{
            *d.search, PartitionSelection(of_search, search_delta(), d.search->groups_a_unit)};
      }
      measurements.push_back(std::move(m));
    }
    std::vector<TrainDesign> trainings;
    for (OpenTraining& training : trainings_) {
      study_detail::set_noise(training, best.value);
      trainings.push_back(std::move(training.design));
    }
    const Plan plan = charged_plan(measurements, trainings);
    Design design{terms_.relation,
                  std::move(measurements),
                  std::move(trainings),
                  plan,
                  {},
                  charged_at(),
                  std::nullopt,
                  std::nullopt,
                  {}};
    design.cost = cost_of(design.plan, terms_, design.at);
    if (std::holds_alternative<GdpBudget>(terms_.budget))
      design.at = Delta(design.cost.delta);  // the slack that the plan needs
    add_total(design);
    add_warnings(design);
    return design;
  }

 private:
  // Returns the events of everything that is drawn, each read from the object that draws it.
  static Plan charged_plan(const std::vector<Measurement>& measurements,
                           const std::vector<TrainDesign>& trainings) {
    std::vector<Plan> events;
    for (const Measurement& m : measurements) {
      events.push_back(m.event);
      if (m.search) events.push_back(m.search->selection.event());
    }
    for (const TrainDesign& training : trainings) {
      events.push_back(training.event);
      if (training.test_event) events.push_back(*training.test_event);
    }
    return NoiseAssignment::joined(events);
  }

  // Throws InvalidValue if the noise cannot be drawn, so that a study fails before its charge.
  static void require_noise(const Plan& event) {
    const Additive drawn(event);
    if (!std::isfinite(drawn.limit()))
      throw InvalidValue("the noise " + print(event) +
                         " is too large to be drawn: narrow the bounds, or allow a larger budget");
  }

  [[nodiscard]] const ApproximateBudget* approximate() const {
    return std::get_if<ApproximateBudget>(&terms_.budget);
  }

  [[nodiscard]] bool has_no_delta() const {
    return Filter(terms_.budget, terms_.relation).limit().delta == 0 && !is_committed();
  }
  [[nodiscard]] bool is_committed() const {
    return std::holds_alternative<CommittedBudget>(terms_.budget);
  }

  // Returns the budget of the study as the μ of one Gaussian release.
  [[nodiscard]] double mu() const {
    if (study_.rho) return std::sqrt(2 * *study_.rho);
    return 1 / calibrate(gaussian(hole), Epsilon(*study_.epsilon), Delta(*study_.delta)).value;
  }

  void check_budget() const {
    const bool all_targets = study_.trainings.empty() &&
                             std::all_of(measurements_.begin(), measurements_.end(),
                                         [](const OpenMeasurement& d) { return d.has_target; });
    if (!all_targets && !study_.epsilon && !study_.rho) {
      throw StudyError(
          "the study has no budget: write [budget] with epsilon = 1 and delta = 1e-6" +
              std::string(std::holds_alternative<ZcdpBudget>(terms_.budget) ? ", or rho = 0.05"
                                                                            : "") +
              ", or give every query an `error`",
          study_.budget_line);
    }
    if (!study_.trainings.empty() && !study_.rho && study_.delta.value_or(0) == 0) {
      throw StudyError(
          "a model is trained with Gaussian noise, which needs a δ: write delta = 1e-6 below "
          "[budget]",
          study_.budget_line);
    }
    for (const TrainingRequest& ask : study_.trainings) {
      if (ask.method != "objective" || !std::holds_alternative<GdpBudget>(terms_.budget)) continue;
      throw StudyError(
          "train \"" + ask.name +
              "\": method = \"objective\" costs an (ε, δ), and a ledger in Gaussian DP only has "
              "the δ of its slack: write "
              "method = \"output\" or \"gradient\", or make a ledger that adds up ε and δ",
          ask.line, Remedy::sum_ledger);
    }
    if (study_.rho && !std::holds_alternative<ZcdpBudget>(terms_.budget)) {
      throw StudyError(
          "budget: rho needs a ledger that counts ρ, and this one does not: write epsilon and "
          "delta",
          study_.budget_line);
    }
    if (approximate() != nullptr && approximate()->delta == 0 && study_.delta.value_or(0) > 0 &&
        searches_ == 0) {
      throw StudyError("budget: this ledger has no δ to spend: remove `delta`", study_.budget_line);
    }
    if (searches_ > 0 && study_.delta.value_or(0) == 0 && !has_no_delta()) {
      throw StudyError("private keys need a δ: write delta = 1e-6 below [budget]",
                       study_.budget_line);
    }
    if (searches_ > 0 && has_no_delta()) {
      throw StudyError(
          "private keys cost a δ, and this ledger has none: make one that has, or name the keys by "
          "values = […] if they are public",
          study_.budget_line, Remedy::ledger_delta);
    }
    if (approximate() != nullptr && !study_.epsilon) {
      throw StudyError("this ledger counts ε and δ: write epsilon and delta below [budget]",
                       study_.budget_line);
    }
  }

  // Returns the study's part of the slack of a Gaussian ledger: the part that it uses of μ², where
  // its μ is that of Gaussian noise with its ε and δ.
  [[nodiscard]] double slack_of(const GdpBudget& budget) const {
    if (!study_.epsilon || study_.delta.value_or(0) == 0) return budget.delta / 16;
    return slack_share(budget,
                       1 / gaussian_exact_sigma(*study_.epsilon, *study_.delta, Side::upper));
  }

  [[nodiscard]] double search_delta() const {
    if (searches_ == 0) return 0;
    if (const auto* gaussian =
            std::get_if<GdpBudget>(&terms_.budget)) {  // half, since the noise may need slack too
      const double most =
          std::min(slack_of(*gaussian), *study_.delta) / 2 / static_cast<double>(searches_);
      return read_number(rounded(most * (1 - 1e-12), 3, Side::lower));
    }
    return read_number(
        rounded(*study_.delta / (study_.rho ? 1 : 2) / static_cast<double>(searches_) * (1 - 1e-12),
                6, Side::lower));
  }

  [[nodiscard]] std::optional<Delta> charged_at() const {
    if (approximate() == nullptr || study_.delta.value_or(0) == 0) return std::nullopt;
    return Delta(*study_.delta);
  }

  [[nodiscard]] bool may_have(const OpenMeasurement& measurement, NoiseKind kind) const {
    for (const std::size_t q : measurement.queries) {
      const NoiseChoice choice = study_.queries[q].noise;
      if (choice != NoiseChoice::best &&
          (choice == NoiseChoice::laplace) != (kind == NoiseKind::laplace))
        return false;
    }
    if (kind == NoiseKind::laplace) return true;
    if (approximate() != nullptr && approximate()->delta == 0) return false;
    return study_.rho || study_.delta.value_or(0) > 0 ||
           (!study_.epsilon && approximate() == nullptr);
  }

  [[nodiscard]] double fill_for_epsilon(const NoiseAssignment& assignment) const {
    try {
      return calibrate(assignment.plan(), Epsilon(*study_.epsilon), Delta(study_.delta.value_or(0)),
                       {Method::tight, std::nullopt, terms_.relation, std::nullopt})
          .value;
    } catch (const OutsideConditions&) {
      if (std::none_of(measurements_.begin(), measurements_.end(),
                       [](const OpenMeasurement& d) { return d.has_target; }))
        throw;
      throw OutsideConditions(error_cost_message());
    }
  }

  // Returns the refusal of a study whose `error` settings cost more than its epsilon: the errors,
  // their cost with the cheaper noise, and the epsilon.
  [[nodiscard]] std::string error_cost_message() const {
    std::string names;
    for (const Query& query : study_.queries) {
      if (query.error)
        names += (names.empty() ? "" : ", ") +
                 ("\"" + query.name + "\" (± " + readable(*query.error) + ")");
    }
    const Delta delta(study_.delta.value_or(0));
    std::optional<double> least;
    for (const NoiseKind kind : {NoiseKind::laplace, NoiseKind::gaussian}) {
      std::optional<Plan> plan;
      for (const OpenMeasurement& d : measurements_) {
        if (!d.has_target) continue;
        const Plan leaf =
            study_detail::noise_leaf(kind, d.target_scale[static_cast<int>(kind)], d.l1, d.l2);
        plan = plan ? *plan + leaf : leaf;
      }
      try {
        const double cost =
            epsilon(*plan, delta, {Method::tight, std::nullopt, terms_.relation, std::nullopt})
                .value.upper;
        if (!least || cost < *least) least = cost;
      } catch (const OutsideConditions&) {
        continue;
      }
    }
    return "the `error` settings, of " + names + ", cost " +
           (least && std::isfinite(*least)
                ? "ε = " + rounded(*least, 4, Side::upper) + " by themselves"
                : std::string("too much by themselves")) +
           ", and the study may spend " + readable(*study_.epsilon) +
           " in all: allow larger errors, or a larger epsilon";
  }

  // Returns the candidate with these kinds of noise; empty if a measurement may not have its kind.
  [[nodiscard]] std::optional<Candidate> with(const std::vector<NoiseKind>& kinds) const {
    for (std::size_t i = 0; i < kinds.size(); ++i) {
      if (!may_have(measurements_[i], kinds[i])) return std::nullopt;
    }
    const NoiseAssignment assignment(measurements_, kinds, search_delta(), trainings_);
    double value = 1;
    if (assignment.is_open())
      value = study_.rho
                  ? study_detail::fill_for_rho(assignment, *study_.rho, study_.delta.value_or(0))
                  : fill_for_epsilon(assignment);
    Candidate candidate{kinds, assignment.filled(value), value, 0};
    std::size_t leaf = 0;
    for (std::size_t i = 0; i < measurements_.size(); ++i) {
      const double margin =
          scale_of(candidate.leaves[leaf]) *
          distance_at(kinds[i], 1, std::vector<Weight>{{1.0}}, 1 - study_.confidence);
      if (!measurements_[i].has_target)
        candidate.badness += measurements_[i].share * std::log(margin);
      leaf += measurements_[i].search ? 3 : 1;
    }
    // At equal errors prefer the lower cost in the ledger's currency. ρ, D_α and μ² fall with the
    // square of the noise, ε with the noise itself: hence the weight 1/2 or 1 on the logarithm
    // below.
    double amount = 0;
    if (std::holds_alternative<GdpBudget>(terms_.budget)) {
      amount = squared_mu_of(candidate);
    } else {
      const Decision decision = Filter(terms_.budget, terms_.relation)
                                    .admit(NoiseAssignment::joined(candidate.leaves), charged_at());
      if (is_committed() && !decision.admitted) throw OutsideConditions(decision.reason);
      amount = decision.cost.amount;
    }
    // Less noise improves models as it improves answers.
    double shares = 0;
    for (const OpenMeasurement& d : measurements_) shares += d.has_target ? 0 : d.share;
    for (const TrainingRequest& ask : study_.trainings) {
      shares += ask.share;
      candidate.badness += ask.share * std::log(value);
    }
    if (shares > 0) candidate.badness /= shares;
    candidate.badness += std::log(std::max(amount, 1e-300)) * (approximate() != nullptr ? 1 : 0.5);
    return candidate;
  }

  // Returns the sum of μ² over the parts: slightly more than their joint cost, and fast to compute.
  [[nodiscard]] double squared_mu_of(const Candidate& candidate) const {
    if (std::get<GdpBudget>(terms_.budget).delta == 0 &&
        std::set(candidate.kinds.begin(), candidate.kinds.end()).size() > 1) {
      throw OutsideConditions(
          "Laplace and Gaussian noise together have a μ only with slack, and this ledger has no "
          "slack: use one kind of noise, or a ledger with slack",
          Remedy::ledger_delta);
    }
    double sum = 0;
    for (const Plan& leaf : candidate.leaves) {
      if (leaf.as<Approx>() != nullptr) continue;
      const bool is_noise =
          leaf.as<Laplace>() != nullptr ||
          leaf.as<Gaussian>() != nullptr;  // else a training, which may be sampled
      const double mu =
          approximate_gdp_of(leaf, is_noise ? 0 : slack_of(std::get<GdpBudget>(terms_.budget))).mu;
      sum += mu * mu;
    }
    return sum;
  }

  [[nodiscard]] Candidate choose() const {
    std::optional<Candidate> best;
    std::optional<OutsideConditions> refusal;
    const auto consider = [&](const std::vector<NoiseKind>& kinds) {
      try {
        auto candidate = with(kinds);
        if (candidate && (!best || candidate->badness < best->badness)) best = std::move(candidate);
      } catch (const OutsideConditions& error) {
        refusal = error;
      }
    };
    for (const NoiseKind common : {NoiseKind::laplace, NoiseKind::gaussian}) {
      std::vector<NoiseKind> kinds;
      for (const OpenMeasurement& d : measurements_) {
        const NoiseKind other =
            common == NoiseKind::laplace ? NoiseKind::gaussian : NoiseKind::laplace;
        kinds.push_back(may_have(d, common) || !may_have(d, other) ? common : other);
      }
      consider(kinds);
    }
    // A committed plan fixes the noise of each measurement, in any combination: try all.
    if (is_committed() && measurements_.size() <= 8) {
      for (std::size_t mask = 1; mask + 1 < std::size_t{1} << measurements_.size(); ++mask) {
        std::vector<NoiseKind> kinds;
        for (std::size_t i = 0; i < measurements_.size(); ++i)
          kinds.push_back((mask >> i & 1U) != 0 ? NoiseKind::gaussian : NoiseKind::laplace);
        consider(kinds);
      }
    }
    if (measurements_.size() > 1 && measurements_.size() <= 8 && best) {
      for (std::size_t i = 0; i < measurements_.size(); ++i) {
        auto kinds = best->kinds;
        kinds[i] = kinds[i] == NoiseKind::laplace ? NoiseKind::gaussian : NoiseKind::laplace;
        consider(kinds);
      }
    }
    if (!best) {
      throw refusal ? *refusal
                    : OutsideConditions(
                          "no noise fits both the study and the ledger: Gaussian noise needs a δ");
    }
    return *best;
  }

  void add_total(Design& design) const {
    const double delta = study_.delta.value_or(0) > 0 ? *study_.delta : 1e-6;
    const bool pure =
        trainings_.empty() &&
        std::all_of(design.measurements.begin(), design.measurements.end(),
                    [](const Measurement& m) { return m.kind == NoiseKind::laplace && !m.search; });
    design.total_delta = Delta(pure && study_.delta.value_or(0) == 0 ? 0 : delta);
    design.total = epsilon(design.plan, *design.total_delta,
                           {Method::tight, std::nullopt, terms_.relation, std::nullopt});
  }

  void add_warnings(Design& design) const {
    for (const Measurement& m : design.measurements) {
      const auto asks_error = [&](std::size_t q) { return study_.queries[q].error.has_value(); };
      const auto with_error = std::find_if(m.queries.begin(), m.queries.end(), asks_error);
      if (!m.search || with_error == m.queries.end()) continue;
      design.warnings.push_back(
          "query \"" + study_.queries[*with_error].name +
          "\": the search for its keys has noise as large as its `error` allows, so keys of fewer "
          "than about " +
          readable(read_number(rounded(m.search->selection.threshold(), 3, Side::upper))) +
          (m.aggregate.unit ? " units" : " rows") +
          " will be missing; allow a smaller error, or write a share of the budget instead, to "
          "find more");
    }
    for (const TrainDesign& training : design.trainings) {
      if (!std::holds_alternative<ObjectivePerturbation>(training.how) ||
          approximate() != nullptr || is_committed())
        continue;
      design.warnings.push_back("train \"" + study_.trainings[training.ask].name +
                                "\": this ledger charges the (ε, δ) of method = \"objective\" as "
                                "the worst mechanism with this (ε, δ); "
                                "method = \"output\" costs less");
    }
    if (const std::string doubt =
            large_delta_warning(design.total_delta->value(), study_.public_rows, study_.unit);
        !doubt.empty()) {
      design.warnings.push_back(doubt);
    } else if (study_.public_rows &&
               design.total_delta->value() > 1 / (*study_.public_rows * *study_.public_rows)) {
      design.warnings.push_back(
          "δ = " + shortest(design.total_delta->value()) +
          " is above 1/n² for n = " + shortest(*study_.public_rows) +
          " rows: a mechanism with this δ might publish some rows as they are; 1/n² is " +
          rounded(1 / (*study_.public_rows * *study_.public_rows), 2, Side::lower));
    }
    const double epsilon = design.total->value.upper;
    if (epsilon > 3) {
      // randomized response with this ε is wrong once in 1 + e^ε
      const double wrong = 1 / (1 + std::exp(epsilon));
      design.warnings.push_back(
          "ε = " + rounded(epsilon, 3, Side::upper) +
          " is large: an attacker who tosses a coin about whether someone is in the data could "
          "be " +
          (wrong > 1e-4   ? "right with " + rounded(100 * (1 - wrong), 4, Side::upper) + " %"
           : wrong > 1e-9 ? "wrong in only one of " + readable(std::floor(1 / wrong)) + " cases"
                          : std::string("as good as certain")) +
          " after this study");
    }
  }

  const Study& study_;
  const Terms& terms_;
  std::vector<OpenMeasurement> measurements_;
  std::vector<OpenTraining> trainings_;
  std::int64_t searches_ = 0;
};

// Makes the design; turns InvalidValue into StudyError.
Design run_designer(const Study& study, const Terms& terms) {
  try {
    return Designer(study, terms).make();
  } catch (const InvalidValue& error) {
    throw StudyError(error.what(), 0, error.remedy());
  }
}

}  // namespace

Design make_design(const Study& study, const Terms& terms) {
  const bool has_search = std::any_of(study.queries.begin(), study.queries.end(),
                                      [](const Query& q) { return q.private_keys; });
  // Spending ρ needs no δ, except for private keys.
  const auto share = study.delta || (study.rho && !has_search)
                         ? std::nullopt
                         : share_of_delta(terms.budget, terms.relation, study.epsilon, study.rho);
  if (!share) return run_designer(study, terms);
  Study with_share = study;
  with_share.delta = share;
  Design design = run_designer(with_share, terms);
  const bool is_pure =
      design.trainings.empty() &&
      std::all_of(design.measurements.begin(), design.measurements.end(),
                  [](const Measurement& m) { return m.kind == NoiseKind::laplace && !m.search; });
  if (is_pure) return run_designer(study, terms);  // pure Laplace noise gains nothing from a δ
  design.shares_delta = true;
  return design;
}

Design design_as_charged(const Study& study, const Terms& terms, const std::string& plan) {
  Design design = make_design(study, terms);
  if (!design.shares_delta || print(design.plan) == plan) return design;
  try {
    Design without = run_designer(study, terms);
    if (print(without.plan) == plan) return without;
  } catch (
      const StudyError&) {  // a study that is refused without a δ was never charged without one
  } catch (const OutsideConditions&) {
  }
  return design;
}

}  // namespace sotto
