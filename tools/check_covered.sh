#!/usr/bin/env bash
# The hostile tests reach every public function:
#
#   - each function declared TSR_API is named in tests/unit/test_bad_input.c
#   - each that returns a status and takes a result handle (tsr_tensor **, tsr_storage **)
#     or a tensor it may have to allocate (tsr_tensor *) is in the table of tests/oom/test_oom.c
#
# The tests are read as the preprocessor leaves them, so a name that a macro makes counts too,
# and one in a comment does not.
set -u
cd "$(dirname "$0")/.." || exit 1
cc=${CC:-cc}
failed=0

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

# The names that a source file uses itself, once macros are gone; those of its headers do not count.
used_in() {
    $cc -std=c11 -E -Iinclude -Isrc -Itests "$1" |
        awk -v file="\"$1\"" '/^# [0-9]+ "/ { own = $3 == file; next } own' |
        grep -oE '\btsr_[a-z0-9_]+' | sort -u
}

public=$(declarations | names)
allocating=$(declarations | grep -E '^ *tsr_status ' | grep -E '(tsr_tensor|tsr_storage) \*\*|[(,] *tsr_tensor \*' | names)
[ -n "$public" ] && [ -n "$allocating" ] || { echo "found no functions to check"; exit 1; }

complain "not in tests/unit/test_bad_input.c" "$(comm -23 <(echo "$public") <(used_in tests/unit/test_bad_input.c))"
complain "not in tests/oom/test_oom.c" "$(comm -23 <(echo "$allocating") <(used_in tests/oom/test_oom.c))"
[ $failed = 0 ] && echo "$(wc -l <<<"$public") public functions, $(wc -l <<<"$allocating") that may allocate"
exit $failed
