// How a study's models are trained: from what is public, before anything is charged.
#include <algorithm>
#include <cmath>

#include "study/design/measure.hpp"
#include "sotto/core/decimal.hpp"
#include "sotto/core/errors.hpp"
#include "learning/api/defaults.hpp"
#include "learning/api/describe.hpp"
#include "sotto/learning/model.hpp"
#include "learning/api/row_norm.hpp"
#include "study/design/train_model.hpp"

namespace sotto::study_detail {
namespace {

// The share of a training's budget that its private test gets.
constexpr double test_share = 0.05;
// The same of a training that has an (ε, δ) and no noise to scale.
constexpr double objective_test_share = 0.15;
// How many times the steps of a uniform account a training with individual accounts takes. Units with long gradients leave on the way, and the more
// so the longer it goes on.
constexpr double individual_steps = 1.25;
// Up to so many features a line is fitted by its moments: their number grows with the square.
constexpr std::size_t most_features_of_moments = 128;

class TrainingDesigner {
 public:
  TrainingDesigner(const Study& study, std::size_t index, Relation relation, double mu)
      : study_(study), ask_(study.trainings[index]), index_(index), relation_(relation), mu_(mu), what_("train \"" + ask_.name + "\": ") {}

  OpenTraining draft() {
    RequestedModel asked = requested_model(study_, ask_);
    (void)public_data_of(study_, ask_, asked.query);
    is_network_ = asked.is_network;
    TrainDesign design{index_,    std::move(asked.query), asked.classes, asked.description, asked.loss, Training{}, gaussian(1),
                       ask_.test, std::nullopt,           false};
    require_method(design.loss);
    const double factor = ask_.method == "output"      ? output(design)
                          : ask_.method == "objective" ? objective(design)
                          : is_of_moments(design)      ? moments(design)
                          : ask_.individual            ? individual(design)
                                                       : gradient(design);
    return {std::move(design), factor, rows() / std::sqrt(ask_.share * test_share), strength_is_open_ ? units() : 0};
  }

 private:
  [[noreturn]] void fail(const std::string& why) const { throw StudyError(what_ + why, ask_.line); }

  [[nodiscard]] double rows() const { return study_.unit == "row" ? 1 : static_cast<double>(ask_.rows); }

  [[nodiscard]] double units() const {
    if (ask_.units) return std::max(1.0, *ask_.units * (1 - ask_.test));
    if (study_.public_rows) return std::max(1.0, *study_.public_rows / (study_.unit == "row" ? 1 : rows()) * (1 - ask_.test));
    fail("about how many " + (study_.unit == "row" ? "rows" : "\"" + study_.unit + "\"") +
         " are there? units = 10000, from public knowledge: gradients are divided by it");
  }

  // Whether something is said that belongs to steps alone.
  [[nodiscard]] bool says_steps() const {
    return ask_.steps || ask_.batch || ask_.clip || ask_.step_size || !ask_.clipping.empty() || !ask_.optimiser.empty();
  }
  [[nodiscard]] bool is_of_moments(const TrainDesign& design) const {
    return design.loss.kind == LossKind::squared && !is_network_ && ask_.method != "gradient" && !ask_.individual && !says_steps() && !ask_.l2 &&
           width_of(design.query) <= most_features_of_moments;
  }

  void require_method(const LossFunction& loss) const {
    const std::string& method = ask_.method;
    if (!method.empty() && method != "gradient" && method != "moments" && method != "output" && method != "objective") {
      fail("`method` is \"gradient\", \"moments\", \"output\" or \"objective\"");
    }
    if (method == "moments" && (loss.kind != LossKind::squared || is_network_)) fail("method = \"moments\" is for model = \"linear\"");
    if (method == "moments" && (says_steps() || ask_.l2)) {
      fail("steps, batch, clip, step_size, l2, clipping and optimiser belong to method = \"gradient\"");
    }
    const bool perturbs = method == "output" || method == "objective";
    if (perturbs && (is_network_ || (loss.kind != LossKind::logistic && loss.kind != LossKind::huber))) {
      fail("method = \"" + method + "\" is proved for convex losses whose slope is bounded: model = \"logistic\" or \"huber\"" +
           (loss.kind == LossKind::squared && !is_network_ ? "; for \"linear\" write method = \"moments\"" : "; else method = \"gradient\""));
    }
    if (perturbs && says_steps()) {
      fail("steps, batch, clip, step_size, clipping and optimiser belong to method = \"gradient\": method = \"" + method +
           "\" finds a minimum, and takes `l2` alone");
    }
    if (ask_.individual && !method.empty() && method != "gradient") {
      fail("accounting = \"individual\" follows the gradients of each unit: it goes with method = \"gradient\"");
    }
    if (ask_.individual && ask_.batch) fail("accounting = \"individual\" is proved for all units in each step: leave out `batch`");
    if (ask_.individual && !ask_.clipping.empty() && ask_.clipping != "flat") {
      fail("accounting = \"individual\" is proved for clipping to one norm: leave out `clipping`");
    }
    if (ask_.individual && relation_ != Relation::add_remove && relation_ != Relation::zero_out) {
      fail("accounting = \"individual\" is proved for units that are added or removed, and the ledger's relation is " + std::string(name(relation_)) +
           ": leave it out");
    }
  }

