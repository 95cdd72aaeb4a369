// Chooses the settings of a study's trainings from public information, before anything is charged.
#include <algorithm>
#include <cmath>

#include "learning/api/defaults.hpp"
#include "learning/api/describe.hpp"
#include "learning/api/row_norm.hpp"
#include "sotto/core/decimal.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/learning/model.hpp"
#include "study/design/measure.hpp"
#include "study/design/train_model.hpp"

namespace sotto::study_detail {
namespace {

// The part of a training's budget that its private test gets.
constexpr double test_share = 0.05;
// The part of the test for method = "objective", which costs an (ε, δ) and has no noise to scale.
constexpr double objective_test_share = 0.15;
// The steps of an individually accounted training, relative to uniform accounting. More steps
// exclude more units with long gradients.
constexpr double individual_steps = 1.25;
// Linear models with more features are trained by gradients: the number of moments grows with the
// square.
constexpr std::size_t most_features_of_moments = 128;

// TrainingDesigner chooses the settings of one section [[train]].
class TrainingDesigner {
 public:
  TrainingDesigner(const Study& study, std::size_t index, Relation relation, double mu)
      : study_(study),
        request_(study.trainings[index]),
        index_(index),
        relation_(relation),
        mu_(mu),
        what_("train \"" + request_.name + "\": ") {}

  OpenTraining open_training() {
    RequestedModel requested = requested_model(study_, request_);
    (void)public_data_of(study_, request_, requested.query);
    is_network_ = requested.is_network;
    TrainDesign design{index_,
                       std::move(requested.query),
                       requested.classes,
                       requested.description,
                       requested.loss,
                       Training{},
                       gaussian(1),
                       request_.test,
                       std::nullopt,
                       false};
    require_method(design.loss);
    const double factor = request_.method == "output"      ? output(design)
                          : request_.method == "objective" ? objective(design)
                          : is_of_moments(design)          ? moments(design)
                          : request_.individual            ? individual(design)
                                                           : gradient(design);
    return {std::move(design), factor, rows() / std::sqrt(request_.share * test_share),
            strength_is_open_ ? units() : 0};
  }

 private:
  [[noreturn]] void fail(const std::string& why) const {
    throw StudyError(what_ + why, request_.line);
  }

  [[nodiscard]] double rows() const {
    return study_.unit == "row" ? 1 : static_cast<double>(request_.rows);
  }

  [[nodiscard]] double units() const {
    if (request_.units) return std::max(1.0, *request_.units * (1 - request_.test));
    if (study_.public_rows)
      return std::max(
          1.0, *study_.public_rows / (study_.unit == "row" ? 1 : rows()) * (1 - request_.test));
    fail("`units` is missing: write about how many " +
         (study_.unit == "row" ? "rows" : "\"" + study_.unit + "\"") +
         " there are, from public knowledge, such as units = 10000: gradients are divided by it");
  }

  // Whether the request has a setting that only gradient steps use.
  [[nodiscard]] bool says_steps() const {
    return request_.steps || request_.batch || request_.clip || request_.step_size ||
           !request_.clipping.empty() || !request_.optimiser.empty();
  }
  [[nodiscard]] bool is_of_moments(const TrainDesign& design) const {
    return design.loss.kind == LossKind::squared && !is_network_ && request_.method != "gradient" &&
           !request_.individual && !says_steps() && !request_.l2 &&
           width_of(design.query) <= most_features_of_moments;
  }

