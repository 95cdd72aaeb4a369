// Computes exact answers to a study's queries on public data, with and without the study's bounds.
#include "study/api/public_answers.hpp"

#include <cmath>

#include "data/api/unbounded.hpp"
#include "study/api/run.hpp"

namespace sotto {
namespace {

Statistic statistic_of(const Query& query) {
  switch (query.ask) {
    case Aggregation::count: return Statistic::rows;
    case Aggregation::distinct: return Statistic::units;
    case Aggregation::sum: return Statistic::sum;
    case Aggregation::mean: return query.clamp_total ? Statistic::mean_of_units : Statistic::mean;
    case Aggregation::variance:
    case Aggregation::deviation: return Statistic::variance;
    case Aggregation::histogram: return Statistic::bins;
    case Aggregation::quantiles: return Statistic::quantiles;
  }
  return Statistic::rows;
}

// Returns the measurement's rows and groups with the query's column.
Aggregate aggregate_of(const Study& study, const Query& query, const Measurement& m,
                       const QueryAnswer& answer) {
  Aggregate aggregate = m.aggregate;
  aggregate.of.reset();
  if (!query.of.empty()) aggregate.of = field_of(study, column_of(study, query.of, query.line));
  aggregate.groups.clear();
  for (const Estimate& estimate : answer.estimates) {
    std::vector<Value> group;
    for (std::size_t k = 0; k < aggregate.keys.size(); ++k)
      group.push_back(parse_key(estimate.keys.at(k), aggregate.keys[k].value.type()));
    if (aggregate.groups.empty() || aggregate.groups.back() != group)
      aggregate.groups.push_back(std::move(group));
  }
  return aggregate;
}

}  // namespace

PublicAnswers public_answers(const Study& study, const Design& design, Engine& engine,
                             const Release& release) {
  PublicAnswers answers{exact_answers(study, design, engine, release),
                        std::vector<QueryAnswer>(study.queries.size())};
  for (const Measurement& m : design.measurements) {
    for (const std::size_t q : m.queries) {
      const Query& query = study.queries[q];
      QueryAnswer& answer = answers.in_the_data[q];
      answer = answers.without_noise[q];
      if (answer.estimates.empty()) continue;
      const std::vector<double> numbers =
          unbounded(engine, stored_columns(study), aggregate_of(study, query, m, answer),
                    statistic_of(query), query.quantiles);
      for (std::size_t i = 0; i < answer.estimates.size(); ++i) {
        const double number =
            query.ask == Aggregation::deviation ? std::sqrt(numbers.at(i)) : numbers.at(i);
        answer.estimates[i].value = answer.estimates[i].low = answer.estimates[i].high = number;
      }
    }
  }
  return answers;
}

}  // namespace sotto
