// The names of nodes and the parameters of each, in one place: the parser, the printer, JSON, the
// checks of values and the holes all use it.
#pragma once

#include <limits>
#include <string_view>
#include <type_traits>

#include "sotto/plan/holes.hpp"
#include "sotto/plan/plan.hpp"

namespace sotto::plan_detail {

/// The range of a parameter; counts are whole numbers up to 2^53.
enum class Range {
  positive,
  non_negative,
  rate,
  open_unit,
  probability_below_one,
  above_one,
  count,
  count_from_two
};

/// The description of a parameter.
struct Field {
  std::string_view name;
  Range range;
  Effect effect = Effect::costlier;
  bool has_default = false;
  double default_value = 0;
};

/// Throws InvalidValue unless the number is in the range of the field, or, for a hole, unless its
/// factor is positive, and whole if the field is a count.
void check(const Parameter& parameter, const Field& field);
/// Returns whether the range is one of counts.
bool is_whole(Range range);

inline constexpr Field sensitivity{"sensitivity", Range::positive, Effect::costlier, true, 1};
inline constexpr Field whole_sensitivity{"sensitivity", Range::count, Effect::costlier, true, 1};

// name_of<T> is the name of a node in the text of a plan.
template <class T>
inline constexpr std::string_view name_of;
template <>
inline constexpr std::string_view name_of<Gaussian> = "gaussian";
template <>
inline constexpr std::string_view name_of<Laplace> = "laplace";
template <>
inline constexpr std::string_view name_of<DiscreteGaussian> = "discrete_gaussian";
template <>
inline constexpr std::string_view name_of<DiscreteLaplace> = "discrete_laplace";
template <>
inline constexpr std::string_view name_of<RandomizedResponse> = "randomized_response";
template <>
inline constexpr std::string_view name_of<Arsinh> = "arsinh";
template <>
inline constexpr std::string_view name_of<Staircase> = "staircase";
template <>
inline constexpr std::string_view name_of<Exponential> = "exponential";
template <>
inline constexpr std::string_view name_of<Catastrophe> = "catastrophe";
template <>
inline constexpr std::string_view name_of<AggregatedGaussian> = "aggregated_gaussian";
template <>
inline constexpr std::string_view name_of<GopaComplete> = "gopa_complete";
template <>
inline constexpr std::string_view name_of<GopaConnected> = "gopa_connected";
template <>
inline constexpr std::string_view name_of<GopaRandom> = "gopa_random";
template <>
inline constexpr std::string_view name_of<Shuffle> = "shuffle";
template <>
inline constexpr std::string_view name_of<RingSum> = "ring_sum";
template <>
inline constexpr std::string_view name_of<RingHistogram> = "ring_histogram";
template <>
inline constexpr std::string_view name_of<WalkSum> = "walk_sum";
template <>
inline constexpr std::string_view name_of<WalkSgd> = "walk_sgd";
template <>
inline constexpr std::string_view name_of<Pure> = "pure";
template <>
inline constexpr std::string_view name_of<Approx> = "approx";
template <>
inline constexpr std::string_view name_of<Rdp> = "rdp";
template <>
inline constexpr std::string_view name_of<Zcdp> = "zcdp";
template <>
inline constexpr std::string_view name_of<Tcdp> = "tcdp";
template <>
inline constexpr std::string_view name_of<Gdp> = "gdp";
template <>
inline constexpr std::string_view name_of<Repeat> = "repeat";
template <>
inline constexpr std::string_view name_of<Sum> = "sum";
template <>
inline constexpr std::string_view name_of<Parallel> = "parallel";
template <>
inline constexpr std::string_view name_of<Poisson> = "poisson";
template <>
inline constexpr std::string_view name_of<WithoutReplacement> = "without_replacement";
template <>
inline constexpr std::string_view name_of<Group> = "group";

// Calls f(parameter, field) for every parameter of the node, in the order of the text.
template <class T, class F>
void each_field(T& node, F f) {
  using N = std::remove_const_t<T>;
  if constexpr (std::is_same_v<N, Gaussian> || std::is_same_v<N, RingSum>) {
    f(node.sigma, Field{"sigma", Range::positive, Effect::cheaper});
    f(node.sensitivity, sensitivity);
  } else if constexpr (std::is_same_v<N, Laplace>) {
    f(node.b, Field{"b", Range::positive, Effect::cheaper});
    f(node.sensitivity, sensitivity);
  } else if constexpr (std::is_same_v<N, DiscreteGaussian>) {
    f(node.sigma, Field{"sigma", Range::positive, Effect::cheaper});
    f(node.sensitivity, whole_sensitivity);
  } else if constexpr (std::is_same_v<N, DiscreteLaplace>) {
    f(node.b, Field{"b", Range::positive, Effect::cheaper});
    f(node.sensitivity, whole_sensitivity);
  } else if constexpr (std::is_same_v<N, RandomizedResponse>) {
    f(node.p, Field{"p", Range::open_unit, Effect::unclear});
    f(node.k, Field{"k", Range::count_from_two, Effect::unclear, true, 2});
  } else if constexpr (std::is_same_v<N, Arsinh>) {
    f(node.rho, Field{"rho", Range::positive});
    f(node.a, Field{"a", Range::positive, Effect::cheaper});
    f(node.sensitivity, sensitivity);
  } else if constexpr (std::is_same_v<N, Staircase>) {
    f(node.eps, Field{"eps", Range::non_negative});
    // wider noise at an equal cost
    f(node.sensitivity, Field{"sensitivity", Range::positive, Effect::unclear, true, 1});
  } else if constexpr (std::is_same_v<N, Exponential> || std::is_same_v<N, Pure>) {
    f(node.eps, Field{"eps", Range::non_negative});
  } else if constexpr (std::is_same_v<N, Catastrophe> || std::is_same_v<N, Approx>) {
    f(node.eps, Field{"eps", Range::non_negative});
    f(node.delta, Field{"delta", Range::probability_below_one});
  } else if constexpr (std::is_same_v<N, AggregatedGaussian>) {
    f(node.sigma, Field{"sigma", Range::positive, Effect::cheaper});
    f(node.honest, Field{"honest", Range::count, Effect::cheaper});
    f(node.sensitivity, sensitivity);
  } else if constexpr (std::is_same_v<N, GopaComplete> || std::is_same_v<N, GopaConnected>) {
    f(node.sigma, Field{"sigma", Range::positive, Effect::cheaper});
    f(node.mask, Field{"mask", Range::positive, Effect::cheaper});
    f(node.honest, Field{"honest", Range::count,
                         std::is_same_v<N, GopaComplete> ? Effect::cheaper : Effect::unclear});
    f(node.sensitivity, sensitivity);
  } else if constexpr (std::is_same_v<N, GopaRandom>) {
    f(node.sigma, Field{"sigma", Range::positive, Effect::cheaper});
    f(node.mask, Field{"mask", Range::positive, Effect::cheaper});
    f(node.users, Field{"users", Range::count, Effect::unclear});
    f(node.honest, Field{"honest", Range::count, Effect::unclear});
    f(node.k, Field{"k", Range::count, Effect::unclear});
    f(node.delta, Field{"delta", Range::open_unit, Effect::unclear});
    f(node.sensitivity, sensitivity);
  } else if constexpr (std::is_same_v<N, Shuffle>) {
    f(node.eps, Field{"eps", Range::non_negative});
    f(node.users, Field{"users", Range::count, Effect::cheaper});
  } else if constexpr (std::is_same_v<N, RingHistogram>) {
    f(node.gamma, Field{"gamma", Range::open_unit, Effect::cheaper});
    f(node.values, Field{"values", Range::count_from_two});
    f(node.users, Field{"users", Range::count_from_two, Effect::cheaper});
  } else if constexpr (std::is_same_v<N, WalkSum> || std::is_same_v<N, WalkSgd>) {
    f(node.sigma, Field{"sigma", Range::positive, Effect::cheaper});
    f(node.users, Field{"users", Range::count_from_two, Effect::cheaper});
    f(node.colluders,
      Field{"colluders", Range::count,
            std::is_same_v<N, WalkSgd> ? Effect::costlier : Effect::unclear, true, 1});
    f(node.sensitivity, sensitivity);
  } else if constexpr (std::is_same_v<N, Rdp>) {
    f(node.alpha, Field{"alpha", Range::above_one, Effect::cheaper});
    f(node.eps, Field{"eps", Range::non_negative});
  } else if constexpr (std::is_same_v<N, Zcdp>) {
    f(node.rho, Field{"rho", Range::non_negative});
  } else if constexpr (std::is_same_v<N, Tcdp>) {
    f(node.rho, Field{"rho", Range::non_negative});
    f(node.omega, Field{"omega", Range::above_one, Effect::cheaper});
  } else if constexpr (std::is_same_v<N, Gdp>) {
    f(node.mu, Field{"mu", Range::non_negative});
  } else if constexpr (std::is_same_v<N, Repeat>) {
    f(node.steps, Field{"steps", Range::count});
  } else if constexpr (std::is_same_v<N, Poisson>) {
    f(node.rate, Field{"rate", Range::rate});
  } else if constexpr (std::is_same_v<N, WithoutReplacement>) {
    f(node.batch, Field{"batch", Range::count});
    f(node.population, Field{"population", Range::count, Effect::cheaper});
  } else if constexpr (std::is_same_v<N, Group>) {
    f(node.size, Field{"size", Range::count});
  } else {
    static_assert(std::is_same_v<N, Sum> || std::is_same_v<N, Parallel>);
  }
}

/// The nodes with several plans, with one plan, and without a plan.
template <class T>
concept HasParts = std::is_same_v<T, Sum> || std::is_same_v<T, Parallel>;
template <class T>
concept HasPlan = std::is_same_v<T, Repeat> || std::is_same_v<T, Poisson> ||
                  std::is_same_v<T, WithoutReplacement> || std::is_same_v<T, Group>;

template <class T>
concept IsLeaf = !HasParts<T> && !HasPlan<T>;

/// Calls f with a default node of each kind of leaf, in the order of Node, until a call returns
/// true. Returns whether one did.
template <class F, class... Kinds>
bool any_kind_of_leaf(F f, const std::variant<Kinds...>* /*kinds*/ = nullptr) {
  const auto attempt = [&]<class T>(const T* /*kind*/) {
    if constexpr (IsLeaf<T>) {
      return f(T{});
    } else {
      return false;
    }
  };
  return (attempt(static_cast<const Kinds*>(nullptr)) || ...);
}

/// Calls f with a default node of the kind of leaf that has this name. Returns false if there is
/// none.
template <class F>
bool with_leaf_named(std::string_view name, F f) {
  return any_kind_of_leaf(
      [&]<class T>(T node) {
        if (name != name_of<T>) return false;
        f(node);
        return true;
      },
      static_cast<const Node*>(nullptr));
}

}  // namespace sotto::plan_detail
