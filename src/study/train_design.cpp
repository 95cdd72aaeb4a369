// How a study's models are trained: from what is public, before anything is charged.
#include <algorithm>
#include <cmath>

#include "measure.hpp"
#include "sotto/core/decimal.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/learning/defaults.hpp"
#include "sotto/learning/describe.hpp"
#include "sotto/learning/network.hpp"

namespace sotto::study_detail {
namespace {

// The share of a training's budget that its private test gets.
constexpr double test_share = 0.05;
// Up to so many features a line is fitted by its moments: their number grows with the square.
constexpr std::size_t most_features_of_moments = 128;

struct Kind {
  const char* name;
  LossKind loss;
};
constexpr Kind kinds[] = {{"logistic", LossKind::logistic},
                          {"svm", LossKind::squared_hinge},
                          {"softmax", LossKind::softmax},
                          {"linear", LossKind::squared},
                          {"huber", LossKind::huber}};

class Drafter {
 public:
  Drafter(const Study& study, std::size_t index, Relation relation, double mu)
      : study_(study), ask_(study.trainings[index]), index_(index), relation_(relation), mu_(mu), what_("train \"" + ask_.name + "\": ") {}

  TrainDraft draft() {
    const LossFunction loss{loss_kind()};
    ExampleQuery query = examples_query(loss);
    const std::size_t classes = loss.is_of_classes() ? std::get<OneOf>(query.target->encoding).values.size() : 0;
    if (loss.is_of_classes() && loss.kind != LossKind::softmax && classes != 2) {
      fail("\"" + ask_.target + "\" has " + std::to_string(classes) + " values, and " + ask_.model + " tells two apart: write model = \"softmax\"");
    }
    const std::size_t width = width_of(query.features);
    TrainDesign design{index_,    std::move(query), classes, described(loss, width, classes), loss, Training{}, gaussian(1),
                       ask_.test, std::nullopt,     false};
    const double factor = by_moments(loss, width) ? moments(design) : gradient(design);
    return {std::move(design), factor, rows() / std::sqrt(ask_.share * test_share)};
  }

 private:
  [[noreturn]] void fail(const std::string& why) const { throw StudyError(what_ + why, ask_.line); }

  [[nodiscard]] bool is_network() const { return ask_.model == "network"; }

  [[nodiscard]] LossKind loss_kind() const {
    if (is_network()) {
      const StudyColumn& column = column_of(study_, ask_.target, ask_.line);
      return column.type == Type::boolean || !column.values.empty() ? LossKind::softmax : LossKind::squared;
    }
    if (!ask_.hidden.empty()) fail("`hidden` layers belong to model = \"network\"");
    std::string all;
    for (const Kind& kind : kinds) {
      if (ask_.model == kind.name) return kind.loss;
      all += (all.empty() ? "" : ", ") + std::string(kind.name);
    }
    fail("`model` is one of: " + all + ", network");
  }

  [[nodiscard]] std::string described(const LossFunction& loss, std::size_t width, std::size_t classes) const {
    if (!is_network()) return make_model(LinearModel{width, loss, std::max<std::size_t>(classes, 2)})->description();
    if (ask_.hidden.empty()) fail("which hidden layers? hidden = [32]");
    std::vector<std::size_t> hidden;
    for (const std::int64_t size : ask_.hidden) hidden.push_back(static_cast<std::size_t>(size));
    if (ask_.activation != "tanh" && ask_.activation != "relu") fail("`activation` is \"tanh\" or \"relu\"");
    return make_model(multilayer_perceptron(width, hidden, parse_layer(ask_.activation), loss, std::max<std::size_t>(classes, 1)))->description();
  }

  [[nodiscard]] double rows() const { return study_.unit == "row" ? 1 : static_cast<double>(ask_.rows); }

  [[nodiscard]] double units() const {
    if (ask_.units) return std::max(1.0, *ask_.units * (1 - ask_.test));
    if (study_.public_rows) return std::max(1.0, *study_.public_rows / (study_.unit == "row" ? 1 : rows()) * (1 - ask_.test));
    fail("about how many " + (study_.unit == "row" ? "rows" : "\"" + study_.unit + "\"") +
         " are there? units = 10000, from public knowledge: gradients are divided by it");
  }

  [[nodiscard]] Feature feature(const StudyColumn& column) const {
    Feature feature{column.name, field_of(study_, column), Scaled{0, 1, true}};
    if (column.type == Type::boolean) {
      feature.encoding = OneOf{{true}};
    } else if (!column.values.empty()) {
      feature.encoding = OneOf{column.values};
    } else if (column.lower && (column.type == Type::integer || column.type == Type::real)) {
      feature.encoding = Scaled{*column.lower, *column.upper, *column.lower == 0};
    } else {
      fail("\"" + column.name + "\" needs bounds = [0, 100] or values = […] below [columns." + column.name +
           "], from public knowledge, or is left out of `features`");
    }
    return feature;
  }

  [[nodiscard]] Feature target(const LossFunction& loss) const {
    const StudyColumn& column = column_of(study_, ask_.target, ask_.line);
    Feature target{column.name, field_of(study_, column), Scaled{0, 1}};
    if (loss.is_of_classes()) {
      if (column.type == Type::boolean) {
        target.encoding = OneOf{{false, true}};
      } else if (column.values.size() < 2) {
        fail("which values does \"" + column.name + "\" have? Write values = […] below [columns." + column.name + "]");
      } else {
        target.encoding = OneOf{column.values};
      }
    } else {
      if (!column.lower)
        fail("\"" + column.name + "\" has no bounds: write bounds = [0, 100] below [columns." + column.name + "], from public knowledge");
      target.encoding = Scaled{*column.lower, *column.upper};
    }
    return target;
  }

