#include "study/api/design.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <set>

#include "study/design/measure.hpp"
#include "accounting/api/approximate_gdp.hpp"
#include "sotto/accounting/calibrate.hpp"
#include "accounting/api/currencies.hpp"
#include "sotto/core/decimal.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/mechanisms/additive.hpp"
#include "mechanisms/api/combined.hpp"
#include "sotto/plan/holes.hpp"
#include "sotto/plan/text.hpp"
#include "privacy/api/gaussian.hpp"
#include "privacy/api/large_delta.hpp"

namespace sotto {
namespace {

using study_detail::OpenMeasurement;
using study_detail::OpenTraining;

// The share of a measurement with private keys that goes into finding them.
constexpr double search_share = 0.5;

Plan noise(NoiseKind kind, const Parameter& scale, double l1, double l2) {
  return kind == NoiseKind::laplace ? laplace(scale, l1) : gaussian(scale, l2);
}

// One unknown scales all noise: a measurement with twice the share costs about twice as much, in ε or in ρ.
Parameter open_noise(NoiseKind kind, double share, double l1, double l2) {
  return Hole{kind == NoiseKind::laplace ? l1 / share : l2 / std::sqrt(share)};
}

double number(const Parameter& parameter) { return parameter.value(); }

double scale_of(const Plan& leaf) {
  if (const auto* l = leaf.as<Laplace>()) return number(l->b);
  return number(leaf.as<Gaussian>()->sigma);
}

Plan with_six_digits(const Plan& leaf) {
  const double scale = read_number(rounded(scale_of(leaf), 6, Side::upper));
  if (const auto* l = leaf.as<Laplace>()) return laplace(scale, l->sensitivity);
  return gaussian(scale, leaf.as<Gaussian>()->sensitivity);
}

// How each measurement could be noised: two or one plan leaves a measurement, in its order.
class NoiseAssignment {
 public:
  NoiseAssignment(const std::vector<OpenMeasurement>& drafts, const std::vector<NoiseKind>& kinds, double search_delta, const std::vector<OpenTraining>& trainings)
      : trainings_(trainings) {
    for (std::size_t i = 0; i < drafts.size(); ++i) {
      const OpenMeasurement& d = drafts[i];
      const double share = d.search ? d.share * (1 - search_share) : d.share;
      const Parameter scale = d.has_target ? Parameter(d.target_scale[static_cast<int>(kinds[i])]) : open_noise(kinds[i], share, d.l1, d.l2);
      leaves_.push_back(noise(kinds[i], scale, d.l1, d.l2));
      if (!d.search) continue;
      const Parameter of_search = d.has_target ? Parameter(number(scale) * (kinds[i] == NoiseKind::laplace ? d.search_l1 / d.l1 : d.search_l2 / d.l2))
                                               : open_noise(kinds[i], d.share * search_share, d.search_l1, d.search_l2);
      leaves_.push_back(noise(kinds[i], of_search, d.search_l1, d.search_l2));
      leaves_.push_back(approx(0, search_delta));
    }
    for (const OpenTraining& draft : trainings) {
      for (const Plan& event : study_detail::open_events(draft)) events_.push_back(event);
    }
  }

  [[nodiscard]] bool is_open() const {
    const auto has_hole = [](const Plan& leaf) { return !holes_of(leaf).empty(); };
    return std::any_of(events_.begin(), events_.end(), has_hole) || std::any_of(leaves_.begin(), leaves_.end(), has_hole);
  }
  [[nodiscard]] Plan plan() const {
    std::vector<Plan> all = leaves_;
    all.insert(all.end(), events_.begin(), events_.end());
    return joined(all);
  }
  /// Noise of six digits, rounded up: a plan that can be read, and costs no more.
  [[nodiscard]] std::vector<Plan> filled(double value) const {
    std::vector<Plan> all;
    for (const Plan& leaf : leaves_) all.push_back(holes_of(leaf).empty() ? leaf : with_six_digits(fill(leaf, value)));
    for (OpenTraining draft : trainings_) {
      study_detail::set_noise(draft, value);
      all.push_back(draft.design.event);
      if (draft.design.test_event) all.push_back(*draft.design.test_event);
    }
    return all;
  }
  static Plan joined(const std::vector<Plan>& leaves) {
    Plan all = leaves.front();
    for (std::size_t i = 1; i < leaves.size(); ++i) all = all + leaves[i];
    return all;
  }

