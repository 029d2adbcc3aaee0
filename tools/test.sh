#!/usr/bin/env bash
# Run the tests: one line per step, then "N passed, N failed, N skipped".
#
#   tools/test.sh          every test this machine can run
#   tools/test.sh quick    build and unit tests
#
# A step builds the library one way and runs test programs, or runs one of tools/check_*.sh
# (exit status 77: skipped). Its output is kept in build/test-logs and shown if it fails.
set -u
cd "$(dirname "$0")/.." || exit 1
jobs=${JOBS:-$(nproc 2>/dev/null || echo 2)}
logs=build/test-logs
passed=0 failed=0 skipped=0
export MAKEFLAGS=--no-print-directory
export under="" # command that test programs run under
mkdir -p $logs

# --- inside a step: output goes to its log ------------------------------------------

# build_in FOLDER TARGETS CMAKE-OPTIONS...
build_in() {
    local folder=$1 targets=$2
    shift 2
    # shellcheck disable=SC2086 # a list of targets
    cmake -S . -B "$folder" "$@" && cmake --build "$folder" -j"$jobs" ${targets:+--target $targets}
}

# One program: its output, with a failure counted if it died without counting one.
run_program() {
    local log=$1/${2//\//_} status=0
    # shellcheck disable=SC2086 # a command and its options, or nothing
    timeout --foreground 600 $under "$2" >"$log" 2>&1 || status=$?
    if ! grep -qE '^[0-9]+ passed, ' "$log" ||
        { [ $status != 0 ] && ! grep -qE '^[0-9]+ passed, [1-9][0-9]* failed, ' "$log"; }; then
        echo "$2 ended with status $status"
        echo "0 passed, 1 failed, 0 skipped"
    fi >>"$log"
}
export -f run_program

# programs FOLDER KINDS...: those built there whose sources still exist.
programs() {
    local folder=$1 kind source program
    shift
    for kind in "$@"; do
        for source in tests/"$kind"/*.c tests/"$kind"/*.cpp; do
            program=$folder/tests/$kind/$(basename "${source%.*}")
            if [ -x "$program" ]; then echo "$program"; fi
        done
    done
}

# run_programs FOLDER KINDS...: as many at a time as there are cores.
run_programs() {
    local results log
    results=$(mktemp -d)
    programs "$@" | xargs -P "$jobs" -I{} bash -c 'run_program "$0" "$1"' "$results" {}
    for log in "$results"/*; do
        [ -f "$log" ] || { echo "no test programs"; return 1; }
        echo "--- ${log##*/}"
        cat "$log"
    done
    rm -r "$results"
}

# Does a program built with this sanitizer run here?
sanitizer_runs() {
    local probe=build/probe
    echo 'int main(void) { return 0; }' >$probe.c
    ${CC:-cc} "-fsanitize=$1" $probe.c -o $probe && $under ./$probe
}

have() {
    command -v "$1" >/dev/null || { echo "no $1"; return 77; }
}

# --- the steps ------------------------------------------------------------------------

# With little optimisation, where building takes longer than testing. -O3 has warnings of its
# own; the release build heeds those.
fast=-DCMAKE_C_FLAGS_RELEASE=-O1

# The kernels of GPUs are built once, by the release step. Where there is no GPU to run them, they
# are built as PTX, which any GPU finishes when it loads them: that takes a third of the time.
no_gpu=-DTSR_CUDA=OFF
gpu=
if ! nvidia-smi >/dev/null 2>&1; then gpu=-DCMAKE_CUDA_ARCHITECTURES=80-virtual; fi

# Without the kernels that take longest to build: for steps that are about something else.
lean="-DTSR_HAVE_AVX512=OFF -DTSR_HAVE_VNNI=OFF -DTSR_HAVE_BF16=OFF -DTSR_HAVE_AMX=OFF $no_gpu"

# Unit tests are about the core: kernels in plain C are enough for them.
quick() {
    build_in build/quick tests-unit $fast $lean -DTSR_HAVE_AVX2=OFF -DTSR_BUILD_EXAMPLES=OFF || return 1
    run_programs build/quick unit
}

release() {
    build_in build "" -DTSR_WERROR=ON $gpu || return 1
    run_programs build unit property ops oom fuzz compat
}

# The op suites again with fewer instructions than the machine has.
instruction_sets() {
    local best isa
    best=$(build/bin/tsr --version | sed -n 's/.*, \([a-z0-9]*\) kernels$/\1/p')
    [ -n "$best" ] || { echo "tsr --version names no kernels"; return 1; }
    for isa in portable avx2; do
        if [ "$isa" = "$best" ]; then break; fi
        echo "--- $isa"
        TSR_ISA=$isa run_programs build ops
    done
}

