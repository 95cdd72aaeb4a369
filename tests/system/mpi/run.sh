#!/bin/sh
# Tests that training on 1, 2 and 4 ranks gives identical bits, for each kind of sampling and with
# noise: run.sh BUILD
set -eu
program=$1/bin/train_mpi_fixed
if ! [ -x "$program" ] || ! command -v mpirun >/dev/null; then
  echo "skipped: there is no MPI; type: apt-get install libopenmpi-dev openmpi-bin"
  exit 77
fi
export OMPI_MCA_plm_rsh_agent=  # runs all ranks on this machine
ranks() {
  n=$1
  shift
  timeout 120 mpirun --oversubscribe --allow-run-as-root -x RC_PARAMS=seed=1 -n "$n" "$program" "$@"
}
for sampling in poisson fixed full; do
  one=$(ranks 1 $sampling 30000 20)
  bits=$(echo "$one" | grep '^bits ')
  echo "$sampling: $bits"
  for n in 2 4; do
    output=$(ranks $n $sampling 30000 20 2)
    [ "$(echo "$output" | grep '^bits ')" = "$bits" ] || { echo "FAILED: $n ranks, $sampling: $output"; exit 1; }
    echo "$output" | grep -q "^$n ranks" || { echo "FAILED: not $n ranks: $output"; exit 1; }
  done
  case $(echo "$one" | grep '^accuracy ') in "accuracy 0.9"* | "accuracy 1"*) ;; *) echo "FAILED: nothing was learned: $one"; exit 1 ;; esac
  # without fixed random bytes the noise differs
  other=$(timeout 120 mpirun --oversubscribe --allow-run-as-root -n 2 "$program" $sampling 30000 20 | grep '^bits ')
  [ "$other" != "$bits" ] || { echo "FAILED: two runs have equal noise"; exit 1; }
done