 private:
  std::vector<Plan> leaves_;  // of measurements
  std::vector<Plan> events_;  // of trainings and their tests
  const std::vector<OpenTraining>& trainings_;
};

Charge cost_of(const Plan& plan, const Terms& terms, std::optional<Delta> at) { return Filter(terms.budget, terms.relation).admit(plan, at).cost; }

// The least number for the holes with which the plan's ρ is at most this; its searches cost δ.
double fill_for_rho(const NoiseAssignment& noising, double rho, double delta) {
  const auto enough = [&](double value) {
    try {
      return Filter(ZcdpBudget{rho, delta}, Relation::as_stated).admit(NoiseAssignment::joined(noising.filled(value))).admitted;
    } catch (const InvalidValue&) {
      return false;
    }
  };
  double high = 1;
  while (!enough(high)) {
    high *= 2;
    if (high > 1e30) throw OutsideConditions("no noise is enough for rho = " + shortest(rho) + ": the study's errors alone cost more");
  }
  double low = high / 2;
  while (enough(low)) {
    high = low;
    low /= 2;
    if (low < 1e-30) break;
  }
  for (int i = 0; i < 60; ++i) {
    const double middle = low + (high - low) / 2;
    (enough(middle) ? high : low) = middle;
  }
  return high;
}

struct Candidate {
  std::vector<NoiseKind> kinds;
  std::vector<Plan> leaves;
  double value;    // what fills the holes
  double badness;  // the errors, weighted by share, in logarithms; then the cost
};

class Designer {
 public:
  Designer(const Study& study, const Terms& terms) : study_(study), terms_(terms), measurements_(study_detail::open_measurements(study, terms.relation)) {
    searches_ = std::count_if(measurements_.begin(), measurements_.end(), [](const OpenMeasurement& d) { return d.search.has_value(); });
    check_budget();
    if (!study.trainings.empty()) trainings_ = study_detail::open_trainings(study, terms.relation, mu());
  }

  Design design() {
    Candidate best = choose();
    std::vector<Measurement> measurements;
    std::size_t next = 0;
    for (std::size_t i = 0; i < measurements_.size(); ++i) {
      OpenMeasurement& d = measurements_[i];
      const Plan event = best.leaves[next++];
      require_noise(event);
      Measurement m{d.aggregate, d.form, d.queries, d.l1, d.l2, best.kinds[i], scale_of(event), event, std::nullopt};
      if (d.search) {
        const Plan of_search = best.leaves[next++];
        require_noise(of_search);
        ++next;  // the leaf of the selection's δ
        m.search = KeySearch{*d.search, PartitionSelection(of_search, search_delta(), d.search->groups_a_unit)};
      }
      measurements.push_back(std::move(m));
    }
    std::vector<TrainDesign> trainings;
    for (OpenTraining& draft : trainings_) {
      study_detail::set_noise(draft, best.value);
      trainings.push_back(std::move(draft.design));
    }
    const Plan plan = charged_plan(measurements, trainings);
    Design found{terms_.relation, std::move(measurements), std::move(trainings), plan, {}, charged_at(), std::nullopt, std::nullopt, {}};
    found.cost = cost_of(found.plan, terms_, found.at);
    if (std::holds_alternative<GdpBudget>(terms_.budget)) found.at = Delta(found.cost.delta);  // the slack that it was found to need
    add_total(found);
    add_warnings(found);
    return found;
  }

