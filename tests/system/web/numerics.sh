#!/bin/sh
# Tests numerics in WebAssembly under node: numerics.sh BUILD. The tests of the certified reals must
# pass with Emscripten's C library and without fused multiply-add, and doubles must be read and
# written as on this machine. Skipped if the page is not built.
set -eu
build=$(cd "$1" && pwd)
source=$(pwd)
skip() {
  echo "skipped: $*"
  exit 77
}
[ -f "$build/web/sotto.html" ] || skip "the page is not built; type: ./dev web"
command -v node >/dev/null || skip "there is no node; type: apt-get install nodejs"
[ -f /usr/src/googletest/googletest/src/gtest-all.cc ] || skip "GoogleTest's sources are not installed; type: apt-get install libgtest-dev"
cmake --build "$build/web" --target numerics_test numbers >"$build/web/tests.log" 2>&1 || { tail -n 30 "$build/web/tests.log"; exit 1; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
${CXX:-c++} -std=c++20 -O1 -I "$source/include" -I "$source/src" "$source/tests/system/web/numbers.cpp" "$build/libsotto_core.a" -o "$folder/numbers"
"$folder/numbers" >"$folder/native"
node "$build/web/numbers.js" >"$folder/web"
diff "$folder/native" "$folder/web" | head -n 20 >"$folder/differences"
cat "$folder/differences"
[ ! -s "$folder/differences" ] || exit 1
echo "$(wc -l <"$folder/native") lines of numbers are equal"
# Excludes the test that compares with long double: in this C library these functions compute in
# double.
node "$build/web/numerics_test.js" --gtest_brief=1 --gtest_filter=-Complex.FunctionsKeepTheirDocumentedErrors
