// Checks a model from a file before it is applied: sizes, types and finite numbers.
#include "study/training/model_check.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "learning/api/describe.hpp"
#include "sotto/core/errors.hpp"

namespace sotto::study_detail {
namespace {

// Outputs stay finite: models compute in floats, up to 3e38, and a row has at most 2^24 features.
constexpr double largest_parameter = 1e30;
constexpr std::size_t most_classes = 32'768;  // a class is stored in 16 bits
constexpr std::size_t most_pixels = std::size_t{1} << 22U;

void require(bool holds, const std::string& otherwise) {
  if (!holds) throw InvalidValue(otherwise);
}

bool is_number(Type type) { return type == Type::integer || type == Type::real; }

void require_value(const Value& value, Type type, const std::string& what) {
  if (!is_number(type)) {
    (void)literal(value, type, Dialect::duckdb);  // throws InvalidValue for a value of another type
    return;
  }
  const auto* real = std::get_if<double>(&value);
  require(
      (real != nullptr && std::abs(*real) <= 1e150) || std::holds_alternative<std::int64_t>(value),
      what + " replaces NULL by something that is not a number");
}

void require_values(const OneOf& encoding, Type type, const std::string& what) {
  require(!encoding.values.empty(), what + " has no values");
  require(type != Type::real, what + " lists values of a real number");
  std::set<Value> seen;
  for (const Value& value : encoding.values) {
    (void)literal(value, type, Dialect::duckdb);  // throws InvalidValue for a value of another type
    require(seen.insert(value).second, what + " has a value twice");
  }
}

void require_feature(const Feature& feature, const std::string& what) {
  const Type type = feature.field.value.type();
  if (feature.field.if_null) require_value(*feature.field.if_null, type, what);
  if (const auto* scaled = std::get_if<Scaled>(&feature.encoding)) {
    require(is_number(type), what + " has bounds and is not a number");
    sotto::require_sound(*scaled);
  } else {
    require_values(std::get<OneOf>(feature.encoding), type, what);
  }
}

void require_columns(const std::vector<Column>& columns) {
  std::set<std::string> names;
  for (const Column& column : columns) {
    require(!column.name.empty(), "it has a column without a name");
    require(names.insert(column.name).second, "it has two columns \"" + column.name + "\"");
  }
}

// Returns how many features a row has.
std::size_t width_of_rows(const TrainedModel& model) {
  if (!model.image) {
    require(!model.features.empty(), "it has no features");
    for (const Feature& feature : model.features)
      require_feature(feature, "the feature \"" + feature.name + "\"");
    return width_of(model.features);
  }
  require(model.features.empty(), "it has both images and features, and must have one of them");
  const auto [height, width] = *model.image;
  require(height > 0 && width > 0 && height <= most_pixels / width,
          "the size of its images is 0 or too large");
  return height * width;
}

void require_target(const TrainedModel& model, const LossFunction& loss, std::size_t outputs) {
  require(model.target_feature.has_value(), "it does not say what it predicts");
  require_feature(*model.target_feature, "what it predicts");
  const auto* classes = std::get_if<OneOf>(&model.target_feature->encoding);
  require(loss.is_of_classes() == (classes != nullptr),
          "its loss is " + name_of(loss.kind) + ", and it predicts " +
              (classes == nullptr ? "a number" : "one of several values"));
  if (classes == nullptr)
    return require(outputs == 1, "it has " + std::to_string(outputs) + " outputs for one number");
  const std::size_t needed = loss.kind == LossKind::softmax ? outputs : 2;
  require(classes->values.size() == needed && needed <= most_classes,
          "it predicts " + std::to_string(classes->values.size()) + " values, and its loss tells " +
              std::to_string(needed) + " apart");
}

void require_parameters(const TrainedModel& model, std::size_t count) {
  require(model.parameters.size() == count, "it has " + std::to_string(model.parameters.size()) +
                                                " parameters, and \"" + model.description +
                                                "\" needs " + std::to_string(count));
  for (const double parameter : model.parameters) {
    require(std::abs(parameter) <= largest_parameter,
            "a parameter is not a finite number of at most 1e30 in size");
  }
  require(model.intervals.empty() || model.intervals.size() == count,
          "the number of its intervals differs from the number of its parameters");
  for (const Bound& interval : model.intervals)
    require(interval.lower <= interval.upper, "an interval ends before it starts");
}

void require_measured(const TrainedModel& model) {
  const auto is_share = [](std::optional<double> x) { return *x >= 0 && *x <= 1; };
  if (model.accuracy) {
    require(is_share(model.accuracy) && is_share(model.accuracy_low) &&
                is_share(model.accuracy_high) && *model.accuracy_low <= *model.accuracy_high,
            "its accuracy or the interval of it is not within [0, 1]");
  }
  if (!model.evaluation) return;
  const PublicEvaluation& evaluation = *model.evaluation;
  require(evaluation.rows >= 0, "the number of rows of its evaluation is negative");
  for (const PublicPoint& point : evaluation.points) {
    require(point.step >= 0 && point.right >= 0 && point.right <= evaluation.rows &&
                !std::isnan(point.loss) && point.squared_error >= 0,
            "a point of its evaluation has impossible numbers");
  }
}

}  // namespace

void require_sound(const TrainedModel& model) {
  require_columns(model.columns);
  const auto described = model_of(model.description);
  const std::size_t width = width_of_rows(model);
  require(width == width_of_model(model.description), "it has " + std::to_string(width) +
                                                          " features, and \"" + model.description +
                                                          "\" has another number");
  require_target(model, described->loss(), described->outputs());
  require_parameters(model, described->parameters());
  require_measured(model);
}

}  // namespace sotto::study_detail
