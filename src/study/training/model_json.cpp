// Converts trained models to JSON and back.
#include "study/training/model_json.hpp"

#include "sotto/core/errors.hpp"

namespace sotto::study_detail {
namespace {

Json of(const Value& value) {
  return std::visit([](const auto& v) { return Json(v); }, value);
}

Value value_in(const Json& json) {
  if (json.is_boolean()) return json.get<bool>();
  if (json.is_integer()) return json.get<std::int64_t>();
  if (json.is_number()) return json.get<double>();
  return json.get<std::string>();
}

Json of(const Feature& feature) {
  Json json{{"name", feature.name}, {"expression", feature.field.value.text()}};
  if (feature.field.if_null) json["if_null"] = of(*feature.field.if_null);
  if (const auto* scaled = std::get_if<Scaled>(&feature.encoding)) {
    json["bounds"] = std::vector<double>{scaled->lower, scaled->upper};
    json["from_zero"] = scaled->from_zero;
  } else {
    const auto& category = std::get<OneOf>(feature.encoding);
    Json values = Json::array();
    for (const Value& value : category.values) values.push_back(of(value));
    json["values"] = std::move(values);
    if (category.reference) json["reference"] = of(*category.reference);
  }
  return json;
}

Feature feature_in(const Json& json, const std::vector<Column>& columns) {
  Feature feature{json.at("name"),
                  {Expression::parse(json.at("expression"), columns), std::nullopt},
                  Scaled{0, 1}};
  if (json.contains("if_null")) feature.field.if_null = value_in(json.at("if_null"));
  if (json.contains("bounds")) {
    feature.encoding = Scaled{json.at("bounds").at(std::size_t{0}),
                              json.at("bounds").at(std::size_t{1}), json.at("from_zero")};
  } else {
    OneOf values;
    for (const Json& value : json.at("values")) values.values.push_back(value_in(value));
    if (json.contains("reference")) values.reference = value_in(json.at("reference"));
    feature.encoding = std::move(values);
  }
  return feature;
}

Json of(const PublicEvaluation& evaluation) {
  Json json{{"data", evaluation.data},
            {"version", evaluation.version},
            {"rows", evaluation.rows},
            {"classes", evaluation.is_of_classes}};
  json["points"] = Json::array();
  for (const PublicPoint& point : evaluation.points) {
    Json one{{"step", point.step}, {"loss", point.loss}};
    if (evaluation.is_of_classes) {
      one["right"] = point.right;
    } else {
      one["squared_error"] = point.squared_error;
    }
    json["points"].push_back(std::move(one));
  }
  return json;
}

PublicEvaluation evaluation_in(const Json& json) {
  PublicEvaluation evaluation;
  evaluation.data = json.at("data");
  evaluation.version = json.at("version");
  evaluation.rows = json.at("rows");
  evaluation.is_of_classes = json.at("classes");
  for (const Json& one : json.at("points")) {
    PublicPoint point{.step = one.at("step"), .loss = one.at("loss")};
    if (one.contains("right")) point.right = one.at("right");
    if (one.contains("squared_error")) point.squared_error = one.at("squared_error");
    evaluation.points.push_back(point);
  }
  return evaluation;
}

}  // namespace

Json of_limit(const UnitLimit& limit) {
  Json json = Json::object();
  if (limit.rows) json["rows"] = *limit.rows;
  if (limit.groups) json["groups"] = *limit.groups;
  json["words"] = limit.words;
  return json;
}

UnitLimit limit_in(const Json& json) {
  UnitLimit limit;
  if (json.contains("rows")) limit.rows = json.at("rows").get<std::int64_t>();
  if (json.contains("groups")) limit.groups = json.at("groups").get<std::int64_t>();
  limit.words = json.at("words");
  return limit;
}

Json of_model(const TrainedModel& model) {
  Json json;
  json["name"] = model.name;
  json["model"] = model.description;
  json["target"] = model.target;
  json["event"] = model.event;
  json["how"] = model.how;
  json["columns"] = Json::array();
  for (const Column& column : model.columns)
    json["columns"].push_back(Json{{"name", column.name}, {"type", name_of(column.type)}});
  json["features"] = Json::array();
  for (const Feature& feature : model.features) json["features"].push_back(of(feature));
  if (model.target_feature) json["predicts"] = of(*model.target_feature);
  json["parameters"] = model.parameters;
  if (!model.intervals.empty()) {
    json["intervals"] = Json::array();
    for (const Bound& interval : model.intervals)
      json["intervals"].push_back(std::vector<double>{interval.lower, interval.upper});
  }
  if (model.accuracy)
    json["accuracy"] = {
        {"value", *model.accuracy}, {"low", *model.accuracy_low}, {"high", *model.accuracy_high}};
  if (model.image) {
    json["image"] = std::vector<std::int64_t>{static_cast<std::int64_t>(model.image->height),
                                              static_cast<std::int64_t>(model.image->width)};
  }
  if (model.evaluation) json["evaluation"] = of(*model.evaluation);
  if (model.limit) json["limit"] = of_limit(*model.limit);
  return json;
}

TrainedModel model_in(const Json& json) {
  try {
    TrainedModel model;
    model.name = json.at("name");
    model.description = json.at("model");
    model.target = json.at("target");
    model.event = json.at("event");
    model.how = json.at("how");
    for (const Json& column : json.at("columns"))
      model.columns.push_back({column.at("name"), parse_type(column.at("type"))});
    for (const Json& feature : json.at("features"))
      model.features.push_back(feature_in(feature, model.columns));
    if (json.contains("predicts"))
      model.target_feature = feature_in(json.at("predicts"), model.columns);
    model.parameters = json.at("parameters").get<std::vector<double>>();
    if (json.contains("intervals")) {
      for (const Json& interval : json.at("intervals"))
        model.intervals.push_back({interval.at(std::size_t{0}), interval.at(std::size_t{1})});
    }
    if (json.contains("accuracy")) {
      model.accuracy = json.at("accuracy").at("value");
      model.accuracy_low = json.at("accuracy").at("low");
      model.accuracy_high = json.at("accuracy").at("high");
    }
    if (json.contains("image")) {
      const auto side = [&](std::size_t i) {
        return static_cast<std::size_t>(json.at("image").at(i).get<std::int64_t>());
      };
      model.image = ImageSize{side(0), side(1)};
    }
    if (json.contains("evaluation")) model.evaluation = evaluation_in(json.at("evaluation"));
    if (json.contains("limit")) model.limit = limit_in(json.at("limit"));
    return model;
  } catch (const ParseError& error) {
    throw JsonError(error.what());
  } catch (const InvalidValue& error) {
    throw JsonError(error.what());
  }
}

}  // namespace sotto::study_detail