second_compiler() {
    have clang || return
    build_in build/clang "" -DCMAKE_C_COMPILER=clang -DCMAKE_CXX_COMPILER=clang++ -DTSR_WERROR=ON $fast $no_gpu || return 1
    run_programs build/clang unit
}

address_sanitizer() {
    sanitizer_runs address,undefined || { echo "the sanitizer does not run here"; return 77; }
    build_in build/asan "" $no_gpu -DTSR_SANITIZE=address,undefined -DTSR_BUILD_EXAMPLES=OFF || return 1
    run_programs build/asan unit property ops oom fuzz compat
}

thread_sanitizer() {
    local targets
    # Some kernels scatter mappings further than the thread sanitizer can follow.
    if setarch -R true; then under="setarch -R"; fi
    sanitizer_runs thread || { echo "the sanitizer does not run here"; return 77; }
    targets=$(find tests/unit tests/property tests/ops tests/oom -name '*.c' | grep -E 'threads|pool|concurrent|devices' |
        sed -E 's|tests/([a-z]+)/(.*)\.c|\1-\2|')
    [ -n "$targets" ] || { echo "no tests of threads"; return 77; }
    build_in build/tsan "$targets" $lean -DTSR_SANITIZE=thread -DTSR_BUILD_EXAMPLES=OFF || return 1
    run_programs build/tsan unit property ops oom
}

no_threads() {
    build_in build/no-threads tests-unit $lean -DTSR_NO_THREADS=ON -DTSR_WERROR=ON $fast -DTSR_BUILD_EXAMPLES=OFF || return 1
    run_programs build/no-threads unit
}

# A build with a lower highest rank, and whether programs that use it hear of it.
four_dims() {
    build_in build/four-dims "tessera tessera_static unit-test_random" $lean -DTSR_MAX_NDIM=4 -DTSR_WERROR=ON $fast \
        -DTSR_BUILD_EXAMPLES=OFF || return 1
    run_programs build/four-dims unit
    tools/check_install.sh build/four-dims
}

# --- running them -------------------------------------------------------------------

# Sums of the counts in a log: "P F S", empty if it has none.
counts() {
    awk '/^[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$/ { p += $1; f += $3; s += $5; n++ }
         END { if (n) print p, f, s }' "$1"
}

# While process $1 runs, show step $2, the time, and the last line of its log.
follow() {
    [ -t 1 ] || { wait "$1"; return; }
    while kill -0 "$1" 2>/dev/null; do
        printf '\r\033[K%-18s %4d s  %.60s' "$2" $((SECONDS - start)) "$(tail -n 1 "$logs/$2" | tr -d '\r')"
        sleep 0.3
    done
    printf '\r\033[K'
    wait "$1"
}

# step NAME COMMAND...
step() {
    local name=$1 start=$SECONDS status p f s result
    shift
    "$@" >"$logs/$name" 2>&1 </dev/null &
    child=$!
    follow $child "$name"
    status=$?

    read -r p f s <<<"$(counts "$logs/$name")"
    case $status in
        0)  [ -n "$p" ] || { p=1 f=0 s=0; } ;;
        77) p=0 f=0 s=1 ;;
        *)  p=${p:-0} s=${s:-0}; [ "${f:-0}" != 0 ] || f=1 ;;
    esac
    passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))

    if [ "$f" != 0 ]; then result="FAILED: $p passed, $f failed, $s skipped"
    elif [ $status = 77 ]; then result="skipped: $(tail -n 1 "$logs/$name")"
    else
        result="$p passed"
        [ "$s" = 0 ] || result+=", $s skipped"
    fi
    printf '%-18s %s (%d s)\n' "$name" "$result" $((SECONDS - start))
    if [ "$f" != 0 ]; then
        # Without the build's progress.
        grep -vE '^(\[ *[0-9]+%\]|-- )' "$logs/$name" | tail -n 200 | sed 's/^/    | /'
    fi
}

# A step is a process group of its own, so that an interrupt ends all of it.
set -m
trap 'kill -- -$child 2>/dev/null; exit 130' INT TERM

if [ "${1:-all}" = quick ]; then
    step unit quick
else
    step release            release
    step instruction-sets   instruction_sets
    step second-compiler    second_compiler
    step address-sanitizer  address_sanitizer
    step thread-sanitizer   thread_sanitizer
    step no-threads         no_threads
    step four-dims          four_dims
    for check in tools/check_*.sh; do
        name=$(basename "$check" .sh)
        case $name in
            check_freestanding)
                step freestanding-build "$check" build
                step freestanding-run   "$check" run ;;
            *)  step "${name#check_}"   "$check" ;;
        esac
    done
fi

echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
