#!/usr/bin/env bash
# Which lines and branches of src the test programs reach: builds the library with gcc's counters into
# build/coverage, runs every test program at each instruction set that this machine has, and prints
# lines and branches by folder and by file, worst first. Branches that were never taken are listed in
# build/coverage/uncovered.txt; what cannot be reached stands in tools/coverage.exceptions.
#
#   tools/coverage.sh                 everything
#   tools/coverage.sh unit oom ...    only these kinds of test programs
#   tools/coverage.sh report          print again what the last run counted
set -u
cd "$(dirname "$0")/.." || exit 1
jobs=${JOBS:-$(nproc 2>/dev/null || echo 2)}
build=build/coverage
export MAKEFLAGS=--no-print-directory

# The instruction sets of this machine, the widest last: the names that TSR_ISA takes, and native for
# avx512 with what else there is.
levels() {
    echo portable
    if grep -qw avx2 /proc/cpuinfo; then echo avx2; fi
    if grep -qw avx512bw /proc/cpuinfo; then echo avx512; fi
    if grep -qw avx512_vnni /proc/cpuinfo; then echo native; fi
}

# runs KINDS...: a line "LEVEL THREADS PROGRAM" for each: three threads at every level, one at the widest.
runs() {
    local kind source program level
    for kind in "$@"; do
        for source in tests/"$kind"/*.c; do
            program=$build/tests/$kind/$(basename "${source%.c}")
            [ -x "$program" ] || continue
            for level in $(levels); do echo "$level 3 $program"; done
            echo "$(levels | tail -n 1) 1 $program"
        done
    done
}

# One run. The counters of concurrent runs are added up.
run() {
    local log
    log=$build/logs/$1-$2-$(basename "$(dirname "$3")")-$(basename "$3")
    TSR_ISA=${1/native/} TSR_THREADS=$2 "$3" >"$log" 2>&1 || echo "$3 failed at $1 with $2 threads: see $log"
}
export build
export -f run

# build_tests KINDS...: the library with counters, the test programs without.
build_tests() {
    # shellcheck disable=SC2046 # a list of targets
    cmake -S . -B $build -DCMAKE_C_COMPILER="${CC:-gcc}" -DTSR_COVERAGE=ON -DCMAKE_C_FLAGS_RELEASE=-O1 \
        -DTSR_CUDA=OFF -DTSR_BUILD_EXAMPLES=OFF -DTSR_BUILD_COMPAT=OFF -DTSR_BUILD_CLI=OFF &&
        cmake --build $build -j"$jobs" --target tessera $(printf 'tests-%s ' "$@")
}

if [ "${1:-}" != report ]; then
    kinds=("$@")
    if [ ${#kinds[@]} = 0 ]; then kinds=(net fuzz property ops oom unit); fi
    mkdir -p $build/logs
    if ! build_tests "${kinds[@]}" >$build/logs/build 2>&1; then
        tail -n 40 $build/logs/build
        exit 1
    fi
    find $build -name '*.gcda' -delete
    runs "${kinds[@]}" | xargs -P "$jobs" -L 1 bash -c 'run "$@"' run
fi
tools/coverage-report $build
