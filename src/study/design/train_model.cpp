// Resolves a section [[train]] to a model, and to the columns that the model reads.
#include "study/design/train_model.hpp"

#include <algorithm>
#include <set>

#include "sotto/core/errors.hpp"
#include "sotto/learning/network.hpp"
#include "study/design/measure.hpp"

namespace sotto::study_detail {
namespace {

struct Kind {
  const char* name;
  LossKind loss;
};
constexpr Kind kinds[] = {{"logistic", LossKind::logistic},
                          {"svm", LossKind::squared_hinge},
                          {"softmax", LossKind::softmax},
                          {"linear", LossKind::squared},
                          {"huber", LossKind::huber}};

// ModelResolver resolves one section [[train]]. It throws StudyError for settings that do not fit
// together.
class ModelResolver {
 public:
  ModelResolver(const Study& study, const TrainingRequest& ask)
      : study_(study),
        request_(ask),
        images_(std::get_if<IdxSource>(&study.source)),
        what_("train \"" + ask.name + "\": ") {}

  RequestedModel resolve() {
    const LossFunction loss{loss_kind()};
    ExampleQuery query = images_ != nullptr ? image_query(loss) : table_query(loss);
    const std::size_t classes =
        loss.is_of_classes() ? std::get<OneOf>(query.target->encoding).values.size() : 0;
    if (loss.is_of_classes() && loss.kind != LossKind::softmax && classes != 2) {
      fail("\"" + request_.target + "\" has " + std::to_string(classes) + " values, and " +
           request_.model + " tells two apart: write model = \"softmax\"");
    }
    const std::string description = description_of(loss, width_of(query), classes);
    return {loss, std::move(query), classes, description, is_network()};
  }

 private:
  [[noreturn]] void fail(const std::string& why) const {
    throw StudyError(what_ + why, request_.line);
  }

  [[nodiscard]] bool is_convolutional() const { return request_.model == "convolutional"; }
  [[nodiscard]] bool is_network() const {
    return request_.model == "network" || is_convolutional();
  }

  [[nodiscard]] LossKind loss_kind() const {
    if (!is_convolutional() && (!request_.channels.empty() || !request_.kernel.empty() ||
                                request_.group_norm || !request_.layers.empty())) {
      fail("`channels`, `kernel`, `group_norm` and `layers` belong to model = \"convolutional\"");
    }
    if (is_network()) {
      const StudyColumn& column = column_of(study_, request_.target, request_.line);
      return column.type == Type::boolean || !column.values.empty() ? LossKind::softmax
                                                                    : LossKind::squared;
    }
    if (!request_.hidden.empty()) fail("`hidden` layers belong to model = \"network\"");
    std::string all;
    for (const Kind& kind : kinds) {
      if (request_.model == kind.name) return kind.loss;
      all += (all.empty() ? "" : ", ") + std::string(kind.name);
    }
    fail("`model` is one of: " + all + ", network, convolutional");
  }

  [[nodiscard]] NetworkLayer activation() const {
    if (request_.activation != "tanh" && request_.activation != "relu")
      fail("`activation` is \"tanh\" or \"relu\"");
    return parse_layer(request_.activation);
  }

  [[nodiscard]] std::string description_of(const LossFunction& loss, std::size_t width,
                                           std::size_t classes) const {
    if (is_convolutional()) return make_model(convolutional(loss, classes))->description();
    if (!is_network())
      return make_model(LinearModel{width, loss, std::max<std::size_t>(classes, 2)})->description();
    if (request_.hidden.empty())
      fail("`hidden` is missing: write the sizes of the hidden layers, hidden = [32]");
    std::vector<std::size_t> hidden;
    for (const std::int64_t size : request_.hidden)
      hidden.push_back(static_cast<std::size_t>(size));
    return make_model(multilayer_perceptron(width, hidden, activation(), loss,
                                            std::max<std::size_t>(classes, 1)))
        ->description();
  }

