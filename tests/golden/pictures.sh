#!/bin/sh
# The pictures in docs/pictures are what `sotto figures` draws now: pictures.sh BUILD. Not so what was measured by a
# benchmark, or found by an attack, whose randomness cannot be seeded.
set -eu
build=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$build/bin/sotto" figures --quiet --out "$folder" >/dev/null
wrong=0
for picture in docs/pictures/*.svg; do
  case $picture in
    docs/pictures/scaling.svg) continue ;;   # ./dev bench scaling
    docs/pictures/excess-risk.svg) continue ;;  # ./dev bench learning_excess
    docs/pictures/step-by-*.svg) continue ;;  # ./dev bench learning
    docs/pictures/attack-*.svg) continue ;;  # sotto attack
    docs/pictures/trust-models.svg) continue ;;  # sotto figures, with noise
    docs/pictures/clipping.svg) continue ;;  # sotto figures, with noise
  esac
  if ! cmp -s "$picture" "$folder/$(basename "$picture")"; then
    echo "$picture is not what sotto figures draws: copy it anew"
    wrong=1
  fi
done
exit $wrong
