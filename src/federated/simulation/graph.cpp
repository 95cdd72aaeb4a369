#include "sotto/federated/graph.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_set>

#include "sotto/core/errors.hpp"
#include "sotto/core/values.hpp"
#include "sotto/random/uniform.hpp"

namespace sotto {
namespace {

// σ² x + σ_Δ² L x.
class Covariance {
 public:
  Covariance(const MaskGraph& graph, double noise, double pair_noise)
      : own_(noise * noise), pair_(pair_noise * pair_noise), degree_(static_cast<std::size_t>(graph.users())) {
    graph.for_each_edge([this](MaskGraph::User u, MaskGraph::User v) {
      edges_.emplace_back(u, v);
      degree_[u] += 1;
      degree_[v] += 1;
    });
  }
  void apply(const std::vector<double>& x, std::vector<double>& y) const {
    for (std::size_t i = 0; i < x.size(); ++i) y[i] = (own_ + pair_ * degree_[i]) * x[i];
    for (const auto& [u, v] : edges_) {
      y[u] -= pair_ * x[v];
      y[v] -= pair_ * x[u];
    }
  }
  [[nodiscard]] double own() const { return own_; }
  [[nodiscard]] double diagonal(std::size_t i) const { return own_ + pair_ * degree_[i]; }

 private:
  double own_;
  double pair_;
  std::vector<double> degree_;
  std::vector<MaskGraph::Edge> edges_;
};

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

// e_vᵀ Σ⁻¹ e_v by conjugate gradients, preconditioned by the diagonal, from 1/(nσ²) in every place: the part of the solution along the constants.
double theta(const Covariance& covariance, std::size_t n, std::size_t v, double start, bool precise) {
  std::vector<double> x(n, start);
  std::vector<double> residual(n), direction(n), image(n), scaled(n);
  covariance.apply(x, residual);
  for (double& one : residual) one = -one;
  residual[v] += 1;
  const auto scale = [&] {
    for (std::size_t i = 0; i < n; ++i) scaled[i] = residual[i] / covariance.diagonal(i);
  };
  scale();
  direction = scaled;
  double energy = dot(residual, scaled);
  for (std::size_t step = 0; step < 2 * n + 100; ++step) {
    if (!precise && energy <= 1e-5 * (x[v] - start)) break;
    if (dot(residual, residual) <= 1e-12 * x[v] * covariance.own()) break;  // the error's energy is at most |r|²/σ²
    covariance.apply(direction, image);
    const double length = energy / dot(direction, image);
    for (std::size_t i = 0; i < n; ++i) {
      x[i] += length * direction[i];
      residual[i] -= length * image[i];
    }
    scale();
    const double next = dot(residual, scaled);
    const double turn = next / energy;
    energy = next;
    for (std::size_t i = 0; i < n; ++i) direction[i] = scaled[i] + turn * direction[i];
  }
  return x[v];
}

}  // namespace

MaskGraph MaskGraph::complete(std::int64_t users) { return {require_count(users, 1, "users"), true, {}}; }

MaskGraph MaskGraph::path(std::int64_t users) {
  std::vector<Edge> list;
  for (std::int64_t u = 1; u < require_count(users, 1, "users"); ++u) list.emplace_back(static_cast<User>(u - 1), static_cast<User>(u));
  return {users, false, std::move(list)};
}

MaskGraph MaskGraph::random(std::int64_t users, std::int64_t out) {
  (void)require_count(users, 2, "users");
  (void)require_count(out, 1, "degree");
  if (out >= users) throw InvalidValue("the degree must be less than the number of users, " + std::to_string(users) + ", or the graph complete");
  std::vector<Edge> list;
  list.reserve(static_cast<std::size_t>(users * out));
  std::unordered_set<User> picked;
  for (std::int64_t u = 0; u < users; ++u) {
    picked.clear();
    const auto self = static_cast<User>(u);
    while (static_cast<std::int64_t>(picked.size()) < out) {
      const auto other = static_cast<User>(uniform_below(static_cast<std::uint64_t>(users)));
      if (other != self && picked.insert(other).second) list.emplace_back(std::min(self, other), std::max(self, other));
    }
  }
  std::sort(list.begin(), list.end());
  list.erase(std::unique(list.begin(), list.end()), list.end());
  return {users, false, std::move(list)};
}

std::int64_t MaskGraph::edges() const { return complete_ ? users_ * (users_ - 1) / 2 : static_cast<std::int64_t>(list_.size()); }

void MaskGraph::for_each_edge(const std::function<void(User, User)>& visit) const {
  for (const auto& [u, v] : list_) visit(u, v);
  if (!complete_) return;
  for (User u = 0; u < users_; ++u) {
    for (User v = u + 1; v < users_; ++v) visit(u, v);
  }
}

MaskGraph MaskGraph::among_first(std::int64_t users) const {
  std::vector<Edge> list;
  for (const auto& edge : list_) {
    if (edge.second < users) list.push_back(edge);
  }
  return {require_count(users, 1, "users"), complete_, std::move(list)};
}

double largest_theta(const MaskGraph& honest, double noise, double pair_noise) {
  (void)require_positive(noise, "noise");
  (void)require_positive(pair_noise, "pair noise");
  const auto n = static_cast<std::size_t>(honest.users());
  const double start = 1 / (static_cast<double>(n) * noise * noise);
  if (honest.is_complete()) return start + (1 - 1 / static_cast<double>(n)) / (noise * noise + static_cast<double>(n) * pair_noise * pair_noise);
  const Covariance covariance(honest, noise, pair_noise);
  std::vector<std::pair<double, std::size_t>> found;
  for (std::size_t v = 0; v < n; ++v) found.emplace_back(theta(covariance, n, v, start, false), v);
  std::sort(found.rbegin(), found.rend());
  double largest = 0;
  for (std::size_t i = 0; i < std::min<std::size_t>(10, n); ++i) largest = std::max(largest, theta(covariance, n, found[i].second, start, true));
  return largest;
}

}  // namespace sotto
