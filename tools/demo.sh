#!/bin/sh
# A guided tour of sotto: demo.sh SOTTO PEOPLE FOLDER. PEOPLE writes the made-up data; everything goes to FOLDER.
set -eu
absolute() { printf '%s/%s\n' "$(cd "$(dirname "$1")" && pwd)" "$(basename "$1")"; }
sotto=$(absolute "$1")
people=$(absolute "$2")
examples=$(absolute "$(dirname "$0")/../examples/demo")
mkdir -p "$3"
cd "$3"
plan='10000 * poisson(0.01, gaussian(1))'

# tour SENTENCE ARGUMENT…: says what to look at, shows the command as one would type it, runs it.
tour() {
  printf '\n%s\n\n$ sotto' "$1"
  shift
  for argument; do
    case $argument in
      *[!A-Za-z0-9_./=-]*) printf " '%s'" "$argument" ;;
      *) printf ' %s' "$argument" ;;
    esac
  done
  printf '\n'
  "$sotto" "$@"
}

# --- the main job: a study ---

"$people" >visits.csv
rm -rf catalogue report.html
mkdir -p catalogue
cp "$examples/study.toml" study.toml
cp "$examples/visits.data.toml" catalogue/visits.data.toml
printf 'Made-up data, 100,000 visits of 30,000 people: %s\n' "$PWD/visits.csv"
printf 'What they are, by whoever holds them, the curator: %s\n' "$PWD/catalogue/visits.data.toml"
printf 'What is asked of them, and for how much, by the analyst: %s\n' "$PWD/study.toml"

tour "The curator makes a ledger: the budget, whom it protects, and what differs between neighbours are fixed from now on." \
  data ledger visits --catalogue catalogue --relation add-remove --epsilon 1.2 --delta 1e-9

tour "Do the data fit what is said of them? This is for the curator's eyes alone: look at what is missing or outside the bounds." \
  data check visits --catalogue catalogue || {
  echo "If it is DuckDB that is missing, which reads files, type: ./dev duckdb" >&2
  exit 1
}

tour "Before anything is spent or read: look at the noise of each answer, how far it will be from the truth, and the cost." \
  run study.toml --catalogue catalogue --dry-run

tour "The study, charged and run. These data are public, so the exact answers may stand beside the private ones: look at the errors." \
  run study.toml --catalogue catalogue --public --report report.html

printf '\nThe same again: the kept answer comes back, byte for byte, and nothing is charged.\n\n$ sotto run study.toml --catalogue catalogue\n'
"$sotto" run study.toml --catalogue catalogue >again.txt
"$sotto" run study.toml --catalogue catalogue --quiet | cmp - again.txt && echo "the same, and free"

printf '\nAsked anew it needs a charge of its own, which the budget does not cover: look at what is missing, and at the exit code.\n\n$ sotto run study.toml --catalogue catalogue --new\n'
"$sotto" run study.toml --catalogue catalogue --new || echo "exit code $?"

tour "What the budget says now." ledger show catalogue/visits.sotto

# --- what is behind it ---

tour "What 10,000 steps of private training cost, each on a random 1% of the records: look at how far the methods lie apart." \
  compare "$plan" --delta 1e-5

tour "Why a budget is needed: look at what the mean of many noisy answers tells, and where the ledger would have stopped it." \
  attack averaging --plot averaging.svg

tour "Does the noise keep its promise? Look at what its outputs give away at least, beside what is claimed at most." \
  audit 'laplace(1)' --trials 200000 --confidence 0.9999

printf '\nThe report, to open in a browser:\n%s\n' "$PWD/report.html"
