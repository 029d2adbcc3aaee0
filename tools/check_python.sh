#!/usr/bin/env bash
# The Python package: its own tests, most of them against NumPy.
#
#   tools/check_python.sh [BUILD [FILE...]]
#
# FILES are those of python/tests to run, all unless given. TSR_EXAMPLES says how many examples hypothesis
# tries for each function; with 200 or more, tests of memory make a million calls too. Exit status 77: there
# is no package in the build folder (no Python headers), or NumPy, pytest and hypothesis cannot be had.
#
# check_python_address.sh sets TSR_PYTHON_PACKAGE, the folder of another build of the package, and
# TSR_PYTHON_PRELOAD, a library that is loaded before it.
set -u
cd "$(dirname "$0")/.." || exit 1
build=${1:-build}
tests=("${@:2}")
[ ${#tests[@]} != 0 ] || tests=("")
[ -e "$build/python/tessera/_tessera.abi3.so" ] || { echo "no Python package in $build"; exit 77; }
python=$(tools/venv.sh "$build") || { echo "$python"; exit 77; }
wanted='import pytest, hypothesis'
if ! "$python" -c "$wanted" 2>/dev/null; then
    [ "${TSR_SETUP:-on}" != off ] || { echo "pytest and hypothesis are not installed"; exit 77; }
    timeout 200 "$python" -m pip -q --disable-pip-version-check install --retries 0 --timeout 15 \
        pytest hypothesis array-api-strict >/dev/null 2>&1
    "$python" -c "$wanted" 2>/dev/null || { echo "pytest and hypothesis cannot be installed"; exit 77; }
fi
log=$(mktemp)
trap 'rm -f "$log"' EXIT
status=0
if [ -n "${TSR_PYTHON_PRELOAD:-}" ]; then
    # Python itself leaves memory at its end.
    export ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1:max_allocation_size_mb=6000
    export LD_PRELOAD=$TSR_PYTHON_PRELOAD
fi
PYTHONPATH=$(realpath "${TSR_PYTHON_PACKAGE:-$build/python}") PYTHONDONTWRITEBYTECODE=1 \
    "$python" -m pytest -q --tb=short -p no:cacheprovider ${TSR_SEED:+--hypothesis-seed=$TSR_SEED} \
    "${tests[@]/#/python/tests/}" >"$log" 2>&1 || status=$?
unset LD_PRELOAD
cat "$log"

# pytest's last line, as the other tests write it.
count() {
    grep -E '(passed|failed|error)' "$log" | tail -1 | grep -oE "[0-9]+ $1" | grep -oE '^[0-9]+' || echo 0
}
failed=$(($(count failed) + $(count error)))
[ $status = 0 ] || [ $failed != 0 ] || failed=1
echo "$(count passed) passed, $failed failed, $(count skipped) skipped"
exit $((failed > 0))
