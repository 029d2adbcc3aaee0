#!/usr/bin/env bash
# TSR_AT costs nothing: the sum of a strided matrix of floats, once over a bare array and once
# through TSR_AT, compiles at -O2 to inner loops of as many instructions, and no calls.
#
#   tools/check_at.sh        with $CC, or gcc
#
# Exit status 77: there is no compiler or no objdump to ask.
set -u
cd "$(dirname "$0")/.." || exit 1
cc=${CC:-gcc}
command -v "$cc" >/dev/null || { echo "no $cc"; exit 77; }
command -v objdump >/dev/null || { echo "no objdump"; exit 77; }
folder=$(mktemp -d) || exit 1
trap 'rm -r "$folder"' EXIT

cat >"$folder/at.c" <<'C'
#include <tessera/tessera.h>

float sum_raw(const float *data, int64_t rows, int64_t cols, int64_t row_step, int64_t col_step);
float sum_at(const tsr_tensor *t);

float sum_raw(const float *data, int64_t rows, int64_t cols, int64_t row_step, int64_t col_step)
{
    float sum = 0;
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < cols; j++) sum += data[i * row_step + j * col_step];
    return sum;
}

float sum_at(const tsr_tensor *t)
{
    float sum = 0;
    const tsr_tensor local = *t;  /* nothing in the loop can change it */
    for (int64_t i = 0; i < local.shape[0]; i++)
        for (int64_t j = 0; j < local.shape[1]; j++) sum += TSR_AT(float, &local, i, j);
    return sum;
}
C
"$cc" -std=c11 -O2 -Wall -Wextra -Iinclude -c "$folder/at.c" -o "$folder/at.o" || exit 1

# The instructions of a function, one a line: address, then text.
body() {
    objdump -d --no-show-raw-insn "$folder/at.o" |
        awk -v name="<$1>:" '$2 == name { on = 1; next } on && NF == 0 { exit } on' |
        sed -E 's/^ *([0-9a-f]+):[[:space:]]*/\1 /'
}

# The innermost loop: from the target of the shortest jump backwards to that jump.
inner_loop() {
    body "$1" | awk '
        { at[NR] = $1; text[NR] = $0; line["x" $1] = NR }
        END {
            for (i = 1; i <= NR; i++) {
                n = split(text[i], word, " ")
                for (w = 3; w <= n; w++)
                    if (("x" word[w]) in line) {
                        to = line["x" word[w]]
                        if (to <= i && (!best || i - to < best)) { best = i - to; from = to; end = i }
                    }
            }
            if (best) for (i = from; i <= end; i++) print text[i]
        }'
}

raw=$(inner_loop sum_raw) at=$(inner_loop sum_at)
raw_count=$(grep -c . <<<"$raw") at_count=$(grep -c . <<<"$at")
calls=$(body sum_at | grep -cE '\b(call|callq|bl|blr)\b')
printf 'bare array, %d instructions:\n%s\nTSR_AT, %d instructions:\n%s\n' \
    "$raw_count" "$raw" "$at_count" "$at"
[ "$raw_count" -gt 0 ] || { echo "found no loop"; exit 1; }
[ "$calls" = 0 ] || { echo "TSR_AT calls a function"; exit 1; }
[ "$raw_count" = "$at_count" ] || { echo "the loops differ in length"; exit 1; }
echo "$at_count instructions each, and no calls"
