#!/usr/bin/env bash
# The hostile tests reach every public function:
#
#   - each function declared TSR_API is named in tests/unit/test_bad_input.c
#   - each that returns a status and takes a result handle (tsr_tensor **, tsr_storage **)
#     or a tensor it may have to allocate (tsr_tensor *) is in the table of tests/oom/test_oom.c
#   - each line that tools/coverage.exceptions says none reaches is there, once
#   - each fault that tools/plant-faults.harmless lists can still be made
#
# A family whose own test does both for every op (hostile_families) is covered by that test; that of the
# elementwise ops calls them by opcheck's table.
#
# The tests are read as the preprocessor leaves them, so a name that a macro makes counts too,
# and one in a comment does not.
set -u
cd "$(dirname "$0")/.." || exit 1
cc=${CC:-cc}
failed=0
hostile_families=(tests/ops/test_{null,elementwise,matmul,einsum,reduce,shape,index,order,linalg}.c
    tests/ops/test_{attention,quant,sampling,nn,conv,pooling,fft}.c
    opcheck/elementwise_ops.c tests/unit/test_{files,shards_and_streams,interop,devices}.c)

# complain TITLE LIST: if the list is not empty, print it and fail.
complain() {
    [ -z "$2" ] && return
    printf '%s:\n%s\n' "$1" "$2"
    failed=1
}

# Every public declaration on a line of its own, without attributes.
declarations() {
    for header in include/tessera/*.h; do echo "#include \"$header\""; done |
        $cc -std=c11 -E -P -I. - | tr '\n' ' ' | tr ';{}' '\n\n\n' | grep 'visibility("default")' |
        sed -E 's/__attribute__ *\(\([a-z_]+(\("[a-z]+"\))?\)\)//g'
}

# The names declared on these lines: the word before the first parenthesis.
names() {
    sed -E 's/^[^(]*[^a-z0-9_]([a-z0-9_]+) *\(.*/\1/' | sort -u
}

# The names that source files use themselves, or by op.def or op_calls.inc, once macros are gone; those of
# their headers do not count.
used_in() {
    for source in "$@"; do
        $cc -std=c11 -E -Iinclude -Isrc -Itests -I. "$source" |
            awk -v file="\"$source\"" \
                '/^# [0-9]+ "/ { own = $3 == file || $3 ~ /op([.]def|_calls[.]inc)"$/; next } own'
    done | grep -oE '\btsr_[a-z0-9_]+' | sort -u
}

# missing_in TITLE NAMES FILES...: the names that none of the files uses.
missing_in() {
    local title=$1 names=$2
    shift 2
    complain "$title" "$(comm -23 <(echo "$names") <(used_in "$@"))"
}

public=$(declarations | names)
allocating=$(declarations | grep -E '^ *tsr_status ' |
    grep -E '(tsr_tensor|tsr_storage) \*\*|[(,] *tsr_tensor \*' | names)
[ -n "$public" ] && [ -n "$allocating" ] || { echo "found no functions to check"; exit 1; }

missing_in "not in tests/unit/test_bad_input.c" "$public" tests/unit/test_bad_input.c "${hostile_families[@]}"
missing_in "not in tests/oom/test_oom.c" "$allocating" tests/oom/test_oom.c "${hostile_families[@]}"
if command -v python3 >/dev/null; then
    tools/coverage-report --exceptions || failed=1
    tools/plant-faults --check || failed=1
fi
[ $failed = 0 ] && echo "$(wc -l <<<"$public") public functions, $(wc -l <<<"$allocating") that may allocate"
exit $failed
