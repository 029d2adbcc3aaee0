#!/usr/bin/env bash
# Long runs: what `make test` does for seconds, for hours, and each time otherwise.
#
#   tools/soak.sh [HOURS]      1 unless given; may be a fraction
#
# In turn: a fuzz target for a minute (tools/check_fuzz.sh), from a corpus that grows in build/soak/corpus;
# and a test program with generated data, with a new seed (TSR_SEED), a number of threads (TSR_THREADS) and
# an instruction set (TSR_ISA); now and then, the tests of the Python package.
# It goes on where the last run stopped (build/soak/state). Every failure is
# printed with the command that repeats it, and kept in build/soak/failures. At the end come counts of all
# runs, and "N passed, N failed, N skipped" of this one.
set -u
cd "$(dirname "$0")/.." || exit 1
hours=${1:-1}
soak=build/soak
state=$soak/state
jobs=${JOBS:-$(nproc)}
seconds=$(awk -v h="$hours" 'BEGIN { s = int(h * 3600); if (s > 0) print s }')
[ -n "$seconds" ] || { echo "$0: \"$hours\" is no number of hours above 0"; exit 2; }
mkdir -p $soak/corpus
passed=0 failed=0 skipped=0

# --- what there is to run ---------------------------------------------------------------

[ -e build/CMakeCache.txt ] || cmake -S . -B build >$soak/build.log 2>&1 || { tail $soak/build.log; exit 1; }
cmake --build build -j"$jobs" --target tests-net tests-ops tests-property tsr >$soak/build.log 2>&1 ||
    { tail -n 40 $soak/build.log; exit 1; }

programs=()
for source in tests/net/test_*.c tests/ops/test_*.c tests/property/*.c; do
    program=build/$(dirname "$source")/$(basename "$source" .c)
    if [ -x "$program" ]; then programs+=("$program"); fi
done
targets=(tests/fuzz/corpus/*/)
threads=(1 2 3 5 8)
best=$(build/bin/tsr --version | sed -n 's/.*, \([a-z0-9]*\) kernels$/\1/p')
sets=()
for set in $(sed -n 's/^X([A-Z0-9]*, *\([a-z0-9]*\)).*/\1/p' src/cpu/levels.def); do
    sets+=("$set")
    if [ "$set" = "$best" ]; then break; fi
done
sets+=(all)  # whatever the machine has above a level too

# --- state: how many steps were taken, and what came of them ------------------------------

step=0 runs=0 executions=0 all_failed=0
if [ -r $state ]; then read -r step runs executions all_failed <$state; fi

keep() {
    echo "$step $runs $executions $all_failed" >$state.new && mv $state.new $state
}

fail() {
    failed=$((failed + 1)) all_failed=$((all_failed + 1))
    echo "FAILED $1" | tee -a $soak/failures
    echo "    repeat: $2" | tee -a $soak/failures
}

# --- the steps --------------------------------------------------------------------------

fuzz() {
    local target status=0
    target=$(basename "${targets[$((step % ${#targets[@]}))]}")
    FUZZ_SEED=$((step + 1)) FUZZ_SECONDS=60 FUZZ_GROWN=$soak/corpus tools/check_fuzz.sh "$target" >$soak/log \
        2>&1 || status=$?
    executions=$((executions + $(awk '/ executions$/ { n += $2 } END { print n + 0 }' $soak/log)))
    case $status in
        0)  passed=$((passed + 1)) ;;
        77) skipped=$((skipped + 1)) ;;
        *)  tail -n 40 $soak/log
            mkdir -p $soak/found
            cp build/fuzz-found/"$target"-* $soak/found 2>/dev/null
            fail "fuzz $target" "$(sed -n 's|^repeat: \(.*\) build/fuzz-found/|\1 build/soak/found/|p' \
                $soak/log | head -n 1)" ;;
    esac
}

# The step counts through programs first, then through threads, then through instruction sets; every second
# one is the net, which has them all.
generated() {
    local n=${#programs[@]} program set count seed=$((step + 1)) round=$((step / 2))
    program=${programs[$((step % 2 ? round % n : 0))]}
    count=${threads[$((round / n % ${#threads[@]}))]}
    set=${sets[$((round % ${#sets[@]}))]}
    runs=$((runs + 1))
    if TSR_SEED=$seed TSR_THREADS=$count TSR_ISA=$set "$program" >$soak/log 2>&1; then
        passed=$((passed + 1))
    else
        tail -n 40 $soak/log
        fail "$program" "TSR_SEED=$seed TSR_THREADS=$count TSR_ISA=$set $program"
    fi
}

# Differential tests of the Python package, 200 examples for each function, a new seed each time; every 50th
# step, for it takes minutes.
python() {
    local status=0
    cmake --build build -j"$jobs" --target python >$soak/log 2>&1  # without headers of Python there is none
    TSR_SEED=$((step + 1)) TSR_EXAMPLES=200 tools/check_python.sh build >$soak/log 2>&1 || status=$?
    case $status in
        0)  passed=$((passed + 1)) ;;
        77) skipped=$((skipped + 1)) ;;
        *)  tail -n 40 $soak/log
            fail "python" "TSR_SEED=$((step + 1)) TSR_EXAMPLES=200 tools/check_python.sh" ;;
    esac
}

finish() {
    echo "all runs so far: $step steps, $runs of test programs, $executions executions of fuzz targets," \
        "$all_failed failed"
    if [ $failed != 0 ]; then echo "failures are in $soak/failures"; fi
    echo "$passed passed, $failed failed, $skipped skipped"
    [ $failed = 0 ]
    exit
}
trap 'keep; finish' INT TERM

SECONDS=0
while [ $SECONDS -lt "$seconds" ]; do
    fuzz
    generated
    if [ $((step % 50)) = 0 ]; then python; fi
    step=$((step + 1))
    keep
done
finish
