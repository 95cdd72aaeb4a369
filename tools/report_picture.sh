#!/bin/sh
# docs/pictures/report.png, the top of the demo's report as chromium shows it: report_picture.sh REPORT. The noise is new in each report.
set -eu
report=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
cd "$(dirname "$0")/.."
profile=$(mktemp -d)
trap 'rm -rf "$profile"' EXIT
chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --user-data-dir="$profile" --window-size=1000,1010 \
  --screenshot=docs/pictures/report.png "file://$report"
