#!/bin/sh
# Tests what ./dev prints, and what it does when the network, a hash or a test fails: run.sh. Scripts replace curl and npm.
set -eu
cd "$(dirname "$0")/../../.."
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
fail() {
  echo "FAILED: $*"
  exit 1
}

# --- ./dev help ---
[ "$(./dev help | wc -l)" -le 14 ] || fail "./dev help has more than 14 lines"
for name in $(sed -n '/^case $command in/,/^esac/p' dev | grep -o '^  [a-z |]*)' | tr -d '|)'); do
  ./dev help | grep -qw "$name" || fail "./dev help does not name '$name'"
done
for program in bench/*.cpp; do
  name=$(basename "$program" .cpp)
  [ "$name" = python_calls ] || ./dev help bench | grep -q "^$name " || fail "./dev help bench does not name '$name'"
done
if output=$(./dev nonsense 2>&1); then fail "an unknown command succeeds"; fi
case $output in *"there is no command 'nonsense'"*) ;; *) fail "an unknown command gives: $output" ;; esac

# --- the lines of ./dev test and ./dev build ---
eval "$(sed -n '/^not_tested()/,/^}/p; /^show_tests()/,/^}/p; /^show_progress()/,/^}/p' dev)"
cat >"$folder/LastTest.log" <<'END'
1/4 Testing: browser
1/4 Test: browser
Output:
skipped: there is no browser; type: apt-get install chromium
2/4 Test: unit_data.A.B
../tests/unit/data/a_test.cpp:7: Skipped
no DuckDB; type: ./dev duckdb

3/4 Test: unit_data.A.C
../tests/unit/data/a_test.cpp:9: Skipped
no DuckDB; type: ./dev duckdb

4/4 Test: good
fine
END
output=$(not_tested "$folder/LastTest.log")
wanted="not tested here: browser (there is no browser; type: apt-get install chromium); 2 tests (no DuckDB; type: ./dev duckdb)"
[ "$output" = "$wanted" ] || fail "the output is: $output"
echo "4/4 Test: good" >"$folder/good.log"
[ -z "$(not_tested "$folder/good.log")" ] || fail "it names tests although none was skipped"

log=$folder/log
dots=$(printf '%0300d' 0 | tr 0 .)
output=$(printf '1/2 Test #1: a %s   Passed    0.01 sec\n2/2 Test #2: b %s***Failed    0.01 sec\n50%% tests passed, 1 tests failed out of 2\n' "$dots" "$dots" | show_tests 2>/dev/null)
[ "$output" = "2/2 Test #2: b ***Failed    0.01 sec
50% tests passed, 1 tests failed out of 2" ] || fail "the output is: $output"

output=$(for i in $(seq 40); do echo "[$i/40] Building"; done | show_progress 2>&1)
[ "$(echo "$output" | wc -l)" = 10 ] || fail "the progress has not ten lines: $output"

# --- ./dev duckdb, with a made-up release ---
mkdir -p "$folder/bin" "$folder/tree/cmake" "$folder/zip" "$folder/npm/package/src/duckdb/src/include"
cp dev "$folder/tree"
echo library | tee "$folder/zip/libduckdb.so" >"$folder/npm/package/libduckdb.so"
echo header | tee "$folder/zip/duckdb.h" >"$folder/npm/package/src/duckdb/src/include/duckdb.h"
echo licence >"$folder/npm/package/LICENSE"
for file in libduckdb.so duckdb.h; do
  sum=$(sha256sum "$folder/zip/$file" | cut -d ' ' -f 1)
  for machine in x86_64 aarch64; do echo "$sum  $file 1.4.4 $machine"; done
done >"$folder/tree/cmake/duckdb.sha256"
cd "$folder"

unreachable='echo "curl: (6) Could not resolve host" >&2; exit 6'
release="while [ \"\$1\" != -o ]; do shift; done; cp $folder/release.zip \"\$2\""
packages="while [ \"\$1\" != --pack-destination ]; do shift; done; cp $folder/duckdb-node-bindings.tgz $folder/duckdb-1.4.4.tgz \"\$2\""
no_packages='echo "npm: no connection" >&2; exit 1'
# dev_duckdb CURL NPM: runs ./dev duckdb in a separate tree, with these scripts as curl and npm, and sets $output.
dev_duckdb() {
  printf '#!/bin/sh\n%s\n' "$1" >bin/curl
  printf '#!/bin/sh\n%s\n' "$2" >bin/npm
  chmod +x bin/curl bin/npm
  (cd zip && cmake -E tar cf ../release.zip --format=zip libduckdb.so duckdb.h)
  tar -czf duckdb-node-bindings.tgz -C npm package/libduckdb.so package/LICENSE
  tar -czf duckdb-1.4.4.tgz -C npm package/src
  rm -rf tree/build
  output=$(cd tree && PATH="$folder/bin:$PATH" ./dev duckdb 2>&1)
}
expect() { case $output in *"$1"*) ;; *) fail "the output has no '$1': $output" ;; esac; }

dev_duckdb "$release" "$no_packages" || fail "the release was refused: $output"
[ -f tree/build/duckdb/duckdb.h ] || fail "duckdb.h was not unpacked"
case $output in *npm*) fail "npm was called although the release was downloaded" ;; esac

dev_duckdb "$unreachable" "$packages" || fail "the packages were refused: $output"
expect "the release cannot be used: it cannot be reached (curl: (6) Could not resolve host)"

echo >>zip/libduckdb.so
dev_duckdb "$release" "$packages" || fail "the packages were refused: $output"
expect "the release cannot be used: its libduckdb.so has the SHA-256"

echo >>npm/package/src/duckdb/src/include/duckdb.h
if dev_duckdb "$unreachable" "$packages"; then fail "a header with another hash was kept"; fi
expect "the download is not DuckDB 1.4.4: its duckdb.h has the SHA-256"
! [ -e tree/build/duckdb ] || fail "files with a wrong hash were kept"

if dev_duckdb "$unreachable" "$no_packages"; then fail "./dev duckdb succeeds without a download"; fi
expect "npm: no connection"
echo fine
