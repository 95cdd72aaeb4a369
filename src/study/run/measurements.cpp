// Reads the exact numbers of a study's measurements, and releases them with noise.
#include "study/run/measurements.hpp"

#include <algorithm>

#include "core/api/utc.hpp"
#include "sotto/mechanisms/additive.hpp"
#include "sotto/plan/text.hpp"
#include "sotto/privacy/relation.hpp"
#include "sotto/random/random.hpp"

namespace sotto::study_detail {
namespace {

// Returns the keys that are shown: those whose noisy count of units reaches the threshold.
std::vector<std::vector<Value>> selected_keys(const KeySearch& search,
                                              const PresentGroups& present) {
  std::vector<std::vector<Value>> selected;
  for (std::size_t i = 0; i < present.groups.size(); ++i) {
    if (search.selection.selects(present.units[i])) selected.push_back(present.groups[i]);
  }
  // sorted, since the order of the data would reveal where the keys are in it
  std::sort(selected.begin(), selected.end());
  return selected;
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

Release blank_release(const Study& study, const Design& design, const std::string& ledger,
                      const std::string& request) {
  Release release{request,
                  utc_now(),
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

Measurements::Measurements(const Study& study, const Design& design, Engine& engine,
                           const Watcher& on_progress)
    : study_(study),
      design_(design),
      engine_(engine),
      on_progress_(on_progress),
      columns_(stored_columns(study)),
      aggregates_(design.measurements.size()) {}

void Measurements::aggregate() {
  for (std::size_t i = 0; i < aggregates_.size(); ++i) {
    const Measurement& m = design_.measurements[i];
    if (m.search)
      aggregates_[i].present = present_groups(engine_, columns_, m.search->aggregate, draw_key(),
                                              progress_of(i, 0, 0.5));
    else if (!m.aggregate.groups.empty())
      aggregates_[i].numbers =
          coordinates(m, gather(engine_, columns_, m.aggregate, draw_key(), progress_of(i, 0, 1)));
  }
}

void Measurements::answer(Release& release) {
  for (std::size_t i = 0; i < aggregates_.size(); ++i) {
    const Measurement& m = design_.measurements[i];
    std::vector<std::vector<Value>> groups = m.aggregate.groups;
    std::vector<double> numbers = std::move(aggregates_[i].numbers);
    if (m.search) {
      Aggregate aggregate = m.aggregate;
      aggregate.groups = selected_keys(*m.search, aggregates_[i].present);
      if (!aggregate.groups.empty())
        numbers = coordinates(
            m, gather(engine_, columns_, aggregate, draw_key(), progress_of(i, 0.5, 1)));
      groups = std::move(aggregate.groups);
    }
    if (!groups.empty()) numbers = Additive(m.event).release(numbers);
    add_answers(study_, m, groups, numbers, release);
  }
}

Progress Measurements::progress_of(std::size_t i, double start, double end) const {
  return [this, i, start, end](double share) {
    const std::string& what = study_.queries[design_.measurements[i].queries.front()].name;
    const double parts = static_cast<double>(aggregates_.size() + 2 * design_.trainings.size());
    return !on_progress_ ||
           on_progress_(what, (static_cast<double>(i) + start + share * (end - start)) / parts);
  };
}

void add_answers(const Study& study, const Measurement& measurement,
                 const std::vector<std::vector<Value>>& groups, const std::vector<double>& numbers,
                 Release& release) {
  for (const std::size_t q : measurement.queries)
    release.answers[q] = sotto::answer(study, study.queries[q], measurement, groups, numbers);
}

}  // namespace sotto::study_detail
