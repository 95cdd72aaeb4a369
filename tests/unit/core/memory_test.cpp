// The machine's memory, against the kernel's own report.
#include "core/api/memory.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <string>

namespace sotto {
namespace {

TEST(Memory, IsAtLeastWhatTheKernelReports) {
  std::ifstream file("/proc/meminfo");
  std::string name;
  std::int64_t kibibytes = 0;
  file >> name >> kibibytes;
  ASSERT_EQ(name, "MemTotal:");
  EXPECT_GE(machine_memory() / 1024, kibibytes);  // a container may report its limit instead
  EXPECT_LT(machine_memory(), std::int64_t{1} << 50);
}

}  // namespace
}  // namespace sotto
