#!/usr/bin/env bash
# The libraries' names are the public interface, no more and no less:
#
#   - everything libtessera.so exports starts with tsr_
#   - every function declared TSR_API in include/ is exported
#   - everything global in libtessera.a starts with tsr_ or tsri_
#   - a kernel, which is compiled for several instruction sets, carries its set: a name with a dtype
#     (sum_f32_avx2) stands in one object only, and every name in objects of src/cpu/x86 has the set in it.
#     Words of vectors and of complex numbers (vf_.., vd_.., complex_..) are no kernels. add_parts is one
#     function that two objects include.
set -u
cd "$(dirname "$0")/.." || exit 1
build=${1:-build}
failed=0

# complain TITLE LIST: if the list is not empty, print it and fail.
complain() {
    [ -z "$2" ] && return
    printf '%s:\n%s\n' "$1" "$2"
    failed=1
}

exported=$(nm -D --defined-only "$build/lib/libtessera.so" |
    awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' | sort -u)
archived=$(nm -g --defined-only "$build/lib/libtessera.a" | awk 'NF == 3 { print $3 }' | sort -u)

# What the preprocessor makes of TSR_API marks each declaration; its name is the word
# before the first parenthesis that is left when the attributes are gone.
declared=$(for header in include/tessera/*.h; do echo "#include \"$header\""; done |
    ${CC:-cc} -std=c11 -E -P -I. - | tr '\n' ' ' | tr ';{}' '\n\n\n' | grep 'visibility("default")' |
    sed -E -e 's/__attribute__ *\(\([a-z_]+(\("[a-z]+"\))?\)\)//g' \
        -e 's/^[^(]*[^a-z0-9_]([a-z0-9_]+) *\(.*/\1/' | sort -u)

if [ -z "$declared" ] || [ -z "$exported" ] || [ -z "$archived" ]; then
    echo "found no symbols to check"
    exit 1
fi

complain "exported, but not tsr_" "$(grep -v '^tsr_' <<<"$exported")"
complain "declared TSR_API, but not exported" "$(comm -23 <(echo "$declared") <(echo "$exported"))"
complain "exported, but not declared TSR_API" "$(comm -13 <(echo "$declared") <(echo "$exported"))"
complain "global in the archive, but neither tsr_ nor tsri_" "$(grep -vE '^tsri?_' <<<"$archived")"
# Functions of the archive as "name object"; what compilers append to a name is left out.
functions=$(nm -A "$build/lib/libtessera.a" | awk 'toupper($(NF - 1)) == "T" {
        object = $1; name = $NF
        sub(/:[^:]*$/, "", object); sub(/.*:/, "", object)
        sub(/\..*/, "", name)
        print name, object
    }' | sort -u)
complain "kernels with one name" "$(awk '
    $1 ~ /_(f|bf|i|u|c|q|s)[0-9]+(_|$)/ && $1 !~ /^(v[fdilmk]|tsri?|add_parts)_/ {
        objects[$1] = objects[$1] " " $2
        count[$1]++
    }
    END { for (name in count) if (count[name] > 1) print name " (" objects[name] " )" }
    ' <<<"$functions" | sort)"
# Objects of src/cpu/x86 are named after their file: gemm_avx2.c.o is of avx2.
complain "without its instruction set" "$(awk '
    match($2, /_(avx2|avx512|amx|vnni|bf16)\.c\.o$/) && $1 !~ /^(v[fdilmk]|tsri|complex)_/ {
        set = substr($2, RSTART + 1, RLENGTH - 5)
        if ($1 !~ "_(avx512)?" set "(_|$)") print $1 " of " $2
    }' <<<"$functions")"
[ $failed = 0 ] && echo "$(wc -l <<<"$declared") public functions"
exit $failed
