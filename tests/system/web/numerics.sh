#!/bin/sh
# The numbers behind the page, in WebAssembly under node: numerics.sh BUILD. The certified reals keep their tests, with another C library and
# without fused multiply-add in hardware; doubles are read and written as elsewhere. Skipped where the page was not built.
set -eu
build=$(cd "$1" && pwd)
source=$(pwd)
skip() {
  echo "skipped: $*"
  exit 77
}
[ -f "$build/web/sotto.html" ] || skip "the page is not built; type: ./dev web"
command -v node >/dev/null || skip "there is no node; type: apt-get install nodejs"
[ -f /usr/src/googletest/googletest/src/gtest-all.cc ] || skip "GoogleTest's sources are not there; type: apt-get install libgtest-dev"
cmake --build "$build/web" --target numerics_test numbers >"$build/web/tests.log" 2>&1 || { tail -n 30 "$build/web/tests.log"; exit 1; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
${CXX:-c++} -std=c++20 -O1 -I "$source/include" -I "$source/src" "$source/tests/system/web/numbers.cpp" "$build/libsotto_core.a" -o "$folder/numbers"
"$folder/numbers" >"$folder/here"
node "$build/web/numbers.js" >"$folder/there"
diff "$folder/here" "$folder/there" | head -n 20 >"$folder/apart"
cat "$folder/apart"
[ ! -s "$folder/apart" ] || exit 1
echo "$(wc -l <"$folder/here") lines of numbers are the same"
# not the test whose judge is long double: musl computes its functions of that type in double here
node "$build/web/numerics_test.js" --gtest_brief=1 --gtest_filter=-Complex.FunctionsKeepTheirDocumentedErrors
