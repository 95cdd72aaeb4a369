// Amplification by shuffling of locally ε₀-DP reports, by the clones of the other reports
// [Feldman2023]: shuffled reports, and a histogram that is passed around a ring, which shuffles the
// reports of a pass.
#include <cmath>

#include "accounting/leaves/description.hpp"
#include "numerics/api/elementary.hpp"
#include "privacy/api/federated.hpp"

namespace sotto::accounting_detail {
namespace {

// A leaf with local ε₀ and a number of shuffled reports. A group of k has only its k ε₀-DP
// guarantee.
class ShuffledLeaf : public PureLeaf {
 public:
  ShuffledLeaf(const Real& local, std::int64_t reports, std::int64_t units)
      : PureLeaf(units), local_(local), reports_(reports) {}

  [[nodiscard]] std::optional<Relation> fixed_relation() const override {
    return Relation::replace_one;
  }
  [[nodiscard]] bool carries_group() const override { return false; }
  [[nodiscard]] std::optional<Real> pure_epsilon(const Real& uses) const override {
    return uses * k() * local_;
  }
  [[nodiscard]] bool reaches_pure_epsilon() const override {
    return units() == 1;
  }  // attained if all other users send the value that this user does not have
  [[nodiscard]] std::optional<Proved<Real>> renyi(double order, Side side) const override {
    if (side == Side::lower) return std::nullopt;
    auto pure = PureLeaf::renyi(order, side);
    if (!mixes() || std::isinf(order)) return pure;
    // E_P[e^((α-1)L)] of the losses on the lattice, plus that of the truncated ones, whose losses
    // are at most ε₀.
    const TruncatedLoss own = loss();
    const double used = std::max(order, 1 + 0x1p-14);  // divergences grow with the order
    const LogMgfValue here = own.loss->log_mgf(used - 1)->at(0);
    if (!std::isfinite(here.error)) return pure;
    const Real log_mgf = Real(here.log.re).widened(here.error);
    const Real truncated =
        own.failure > 0 ? log1pexp(log(Real(own.failure)) + (Real(used) - 1) * local_ - log_mgf)
                        : Real(0);
    const Real value = (log_mgf + truncated) / (Real(used) - 1);
    if (!(value.upper() < pure->value.upper())) return pure;
    return Proved<Real>{value.upper(), theorem, "Feldman2023", conditions()};
  }
  [[nodiscard]] ProvedOrRefused<DominatingPair> pair() const override {
    if (!mixes()) return PureLeaf::pair();
    const TruncatedLoss own = loss();
    auto pair = symmetric_pair(own.loss, theorem, "Feldman2023");
    pair.value.failure = own.failure;
    pair.value.attained = reports_ == 1;
    pair.conditions = conditions();
    return pair;
  }
  [[nodiscard]] Base base() const override { return NoBase{}; }

 protected:
  [[nodiscard]] const Real& local() const { return local_; }
  [[nodiscard]] std::int64_t reports() const { return reports_; }

 private:
  static constexpr const char* theorem =
      "shuffled reports: every other one is a clone with probability 2/(e^ε₀+1)";
  [[nodiscard]] bool mixes() const {
    return units() == 1 && local_.upper() > 1e-200 && local_.upper() < 600;
  }
  [[nodiscard]] TruncatedLoss loss() const {
    return clones_loss(local_, reports_, 2 / (exp(local_) + 1));
  }
  [[nodiscard]] std::vector<Condition> conditions() const {
    return {"replace-one", "ε₀ = " + rounded_to_nearest(local_),
            std::to_string(reports_) + " reports"};
  }

  Real local_;
  std::int64_t reports_;
};

}  // namespace

template <>
class Description<Shuffle> final : public ShuffledLeaf {
 public:
  Description(const Shuffle& node, std::int64_t units)
      : ShuffledLeaf(reading(node.eps), count(node.users), units) {}
  // The profile that shuffled binary randomized response attains.
  [[nodiscard]] std::optional<Proved<Profile>> profile(Side side) const override {
    constexpr std::int64_t most_users = 1'000'000;  // its tails are summed term by term
    if (side == Side::upper || units() > 1 || reports() > most_users || !(local().lower() > 0))
      return std::nullopt;
    return Proved<Profile>{{[local = local(), users = reports()](double epsilon) {
                              return shuffled_response_delta(epsilon, local.lower(), users);
                            },
                            local().lower()},
                           "shuffled binary randomized response, all others alike",
                           "Feldman2021b"};
  }
  [[nodiscard]] std::optional<PublishedBound> published_bound(std::int64_t uses) const override {
    if (units() > 1) return std::nullopt;
    return [uses, local = local(), reports = reports()](double delta) {
      const Real each = Real(delta) / real(uses);
      return Proved<Real>{
          real(uses) * shuffled_epsilon(local.upper(), reports, each.lower()),
          "shuffled reports, closed form: log(1 + (e^ε₀-1)/(e^ε₀+1) (8 sqrt(e^ε₀ log(4/δ)/n) + "
          "8e^ε₀/n))",
          "Feldman2021b",
          {"ε₀ <= log(n/(16 log(2/δ)))",
           "each of " + std::to_string(uses) + " at δ = " + rounded_to_nearest(each)}};
    };
  }
};
template LeafPtr describe(const Shuffle&, std::int64_t);

// A pass around the ring shuffles the reports of all users except the one who observes it.
template <>
class Description<RingHistogram> final : public ShuffledLeaf {
 public:
  Description(const RingHistogram& node, std::int64_t units)
      : ShuffledLeaf(blended_response_epsilon(reading(node.gamma), count(node.values)),
                     count(node.users) - 1, units),
        users_(count(node.users)) {}
  [[nodiscard]] std::string note() const override {
    return "ring_histogram is what one user sees of a pass: users who collude see the reports "
           "between them apart";
  }
  [[nodiscard]] std::optional<PublishedBound> published_bound(std::int64_t uses) const override {
    if (units() > 1) return std::nullopt;
    return [uses, local = local(), users = users_](double delta) {
      return Proved<Real>{
          ring_histogram_epsilon(local.upper(), users, uses, delta),
          "histogram around a ring: 12 ε₀ sqrt(log(1/δ)/n) a pass, advanced composition",
          "Cyffers2022",
          {"n > 1000", "ε₀ <= 1/2", std::to_string(uses) + " passes"}};
    };
  }

 private:
  std::int64_t users_;
};
template LeafPtr describe(const RingHistogram&, std::int64_t);

}  // namespace sotto::accounting_detail
