// Gaussian noise with μ = Δ2/σ, and a stated μ-GDP guarantee.
#include "accounting/leaves/gaussian_leaf.hpp"

namespace sotto::accounting_detail {
template <>
class Description<Gaussian> final : public GaussianLeaf {
 public:
  Description(const Gaussian& node, std::int64_t units)
      : GaussianLeaf(real(units) * reading(node.sensitivity) / reading(node.sigma), false, units) {}
  [[nodiscard]] Noise noise() const override { return Noise::gaussian; }
};
template LeafPtr describe(const Gaussian&, std::int64_t);

template <>
class Description<Gdp> final : public GaussianLeaf {
 public:
  Description(const Gdp& node, std::int64_t units)
      : GaussianLeaf(real(units) * reading(node.mu), node.mu.value() == 0, units) {}
};
template LeafPtr describe(const Gdp&, std::int64_t);

}  // namespace sotto::accounting_detail
