#!/usr/bin/env bash
# What the documentation shows compiles, links and runs: the example at the top of
# tessera.h, and every ```c or ```cpp block with an `int main` in README.md and the pages of docs/.
set -u
cd "$(dirname "$0")/.." || exit 1
build=$(realpath "${1:-build}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The indented part of the first comment, from its first line to the next paragraph.
awk '/^ \*     / { on = 1 } on && /^ \* [^ ]/ { exit } on { print substr($0, 8) }' \
    include/tessera/tessera.h >"$work/tessera.h.c"
function_name=$(sed -nE 's/^static tsr_status ([a-z_]+)\(void\)$/\1/p' "$work/tessera.h.c" | head -n 1)
printf 'int main(void) { return %s() == TSR_OK ? 0 : 1; }\n' "$function_name" >>"$work/tessera.h.c"

for page in README.md docs/*.md docs/concepts/*.md docs/howto/*.md; do
    awk -v prefix="$work/$(basename "$page" .md)" '
        /^```c(pp)?$/ { text = ""; inside = substr($0, 4); next }
        /^```/   { if (inside && text ~ /int main/) print text > (prefix "_" ++n "." inside); inside = ""; next }
        inside   { text = text $0 "\n" }' "$page"
done

failed=0
for source in "$work"/*.c "$work"/*.cpp; do
    compiler=("${CC:-cc}" -std=c11)
    if [ "$source" != "${source%.cpp}" ]; then compiler=("${CXX:-c++}" -std=c++17); fi
    command -v "${compiler[0]}" >/dev/null || { echo "no ${compiler[0]}: ${source##*/} is not tried"; continue; }
    echo "--- $(basename "$source")"
    # Statically, because a page on the inside shows internal functions.
    "${compiler[@]}" -Wall -Wextra -Werror -Iinclude -Isrc "$source" -o "$work/program" \
        "$build/lib/libtessera.a" -lpthread -lm && (cd "$work" && ./program) && continue
    echo "^ $(basename "$source") failed"
    failed=1
done
exit $failed