  // Returns the network of [Papernot2021], with the sizes or layers that the request sets.
  [[nodiscard]] Network convolutional(const LossFunction& loss, std::size_t classes) const {
    if (images_ == nullptr)
      fail(
          "model = \"convolutional\" needs images, and these data are a table: write model = "
          "\"network\"");
    const ImageShape image{1, images_->height, images_->width};
    Network network{.input = image, .layers = {}, .loss = loss, .classes = classes};
    if (!request_.layers.empty()) {
      if (!request_.channels.empty() || !request_.kernel.empty() || request_.group_norm ||
          !request_.hidden.empty()) {
        fail("`layers` replaces `channels`, `kernel`, `group_norm` and `hidden`: remove them");
      }
      for (const std::string& layer : request_.layers) network.layers.push_back(parse_layer(layer));
    } else {
      const std::vector<std::int64_t> channels =
          request_.channels.empty() ? std::vector<std::int64_t>{16, 32} : request_.channels;
      const std::vector<std::int64_t> kernel =
          request_.kernel.empty() ? std::vector<std::int64_t>{8, 4} : request_.kernel;
      if (channels.size() != kernel.size())
        fail(
            "each convolution has `channels` and a `kernel`: channels = [16, 32] and kernel = [8, "
            "4]");
      for (std::size_t i = 0; i < channels.size(); ++i) {
        const auto size = static_cast<std::size_t>(kernel[i]);
        network.layers.push_back(Convolution{static_cast<std::size_t>(channels[i]), size, 2,
                                             i == 0 ? (size - 1) / 2 : 0});
        if (request_.group_norm)
          network.layers.push_back(GroupNorm{static_cast<std::size_t>(*request_.group_norm)});
        network.layers.push_back(activation());
        network.layers.push_back(MaxPool{2, 1});
      }
      for (const std::int64_t size :
           request_.hidden.empty() ? std::vector<std::int64_t>{32} : request_.hidden) {
        network.layers.push_back(Dense{static_cast<std::size_t>(size)});
        network.layers.push_back(activation());
      }
    }
    network.layers.push_back(Dense{classes});
    return network;
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
      fail("\"" + column.name + "\" needs bounds = [0, 100] or values = […] below [columns." +
           column.name + "], from public knowledge; or leave it out of `features`");
    }
    return feature;
  }

  [[nodiscard]] Feature target(const LossFunction& loss) const {
    const StudyColumn& column = column_of(study_, request_.target, request_.line);
    Feature target{column.name, field_of(study_, column), Scaled{0, 1}};
    if (loss.is_of_classes()) {
      if (column.type == Type::boolean) {
        target.encoding = OneOf{{false, true}};
      } else if (column.values.size() < 2) {
        fail("the target \"" + column.name +
             "\" has no values: write values = […] below [columns." + column.name + "]");
      } else {
        target.encoding = OneOf{column.values};
      }
    } else {
      if (!column.lower)
        fail("\"" + column.name + "\" has no bounds: write bounds = [0, 100] below [columns." +
             column.name + "], from public knowledge");
      target.encoding = Scaled{*column.lower, *column.upper};
    }
    return target;
  }

  [[nodiscard]] ExampleQuery image_query(const LossFunction& loss) const {
    const std::string narrow = "; fewer labels are named by values = […] below [columns." +
                               study_.columns.front().name + "]";
    if (!request_.features.empty())
      fail("images have pixels and no other features: leave out `features`");
    if (!request_.where.empty()) fail("`where` is for tables" + narrow);
    if (!loss.is_of_classes())
      fail(
          "the label of an image is a class: write model = \"softmax\", \"network\" or "
          "\"convolutional\"");
    if (!column_of(study_, request_.target, request_.line).derive.empty())
      fail("the target of images is their label, as it is stored" + narrow);
    ExampleQuery query;
    query.image = ImageSize{images_->height, images_->width};
    query.target = target(loss);
    return query;
  }

