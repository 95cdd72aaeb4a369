// Cholesky factorisation with a bound on its residual, connected components, and orthogonalisation.
#include "privacy/api/graph.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

#include "sotto/core/errors.hpp"
#include "sotto/core/values.hpp"
#include "sotto/numerics/real.hpp"

namespace sotto {
namespace {

constexpr std::size_t most_users = 2000;
constexpr double unit = 0x1p-53;

using Row = std::vector<double>;

void check(const Graph& graph) {
  if (graph.users < 1 || graph.users > most_users)
    throw InvalidValue("users = " + std::to_string(graph.users) +
                       " is not allowed: a graph must have from 1 to " +
                       std::to_string(most_users));
  for (const auto& [a, b] : graph.edges) {
    if (a >= graph.users || b >= graph.users || a == b) {
      throw InvalidValue("the edge " + std::to_string(a) + " to " + std::to_string(b) +
                         " is not allowed: it must join two different users below " +
                         std::to_string(graph.users));
    }
  }
}

// Returns the lower triangle of the Cholesky factor of Σ = own² I + mask² L.
std::vector<Row> cholesky_factor(const Graph& graph, double own, double mask) {
  std::vector<Row> factor(graph.users);
  for (std::size_t i = 0; i < graph.users; ++i) {
    factor[i].assign(i + 1, 0);
    factor[i][i] = own * own;
  }
  for (const auto& [a, b] : graph.edges) {
    factor[a][a] += mask * mask;
    factor[b][b] += mask * mask;
    factor[std::max(a, b)][std::min(a, b)] -= mask * mask;
  }
  for (std::size_t i = 0; i < graph.users; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      double sum = factor[i][j];
      for (std::size_t k = 0; k < j; ++k) sum -= factor[i][k] * factor[j][k];
      factor[i][j] = i == j ? std::sqrt(std::max(sum, own * own / 2)) : sum / factor[j][j];
    }
  }
  return factor;
}

// Returns Σ⁻¹ e_v.
Row solve(const std::vector<Row>& factor, std::size_t v) {
  const std::size_t n = factor.size();
  Row x(n, 0);
  for (std::size_t i = v; i < n; ++i) {
    double sum = i == v ? 1 : 0;
    for (std::size_t k = v; k < i; ++k) sum -= factor[i][k] * x[k];
    x[i] = sum / factor[i][i];
  }
  for (std::size_t i = n; i-- > 0;) {
    x[i] /= factor[i][i];
    for (std::size_t k = 0; k < i; ++k) x[k] -= factor[i][k] * x[i];
  }
  return x;
}

// Returns an upper bound on |e_v - Σx|, which allows for rounding and for the readings of the
// parameters.
double residual_bound(const Graph& graph, double own, double mask, const Row& x, std::size_t v) {
  Row residual(x.size());
  Row size(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    residual[i] = (i == v ? 1 : 0) - own * own * x[i];
    size[i] = 1 + own * own * std::abs(x[i]);
  }
  for (const auto& [a, b] : graph.edges) {
    const double flow = mask * mask * (x[a] - x[b]);
    residual[a] -= flow;
    residual[b] += flow;
    const double most = mask * mask * (std::abs(x[a]) + std::abs(x[b]));
    size[a] += most;
    size[b] += most;
  }
  double square = 0;
  // a user has at most n - 1 terms
  const double relative = unit * (2 * static_cast<double>(x.size()) + 16);
  for (std::size_t i = 0; i < x.size(); ++i)
    square += std::pow(std::abs(residual[i]) + relative * size[i], 2);
  return std::sqrt(square) * (1 + 1e-9);
}

double dot(const Row& a, const Row& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

// The span of the observed vectors, as an orthonormal basis.
class Span {
 public:
  // Adds a vector by Gram-Schmidt, twice for accuracy.
  void add(Row row) {
    const double whole = std::sqrt(dot(row, row));
    for (int turn = 0; turn < 2; ++turn) {
      for (const Row& basis : rows_) {
        const double part = dot(row, basis);
        for (std::size_t i = 0; i < row.size(); ++i) row[i] -= part * basis[i];
      }
    }
    const double rest = std::sqrt(dot(row, row));
    if (!(rest > 1e-10 * whole)) return;
    for (double& entry : row) entry /= rest;
    rows_.push_back(std::move(row));
  }
  // Returns |P e_u|², where P projects on the span.
  [[nodiscard]] double share(std::size_t user) const {
    double sum = 0;
    for (const Row& row : rows_) sum += row[user] * row[user];
    return std::min(1.0, sum * (1 + 1e-9) + 1e-9);
  }

 private:
  std::vector<Row> rows_;
};

}  // namespace

std::vector<double> gopa_squared_mus(const Graph& honest, double own, double mask) {
  check(honest);
  require_positive(own, "own");
  require_positive(mask, "mask");
  const std::vector<Row> factor = cholesky_factor(honest, own, mask);
  std::vector<double> thetas;
  for (std::size_t v = 0; v < honest.users; ++v) {
    const Row x = solve(factor, v);
    thetas.push_back(
        (Real(x[v]) + Real(residual_bound(honest, own, mask, x, v)) / (Real(own) * Real(own)))
            .upper());
  }
  return thetas;
}

std::vector<double> gopa_uniform_squared_mus(const Graph& honest, double own) {
  check(honest);
  require_positive(own, "own");
  std::vector<std::size_t> root(honest.users);
  std::iota(root.begin(), root.end(), std::size_t{0});
  // union-find with path halving
  const auto find = [&root](std::size_t user) {
    while (root[user] != user) user = root[user] = root[root[user]];
    return user;
  };
  for (const auto& [a, b] : honest.edges) root[find(a)] = find(b);
  std::vector<double> size(honest.users, 0);
  for (std::size_t v = 0; v < honest.users; ++v) ++size[find(v)];
  std::vector<double> thetas;
  for (std::size_t v = 0; v < honest.users; ++v)
    thetas.push_back((1 / (Real(size[find(v)]) * Real(own) * Real(own))).upper());
  return thetas;
}

std::vector<double> gossip_shares(const std::vector<std::vector<double>>& gossip,
                                  std::size_t rounds, std::size_t observer) {
  const std::size_t n = gossip.size();
  if (n < 1 || n > most_users || observer >= n) {
    throw InvalidValue("gossip needs from 1 to " + std::to_string(most_users) +
                       " users, the observer among them; here are " + std::to_string(n) +
                       " users and observer " + std::to_string(observer));
  }
  for (const Row& row : gossip) {
    if (row.size() != n) {
      throw InvalidValue("the gossip matrix must be square: it has " + std::to_string(n) +
                         " rows, and one of " + std::to_string(row.size()) + " entries");
    }
  }
  Span seen;
  Row own(n, 0);
  own[observer] = 1;
  seen.add(own);
  std::vector<Row> power(n, Row(n, 0));  // W^t, row by row
  for (std::size_t i = 0; i < n; ++i) power[i][i] = 1;
  for (std::size_t round = 0; round < rounds; ++round) {
    for (std::size_t w = 0; w < n; ++w) {
      if (w != observer && gossip[observer][w] != 0) seen.add(power[w]);
    }
    std::vector<Row> next(n, Row(n, 0));
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t k = 0; k < n; ++k) {
        if (gossip[i][k] == 0) continue;
        for (std::size_t j = 0; j < n; ++j) next[i][j] += gossip[i][k] * power[k][j];
      }
    }
    power = std::move(next);
  }
  std::vector<double> shares;
  for (std::size_t u = 0; u < n; ++u) shares.push_back(seen.share(u));
  return shares;
}

}  // namespace sotto
