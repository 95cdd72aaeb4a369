// Runs a test's process in another locale, as a program that hosts sotto may: numbers are written and read alike in all.
// SOTTO_TEST_LOCALE names it for the C library, as Python and R set it; with SOTTO_TEST_STREAMS streams of C++ obey it, too.
#include <unistd.h>

#include <clocale>
#include <cstdio>
#include <cstdlib>
#include <locale>

namespace {

const bool is_set = [] {
  const char* name = std::getenv("SOTTO_TEST_LOCALE");
  if (name == nullptr) return false;
  if (std::setlocale(LC_ALL, name) == nullptr) {
    std::fprintf(stderr, "there is no locale %s\n", name);
    _exit(2);
  }
  if (std::getenv("SOTTO_TEST_STREAMS") != nullptr) std::locale::global(std::locale(name));
  return true;
}();

}  // namespace
