#!/bin/sh
# The module's tests: run.sh BUILD [fast|slow] [PYTHON]. On the module in the build tree, unless an interpreter that has it installed is named.
set -eu
cd -P "$(dirname "$0")/../../.."
build=$1
kind=${2:-fast}
if [ $# -ge 3 ]; then
  python=$3
else
  python=$build/python-venv/bin/python
  [ -x "$python" ] || { echo "skipped: there is no virtual environment, since PyPI's packages cannot be had"; exit 77; }
  set -- "$build"/python/sotto/_sotto.*so
  [ -f "$1" ] || { echo "skipped: the Python module is not built"; exit 77; }
  export PYTHONPATH="$build/python"
fi
export SOTTO_COMMAND="$build/bin/sotto" SOTTO_PEERS="$build" PYTHONDONTWRITEBYTECODE=1
only="not slow"
if [ "$kind" = slow ]; then
  only="slow or not slow"
  for peers in "$build"/python-peers-venv/lib/python3*/site-packages; do
    [ ! -d "$peers" ] || export PYTHONPATH="${PYTHONPATH:+$PYTHONPATH:}$peers"
  done
fi
exec "$python" -m pytest -q -rs -m "$only" bindings/python/tests
