#!/bin/sh
# What must not compile against the public headers, and beside it what must: run.sh COMPILER
set -u
cd "$(dirname "$0")" || exit 1
compiler=${1:-c++}
failed=0
compile() { "$compiler" -std=c++20 -fsyntax-only -I ../../include "$1" 2>"${TMPDIR:-/tmp}/sotto-compile.$$"; }
for file in works/*.cpp; do
  compile "$file" || { echo "$file does not compile:"; cat "${TMPDIR:-/tmp}/sotto-compile.$$"; failed=1; }
done
for file in fails/*.cpp; do
  if compile "$file"; then
    echo "$file compiles, and must not: $(head -n 1 "$file")"
    failed=1
  fi
done
rm -f "${TMPDIR:-/tmp}/sotto-compile.$$"
exit $failed
