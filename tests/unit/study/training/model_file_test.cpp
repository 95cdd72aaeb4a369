// A model file that is signed and senseless is refused in words, and what is read gives finite
// predictions.
#include "study/api/model_file.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "core/api/json.hpp"
#include "sotto/core/errors.hpp"

namespace sotto {
namespace {

// Answers every statement with the same row of texts.
class OneRow : public Engine {
 public:
  explicit OneRow(std::vector<std::string> texts) {
    rows_.width = texts.size();
    for (std::string& text : texts) rows_.cells.emplace_back(std::move(text));
  }
  [[nodiscard]] Dialect dialect() const override { return Dialect::duckdb; }
  [[nodiscard]] std::string table() const override { return "t"; }
  Rows query(const std::string& /*sql*/, const Progress& /*progress*/) override { return rows_; }

 private:
  Rows rows_;
};

const SigningKey& signing_key() {
  static const SigningKey key = SigningKey::generate();
  return key;
}

std::string signed_text(const Json& unsigned_model) {
  Json json = unsigned_model;
  json["signer"] = signing_key().public_key();
  json["signature"] = signing_key().sign(json.dump());
  return json.dump();
}

constexpr const char* privacy =
    R"-({"statement":"(1, 1e-06)","epsilon":1,"delta":1e-06,"unit":"row","relation":"add-remove","plan":"gaussian(3)",)-"
    R"-("data":"people","version":"1","ledger":"l","request":"r","time":"2026-01-01T00:00:00Z"})-";

Json model_json(const std::string& model) {
  Json json;
  json["schema"] = "sotto.model/1";
  json["privacy"] = Json::parse(privacy);
  json["model"] = Json::parse(model);
  return json;
}

// Two numbers and a text to a class, by a linear model.
Json logistic() {
  return model_json(
      R"-({"name":"m","model":"linear(width=4, loss=logistic, classes=2)","target":"ill","event":"gaussian(3)","how":"so",)-"
      R"-("columns":[{"name":"age","type":"integer"},{"name":"pay","type":"real"},{"name":"sex","type":"text"},{"name":"ill","type":"boolean"}],)-"
      R"-("features":[{"name":"age","expression":"age","if_null":7,"bounds":[20,80],"from_zero":true},)-"
      R"-({"name":"pay","expression":"pay","bounds":[-1,1],"from_zero":false},)-"
      R"-({"name":"sex","expression":"sex","values":["m","f"]}],)-"
      R"-("predicts":{"name":"ill","expression":"ill","values":[false,true]},"parameters":[1,-2,3,0.5,0.25],)-"
      R"-("intervals":[[0,2],[-3,-1],[2,4],[0,1],[0,1]],"accuracy":{"value":0.9,"low":0.8,"high":0.95},)-"
      R"-("evaluation":{"data":"p","version":"1","rows":10,"classes":true,"points":[{"step":1,"loss":0.5,"right":9}]}})-");
}
// A number by a network.
Json network() {
  return model_json(
      R"-({"name":"m","model":"network(input=1x1x1, loss=squared, layers=[dense 1, tanh, dense 1])","target":"pay","event":"gaussian(3)","how":"so",)-"
      R"-("columns":[{"name":"age","type":"integer"},{"name":"pay","type":"real"}],)-"
      R"-("features":[{"name":"age","expression":"age","bounds":[20,80],"from_zero":true}],)-"
      R"-("predicts":{"name":"pay","expression":"pay","bounds":[0,10],"from_zero":false},"parameters":[1,0.5,-1,0.25]})-");
}
// One of three labels of small images.
Json images() {
  return model_json(
      R"-({"name":"m","model":"linear(width=4, loss=softmax, classes=3)","target":"label","event":"gaussian(3)","how":"so",)-"
      R"-("columns":[{"name":"label","type":"integer"}],"features":[],"image":[2,2],)-"
      R"-("predicts":{"name":"label","expression":"label","values":[0,1,2]},"parameters":[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15]})-");
}

// Empty where the model is read and predicts; else why it is refused. Any other error fails the
// test.
std::string refusal(const Json& json) {
  ModelFile file;
  try {
    file = read_model_file(signed_text(json));
  } catch (const InvalidValue& error) {
    return error.what();
  }
  if (file.model.image) return "";
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < columns_to_predict(file, {}).size(); ++i) texts.emplace_back("1");
  for (const Feature& feature : file.model.features)
    texts.emplace_back(feature.field.value.type() == Type::text ? "m" : "50");
  OneRow engine(texts);
  for (const Prediction& prediction : predict(file, engine, {})) {
    EXPECT_TRUE(!prediction.probability ||
                (*prediction.probability >= 0 && *prediction.probability <= 1))
        << json.dump();
    EXPECT_EQ(prediction.value.find("nan"), std::string::npos) << json.dump();
  }
  return "";
}

void expect_refused(const Json& json, const std::string& why) {
  const std::string found = refusal(json);
  EXPECT_TRUE(found.starts_with("the model cannot be read: "))
      << "\"" << found << "\" for " << json.dump();
  EXPECT_NE(found.find(why), std::string::npos) << "\"" << found << "\" for " << json.dump();
}

Json changed(const Json& json, const std::function<void(Json&)>& change) {
  Json copy = json;
  change(copy);
  return copy;
}
void erase(Json& object, const std::string& name) {
  Json rest = Json::object();
  for (const Json::Member& member : object.members()) {
    if (member.name != name) rest[member.name] = member.value;
  }
  object = rest;
}

TEST(ModelFiles, SoundOnesAreRead) {
  for (const Json& json : {logistic(), network(), images()}) EXPECT_EQ(refusal(json), "");
}

TEST(ModelFiles, WhatDoesNotFitIsRefused) {
  using Change = std::function<void(Json&)>;
  for (const auto& [why, change] : std::vector<std::pair<std::string, Change>>{
           {"does not say what it predicts", [](Json& m) { erase(m, "predicts"); }},
           {"predicts 1 values",
            [](Json& m) { m["predicts"]["values"] = std::vector<bool>{true}; }},
           {"predicts a number",
            [](Json& m) {
              m["predicts"] = Json::parse(
                  R"({"name":"pay","expression":"pay","bounds":[0,1],"from_zero":true})");
            }},
           {"bounds",
            [](Json& m) {
              m["features"][0]["bounds"] = std::vector<double>{80, 20};
            }},
           {"bounds",
            [](Json& m) {
              m["features"][0]["bounds"] = std::vector<double>{20, 20};
            }},
           {"bounds",
            [](Json& m) {
              m["features"][0]["bounds"] = std::vector<double>{-1e308, 1e308};
            }},
           {"1e30", [](Json& m) { m["parameters"][0] = 1e308; }},
           {"1e30", [](Json& m) { m["parameters"][4] = -1e31; }},
           {"4 parameters",
            [](Json& m) {
              m["parameters"] = std::vector<double>{1, 2, 3, 4};
            }},
           {"6 parameters", [](Json& m) { m["parameters"].push_back(1.0); }},
           {"intervals", [](Json& m) { m["intervals"].push_back(m["intervals"][0]); }},
           {"an interval",
            [](Json& m) {
              m["intervals"][0] = std::vector<double>{3, 2};
            }},
           {"features", [](Json& m) { m["features"].push_back(m["features"][0]); }},
           {"no features", [](Json& m) { m["features"] = Json::array(); }},
           {"two columns", [](Json& m) { m["columns"].push_back(m["columns"][0]); }},
           {"a value twice",
            [](Json& m) {
              m["features"][2]["values"] = std::vector<std::string>{"m", "m"};
            }},
           {"no values", [](Json& m) { m["features"][2]["values"] = Json::array(); }},
           {"",
            [](Json& m) {
              m["features"][2]["values"] = std::vector<double>{1, 2};
            }},
           {"not a number", [](Json& m) { m["features"][0]["if_null"] = "x"; }},
           {"accuracy", [](Json& m) { m["accuracy"]["low"] = 2; }},
           {"evaluation", [](Json& m) { m["evaluation"]["points"][0]["right"] = 11; }},
           {"is not a model description", [](Json& m) { m["model"] = "linear"; }},
           {"must be written", [](Json& m) { m["model"] = "linear(width=4, loss=logistic)"; }},
           {"has another number",
            [](Json& m) { m["model"] = "linear(width=5, loss=logistic, classes=2)"; }},
           {"",
            [](Json& m) { m["model"] = "linear(width=16777216, loss=softmax, classes=16777216)"; }},
           {"tells 3 apart",
            [](Json& m) { m["model"] = "linear(width=4, loss=softmax, classes=3)"; }},
           {"bend", [](Json& m) { m["model"] = "linear(width=4, loss=huber, bend=nan)"; }},
           {"both images and features", [](Json& m) {
              m["image"] = std::vector<std::int64_t>{2, 2};
            }}}) {
    expect_refused(
        changed(logistic(), [&, &change = change](Json& json) { change(json["model"]); }), why);
  }
  for (const auto& sides :
       {std::vector<std::int64_t>{0, 4}, {-2, -2}, {4, 4}, {INT64_MAX, 2}, {1}, {}}) {
    expect_refused(changed(images(), [&](Json& json) { json["model"]["image"] = sides; }), "");
  }
  expect_refused(changed(logistic(), [](Json& json) { json["privacy"]["delta"] = 2; }), "delta");
  expect_refused(changed(logistic(), [](Json& json) { json["privacy"]["epsilon"] = -1; }),
                 "epsilon");
  expect_refused(changed(logistic(), [](Json& json) { json["schema"] = "sotto.model/9"; }),
                 "not a model file of sotto");
}

// Calls `use` with the document and a reference to each value in it.
void each_value(Json& document, Json& at, const std::function<void(Json&)>& use) {
  use(at);
  if (at.is_object()) {
    std::vector<std::string> names;
    for (const Json::Member& member : at.members()) names.push_back(member.name);
    for (const std::string& name : names) each_value(document, at[name], use);
  }
  if (at.is_array()) {
    for (std::size_t i = 0; i < at.size(); ++i) each_value(document, at[i], use);
  }
}

TEST(ModelFiles, EveryFieldMayHaveAnyValue) {
  const Json nothing;
  const std::vector<Json> values{nothing,
                                 true,
                                 0,
                                 -1,
                                 1'000'000'000'000,
                                 INT64_MIN,
                                 1e308,
                                 -1e308,
                                 5e-324,
                                 0.5,
                                 "",
                                 "x",
                                 std::string(100'000, '('),
                                 std::string("a\0b", 3),
                                 Json::array(),
                                 Json::object(),
                                 std::vector<double>{1},
                                 std::vector<double>{3, 2, 1},
                                 std::vector<std::string>{"m", "m"}};
  int tried = 0;
  int read = 0;
  const auto look = [&](const Json& json) {
    if (!json.is_object()) return;  // it has no place for a signature
    ++tried;
    const std::string why = refusal(json);
    read += why.empty() ? 1 : 0;
    EXPECT_TRUE(why.empty() || why.starts_with("the model cannot be read: "))
        << why << " for " << json.dump().substr(0, 3000);
  };
  for (const Json& sound : {logistic(), network(), images()}) {
    Json json = sound;
    each_value(json, json, [&](Json& at) {
      const Json kept = at;
      for (const Json& value : values) {
        at = value;
        look(json);
      }
      at = kept;
      if (kept.is_object()) {
        for (const Json::Member& member : kept.members()) {
          erase(at, member.name);
          look(json);
          at = kept;
        }
      }
      if (kept.is_array() && !kept.empty()) {
        Json shorter = Json::array();
        for (std::size_t i = 1; i < kept.size(); ++i) shorter.push_back(kept[i]);
        at = shorter;
        look(json);
        at = kept;
        at.push_back(kept[0]);
        look(json);
        at = kept;
      }
    });
  }
  EXPECT_GT(tried, 1500);
  EXPECT_GT(read, 100);  // names, words and numbers within their range
  EXPECT_LT(read, tried / 2);
}

TEST(ModelFiles, AParameterWithinTheLimitGivesAFiniteOutput) {
  EXPECT_EQ(refusal(changed(
                logistic(),
                [](Json& json) { json["model"]["parameters"] = std::vector<double>(5, 1e30); })),
            "");
  EXPECT_EQ(refusal(changed(
                network(),
                [](Json& json) { json["model"]["parameters"] = std::vector<double>(4, -1e30); })),
            "");
}

}  // namespace
}  // namespace sotto
