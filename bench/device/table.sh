#!/bin/sh
# Builds the CUDA plugin for this machine's GPU, checks the ops that table.py times, and times them beside
# PyTorch.
#
#   bench/device/table.sh [part of table.py ...]
#
#   TSR_BENCH_BUILD=folder   where to build (build/device)
#   TSR_BENCH_CASES=n        trials of each check (4); 0: none
#   TSR_BENCH_SEEDS="1 2"    seeds of the checks (1)
#   TSR_BENCH_FILTER=conv    only checks whose family or name has this
#   TSR_BENCH_DNN="0 1"      values of TSR_CUDA_DNN with which attention is checked and timed once more
#   TSR_BENCH_ALL=seconds    then bench/all on the GPU for so long: every op, dtype, layout and size (0: not)
root=$(cd "$(dirname "$0")/../.." && pwd)
build=${TSR_BENCH_BUILD:-$root/build/device}
cases=${TSR_BENCH_CASES:-4}
failed=0
all=${TSR_BENCH_ALL:-0}
python=OFF targets="tessera backend-cuda tsr-backend-check"
[ "$all" -gt 0 ] && python=ON targets="$targets python tsr"
mkdir -p "$build" || exit 1
began=$(date +%s)
since() { echo "== $1 ($(($(date +%s) - began)) s)"; }

cmake -S "$root" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DTSR_BUILD_TESTS=OFF \
    -DTSR_BUILD_EXAMPLES=OFF -DTSR_BUILD_COMPAT=OFF -DTSR_BUILD_PYTHON=$python \
    -DCMAKE_CUDA_ARCHITECTURES=90 -DCMAKE_CUDA_FLAGS=--split-compile=4 > "$build.log" 2>&1 &&
    cmake --build "$build" -j"$(nproc)" --target $targets \
        >> "$build.log" 2>&1 || {
    tail -n 60 "$build.log"
    exit 1
}
since built
export TSR_BACKEND_PATH=$build/lib/tessera PYTHONUNBUFFERED=1 TSR_FALLBACK=allow
for seed in ${TSR_BENCH_SEEDS:-1}; do
    [ "$cases" -gt 0 ] || break
    timeout 60 "$build/bin/tsr-backend-check" cuda --quiet --cases "$cases" --seed "$seed" \
        --filter "${TSR_BENCH_FILTER-}" > "$build.check" 2>&1 || failed=1
    grep -A 3 '^FAIL' "$build.check" | cut -c 1-160
    tail -n 1 "$build.check"
    since "checked with seed $seed"
done
timeout 240 python3 "$root/bench/device/table.py" "$build/lib/libtessera.so" "$@" || failed=1
since timed
for dnn in ${TSR_BENCH_DNN-}; do
    TSR_CUDA_DNN=$dnn timeout 90 python3 "$root/bench/device/table.py" "$build/lib/libtessera.so" \
        attention attention_checks || failed=1
    since "attention with TSR_CUDA_DNN=$dnn"
done
if [ "$all" -gt 0 ]; then
    TSR_FALLBACK=error BUILD=$build timeout $((all + 60)) python3 "$root/bench/all/run.py" --device cuda:0 --seconds "$all" \
        --json "$build/bench-all.json" || failed=1
    since "timed everything"
fi
exit $failed
