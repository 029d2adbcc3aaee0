#!/usr/bin/env bash
# A project can have the library in its own tree: by add_subdirectory and by FetchContent.
set -eu
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# With little optimisation and plain kernels: this is about the build.
options=(-S tests/install/tree -C cmake/quick.cmake "-DTESSERA_SOURCE=$PWD")
cmake "${options[@]}" -B "$work/fetched" -DFETCH=ON >/dev/null
cmake "${options[@]}" -B "$work/added" >/dev/null
MAKEFLAGS= cmake --build "$work/added" -j"${JOBS:-$(nproc)}" --target main >/dev/null
"$work/added/main"
cmake --install "$work/added" --prefix "$work/prefix" >/dev/null
[ "$(find "$work/prefix" -type f)" = "$work/prefix/bin/main" ] ||
    { find "$work/prefix" -type f; echo "^ more is installed than the project's own"; exit 1; }
