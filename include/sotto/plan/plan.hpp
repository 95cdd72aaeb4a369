// Plans: descriptions of everything that is computed from the data, as immutable values.
//
//   10'000 * poisson(0.01, gaussian(1.0))        laplace(10) + 3 * gaussian(200)
#pragma once

#include <cstdint>
#include <memory>
#include <type_traits>
#include <variant>
#include <vector>

#include "sotto/plan/parameter.hpp"

namespace sotto {

class Plan;

// --- Leaves: mechanisms ---
//
// `sensitivity` is that of the query under the neighbouring relation of the plan: the largest
// change that one unit makes to the numbers that get the noise, in the norm that the mechanism
// names.

/// Gaussian noise on a vector; L2 sensitivity.
struct Gaussian {
  Parameter sigma, sensitivity = 1;
};
/// Laplace noise on a vector; L1 sensitivity.
struct Laplace {
  Parameter b, sensitivity = 1;
};
/// Discrete Gaussian noise on one whole number; the sensitivity is whole. A vector costs more, see
/// docs/reference/plan.md.
struct DiscreteGaussian {
  Parameter sigma, sensitivity = 1;
};
/// Discrete Laplace noise on a vector of whole numbers; L1 sensitivity, which is whole.
struct DiscreteLaplace {
  Parameter b, sensitivity = 1;
};
/// The true one of k values with probability p, each other one with probability (1-p)/(k-1).
struct RandomizedResponse {
  Parameter p, k = 2;
};
/// Noise A arsinh(N(0, sensitivity²/(2 rho)) / A) on one number.
struct Arsinh {
  Parameter rho, a, sensitivity = 1;
};
/// The staircase mechanism on one number, with its best width of steps, by its pure epsilon. It can
/// be accounted for but not run.
struct Staircase {
  Parameter eps, sensitivity = 1;
};
/// The exponential mechanism, by its pure epsilon.
struct Exponential {
  Parameter eps;
};
/// Releases everything with probability delta, else adds Laplace noise. It can be accounted for but
/// not run.
struct Catastrophe {
  Parameter eps, delta;
};

// --- Leaves: learning without a trusted curator. docs/theory/federated.md has the mechanisms and
// costs. ---

/// A sum to which every party adds Gaussian noise of standard deviation sigma. The noise of at
/// least `honest` parties is in the sum and unknown to the attacker.
struct AggregatedGaussian {
  Parameter sigma, honest, sensitivity = 1;
};
/// GOPA in which every two honest users share a Gaussian mask. `sigma` is the standard deviation of
/// a user's own noise, `mask` that of a mask, `honest` the number of honest users.
struct GopaComplete {
  Parameter sigma, mask, honest, sensitivity = 1;
};
/// GOPA in which the graph of honest users is only known to be connected.
struct GopaConnected {
  Parameter sigma, mask, honest, sensitivity = 1;
};
/// GOPA in which every user picks k others. The guarantee fails for a bad graph, which has
/// probability at most 3 delta.
struct GopaRandom {
  Parameter sigma, mask, users, honest, k, delta, sensitivity = 1;
};
/// Shuffled reports of `users` users, each with local epsilon `eps`; for the replace-one relation.
struct Shuffle {
  Parameter eps, users;
};
/// One pass of a sum around a ring of users, with Gaussian noise once a pass.
struct RingSum {
  Parameter sigma, sensitivity = 1;
};
/// One pass of a histogram around a ring of users. Each reports one of `values` values, the true
/// one with probability 1 - gamma, else a uniformly random one.
struct RingHistogram {
  Parameter gamma, values, users;
};
/// One visit of a token to one user, as a coalition of `colluders` users sees it. The token carries
/// a sum, hops uniformly over all users, and gets noise at every hop.
struct WalkSum {
  Parameter sigma, users, colluders = 1, sensitivity = 1;
};
/// One noisy gradient step of one user on such a token, as a coalition sees it.
struct WalkSgd {
  Parameter sigma, users, colluders = 1, sensitivity = 1;
};

// --- Leaves: guarantees of an unknown mechanism ---

struct Pure {
  Parameter eps;
};
struct Approx {
  Parameter eps, delta;
};
/// Rényi DP of order alpha, which implies it for every lower order.
struct Rdp {
  Parameter alpha, eps;
};
struct Zcdp {
  Parameter rho;
};
struct Tcdp {
  Parameter rho, omega;
};
/// An exact mu, not an estimate by a central limit theorem.
struct Gdp {
  Parameter mu;
};

// --- Operators ---

struct Repeat;              // steps * plan: the plan, `steps` times
struct Sum;                 // plan + plan + …: all of the plans
struct Parallel;            // parallel(plan, …): each plan on its own part of disjoint data
struct Poisson;             // poisson(rate, plan): the plan on one Poisson sample of the records
struct WithoutReplacement;  // without_replacement(batch, population, plan): on a batch of records
struct Group;               // group(size, plan): the cost for `size` units together

struct AnyNode;

/// A node of a plan: any of the types above. A new leaf is added before the operators, with its
/// parameters in src/plan/fields.hpp and its cost in src/accounting/leaves.
using Node = std::variant<Gaussian, Laplace, DiscreteGaussian, DiscreteLaplace, RandomizedResponse,
                          Arsinh, Staircase, Exponential, Catastrophe, AggregatedGaussian,
                          GopaComplete, GopaConnected, GopaRandom, Shuffle, RingSum, RingHistogram,
                          WalkSum, WalkSgd, Pure, Approx, Rdp, Zcdp, Tcdp, Gdp, Repeat, Sum,
                          Parallel, Poisson, WithoutReplacement, Group>;
template <class T, class Kinds>
inline constexpr bool is_one_of = false;
template <class T, class... Kinds>
inline constexpr bool is_one_of<T, std::variant<Kinds...>> = (std::is_same_v<T, Kinds> || ...);
/// A type that is one of the kinds of Node.
template <class T>
concept PlanNode = is_one_of<T, Node>;

/// A plan: a tree of nodes, immutable and cheap to copy. Its constructor checks the node and throws
/// InvalidValue, which names the parameter and its range.
class Plan {
 public:
  template <PlanNode T>
  Plan(T node);  // NOLINT(google-explicit-constructor): a node is a plan

