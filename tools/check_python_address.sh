#!/usr/bin/env bash
# The Python extension, built with the address and undefined sanitizers: its tests that are not about numbers.
# The library is that of the build folder; what it does with memory, its own tests check.
#
#   tools/check_python_address.sh [BUILD]
#
# Exit status 77: there is no package in the build folder, or no sanitizer, NumPy, pytest or hypothesis.
set -u
cd "$(dirname "$0")/.." || exit 1
build=${1:-build}
own=$build/python-address
[ -e "$build/python/tessera/_tessera.abi3.so" ] || { echo "no Python package in $build"; exit 77; }
compiler=${CC:-gcc}
runtime=$($compiler -print-file-name=libasan.so 2>/dev/null)
[ -e "$runtime" ] || { echo "$compiler has no address sanitizer"; exit 77; }

mkdir -p "$own/tessera" && cp -p "$build"/python/tessera/*.py "$own/tessera" || exit 1
include=$(sed -n 's/^_\{0,1\}Python3_EXECUTABLE.*=//p' "$build/CMakeCache.txt" | head -n 1)
include=$("${include:-python3}" -c 'import sysconfig; print(sysconfig.get_path("include"))')
$compiler -shared -fPIC -O1 -g1 -DPy_LIMITED_API=0x030A0000 -fsanitize=address,undefined \
    -fno-sanitize-recover=undefined -Iinclude -I"$build/python-generated" -I"$include" python/src/*.c \
    -L"$build/lib" -ltessera "-Wl,-rpath,$(realpath "$build/lib")" -o "$own/tessera/_tessera.abi3.so" ||
    exit 1

PYTHONMALLOC=malloc TSR_PYTHON_PRELOAD=$runtime TSR_PYTHON_PACKAGE=$own \
    tools/check_python.sh "$build" test_array.py test_exchange.py test_files.py test_life.py test_ops.py
