#!/bin/sh
# The demo's study from data to report: run.sh BUILD. Skipped where there is no DuckDB.
set -eu
build=$(cd "$1" && pwd)
source=$(pwd)
sotto=$build/bin/sotto
[ -f "$build/duckdb/libduckdb.so" ] || {
  echo "skipped: there is no DuckDB; type ./dev duckdb"
  exit 77
}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
fail() {
  echo "wrong: $*"
  exit 1
}

# the data are the same on every machine
"$build/bin/demo_people" >visits.csv
[ "$(sha256sum <visits.csv | cut -d ' ' -f 1)" = "$(cat "$source/examples/demo/visits.sha256")" ] || fail "the data are others than those of visits.sha256"

mkdir catalogue
cp "$source/examples/demo/study.toml" .
cp "$source/examples/demo/visits.data.toml" catalogue
"$sotto" data ledger visits --catalogue catalogue --relation add-remove --epsilon 1.2 --delta 1e-9 --quiet >/dev/null

# the curator sees what is wrong with the data, and nothing is charged for that
"$sotto" data check visits --catalogue catalogue >checked 2>/dev/null || fail "the data cannot be checked"
grep -q '100000' checked || fail "$(cat checked)"

# a report that has no place costs nothing
"$sotto" run study.toml --catalogue catalogue --report nowhere/report.html >out 2>err && fail "a report was written to a folder that does not exist"
grep -q 'no folder nowhere' err || fail "$(cat err)"
"$sotto" ledger show catalogue/visits.sotto --format csv | tail -n +2 | grep -q . && fail "it was charged for a report without a place"

# one that cannot be written after all leaves the answer kept, and says how to get it
mkdir taken.html
"$sotto" run study.toml --catalogue catalogue --report taken.html >first 2>err && fail "a folder was overwritten"
grep -q 'the answer is charged and stored' err || fail "$(cat err)"
request=$(sed -n 's/.*--request \([0-9a-f]*\) --report FILE$/\1/p' err)
"$sotto" run study.toml --catalogue catalogue --request "$request" --report report.html >second 2>/dev/null || fail "the kept answer cannot be got"
cmp first second || fail "the kept answer is another"
[ -s report.html ] || fail "no report"

# repeated, it is free and the report is the same to the byte
"$sotto" run study.toml --catalogue catalogue --report again.html --quiet >third
cmp first third && cmp report.html again.html || fail "a repeated run says something else"
[ "$("$sotto" ledger show catalogue/visits.sotto --format csv | tail -n +2 | wc -l)" = 1 ] || fail "a repeated run was charged"

# anew it needs a charge of its own, for which too little is left
status=0
"$sotto" run study.toml --catalogue catalogue --new --quiet >/dev/null 2>err || status=$?
[ $status = 3 ] || fail "--new exits with $status"

# of 59 intervals at 95 % more than 20 miss once in 10^12 runs, the choice of each person's rows aside
"$sotto" run study.toml --catalogue catalogue --public --format json >public.json 2>/dev/null
python3 - <<'END' || fail "the intervals miss the numbers without noise"
import json, sys
found = [e for a in json.load(open("public.json"))["answers"] for e in a["estimates"]]
missed = sum(not e["low"] <= e["without_noise"] <= e["high"] for e in found)
print(f"{missed} of {len(found)} intervals miss")
# at most two visits a quarter count: what is in the data is more, and said to be
cut = [e for e in found if e.get("keys") == ["4", "secondary"]][0]
assert 9000 < cut["without_noise"] < 10000 and 10600 < cut["in_the_data"] < 10700, cut
sys.exit(missed > 20 or len(found) < 50)
END
# the kinds of answers, none of them exact, are all there
for part in 'People by region' 'class="big"' 'class="histogram"' 'median' 'vaccination'; do
  grep -q "$part" report.html || fail "no $part in the report"
done
grep -q 'class="exact"' report.html && fail "exact numbers in a report that was not asked for them"
grep -q astronaut report.html && fail "a rare key is in the report"
exit 0
