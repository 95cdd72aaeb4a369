#!/bin/sh
# Tests the demo's report in a browser: browser.sh BUILD. It must load without errors, have all
# sections, and fit a desktop and a telephone. Skipped without chromium or DuckDB.
set -eu
build=$(cd "$1" && pwd)
source=$(pwd)
skip() {
  echo "skipped: $*"
  exit 77
}
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome) || skip "there is no browser; type: apt-get install chromium"
[ -f "$build/duckdb/libduckdb.so" ] || skip "there is no DuckDB; type: ./dev duckdb"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
"$build/bin/demo_people" >visits.csv
mkdir catalogue
cp "$source/examples/demo/study.toml" .
cp "$source/examples/demo/visits.data.toml" catalogue
"$build/bin/sotto" data ledger visits --catalogue catalogue --epsilon 1.2 --delta 1e-9 --quiet >/dev/null
"$build/bin/sotto" run study.toml --catalogue catalogue --public --report report.html --quiet >/dev/null

# a page with the report in two frames measures it at two widths
cat >measure.html <<'END'
<!doctype html><body><iframe src="report.html" style="width:1100px"></iframe><iframe src="report.html" style="width:390px"></iframe><script>
onload = () => {
  let text = "";
  for (const frame of document.querySelectorAll("iframe")) {
    const page = frame.contentDocument;
    const root = page.documentElement;
    text += ` width ${root.clientWidth} needs ${root.scrollWidth} sections ${page.querySelectorAll("section").length}`;
  }
  document.body.textContent = "measured" + text;
};
</script></body>
END
timeout 120 "$browser" --headless --no-sandbox --disable-gpu --hide-scrollbars --user-data-dir="$folder/profile" --allow-file-access-from-files \
  --enable-logging=stderr --v=0 --virtual-time-budget=10000 --dump-dom "file://$folder/measure.html" >dom 2>log || skip "chromium does not start"
wrong=0
if grep CONSOLE log; then wrong=1; fi
grep -o 'measured[^<]*' dom || wrong=1
for want in 'width 1100 needs 1100 sections 8' 'width 390 needs 390 sections 8'; do
  grep -q "$want" dom || { echo "FAILED: not $want"; wrong=1; }
done
exit $wrong
