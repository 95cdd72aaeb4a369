// The methods by which a plan can be costed.
#pragma once

#include <array>
#include <optional>
#include <string_view>

namespace sotto {

enum class Method {
  tight,            ///< the best of all that apply
  pld,              ///< the exact privacy profile
  gdp,              ///< Gaussian DP
  rdp,              ///< Rényi DP, better conversion, best real order
  rdp_classic,      ///< Rényi DP, classical conversion
  moments,          ///< the moments accountant: whole orders, classical conversion
  zcdp,             ///< zero-concentrated DP, better conversion
  zcdp_classic,     ///< zero-concentrated DP, classical lines
  tcdp,             ///< truncated concentrated DP
  optimal,          ///< optimal composition of equal (ε, δ) steps
  kov,              ///< its closed form
  advanced,         ///< advanced composition
  advanced_simple,  ///< its simple form, within its validity
  basic,            ///< ε and δ add
};

inline constexpr std::array all_methods{
    Method::pld,  Method::gdp,     Method::rdp, Method::rdp_classic, Method::moments,         Method::zcdp, Method::zcdp_classic,
    Method::tcdp, Method::optimal, Method::kov, Method::advanced,    Method::advanced_simple, Method::basic};

/// "tight", "pld", "rdp-classic", …
std::string_view name(Method method);
/// The method of that name, if there is one.
std::optional<Method> method_named(std::string_view name);

}  // namespace sotto
