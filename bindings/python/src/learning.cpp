// Trains models on NumPy matrices: public settings are fixed first, then a ledger is charged, then
// the rows are read.
#include <nanobind/ndarray.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <variant>

#include "bindings.hpp"
#include "core/api/json.hpp"
#include "learning/api/defaults.hpp"
#include "sotto/accounting/calibrate.hpp"
#include "sotto/core/decimal.hpp"
#include "sotto/data/examples.hpp"
#include "sotto/learning/network.hpp"
#include "sotto/learning/sufficient_statistics.hpp"
#include "sotto/learning/train.hpp"
#include "sotto/plan/text.hpp"
#include "study/api/fit.hpp"

namespace sotto::python {
namespace {

using Rows = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Targets = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Units = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using StepCallback = std::optional<std::function<void(std::int64_t, std::int64_t)>>;

// The arguments of a fit: public knowledge and settings.
struct FitArguments {
  std::string kind;  // logistic, svm, softmax, linear or network
  std::vector<double> lower, upper;
  std::size_t classes = 0;
  std::optional<double> target_lower, target_upper;
  std::vector<std::size_t> hidden;
  std::string activation = "tanh";
  double epsilon, delta, units;
  std::int64_t rows_a_unit = 1;
  std::string relation = "add-remove";
  std::optional<std::int64_t> steps;
  std::optional<double> batch, clip, step_size, l2;
  bool by_steps = false;  // use gradient steps even if moments suffice
};

double six_digits(double value) { return read_number(rounded(value, 6, Side::upper)); }

LossFunction loss_of(const std::string& kind) {
  if (kind == "logistic") return {.kind = LossKind::logistic};
  if (kind == "svm") return {.kind = LossKind::squared_hinge};
  if (kind == "linear") return {.kind = LossKind::squared};
  return {.kind = LossKind::softmax};
}

// Returns the privacy statement of one or several fits.
std::string statement_of(const Answer& cost, const Plan& event, double delta, bool whole_units) {
  return "(" + rounded(cost.value.upper, 6, Side::upper) + ", " + shortest(delta) + ")-DP under " +
         std::string(name(cost.relation)) + " by " + std::string(name(cost.by)) + ": " +
         print(event) + (whole_units ? ", each unit with all its rows" : ", each row a unit");
}

// A Learner holds the settings and the parameters of one model.
class Learner {
 public:
  explicit Learner(FitArguments arguments)
      : arguments_(std::move(arguments)), loss_(loss_of(arguments_.kind)) {
    if (arguments_.lower.empty() || arguments_.lower.size() != arguments_.upper.size())
      throw InvalidValue("bounds= needs a lower and an upper bound for every feature");
    for (std::size_t j = 0; j < width(); ++j)
      scales_.push_back({arguments_.lower[j], arguments_.upper[j], arguments_.lower[j] == 0});
    for (const Scaled& scale : scales_) require_sound(scale);
    if (arguments_.target_lower)
      target_ = Scaled{*arguments_.target_lower, *arguments_.target_upper};
    if (target_) require_sound(*target_);
    if (!(arguments_.units >= 1))
      throw InvalidValue(
          "n_units= must be an approximate, public number of units of at least 1: gradients are "
          "divided by it");
    relation_ = *python::relation_of(arguments_.relation);
    model_ = arguments_.kind == "network"
                 ? make_model(multilayer_perceptron(width(), arguments_.hidden,
                                                    parse_layer(arguments_.activation), loss_,
                                                    arguments_.classes))
                 : make_model(
                       LinearModel{.width = width(), .loss = loss_, .classes = arguments_.classes});
    choose_settings();
  }

