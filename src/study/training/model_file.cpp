// Writes and reads signed model files, and predicts with them.
#include "study/api/model_file.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>

#include "learning/api/describe.hpp"
#include "sotto/core/decimal.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/core/values.hpp"
#include "study/files/value_text.hpp"
#include "study/training/model_check.hpp"
#include "study/training/model_json.hpp"

namespace sotto {
namespace {

using study_detail::text_of;

std::string statement_of(const Release& release) {
  return "(ε, δ) = (" + rounded(release.epsilon, 4, Side::upper) + ", " + shortest(release.delta) +
         ")-differential privacy for each " + release.unit + " of \"" + release.data_name +
         "\", version " + release.data_version + ", under " + release.relation +
         ", for everything that this study released; what the ledger counts over all studies is in "
         "the ledger";
}

// Returns SQL for the value of an expression as text, for any type.
std::string as_text(const Expression& expression, Dialect dialect) {
  const std::string sql = "(" + expression.sql(dialect) + ")";
  if (expression.type() == Type::boolean)
    return "CASE " + sql + " WHEN TRUE THEN 'true' WHEN FALSE THEN 'false' END";
  return sotto::as_text(sql, dialect);
}

std::optional<double> number_in(const std::string& text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// Encodes the texts of a row as the codes of its features.
class Encoder {
 public:
  explicit Encoder(const std::vector<Feature>& features) : features_(features) {}
  // Returns false if a feature is missing.
  bool encode(const std::vector<std::optional<std::string>>& texts,
              std::span<std::int16_t> codes) const {
    std::size_t at = 0;
    for (std::size_t i = 0; i < features_.size(); ++i) {
      std::optional<std::string> text = texts[i];
      if (!text && features_[i].field.if_null) text = text_of(*features_[i].field.if_null);
      if (const auto* scaled = std::get_if<Scaled>(&features_[i].encoding)) {
        const auto number = text ? number_in(*text) : std::nullopt;
        if (!number) return false;
        codes[at++] = code_of(*number, *scaled);
        continue;
      }
      if (!text) return false;
      for (const Value& value : std::get<OneOf>(features_[i].encoding).values)
        codes[at++] = text_of(value) == *text ? feature_one : std::int16_t{0};
    }
    return true;
  }

 private:
  const std::vector<Feature>& features_;
};

}  // namespace

std::string model_file_name(const std::string& name) {
  std::string file;
  for (const char c : name)
    file += std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' ? c : '-';
  return file + ".model.json";
}

std::string model_file(const Release& release, const TrainedModel& model, const SigningKey& key) {
  Json json;
  json["schema"] = "sotto.model/1";
  json["privacy"] = {{"statement", statement_of(release)},
                     {"epsilon", release.epsilon},
                     {"delta", release.delta},
                     {"unit", release.unit},
                     {"relation", release.relation},
                     {"plan", release.plan},
                     {"data", release.data_name},
                     {"version", release.data_version},
                     {"ledger", release.ledger},
                     {"request", release.request},
                     {"time", release.time}};
  json["model"] = study_detail::of_model(model);
  json["signer"] = key.public_key();
  const std::string bytes = json.dump();
  json["signature"] = key.sign(bytes);
  return json.dump() + "\n";
}

namespace {

// Reads the privacy statement and checks the types of its fields.
std::string statement_in(const Json& privacy) {
  for (const char* name :
       {"unit", "relation", "plan", "data", "version", "ledger", "request", "time"})
    (void)privacy.at(name).text();
  // JSON has no infinity: an infinite epsilon is null
  const Json& epsilon = privacy.at("epsilon");
  if (!epsilon.is_null() && !(epsilon.get<double>() >= 0))
    throw InvalidValue("its epsilon is below 0");
  (void)Delta(privacy.at("delta"));
  return privacy.at("statement");
}

ModelFile parse_model_file(const std::string& text) {
  const Json json = Json::parse(text);
  if (json.value("schema", "") != "sotto.model/1")
    throw InvalidValue("it is not a model file of sotto (schema sotto.model/1)");
  Json unsigned_part;
  for (const Json::Member& member : json.members()) {
    if (member.name != "signature") unsigned_part[member.name] = member.value;
  }
  const std::string signer = json.at("signer");
  if (!is_signed(unsigned_part.dump(), json.at("signature"), signer))
    throw InvalidValue("it was changed after it was signed");
  ModelFile file{study_detail::model_in(json.at("model")), statement_in(json.at("privacy")),
                 signer};
  study_detail::require_sound(file.model);
  return file;
}

}  // namespace

ModelFile read_model_file(const std::string& text) {
  const auto unreadable = [](const std::string& why) {
    return InvalidValue("the model cannot be read: " + why);
  };
  try {
    return parse_model_file(text);
  } catch (const JsonError& error) {
    throw unreadable(error.what());
  } catch (const InvalidValue& error) {
    throw unreadable(error.what());
  }
}

bool is_of_classes(const ModelFile& file) {
  return file.model.target_feature &&
         std::holds_alternative<OneOf>(file.model.target_feature->encoding);
}

std::vector<Column> columns_to_predict(const ModelFile& file, const ToPredict& what) {
  if (file.model.image) {  // the label; predict_images() leaves it empty if it is not read
    if (!what.display.empty())
      throw InvalidValue("images have no columns to display: leave `display` empty");
    return file.model.columns;
  }
  std::vector<std::string> names;
  const auto add = [&names](const Expression& expression) {
    for (const std::string& name : expression.columns()) names.push_back(name);
  };
  for (const Feature& feature : file.model.features) add(feature.field.value);
  if (what.target && file.model.target_feature) add(file.model.target_feature->field.value);
  std::vector<Column> columns;
  for (const Column& column : file.model.columns) {
    if (std::find(names.begin(), names.end(), column.name) != names.end())
      columns.push_back(column);
  }
  for (const Column& column : what.display) {
    const auto same = [&](const Column& other) { return other.name == column.name; };
    if (std::none_of(columns.begin(), columns.end(), same)) columns.push_back(column);
  }
  return columns;
}

namespace {

// Sets the prediction for the outputs `z` of a row. `truth` is the target as text, if the data have
// it.
void set_prediction(const ModelFile& file, LossKind loss, std::span<const double> z,
                    const std::optional<std::string>& truth, Prediction& prediction) {
  if (!std::all_of(z.begin(), z.end(), [](double output) { return std::isfinite(output); })) {
    throw InvalidValue(
        "the model's outputs are not finite numbers, since its parameters are too large: train it "
        "again with smaller steps");
  }
  const auto& target = file.model.target_feature;
  if (is_of_classes(file)) {
    const auto& values = std::get<OneOf>(target->encoding).values;
    const std::size_t best =
        z.size() == 1 ? (z[0] > 0 ? 1 : 0)
                      : static_cast<std::size_t>(std::max_element(z.begin(), z.end()) - z.begin());
    prediction.value = text_of(values.at(best));
    if (loss == LossKind::logistic)
      prediction.probability = 1 / (1 + std::exp(best == 1 ? -z[0] : z[0]));
    if (loss == LossKind::softmax) {
      double sum = 0;
      for (const double other : z) sum += std::exp(other - z[best]);
      prediction.probability = 1 / sum;
    }
    if (truth) prediction.right = *truth == prediction.value;
  } else {
    const auto& scale = std::get<Scaled>(target->encoding);
    const double share = scale.from_zero ? z[0] : (z[0] + 1) / 2;
    const double number =
        std::clamp(scale.lower + share * (scale.upper - scale.lower), scale.lower, scale.upper);
    prediction.value = shortest(number);
    if (const auto is = truth ? number_in(*truth) : std::nullopt) prediction.off = number - *is;
  }
}

// Returns a prediction for each image, in order.
std::vector<Prediction> predict_images(const ModelFile& file, Engine& engine,
                                       const ToPredict& what) {
  ExampleQuery query;
  query.image = file.model.image;
  if (what.target) {  // read all labels, including those that the model does not know
    query.target = *file.model.target_feature;
    OneOf labels;
    for (std::int64_t label = 0; label < 256; ++label) labels.values.emplace_back(label);
    query.target->encoding = labels;
  }
  const Examples examples =
      read_examples(engine, columns_to_predict(file, what), query, BoundingKey{});
  const auto model = model_of(file.model.description);
  const auto prepared = model->prepare(file.model.parameters);
  std::vector<double> z(model->outputs());
  std::vector<Prediction> predictions(examples.rows());
  for (std::size_t i = 0; i < examples.rows(); ++i) {
    prepared->outputs(examples, i, z);
    const std::string truth = std::to_string(examples.target(i));
    predictions[i].inputs = {what.target ? truth : std::string()};
    set_prediction(file, model->loss().kind, z, what.target ? std::optional(truth) : std::nullopt,
                   predictions[i]);
  }
  return predictions;
}

}  // namespace

std::vector<Prediction> predict(const ModelFile& file, Engine& engine, const ToPredict& what) {
  if (file.model.image) return predict_images(file, engine, what);
  const auto columns = columns_to_predict(file, what);
  const Dialect dialect = engine.dialect();
  const auto& target = file.model.target_feature;
  std::string inner;
  std::string outer;
  for (const Column& column : columns)
    inner += (inner.empty() ? "" : ", ") + cleaned(column, dialect) + " AS " +
             quoted(column.name, dialect);
  std::vector<Expression> read;
  for (const Column& column : columns)
    read.push_back(Expression::parse(quoted(column.name), columns));
  for (const Feature& feature : file.model.features) read.push_back(feature.field.value);
  if (what.target && target) read.push_back(target->field.value);
  for (const Expression& expression : read)
    outer += (outer.empty() ? "" : ", ") + as_text(expression, dialect);
  const Rows rows = engine.query("SELECT " + outer + " FROM (SELECT " + inner + " FROM " +
                                 engine.table() + ") AS t");

  const auto model = model_of(file.model.description);
  const auto prepared = model->prepare(file.model.parameters);
  const Encoder encoder(file.model.features);
  const std::size_t width = width_of(file.model.features);
  std::vector<double> z(model->outputs());
  std::vector<Prediction> predictions;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const auto text = [&](std::size_t c) -> std::optional<std::string> {
      const auto* cell = std::get_if<std::string>(&rows.at(r, c));
      return cell == nullptr ? std::nullopt : std::optional(*cell);
    };
    Prediction prediction;
    for (std::size_t c = 0; c < columns.size(); ++c)
      prediction.inputs.push_back(text(c).value_or(""));
    std::vector<std::optional<std::string>> texts;
    for (std::size_t f = 0; f < file.model.features.size(); ++f)
      texts.push_back(text(columns.size() + f));
    Examples::Builder builder(width);
    const auto codes = builder.add(0);
    if (encoder.encode(texts, codes)) {
      const Examples one = std::move(builder).build();
      prepared->outputs(one, 0, z);
      const auto truth =
          what.target && target ? text(columns.size() + file.model.features.size()) : std::nullopt;
      set_prediction(file, model->loss().kind, z, truth, prediction);
    }
    predictions.push_back(std::move(prediction));
  }
  return predictions;
}

}  // namespace sotto
