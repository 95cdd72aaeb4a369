// Names of the kinds of clipping.
#include "sotto/learning/clipping.hpp"

#include <array>

#include "learning/models/names.hpp"

namespace sotto {
namespace {

using learning_detail::Named;
constexpr std::array<Named<ClippingKind>, 3> kinds{{{ClippingKind::flat, "flat"},
                                                    {ClippingKind::per_layer, "per-layer"},
                                                    {ClippingKind::automatic, "automatic"}}};

}  // namespace

std::string name_of(ClippingKind kind) {
  return learning_detail::name_in<ClippingKind>(kinds, kind);
}
ClippingKind parse_clipping(const std::string& name) {
  return learning_detail::parse_in<ClippingKind>(kinds, "clipping", name);
}

}  // namespace sotto
