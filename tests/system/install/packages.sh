#!/bin/sh
# Builds the Debian packages, unpacks them into an empty root and uses them as a user does:
# packages.sh [TREE]. TREE (build/shared) is a build tree with the preset `shared`; it is created if
# it does not exist.
set -eu
cd "$(dirname "$0")/../../.."
tree=${1:-build/shared}
for command in dpkg-deb dpkg-shlibdeps file pkg-config; do
  command -v $command >/dev/null || { echo "skipped: there is no $command; type: apt-get install dpkg-dev file pkg-config"; exit 77; }
done
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
root=$scratch/root
consumer=tests/system/install/consumer

fail() {
  echo "FAILED: $*"
  exit 1
}

# quietly COMMAND…: prints the output of the command only if it fails.
quietly() { "$@" >"$scratch/log" 2>&1 || { tail -n 40 "$scratch/log"; fail "$*"; }; }

# expect WORDS COMMAND…: fails unless the command prints these words.
expect() {
  words=$1
  shift
  output=$("$@" 2>&1) || fail "$*: $output"
  case $output in *"$words"*) ;; *) fail "$* printed '$output', not '$words'" ;; esac
}

# depends PACKAGE NAME…: fails unless the package depends on each name.
depends() {
  package=$1
  shift
  dependencies=", $(dpkg-deb -f build/packages/"$package"_*.deb Depends)"
  for name; do
    case $dependencies in *", $name"*) ;; *) fail "$package does not depend on $name: $dependencies" ;; esac
  done
}

quietly cmake --preset shared -B "$tree"
quietly cmake --build "$tree" --target packages

version=$(sed -n 's/^project(sotto VERSION \([0-9.]*\) .*/\1/p' CMakeLists.txt)
abi=${version%.*}
packages="libsotto$abi libsotto-dev sotto"
[ ! -f build/duckdb/libduckdb.so ] || packages="$packages sotto-duckdb"
for package in $packages; do
  file=$(echo build/packages/"$package"_"$version"_*.deb)
  [ -f "$file" ] || fail "there is no package $package"
  dpkg-deb -x "$file" "$root"
done
[ "$(find build/packages -type f | wc -l)" = "$(echo "$packages" | wc -w)" ] || fail "build/packages has more: $(ls build/packages)"
depends "libsotto$abi" libc6 libstdc++6 libmpfr6 libssl3 libsodium23 libsqlite3-0 zlib1g
depends libsotto-dev "libsotto$abi (= $version)"
depends sotto "libsotto$abi (= $version)" libstdc++6
echo "dependencies: fine"

library=$(find "$root" -name "libsotto.so.$version")
folder=$(dirname "$library")
readelf -d "$library" | grep -q "SONAME.*\[libsotto.so.$abi\]" || fail "the library's name is not libsotto.so.$abi"
readelf -d "$root/usr/bin/sotto" | grep -q "NEEDED.*\[libsotto.so.$abi\]" || fail "the command does not link libsotto.so.$abi"
! readelf -d "$library" "$root/usr/bin/sotto" | grep -E 'RPATH|RUNPATH' || fail "the packages contain a path of the build tree"
nm -DC --defined-only "$library" >"$scratch/symbols"
grep -q "sotto::parse(" "$scratch/symbols" || fail "sotto::parse is not exported"
! grep -E ' (EVP_|sodium_|sqlite3_|mpfr_|inflate)' "$scratch/symbols" || fail "symbols of third-party libraries are exported"
echo "libsotto.so.$abi: fine"

export LD_LIBRARY_PATH="$folder"
expect "sotto $version" "$root/usr/bin/sotto" --version
expect "epsilon     <= 4.377179" "$root/usr/bin/sotto" epsilon "gaussian(1)" --delta 1e-5
gzip -cd "$root/usr/share/man/man1/sotto.1.gz" | grep -q '^\.TH' || fail "the manual page cannot be read"
echo "sotto epsilon: fine"

flags=$(PKG_CONFIG_PATH=$folder/pkgconfig pkg-config --cflags --libs sotto)
# shellcheck disable=SC2086  # the flags are several words
quietly g++ "$consumer/main.cpp" $flags -o "$scratch/consumer"
expect "2 * gaussian(3)" "$scratch/consumer"
readelf -d "$scratch/consumer" | grep -q "NEEDED.*\[libsotto.so.$abi\]" || fail "the program does not link libsotto.so.$abi"
echo "pkg-config sotto: fine"

quietly cmake -S "$consumer" -B "$scratch/cmake" -G Ninja -DCMAKE_PREFIX_PATH="$root/usr"
quietly cmake --build "$scratch/cmake"
expect "2 * gaussian(3)" "$scratch/cmake/consumer"
echo "find_package(sotto): fine"

case $packages in
  *sotto-duckdb)
    printf 'who,age\n1,30\n2,40\n' >"$scratch/people.csv"
    quietly "$root/usr/bin/sotto" data init "$scratch/people.csv" --catalogue "$scratch" --unit who --epsilon 1 --delta 1e-6 --quiet
    expect people "$root/usr/bin/sotto" data check people --catalogue "$scratch"
    echo "sotto-duckdb: fine"
    ;;
esac

if command -v lintian >/dev/null; then
  lintian --allow-root --fail-on error --tag-display-limit 0 build/packages/*.deb >"$scratch/lintian" 2>&1 || { cat "$scratch/lintian"; fail "lintian has errors"; }
  echo "lintian: no error"
fi
