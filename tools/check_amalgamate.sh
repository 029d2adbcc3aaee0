#!/usr/bin/env bash
# The two files of make amalgamate compile alone, export what the library exports, and a program runs with
# them. Exit status 77: there is no Python.
set -eu
cd "$(dirname "$0")/.."
command -v python3 >/dev/null || { echo "no python3"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tools/amalgamate.py "$work/dist"
cp tests/install/main.c "$work/main.c"
mkdir "$work/tessera"
echo '#include "../dist/tessera.h"' >"$work/tessera/tessera.h"
${CC:-cc} -std=c11 -O0 -w -c "$work/dist/tessera.c" -o "$work/tessera.o"
if nm -g --defined-only "$work/tessera.o" | awk '{ print $3 }' | grep -vE '^tsri?_'; then
    echo "^ exported, but neither tsr_ nor tsri_"
    exit 1
fi
${CC:-cc} -std=c11 -Wall -Wextra -I"$work" "$work/main.c" "$work/tessera.o" -lm -lpthread -ldl -o "$work/main"
"$work/main"
