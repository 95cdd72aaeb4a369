#!/bin/sh
# Runs the fuzzers for SECONDS in all, from a new seed: run.sh SECONDS [FUZZER…]. All in build/fuzz/bin unless named; exit 77 if there is none.
# What they learn is kept in build/fuzz/corpus. An input that breaks one goes to tests/fuzz/seeds, which the fast tests replay from then on.
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
    for input in build/fuzz/broken/"$name"-crash-* build/fuzz/broken/"$name"-timeout-* build/fuzz/broken/"$name"-oom-*; do
      [ -e "$input" ] || continue
      seed=tests/fuzz/seeds/$name/found-$(sha256sum "$input" | cut -c 1-12)
      mv "$input" "$seed"
      echo "kept for the fast tests: $seed"
    done
    echo "FAILED: $name; all it said is in $log"
    exit 1
  fi
  sed -n 's/^stat::number_of_executed_units: */  inputs tried: /p' "$log"
done