 private:
  // Returns the events of everything that is drawn, each read from the object that draws it.
  static Plan charged_plan(const std::vector<Measurement>& measurements, const std::vector<TrainDesign>& trainings) {
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
      throw InvalidValue("the noise " + print(event) + " is too large: the bounds are too wide, or the budget too small");
  }

  [[nodiscard]] const ApproximateBudget* approximate() const { return std::get_if<ApproximateBudget>(&terms_.budget); }

  [[nodiscard]] bool has_no_delta() const { return Filter(terms_.budget, terms_.relation).limit().delta == 0 && !is_committed(); }
  [[nodiscard]] bool is_committed() const { return std::holds_alternative<CommittedBudget>(terms_.budget); }

  // What the whole study may spend, as one Gaussian release with its budget would.
  [[nodiscard]] double mu() const {
    if (study_.rho) return std::sqrt(2 * *study_.rho);
    return 1 / calibrate(gaussian(hole), Epsilon(*study_.epsilon), Delta(*study_.delta)).value;
  }

  void check_budget() const {
    const bool all_targets = study_.trainings.empty() && std::all_of(measurements_.begin(), measurements_.end(), [](const OpenMeasurement& d) { return d.has_target; });
    if (!all_targets && !study_.epsilon && !study_.rho) {
      throw StudyError("how much may this study spend? Write [budget] with epsilon = 1 and delta = 1e-6" +
                           std::string(std::holds_alternative<ZcdpBudget>(terms_.budget) ? ", or rho = 0.05" : "") +
                           ", or give every query an `error`",
                       study_.budget_line);
    }
    if (!study_.trainings.empty() && !study_.rho && study_.delta.value_or(0) == 0) {
      throw StudyError("a model is learned under Gaussian noise, which needs a δ: write delta = 1e-6 below [budget]", study_.budget_line);
    }
    for (const TrainingRequest& ask : study_.trainings) {
      if (ask.method != "objective" || !std::holds_alternative<GdpBudget>(terms_.budget)) continue;
      throw StudyError(
          "train \"" + ask.name +
              "\": method = \"objective\" guarantees an (ε, δ), and a ledger in Gaussian DP has room for the δ of its slack alone: write "
              "method = \"output\" or \"gradient\", or make a ledger that adds up ε and δ",
          ask.line, Remedy::sum_ledger);
    }
    if (study_.rho && !std::holds_alternative<ZcdpBudget>(terms_.budget)) {
      throw StudyError("budget: rho needs a ledger that counts ρ; this one counts otherwise: write epsilon and delta", study_.budget_line);
    }
    if (approximate() != nullptr && approximate()->delta == 0 && study_.delta.value_or(0) > 0 && searches_ == 0) {
      throw StudyError("budget: this ledger has no δ to spend: leave `delta` out", study_.budget_line);
    }
    if (searches_ > 0 && study_.delta.value_or(0) == 0 && !has_no_delta()) {
      throw StudyError("private keys need a δ: write delta = 1e-6 below [budget]", study_.budget_line);
    }
    if (searches_ > 0 && has_no_delta()) {
      throw StudyError("private keys cost a δ, and this ledger has none: make one that has, or name the keys by values = […] if they are public",
                       study_.budget_line, Remedy::ledger_delta);
    }
    if (approximate() != nullptr && !study_.epsilon) {
      throw StudyError("this ledger counts ε and δ: write epsilon and delta below [budget]", study_.budget_line);
    }
  }

  // In a Gaussian ledger a study has the part of the slack that it has of μ²: its μ is that of Gaussian noise with its ε and δ.
  [[nodiscard]] double slack_of(const GdpBudget& budget) const {
    if (!study_.epsilon || study_.delta.value_or(0) == 0) return budget.delta / 16;
    return slack_share(budget, 1 / gaussian_exact_sigma(*study_.epsilon, *study_.delta, Side::upper));
  }