  // Trains and charges the ledger. Returns whether the parameters were stored before, at no cost.
  // Steps start at `start`, the parameters of an earlier fit; if empty, at the model's own start.
  bool learn(const Rows& rows, const Targets& targets, const std::optional<Units>& units,
             const std::vector<double>& start, Ledger* ledger, const std::string& request,
             const std::string& title, const std::string& checkpoints, int threads,
             const StepCallback& on_step) {
    if (rows.shape(1) != width())
      throw InvalidValue("the bounds are of " + std::to_string(width()) +
                         " features, and the rows have " + std::to_string(rows.shape(1)));
    if (targets.size() != rows.shape(0))
      throw InvalidValue("there must be one target for each row");
    const Matrix matrix{
        .values = {rows.data(), rows.size()},
        .width = width(),
        .scales = scales_,
        .targets = {targets.data(), targets.size()},
        .target_scale = target_,
        .units = units ? std::span(units->data(), units->size()) : std::span<const std::int64_t>()};
    bool stopped = false;
    const auto watch = [&](std::int64_t step, std::int64_t steps) {
      const nb::gil_scoped_acquire gil;
      try {
        if (on_step) (*on_step)(step, steps);
      } catch (nb::python_error& error) {
        error.restore();
        stopped = true;
      }
      stopped = stopped || PyErr_CheckSignals() != 0;
      return !stopped;
    };
    const FitTask task{model_, how_, start};
    try {
      const nb::gil_scoped_release free;
      if (ledger == nullptr) {
        parameters_ = sotto::learn(task, examples_of(matrix), threads, watch);
        return false;
      }
      const bool adds_up = std::holds_alternative<ApproximateBudget>(ledger->terms().budget);
      Fitted fitted = fit(
          *ledger, task,
          {.request = request,
           .settings = frame(),
           .title = title,
           .at = adds_up ? std::optional(Delta(arguments_.delta)) : std::nullopt,
           .checkpoints = checkpoints,
           .threads = threads},
          [&] { return examples_of(matrix); }, watch);
      parameters_ = std::move(fitted.parameters);
      return fitted.repeated;
    } catch (const std::exception&) {
      if (stopped) throw nb::python_error();
      throw;
    }
  }

  // Returns the outputs of rows, row by row: numbers on the scale of the target, or the scores of
  // classes.
  [[nodiscard]] std::vector<double> outputs(const Rows& rows) const {
    if (rows.shape(1) != width())
      throw InvalidValue("the model has " + std::to_string(width()) +
                         " features, and the rows have " + std::to_string(rows.shape(1)));
    const nb::gil_scoped_release free;
    std::vector<double> z(rows.shape(0) * model_->outputs());
    if (z.empty()) return z;
    const Examples examples =
        examples_of({.values = {rows.data(), rows.size()}, .width = width(), .scales = scales_});
    model_->prepare(parameters_)->outputs(examples, 0, z);
    if (target_) {
      for (double& value : z)
        value = target_->lower + (value + 1) / 2 * (target_->upper - target_->lower);
    }
    return z;
  }

  // Returns the probability of each class.
  [[nodiscard]] std::vector<double> probabilities(const Rows& rows) const {
    std::vector<double> z = outputs(rows);
    const std::size_t width = model_->outputs();
    if (width == 1) {
      std::vector<double> both;
      for (const double value : z) {
        const double one = 1 / (1 + std::exp(-value));
        both.insert(both.end(), {1 - one, one});
      }
      return both;
    }
    for (std::size_t i = 0; i < z.size(); i += width) {
      const std::span row(z.data() + i, width);
      const double most = *std::max_element(row.begin(), row.end());
      double all = 0;
      for (double& value : row) all += value = std::exp(value - most);
      for (double& value : row) value /= all;
    }
    return z;
  }

  // Returns the coefficients of a linear model in the units of its features: per output one weight
  // per feature, then the intercept.
  [[nodiscard]] std::vector<double> coefficients() const {
    if (arguments_.kind == "network")
      throw InvalidValue("a network has no coefficients: read `parameters`");
    const std::size_t outputs = model_->outputs();
    std::vector<double> coefficients;
    for (std::size_t k = 0; k < outputs; ++k) {
      double intercept = parameters_[outputs * width() + k];
      const double stretch = target_ ? (target_->upper - target_->lower) / 2 : 1;
      for (std::size_t j = 0; j < width(); ++j) {
        const Scaled& scale = scales_[j];
        const double slope =
            parameters_[k * width() + j] * (scale.from_zero ? 1 : 2) / (scale.upper - scale.lower);
        intercept -=
            scale.from_zero ? slope * scale.lower : slope * (scale.lower + scale.upper) / 2;
        coefficients.push_back(slope * stretch);
      }
      coefficients.push_back(target_ ? target_->lower + (intercept + 1) * stretch : intercept);
    }
    return coefficients;
  }

