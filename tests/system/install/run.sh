#!/bin/sh
# Installs a build tree into a scratch prefix and uses it as a stranger would: run.sh [BUILD].
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

# quietly COMMAND…: shows what it says only if it fails.
quietly() { "$@" >"$scratch/log" 2>&1 || { cat "$scratch/log"; fail "$*"; }; }

# expect_plan PROGRAM
expect_plan() {
  said=$("$1")
  [ "$said" = "2 * gaussian(3)" ] || fail "$1 printed '$said'"
}

quietly cmake --install "$build" --prefix "$prefix"
for file in bin/sotto share/man/man1/sotto.1 share/bash-completion/completions/sotto; do
  [ -f "$prefix/$file" ] || fail "$file is not installed"
done
"$prefix/bin/sotto" --version
# LGPL: shared, so that they can be replaced
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

# a part of another project: its tests and examples stay out, and so do its errors for warnings
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
