// Writes releases as JSON (sotto.release/1) and reads them.
#include "core/api/json.hpp"

#include <cmath>

#include "study/api/release.hpp"
#include "study/training/model_json.hpp"

namespace sotto {
namespace {

Json of(const Estimate& estimate) {
  Json json = Json::object();
  if (!estimate.keys.empty()) json["keys"] = estimate.keys;
  if (estimate.from) {
    json["from"] = *estimate.from;
    json["to"] = *estimate.to;
  }
  if (estimate.quantile) json["quantile"] = *estimate.quantile;
  json["value"] = estimate.value;
  json["low"] = estimate.low;
  json["high"] = estimate.high;
  return json;
}

std::optional<double> maybe(const Json& json, const char* key) {
  if (!json.contains(key)) return std::nullopt;
  return json.at(key).get<double>();
}

Aggregation parse_ask(const std::string& word) {
  for (const Aggregation ask : {Aggregation::count, Aggregation::distinct, Aggregation::sum,
                                Aggregation::mean, Aggregation::variance, Aggregation::deviation,
                                Aggregation::histogram, Aggregation::quantiles}) {
    if (name_of(ask) == word) return ask;
  }
  throw LedgerError("the stored answer is in a format that this version of sotto does not read");
}

}  // namespace

std::string to_json(const Release& release) {
  Json json;
  json["schema"] = "sotto.release/1";
  json["request"] = release.request;
  json["time"] = release.time;
  json["title"] = release.title;
  json["data"] = {{"name", release.data_name}, {"version", release.data_version}};
  json["ledger"] = release.ledger;
  json["unit"] = release.unit;
  json["relation"] = release.relation;
  json["confidence"] = release.confidence;
  json["plan"] = release.plan;
  json["cost"] = {{"amount", release.cost.amount}, {"delta", release.cost.delta}};
  if (release.at) json["at"] = *release.at;
  json["epsilon"] = std::isinf(release.epsilon) ? Json("inf") : Json(release.epsilon);
  json["delta"] = release.delta;
  if (release.shares_delta) json["delta_is_share"] = true;
  json["answers"] = Json::array();
  for (const QueryAnswer& answer : release.answers) {
    Json one;
    one["name"] = answer.name;
    one["ask"] = name_of(answer.ask);
    if (!answer.of.empty()) one["of"] = answer.of;
    if (!answer.by.empty()) one["by"] = answer.by;
    if (!answer.where.empty()) one["where"] = answer.where;
    one["event"] = answer.event;
    if (!answer.cuts.empty()) one["cuts"] = answer.cuts;
    if (answer.limit) one["limit"] = study_detail::of_limit(*answer.limit);
    one["estimates"] = Json::array();
    for (const Estimate& estimate : answer.estimates) one["estimates"].push_back(of(estimate));
    json["answers"].push_back(std::move(one));
  }
  if (!release.models.empty()) {
    json["models"] = Json::array();
    for (const TrainedModel& model : release.models)
      json["models"].push_back(study_detail::of_model(model));
  }
  if (const auto& f = release.federation) {
    json["federation"] = {{"members", f->members},
                          {"missing", f->missing},
                          {"colluding", f->colluding},
                          {"threshold", f->threshold},
                          {"honest", f->honest}};
  }
  json["study"] = release.study;
  return json.dump();
}

Release read_release(const std::string& text) {
  try {
    const Json json = Json::parse(text);
    if (json.at("schema") != "sotto.release/1")
      throw LedgerError(
          "the stored answer is in a format that this version of sotto does not read");
    Release release{};
    release.request = json.at("request");
    release.time = json.at("time");
    release.title = json.at("title");
    release.data_name = json.at("data").at("name");
    release.data_version = json.at("data").at("version");
    release.ledger = json.at("ledger");
    release.unit = json.at("unit");
    release.relation = json.at("relation");
    release.confidence = json.at("confidence");
    release.plan = json.at("plan");
    release.cost = {json.at("cost").at("amount"), json.at("cost").at("delta")};
    release.at = maybe(json, "at");
    release.epsilon = json.at("epsilon").is_string() ? INFINITY : json.at("epsilon").get<double>();
    release.delta = json.at("delta");
    release.shares_delta = json.contains("delta_is_share");
    release.study = json.at("study");
    for (const Json& one : json.at("answers")) {
      QueryAnswer answer;
      answer.name = one.at("name");
      answer.ask = parse_ask(one.at("ask"));
      answer.of = one.value("of", "");
      if (one.contains("by")) answer.by = one.at("by").get<std::vector<std::string>>();
      answer.where = one.value("where", "");
      answer.event = one.at("event");
      if (one.contains("cuts")) answer.cuts = one.at("cuts").get<std::vector<std::string>>();
      if (one.contains("limit")) answer.limit = study_detail::limit_in(one.at("limit"));
      for (const Json& e : one.at("estimates")) {
        Estimate estimate{
            {},          maybe(e, "from"), maybe(e, "to"), maybe(e, "quantile"), e.at("value"),
            e.at("low"), e.at("high")};
        if (e.contains("keys")) estimate.keys = e.at("keys").get<std::vector<std::string>>();
        answer.estimates.push_back(std::move(estimate));
      }
      release.answers.push_back(std::move(answer));
    }
    if (json.contains("models")) {
      for (const Json& one : json.at("models"))
        release.models.push_back(study_detail::model_in(one));
    }
    if (json.contains("federation")) {
      const Json& f = json.at("federation");
      release.federation = Federation{f.at("members").get<std::vector<std::string>>(),
                                      f.at("missing").get<std::vector<std::string>>(),
                                      f.at("colluding"), f.at("threshold"), f.at("honest")};
    }
    return release;
  } catch (const JsonError&) {
    throw LedgerError("the stored answer is damaged: it is not valid JSON of a release");
  }
}

}  // namespace sotto
