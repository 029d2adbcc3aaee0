# shellcheck shell=bash
# Sourced by the checks with clang's sanitizers: builds test programs with one, and runs them.
#
#   clang_build FOLDER SANITIZERS TARGETS...
#   clang_sanitizer FOLDER SANITIZERS PROGRAMS...     (a program is kind/name: unit/test_desc)
#
# With kernels in plain C alone: building those of vectors takes longer than all the rest, and the
# step address-sanitizer has them. Optional libraries know nothing of the sanitizer and are left out.
jobs=${JOBS:-$(nproc 2>/dev/null || echo 2)}

# One build serves the fuzzer and the check of undefined behaviour.
fuzz_folder=build/fuzz
fuzz_sanitizers=address,undefined,float-cast-overflow

# Does a program that clang built with this sanitizer run here?
sanitizer_runs() {
    local probe=$1/probe
    mkdir -p "$1" && echo 'int main(void) { return 0; }' >"$probe.c"
    clang "-fsanitize=$2" "$probe.c" -o "$probe" && "$probe"
}

# One program: its counts, with the end of its output if it failed.
run_one() {
    local log=$1.log status=0
    tools/limit.sh 2400 "$1" >"$log" 2>&1 || status=$?
    echo "--- $1"
    if [ $status != 0 ]; then
        tail -n 60 "$log"
        echo "$1 ended with status $status"
        grep -qE '^[0-9]+ passed, [1-9][0-9]* failed, ' "$log" || echo "0 passed, 1 failed, 0 skipped"
        return 1
    fi
    tail -n 1 "$log"
}
export -f run_one

clang_build() {
    local folder=$1 sanitizers=$2 fuzzer=OFF
    shift 2
    if [ "$folder" = $fuzz_folder ]; then fuzzer=ON; fi
    cmake -S . -B "$folder" -DCMAKE_C_COMPILER=clang -DTSR_FUZZER=$fuzzer -DTSR_SANITIZE="$sanitizers" \
        -DTSR_CUDA=OFF -DTSR_BUILD_COMPAT=OFF -DTSR_BUILD_EXAMPLES=OFF -DTSR_BUILD_CLI=OFF \
        -DTSR_BUILD_BACKENDS=OFF -DTSR_HAVE_AVX2=OFF -DTSR_HAVE_AVX512=OFF -DTSR_HAVE_VNNI=OFF \
        -DTSR_HAVE_BF16=OFF -DTSR_HAVE_AMX=OFF &&
        cmake --build "$folder" -j"$jobs" --target "$@"
}

clang_sanitizer() {
    local folder=$1 sanitizers=$2
    shift 2
    command -v clang >/dev/null || { echo "no clang"; return 77; }
    sanitizer_runs "$folder" "$sanitizers" >/dev/null 2>&1 ||
        { echo "no runtime of clang's sanitizer that runs here"; return 77; }
    clang_build "$folder" "$sanitizers" "${@/\//-}" || return 1
    export TSR_BLAS=none TSR_LAPACK=none TSR_FFT=own TSR_ZLIB=none TSR_POOL=64
    printf "$folder/tests/%s\n" "$@" | xargs -P "$jobs" -I{} bash -c 'run_one {}'
}
