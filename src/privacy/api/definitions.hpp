// The definitions of differential privacy, as values. Each bounds a divergence between the
// distributions of outputs on neighbouring data sets, in both directions.
#pragma once

#include <limits>

#include "sotto/numerics/real.hpp"

namespace sotto {

/// (ε, δ)-DP: the hockey-stick divergence at e^ε is at most δ. Pure DP is δ = 0. [Dwork2006a]
struct ApproximateDP {
  Real epsilon;
  Real delta = 0;
};

/// (α, ε)-RDP: the Rényi divergence of order α is at most ε. [Mironov2017]
struct RenyiDP {
  double order;
  Real epsilon;
};

/// ρ-zCDP: the Rényi divergence of every order α > 1 is at most ρ α. [Bun2016]
struct ZeroConcentratedDP {
  Real rho;
};

/// (ρ, ω)-tCDP: the Rényi divergence of every order α in (1, ω) is at most ρ α. [Bun2018]
struct TruncatedConcentratedDP {
  Real rho;
  Real omega;
};

/// μ-GDP: distinguishing neighbours is at least as hard as distinguishing N(0, 1) from N(μ, 1).
/// [Dong2022]
struct GaussianDP {
  Real mu;
};

}  // namespace sotto
