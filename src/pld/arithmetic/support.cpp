// The error for privacy losses that doubles cannot represent.
#include "pld/arithmetic/support.hpp"

#include <string>

#include "sotto/core/errors.hpp"

namespace sotto::pld_detail {

void throw_unrepresentable(const char* what) {
  throw OutsideConditions(std::string(what) + " is not finite, or not known to enough digits in doubles: pld gives no bound; use tight or rdp",
                          Remedy::method);
}

}  // namespace sotto::pld_detail
