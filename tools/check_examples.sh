#!/usr/bin/env bash
# Each example exits with 0 and prints what its last comment says.
#
#   tools/check_examples.sh [BUILD]            compare
#   tools/check_examples.sh --update [BUILD]   write what they print into the comments
#
# The comment opens with a line "/* Output:" and closes with a line "*/"; between them
# stands the output as it is. An example without one (the demo) need only run. They run in a
# folder of their own, so that files they write do no harm.
set -u
cd "$(dirname "$0")/.." || exit 1
update=no
if [ "${1:-}" = --update ]; then
    update=yes
    shift
fi
bin=$(cd "${1:-build}/bin" && pwd) || exit 1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset TSR_POOL TSR_THREADS
passed=0 failed=0

# What the comment of $1 says.
expected() { awk 'on && /^\*\/$/ { exit } on { print } /^\/\* Output:$/ { on = 1 }' "$1"; }

# $1 again, with the file $2 in its comment.
rewritten() {
    awk -v text="$2" '
        /^\/\* Output:$/ { print; while ((getline line < text) > 0) print line; on = 1; next }
        /^\*\/$/         { on = 0 }
        !on              { print }' "$1"
}

for source in examples/*.c examples/*.cpp; do
    name=$(basename "${source%.*}")
    [ -x "$bin/$name" ] || [ "$source" = "${source%.cpp}" ] || continue # there is no C++ compiler
    status=0
    (cd "$work" && timeout 1800 "$bin/$name") >"$work/got" 2>&1 || status=$?
    if [ $status = 0 ] && grep -q '^/\* Output:$' "$source"; then
        if [ $update = yes ]; then
            rewritten "$source" "$work/got" >"$work/new" && cat "$work/new" >"$source"
        fi
        expected "$source" >"$work/want"
        diff -u --label "$source" --label "$bin/$name" "$work/want" "$work/got" || status=differs
    fi
    if [ $status = 0 ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "^ $name: $status"
        [ $status = differs ] || cat "$work/got"
    fi
done
echo "$passed passed, $failed failed, 0 skipped"
[ $failed = 0 ]
