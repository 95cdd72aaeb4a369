// A mechanism that is (ε, δ)-DP and yet publishes the whole table with probability δ.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "course/api/attack_catastrophe.hpp"
#include "course/attacks/limits.hpp"
#include "sotto/accounting/account.hpp"
#include "sotto/accounting/filter.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/core/values.hpp"
#include "sotto/mechanisms/additive.hpp"
#include "sotto/random/uniform.hpp"

namespace sotto {
namespace {

void check(const CatastropheSettings& settings) {
  (void)require_positive(settings.epsilon, "epsilon");
  (void)require_open_unit(settings.delta, "delta");
  (void)require_count(settings.releases, 1, "releases");
  (void)require_count(settings.people, 1, "people");
  course_detail::require_at_most(settings.releases, 1'000'000, "releases");
  course_detail::require_at_most(settings.people, 10'000, "people");
}

using Table = std::vector<std::uint8_t>;

// A made-up table together with the mechanism, which cannot be run on any other table.
class CatastrophicTable {
 public:
  CatastrophicTable(const CatastropheSettings& settings, double scale)
      : noise_(laplace(scale)), delta_(settings.delta), table_(size(settings)) {
    for (auto& bit : table_) bit = bernoulli(1, 2) ? 1 : 0;
  }

  struct Release {
    std::optional<Table> everything;
    double count;
  };
  [[nodiscard]] Release release() const {
    if (bernoulli(delta_)) return {table_, NAN};
    return {std::nullopt, noise_.release(count())};
  }
  [[nodiscard]] double count() const { return std::accumulate(table_.begin(), table_.end(), 0.0); }

 private:
  static std::size_t size(const CatastropheSettings& settings) {
    return static_cast<std::size_t>(settings.people);
  }

  Additive noise_;
  double delta_;
  Table table_;
};

// Whether a point is recorded after this many releases: after 1, 2, 5, 10, …, and after the last.
bool is_stop(std::int64_t count, std::int64_t last) {
  std::int64_t first = count;
  while (first >= 10 && first % 10 == 0) first /= 10;
  return count == last || first == 1 || first == 2 || first == 5;
}

std::string refusal_by_zcdp(const Plan& event) {
  try {
    return Filter(ZcdpBudget{.rho = 1e6}).admit(event).reason;
  } catch (const OutsideConditions& e) {
    const std::string why = e.what();
    return why.substr(0, why.find(';'));
  }
}

}  // namespace

CatastropheAttack catastrophe_attack(const CatastropheSettings& settings) {
  check(settings);
  CatastropheAttack attack{.settings = settings};
  const double scale = laplace_for(Epsilon(settings.epsilon), 1).scale();
  const CatastrophicTable table(settings, scale);
  const Additive gaussian_noise = gaussian_for(Epsilon(settings.epsilon), Delta(settings.delta), 1);
  attack.sigma = gaussian_noise.scale();
  const Plan event = catastrophe(settings.epsilon, settings.delta);
  const double truth = table.count();

  std::int64_t revealed = 0;
  std::int64_t above = 0;
  const auto count_loss = [&](double loss, ObservedLosses& losses, std::int64_t& number) {
    number += loss > settings.epsilon * (1 + 1e-9) ? 1 : 0;
    losses.largest = std::max(losses.largest, loss);
  };
  std::int64_t gaussian_above = 0;
  for (std::int64_t i = 1; i <= settings.releases; ++i) {
    const CatastrophicTable::Release release = table.release();
    // The privacy loss about a person whose bit is 1: without that person the count is one less.
    if (release.everything) {
      ++revealed;
      attack.when.push_back(i);
      attack.learnt = static_cast<std::int64_t>(release.everything->size());
      count_loss(INFINITY, attack.catastrophe, above);
    } else {
      count_loss((std::abs(release.count - truth + 1) - std::abs(release.count - truth)) / scale,
                 attack.catastrophe, above);
    }
    const double noise = gaussian_noise.release(truth) - truth;
    count_loss((2 * noise + 1) / (2 * attack.sigma * attack.sigma), attack.gaussian,
               gaussian_above);
    if (!is_stop(i, settings.releases)) continue;
    const auto count = static_cast<double>(i);
    attack.points.push_back(
        {.releases = i,
         .revealed = revealed,
         .expected = count * settings.delta,
         .delta = delta(count * event, Epsilon(count * settings.epsilon)).value.upper});
  }
  attack.catastrophe.above_epsilon =
      static_cast<double>(above) / static_cast<double>(settings.releases);
  attack.gaussian.above_epsilon =
      static_cast<double>(gaussian_above) / static_cast<double>(settings.releases);
  attack.catastrophe.divergence = divergence(event, Order(2)).value.upper;
  attack.gaussian.divergence = divergence(gaussian_noise.event(), Order(2)).value.upper;
  attack.refusal = refusal_by_zcdp(event);
  return attack;
}

}  // namespace sotto