  // What the minimum of a convex loss is sought of; its strength is 0 where it is still open.
  [[nodiscard]] ConvexProblem problem(const TrainDesign& design) const {
    const double longest =
        design.query.image ? std::sqrt(static_cast<double>(width_of(design.query)) + 1) * (1 + 0x1p-40) : row_norm(design.query.features, false);
    return {
        .width = width_of(design.query), .loss = design.loss, .norm = longest, .strength = ask_.l2 ? *ask_.l2 * units() : 0, .relation = relation_};
  }
  void require_l2() const {
    if (ask_.l2 && !(*ask_.l2 > 0)) fail("`l2` is above 0: the minimum must be one point; without it a strength is chosen from public numbers");
  }

  double output(TrainDesign& design) {
    require_l2();
    OutputPerturbation perturbation{.problem = problem(design)};
    strength_is_open_ = !ask_.l2;
    if (strength_is_open_) perturbation.problem.strength = 1;
    design.how = perturbation;
    return 1 / std::sqrt(ask_.share);
  }

  // One (ε, δ) guarantee has no noise to scale: it has the part of ε and δ that its share is of all, and the others what that leaves.
  double objective(TrainDesign& design) const {
    require_l2();
    if (!study_.epsilon) fail("method = \"objective\" has a cost in ε and δ: write epsilon and delta below [budget], or method = \"output\"");
    if (study_.unit != "row" && ask_.rows != 1) {
      fail("method = \"objective\" is proved for units with one row: write rows = 1, or method = \"output\", which takes the mean of a unit's rows");
    }
    const double part = ask_.share / shares() * (design.test > 0 ? 1 - objective_test_share : 1);
    ObjectivePerturbation perturbation = objective_perturbation_for(problem(design), Epsilon(*study_.epsilon * part), Delta(*study_.delta * part));
    // on no rows: what public numbers decide is found out before the charge
    (void)learn(Examples::Builder(perturbation.problem.width).build(), perturbation);
    design.how = perturbation;
    design.event = plan_of(perturbation);
    return 1;
  }

  // More steps than a uniform account would admit under the same noise: units whose gradients are short can pay for them.
  double individual(TrainDesign& design) {
    (void)gradient(design);
    Training training = std::get<Training>(design.how);
    training.sampling = FullBatch{};
    training.batch = units();
    if (!ask_.steps) training.steps = static_cast<std::int64_t>(individual_steps * (is_network_ ? 200 : 80));
    design.how = IndividualTraining{.training = training, .mu = 1};
    return 1 / std::sqrt(ask_.share);
  }

  // The features of all levels of a category add up to the intercept's, so that their weights are
  // not identified: the first level gets no feature, and the others are compared with it.
  void drop_first_levels(TrainDesign& design) const {
    std::vector<Feature> kept;
    for (Feature& feature : design.query.features) {
      auto* category = std::get_if<OneOf>(&feature.encoding);
      if (category != nullptr && feature.field.value.type() != Type::boolean) {
        category->reference = category->values.front();
        category->values.erase(category->values.begin());
        if (category->values.empty()) continue;  // one level is a constant
      }
      kept.push_back(std::move(feature));
    }
    design.query.features = std::move(kept);
    if (design.query.features.empty()) fail("every feature has one value, so there is nothing to learn from");
    design.model = make_model(LinearModel{width_of(design.query), design.loss, 2})->description();
  }

  double moments(TrainDesign& design) const {
    drop_first_levels(design);
    design.how = SufficientStatistics{.width = width_of(design.query),
                                      .norm = row_norm(design.query.features, true) * std::sqrt(rows()),
                                      .rows_a_unit = static_cast<std::int64_t>(rows()),
                                      .relation = relation_};
    return 1 / std::sqrt(ask_.share);
  }

  double gradient(TrainDesign& design) const {
    const auto model = model_of(design.model);
    const double longest =
        design.query.image ? std::sqrt(static_cast<double>(width_of(design.query)) + 1) * (1 + 0x1p-40) : row_norm(design.query.features, false);
    Training training = default_training(*model, {units(), longest, mu_ * std::sqrt(ask_.share / shares())}, relation_);
    if (ask_.steps) training.steps = *ask_.steps;
    if (ask_.batch) {
      const double rate = read_number(rounded(*ask_.batch / units(), 6, Side::lower));
      if (!(rate <= 1)) fail("a batch has at most all units");
      training.batch = *ask_.batch;
      if (rate < 1) {
        if (relation_ != Relation::add_remove) fail("a `batch` is drawn by Poisson sampling, for ledgers whose relation is add-remove: leave it out");
        training.sampling = PoissonSampling{rate};
      } else {
        training.sampling = FullBatch{};
      }
    }
    if (auto* poisson = std::get_if<PoissonSampling>(&training.sampling)) poisson->rate = read_number(rounded(poisson->rate, 6, Side::lower));
    if (ask_.clip) training.clipping.norm = *ask_.clip;
    if (ask_.clipping == "adaptive") {
      // a part in twenty of the batch tells a quantile well enough, and costs next to nothing
      training.clipping.adaptive = AdaptiveClipping{.noise = std::max(10.0, std::ceil(training.batch / 20))};
    } else if (!ask_.clipping.empty()) {
      training.clipping.kind = parse_clipping(ask_.clipping);
    }
    if (!ask_.optimiser.empty()) training.optimiser.kind = parse_optimiser(ask_.optimiser);
    if (ask_.step_size) training.optimiser.size = *ask_.step_size;
    if (ask_.l2) training.optimiser.l2 = *ask_.l2;
    design.never_clipped = !is_network_ && is_never_clipped(design.loss, longest * rows(), training.clipping);
    const double steps = std::sqrt(static_cast<double>(training.steps));
    const auto* sampled = std::get_if<PoissonSampling>(&training.sampling);
    design.how = training;
    return (relation_ == Relation::replace_one ? 2 : 1) * steps * (sampled != nullptr ? sampled->rate : 1) / std::sqrt(ask_.share);
  }

