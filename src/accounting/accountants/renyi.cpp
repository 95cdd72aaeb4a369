#include "accounting/api/renyi.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "accounting/events/event_guarantee.hpp"
#include "accounting/api/amplification.hpp"
#include "accounting/api/composition.hpp"
#include "sotto/core/decimal.hpp"
#include "sotto/core/errors.hpp"
#include "numerics/api/elementary.hpp"
#include "sotto/plan/text.hpp"
#include "privacy/api/group.hpp"
#include "privacy/api/pure.hpp"

namespace sotto {
namespace {

using accounting_detail::Leaf;
using accounting_detail::leaf_of;
using accounting_detail::Noise;
using accounting_detail::reading;

std::string guarantee(double order, const Real& value) { return "(" + about(order) + ", " + at_most(value) + ")-RDP"; }

// Fills a derivation's own fields; its premises are added by the caller.
void tell(Derivation* why, const Plan& plan, std::int64_t k, const std::string& theorem, const std::string& reference,
          std::vector<Condition> conditions, double order, const Real& value) {
  if (why == nullptr) return;
  why->plan = print(k == 1 ? plan : group(static_cast<double>(k), plan));
  why->theorem = theorem;
  why->reference = reference;
  why->conditions = std::move(conditions);
  why->guarantee = guarantee(order, value);
}

Derivation* premise(Derivation* why) { return why == nullptr ? nullptr : &why->premises.emplace_back(); }

// What the approx leaves of a plan set aside, on the upper side.
Real set_aside(const Plan& plan, std::int64_t k) {
  if (const auto* sum = plan.as<Sum>()) {
    Real total = 0;
    for (const Plan& part : sum->parts) total = either(total, set_aside(part, k));
    return total;
  }
  if (const auto* repeat = plan.as<Repeat>()) return failures(set_aside(repeat->plan, k), accounting_detail::count(repeat->steps));
  if (const auto* parallel = plan.as<Parallel>()) {
    Real most = 0;
    for (const Plan& part : parallel->parts) most = max(most, set_aside(part, k));
    return most;
  }
  if (const auto* group = plan.as<Group>()) return set_aside(group->plan, accounting_detail::times(k, group->size));
  if (const auto sampling = accounting_detail::sampling_of(plan)) {
    const Real inner = set_aside(sampling->body, 1);
    if (k != 1 && inner.upper() > 0) throw OutsideConditions("group privacy of a sampled approx() has no Rényi line here: use basic", Remedy::method);
    return sampling->rate * inner;
  }
  const auto leaf = leaf_of(plan, k);
  return leaf->can_set_delta_aside() ? leaf->delta() : Real(0);
}

// A body whose curve is exact and attained by one pair at all orders.
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

// Gaussians alone (they merge into one), or one Laplace: the factor 3 of the general Poisson line drops.
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
bool drops_factor(const Plan& plan) { return is_gaussian_only(plan) || is_noise(plan, Noise::laplace); }

// How a plan samples.
struct SamplingKinds {
  bool poisson = false;
  bool without_replacement = false;
};
void find_sampling(const Plan& plan, SamplingKinds& found) {
  std::visit(
      [&]<class T>(const T& node) {
        found.poisson = found.poisson || std::is_same_v<T, Poisson>;
        found.without_replacement = found.without_replacement || std::is_same_v<T, WithoutReplacement>;
        if constexpr (std::is_same_v<T, Sum> || std::is_same_v<T, Parallel>) {
          for (const Plan& part : node.parts) find_sampling(part, found);
        } else if constexpr (std::is_same_v<T, Repeat> || std::is_same_v<T, Group> || std::is_same_v<T, Poisson> ||
                             std::is_same_v<T, WithoutReplacement>) {
          find_sampling(node.plan, found);
        }
      },
      plan.node());
}

constexpr double quadrature_orders = 64;  // sums over all orders of a sample ask for arsinh's own curve, a millisecond each, only up to here
constexpr int exact_pair_orders = 128;    // the forward differences of the tightened line cost α² operations

}  // namespace

RenyiAccountant::RenyiAccountant(Plan plan, Side side, SamplingLine line) : plan_(std::move(plan)), side_(side), line_(line), samples_(false) {
  SamplingKinds kinds;
  find_sampling(plan_, kinds);
  samples_ = kinds.poisson || kinds.without_replacement;
  if (line == SamplingLine::best) return;
  if (kinds.poisson)
    throw OutsideConditions("this closed form is for sampling without replacement, not for Poisson sampling: use rdp", Remedy::method);
  if (!kinds.without_replacement) {
    throw OutsideConditions("this closed form is one of sampling without replacement, and the plan does not sample: use rdp-classic", Remedy::method);
  }
}

Real RenyiAccountant::at(double order) const { return evaluate(plan_, order, 1, nullptr); }

Real RenyiAccountant::aside() const { return set_aside(plan_, 1); }

Derivation RenyiAccountant::derive(double order) const {
  Derivation why;
  evaluate(plan_, order, 1, &why);
  return why;
}

Real RenyiAccountant::evaluate(const Plan& plan, double order, std::int64_t k, Derivation* why) const {
  if (const auto* repeat = plan.as<Repeat>()) {
    const Real value = reading(repeat->steps) * evaluate(repeat->plan, order, k, premise(why));
    tell(why, plan, k, "composition: Rényi divergences add at equal orders", "Mironov2017", {}, order, value);
    return value;
  }
  if (const auto* sum = plan.as<Sum>()) {
    Real value = 0;
    for (const Plan& part : sum->parts) value += evaluate(part, order, k, premise(why));
    tell(why, plan, k, "composition: Rényi divergences add at equal orders", "Mironov2017", {}, order, value);
    return value;
  }
  if (const auto* group = plan.as<Group>()) {
    const Real value = evaluate(group->plan, order, accounting_detail::times(k, group->size), premise(why));
    tell(why, plan, k, "group privacy, carried into the parts", "Mironov2017", {}, order, value);
    return value;
  }
  const auto leaf = leaf_of(plan, k);
  if (k > 1 && (leaf == nullptr || !leaf->carries_group())) {
    if (side_ == Side::lower) return Real::unknown();
    const int c = group_doublings(k);
    const double at_least_two = std::max(2.0, order);  // the line starts at order 2; below, divergences are smaller
    const double single = std::ldexp(at_least_two, c);
    const Real value = group_of(k, RenyiDP{single, evaluate(plan, single, 1, premise(why))}).epsilon;
    tell(why, plan, k, "group privacy of any mechanism: order 2^c α of one unit, times 3^c", "Mironov2017",
         {"order >= 2: " + shortest(at_least_two), std::to_string(k) + " <= 2^c with c = " + std::to_string(c)}, order, value);
    return value;
  }
  if (const auto* parallel = plan.as<Parallel>()) {
    Real value = 0;
    for (const Plan& part : parallel->parts) {
      const Real one = evaluate(part, order, 1, premise(why));
      value = one.upper() > value.upper() ? one : value;
    }
    tell(why, plan, k, "parallel composition: a record is in one part", "McSherry2009", {"add-remove"}, order, value);
    return value;
  }
  if (leaf == nullptr) return sampled(plan, order, why);
  if (!leaf->can_set_delta_aside()) {
    throw OutsideConditions(
        print(plan) + " has no Rényi divergence: with probability delta it reveals everything, so every order is infinite; use basic, optimal or pld",
        Remedy::method);
  }
  if (const auto* noise = plan.as<Arsinh>()) {
    if (const auto curve = arsinh_curve(*noise, order, k)) {
      tell(why, plan, k, "arsinh noise, from its density", "Bun2018", {"log-concave: 1/sqrt(ρ) <= A/Δ", "A > 4Δ"}, order, *curve);
      return *curve;
    }
  }
  const auto own = leaf->renyi(order, side_);
  if (!own) return Real::unknown();
  tell(why, plan, k, own->theorem, own->reference, own->conditions, order, own->value);
  return own->value;
}

std::optional<Real> RenyiAccountant::arsinh_curve(const Arsinh& noise, double order, std::int64_t k) const {
  const Real ratio = reading(noise.a) / reading(noise.sensitivity);
  const Real kappa = reading(noise.rho) * square(ratio);  // A²/(2σ²) with σ² = Δ²/(2ρ)
  if (!(kappa.lower() >= 1 && ratio.lower() > 4 * static_cast<double>(k)) || (order == 1 && side_ == Side::lower)) return std::nullopt;
  if (samples_ && order > quadrature_orders) return std::nullopt;
  const double used = order == 1 ? 1 + 0x1p-14 : order;  // from above: divergences grow with the order
  const auto [kept, is_new] = arsinh_.try_emplace({&noise, k, used}, Real::unknown());
  if (is_new) {
    const PrivacyLossPtr loss = arsinh_loss(kappa, accounting_detail::real(k) / ratio);
    if (used - 1 < loss->pole()) {
      const LogMgfValue here = loss->log_mgf(used - 1)->at(0);  // log E_P[e^((α-1)L)] = (α-1) D_α
      if (std::isfinite(here.error)) kept->second = Real(here.log.re).widened(here.error) / (Real(used) - 1);
    }
  }
  if (std::isinf(kept->second.upper())) return std::nullopt;
  return Real(kept->second.at(side_));
}

Real RenyiAccountant::sampled(const Plan& plan, double order, Derivation* why) const {
  const accounting_detail::Sampling sampling = *accounting_detail::sampling_of(plan);
  const Plan& body = sampling.body;
  const Real rate = sampling.rate.at(side_);
  if (rate.lower() >= 1) {
    const Real value = evaluate(body, order, 1, premise(why));
    tell(why, plan, 1, "sampling everything is no sampling", "Balle2018b", {}, order, value);
    return value;
  }
  const Condition pairing = sampling.poisson ? "Poisson sampling with add-remove" : "sampling without replacement with replace-one";
  const Condition at_rate = "rate " + about(rate);
  if (accounting_detail::contains_catastrophe(body)) {
    throw OutsideConditions(
        print(plan) + " has no Rényi divergence: catastrophe() reveals everything with probability delta; use basic, optimal or pld", Remedy::method);
  }
  // With a δ set aside, amplification is that of (ε, δ): the rest is then ε'-DP.
  const bool by_epsilon = set_aside(body, 1).upper() > 0;
  if (by_epsilon || std::isinf(order)) {
    const auto own = accounting_detail::own_guarantee(body);
    if (!own) {
      if (by_epsilon)
        throw OutsideConditions(
            "sampling " + print(body) + ": the δ of approx() can be set aside only where the whole sample is (ε, δ)-DP by itself; use basic",
            Remedy::method);
      return Real::unknown();
    }
    if (side_ == Side::lower) {  // the max divergence is attained under Poisson sampling, by removing the record
      if (by_epsilon || !sampling.poisson) return Real::unknown();
      return amplified(rate, ApproximateDP{evaluate(body, order, 1, nullptr).lower()}).epsilon;
    }
    const Real epsilon = amplified(rate, *own).epsilon.upper();
    const Real value = pure_renyi(epsilon, order);
    tell(why, plan, 1, "amplification of (ε, δ), then ε-DP: randomized response dominates", "Balle2018b",
         {pairing, at_rate, "ε' = " + at_most(epsilon)}, order, value);
    return value;
  }
  // One Gaussian or Laplace under Poisson sampling: exact at every real order, from the transform of the loss.
  // (At order 1 the bound is that of an order just above; whole orders are summed, up to where that is worth it.)
  if (sampling.poisson && drops_factor(body) && (order != std::floor(order) || order > 256 || (order == 1 && side_ == Side::upper))) {
    const Real value = by_transform(plan, order == 1 ? 1 + 0x1p-14 : order);
    if (std::isfinite(value.upper()) && std::isfinite(value.lower())) {
      tell(why, plan, 1, "Poisson sampling, both directions, exact at every order", "Mironov2019", {pairing, at_rate}, order, value);
      return value.at(side_);
    }
  }
  if (side_ == Side::lower) {
    // Exact at whole orders for one Gaussian or Laplace under Poisson sampling; divergences grow with the order.
    if (!sampling.poisson || !drops_factor(body) || order < 2) return Real::unknown();
    return sampled_whole(plan, static_cast<int>(std::min(1024.0, std::floor(order))));
  }
  const Real value = between_whole_orders(order, [&](int whole) { return sampled_whole(plan, whole); });
  if (why != nullptr) {
    std::string theorem = "amplification by Poisson sampling, any base";
    std::string reference = "Zhu2019";
    if (line_ != SamplingLine::best) {
      theorem = line_ == SamplingLine::every_order
                    ? "amplification without replacement, closed form: log(1 + Σ 2 s^j C(α,j) e^((j-1)ε(j)))/(α-1)"
                    : "amplification without replacement, closed form at one order: log(1 + Σ 2 s^j C(α,j) e^((j-1)ε(α)))/(α-1)";
      reference = "Wang2019";
    } else if (!sampling.poisson) {
      theorem = has_exact_pair(body) ? "amplification without replacement, the better of both lines" : "amplification without replacement";
      reference = "Wang2019";
    } else if (is_gaussian_only(body)) {
      theorem = "Poisson-subsampled Gaussian, exact at whole orders";
      reference = "Mironov2019";
    } else if (drops_factor(body)) {
      theorem = "Poisson-subsampled Laplace, exact at whole orders";
    }
    std::vector<Condition> conditions{pairing, at_rate};
    if (order != std::floor(order)) conditions.emplace_back("between whole orders by convexity of (α-1) D_α");
    const double base_order = std::max(2.0, std::ceil(order));
    evaluate(body, base_order, 1, premise(why));
    tell(why, plan, 1, theorem, reference, std::move(conditions), order, value);
  }
  return value;
}

Real RenyiAccountant::by_transform(const Plan& plan, double order) const {
  auto found = losses_.find(&plan.node());
  if (found == losses_.end()) found = losses_.emplace(&plan.node(), loss_of(plan, Side::upper)).first;
  Real worst = 0;
  for (const auto* direction : {&found->second.removed, &found->second.added}) {
    for (const LossStep& step : *direction) {
      const LogMgfValue here = step.loss->log_mgf(order - 1)->at(0);  // log E_P[e^((α-1)L)] = (α-1) D_α
      if (std::isinf(here.error)) return Real::unknown();
      worst = max(worst, Real(here.log.re).widened(here.error) / (Real(order) - 1));
    }
  }
  return worst;
}

Real RenyiAccountant::sampled_whole(const Plan& plan, int order) const {
  const auto key = std::make_tuple(&plan.node(), order);
  if (const auto found = whole_orders_.find(key); found != whole_orders_.end()) return found->second;
  const accounting_detail::Sampling sampling = *accounting_detail::sampling_of(plan);
  const Plan& body = sampling.body;
  const Real rate = sampling.rate.at(side_);
  const auto base = [&](int j) { return Real(evaluate(body, j, 1, nullptr).at(side_)); };
  Real value;
  if (sampling.poisson) {
    const bool plain = drops_factor(body);
    value = poisson_renyi(rate, order, [&](int j) {
      const auto [kept, is_new] = excesses_.try_emplace(std::make_tuple(&plan.node(), j));
      if (is_new) kept->second = poisson_log_excess(j, base(j), plain);
      return kept->second;
    });
  } else {
    const double largest = evaluate(body, INFINITY, 1, nullptr).upper();
    const Real worst = std::isinf(largest) ? Real::unknown() : Real(largest);
    value = line_ == SamplingLine::best          ? without_replacement_renyi(rate, order, base, worst)
            : line_ == SamplingLine::every_order ? without_replacement_renyi_loose(rate, order, base)
                                                 : without_replacement_renyi_one_order(rate, order, base(order));
    if (line_ == SamplingLine::best && has_exact_pair(body) && order <= exact_pair_orders) {
      // the curve of one pair, not rounded: its differences must cancel
      const auto exact = [&](int j) { return evaluate(body, j, 1, nullptr); };
      const Real tightened = without_replacement_renyi_exact_pair(rate, order, exact, worst);
      if (tightened.upper() < value.upper()) value = tightened;
    }
  }
  whole_orders_.emplace(key, value);
  return value;
}

}  // namespace sotto
