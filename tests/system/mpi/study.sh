#!/bin/sh
# A study whose model is trained on 1, 2 and 4 ranks: the same bits under one charge. With `killed`: what a rank that is killed leaves.
# study.sh BUILD [killed]
set -eu
build=$(cd "$1" && pwd)
sotto=$build/bin/sotto
if ! [ -x "$build/bin/run_mpi_fixed" ] || ! command -v mpirun >/dev/null; then
  echo "skipped: there is no MPI; type: apt-get install libopenmpi-dev openmpi-bin"
  exit 77
fi
[ -f "$build/duckdb/libduckdb.so" ] || {
  echo "skipped: there is no DuckDB; type ./dev duckdb"
  exit 77
}
export OMPI_MCA_plm_rsh_agent=  # no other machines
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
  cp first.sotto catalogue/people.sotto  # the same ledger, so that it is the same request
  RC_PARAMS=seed=1 ranks $n "$build/bin/run_mpi_fixed" study.toml --catalogue catalogue --threads 1 --models models$n >out$n 2>err$n ||
    fail "$n ranks: $(cat err$n)"
  [ "$(entries)" = 1 ] || fail "$n ranks were charged $(entries) times"
  "$sotto" ledger verify catalogue/people.sotto >/dev/null || fail "the ledger of $n ranks is not sound"
  # parameters and the private test; the time and the signature are of the run
  sed 's/.*"parameters":\(\[[^]]*\]\).*/\1/' models$n/m.model.json >bits$n
  grep -q '\[.*,.*\]' bits$n || fail "no parameters: $(cat models$n/m.model.json)"
  cmp -s bits1 bits$n || fail "$n ranks have other bits: $(cat bits1 bits$n)"
done
echo "1, 2 and 4 ranks: $(cat bits1)"
ls catalogue | grep -q checkpoint && fail "checkpoints were left"

# asked again it is the kept answer; and what rank 0 refuses ends all ranks, with its exit code
ranks 2 "$build/bin/sotto-run-mpi" study.toml --catalogue catalogue 2>err >again || fail "$(cat err)"
grep -q 'answered before' err || fail "$(cat err)"
sed 's/epsilon = 1/epsilon = 100/' study.toml >dear.toml
status=0
ranks 2 "$build/bin/sotto-run-mpi" dear.toml --catalogue catalogue >/dev/null 2>err || status=$?
[ "$status" = 3 ] || fail "a refused budget ended with $status: $(cat err)"

[ "${2:-}" = killed ] || exit 0

# a rank that is killed while it trains ends all of them; the same command goes on, under the same charge, on another number of ranks
study "Killed" 400000 >long.toml
before=$(entries)
mpirun --oversubscribe --allow-run-as-root -n 2 "$build/bin/sotto-run-mpi" long.toml --catalogue catalogue --threads 1 >/dev/null 2>err &
started=$!
seconds=0
marks() { "$sotto" ledger export catalogue/people.sotto 2>/dev/null | grep -c '"kind":"checkpoint/'; }
had=$(marks)
until [ "$(marks)" -ge $((had + 2)) ]; do  # the first is of the count, the second holds steps
  sleep 1
  seconds=$((seconds + 1))
  [ $seconds -lt 60 ] || fail "no checkpoint: $(cat err)"
done
killed=
for process in $(ps -o pid= --ppid $started); do
  if tr '\0' '\n' <"/proc/$process/environ" | grep -q '^OMPI_COMM_WORLD_RANK=1$'; then killed=$process; fi
done
[ -n "$killed" ] || fail "there is no rank 1"
kill -9 "$killed"
if wait $started; then fail "a training without one of its ranks ended well"; fi
[ "$(entries)" = $((before + 1)) ] || fail "charged $(entries) times"
had=$(marks)
ls catalogue | grep -q checkpoint || fail "there is no checkpoint to go on from"
timeout 15 mpirun --oversubscribe --allow-run-as-root -n 4 "$build/bin/sotto-run-mpi" long.toml --catalogue catalogue --threads 1 >/dev/null 2>err || true
[ "$(marks)" -gt "$had" ] || fail "it did not go on: $(cat err)"
[ "$(entries)" = $((before + 1)) ] || fail "charged again: $(entries)"
"$sotto" ledger verify catalogue/people.sotto >/dev/null || fail "the ledger is not sound"
echo "a killed rank: one charge, and it goes on"
