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
  // closed forms of textbooks and course notes, each where it is proved; none is ever better than one of those above
  rdp_simple,              ///< Rényi DP, classical conversion; sampling without replacement by log(1 + Σ 2 s^j C(α,j) e^((j-1)ε(j)))/(α-1)
  rdp_one_order,           ///< the same with ε(α) in place of every ε(j)
  zcdp_simple,             ///< 2 sqrt(ρ log(1/δ)), that is ρ = ε²/(4 log(1/δ))
  tcdp_classic,            ///< truncated concentrated DP, classical conversion
  moments_closed,          ///< 4 sqrt(k log(1/δ))/σ for k Gaussian steps
  theorem,                 ///< the line that the paper of the plan's one mechanism states
  moments_closed_epsilon,  ///< 4 ε sqrt(2k log(1/δ)) for k Gaussian steps, ε by the classical line of each
};

/// The methods that compare puts side by side.
inline constexpr std::array all_methods{
    Method::pld,  Method::gdp,     Method::rdp, Method::rdp_classic, Method::moments,         Method::zcdp, Method::zcdp_classic,
    Method::tcdp, Method::optimal, Method::kov, Method::advanced,    Method::advanced_simple, Method::basic};

/// The closed forms, which compare leaves out; `theorem` it adds where the plan's mechanism has one.
inline constexpr std::array closed_form_methods{Method::rdp_simple,     Method::rdp_one_order,          Method::zcdp_simple, Method::tcdp_classic,
                                                Method::moments_closed, Method::moments_closed_epsilon, Method::theorem};

/// Whether the method reads a Rényi curve at one order, which can be fixed.
constexpr bool has_order(Method method) {
  return method == Method::rdp || method == Method::rdp_classic || method == Method::moments || method == Method::rdp_simple ||
         method == Method::rdp_one_order;
}

/// "tight", "pld", "rdp-classic", …
std::string_view name(Method method);
/// The method of that name, if there is one.
std::optional<Method> method_named(std::string_view name);

}  // namespace sotto
