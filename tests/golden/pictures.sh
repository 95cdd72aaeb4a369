#!/bin/sh
# The pictures in docs/pictures are what `sotto figures` draws now: pictures.sh BUILD. Not so what was measured by a benchmark.
set -eu
build=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$build/bin/sotto" figures --quiet --out "$folder" >/dev/null
wrong=0
for picture in docs/pictures/*.svg; do
  [ "$picture" = docs/pictures/scaling.svg ] && continue # ./dev bench scaling
  if ! cmp -s "$picture" "$folder/$(basename "$picture")"; then
    echo "$picture is not what sotto figures draws: copy it anew"
    wrong=1
  fi
done
exit $wrong
