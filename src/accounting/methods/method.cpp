// The names of accounting methods.
#include "sotto/accounting/method.hpp"

namespace sotto {

std::string_view name(Method method) {
  switch (method) {
    case Method::tight: break;
    case Method::pld: return "pld";
    case Method::gdp: return "gdp";
    case Method::rdp: return "rdp";
    case Method::rdp_classic: return "rdp-classic";
    case Method::moments: return "moments";
    case Method::zcdp: return "zcdp";
    case Method::zcdp_classic: return "zcdp-classic";
    case Method::tcdp: return "tcdp";
    case Method::optimal: return "optimal";
    case Method::kov: return "kov";
    case Method::advanced: return "advanced";
    case Method::advanced_simple: return "advanced-simple";
    case Method::basic: return "basic";
    case Method::rdp_simple: return "rdp-simple";
    case Method::rdp_one_order: return "rdp-one-order";
    case Method::zcdp_simple: return "zcdp-simple";
    case Method::tcdp_classic: return "tcdp-classic";
    case Method::moments_closed: return "moments-closed";
    case Method::moments_closed_epsilon: return "moments-closed-epsilon";
    case Method::theorem: return "theorem";
  }
  return "tight";
}

std::optional<Method> method_named(std::string_view text) {
  if (text == name(Method::tight)) return Method::tight;
  for (const Method m : all_methods) {
    if (text == name(m)) return m;
  }
  for (const Method m : closed_form_methods) {
    if (text == name(m)) return m;
  }
  return std::nullopt;
}

}  // namespace sotto
