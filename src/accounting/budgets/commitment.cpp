// Flattens a committed plan into its parts, and matches events against them.
#include "accounting/budgets/commitment.hpp"

#include "sotto/core/errors.hpp"
#include "sotto/plan/text.hpp"

namespace sotto::accounting_detail {
namespace {

constexpr std::int64_t most = std::int64_t{1} << 53;

// Throws InvalidValue unless the number of parts fits into 2^53.
void require_countable(bool condition) {
  if (!condition) throw InvalidValue("the plan has more than 2^53 parts: use fewer repetitions");
}

// Adds the parts of a plan that runs `times` times.
void collect(const Plan& plan, std::int64_t times, Commitment& out) {
  if (const auto* sum = plan.as<Sum>()) {
    for (const Plan& part : sum->parts) collect(part, times, out);
    return;
  }
  if (const auto* repeat = plan.as<Repeat>()) {
    const auto steps = static_cast<std::int64_t>(repeat->steps.value());
    require_countable(times <= most / steps);
    collect(repeat->plan, times * steps, out);
    return;
  }
  require_countable(times <= most - out.total);
  out.total += times;
  std::string text = print(plan);
  const auto [entry, is_new] = out.index_of.try_emplace(text, out.parts.size());
  if (is_new) {
    out.parts.push_back({plan, std::move(text), times});
  } else {
    out.parts[entry->second].count += times;
  }
}

}  // namespace

Commitment::Commitment(const Plan& plan) { collect(plan, 1, *this); }

std::vector<std::int64_t> Commitment::with(const std::vector<std::int64_t>& used,
                                           const Commitment& event, std::int64_t& missing,
                                           std::string& reason) const {
  std::vector<std::int64_t> after = used;
  missing = 0;
  for (const Part& part : event.parts) {
    const auto entry = index_of.find(part.text);
    const std::int64_t left =
        entry == index_of.end() ? 0 : parts[entry->second].count - used[entry->second];
    if (part.count <= left) {
      after[entry->second] += part.count;
      continue;
    }
    missing += part.count - left;
    if (!reason.empty()) continue;
    reason = entry == index_of.end() ? part.text + " is not a part of the committed plan"
                                     : std::to_string(part.count) + " of " + part.text +
                                           " are requested, and the committed plan has " +
                                           std::to_string(left) + " left";
  }
  return missing == 0 ? after : std::vector<std::int64_t>{};
}

std::optional<Plan> Commitment::rest(const std::vector<std::int64_t>& used) const {
  std::vector<Plan> left;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::int64_t count = parts[i].count - used[i];
    if (count > 0)
      left.push_back(count == 1 ? parts[i].plan : static_cast<double>(count) * parts[i].plan);
  }
  return left.empty() ? std::nullopt : std::optional<Plan>(Sum{std::move(left)});
}

}  // namespace sotto::accounting_detail