  void require_method(const LossFunction& loss) const {
    const std::string& method = request_.method;
    if (!method.empty() && method != "gradient" && method != "moments" && method != "output" &&
        method != "objective") {
      fail("`method` is \"gradient\", \"moments\", \"output\" or \"objective\"");
    }
    if (method == "moments" && (loss.kind != LossKind::squared || is_network_))
      fail("method = \"moments\" is for model = \"linear\"");
    if (method == "moments" && (says_steps() || request_.l2)) {
      fail(
          "steps, batch, clip, step_size, l2, clipping and optimiser belong to method = "
          "\"gradient\": leave them out, or write method = \"gradient\"");
    }
    const bool perturbs = method == "output" || method == "objective";
    if (perturbs &&
        (is_network_ || (loss.kind != LossKind::logistic && loss.kind != LossKind::huber))) {
      fail("method = \"" + method +
           "\" is proved for convex losses whose slope is bounded: model = \"logistic\" or "
           "\"huber\"" +
           (loss.kind == LossKind::squared && !is_network_
                ? "; for \"linear\" write method = \"moments\""
                : "; otherwise method = \"gradient\""));
    }
    if (perturbs && says_steps()) {
      fail(
          "steps, batch, clip, step_size, clipping and optimiser belong to method = \"gradient\": "
          "method = \"" +
          method + "\" finds a minimum, and only has the setting `l2`");
    }
    if (request_.individual && !method.empty() && method != "gradient") {
      fail(
          "accounting = \"individual\" follows the gradients of each unit: it goes with method = "
          "\"gradient\"");
    }
    if (request_.individual && request_.batch)
      fail("accounting = \"individual\" is proved for all units in each step: leave out `batch`");
    if (request_.individual && !request_.clipping.empty() && request_.clipping != "flat") {
      fail("accounting = \"individual\" is proved for clipping to one norm: leave out `clipping`");
    }
    if (request_.individual && relation_ != Relation::add_remove &&
        relation_ != Relation::zero_out) {
      fail(
          "accounting = \"individual\" is proved for units that are added or removed, and the "
          "ledger's relation is " +
          std::string(name(relation_)) + ": leave it out");
    }
  }

  // Returns the convex problem of a perturbation method; its strength is 0 if it is not chosen yet.
  [[nodiscard]] ConvexProblem problem(const TrainDesign& design) const {
    const double longest =
        design.query.image
            ? std::sqrt(static_cast<double>(width_of(design.query)) + 1) * (1 + 0x1p-40)
            : row_norm(design.query.features, false);
    return {.width = width_of(design.query),
            .loss = design.loss,
            .norm = longest,
            .strength = request_.l2 ? *request_.l2 * units() : 0,
            .relation = relation_};
  }
  void require_l2() const {
    if (request_.l2 && !(*request_.l2 > 0))
      fail(
          "`l2` must be above 0, so that the minimum is unique: write a positive number, or remove "
          "it to have one chosen from public numbers");
  }

  double output(TrainDesign& design) {
    require_l2();
    OutputPerturbation perturbation{.problem = problem(design)};
    strength_is_open_ = !request_.l2;
    if (strength_is_open_) perturbation.problem.strength = 1;
    design.how = perturbation;
    return 1 / std::sqrt(request_.share);
  }

  // Objective perturbation costs a fixed (ε, δ) and has no noise to scale. It gets its share of the
  // study's ε and δ, and calibration spends the rest on the other parts.
  double objective(TrainDesign& design) const {
    require_l2();
    if (!study_.epsilon)
      fail(
          "method = \"objective\" costs an ε and a δ: write epsilon and delta below [budget], or "
          "method = \"output\"");
    if (study_.unit != "row" && request_.rows != 1) {
      fail(
          "method = \"objective\" is proved for units with one row: write rows = 1, or method = "
          "\"output\", which takes the mean of a unit's rows");
    }
    const double part =
        request_.share / shares() * (design.test > 0 ? 1 - objective_test_share : 1);
    ObjectivePerturbation perturbation = objective_perturbation_for(
        problem(design), Epsilon(*study_.epsilon * part), Delta(*study_.delta * part));
    // Run on no rows: settings that cannot work throw here, before the charge.
    (void)learn(Examples::Builder(perturbation.problem.width).build(), perturbation);
    design.how = perturbation;
    design.event = plan_of(perturbation);
    return 1;
  }

