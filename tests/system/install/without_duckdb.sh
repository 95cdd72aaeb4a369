#!/bin/sh
# Tests a build without DuckDB's header: without_duckdb.sh. It must link, and refuse data files with
# the command to type.
set -eu
cd "$(dirname "$0")/../../.."
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cmake -S . -B "$scratch" -G Ninja -DCMAKE_CXX_COMPILER_LAUNCHER=ccache -DCMAKE_CXX_FLAGS=-O0 -DSOTTO_TESTS=OFF -DSOTTO_DUCKDB_INCLUDE= >"$scratch/log" 2>&1 &&
  cmake --build "$scratch" --target sotto_command >>"$scratch/log" 2>&1 || {
  tail -n 40 "$scratch/log"
  exit 1
}
mkdir "$scratch/work"
cd "$scratch/work"
printf 'who,age\n1,30\n' >people.csv
../bin/sotto data init people.csv --catalogue . --unit who --epsilon 1 --delta 1e-6 --quiet >log 2>&1 || output=$(cat log)
[ -n "${output:-}" ] || { output=$(../bin/sotto data check people --catalogue . 2>&1) && exit 1; }
case $output in *"built without it; type: ./dev duckdb && ./dev build"*) echo fine ;; *) echo "FAILED: the output is: $output" && exit 1 ;; esac
