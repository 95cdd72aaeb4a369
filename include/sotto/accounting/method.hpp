// The accounting methods: how ε at δ, or δ at ε, of a plan is computed.
#pragma once

#include <array>
#include <optional>
#include <string_view>

namespace sotto {

enum class Method {
  tight,        ///< the best of all methods that apply
  pld,          ///< the composed privacy loss distribution [Zhu2022], or an exact closed form
  gdp,          ///< Gaussian DP [Dong2022]: exact for Gaussians, approximate GDP for other plans
  rdp,          ///< Rényi DP [Mironov2017], best conversion [Canonne2020; Asoodeh2021], best order
  rdp_classic,  ///< Rényi DP, classical conversion [Mironov2017]
  moments,      ///< the moments accountant [Abadi2016]: integer orders, classical conversion
  zcdp,         ///< zero-concentrated DP [Bun2016], conversion of [Canonne2020]
  zcdp_classic,     ///< zero-concentrated DP, classical conversion [Bun2016]
  tcdp,             ///< truncated concentrated DP [Bun2018], conversion of [Canonne2020]
  optimal,          ///< optimal composition of equal (ε, δ) steps [Kairouz2015, Thm 3.3]
  kov,              ///< the closed form of optimal composition [Kairouz2015, Thm 3.4]
  advanced,         ///< advanced composition [Dwork2010]
  advanced_simple,  ///< the simplified form of advanced composition, where it holds
  basic,            ///< basic composition [Dwork2006a]: ε and δ add
  // Closed forms of textbooks and course notes, each under the conditions of its proof. None is
  // ever better than the best of the methods above.
  rdp_simple,              ///< rdp_classic, with sampling by without_replacement_renyi_loose
  rdp_one_order,           ///< rdp_classic, with sampling by without_replacement_renyi_one_order
  zcdp_simple,             ///< ε = 2 sqrt(ρ log(1/δ)), which is ρ = ε²/(4 log(1/δ))
  tcdp_classic,            ///< truncated concentrated DP, classical conversion
  moments_closed,          ///< ε = 4 sqrt(k log(1/δ))/σ for k Gaussian steps
  theorem,                 ///< the bound that the paper of the plan's only mechanism states
  moments_closed_epsilon,  ///< 4 ε sqrt(2k log(1/δ)) for k Gaussian steps with classical ε each
};

/// The methods of which compare() makes a row each.
inline constexpr std::array all_methods{
    Method::pld,     Method::gdp,  Method::rdp,          Method::rdp_classic,
    Method::moments, Method::zcdp, Method::zcdp_classic, Method::tcdp,
    Method::optimal, Method::kov,  Method::advanced,     Method::advanced_simple,
    Method::basic};

/// The closed forms. compare() leaves them out, but adds `theorem` if the plan's mechanism has a
/// published bound.
inline constexpr std::array closed_form_methods{
    Method::rdp_simple,   Method::rdp_one_order,  Method::zcdp_simple,
    Method::tcdp_classic, Method::moments_closed, Method::moments_closed_epsilon,
    Method::theorem};

/// Returns whether the method uses a Rényi curve at one order, which Question::order can fix.
constexpr bool has_order(Method method) {
  return method == Method::rdp || method == Method::rdp_classic || method == Method::moments ||
         method == Method::rdp_simple || method == Method::rdp_one_order;
}

/// Returns the method's name in commands and files: "tight", "pld", "rdp-classic", …
std::string_view name(Method method);
/// Returns the method with this name; empty if no method has it.
std::optional<Method> method_named(std::string_view name);

}  // namespace sotto
