#!/bin/sh
# Runs the unit tests in a locale with a decimal comma, which Python, R and desktop programs may
# set: run.sh BUILD [fast]. With `fast` it runs only those tests that read or write numbers as text.
set -eu
build=$1
which=${2:-all}
command -v localedef >/dev/null && [ -e /usr/share/i18n/locales/de_DE ] || {
  echo "skipped: the German locale cannot be generated; type: apt-get install locales"
  exit 77
}
folder=$build/locale
mkdir -p "$folder"
[ -e "$folder/de_DE.UTF-8/LC_NUMERIC" ] || localedef -i de_DE -f UTF-8 "$folder/de_DE.UTF-8"
LOCPATH=$(cd "$folder" && pwd)
export LOCPATH SOTTO_TEST_LOCALE=de_DE.UTF-8 RC_PARAMS=seed=1

failed=0
for test in "$build"/bin/unit_*; do
  name=$(basename "$test")
  case $which:$name in
    fast:unit_core | fast:unit_plan | fast:unit_ledger | fast:unit_report | fast:unit_cli | all:*) ;;
    *) continue ;;
  esac
  filter='-Slow*:*/Slow*'
  # The fast run leaves out tests with a database server and with thousands of forged ledgers, which
  # add nothing about numbers as text. SOTTO_TEST_STREAMS also sets the locale of C++ streams; other
  # tests use such streams themselves.
  if [ "$which" = fast ]; then export SOTTO_TEST_STREAMS=1; fi
  if [ "$which" = fast ]; then filter="$filter:*/Database:*Database.*:*BrokenChain.Gives*:*BrokenChain.Without*:Crash.*:PowerCut.*:Forged*"; fi
  "$test" --gtest_brief=1 --gtest_filter="$filter" || failed=1
done
exit $failed
