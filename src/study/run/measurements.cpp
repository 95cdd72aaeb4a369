#include "study/run/measurements.hpp"

#include <algorithm>
#include <ctime>

#include "sotto/mechanisms/additive.hpp"
#include "sotto/plan/text.hpp"
#include "sotto/privacy/relation.hpp"
#include "sotto/random/random.hpp"

namespace sotto::study_detail {
namespace {

std::string now() {
  const std::time_t time = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&time, &utc);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
  return text;
}

// The keys that are shown: those whose noisy count of units reaches the threshold.
std::vector<std::vector<Value>> shown_keys(const KeySearch& search, const PresentGroups& present) {
  const RoundedNoise noise(search.kind, search.scale);
  std::vector<std::vector<Value>> shown;
  for (std::size_t i = 0; i < present.groups.size(); ++i) {
    if (noise.add(static_cast<double>(present.units[i])) >= search.threshold) shown.push_back(present.groups[i]);
  }
  // their order must not tell where they stood
  std::sort(shown.begin(), shown.end());
  return shown;
}

}  // namespace

BoundingKey draw_key() {
  BoundingKey key{};
  for (std::uint64_t& word : key.seed) word = Random::here().word();
  return key;
}

std::optional<RowsRead> rows_read(Engine* engine) {
  if (engine == nullptr) return std::nullopt;
  try {
    return engine->rows_read();
  } catch (const EngineError&) {
    return std::nullopt;
  }
}

Release blank_release(const Study& study, const Design& design, const std::string& ledger, const std::string& request) {
  Release release{request,
                  now(),
                  study.title,
                  study.data_name,
                  study.data_version,
                  ledger,
                  study.unit,
                  std::string(name(design.relation)),
                  study.confidence,
                  print(design.plan),
                  design.cost,
                  design.at ? std::optional(design.at->value()) : std::nullopt,
                  design.total->value.upper,
                  design.total_delta->value(),
                  study.text,
                  std::vector<QueryAnswer>(study.queries.size())};
  release.shares_delta = design.shares_delta;
  return release;
}

Measurements::Measurements(const Study& study, const Design& design, Engine& engine, const Watcher& told)
    : study_(study), design_(design), engine_(engine), told_(told), columns_(stored_columns(study)), looked_(design.measurements.size()) {}

void Measurements::look() {
  for (std::size_t i = 0; i < looked_.size(); ++i) {
    const Measurement& m = design_.measurements[i];
    if (m.search)
      looked_[i].present = present_groups(engine_, columns_, m.search->aggregate, draw_key(), progress_of(i, 0, 0.5));
    else if (!m.aggregate.groups.empty())
      looked_[i].numbers = coordinates(m, gather(engine_, columns_, m.aggregate, draw_key(), progress_of(i, 0, 1)));
  }
}

void Measurements::answer(Release& release) {
  for (std::size_t i = 0; i < looked_.size(); ++i) {
    const Measurement& m = design_.measurements[i];
    std::vector<std::vector<Value>> groups = m.aggregate.groups;
    std::vector<double> numbers = std::move(looked_[i].numbers);
    if (m.search) {
      Aggregate aggregate = m.aggregate;
      aggregate.groups = shown_keys(*m.search, looked_[i].present);
      if (!aggregate.groups.empty()) numbers = coordinates(m, gather(engine_, columns_, aggregate, draw_key(), progress_of(i, 0.5, 1)));
      groups = std::move(aggregate.groups);
    }
    if (!groups.empty()) numbers = Additive(m.event).release(numbers);
    add_answers(study_, m, groups, numbers, release);
  }
}

Progress Measurements::progress_of(std::size_t i, double start, double end) const {
  return [this, i, start, end](double share) {
    const std::string& what = study_.queries[design_.measurements[i].queries.front()].name;
    const double parts = static_cast<double>(looked_.size() + 2 * design_.trainings.size());
    return !told_ || told_(what, (static_cast<double>(i) + start + share * (end - start)) / parts);
  };
}

void add_answers(const Study& study, const Measurement& measurement, const std::vector<std::vector<Value>>& groups,
                 const std::vector<double>& numbers, Release& release) {
  for (const std::size_t q : measurement.queries) release.answers[q] = sotto::answer(study, study.queries[q], measurement, groups, numbers);
}

}  // namespace sotto::study_detail