  // Takes more steps than uniform accounting would admit with equal noise: units with short
  // gradients can pay for them.
  double individual(TrainDesign& design) {
    (void)gradient(design);
    Training training = std::get<Training>(design.how);
    training.sampling = FullBatch{};
    training.batch = units();
    if (!request_.steps)
      training.steps = static_cast<std::int64_t>(individual_steps * (is_network_ ? 200 : 80));
    design.how = IndividualTraining{.training = training, .mu = 1};
    return 1 / std::sqrt(request_.share);
  }

  // The indicators of all levels of a category sum to the intercept's constant 1, so their weights
  // are not identified. The first level becomes the reference and gets no indicator.
  void drop_first_levels(TrainDesign& design) const {
    std::vector<Feature> features;
    for (Feature& feature : design.query.features) {
      auto* category = std::get_if<OneOf>(&feature.encoding);
      if (category != nullptr && feature.field.value.type() != Type::boolean) {
        category->reference = category->values.front();
        category->values.erase(category->values.begin());
        if (category->values.empty()) continue;  // one level is a constant
      }
      features.push_back(std::move(feature));
    }
    design.query.features = std::move(features);
    if (design.query.features.empty())
      fail("every feature has only one value, so there is nothing to learn from: add features");
    design.model = make_model(LinearModel{width_of(design.query), design.loss, 2})->description();
  }

  double moments(TrainDesign& design) const {
    drop_first_levels(design);
    design.how =
        SufficientStatistics{.width = width_of(design.query),
                             .norm = row_norm(design.query.features, true) * std::sqrt(rows()),
                             .rows_a_unit = static_cast<std::int64_t>(rows()),
                             .relation = relation_};
    return 1 / std::sqrt(request_.share);
  }

  double gradient(TrainDesign& design) const {
    const auto model = model_of(design.model);
    const double longest =
        design.query.image
            ? std::sqrt(static_cast<double>(width_of(design.query)) + 1) * (1 + 0x1p-40)
            : row_norm(design.query.features, false);
    Training training = default_training(
        *model, {units(), longest, mu_ * std::sqrt(request_.share / shares())}, relation_);
    if (request_.steps) training.steps = *request_.steps;
    if (request_.batch) {
      const double rate = read_number(rounded(*request_.batch / units(), 6, Side::lower));
      if (!(rate <= 1))
        fail("`batch` is larger than the number of units, " + shortest(units()) +
             ": write a smaller number");
      training.batch = *request_.batch;
      if (rate < 1) {
        if (relation_ != Relation::add_remove)
          fail(
              "a `batch` is drawn by Poisson sampling, for ledgers whose relation is add-remove: "
              "leave it out");
        training.sampling = PoissonSampling{rate};
      } else {
        training.sampling = FullBatch{};
      }
    }
    if (auto* poisson = std::get_if<PoissonSampling>(&training.sampling))
      poisson->rate = read_number(rounded(poisson->rate, 6, Side::lower));
    if (request_.clip) training.clipping.norm = *request_.clip;
    if (request_.clipping == "adaptive") {
      // Noise of 1/20 of the batch is accurate enough for a quantile and costs almost nothing.
      training.clipping.adaptive =
          AdaptiveClipping{.noise = std::max(10.0, std::ceil(training.batch / 20))};
    } else if (!request_.clipping.empty()) {
      training.clipping.kind = parse_clipping(request_.clipping);
    }
    if (!request_.optimiser.empty()) training.optimiser.kind = parse_optimiser(request_.optimiser);
    if (request_.step_size) training.optimiser.size = *request_.step_size;
    if (request_.l2) training.optimiser.l2 = *request_.l2;
    design.never_clipped =
        !is_network_ && is_never_clipped(design.loss, longest * rows(), training.clipping);
    const double steps = std::sqrt(static_cast<double>(training.steps));
    const auto* sampled = std::get_if<PoissonSampling>(&training.sampling);
    design.how = training;
    return (relation_ == Relation::replace_one ? 2 : 1) * steps *
           (sampled != nullptr ? sampled->rate : 1) / std::sqrt(request_.share);
  }

  [[nodiscard]] double shares() const {
    double all = 0;
    for (const Query& query : study_.queries) all += query.error ? 0 : query.share;
    for (const TrainingRequest& ask : study_.trainings) all += ask.share;
    return all;
  }

