#!/usr/bin/env bash
# The environment is read in one place: src/core/env.c, which reads nothing in an elevated program. Nothing
# else in src/ and backends/ calls getenv, and nothing opens a shared object but the files listed here.
set -u
cd "$(dirname "$0")/.." || exit 1
failed=0

# only TITLE PATTERN FILES: the pattern occurs in these files alone, and in each of them.
only() {
    local found
    found=$(grep -rlE --include='*.c' --include='*.h' --include='*.inc' --include='*.cpp' --include='*.cu' \
        --include='*.cuh' --include='*.def' "$2" src include backends | sort | paste -sd' ')
    if [ "$found" != "$3" ]; then
        printf '%s: in "%s", and is to be in "%s" alone\n' "$1" "$found" "$3"
        failed=1
    fi
}

only "getenv and its like" '\b(secure_|__secure_)?getenv(_r)?\b *\(|\benviron\b' "src/core/env.c"
only "dlopen" '\bdl(m)?open *\(' \
    "backends/cuda/library.cpp backends/opencl/api.c backends/opencl/clblast.c src/backend/plugin.c \
src/core/library.c"
only "other programs" '\b(system|popen|exec[lv]p?e?|posix_spawnp?) *\(' ""
[ $failed = 0 ] && echo "the environment is read in src/core/env.c alone"
exit $failed