  [[nodiscard]] ExampleQuery table_query(const LossFunction& loss) const {
    ExampleQuery query;
    if (!request_.where.empty()) {
      query.where = expression(study_, request_.where, what_ + "in `where`", request_.line);
      if (query.where->type() != Type::boolean)
        fail("`where` must be a condition that is true or false, such as \"age >= 18\"");
    }
    if (request_.features.empty()) {
      for (const StudyColumn& column : study_.columns) {
        const bool has_encoding =
            column.type == Type::boolean || !column.values.empty() || column.lower;
        if (has_encoding && column.name != request_.target && column.name != study_.unit)
          query.features.push_back(feature(column));
      }
      if (query.features.empty())
        fail(
            "no column has bounds or values, so there is nothing to learn from: declare some below "
            "[columns]");
    }
    for (const std::string& name : request_.features) {
      if (name == request_.target) fail("the target \"" + name + "\" cannot be a feature");
      if (std::count(request_.features.begin(), request_.features.end(), name) > 1)
        fail("the feature \"" + name + "\" is listed twice: remove one");
      query.features.push_back(feature(column_of(study_, name, request_.line)));
    }
    query.target = target(loss);
    if (study_.unit != "row") {
      query.unit = field_of(study_, column_of(study_, study_.unit, request_.line)).value;
      query.rows_a_unit = request_.rows;
    }
    return query;
  }

  const Study& study_;
  const TrainingRequest& request_;
  const IdxSource* images_;
  std::string what_;
};

std::string name_of_size(const IdxSource& images) {
  return std::to_string(images.height) + " x " + std::to_string(images.width);
}

}  // namespace

RequestedModel requested_model(const Study& study, const TrainingRequest& ask) {
  return ModelResolver(study, ask).resolve();
}

std::vector<Column> columns_read(const Study& study, const ExampleQuery& query) {
  std::set<std::string> names;
  const auto add = [&names](const Expression& expression) {
    for (const std::string& name : expression.columns()) names.insert(name);
  };
  for (const Feature& feature : query.features) add(feature.field.value);
  if (query.target) add(query.target->field.value);
  std::vector<Column> read;
  for (const Column& column : stored_columns(study)) {
    if (names.count(column.name) != 0) read.push_back(column);
  }
  return read;
}

const DataFile* public_data_of(const Study& study, const TrainingRequest& ask,
                               const ExampleQuery& query) {
  if (ask.evaluate.empty()) return nullptr;
  const auto data = std::find_if(study.public_data.begin(), study.public_data.end(),
                                 [&](const DataFile& other) { return other.name == ask.evaluate; });
  if (data == study.public_data.end())
    throw StudyError("there are no public data \"" + ask.evaluate + "\"", ask.line);
  const auto fail = [&](const std::string& why) -> StudyError {
    return {"train \"" + ask.name + "\": the public data \"" + ask.evaluate + "\" " + why,
            ask.line};
  };
  const auto* images = std::get_if<IdxSource>(&study.source);
  const auto* others = std::get_if<IdxSource>(&data->source);
  if ((images != nullptr) != (others != nullptr))
    throw fail(images != nullptr ? "are a table, and the study's data are images"
                                 : "are images, and the study's data are a table");
  if (images != nullptr && (images->height != others->height || images->width != others->width)) {
    throw fail("are images of " + name_of_size(*others) + ", and these of " +
               name_of_size(*images));
  }
  std::vector<Column> needed = columns_read(study, query);
  if (query.where) {
    for (const Column& column : stored_columns(study)) {
      const auto names = query.where->columns();
      if (std::find(names.begin(), names.end(), column.name) != names.end())
        needed.push_back(column);
    }
  }
  for (const Column& column : needed) {
    const auto same = [&](const StudyColumn& other) {
      return other.name == column.name && other.type == column.type;
    };
    if (std::none_of(data->columns.begin(), data->columns.end(), same)) {
      throw fail("have no column \"" + column.name + "\" of type " + name_of(column.type) +
                 ", which the model reads");
    }
  }
  return &*data;
}

}  // namespace sotto::study_detail
