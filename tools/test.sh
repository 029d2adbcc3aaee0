#!/usr/bin/env bash
# Run the tests: one line per step, then "N passed, N failed, N skipped".
#
#   tools/test.sh          every test this machine can run
#   tools/test.sh quick    build and unit tests
#
# A step builds the library one way and runs test programs, or runs one of tools/check_*.sh
# (exit status 77: skipped). Its output is kept in build/test-logs and shown if it fails.
#
# Steps that build run in one row, and what comes after the first of them in a second row beside
# it, so that no core waits for a step that has work for one.
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
    tools/limit.sh 2400 $under "$2" >"$log" 2>&1 || status=$?
    if ! grep -qE '^[0-9]+ passed, ' "$log" ||
        { [ $status != 0 ] && ! grep -qE '^[0-9]+ passed, [1-9][0-9]* failed, ' "$log"; }; then
        echo "$2 ended with status $status"
        echo "0 passed, 1 failed, 0 skipped"
    fi >>"$log"
}
export -f run_program

# programs FOLDER KINDS...: those built there whose sources still exist, but for the pattern $except, and
# none but those of the pattern $only.
programs() {
    local folder=$1 kind source program
    shift
    for kind in "$@"; do
        for source in tests/"$kind"/*.c tests/"$kind"/*.cpp; do
            program=$folder/tests/$kind/$(basename "${source%.*}")
            # shellcheck disable=SC2053 # a pattern
            if [ -x "$program" ] && [[ $program != ${except:-} && $program == ${only:-*} ]]; then
                echo "$program"
            fi
        done
    done
}

# run_programs FOLDER KINDS...: as many at a time as there are cores, in the order of the kinds:
# those that take longest first.
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
fast="-DCMAKE_C_FLAGS_RELEASE=-O1 -DCMAKE_CXX_FLAGS_RELEASE=-O0 -DTSR_TEST_OPTIMIZATION=-O0"

# The kernels of GPUs are built once: by the release step where there is a GPU to run them, by a
# step of their own where there is none.
no_gpu=-DTSR_CUDA=OFF
has_gpu=no
if nvidia-smi >/dev/null 2>&1; then has_gpu=yes; fi

# Without the kernels that take longest to build: for steps that are about something else. Those
# about the core have kernels in plain C alone, and not optimised.
lean="-DTSR_HAVE_AVX512=OFF -DTSR_HAVE_VNNI=OFF -DTSR_HAVE_BF16=OFF -DTSR_HAVE_AMX=OFF $no_gpu"
plain="$lean -DTSR_HAVE_AVX2=OFF ${fast/-O1/-O0}"

# Every kind of test program, those that take longest first.
kinds="net fuzz property ops oom unit compat cpp"

unit() {
    build_in build/quick tests-unit -C cmake/quick.cmake || return 1
    run_programs build/quick unit
}

release() {
    local cuda=$no_gpu
    if [ $has_gpu = yes ]; then cuda=-UTSR_CUDA; fi
    build_in build "" -DTSR_WERROR=ON $cuda || return 1
    run_programs build $kinds
}

# The kernels of GPUs without one to run them: as PTX and not optimised, which takes a fifth of the
# time. The plugin loads, and finds no device.
cuda() {
    have nvcc || return
    build_in build/cuda backend-cuda -DCMAKE_CUDA_ARCHITECTURES=80-virtual "-DCMAKE_CUDA_FLAGS=-Xcicc -O0" \
        -DTSR_BUILD_TESTS=OFF -DTSR_BUILD_EXAMPLES=OFF -DTSR_BUILD_CLI=OFF -DTSR_BUILD_COMPAT=OFF || return 1
    TSR_BACKEND_PATH=$PWD/build/cuda/lib/tessera build/bin/tsr devices | grep '^cuda: no device here'
}

# Instruction sets below that of the machine.
lower_sets() {
    local best isa
    best=$(build/bin/tsr --version | sed -n 's/.*, \([a-z0-9]*\) kernels$/\1/p')
    [ -n "$best" ] || { echo "tsr --version names no kernels" >&2; return 1; }
    for isa in $(sed -n 's/^X([A-Z0-9]*, *\([a-z0-9]*\)).*/\1/p' src/cpu/levels.def); do
        if [ "$isa" = "$best" ]; then break; fi
        echo "$isa"
    done
}

