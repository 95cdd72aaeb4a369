#include "accounting/budgets/commitment.hpp"

#include "sotto/core/errors.hpp"
#include "sotto/plan/text.hpp"

namespace sotto::accounting_detail {
namespace {

constexpr std::int64_t most = std::int64_t{1} << 53;

void require_countable(bool condition) {
  if (!condition) throw InvalidValue("the plan repeats its parts more than 2^53 times");
}

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
  const auto [known, is_new] = out.place.try_emplace(text, out.parts.size());
  if (is_new) {
    out.parts.push_back({plan, std::move(text), times});
  } else {
    out.parts[known->second].count += times;
  }
}

}  // namespace

Commitment::Commitment(const Plan& plan) { collect(plan, 1, *this); }

std::vector<std::int64_t> Commitment::with(const std::vector<std::int64_t>& used, const Commitment& event, std::int64_t& missing,
                                           std::string& reason) const {
  std::vector<std::int64_t> after = used;
  missing = 0;
  for (const Part& part : event.parts) {
    const auto known = place.find(part.text);
    const std::int64_t left = known == place.end() ? 0 : parts[known->second].count - used[known->second];
    if (part.count <= left) {
      after[known->second] += part.count;
      continue;
    }
    missing += part.count - left;
    if (!reason.empty()) continue;
    reason = known == place.end()
                 ? part.text + " is no part of the committed plan"
                 : std::to_string(part.count) + " of " + part.text + " are asked for, the committed plan has " + std::to_string(left) + " left";
  }
  return missing == 0 ? after : std::vector<std::int64_t>{};
}

std::optional<Plan> Commitment::rest(const std::vector<std::int64_t>& used) const {
  std::vector<Plan> left;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::int64_t count = parts[i].count - used[i];
    if (count > 0) left.push_back(count == 1 ? parts[i].plan : static_cast<double>(count) * parts[i].plan);
  }
  return left.empty() ? std::nullopt : std::optional<Plan>(Sum{std::move(left)});
}

}  // namespace sotto::accounting_detail