  [[nodiscard]] ExampleQuery examples_query(const LossFunction& loss) const {
    ExampleQuery query;
    if (!ask_.where.empty()) {
      query.where = expression(study_, ask_.where, what_ + "in `where`", ask_.line);
      if (query.where->type() != Type::boolean) fail("`where` is a condition, true or false");
    }
    if (ask_.features.empty()) {
      for (const StudyColumn& column : study_.columns) {
        const bool has_encoding = column.type == Type::boolean || !column.values.empty() || column.lower;
        if (has_encoding && column.name != ask_.target && column.name != study_.unit) query.features.push_back(feature(column));
      }
      if (query.features.empty()) fail("no column has bounds or values, so there is nothing to learn from");
    }
    for (const std::string& name : ask_.features) {
      if (name == ask_.target) fail("the target \"" + name + "\" cannot be a feature");
      if (std::count(ask_.features.begin(), ask_.features.end(), name) > 1) fail("the feature \"" + name + "\" is there twice");
      query.features.push_back(feature(column_of(study_, name, ask_.line)));
    }
    query.target = target(loss);
    if (study_.unit != "row") {
      query.unit = field_of(study_, column_of(study_, study_.unit, ask_.line)).value;
      query.rows_a_unit = ask_.rows;
    }
    return query;
  }

  [[nodiscard]] bool by_moments(const LossFunction& loss, std::size_t width) const {
    if (!ask_.method.empty() && ask_.method != "gradient" && ask_.method != "moments") fail("`method` is \"gradient\" or \"moments\"");
    if (ask_.method == "moments" && (loss.kind != LossKind::squared || is_network())) fail("method = \"moments\" is for model = \"linear\"");
    const bool is_set = ask_.steps || ask_.batch || ask_.clip || ask_.step_size || ask_.l2 || !ask_.clipping.empty() || !ask_.optimiser.empty();
    if (ask_.method == "moments" && is_set) fail("steps, batch, clip, step_size, l2, clipping and optimiser belong to method = \"gradient\"");
    return loss.kind == LossKind::squared && !is_network() && ask_.method != "gradient" && !is_set && width <= most_features_of_moments;
  }

  double moments(TrainDesign& design) const {
    design.how = SufficientStatistics{.width = width_of(design.query.features),
                                      .norm = std::sqrt(static_cast<double>(design.query.features.size()) + 2) * (1 + 0x1p-40) * std::sqrt(rows()),
                                      .rows_a_unit = static_cast<std::int64_t>(rows()),
                                      .relation = relation_};
    return 1 / std::sqrt(ask_.share);
  }

  double gradient(TrainDesign& design) const {
    const auto model = model_of(design.model);
    const double longest = row_norm(design.query.features);
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
    design.never_clipped = !is_network() && is_never_clipped(design.loss, longest * rows(), training.clipping);
    const double steps = std::sqrt(static_cast<double>(training.steps));
    const auto* sampled = std::get_if<PoissonSampling>(&training.sampling);
    design.how = training;
    return (relation_ == Relation::replace_one ? 2 : 1) * steps * (sampled != nullptr ? sampled->rate : 1) / std::sqrt(ask_.share);
  }

  [[nodiscard]] double shares() const {
    double all = 0;
    for (const Query& query : study_.queries) all += query.error ? 0 : query.share;
    for (const TrainAsk& ask : study_.trainings) all += ask.share;
    return all;
  }

  const Study& study_;
  const TrainAsk& ask_;
  std::size_t index_;
  Relation relation_;
  double mu_;
  std::string what_;
};

double six_digits(double value) { return read_number(rounded(value, 6, Side::upper)); }

Plan test_plan(const TrainDraft& draft, const Parameter& noise, Relation relation) {
  const double rows = static_cast<double>(draft.design.query.rows_a_unit);
  return gaussian(noise, relation == Relation::replace_one ? rows * std::nextafter(std::sqrt(2.0), 2.0) : rows);
}

Relation relation_of(const TrainDesign& design) {
  return std::visit([](const auto& how) { return how.relation; }, design.how);
}

}  // namespace

std::vector<TrainDraft> train_drafts(const Study& study, Relation relation, double mu) {
  std::vector<TrainDraft> drafts;
  for (std::size_t i = 0; i < study.trainings.size(); ++i) {
    try {
      drafts.push_back(Drafter(study, i, relation, mu).draft());
    } catch (const InvalidValue& error) {
      throw StudyError("train \"" + study.trainings[i].name + "\": " + error.what(), study.trainings[i].line);
    }
  }
  return drafts;
}

std::vector<Plan> open_events(const TrainDraft& draft) {
  std::vector<Plan> events;
  if (const auto* training = std::get_if<Training>(&draft.design.how)) {
    events.push_back(plan_to_calibrate(*training, draft.factor));
  } else {
    events.push_back(gaussian(Hole{draft.factor}));
  }
  if (draft.design.test > 0) events.push_back(test_plan(draft, Hole{draft.test_factor}, relation_of(draft.design)));
  return events;
}

void set_noise(TrainDraft& draft, double value) {
  TrainDesign& design = draft.design;
  std::visit(
      [&](auto& how) {
        how.noise = six_digits(draft.factor * value);
        design.event = plan_of(how);
      },
      design.how);
  if (design.test > 0) design.test_event = test_plan(draft, six_digits(draft.test_factor * value), relation_of(design));
}

}  // namespace sotto::study_detail
