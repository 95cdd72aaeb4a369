// Runs the process of a test in another locale, as a program that hosts sotto may: numbers must be
// written and read in the same way. SOTTO_TEST_LOCALE names the locale for the C library, as Python
// and R set it. SOTTO_TEST_STREAMS sets it for the streams of C++, too.
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
    std::fprintf(stderr, "SOTTO_TEST_LOCALE: the locale %s is not installed\n", name);
    _exit(2);
  }
  if (std::getenv("SOTTO_TEST_STREAMS") != nullptr) std::locale::global(std::locale(name));
  return true;
}();

}  // namespace
