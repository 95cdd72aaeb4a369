#!/bin/sh
# Runs the fuzzers for SECONDS in all: run.sh SECONDS [FUZZER…]. All in build/fuzz/bin unless named; exit 77 if there is none.
# What they learn is kept in build/fuzz/corpus, an input that breaks one in build/fuzz/broken.
set -eu
seconds=$1
shift
cd "$(dirname "$0")/../.."
[ $# != 0 ] || set -- build/fuzz/bin/fuzz_*
if ! [ -x "$1" ]; then
  echo "SKIPPED: no $1; build it with ./dev fuzz"
  exit 77
fi
share=$((seconds / $#))
[ "$share" -gt 0 ] || share=1
mkdir -p build/fuzz/broken
for fuzzer; do
  name=${fuzzer##*/fuzz_}
  corpus=build/fuzz/corpus/$name
  log=build/fuzz/$name.log
  # what the accountant has learned takes minutes to read back: a short run starts from its seeds
  if [ "$name" = accountant ] && [ "$share" -lt 60 ]; then corpus=build/fuzz/corpus/short && rm -rf "$corpus"; fi
  mkdir -p "$corpus"
  words=tests/fuzz/$name.dict
  [ -e "$words" ] || words=tests/fuzz/plan.dict
  echo "fuzzing $name for $share s"
  if ! "$fuzzer" -max_total_time="$share" -timeout=100 -max_len=2048 -print_final_stats=1 -dict="$words" \
    -artifact_prefix="build/fuzz/broken/$name-" "$corpus" "tests/fuzz/seeds/$name" >"$log" 2>&1; then
    tail -n 40 "$log"
    echo "FAILED: $name; its input is in build/fuzz/broken, all it said in $log"
    exit 1
  fi
  sed -n 's/^stat::number_of_executed_units: */  inputs tried: /p' "$log"
done