  [[nodiscard]] std::size_t width() const { return arguments_.lower.size(); }
  [[nodiscard]] std::size_t columns() const { return model_->outputs(); }
  [[nodiscard]] const Plan& event() const { return event_; }
  [[nodiscard]] const std::vector<double>& parameters() const { return parameters_; }
  void set_parameters(std::vector<double> parameters) { parameters_ = std::move(parameters); }
  [[nodiscard]] std::string description() const { return model_->description(); }
  [[nodiscard]] double epsilon() const { return cost_.value.upper; }
  [[nodiscard]] std::string statement(bool whole_units) const {
    return statement_of(cost_, event_, arguments_.delta, whole_units);
  }
  // Returns the meaning of the parameters and the protected unit as text. A fit can continue from
  // one with an equal frame.
  [[nodiscard]] std::string frame() const {
    Json json;
    json["model"] = model_->description();
    json["lower"] = arguments_.lower;
    json["upper"] = arguments_.upper;
    if (target_) json["target"] = std::vector<double>{target_->lower, target_->upper};
    json["relation"] = std::string(name(relation_));
    json["rows_a_unit"] = arguments_.rows_a_unit;
    return json.dump();
  }

 private:
  // Chooses settings from public numbers, and the least noise for ε and δ.
  void choose_settings() {
    const Epsilon epsilon(arguments_.epsilon);
    const Delta delta(arguments_.delta);
    if (!(arguments_.epsilon > 0) || !(arguments_.delta > 0))
      throw InvalidValue(
          "epsilon and delta must be above 0: a model is learned under Gaussian noise");
    const Question question{.relation = relation_};
    const bool says_steps = arguments_.steps || arguments_.batch || arguments_.clip ||
                            arguments_.step_size || arguments_.l2;
    constexpr std::size_t most_features_of_moments = 128;
    const double longest = std::sqrt(static_cast<double>(width()) + 1) * (1 + 0x1p-40);
    const auto rows = static_cast<double>(arguments_.rows_a_unit);
    if (arguments_.kind == "linear" && !says_steps && !arguments_.by_steps &&
        width() <= most_features_of_moments) {
      SufficientStatistics statistics{
          .width = width(),
          .norm = std::sqrt((static_cast<double>(width()) + 2) * rows) * (1 + 0x1p-40),
          .rows_a_unit = arguments_.rows_a_unit,
          .relation = relation_};
      statistics.noise =
          six_digits(calibrate(plan_to_calibrate(statistics), epsilon, delta, question).value);
      event_ = plan_of(statistics);
      how_ = statistics;
    } else {
      const double mu = 1 / calibrate(gaussian(hole), epsilon, delta).value;
      Training training = default_training(*model_, {arguments_.units, longest, mu}, relation_);
      if (arguments_.steps) training.steps = *arguments_.steps;
      if (arguments_.batch) {
        const double rate =
            read_number(rounded(*arguments_.batch / arguments_.units, 6, Side::lower));
        if (!(rate > 0 && rate <= 1)) throw InvalidValue("batch_size= must be from 1 to n_units");
        training.batch = *arguments_.batch;
        training.sampling = rate < 1 ? Sampling(PoissonSampling{rate}) : Sampling(FullBatch{});
      }
      if (auto* poisson = std::get_if<PoissonSampling>(&training.sampling))
        poisson->rate = read_number(rounded(poisson->rate, 6, Side::lower));
      if (arguments_.clip) training.clipping.norm = *arguments_.clip;
      if (arguments_.step_size) training.optimiser.size = *arguments_.step_size;
      if (arguments_.l2) training.optimiser.l2 = *arguments_.l2;
      training.noise =
          six_digits(calibrate(plan_to_calibrate(training), epsilon, delta, question).value);
      event_ = plan_of(training);
      how_ = training;
    }
    cost_ = sotto::epsilon(event_, delta, question);
  }

