// The memory of the machine, on which limits depend that a caller does not set.
#pragma once

#include <cstdint>

namespace sotto {

/// Returns the physical memory of this machine in bytes, used or not. A limit on this process, such
/// as that of a container, does not count.
std::int64_t machine_memory();

}  // namespace sotto
