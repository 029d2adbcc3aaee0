#!/usr/bin/env bash
# LLAISYS' face from Python: the library is put into a package folder and loaded from there by name, as
# the system's own package does, and its tensors and operators are compared with NumPy at the tolerances
# of the system's own tests. Exit status 77: there is no Python with NumPy.
set -u
cd "$(dirname "$0")/.." || exit 1
build=${1:-build}
library=$build/compat/llaisys/lib/libllaisys.so
[ -e "$library" ] || { echo "$library is not built"; exit 77; }
if ! python=$(tools/venv.sh "$build"); then
    python=$(command -v python3) && "$python" -c 'import numpy' 2>/dev/null ||
        { echo "no Python with NumPy"; exit 77; }
fi
exec "$python" tools/check_llaisys.py "$library"
