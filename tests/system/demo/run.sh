#!/bin/sh
# Tests the demo's study from the data to the report: run.sh BUILD. Skipped without DuckDB.
set -eu
build=$(cd "$1" && pwd)
source=$(pwd)
sotto=$build/bin/sotto
[ -f "$build/duckdb/libduckdb.so" ] || {
  echo "skipped: there is no DuckDB; type: ./dev duckdb"
  exit 77
}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
fail() {
  echo "FAILED: $*"
  exit 1
}

# the data are identical on every machine
"$build/bin/demo_people" >visits.csv
[ "$(sha256sum <visits.csv | cut -d ' ' -f 1)" = "$(cat "$source/examples/demo/visits.sha256")" ] || fail "the data have another hash than visits.sha256"

mkdir catalogue
cp "$source/examples/demo/study.toml" .
cp "$source/examples/demo/visits.data.toml" catalogue
"$sotto" data ledger visits --catalogue catalogue --relation add-remove --epsilon 1.2 --delta 1e-9 --quiet >/dev/null

# the curator can check the data without a charge
"$sotto" data check visits --catalogue catalogue >checked 2>/dev/null || fail "the data cannot be checked"
grep -q '100000' checked || fail "$(cat checked)"

# a report in a missing folder is refused before the charge
"$sotto" run study.toml --catalogue catalogue --report nowhere/report.html >out 2>err && fail "a report was written to a folder that does not exist"
grep -q 'no folder nowhere' err || fail "$(cat err)"
"$sotto" ledger show catalogue/visits.sotto --format csv | tail -n +2 | grep -q . && fail "the refused run was charged"

# if the report cannot be written after the run, the answer is stored, and the error says how to get
# it
mkdir folder.html
"$sotto" run study.toml --catalogue catalogue --report folder.html >first 2>err && fail "a folder was overwritten"
grep -q 'the answer is charged and stored' err || fail "$(cat err)"
request=$(sed -n 's/.*--request \([0-9a-f]*\) --report FILE$/\1/p' err)
"$sotto" run study.toml --catalogue catalogue --request "$request" --report report.html >second 2>/dev/null || fail "the stored answer cannot be read"
cmp first second || fail "the stored answer differs"
[ -s report.html ] || fail "no report"

# a repeated run is free, and its report is identical
"$sotto" run study.toml --catalogue catalogue --report again.html --quiet >third
cmp first third && cmp report.html again.html || fail "a repeated run has another output"
[ "$("$sotto" ledger show catalogue/visits.sotto --format csv | tail -n +2 | wc -l)" = 1 ] || fail "a repeated run was charged"

# a new run needs a new charge, which the remaining budget does not cover
status=0
"$sotto" run study.toml --catalogue catalogue --new --quiet >/dev/null 2>err || status=$?
[ $status = 3 ] || fail "--new exits with $status"

# More than 20 of 59 intervals at 95 % miss once in 10^12 runs, apart from the choice of each
# person's rows.
"$sotto" run study.toml --catalogue catalogue --public --format json >public.json 2>/dev/null
python3 - <<'END' || fail "the intervals miss the numbers without noise"
import json, sys
estimates = [e for a in json.load(open("public.json"))["answers"] for e in a["estimates"]]
missed = sum(not e["low"] <= e["without_noise"] <= e["high"] for e in estimates)
print(f"{missed} of {len(estimates)} intervals miss")
# At most two visits of a person count in each quarter. The data have more, which the answer states.
limited = [e for e in estimates if e.get("keys") == ["4", "secondary"]][0]
assert 9000 < limited["without_noise"] < 10000 and 10600 < limited["in_the_data"] < 10700, limited
sys.exit(missed > 20 or len(estimates) < 50)
END
# the report has every kind of answer, and no exact numbers
for part in 'People by region' 'class="big"' 'class="histogram"' 'median' 'vaccination'; do
  grep -q "$part" report.html || fail "no $part in the report"
done
grep -q 'class="exact"' report.html && fail "the report has exact numbers without --public"
grep -q astronaut report.html && fail "a rare key is in the report"
exit 0
