#!/usr/bin/env bash
# Fuzzing: builds tests/fuzz with clang's libFuzzer and its address and undefined-behaviour sanitizers,
# and runs every target for a while from the corpus in tests/fuzz/corpus.
#
#   tools/check_fuzz.sh [TARGET...]      all of them unless named
#   tools/check_fuzz.sh --can            only says by its exit status whether there is what it needs
#
#   FUZZ_SECONDS   for each target; 4 unless given
#   FUZZ_SEED      of its random numbers; 1 unless given, so that two runs on the same code are alike
#   FUZZ_GROWN     a folder: what is found that covers more is kept in FUZZ_GROWN/TARGET, and begun from
#
# An input that ends a target stays in build/fuzz-found, and the command that repeats it is printed. So
# do inputs that take a minute, or 2 GB. Exit status 77: there is no clang here, or it has no libFuzzer.
set -u
cd "$(dirname "$0")/.." || exit 1
seconds=${FUZZ_SECONDS:-4}
. tools/clang_sanitizer.sh
found=build/fuzz-found
passed=0 failed=0
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

# --- building ---------------------------------------------------------------------------

can_fuzz() {
    echo '#include <stddef.h>
        int LLVMFuzzerTestOneInput(const unsigned char *p, size_t n);
        int LLVMFuzzerTestOneInput(const unsigned char *p, size_t n)
        { (void)p, (void)n; return 0; }' >"$work/probe.c"
    clang -fsanitize=fuzzer,address,undefined "$work/probe.c" -o "$work/probe" 2>"$work/err" &&
        "$work/probe" -runs=10 >"$work/out" 2>&1
}

command -v clang >/dev/null || { echo "no clang"; exit 77; }
can_fuzz || { echo "clang builds no program with libFuzzer and sanitizers that runs here"; exit 77; }
if [ "${1:-}" = --can ]; then exit 0; fi

clang_build $fuzz_folder $fuzz_sanitizers tests-fuzz >"$work/log" 2>&1 ||
    { grep -v 'Wpass-failed' "$work/log" | tail -n 40; exit 1; }

# --- running ----------------------------------------------------------------------------

# run PROGRAM TARGET
run() {
    local program=$1 target=$2 grown=${FUZZ_GROWN:-$work/grown}/$2 input status=0 executions
    mkdir -p "$grown" "$found"
    rm -f "$found/$target"-*
    ASAN_OPTIONS=quarantine_size_mb=16 UBSAN_OPTIONS=print_stacktrace=1 \
        "$program" "--target=$target" -max_total_time="$seconds" -seed="${FUZZ_SEED:-1}" -timeout=60 \
        -rss_limit_mb=2048 -max_len=8192 -print_final_stats=1 -reload=0 -artifact_prefix="$found/$target-" \
        "$grown" "tests/fuzz/corpus/$target" >"$work/log" 2>&1 || status=$?
    # Where it died there are no statistics; the last line with a number has it.
    executions=$(awk '/^#[0-9]/ { n = substr($1, 2) } /number_of_executed_units/ { n = $2 }
        END { print n + 0 }' "$work/log")
    echo "$target: $executions executions"
    if [ $status = 0 ]; then
        passed=$((passed + 1))
        return
    fi
    failed=$((failed + 1))
    echo "FAILED $target, status $status"
    tail -n 40 "$work/log" | cut -c 1-300
    for input in "$found/$target"-*; do
        if [ -e "$input" ]; then echo "repeat: $program --target=$target $input"; fi
    done
}

for program in $fuzz_folder/tests/fuzz/fuzz_*; do
    if [ ! -e "tests/fuzz/$(basename "$program").c" ]; then continue; fi
    for target in $("$program" --list); do
        case " ${*:-$target} " in *" $target "*) run "$program" "$target" ;; esac
    done
done
echo "$passed passed, $failed failed, 0 skipped"
[ $failed = 0 ]
