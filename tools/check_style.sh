#!/usr/bin/env bash
# What every source file and script looks like: lines of at most 110 columns, no tabs, no blanks at the end.
# Examples quote what they print, however long. x86 is named in files of x86 alone: what is shared between
# instruction sets is written in the words of src/cpu/simd/avx2.h and avx512.h. A file of src shares its name
# with another only where both are of src/ops and src/cpu, of one family; and no two names differ by an "s".
# CONTRIBUTING.md has the rest, which no program checks.
set -u
cd "$(dirname "$0")/.." || exit 1
folders="src include cli opcheck tests bench backends backend-check examples compat python"
scripts=$(git ls-files tools | grep -vE '\.(harmless|exceptions)$')  # which quote lines
# shellcheck disable=SC2086 # several words
found=$({ git ls-files $folders | grep -E '\.(c|h|inc|def|cpp|hpp|cu|cuh|cl)$'; echo "$scripts"; } |
    xargs awk 'length > 110 && FILENAME !~ /^examples/ { print FILENAME ":" FNR ": " length " columns" }
               /\t/ { print FILENAME ":" FNR ": a tab" }
               /[ \t]$/ { print FILENAME ":" FNR ": blanks at the end" }')
[ -z "$found" ] || { echo "$found"; exit 1; }
found=$(grep -nE '\b_mm(256|512)?_|\b__m(128|256|512|mask)|immintrin' $(git ls-files src include opcheck) |
    grep -vE '^src/cpu/(x86/|simd/avx)')
[ -z "$found" ] || { echo "x86 in a file that is shared:"; echo "$found"; exit 1; }
found=$(git ls-files src | grep -E '\.(c|h|inc)$' | sed -E 's|^src/([a-z]+)/(.*/)?([^/]+)\.[a-z]+$|\3 \1|' |
    sort -u |
    awk '$1 == name && (other || !($2 == "ops" || $2 == "cpu")) { print $1 }
         $1 != name { name = $1; other = 0 }
         { other = other || !($2 == "ops" || $2 == "cpu"); names[$1] = 1 }
         END { for (n in names) if ((n "s") in names) print n " and " n "s" }')
[ -z "$found" ] || { echo "files of src whose names are one, or differ by an s:"; echo "$found"; exit 1; }
found=$(git grep -InE '^(<<<<<<<|>>>>>>>) ')
[ -z "$found" ] || { echo "a merge that was not finished:"; echo "$found"; exit 1; }
echo "lines of all sources are plain and at most 110 columns"