  [[nodiscard]] double shares() const {
    double all = 0;
    for (const Query& query : study_.queries) all += query.error ? 0 : query.share;
    for (const TrainingRequest& ask : study_.trainings) all += ask.share;
    return all;
  }

  const Study& study_;
  const TrainingRequest& ask_;
  std::size_t index_;
  Relation relation_;
  double mu_;
  std::string what_;
  bool is_network_ = false;
  bool strength_is_open_ = false;
};

double six_digits(double value) { return read_number(rounded(value, 6, Side::upper)); }

Plan test_plan(const OpenTraining& draft, const Parameter& noise, Relation relation) {
  const double rows = static_cast<double>(draft.design.query.rows_a_unit);
  return gaussian(noise, relation == Relation::replace_one ? rows * std::nextafter(std::sqrt(2.0), 2.0) : rows);
}

Relation relation_of(const Training& training) { return training.relation; }
Relation relation_of(const SufficientStatistics& statistics) { return statistics.relation; }
Relation relation_of(const OutputPerturbation& perturbation) { return perturbation.problem.relation; }
Relation relation_of(const ObjectivePerturbation& perturbation) { return perturbation.problem.relation; }
Relation relation_of(const IndividualTraining& individual) { return individual.training.relation; }
Relation relation_of(const TrainDesign& design) {
  return std::visit([](const auto& how) { return relation_of(how); }, design.how);
}

// Sets the noise that fills the study's hole. `units`: for which a strength is chosen, where it is open.
void set(Training& training, double noise, double) { training.noise = noise; }
void set(SufficientStatistics& statistics, double noise, double) { statistics.noise = noise; }
void set(OutputPerturbation& perturbation, double noise, double units) {
  perturbation.noise = noise;
  if (units > 0) perturbation.problem.strength = six_digits(balanced_strength(perturbation.problem, noise, units));
}
void set(ObjectivePerturbation&, double, double) {}
void set(IndividualTraining& individual, double noise, double) {
  // gdp(mu) costs no more than gaussian(noise)
  individual.mu = read_number(rounded(1 / noise, 6, Side::lower));
  const double uniform = std::max(1.0, std::ceil(static_cast<double>(individual.training.steps) / individual_steps));
  individual.training.noise = six_digits(std::sqrt(uniform) / individual.mu);
}

}  // namespace

std::vector<OpenTraining> open_trainings(const Study& study, Relation relation, double mu) {
  std::vector<OpenTraining> drafts;
  for (std::size_t i = 0; i < study.trainings.size(); ++i) {
    try {
      drafts.push_back(TrainingDesigner(study, i, relation, mu).draft());
    } catch (const InvalidValue& error) {
      throw StudyError("train \"" + study.trainings[i].name + "\": " + error.what(), study.trainings[i].line);
    } catch (const OutsideConditions& error) {
      throw OutsideConditions("train \"" + study.trainings[i].name + "\": " + error.what());
    }
  }
  return drafts;
}

std::vector<Plan> open_events(const OpenTraining& draft) {
  std::vector<Plan> events;
  if (const auto* training = std::get_if<Training>(&draft.design.how)) {
    events.push_back(plan_to_calibrate(*training, draft.factor));
  } else if (const auto* perturbation = std::get_if<ObjectivePerturbation>(&draft.design.how)) {
    events.push_back(plan_of(*perturbation));
  } else {
    events.push_back(gaussian(Hole{draft.factor}));
  }
  if (draft.design.test > 0) events.push_back(test_plan(draft, Hole{draft.test_factor}, relation_of(draft.design)));
  return events;
}

void set_noise(OpenTraining& draft, double value) {
  TrainDesign& design = draft.design;
  std::visit(
      [&](auto& how) {
        set(how, six_digits(draft.factor * value), draft.units);
        design.event = plan_of(how);
      },
      design.how);
  if (design.test > 0) design.test_event = test_plan(draft, six_digits(draft.test_factor * value), relation_of(design));
}

}  // namespace sotto::study_detail
