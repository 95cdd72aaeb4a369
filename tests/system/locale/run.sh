#!/bin/sh
# The unit tests in a process whose locale has a decimal comma and points between thousands, as Python, R and desktop programs may set it.
# usage: run.sh BUILD [fast]     `fast`: those that read or write numbers as text
set -eu
build=$1
which=${2:-all}
command -v localedef >/dev/null && [ -e /usr/share/i18n/locales/de_DE ] || {
  echo "no German locale to make (Debian: locales)"
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
  # a server and thousands of forgeries say nothing more of numbers as text
  # tests of the others write and read streams of their own
  if [ "$which" = fast ]; then export SOTTO_TEST_STREAMS=1; fi
  if [ "$which" = fast ]; then filter="$filter:*/Database:*Database.*:*BrokenChain.Gives*:*BrokenChain.Without*:Crash.*:PowerCut.*:Forged*"; fi
  "$test" --gtest_brief=1 --gtest_filter="$filter" || failed=1
done
exit $failed