# The op suites again with fewer instructions than the machine has; without those that compare
# every set with the others anyway.
instruction_sets() {
    local isa sets except='*/test_isa_*'
    sets=$(lower_sets) || return 1
    for isa in $sets; do
        echo "--- $isa, $(other_tuning $isa)"
        TSR_ISA=$isa TSR_TUNING=$(other_tuning $isa) run_programs build net ops
    done
}

# Lower sets run as other families of processors do, so that all of them are tested on any machine.
other_tuning() { if [ "$1" = avx2 ]; then echo intel_avx512; else echo default; fi; }

# Every parallel loop split as finely and unevenly as it may be, also in programs that are not about ops: the
# net does so for every op.
fine_split() { TSR_SPLIT=fine TSR_THREADS=3 run_programs build property; }

# What is installed, and the programs that run here.
second_compiler() {
    have clang || return
    build_in build/clang "tessera tessera_static tsr tsr-backend-check backends faces tests-unit tests-cpp" \
        -DCMAKE_C_COMPILER=clang -DCMAKE_CXX_COMPILER=clang++ -DTSR_WERROR=ON $fast $no_gpu || return 1
    run_programs build/clang unit cpp
}

# Options that leave out kernels which this machine cannot run: the release build has them all.
sets_here() {
    grep -qsw avx512bw /proc/cpuinfo ||
        echo -DTSR_HAVE_AVX512=OFF -DTSR_HAVE_VNNI=OFF -DTSR_HAVE_BF16=OFF -DTSR_HAVE_AMX=OFF
    grep -qsw amx_tile /proc/cpuinfo || echo -DTSR_HAVE_AMX=OFF
}

address_sanitizer() {
    sanitizer_runs address,undefined || { echo "the sanitizer does not run here"; return 77; }
    # Targets of the fuzzer run under clang's address sanitizer, where clang has one.
    if tools/check_fuzz.sh --can; then kinds=${kinds/fuzz /}; fi
    build_in build/asan "$(printf 'tests-%s ' $kinds)" $no_gpu $(sets_here) -DTSR_SANITIZE=address,undefined \
        -DTSR_BUILD_EXAMPLES=OFF || return 1
    # Freed memory that is not used again; with as much as there is by default, pages are what takes time.
    export ASAN_OPTIONS=quarantine_size_mb=64
    # Passes of the net; the release build makes more, between guard pages.
    TSR_PASSES=2 run_programs build/asan $kinds
    local isa sets
    sets=$(lower_sets) || return 1
    for isa in $sets; do
        echo "--- $isa"
        TSR_ISA=$isa TSR_TUNING=$(other_tuning $isa) TSR_PASSES=1 run_programs build/asan net
    done
}

thread_sanitizer() {
    local targets
    # Some kernels scatter mappings further than the thread sanitizer can follow.
    if setarch -R true; then under="setarch -R"; fi
    sanitizer_runs thread || { echo "the sanitizer does not run here"; return 77; }
    targets=$(find tests/unit tests/property tests/ops tests/oom -name '*.c' |
        grep -E 'threads|unit/test_pool|concurrent|devices' |
        sed -E 's|tests/([a-z]+)/(.*)\.c|\1-\2|')
    [ -n "$targets" ] || { echo "no tests of threads"; return 77; }
    build_in build/tsan "$targets" $lean -DTSR_SANITIZE=thread -DTSR_BUILD_EXAMPLES=OFF || return 1
    run_programs build/tsan property ops oom unit
}

no_threads() {
    build_in build/no-threads tests-unit $plain -DTSR_NO_THREADS=ON -DTSR_WERROR=ON \
        -DTSR_BUILD_EXAMPLES=OFF || return 1
    run_programs build/no-threads unit
}

# A build with a lower highest rank, and whether programs that use it hear of it.
four_dims() {
    build_in build/four-dims "tessera tessera_static unit-test_random" $plain -DTSR_MAX_NDIM=4 \
        -DTSR_WERROR=ON -DTSR_BUILD_EXAMPLES=OFF || return 1
    run_programs build/four-dims unit
    tools/check_install.sh build/four-dims
}

# --- running them -------------------------------------------------------------------

# Sums of the counts in a log: "P F S", empty if it has none.
counts() {
    awk '/^[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$/ { p += $1; f += $3; s += $5; n++ }
         END { if (n) print p, f, s }' "$1"
}

