// Plans: what is done with the data, as an immutable value with one textual form.
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

// --- Leaves: mechanisms. `sensitivity` is the query's, under the plan's relation: the most that one unit moves what noise is added to. ---

struct Gaussian {  ///< a vector; L2 sensitivity
  Parameter sigma, sensitivity = 1;
};
struct Laplace {  ///< a vector; L1 sensitivity
  Parameter b, sensitivity = 1;
};
struct DiscreteGaussian {  ///< one whole number; whole sensitivity. A vector costs more: see docs/reference/plan.md
  Parameter sigma, sensitivity = 1;
};
struct DiscreteLaplace {  ///< a vector of whole numbers; whole L1 sensitivity
  Parameter b, sensitivity = 1;
};
struct RandomizedResponse {  ///< the truth with probability p, every other of k values alike
  Parameter p, k = 2;
};
struct Arsinh {  ///< one number: A arsinh(N(0, sensitivity²/(2 rho)) / A)
  Parameter rho, a, sensitivity = 1;
};
struct Staircase {  ///< one number: the staircase mechanism at its best steps, by its pure epsilon; can be accounted, not run
  Parameter eps, sensitivity = 1;
};
struct Exponential {  ///< the exponential mechanism, by its pure epsilon
  Parameter eps;
};
struct Catastrophe {  ///< everything with probability delta, else Laplace: can be accounted, never run
  Parameter eps, delta;
};

// --- Leaves: learning without a trusted curator. docs/theory/federated.md has what each is and what it costs. ---

struct AggregatedGaussian {  ///< a sum to which every party adds Gaussian noise of that sigma; the noises of `honest` of them are sure
  Parameter sigma, honest, sensitivity = 1;
};
struct GopaComplete {  ///< GOPA where every two honest users share a Gaussian mask: own noise, masks' noise, honest users
  Parameter sigma, mask, honest, sensitivity = 1;
};
struct GopaConnected {  ///< GOPA where all that is known of the honest users' graph is that it is connected
  Parameter sigma, mask, honest, sensitivity = 1;
};
struct GopaRandom {  ///< GOPA where every user picks k others; the graph is bad with probability at most 3 delta
  Parameter sigma, mask, users, honest, k, delta, sensitivity = 1;
};
struct Shuffle {  ///< reports of so many users, each of local epsilon `eps`, in random order; replace-one
  Parameter eps, users;
};
struct RingSum {  ///< one pass of a noisy sum around a ring, noise added once a pass
  Parameter sigma, sensitivity = 1;
};

struct RingHistogram {  ///< one pass of a histogram around a ring: each of so many users tells one of `values`, with probability gamma any of them
                        ///< alike
  Parameter gamma, values, users;
};
struct WalkSum {  ///< what a coalition sees, a visit, of a sum on a token that hops uniformly over all users; noise at every hop
  Parameter sigma, users, colluders = 1, sensitivity = 1;
};
struct WalkSgd {  ///< what a coalition sees of one noisy gradient step of one user on such a token
  Parameter sigma, users, colluders = 1, sensitivity = 1;
};

// --- Leaves: guarantees, whatever the mechanism. ---

struct Pure {
  Parameter eps;
};
struct Approx {
  Parameter eps, delta;
};
struct Rdp {  ///< holds at every order up to alpha
  Parameter alpha, eps;
};
struct Zcdp {
  Parameter rho;
};
struct Tcdp {
  Parameter rho, omega;
};
struct Gdp {  ///< an exact mu, never a central-limit estimate
  Parameter mu;
};

// --- Operators. ---

struct Repeat;              // steps * plan
struct Sum;                 // plan + plan + …
struct Parallel;            // parallel(plan, …): on disjoint parts
struct Poisson;             // poisson(rate, plan): one sample, every record independently
struct WithoutReplacement;  // without_replacement(batch, population, plan)
struct Group;               // group(size, plan): the cost to that many units together

struct AnyNode;

/// The types above. A new leaf stands before the operators; src/plan/fields.hpp has its parameters, src/accounting/leaves what it costs.
using Node = std::variant<Gaussian, Laplace, DiscreteGaussian, DiscreteLaplace, RandomizedResponse, Arsinh, Staircase, Exponential, Catastrophe,
                          AggregatedGaussian, GopaComplete, GopaConnected, GopaRandom, Shuffle, RingSum, RingHistogram, WalkSum, WalkSgd, Pure,
                          Approx, Rdp, Zcdp, Tcdp, Gdp, Repeat, Sum, Parallel, Poisson, WithoutReplacement, Group>;
template <class T, class Kinds>
inline constexpr bool is_one_of = false;
template <class T, class... Kinds>
inline constexpr bool is_one_of<T, std::variant<Kinds...>> = (std::is_same_v<T, Kinds> || ...);
/// One of them, and no other type.
template <class T>
concept PlanNode = is_one_of<T, Node>;

/// A plan. Made from a node, whose values are checked then: InvalidValue names the parameter and its range.
class Plan {
 public:
  template <PlanNode T>
  Plan(T node);  // NOLINT(google-explicit-constructor): a node is a plan

  /// What the plan is, to be visited: a std::variant of the types above.
  [[nodiscard]] const Node& node() const;
  /// This plan as a T, or null.
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
struct Sum {  ///< at least one part; a sum inside a sum is the same as its parts
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

// --- Plans as one writes them. ---

inline Plan gaussian(Parameter sigma, Parameter sensitivity = 1) { return Gaussian{sigma, sensitivity}; }
inline Plan laplace(Parameter b, Parameter sensitivity = 1) { return Laplace{b, sensitivity}; }
inline Plan discrete_gaussian(Parameter sigma, Parameter sensitivity = 1) { return DiscreteGaussian{sigma, sensitivity}; }
inline Plan discrete_laplace(Parameter b, Parameter sensitivity = 1) { return DiscreteLaplace{b, sensitivity}; }
inline Plan randomized_response(Parameter p, Parameter k = 2) { return RandomizedResponse{p, k}; }
inline Plan arsinh(Parameter rho, Parameter a, Parameter sensitivity = 1) { return Arsinh{rho, a, sensitivity}; }
inline Plan staircase(Parameter eps, Parameter sensitivity = 1) { return Staircase{eps, sensitivity}; }
inline Plan exponential(Parameter eps) { return Exponential{eps}; }
inline Plan catastrophe(Parameter eps, Parameter delta) { return Catastrophe{eps, delta}; }
inline Plan aggregated_gaussian(Parameter sigma, Parameter honest, Parameter sensitivity = 1) {
  return AggregatedGaussian{sigma, honest, sensitivity};
}
inline Plan shuffle(Parameter eps, Parameter users) { return Shuffle{eps, users}; }
inline Plan ring_sum(Parameter sigma, Parameter sensitivity = 1) { return RingSum{sigma, sensitivity}; }
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
