// Converts the weights of scaled features and targets back to the units of their columns.
#include "study/api/weights.hpp"

#include <algorithm>
#include <cmath>

#include "learning/api/describe.hpp"
#include "sotto/core/decimal.hpp"
#include "sotto/learning/model.hpp"
#include "study/files/value_text.hpp"

namespace sotto {
namespace {

using study_detail::text_of;

// The output of a model of numbers is scaled like its target: y = lower + (z + 1)(upper - lower)/2.
// The output of a classifier is not scaled.
struct OutputScale {
  double factor = 1;
  double offset = 0;
};

OutputScale scale_of_output(const TrainedModel& model) {
  const auto* target = std::get_if<Scaled>(&model.target_feature->encoding);
  if (target == nullptr) return {};
  const double range = target->upper - target->lower;
  if (target->from_zero) return {range, target->lower};
  return {range / 2, target->lower + range / 2};
}

std::string unit_of(const TrainedModel& model, LossKind loss) {
  const auto* classes = std::get_if<OneOf>(&model.target_feature->encoding);
  if (classes == nullptr) return model.target;
  const std::string of_class = model.target + " = " + text_of(classes->values.back());
  return (loss == LossKind::logistic ? "log-odds of " : "score of ") + of_class;
}

// Returns by how much a column changes when its scaled feature changes by one.
double column_units(const Scaled& scale) {
  return (scale.upper - scale.lower) / (scale.from_zero ? 1 : 2);
}

std::optional<Bound> scaled_interval(const TrainedModel& model, std::size_t j, double factor,
                                     double offset) {
  if (model.intervals.empty()) return std::nullopt;
  return Bound{model.intervals[j].lower * factor + offset,
               model.intervals[j].upper * factor + offset};
}

class Converter {
 public:
  Converter(const TrainedModel& model, LossKind loss)
      : model_(model), output_(scale_of_output(model)) {
    table_.unit = unit_of(model, loss);
  }

  ModelWeights table() {
    // The intercept absorbs the weights of the reference levels.
    double intercept = model_.parameters.back();
    std::size_t j = 0;
    for (const Feature& feature : model_.features) {
      if (const auto* scale = std::get_if<Scaled>(&feature.encoding)) {
        add_number(feature, *scale, j++);
      } else {
        const auto& category = std::get<OneOf>(feature.encoding);
        if (is_identified(feature, category)) {
          add_identified(feature, category, j);
        } else {
          intercept += model_.parameters[j];
          add_contrasts(feature, category, j);
        }
        j += category.values.size();
      }
    }
    table_.intercept = {"(intercept)", "", intercept * output_.factor + output_.offset,
                        scaled_interval(model_, j, output_.factor, output_.offset), intercept};
    std::stable_sort(table_.weights.begin(), table_.weights.end(),
                     [](const ModelWeight& a, const ModelWeight& b) {
                       return std::abs(a.scaled) > std::abs(b.scaled);
                     });
    return std::move(table_);
  }

 private:
  void refer(const std::string& column, const std::string& value) {
    table_.reference += (table_.reference.empty() ? "" : ", ") + column + " = " + value;
  }

  void add_number(const Feature& feature, const Scaled& scale, std::size_t j) {
    const double factor = output_.factor / column_units(scale);
    table_.weights.push_back({feature.name, "", model_.parameters[j] * factor,
                              scaled_interval(model_, j, factor, 0), model_.parameters[j]});
    refer(feature.name,
          shortest(scale.from_zero ? scale.lower : scale.lower + (scale.upper - scale.lower) / 2));
  }

  // Whether weights of levels are identified. Indicators of all levels sum to the intercept's
  // constant 1, unless a reference level has no indicator. A penalty identifies them too; then the
  // model has intervals.
  [[nodiscard]] bool is_identified(const Feature& feature, const OneOf& category) const {
    return category.reference || feature.field.value.type() == Type::boolean ||
           !model_.intervals.empty();
  }

  void add_identified(const Feature& feature, const OneOf& category, std::size_t j) {
    std::string reference;
    if (category.reference) {
      reference = text_of(*category.reference);
    } else if (feature.field.value.type() == Type::boolean) {
      reference = text_of(!std::get<bool>(category.values.front()));
    }
    for (const Value& value : category.values) {
      table_.weights.push_back(
          {feature.name + "=" + text_of(value), reference, model_.parameters[j] * output_.factor,
           scaled_interval(model_, j, output_.factor, 0), model_.parameters[j]});
      ++j;
    }
    if (!reference.empty()) refer(feature.name, reference);
  }

  void add_contrasts(const Feature& feature, const OneOf& category, std::size_t j) {
    const std::string reference = text_of(category.values.front());
    for (std::size_t k = 1; k < category.values.size(); ++k) {
      const double contrast = model_.parameters[j + k] - model_.parameters[j];
      table_.weights.push_back({feature.name + "=" + text_of(category.values[k]), reference,
                                contrast * output_.factor, std::nullopt, contrast});
    }
    refer(feature.name, reference);
  }

  const TrainedModel& model_;
  OutputScale output_;
  ModelWeights table_;
};

}  // namespace

std::optional<ModelWeights> weights_in_units(const TrainedModel& model) {
  if (model.image || !model.target_feature || model.features.empty()) return std::nullopt;
  if (model.parameters.size() != width_of(model.features) + 1) return std::nullopt;
  const auto trained = model_of(model.description);
  if (trained->outputs() != 1) return std::nullopt;
  return Converter(model, trained->loss().kind).table();
}

}  // namespace sotto
