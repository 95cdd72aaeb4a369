// Discrete Gaussian noise on one integer. Its Rényi divergences are at most those of continuous
// Gaussian noise [Canonne2020]; its profile and its losses are computed from its probability mass
// function.
#include <cmath>

#include "accounting/leaves/description.hpp"
#include "numerics/api/elementary.hpp"
#include "privacy/api/discrete.hpp"
#include "privacy/api/gaussian.hpp"
#include "sotto/core/decimal.hpp"
#include "sotto/plan/text.hpp"

namespace sotto::accounting_detail {

template <>
class Description<DiscreteGaussian> final : public NeedsShare {
 public:
  Description(const DiscreteGaussian& node, std::int64_t units) : NeedsShare(units), node_(node) {}

  // The only leaf whose cost grows if the L2 distance is spread over several coordinates.
  [[nodiscard]] std::string note() const override {
    const double move = static_cast<double>(units()) * node_.sensitivity.value();
    if (!(move > 1)) return "";
    const std::string sigma = shortest(node_.sigma.value());
    const Real ratio = Real(move) / reading(node_.sigma);
    return print(node_) + " is costed for one whole number that moves by at most " +
           shortest(move) + ": a vector that moves by this L2 distance " + "may cost more; type " +
           shortest(move * move) + " * discrete_gaussian(" + sigma +
           ") where each number moves by at most 1, else zcdp(" +
           rounded((ratio * ratio / 2).upper(), 6, Side::upper) + ")";
  }
  [[nodiscard]] std::optional<Proved<Real>> renyi(double order, Side side) const override {
    if (side == Side::lower) return std::nullopt;
    return Proved<Real>{gaussian_renyi(mu().upper(), order),
                        "discrete Gaussian noise: at most the continuous α μ²/2",
                        "Canonne2020",
                        {"integer sensitivity"}};
  }
  [[nodiscard]] ProvedOrRefused<Real> rho(RhoConversion) const override {
    return Proved<Real>{gaussian_rho(mu().upper()),
                        "discrete Gaussian noise: the continuous ρ",
                        "Canonne2020",
                        {"integer sensitivity"}};
  }
  [[nodiscard]] std::optional<Proved<Profile>> profile(Side) const override {
    constexpr double most_terms = 1e4;  // the distribution function is summed term by term
    if (node_.sigma.value() > most_terms) return std::nullopt;
    return Proved<Profile>{discrete_gaussian_profile(reading(node_.sigma), distance()),
                           "discrete Gaussian noise, from its pmf",
                           "Canonne2020",
                           {"integer sensitivity"}};
  }
  [[nodiscard]] ProvedOrRefused<DominatingPair> pair() const override {
    return symmetric_pair(discrete_gaussian_loss(reading(node_.sigma), distance()),
                          "discrete Gaussian noise, from its pmf", "Canonne2020");
  }
  // The losses (xΔ - Δ²/2)/σ² of the outcomes x from -m to Δ + m. The set is symmetric: x under P
  // is as likely as Δ - x under Q. The other outcomes have at most the mass 2 ∫_m^∞ e^(-x²/(2σ²))
  // dx <= (2σ²/m) e^(-m²/(2σ²)), in units in which the outcome 0 has mass 1, so their probability
  // is at most that.
  [[nodiscard]] Base base() const override {
    constexpr double exponent = 240;        // e^-240 is below 10^-104
    constexpr double least_exponent = 650;  // below it no mass underflows
    constexpr double most_outcomes = 4096;
    const Real sigma = reading(node_.sigma);
    const double reach = std::ceil(std::sqrt(2 * exponent) * sigma.upper());
    const auto d = static_cast<double>(distance());
    if (!(d + 2 * reach + 1 <= most_outcomes) ||
        !(square(Real(d + reach) / sigma).upper() < 2 * least_exponent))
      return NoBase{};
    LatticeBase result{.spacing = Real(d) / square(sigma), .masses = {}};
    Real total = 0;
    for (double x = -reach; x <= d + reach; ++x) {
      result.masses.push_back(exp(-(square(Real(x) / sigma) / 2)));
      total += result.masses.back();
    }
    for (Real& mass : result.masses) mass = mass / total;
    result.truncated =
        (2 * square(sigma) / Real(reach) * exp(-(square(Real(reach) / sigma) / 2))).upper();
    return result;
  }

 protected:
  [[nodiscard]] bool reveals_nothing() const override { return false; }

 private:
  [[nodiscard]] std::int64_t distance() const { return times(units(), node_.sensitivity); }
  [[nodiscard]] Real mu() const { return k() * reading(node_.sensitivity) / reading(node_.sigma); }

  DiscreteGaussian node_;
};
template LeafPtr describe(const DiscreteGaussian&, std::int64_t);

}  // namespace sotto::accounting_detail
