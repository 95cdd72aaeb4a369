// Writes and reads the checkpoints of a run with trainings.
#include "study/training/checkpoint.hpp"

#include <algorithm>
#include <bit>

namespace sotto::study_detail {
namespace {

constexpr const char* schema = "sotto.checkpoint/2";

Json of(const Secret& secret) {
  std::vector<std::int64_t> words;
  for (const std::uint64_t word : secret.words())
    words.push_back(std::bit_cast<std::int64_t>(word));
  return words;
}

Secret secret_in(const Json& json) {
  const auto read = json.get<std::vector<std::int64_t>>();
  Secret::Words words{};
  if (read.size() != words.size()) throw JsonError("its secret has a wrong length");
  for (std::size_t i = 0; i < words.size(); ++i) words[i] = std::bit_cast<std::uint64_t>(read[i]);
  return Secret::from_words(words);
}

}  // namespace

Json to_json(const Iterate& iterate) {
  return {{"step", iterate.step},   {"parameters", iterate.parameters}, {"mean", iterate.mean},
          {"first", iterate.first}, {"second", iterate.second},         {"norm", iterate.norm}};
}

Iterate iterate_in(const Json& json) {
  Iterate iterate;
  iterate.step = json.at("step");
  iterate.parameters = json.at("parameters").get<std::vector<double>>();
  iterate.mean = json.at("mean").get<std::vector<double>>();
  iterate.first = json.at("first").get<std::vector<double>>();
  iterate.second = json.at("second").get<std::vector<double>>();
  iterate.norm = json.at("norm");
  return iterate;
}

bool is_time_to_keep(double seconds_since_last, double seconds_since_start) {
  return seconds_since_last > std::max(5.0, seconds_since_start / 100);
}

std::string to_text(const Checkpoint& checkpoint) {
  Json json;
  json["schema"] = schema;
  json["release"] = to_json(checkpoint.release);
  json["secret"] = of(checkpoint.secret);
  if (checkpoint.iterate) json["iterate"] = to_json(*checkpoint.iterate);
  return json.dump();
}

Checkpoint checkpoint_in(const std::string& text) {
  try {
    const Json json = Json::parse(text);
    if (json.at("schema") != schema) throw JsonError("it is of another version of sotto");
    Checkpoint checkpoint{.release = read_release(json.at("release")),
                          .secret = secret_in(json.at("secret"))};
    if (json.contains("iterate")) checkpoint.iterate = iterate_in(json.at("iterate"));
    return checkpoint;
  } catch (const JsonError& error) {
    throw LedgerError(
        "the checkpoint cannot be read (" + std::string(error.what()) +
            "); the request stays charged. Run the study as a new request, which is charged again",
        Remedy::new_request);
  }
}

}  // namespace sotto::study_detail
