#!/usr/bin/env bash
# Each public header compiles alone, as C11 and as C++17, with every compiler there is,
# without a warning.
set -u
cd "$(dirname "$0")/.." || exit 1

warnings=(-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror -fsyntax-only -Iinclude)
failed=0

# check COMPILER LANGUAGE FLAGS...
check() {
    local compiler=$1 language=$2 header
    shift 2
    if ! command -v "$compiler" >/dev/null; then
        echo "no $compiler: not tried"
        return
    fi
    local headers=(include/tessera/*.h include/tessera/ops/*.h)
    if [ "$language" = c++ ]; then headers+=(include/tessera/*.hpp); fi
    for header in "${headers[@]}"; do
        echo "#include <${header#include/}>" |
            "$compiler" -x "$language" "${warnings[@]}" "$@" - && continue
        echo "^ ${header##*/} with $compiler $*"
        failed=1
    done
}

for cc in gcc clang; do
    check $cc c -std=c11 -Wstrict-prototypes
    check $cc c -std=c11 -Wstrict-prototypes -ffreestanding -DTSR_FREESTANDING -DTSR_MAX_NDIM=4
done
for cxx in g++ clang++; do
    check $cxx c++ -std=c++17
done
exit $failed
