#!/bin/sh
# Tests a study whose model is trained on 1, 2 and 4 ranks: study.sh BUILD [killed]. The parameters
# must be identical, under one charge. With `killed` it also tests that a training continues after a
# rank was killed.
set -eu
build=$(cd "$1" && pwd)
sotto=$build/bin/sotto
if ! [ -x "$build/bin/run_mpi_fixed" ] || ! command -v mpirun >/dev/null; then
  echo "skipped: there is no MPI; type: apt-get install libopenmpi-dev openmpi-bin"
  exit 77
fi
[ -f "$build/duckdb/libduckdb.so" ] || {
  echo "skipped: there is no DuckDB; type: ./dev duckdb"
  exit 77
}
export OMPI_MCA_plm_rsh_agent=  # runs all ranks on this machine
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
fail() {
  echo "FAILED: $*"
  exit 1
}
awk 'BEGIN {
  print "a,b,ill"
  for (i = 0; i < 20000; i++) { a = i * 7919 % 100; b = i * 104729 % 50; print a "," b "," (a + b > 75 ? "true" : "false") }
}' >people.csv
mkdir catalogue
cat >catalogue/people.data.toml <<'END'
name = "people"
version = "1"
source = "../people.csv"
records = "lines"
unit = "row"
public_rows = 20000
ledger = "people.sotto"
[columns.a]
type = "integer"
null = "drop"
bounds = [0, 100]
[columns.b]
type = "integer"
null = "drop"
bounds = [0, 50]
[columns.ill]
type = "boolean"
null = "drop"
END
study() {
  cat <<END
data = "people"
title = "$1"
[budget]
epsilon = 1
delta = 1e-6
[[query]]
name = "n"
ask = "count"
share = 0.1
[[train]]
name = "m"
model = "logistic"
target = "ill"
batch = 2000
test = 0.2
steps = $2
END
}
study "Ranks" 60 >study.toml
"$sotto" data ledger people --catalogue catalogue --relation add-remove --epsilon 8 --delta 1e-5 --quiet >/dev/null
cp catalogue/people.sotto first.sotto
ranks() {
  n=$1
  shift
  timeout 300 mpirun --oversubscribe --allow-run-as-root -n "$n" "$@"
}
entries() { "$sotto" ledger show catalogue/people.sotto --format csv | tail -n +2 | wc -l; }

for n in 1 2 4; do
  cp first.sotto catalogue/people.sotto  # an identical ledger, so that the request and its random bytes are identical
  RC_PARAMS=seed=1 ranks $n "$build/bin/run_mpi_fixed" study.toml --catalogue catalogue --threads 1 --models models$n >out$n 2>err$n ||
    fail "$n ranks: $(cat err$n)"
  [ "$(entries)" = 1 ] || fail "$n ranks were charged $(entries) times"
  "$sotto" ledger verify catalogue/people.sotto >/dev/null || fail "the ledger of $n ranks is not sound"
  # compares the parameters; the time and the signature differ in each run
  sed 's/.*"parameters":\(\[[^]]*\]\).*/\1/' models$n/m.model.json >bits$n
  grep -q '\[.*,.*\]' bits$n || fail "no parameters: $(cat models$n/m.model.json)"
  cmp -s bits1 bits$n || fail "$n ranks have other bits: $(cat bits1 bits$n)"
done
echo "1, 2 and 4 ranks: $(cat bits1)"
ls catalogue | grep -q checkpoint && fail "checkpoints remain"

# A repeated run returns the stored answer. An error on rank 0 ends all ranks with its exit code.
ranks 2 "$build/bin/sotto-run-mpi" study.toml --catalogue catalogue 2>err >again || fail "$(cat err)"
grep -q 'answered before' err || fail "$(cat err)"
sed 's/epsilon = 1/epsilon = 100/' study.toml >costly.toml
status=0
ranks 2 "$build/bin/sotto-run-mpi" costly.toml --catalogue catalogue >/dev/null 2>err || status=$?
[ "$status" = 3 ] || fail "a refused budget ended with $status: $(cat err)"

[ "${2:-}" = killed ] || exit 0

# A rank that is killed during training ends all ranks. The command then continues under the first
# charge, on another number of ranks.
study "Killed" 400000 >long.toml
before=$(entries)
mpirun --oversubscribe --allow-run-as-root -n 2 "$build/bin/sotto-run-mpi" long.toml --catalogue catalogue --threads 1 >/dev/null 2>err &
training=$!
seconds=0
marks() { "$sotto" ledger export catalogue/people.sotto 2>/dev/null | grep -c '"kind":"checkpoint/'; }
before_marks=$(marks)
until [ "$(marks)" -ge $((before_marks + 2)) ]; do  # the first checkpoint is of the count, the second has training steps
  sleep 1
  seconds=$((seconds + 1))
  [ $seconds -lt 60 ] || fail "no checkpoint: $(cat err)"
done
killed=
for process in $(ps -o pid= --ppid $training); do
  if tr '\0' '\n' <"/proc/$process/environ" | grep -q '^OMPI_COMM_WORLD_RANK=1$'; then killed=$process; fi
done
[ -n "$killed" ] || fail "there is no rank 1"
kill -9 "$killed"
if wait $training; then fail "a training succeeded without one of its ranks"; fi
[ "$(entries)" = $((before + 1)) ] || fail "charged $(entries) times"
before_marks=$(marks)
ls catalogue | grep -q checkpoint || fail "there is no checkpoint to continue from"
timeout 15 mpirun --oversubscribe --allow-run-as-root -n 4 "$build/bin/sotto-run-mpi" long.toml --catalogue catalogue --threads 1 >/dev/null 2>err || true
[ "$(marks)" -gt "$before_marks" ] || fail "the training did not continue: $(cat err)"
[ "$(entries)" = $((before + 1)) ] || fail "charged again: $(entries)"
"$sotto" ledger verify catalogue/people.sotto >/dev/null || fail "the ledger is not sound"
echo "a killed rank: the training continues under one charge"