  const Study& study_;
  const TrainingRequest& request_;
  std::size_t index_;
  Relation relation_;
  double mu_;
  std::string what_;
  bool is_network_ = false;
  bool strength_is_open_ = false;
};

double six_digits(double value) { return read_number(rounded(value, 6, Side::upper)); }

Plan test_plan(const OpenTraining& open_training, const Parameter& noise, Relation relation) {
  const double rows = static_cast<double>(open_training.design.query.rows_a_unit);
  return gaussian(
      noise, relation == Relation::replace_one ? rows * std::nextafter(std::sqrt(2.0), 2.0) : rows);
}

Relation relation_of(const Training& training) { return training.relation; }
Relation relation_of(const SufficientStatistics& statistics) { return statistics.relation; }
Relation relation_of(const OutputPerturbation& perturbation) {
  return perturbation.problem.relation;
}
Relation relation_of(const ObjectivePerturbation& perturbation) {
  return perturbation.problem.relation;
}
Relation relation_of(const IndividualTraining& individual) { return individual.training.relation; }
Relation relation_of(const TrainDesign& design) {
  return std::visit([](const auto& how) { return relation_of(how); }, design.how);
}

// Sets the calibrated noise. If `units` > 0, also sets the regularisation strength that is best for
// this number of units.
void set(Training& training, double noise, double) { training.noise = noise; }
void set(SufficientStatistics& statistics, double noise, double) { statistics.noise = noise; }
void set(OutputPerturbation& perturbation, double noise, double units) {
  perturbation.noise = noise;
  if (units > 0)
    perturbation.problem.strength =
        six_digits(balanced_strength(perturbation.problem, noise, units));
}
void set(ObjectivePerturbation&, double, double) {}
void set(IndividualTraining& individual, double noise, double) {
  // 1/noise is rounded down, so that gdp(mu) costs no more than gaussian(noise)
  individual.mu = read_number(rounded(1 / noise, 6, Side::lower));
  const double uniform =
      std::max(1.0, std::ceil(static_cast<double>(individual.training.steps) / individual_steps));
  individual.training.noise = six_digits(std::sqrt(uniform) / individual.mu);
}

}  // namespace

std::vector<OpenTraining> open_trainings(const Study& study, Relation relation, double mu) {
  std::vector<OpenTraining> trainings;
  for (std::size_t i = 0; i < study.trainings.size(); ++i) {
    try {
      trainings.push_back(TrainingDesigner(study, i, relation, mu).open_training());
    } catch (const InvalidValue& error) {
      throw StudyError("train \"" + study.trainings[i].name + "\": " + error.what(),
                       study.trainings[i].line);
    } catch (const OutsideConditions& error) {
      throw OutsideConditions("train \"" + study.trainings[i].name + "\": " + error.what());
    }
  }
  return trainings;
}

std::vector<Plan> open_events(const OpenTraining& open_training) {
  std::vector<Plan> events;
  if (const auto* training = std::get_if<Training>(&open_training.design.how)) {
    events.push_back(plan_to_calibrate(*training, open_training.factor));
  } else if (const auto* perturbation =
                 std::get_if<ObjectivePerturbation>(&open_training.design.how)) {
    events.push_back(plan_of(*perturbation));
  } else {
    events.push_back(gaussian(Hole{open_training.factor}));
  }
  if (open_training.design.test > 0)
    events.push_back(test_plan(open_training, Hole{open_training.test_factor},
                               relation_of(open_training.design)));
  return events;
}

void set_noise(OpenTraining& open_training, double value) {
  TrainDesign& design = open_training.design;
  std::visit(
      [&](auto& how) {
        set(how, six_digits(open_training.factor * value), open_training.units);
        design.event = plan_of(how);
      },
      design.how);
  if (design.test > 0)
    design.test_event = test_plan(open_training, six_digits(open_training.test_factor * value),
                                  relation_of(design));
}

}  // namespace sotto::study_detail