  /// The root of the tree, for std::visit.
  [[nodiscard]] const Node& node() const;
  /// The root if it is a T, else nullptr.
  template <class T>
  [[nodiscard]] const T* as() const;

  friend bool operator==(const Plan& a, const Plan& b);

 private:
  static std::shared_ptr<const AnyNode> checked(AnyNode node);
  std::shared_ptr<const AnyNode> node_;
};

struct Repeat {
  Parameter steps;
  Plan plan;
};
/// At least one part. The constructor of Plan merges sums inside a sum, and reduces a sum of one
/// part to it.
struct Sum {
  std::vector<Plan> parts;
};
struct Parallel {
  std::vector<Plan> parts;
};
struct Poisson {
  Parameter rate;
  Plan plan;
};
struct WithoutReplacement {
  Parameter batch, population;
  Plan plan;
};
struct Group {
  Parameter size;
  Plan plan;
};

struct AnyNode {
  Node value;
};

template <PlanNode T>
Plan::Plan(T node) : node_(checked(AnyNode{Node(std::move(node))})) {}

inline const Node& Plan::node() const { return node_->value; }

template <class T>
const T* Plan::as() const {
  return std::get_if<T>(&node_->value);
}

// --- Functions that make plans, in the notation of the text ---

inline Plan gaussian(Parameter sigma, Parameter sensitivity = 1) {
  return Gaussian{sigma, sensitivity};
}
inline Plan laplace(Parameter b, Parameter sensitivity = 1) { return Laplace{b, sensitivity}; }
inline Plan discrete_gaussian(Parameter sigma, Parameter sensitivity = 1) {
  return DiscreteGaussian{sigma, sensitivity};
}
inline Plan discrete_laplace(Parameter b, Parameter sensitivity = 1) {
  return DiscreteLaplace{b, sensitivity};
}
inline Plan randomized_response(Parameter p, Parameter k = 2) { return RandomizedResponse{p, k}; }
inline Plan arsinh(Parameter rho, Parameter a, Parameter sensitivity = 1) {
  return Arsinh{rho, a, sensitivity};
}
inline Plan staircase(Parameter eps, Parameter sensitivity = 1) {
  return Staircase{eps, sensitivity};
}
inline Plan exponential(Parameter eps) { return Exponential{eps}; }
inline Plan catastrophe(Parameter eps, Parameter delta) { return Catastrophe{eps, delta}; }
inline Plan aggregated_gaussian(Parameter sigma, Parameter honest, Parameter sensitivity = 1) {
  return AggregatedGaussian{sigma, honest, sensitivity};
}
inline Plan shuffle(Parameter eps, Parameter users) { return Shuffle{eps, users}; }
inline Plan ring_sum(Parameter sigma, Parameter sensitivity = 1) {
  return RingSum{sigma, sensitivity};
}
inline Plan pure(Parameter eps) { return Pure{eps}; }
inline Plan approx(Parameter eps, Parameter delta) { return Approx{eps, delta}; }
inline Plan rdp(Parameter alpha, Parameter eps) { return Rdp{alpha, eps}; }
inline Plan zcdp(Parameter rho) { return Zcdp{rho}; }
inline Plan tcdp(Parameter rho, Parameter omega) { return Tcdp{rho, omega}; }
inline Plan gdp(Parameter mu) { return Gdp{mu}; }
Plan parallel(std::vector<Plan> parts);
Plan poisson(Parameter rate, Plan plan);
Plan without_replacement(Parameter batch, Parameter population, Plan plan);
Plan group(Parameter size, Plan plan);
Plan operator+(const Plan& a, const Plan& b);
Plan operator*(Parameter steps, const Plan& plan);

}  // namespace sotto
