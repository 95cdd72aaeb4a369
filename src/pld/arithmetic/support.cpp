// The error for privacy losses that doubles cannot represent.
#include "pld/arithmetic/support.hpp"

#include <string>

#include "sotto/core/errors.hpp"

namespace sotto::pld_detail {

void throw_unrepresentable(const char* problem) {
  throw OutsideConditions("method pld gives no bound in double precision: " + std::string(problem) +
                              "; use method tight or rdp",
                          Remedy::method);
}

}  // namespace sotto::pld_detail
