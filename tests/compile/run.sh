#!/bin/sh
# What must not compile against the public headers, and beside it what must: run.sh COMPILER
#
# A file in fails/ names its error on its second line, `// error: PATTERN` (extended, g++'s words or clang's, with plain quotes). The compiler's first
# error must be that one, in that file: a header that is gone, or a name that changed, is another error and fails the test.
set -u
cd "$(dirname "$0")" || exit 1
compiler=${1:-c++}
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
failed=0

compile() { LC_ALL=C "$compiler" -std=c++20 -fsyntax-only -I ../../include -I ../../src "$1" 2>"$scratch/said"; }

# refused FILE: it does not compile, and for the reason that it names; else says what happened instead.
refused() {
  if compile "$1"; then
    echo "$1 compiles, and must not: $(head -n 1 "$1")"
    return 1
  fi
  expected=$(sed -n '2s|^// error: ||p' "$1")
  first=$(grep -m 1 'error: ' "$scratch/said" | sed "s/[‘’]/'/g")
  [ -n "$expected" ] && echo "$first" | grep -qE "^$1:[0-9:]+ error: ($expected)" && return 0
  echo "$1 does not compile, but for another reason: $first"
  return 1
}

for file in works/*.cpp; do
  compile "$file" || { echo "$file does not compile:"; cat "$scratch/said"; failed=1; }
done
for file in fails/*.cpp; do
  refused "$file" || failed=1
  # the test can fail: the same file with its header, or its error, gone is not what was expected
  sed "s|\"sotto/|\"gone/|; s|\"course/|\"gone/|" "$file" >"$scratch/no_header.cpp"
  sed '2s|.*|// error: something else|' "$file" >"$scratch/other_error.cpp"
  for broken in "$scratch/no_header.cpp" "$scratch/other_error.cpp"; do
    if refused "$broken" >/dev/null; then
      echo "$file: $(basename "$broken" .cpp) is taken for the expected error"
      failed=1
    fi
  done
done
exit $failed
