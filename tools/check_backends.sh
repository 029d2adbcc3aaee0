#!/usr/bin/env bash
# The conformance program on the backends that are here: sim in full, null without values, OpenCL
# where there is a device; and that it finds what is wrong.
set -u
cd "$(dirname "$0")/.." || exit 1
check=${BUILD:-build}/bin/tsr-backend-check
[ -x "$check" ] || { echo "no $check"; exit 77; }
unset TSR_BACKEND_PATH
export TSR_FALLBACK=error
log=$(mktemp)
trap 'rm -f "$log"' EXIT
passed=0 failed=0 skipped=0

# run NAME OPTIONS...: the counts of its report, and what failed.
run() {
    local p f s
    tools/limit.sh 3000 "$check" "$@" --quiet >"$log" 2>&1
    local status=$?
    read -r p f s <<<"$(awk '/^[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$/ { print $1, $3, $5 }' "$log")"
    if [ -z "$p" ]; then p=0 f=1 s=0; fi
    if [ $status != 0 ] && [ "$f" = 0 ]; then f=1; fi
    echo "tsr-backend-check $*: $p checks passed, $f failed, $s skipped"
    if [ "$f" != 0 ]; then head -n 200 "$log"; fi
    passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
}

# expect TEXT NAME OPTIONS...: exit status 1, and this in the report.
expect() {
    local text=$1
    shift
    tools/limit.sh 600 "$check" "$@" --quiet >"$log" 2>&1
    if [ $? = 1 ] && grep -q "$text" "$log"; then passed=$((passed + 1)); else
        failed=$((failed + 1))
        echo "FAILED: tsr-backend-check $* does not say \"$text\""
        tail -n 20 "$log"
    fi
}

run sim
run null --plumbing

# A device that computes nothing, one that lacks a primitive, one that has no such device.
expect "FAIL  elementwise  add f32" null --filter "add f32"
TSR_SIM_WITHOUT=exp expect "TSR_SIM_WITHOUT leaves it out" sim --filter "exp f32"
if "$check" nowhere >"$log" 2>&1; [ $? = 2 ]; then passed=$((passed + 1)); else
    failed=$((failed + 1))
    echo "FAILED: a device that is not there is checked"
fi

# All that can be done with other ops, done so.
composed=$("$check" --list | awk '$1 ~ /^(nn|attention|quant|conv|pool)$/ { print $2 }' | sort -u |
    paste -sd,)
TSR_SIM_WITHOUT=$composed run sim --filter nn

if "$check" opencl --list --filter contract >/dev/null &&
    "$check" opencl --filter "the table" --quiet >"$log" 2>&1; then
    run opencl
else
    echo "skipped opencl: $(tail -n 1 "$log")"
    skipped=$((skipped + 1))
fi
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