  [[nodiscard]] double search_delta() const {
    if (searches_ == 0) return 0;
    if (const auto* gaussian = std::get_if<GdpBudget>(&terms_.budget)) {  // half of it: the noise may need some, too
      const double most = std::min(slack_of(*gaussian), *study_.delta) / 2 / static_cast<double>(searches_);
      return read_number(rounded(most * (1 - 1e-12), 3, Side::lower));
    }
    return read_number(rounded(*study_.delta / (study_.rho ? 1 : 2) / static_cast<double>(searches_) * (1 - 1e-12), 6, Side::lower));
  }

  [[nodiscard]] std::optional<Delta> charged_at() const {
    if (approximate() == nullptr || study_.delta.value_or(0) == 0) return std::nullopt;
    return Delta(*study_.delta);
  }

  [[nodiscard]] bool may_be(const OpenMeasurement& draft, NoiseKind kind) const {
    for (const std::size_t q : draft.queries) {
      const NoiseChoice asked = study_.queries[q].noise;
      if (asked != NoiseChoice::best && (asked == NoiseChoice::laplace) != (kind == NoiseKind::laplace)) return false;
    }
    if (kind == NoiseKind::laplace) return true;
    if (approximate() != nullptr && approximate()->delta == 0) return false;
    return study_.rho || study_.delta.value_or(0) > 0 || (!study_.epsilon && approximate() == nullptr);
  }

  [[nodiscard]] double fill_for_epsilon(const NoiseAssignment& noising) const {
    try {
      return calibrate(noising.plan(), Epsilon(*study_.epsilon), Delta(study_.delta.value_or(0)),
                       {Method::tight, std::nullopt, terms_.relation, std::nullopt})
          .value;
    } catch (const OutsideConditions&) {
      if (std::none_of(measurements_.begin(), measurements_.end(), [](const OpenMeasurement& d) { return d.has_target; })) throw;
      throw OutsideConditions(too_dear());
    }
  }

  // Which errors are asked for, what they cost by themselves with the cheaper noise, and what there is.
  [[nodiscard]] std::string too_dear() const {
    std::string names;
    for (const Query& query : study_.queries) {
      if (query.error) names += (names.empty() ? "" : ", ") + ("\"" + query.name + "\" (± " + readable(*query.error) + ")");
    }
    const Delta delta(study_.delta.value_or(0));
    std::optional<double> least;
    for (const NoiseKind kind : {NoiseKind::laplace, NoiseKind::gaussian}) {
      std::optional<Plan> plan;
      for (const OpenMeasurement& d : measurements_) {
        if (!d.has_target) continue;
        const Plan leaf = noise(kind, d.target_scale[static_cast<int>(kind)], d.l1, d.l2);
        plan = plan ? *plan + leaf : leaf;
      }
      try {
        const double cost = epsilon(*plan, delta, {Method::tight, std::nullopt, terms_.relation, std::nullopt}).value.upper;
        if (!least || cost < *least) least = cost;
      } catch (const OutsideConditions&) {
        continue;
      }
    }
    return "the errors that are asked for, of " + names + ", cost " +
           (least && std::isfinite(*least) ? "ε = " + rounded(*least, 4, Side::upper) + " by themselves" : std::string("too much by themselves")) +
           ", and the study may spend " + readable(*study_.epsilon) + " on everything: ask for larger errors, or allow a larger epsilon";
  }

