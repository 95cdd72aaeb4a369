#!/bin/sh
# A guided tour of sotto: demo.sh SOTTO FOLDER. The pictures go to FOLDER.
set -eu
sotto=$1
folder=$2
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
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

tour "What 10,000 steps of private training cost, each on a random 1% of the records: look at how far the methods lie \
apart, and how close together the two sides of the tight one." \
  compare "$plan" --delta 1e-5

tour "Why the best of these numbers holds: look at the theorem that each step names, what it asks for, and what comes \
out." \
  explain "$plan" --delta 1e-5

tour "What that means for one person: look at how few of the records in the data any attacker can find that may be wrong \
about one in a hundred of the others." \
  tradeoff "$plan" --fpr 0.01

rm -f "$folder/budget.sotto"
tour "A budget kept in a file, and a charge to it: look at what is left." \
  ledger create "$folder/budget.sotto" --unit person --relation add-remove --rho 0.5
tour "The charge, on the disk before anything is released." \
  ledger charge "$folder/budget.sotto" 'laplace(2)' --request count-of-visitors

printf '\nThe release itself, exact noise on a public grid: look at the number, and at what it cost.\n\n$ echo 1234 | sotto noise %s\n' "'laplace(2)'"
echo 1234 | "$sotto" noise 'laplace(2)'

tour "Why a budget is needed: look at what the mean of many noisy answers tells, and where the ledger would have stopped it." \
  attack averaging --plot "$folder/averaging.svg"

tour "Does the noise keep its promise? Look at what its outputs give away at least, beside what is claimed at most." \
  audit 'laplace(1)' --trials 200000 --confidence 0.9999

tour "The same in pictures: look at where the curves cross, for there another method becomes the better one." \
  figures --out "$folder"

printf '\nOpen this page in a browser:\n%s\n' "$folder/index.html"
