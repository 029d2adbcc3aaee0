#!/bin/sh
# Builds the library and the CUDA plugin, checks them on this machine's GPU, and times them beside
# PyTorch. Prints one table; what it says goes to docs/performance.md.
#
#   bench/device/run.sh [build folder]
#
#   PREBUILT=folder   takes libtessera.so, tsr-backend-check, calls and tessera/libtessera-cuda.so from
#                     there instead of building them
set -e
root=$(cd "$(dirname "$0")/../.." && pwd)
build=${1:-$root/build/device}
jobs=$(nproc 2>/dev/null || echo 2)

if [ -n "$PREBUILT" ]; then
    lib=$PREBUILT
    plugins=$PREBUILT/tessera
    check=$PREBUILT/tsr-backend-check
    calls=$PREBUILT/calls
else
    cmake -S "$root" -B "$build" -DCMAKE_BUILD_TYPE=Release -DTSR_BUILD_TESTS=OFF -DTSR_BUILD_EXAMPLES=OFF \
        -DTSR_BUILD_COMPAT=OFF -DCMAKE_CUDA_ARCHITECTURES=native > "$build.log"
    cmake --build "$build" -j"$jobs" --target tessera backend-cuda tsr-backend-check >> "$build.log"
    lib=$build/lib
    plugins=$build/lib/tessera
    check=$build/bin/tsr-backend-check
    calls=$build/calls
    cc -std=c11 -O2 -I"$root/include" "$root/bench/device/calls.c" -o "$calls" -L"$lib" -ltessera \
        -Wl,-rpath,"$lib"
fi
export TSR_BACKEND_PATH=$plugins
export PYTHONUNBUFFERED=1
failed=0

echo "== check"
TSR_FALLBACK=allow "$check" cuda --quiet || failed=1

if command -v compute-sanitizer > /dev/null; then
    echo "== compute-sanitizer, a small run"
    TSR_FALLBACK=allow compute-sanitizer --error-exitcode 9 "$check" cuda --quiet --cases 1 --filter f32 \
        | tail -n 2 || failed=1
fi

echo "== calls"
LD_LIBRARY_PATH=$lib "$calls" cuda:0 || failed=1

echo "== beside PyTorch"
python3 "$root/bench/device/compare.py" "$lib/libtessera.so" || failed=1
TSR_CUDA_TF32=1 python3 "$root/bench/device/compare.py" "$lib/libtessera.so" products || failed=1
python3 "$root/bench/device/training.py" "$lib/libtessera.so" || failed=1
exit $failed
