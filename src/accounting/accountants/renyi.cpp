// The Rényi accountant: composition and group privacy by recursion over the plan, and amplification
// by sampling.
#include "accounting/api/renyi.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "accounting/api/amplification.hpp"
#include "accounting/api/composition.hpp"
#include "accounting/composition/derivation_step.hpp"
#include "accounting/events/event_guarantee.hpp"
#include "numerics/api/elementary.hpp"
#include "privacy/api/group.hpp"
#include "privacy/api/pure.hpp"
#include "sotto/core/decimal.hpp"
#include "sotto/core/errors.hpp"
#include "sotto/plan/text.hpp"

namespace sotto {
namespace {

using accounting_detail::add_premise;
using accounting_detail::Leaf;
using accounting_detail::leaf_of;
using accounting_detail::Noise;
using accounting_detail::reading;
using accounting_detail::Sampling;

std::string guarantee(double order, const Real& value) {
  return "(" + rounded_to_nearest(order) + ", " + rounded_up(value) + ")-RDP";
}

// Writes the step that proves D_order <= value for a group of k. Does nothing if `why` is null.
void fill_renyi_step(Derivation* why, const Plan& plan, std::int64_t k, const std::string& theorem,
                     const std::string& reference, std::vector<Condition> conditions, double order,
                     const Real& value) {
  if (why == nullptr) return;
  accounting_detail::fill_step(why, plan, k, theorem, reference, std::move(conditions),
                               guarantee(order, value));
}

// The probability that some approx() leaf of the plan fails, for a group of k; an upper bound.
Real set_aside(const Plan& plan, std::int64_t k) {
  if (const auto* sum = plan.as<Sum>()) {
    Real total = 0;
    for (const Plan& part : sum->parts) total = either_failure(total, set_aside(part, k));
    return total;
  }
  if (const auto* repeat = plan.as<Repeat>())
    return any_failure(set_aside(repeat->plan, k), accounting_detail::count(repeat->steps));
  if (const auto* parallel = plan.as<Parallel>()) {
    Real most = 0;
    for (const Plan& part : parallel->parts) most = max(most, set_aside(part, k));
    return most;
  }
  if (const auto* group = plan.as<Group>())
    return set_aside(group->plan, accounting_detail::times(k, group->size));
  if (const auto sampling = accounting_detail::sampling_of(plan)) {
    const Real inner = set_aside(sampling->body, 1);
    if (k != 1 && inner.upper() > 0)
      throw OutsideConditions("group privacy of a sampled approx() has no Rényi bound: use basic",
                              Remedy::method);
    return sampling->rate * inner;
  }
  const auto leaf = leaf_of(plan, k);
  return leaf->can_set_delta_aside() ? leaf->delta() : Real(0);
}

// Whether the Rényi curve of a sample's body is the exact curve of one pair at all orders.
bool has_exact_pair(const Plan& plan) {
  if (const auto* sum = plan.as<Sum>()) {
    for (const Plan& part : sum->parts) {
      if (!has_exact_pair(part)) return false;
    }
    return true;
  }
  if (const auto* repeat = plan.as<Repeat>()) return has_exact_pair(repeat->plan);
  const auto leaf = leaf_of(plan, 1);
  return leaf != nullptr && leaf->has_exact_renyi_curve();
}

bool is_noise(const Plan& plan, Noise noise) {
  const auto leaf = leaf_of(plan, 1);
  return leaf != nullptr && leaf->noise() == noise;
}

// Gaussians only, which merge into one.
bool is_gaussian_only(const Plan& plan) {
  if (const auto* sum = plan.as<Sum>()) {
    for (const Plan& part : sum->parts) {
      if (!is_gaussian_only(part)) return false;
    }
    return true;
  }
  if (const auto* repeat = plan.as<Repeat>()) return is_gaussian_only(repeat->plan);
  return is_noise(plan, Noise::gaussian);
}
// Whether the factor c of poisson_renyi is 1: for Gaussians only, and for one Laplace.
bool is_gaussian_or_laplace(const Plan& plan) {
  return is_gaussian_only(plan) || is_noise(plan, Noise::laplace);
}

// The kinds of sampling in a plan.
struct SamplingKinds {
  bool poisson = false;
  bool without_replacement = false;
};
void find_sampling(const Plan& plan, SamplingKinds& kinds) {
  std::visit(
      [&]<class T>(const T& node) {
        kinds.poisson = kinds.poisson || std::is_same_v<T, Poisson>;
        kinds.without_replacement =
            kinds.without_replacement || std::is_same_v<T, WithoutReplacement>;
        if constexpr (std::is_same_v<T, Sum> || std::is_same_v<T, Parallel>) {
          for (const Plan& part : node.parts) find_sampling(part, kinds);
        } else if constexpr (std::is_same_v<T, Repeat> || std::is_same_v<T, Group> ||
                             std::is_same_v<T, Poisson> || std::is_same_v<T, WithoutReplacement>) {
          find_sampling(node.plan, kinds);
        }
      },
      plan.node());
}

// The largest order at which the divergence of sampled arsinh noise comes from quadrature. It takes
// a millisecond, and a sum over orders needs one for each order.
constexpr double max_quadrature_order = 64;
// The largest order for the forward differences of without_replacement_renyi_exact_pair, which cost
// α² operations.
constexpr int max_exact_pair_order = 128;

// The largest order at which the closed sum for Poisson sampling is preferred to the transform of
// the loss.
constexpr double max_summed_order = 256;

// The smallest order above 1 in use. Divergences grow with the order, so a bound at this order
// holds at order 1.
constexpr double just_above_one = 1 + 0x1p-14;

std::vector<Condition> sampling_conditions(const Sampling& sampling, const Real& rate) {
  return {sampling.poisson ? "Poisson sampling with add-remove"
                           : "sampling without replacement with replace-one",
          "rate " + rounded_to_nearest(rate)};
}

struct Citation {
  std::string theorem;
  std::string reference;
};

// The theorem that bounds a sample at integer orders.
Citation amplification_theorem(const Plan& body, bool poisson, WithoutReplacementBound bound) {
  if (bound == WithoutReplacementBound::every_order) {
    return {
        "amplification without replacement, closed form: log(1 + Σ 2 s^j C(α,j) "
        "e^((j-1)ε(j)))/(α-1)",
        "Wang2019"};
  }
  if (bound == WithoutReplacementBound::one_order) {
    return {
        "amplification without replacement, closed form at one order: log(1 + Σ 2 s^j C(α,j) "
        "e^((j-1)ε(α)))/(α-1)",
        "Wang2019"};
  }
  if (!poisson) {
    return {has_exact_pair(body) ? "amplification without replacement, the better of both bounds"
                                 : "amplification without replacement",
            "Wang2019"};
  }
  if (is_gaussian_only(body))
    return {"Poisson-subsampled Gaussian, exact at whole orders", "Mironov2019"};
  if (is_gaussian_or_laplace(body))
    return {"Poisson-subsampled Laplace, exact at whole orders", "Zhu2019"};
  return {"amplification by Poisson sampling, any base", "Zhu2019"};
}

}  // namespace

RenyiAccountant::RenyiAccountant(Plan plan, Side side, WithoutReplacementBound bound)
    : plan_(std::move(plan)), side_(side), bound_(bound), samples_(false) {
  SamplingKinds kinds;
  find_sampling(plan_, kinds);
  samples_ = kinds.poisson || kinds.without_replacement;
  if (bound == WithoutReplacementBound::best) return;
  if (kinds.poisson)
    throw OutsideConditions(
        "this closed form is for sampling without replacement, not for Poisson sampling: use rdp",
        Remedy::method);
  if (!kinds.without_replacement) {
    throw OutsideConditions(
        "this closed form is one of sampling without replacement, and the plan does not sample: "
        "use rdp-classic",
        Remedy::method);
  }
}

Real RenyiAccountant::at(double order) const { return evaluate(plan_, order, 1, nullptr); }

Real RenyiAccountant::delta_set_aside() const { return set_aside(plan_, 1); }

Derivation RenyiAccountant::derive(double order) const {
  Derivation why;
  evaluate(plan_, order, 1, &why);
  return why;
}

Real RenyiAccountant::evaluate(const Plan& plan, double order, std::int64_t k,
                               Derivation* why) const {
  if (const auto* repeat = plan.as<Repeat>()) {
    const Real value = reading(repeat->steps) * evaluate(repeat->plan, order, k, add_premise(why));
    fill_renyi_step(why, plan, k, "composition: Rényi divergences add at equal orders",
                    "Mironov2017", {}, order, value);
    return value;
  }
  if (const auto* sum = plan.as<Sum>()) {
    Real value = 0;
    for (const Plan& part : sum->parts) value += evaluate(part, order, k, add_premise(why));
    fill_renyi_step(why, plan, k, "composition: Rényi divergences add at equal orders",
                    "Mironov2017", {}, order, value);
    return value;
  }
  if (const auto* group = plan.as<Group>()) {
    const Real value =
        evaluate(group->plan, order, accounting_detail::times(k, group->size), add_premise(why));
    fill_renyi_step(why, plan, k, "group privacy, carried into the parts", "Mironov2017", {}, order,
                    value);
    return value;
  }
  const auto leaf = leaf_of(plan, k);
  if (k > 1 && (leaf == nullptr || !leaf->carries_group())) return grouped(plan, order, k, why);
  if (const auto* parallel = plan.as<Parallel>()) {
    Real value = 0;
    for (const Plan& part : parallel->parts) {
      const Real one = evaluate(part, order, 1, add_premise(why));
      value = one.upper() > value.upper() ? one : value;
    }
    fill_renyi_step(why, plan, k, "parallel composition: a record is in one part", "McSherry2009",
                    {"add-remove"}, order, value);
    return value;
  }
  if (leaf == nullptr) return sampled(plan, order, why);
  return of_leaf(plan, *leaf, order, k, why);
}

Real RenyiAccountant::grouped(const Plan& plan, double order, std::int64_t k,
                              Derivation* why) const {
  if (side_ == Side::lower) return Real::unknown();
  const int c = group_doublings(k);
  const double at_least_two = std::max(
      2.0, order);  // the theorem starts at order 2; divergences of smaller orders are smaller
  const double single = std::ldexp(at_least_two, c);
  const Real value =
      group_of(k, RenyiDP{single, evaluate(plan, single, 1, add_premise(why))}).epsilon;
  fill_renyi_step(why, plan, k,
                  "group privacy of any mechanism: order 2^c α of one unit, times 3^c",
                  "Mironov2017",
                  {"order >= 2: " + shortest(at_least_two),
                   std::to_string(k) + " <= 2^c with c = " + std::to_string(c)},
                  order, value);
  return value;
}

Real RenyiAccountant::of_leaf(const Plan& plan, const Leaf& leaf, double order, std::int64_t k,
                              Derivation* why) const {
  if (!leaf.can_set_delta_aside()) {
    throw OutsideConditions(print(plan) +
                                " has no Rényi divergence: with probability delta it reveals "
                                "everything, so every order is infinite; use basic, optimal or pld",
                            Remedy::method);
  }
  if (const auto* noise = plan.as<Arsinh>()) {
    if (const auto curve = arsinh_curve(*noise, order, k)) {
      fill_renyi_step(why, plan, k, "arsinh noise, from its density", "Bun2018",
                      {"log-concave: 1/sqrt(ρ) <= A/Δ", "A > 4Δ"}, order, *curve);
      return *curve;
    }
  }
  const auto own = leaf.renyi(order, side_);
  if (!own) return Real::unknown();
  fill_renyi_step(why, plan, k, own->theorem, own->reference, own->conditions, order, own->value);
  return own->value;
}

std::optional<Real> RenyiAccountant::arsinh_curve(const Arsinh& noise, double order,
                                                  std::int64_t k) const {
  const Real ratio = reading(noise.a) / reading(noise.sensitivity);
  const Real kappa = reading(noise.rho) * square(ratio);  // A²/(2σ²) with σ² = Δ²/(2ρ)
  if (!(kappa.lower() >= 1 && ratio.lower() > 4 * static_cast<double>(k)) ||
      (order == 1 && side_ == Side::lower))
    return std::nullopt;
  if (samples_ && order > max_quadrature_order) return std::nullopt;
  const double used = order == 1 ? just_above_one : order;
  const auto [entry, is_new] = arsinh_.try_emplace({&noise, k, used}, Real::unknown());
  if (is_new) {
    const PrivacyLossPtr loss = arsinh_loss(kappa, accounting_detail::real(k) / ratio);
    if (used - 1 < loss->pole()) {
      const LogMgfValue here = loss->log_mgf(used - 1)->at(0);  // log E_P[e^((α-1)L)] = (α-1) D_α
      if (std::isfinite(here.error))
        entry->second = Real(here.log.re).widened(here.error) / (Real(used) - 1);
    }
  }
  if (std::isinf(entry->second.upper())) return std::nullopt;
  return Real(entry->second.at(side_));
}

Real RenyiAccountant::sampled(const Plan& plan, double order, Derivation* why) const {
  const Sampling sampling = *accounting_detail::sampling_of(plan);
  const Plan& body = sampling.body;
  const Real rate = sampling.rate.at(side_);
  if (rate.lower() >= 1) {
    const Real value = evaluate(body, order, 1, add_premise(why));
    fill_renyi_step(why, plan, 1, "sampling everything is no sampling", "Balle2018b", {}, order,
                    value);
    return value;
  }
  if (accounting_detail::contains_catastrophe(body)) {
    throw OutsideConditions(print(plan) +
                                " has no Rényi divergence: catastrophe() reveals everything with "
                                "probability delta; use basic, optimal or pld",
                            Remedy::method);
  }
  const bool has_delta = set_aside(body, 1).upper() > 0;
  if (has_delta || std::isinf(order)) return sampled_pure(plan, sampling, order, has_delta, why);

  // One Gaussian or Laplace under Poisson sampling is exact at every real order, by the moment
  // generating function of its loss. At small integer orders the closed sum is faster.
  const bool is_exact = sampling.poisson && is_gaussian_or_laplace(body);
  if (is_exact && (order != std::floor(order) || order > max_summed_order ||
                   (order == 1 && side_ == Side::upper))) {
    const Real value = by_transform(plan, order == 1 ? just_above_one : order);
    if (std::isfinite(value.upper()) && std::isfinite(value.lower())) {
      fill_renyi_step(why, plan, 1, "Poisson sampling, both directions, exact at every order",
                      "Mironov2019", sampling_conditions(sampling, rate), order, value);
      return value.at(side_);
    }
  }

  if (side_ == Side::lower) {
    // Divergences grow with the order, so the exact value at the integer order below is a lower
    // bound.
    if (!is_exact || order < 2) return Real::unknown();
    return sampled_whole(plan, static_cast<int>(std::min(1024.0, std::floor(order))));
  }
  const Real value =
      between_whole_orders(order, [&](int whole) { return sampled_whole(plan, whole); });
  if (why != nullptr) {
    const Citation citation = amplification_theorem(body, sampling.poisson, bound_);
    std::vector<Condition> conditions = sampling_conditions(sampling, rate);
    if (order != std::floor(order))
      conditions.emplace_back("between whole orders by convexity of (α-1) D_α");
    const double base_order = std::max(2.0, std::ceil(order));
    evaluate(body, base_order, 1, add_premise(why));
    fill_renyi_step(why, plan, 1, citation.theorem, citation.reference, std::move(conditions),
                    order, value);
  }
  return value;
}

Real RenyiAccountant::sampled_pure(const Plan& plan, const Sampling& sampling, double order,
                                   bool has_delta, Derivation* why) const {
  const Plan& body = sampling.body;
  const Real rate = sampling.rate.at(side_);
  const auto own = accounting_detail::guarantee_without_share(body);
  if (!own) {
    if (has_delta)
      throw OutsideConditions("sampling " + print(body) +
                                  ": the δ of approx() can be set aside only where the whole "
                                  "sample is (ε, δ)-DP by itself; use basic",
                              Remedy::method);
    return Real::unknown();
  }
  if (side_ == Side::lower) {
    // Poisson sampling attains the amplified max divergence in the direction that removes the
    // record.
    if (has_delta || !sampling.poisson) return Real::unknown();
    return amplified(rate, ApproximateDP{evaluate(body, order, 1, nullptr).lower()}).epsilon;
  }
  const Real epsilon = amplified(rate, *own).epsilon.upper();
  const Real value = pure_renyi(epsilon, order);
  std::vector<Condition> conditions = sampling_conditions(sampling, rate);
  conditions.push_back("ε' = " + rounded_up(epsilon));
  fill_renyi_step(why, plan, 1, "amplification of (ε, δ), then ε-DP: randomized response dominates",
                  "Balle2018b", std::move(conditions), order, value);
  return value;
}

Real RenyiAccountant::by_transform(const Plan& plan, double order) const {
  auto entry = losses_.find(&plan.node());
  if (entry == losses_.end())
    entry = losses_.emplace(&plan.node(), loss_of(plan, Side::upper)).first;
  Real worst = 0;
  for (const auto* direction : {&entry->second.removed, &entry->second.added}) {
    for (const LossStep& step : *direction) {
      const LogMgfValue here =
          step.loss->log_mgf(order - 1)->at(0);  // log E_P[e^((α-1)L)] = (α-1) D_α
      if (std::isinf(here.error)) return Real::unknown();
      worst = max(worst, Real(here.log.re).widened(here.error) / (Real(order) - 1));
    }
  }
  return worst;
}

Real RenyiAccountant::sampled_whole(const Plan& plan, int order) const {
  const auto key = std::make_tuple(&plan.node(), order);
  if (const auto entry = whole_orders_.find(key); entry != whole_orders_.end())
    return entry->second;
  const Sampling sampling = *accounting_detail::sampling_of(plan);
  const Plan& body = sampling.body;
  const Real rate = sampling.rate.at(side_);
  const auto base = [&](int j) { return Real(evaluate(body, j, 1, nullptr).at(side_)); };
  Real value;
  if (sampling.poisson) {
    const bool gaussian_or_laplace = is_gaussian_or_laplace(body);
    value = poisson_renyi(rate, order, [&](int j) {
      const auto [entry, is_new] = excesses_.try_emplace(std::make_tuple(&plan.node(), j));
      if (is_new) entry->second = poisson_log_excess(j, base(j), gaussian_or_laplace);
      return entry->second;
    });
  } else {
    const double largest = evaluate(body, INFINITY, 1, nullptr).upper();
    const Real worst = std::isinf(largest) ? Real::unknown() : Real(largest);
    value = bound_ == WithoutReplacementBound::best
                ? without_replacement_renyi(rate, order, base, worst)
            : bound_ == WithoutReplacementBound::every_order
                ? without_replacement_renyi_loose(rate, order, base)
                : without_replacement_renyi_one_order(rate, order, base(order));
    if (bound_ == WithoutReplacementBound::best && has_exact_pair(body) &&
        order <= max_exact_pair_order) {
      // Full balls instead of rounded ends, since the differences of the curve must cancel.
      const auto exact = [&](int j) { return evaluate(body, j, 1, nullptr); };
      const Real tightened = without_replacement_renyi_exact_pair(rate, order, exact, worst);
      if (tightened.upper() < value.upper()) value = tightened;
    }
  }
  whole_orders_.emplace(key, value);
  return value;
}

}  // namespace sotto