  FitArguments arguments_;
  LossFunction loss_;
  std::vector<Scaled> scales_;
  std::optional<Scaled> target_;
  Relation relation_ = Relation::add_remove;
  std::shared_ptr<const Model> model_;
  std::variant<Training, SufficientStatistics> how_;
  Plan event_ = gaussian(1);
  Answer cost_;
  std::vector<double> parameters_;
};

using NumpyMatrix = nb::ndarray<nb::numpy, double, nb::ndim<2>>;
NumpyMatrix matrix_of(std::vector<double> numbers, std::size_t rows, std::size_t columns) {
  auto* storage = new std::vector<double>(std::move(numbers));
  const nb::capsule owner(storage,
                          [](void* p) noexcept { delete static_cast<std::vector<double>*>(p); });
  return NumpyMatrix(storage->data(), {rows, columns}, owner);
}

}  // namespace

void bind_learning(nb::module_& m) {
  nb::class_<Learner>(m, "Learner",
                      "A model trained on a matrix under (epsilon, delta)-DP, with settings and "
                      "noise from public numbers only.")
      .def(
          "__init__",
          [](Learner* self, const std::string& kind, const std::vector<double>& lower,
             const std::vector<double>& upper, std::size_t classes,
             std::optional<double> target_lower, std::optional<double> target_upper,
             const std::vector<std::size_t>& hidden, const std::string& activation, double epsilon,
             double delta, double units, std::int64_t rows_a_unit, const std::string& relation,
             std::optional<std::int64_t> steps, std::optional<double> batch,
             std::optional<double> clip, std::optional<double> step_size, std::optional<double> l2,
             bool by_steps) {
            FitArguments arguments{kind,         lower,       upper,      classes, target_lower,
                                   target_upper, hidden,      activation, epsilon, delta,
                                   units,        rows_a_unit, relation,   steps,   batch,
                                   clip,         step_size,   l2,         by_steps};
            new (self) Learner(unlocked([&] { return Learner(std::move(arguments)); }));
          },
          nb::kw_only(), nb::arg("kind"), nb::arg("lower"), nb::arg("upper"),
          nb::arg("classes") = 0, nb::arg("target_lower").none() = nb::none(),
          nb::arg("target_upper").none() = nb::none(),
          nb::arg("hidden") = std::vector<std::size_t>{}, nb::arg("activation") = "tanh",
          nb::arg("epsilon"), nb::arg("delta"), nb::arg("units"), nb::arg("rows_a_unit") = 1,
          nb::arg("relation") = "add-remove", nb::arg("steps").none() = nb::none(),
          nb::arg("batch").none() = nb::none(), nb::arg("clip").none() = nb::none(),
          nb::arg("step_size").none() = nb::none(), nb::arg("l2").none() = nb::none(),
          nb::arg("by_steps") = false)
      .def("learn", &Learner::learn, nb::arg("rows"), nb::arg("targets"),
           nb::arg("units").none() = nb::none(), nb::arg("start") = std::vector<double>{},
           nb::arg("ledger").none() = nb::none(), nb::arg("request") = "", nb::arg("title") = "",
           nb::arg("checkpoints") = "", nb::arg("threads") = 0,
           nb::arg("progress").none() = nb::none())
      .def(
          "outputs",
          [](const Learner& l, const Rows& rows) {
            return matrix_of(l.outputs(rows), rows.shape(0), l.columns());
          },
          nb::arg("rows"))
      .def(
          "probabilities",
          [](const Learner& l, const Rows& rows) {
            return matrix_of(l.probabilities(rows), rows.shape(0),
                             std::max<std::size_t>(2, l.columns()));
          },
          nb::arg("rows"))
      .def_prop_rw("parameters", &Learner::parameters, &Learner::set_parameters)
      .def(
          "coefficients",
          [](const Learner& l) { return matrix_of(l.coefficients(), l.columns(), l.width() + 1); },
          "The coefficients of a linear model: a row per output with its weights, then its "
          "intercept.")
      .def_prop_ro("width", &Learner::width)
      .def_prop_ro("columns", &Learner::columns)
      .def_prop_ro("event", &Learner::event)
      .def_prop_ro("epsilon", &Learner::epsilon)
      .def("statement", &Learner::statement, nb::arg("whole_units"))
      .def_prop_ro("frame", &Learner::frame)
      .def_prop_ro("description", &Learner::description);
  m.def(
      "fit_statement",
      [](const Plan& event, double delta, const std::string& relation, bool whole_units) {
        const Question question{.relation = *python::relation_of(relation)};
        const Answer cost = unlocked([&] { return sotto::epsilon(event, Delta(delta), question); });
        return nb::make_tuple(cost.value.upper, statement_of(cost, event, delta, whole_units));
      },
      nb::arg("event"), nb::arg("delta"), nb::arg("relation"), nb::arg("whole_units"),
      nb::sig("def fit_statement(event: Plan, delta: float, relation: str, whole_units: bool) -> "
              "tuple[float, str]"),
      "The epsilon of one or several fits at delta, and their privacy statement.");
}

}  // namespace sotto::python