# The sum of what `times` prints, four times like 1m2.3s.
processor_seconds() { tr 'ms' '  ' | awk '{ sum += 60 * ($1 + $3) + $2 + $4 } END { printf "%.0f\n", sum }'; }

# row STEPS...: one after another. A step is a function here or one of tools/check_*.sh. Its output
# is its log, and a file beside that has its exit status and its seconds, by the clock and of the processors,
# once it has ended.
row() {
    local name start status
    for name in "$@"; do
        start=$SECONDS status=0
        (trap 'times >"$logs/$name.processor"' EXIT
        case $name in
            freestanding-*) tools/check_freestanding.sh "${name#*-}" ;;
            *)  if [ -e "tools/check_$name.sh" ]; then "tools/check_$name.sh"; else "${name//-/_}"; fi ;;
        esac) >"$logs/$name" 2>&1 </dev/null || status=$?
        echo "$status $((SECONDS - start)) $(processor_seconds <"$logs/$name.processor")" \
            >"$logs/$name.end.new"
        mv "$logs/$name.end.new" "$logs/$name.end"
    done
}

# Until step $1 has ended, or no row runs: show it, and the last line of its log.
await() {
    until [ -e "$logs/$1.end" ]; do
        kill -0 "${rows[@]}" 2>/dev/null || break
        if [ -t 1 ]; then
            printf '\r\033[K%-18s %4d s  %.60s' "$1" $SECONDS "$(tail -n 1 "$logs/$1" 2>/dev/null |
                tr -d '\r')"
        fi
        sleep 0.3
    done
    if [ -t 1 ]; then printf '\r\033[K'; fi
}

# Counts step $1 and prints its line.
report() {
    local name=$1 status seconds processor p f s result
    read -r status seconds processor 2>/dev/null <"$logs/$name.end" || status=1 seconds=0
    read -r p f s <<<"$(counts "$logs/$name")"
    case $status in
        0)  [ -n "$p" ] || { p=1 f=0 s=0; } ;;
        77) p=0 f=0 s=1 ;;
        *)  p=${p:-0} s=${s:-0}; [ "${f:-0}" != 0 ] || f=1 ;;
    esac
    passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))

    if [ "$f" != 0 ]; then result="FAILED: $p passed, $f failed, $s skipped"
    elif [ "$status" = 77 ]; then result="skipped: $(tail -n 1 "$logs/$name")"
    else
        result="$p passed"
        [ "$s" = 0 ] || result+=", $s skipped"
    fi
    printf '%-18s %s (%d s, %d of processors)\n' "$name" "$result" "$seconds" "${processor:-0}"
    if [ "$f" != 0 ]; then
        # Without the build's progress.
        grep -vE '^(\[ *[0-9]+(%|/[0-9]+)\]|-- )' "$logs/$name" | tail -n 200 | sed 's/^/    | /'
    fi
}

builds=(release address-sanitizer second-compiler thread-sanitizer no-threads four-dims)
sources=(headers covered rows style at freestanding-build freestanding-run) # checks that need no build
checks=(instruction-sets fine-split)                              # of what release built
if [ $has_gpu = no ]; then checks+=(cuda); fi
for check in tools/check_*.sh; do
    name=$(basename "$check" .sh)
    case " ${sources[*]} freestanding " in
        *" ${name#check_} "*) ;;
        *) checks+=("${name#check_}") ;;
    esac
done

beside_builds() {
    row "${sources[@]}"
    until [ -e $logs/release.end ] || ! kill -0 "${rows[0]}"; do sleep 0.3; done
    row "${checks[@]}"
}

# A row is a process group of its own, so that an interrupt, which comes to the group of this script,
# ends all of it.
set -m
rows=()
trap 'kill -- "${rows[@]/#/-}" 2>/dev/null; exit 130' INT TERM
rm -f $logs/*.end

if [ "${1:-all}" = quick ]; then
    steps=(unit)
    row unit &
    rows+=($!)
else
    steps=("${sources[@]}" "${builds[0]}" "${checks[@]}" "${builds[@]:1}")
    row "${builds[@]}" &
    rows+=($!)
    beside_builds &
    rows+=($!)
fi
set +m

for name in "${steps[@]}"; do
    await "$name"
    report "$name"
done
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