  // Fills the noise of these kinds; empty where that cannot be accounted for.
  [[nodiscard]] std::optional<Candidate> with(const std::vector<NoiseKind>& kinds) const {
    for (std::size_t i = 0; i < kinds.size(); ++i) {
      if (!may_be(measurements_[i], kinds[i])) return std::nullopt;
    }
    const NoiseAssignment noising(measurements_, kinds, search_delta(), trainings_);
    double value = 1;
    if (noising.is_open()) value = study_.rho ? fill_for_rho(noising, *study_.rho, study_.delta.value_or(0)) : fill_for_epsilon(noising);
    Candidate found{kinds, noising.filled(value), value, 0};
    std::size_t leaf = 0;
    for (std::size_t i = 0; i < measurements_.size(); ++i) {
      const double margin = scale_of(found.leaves[leaf]) * distance_at(kinds[i], 1, std::vector<Weight>{{1.0}}, 1 - study_.confidence);
      if (!measurements_[i].has_target) found.badness += measurements_[i].share * std::log(margin);
      leaf += measurements_[i].search ? 3 : 1;
    }
    // at equal errors the cheaper one in the ledger's currency: ρ, D_α and μ² fall with the square of the noise, ε with the noise
    double amount = 0;
    if (std::holds_alternative<GdpBudget>(terms_.budget)) {
      amount = squared_mu_of(found);
    } else {
      const Decision decision = Filter(terms_.budget, terms_.relation).admit(NoiseAssignment::joined(found.leaves), charged_at());
      if (is_committed() && !decision.admitted) throw OutsideConditions(decision.reason);
      amount = decision.cost.amount;
    }
    // models gain by less noise as answers do
    double shares = 0;
    for (const OpenMeasurement& d : measurements_) shares += d.has_target ? 0 : d.share;
    for (const TrainingRequest& ask : study_.trainings) {
      shares += ask.share;
      found.badness += ask.share * std::log(value);
    }
    if (shares > 0) found.badness /= shares;
    found.badness += std::log(std::max(amount, 1e-300)) * (approximate() != nullptr ? 1 : 0.5);
    return found;
  }

  // What the parts cost one by one, which is a little more than together and is found at once.
  [[nodiscard]] double squared_mu_of(const Candidate& candidate) const {
    if (std::get<GdpBudget>(terms_.budget).delta == 0 && std::set(candidate.kinds.begin(), candidate.kinds.end()).size() > 1) {
      throw OutsideConditions("Laplace beside Gaussian noise has no mu without slack, and this ledger has none: make one that has",
                              Remedy::ledger_delta);
    }
    double sum = 0;
    for (const Plan& leaf : candidate.leaves) {
      if (leaf.as<Approx>() != nullptr) continue;
      const bool is_noise = leaf.as<Laplace>() != nullptr || leaf.as<Gaussian>() != nullptr;  // else a training, which may be sampled
      const double mu = approximate_gdp_of(leaf, is_noise ? 0 : slack_of(std::get<GdpBudget>(terms_.budget))).mu;
      sum += mu * mu;
    }
    return sum;
  }

