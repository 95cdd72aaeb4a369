// Flattens a plan into its events.
#include "accounting/events/events.hpp"

#include <string>
#include <unordered_map>

#include "core/api/work.hpp"
#include "numerics/api/elementary.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/plan/text.hpp"

namespace sotto::accounting_detail {

std::optional<Sampling> sampling_of(const Plan& plan) {
  if (const auto* without = plan.as<WithoutReplacement>()) {
    return Sampling{reading(without->batch) / reading(without->population), without->plan, false};
  }
  const auto* poisson = plan.as<Poisson>();
  if (poisson == nullptr) return std::nullopt;
  Real rate = min(1, reading(poisson->rate));
  while (const auto* inner = poisson->plan.as<Poisson>()) {
    rate *= min(1, reading(inner->rate));
    poisson = inner;
  }
  return Sampling{rate, poisson->plan, true};
}

namespace {

// Collects the events of a plan and counts equal ones.
class EventCollector {
 public:
  void add(const Plan& plan, std::int64_t count, std::int64_t units) {
    if (const auto* sum = plan.as<Sum>()) {
      for (const Plan& part : sum->parts) add(part, count, units);
    } else if (const auto* repeat = plan.as<Repeat>()) {
      add(repeat->plan, times(count, repeat->steps), units);
    } else if (const auto* group = plan.as<Group>()) {
      add(group->plan, count, times(units, group->size));
    } else {
      add_event({plan, count, units, nullptr, std::nullopt, false});
    }
  }

  std::vector<Event> events;

 private:
  void add_event(Event event) {
    spend(1e3);
    const auto [entry, is_new] = index_of_.try_emplace(print(event.with_group()), events.size());
    if (!is_new) {
      std::int64_t& count = events[entry->second].count;
      count += event.count;
      if (count > (std::int64_t{1} << 53))
        throw InvalidValue("the plan repeats a step more than 2^53 times: use fewer repetitions");
      return;
    }
    event.leaf = leaf_of(event.plan, event.units);
    event.sampling = sampling_of(event.plan);
    event.needs_share = needs_share(event.plan);
    events.push_back(std::move(event));
  }

  std::unordered_map<std::string, std::size_t> index_of_;  // from an event's text to its index
};

}  // namespace

std::vector<Event> events_of(const Plan& plan) {
  EventCollector collector;
  collector.add(plan, 1, 1);
  return std::move(collector.events);
}

}  // namespace sotto::accounting_detail
