#!/usr/bin/env bash
# InfiniOP's face through ctypes, as its own Python front end loads it: every name, and operators
# against NumPy. Exit status 77: no Python with NumPy.
#
#   tools/check_infiniop.sh [BUILD]
set -u
cd "$(dirname "$0")/.." || exit 1
build=${1:-build}
python=$(tools/venv.sh "$build") || { echo "$python"; exit 77; }
[ -f "$build/compat/infiniop/lib/libinfiniop.so" ] || { echo "libinfiniop.so is not built"; exit 77; }
exec "$python" tests/compat/infiniop_ctypes.py "$build/compat/infiniop/lib"
