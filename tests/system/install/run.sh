#!/bin/sh
# Installs a build tree into a temporary prefix and uses it as a user does: run.sh [BUILD].
set -eu
cd "$(dirname "$0")/../../.."
build=${1:-build}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
prefix=$scratch/prefix
consumer=tests/system/install/consumer

fail() {
  echo "FAILED: $*"
  exit 1
}

# quietly COMMAND…: prints the output of the command only if it fails.
quietly() { "$@" >"$scratch/log" 2>&1 || { cat "$scratch/log"; fail "$*"; }; }

# expect_plan PROGRAM: fails unless the program prints the expected plan.
expect_plan() {
  output=$("$1")
  [ "$output" = "2 * gaussian(3)" ] || fail "$1 printed '$output'"
}

quietly cmake --install "$build" --prefix "$prefix"
for file in bin/sotto share/man/man1/sotto.1 share/bash-completion/completions/sotto; do
  [ -f "$prefix/$file" ] || fail "$file is not installed"
done
"$prefix/bin/sotto" --version
# libraries under the LGPL are shared, so that users can replace them
for library in libmpfr.so libgmp.so; do
  ldd "$prefix/bin/sotto" | grep -q "$library" || fail "$library is not linked as a shared library"
done

quietly cmake -S "$consumer" -B "$scratch/cmake" -G Ninja -DCMAKE_PREFIX_PATH="$prefix"
quietly cmake --build "$scratch/cmake"
expect_plan "$scratch/cmake/consumer"
echo "find_package(sotto): fine"

PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name sotto.pc)")
export PKG_CONFIG_PATH
flags=$(pkg-config --cflags --libs sotto)
# shellcheck disable=SC2086  # the flags are several words
quietly g++ "$consumer/main.cpp" $flags -o "$scratch/consumer"
expect_plan "$scratch/consumer"
echo "pkg-config sotto: fine"

# as a part of another project sotto builds no tests and no examples, and its warnings are no errors
mkdir "$scratch/whole"
cat >"$scratch/whole/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.25)
project(whole LANGUAGES CXX)
add_subdirectory($PWD sotto)
add_executable(part $PWD/$consumer/core.cpp)
target_link_libraries(part PRIVATE sotto::core)
END
quietly cmake -S "$scratch/whole" -B "$scratch/part" -G Ninja -DCMAKE_CXX_FLAGS=-O0
! grep -q -e -Werror -e unit_core -e demo_people "$scratch/part/build.ninja" || fail "as a part of another project sotto brings its tests or errors"
quietly cmake --build "$scratch/part" --target part
[ "$("$scratch/part/part")" = 0.1 ] || fail "the part printed something else"
echo "add_subdirectory(sotto): fine"