  [[nodiscard]] Candidate choose() const {
    std::optional<Candidate> best;
    std::optional<OutsideConditions> refusal;
    const auto consider = [&](const std::vector<NoiseKind>& kinds) {
      try {
        auto found = with(kinds);
        if (found && (!best || found->badness < best->badness)) best = std::move(found);
      } catch (const OutsideConditions& error) {
        refusal = error;
      }
    };
    for (const NoiseKind common : {NoiseKind::laplace, NoiseKind::gaussian}) {
      std::vector<NoiseKind> kinds;
      for (const OpenMeasurement& d : measurements_) {
        const NoiseKind other = common == NoiseKind::laplace ? NoiseKind::gaussian : NoiseKind::laplace;
        kinds.push_back(may_be(d, common) || !may_be(d, other) ? common : other);
      }
      consider(kinds);
    }
    // a committed plan says which noise each measurement has: any of them
    if (is_committed() && measurements_.size() <= 8) {
      for (std::size_t mask = 1; mask + 1 < std::size_t{1} << measurements_.size(); ++mask) {
        std::vector<NoiseKind> kinds;
        for (std::size_t i = 0; i < measurements_.size(); ++i) kinds.push_back((mask >> i & 1U) != 0 ? NoiseKind::gaussian : NoiseKind::laplace);
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
      throw refusal ? *refusal : OutsideConditions("no noise fits both the study and the ledger: Gaussian noise needs a δ");
    }
    return *best;
  }

  void add_total(Design& found) const {
    const double delta = study_.delta.value_or(0) > 0 ? *study_.delta : 1e-6;
    const bool pure = trainings_.empty() && std::all_of(found.measurements.begin(), found.measurements.end(),
                                                        [](const Measurement& m) { return m.kind == NoiseKind::laplace && !m.search; });
    found.total_delta = Delta(pure && study_.delta.value_or(0) == 0 ? 0 : delta);
    found.total = epsilon(found.plan, *found.total_delta, {Method::tight, std::nullopt, terms_.relation, std::nullopt});
  }

  void add_warnings(Design& found) const {
    for (const Measurement& m : found.measurements) {
      const auto asks_error = [&](std::size_t q) { return study_.queries[q].error.has_value(); };
      const auto asking = std::find_if(m.queries.begin(), m.queries.end(), asks_error);
      if (!m.search || asking == m.queries.end()) continue;
      found.warnings.push_back("query \"" + study_.queries[*asking].name +
                               "\": its keys are looked for with noise as large as its `error` allows: those of fewer than about " +
                               readable(read_number(rounded(m.search->selection.threshold(), 3, Side::upper))) + (m.aggregate.unit ? " units" : " rows") +
                               " will be missing; a smaller error, or a share of the budget instead, finds more");
    }
    for (const TrainDesign& training : found.trainings) {
      if (!std::holds_alternative<ObjectivePerturbation>(training.how) || approximate() != nullptr || is_committed()) continue;
      found.warnings.push_back("train \"" + study_.trainings[training.ask].name +
                               "\": this ledger charges the (ε, δ) of method = \"objective\" as the worst mechanism that has it; method = \"output\" "
                               "costs it less");
    }
    if (const std::string doubt = large_delta_warning(found.total_delta->value(), study_.public_rows, study_.unit); !doubt.empty()) {
      found.warnings.push_back(doubt);
    } else if (study_.public_rows && found.total_delta->value() > 1 / (*study_.public_rows * *study_.public_rows)) {
      found.warnings.push_back("δ = " + shortest(found.total_delta->value()) + " is above 1/n² for n = " + shortest(*study_.public_rows) +
                               " rows: a mechanism with this δ might publish some rows as they are; 1/n² is " +
                               rounded(1 / (*study_.public_rows * *study_.public_rows), 2, Side::lower));
    }
    const double epsilon = found.total->value.upper;
    if (epsilon > 3) {
      // one in 1 + e^ε is wrong
      const double wrong = 1 / (1 + std::exp(epsilon));
      found.warnings.push_back("ε = " + rounded(epsilon, 3, Side::upper) +
                               " is large: an attacker who tosses a coin about whether someone is in the data could be " +
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

Design designed(const Study& study, const Terms& terms) {
  try {
    return Designer(study, terms).design();
  } catch (const InvalidValue& error) {
    throw StudyError(error.what(), 0, error.remedy());
  }
}

}  // namespace

Design design(const Study& study, const Terms& terms) {
  const bool has_search = std::any_of(study.queries.begin(), study.queries.end(), [](const Query& q) { return q.private_keys; });
  // ρ is spent without δ, but for private keys
  const auto share =
      study.delta || (study.rho && !has_search) ? std::nullopt : share_of_delta(terms.budget, terms.relation, study.epsilon, study.rho);
  if (!share) return designed(study, terms);
  Study with_share = study;
  with_share.delta = share;
  Design found = designed(with_share, terms);
  const bool is_pure = found.trainings.empty() && std::all_of(found.measurements.begin(), found.measurements.end(),
                                                              [](const Measurement& m) { return m.kind == NoiseKind::laplace && !m.search; });
  if (is_pure) return designed(study, terms);  // a δ would be charged for nothing
  found.shares_delta = true;
  return found;
}

Design design_as_charged(const Study& study, const Terms& terms, const std::string& plan) {
  Design found = make_design(study, terms);
  if (!found.shares_delta || print(found.plan) == plan) return found;
  try {
    Design without = designed(study, terms);
    if (print(without.plan) == plan) return without;
  } catch (const StudyError&) {  // without a δ it was never charged
  } catch (const OutsideConditions&) {
  }
  return found;
}

}  // namespace sotto
