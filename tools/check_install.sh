#!/usr/bin/env bash
# A program outside this project can use an installed library: as a CMake package and
# through pkg-config, shared and static, from C and from C++. The installed tree is moved
# first, so nothing in it may remember where it was made.
set -eu
cd "$(dirname "$0")/.."
build=${1:-build}
consumer=$PWD/tests/install
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
prefix=$work/moved

cmake --install "$build" --prefix "$work/first" >/dev/null
mv "$work/first" "$prefix"
if grep -rlI "$work/first" "$prefix"; then
    echo "^ these files name the place they were installed to"
    exit 1
fi

if find "$prefix" -name 'libtessera-null*' | grep .; then
    echo "^ a device for tests is installed"
    exit 1
fi

echo "--- components"
for part in runtime:libtessera.so. command:bin/tsr development:tessera.hpp; do
    cmake --install "$build" --prefix "$work/${part%%:*}" --component "${part%%:*}" >/dev/null
    if [ "${part%%:*}" = command ] && [ ! -e "$build/bin/tsr" ]; then continue; fi
    find "$work/${part%%:*}" | grep -F "${part#*:}" >/dev/null ||
        { echo "no ${part#*:} in ${part%%:*}"; exit 1; }
done
if find "$work/runtime" "$work/command" -name '*.h' -o -name '*.a' -o -name libtessera.so | grep .; then
    echo "^ not for running programs"
    exit 1
fi

echo "--- CMake"
cmake -S "$consumer" -B "$work/cmake" -DCMAKE_PREFIX_PATH="$prefix" >/dev/null
cmake --build "$work/cmake"
for program in "$work"/cmake/bin/*; do
    echo "running $(basename "$program")"
    "$program"
done

command -v pkg-config >/dev/null || { echo "no pkg-config: that half is not tried"; exit 0; }
PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name tessera.pc)")
export PKG_CONFIG_PATH
libdir=$(pkg-config --variable=libdir tessera)

# try NAME FLAGS...: compile and run the consumer in both languages.
try() {
    local name=$1
    shift
    echo "--- pkg-config, $name"
    ${CC:-cc} -std=c11 -Wall -Wextra -Wpedantic -Werror "$consumer/main.c" -o "$work/c" "$@"
    "$work/c"
    command -v "${CXX:-c++}" >/dev/null || { echo "no C++ compiler: not tried"; return; }
    ${CXX:-c++} -std=c++17 -Wall -Wextra -Wpedantic -Werror "$consumer/main.cpp" -o "$work/cpp" "$@"
    "$work/cpp"
}

# shellcheck disable=SC2046 # flags are words
try shared $(pkg-config --cflags --libs tessera) -Wl,-rpath,"$libdir"
readelf -d "$work/c" | grep -q 'NEEDED.*libtessera\.so\.' || { echo "not linked shared"; exit 1; }

# With the shared library gone, -ltessera is the archive.
rm "$libdir"/libtessera.so*
# shellcheck disable=SC2046
try static $(pkg-config --static --cflags --libs tessera)
