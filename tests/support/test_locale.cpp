// Runs a test's process in the locale that SOTTO_TEST_LOCALE names, as a program that hosts sotto may: numbers are written and read alike in all.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <locale>
#include <stdexcept>

namespace {

const bool is_set = [] {
  const char* name = std::getenv("SOTTO_TEST_LOCALE");
  if (name == nullptr) return false;
  try {
    std::locale::global(std::locale(name));  // the C library's too
  } catch (const std::runtime_error&) {
    std::fprintf(stderr, "there is no locale %s\n", name);
    _exit(2);
  }
  return true;
}();

}  // namespace
