// The memory by sysconf(3).
#include "core/api/memory.hpp"

#include <unistd.h>

namespace sotto {

std::int64_t machine_memory() {
  return std::int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGESIZE);
}

}  // namespace sotto
