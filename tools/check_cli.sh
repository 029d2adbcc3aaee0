#!/usr/bin/env bash
# The command tsr: what it prints, how it exits, what it says when asked wrongly; its man page
# and completions.
#
#   tools/check_cli.sh [BUILD]
#
# Exit status 77: there is no command to try.
set -u
cd "$(dirname "$0")/.." || exit 1
build=$(realpath "${1:-build}")
tsr=$build/bin/tsr
[ -x "$tsr" ] || { echo "no $tsr"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset COLUMNS NO_COLOR TSR_THREADS
passed=0 failed=0 skipped=0

# --- reporting --------------------------------------------------------------------------

# report TITLE STATUS: counts; shows what the last `try` gave if it is a failure.
report() {
    if [ "$2" = 0 ]; then
        passed=$((passed + 1))
        return
    fi
    failed=$((failed + 1))
    printf 'FAILED %s\n' "$1"
    head -n 20 "$work/out" "$work/err" 2>/dev/null
}

skip() {
    skipped=$((skipped + 1))
    echo "skipped $1"
}

# try WORDS...: runs tsr; $status, $work/out and $work/err are what came of it.
try() {
    status=0
    timeout 1800 "$tsr" "$@" >"$work/out" 2>"$work/err" </dev/null || status=$?
}

# wants TITLE STATUS [PATTERN-OF-STDOUT [PATTERN-OF-STDERR]]: of the last try. Without a pattern
# of stderr it must be empty.
wants() {
    local ok=0
    [ "$status" = "$2" ] || { echo "exit status $status, not $2"; ok=1; }
    [ -z "${3:-}" ] || grep -qE -e "$3" "$work/out" || { echo "no '$3' on stdout"; ok=1; }
    if [ -n "${4:-}" ]; then
        grep -qE -e "$4" "$work/err" || { echo "no '$4' on stderr"; ok=1; }
    elif [ -s "$work/err" ]; then
        echo "something on stderr"
        ok=1
    fi
    report "$1" $ok
}

# --- help -------------------------------------------------------------------------------

try --help;          wants "--help" 0 '^usage: tsr COMMAND'
commands=$(sed -n '/^commands:/,/^$/p' "$work/out" | awk 'NR > 1 && NF { print $1 }')
[ -n "$commands" ];  report "--help lists commands" $?
for code in 0 1 2 3; do
    grep -qE "^  $code  " "$work/out"; report "--help tells exit status $code" $?
done
try --version;       wants "--version" 0 '^tsr [0-9.]+, library [0-9.]+'
try;                 wants "no command" 2 '' '^usage: tsr COMMAND'
try help;            wants "help" 0 '^usage: tsr COMMAND'
try help nothing;    wants "help of no command" 2 '' "no command 'nothing'"
try oops
wants "a command that is none" 2 '' "^tsr: there is no command 'oops'; did you mean ops\?"
try --oops;          wants "an option that is none" 2 '' '^tsr: there is no option --oops'
for name in $commands; do
    try help "$name";     wants "help $name" 0 "^usage: tsr $name"
    cp "$work/out" "$work/help"
    try "$name" --help;   wants "$name --help" 0 "^usage: tsr $name"
    cmp -s "$work/help" "$work/out"; report "both helps of $name are the same" $?
    try "$name" --oops
    wants "$name with an option that is none" 2 '' "^tsr: $name: there is no option --oops"
done

# --- ops --------------------------------------------------------------------------------

try ops;                  wants "ops" 0 '^elementwise \('
[ "$(awk '{ if (length > n) n = length } END { print n + 0 }' "$work/out")" -le 80 ]
report "ops fits 80 columns" $?
! grep -q $'\033' "$work/out"; report "ops prints no colours to a file" $?
for width in 40 64 100; do
    COLUMNS=$width try ops
    [ "$(awk '{ if (length > n) n = length } END { print n + 0 }' "$work/out")" -le $width ]
    report "ops fits $width columns" $?
done
try ops --names;          wants "ops --names" 0 '^add$'
names=$(wc -l <"$work/out")
listed=$(grep -cE '^(X|COMPOSED|UNARY\w*|BINARY|TERNARY\w*)\(' include/tessera/op.def)
[ "$names" = "$listed" ]; report "ops names each of the $listed rows of op.def" $?
try ops --families;       wants "ops --families" 0 '^reduce$'
try ops add matmul;       wants "ops of two names" 0 '^matmul  matmul$'
grep -qE '^  takes +y: as x$' "$work/out"; report "an operand that shares a dtype says so" $?
try ops abs;              wants "ops abs" 0 '^  gives +z: i8 .* f64$'
grep -qE '^  errors +f16 0, f32 0, f64 0, c64 1, c128 1, in units' "$work/out"
report "an elementwise op tells its errors" $?
try ops linear;           wants "ops of a composed op" 0 '^linear  matmul, composed of other ops$'
grep -qE '^  call +x, w, bias = none -> out$' "$work/out"; report "an op tells what its function takes" $?
try ops --json;           wants "ops as JSON" 0 '^ +"kind": "composed",$'
[ "$(grep -cE '^      "name": ' "$work/out")" = "$listed" ]; report "ops --json has each of the rows" $?
try ops rope --json;      wants "an argument of JSON: its type" 0 '^ +"type": "tsr_rope_mode",$'
grep -qE '^ +"default": "TSR_ROPE_HALVES"$' "$work/out"; report "an argument of JSON: its default" $?
try ops --family scan;    wants "ops of a family" 0 '^scan \('
! grep -q '^reduce' "$work/out"; report "other families are not shown" $?
try ops --family=scan;    wants "ops of a family, with =" 0 '^scan \('
try ops logadexp
wants "an op that is none" 1 '' "^tsr: ops: no op is called 'logadexp'; did you mean logaddexp\?$"
try ops sum nothing_like_it; wants "one of two that is none" 1 '' "no op is called 'nothing_like_it'$"
try ops --family reduse
wants "a family that is none" 1 '' "no family is called 'reduse'; did you mean reduce\?"
try ops add --family scan; wants "an op of another family" 1 '' "none of these"
try ops --family;         wants "an option without its value" 2 '' '--family needs a value'
try ops --json=x;         wants "a switch with a value" 2 '' '--json takes no value'
try ops --json --markdown; wants "two forms at once" 2 '' 'not several'
try ops -- add;           wants "a name after --" 0 '^add  elementwise'

# --- bench, devices -----------------------------------------------------------------------

try bench --seconds 0.01 "d.mm.f32.8\$";  wants "bench of one workload" 0 '^d\.mm\.f32\.8 .*GF/s .*\*'
try bench --list;                        wants "the names of workloads" 0 '^a\.T\.f32\.100$'
try bench --json --seconds 0.01 'f.add4$'
wants "bench as JSON" 0 '^\{"lib": "tessera", "workload": "f\.add4", "threads": 1, '
try bench --seconds 0.01 --picture "$work/roof.svg" 'mm.f32.(8|64)$|T.f32.100$|add.f32.1M'
wants "bench with a picture" 0 'GB/s'
grep -q '<svg' "$work/roof.svg" && grep -q 'Computing' "$work/roof.svg" && grep -q '<circle' "$work/roof.svg"
report "the roofline has points" $?
try bench '(';                           wants "a pattern that is none" 2 '' 'is no regular expression'
try bench --threads 0 f.add4;            wants "no threads" 2 '' '--threads is 1 to 1024'
try bench a b;                           wants "two patterns" 2 '' 'one pattern at most'
try bench --seconds 0.01 --picture "$work/none/roof.svg" 'f.add4$'
wants "a picture that cannot be written" 1 '' 'roof.svg'
try bench --tune --seconds 0 column_ahead; wants "bench --tune" 0 '^column_ahead +[0-9]+ +[0-9]+ +[0-9.]+'
grep -q '^const tsri_tuning tsri_tuning_this_machine = {$' "$work/out"; report "bench --tune prints a row" $?
sed -n '/^\/\*/,$p' "$work/out" >"$work/this_machine.c"
${CC:-cc} -std=c11 -Wall -Wextra -Werror -Wno-missing-field-initializers -fsyntax-only -Isrc \
    -Isrc/cpu/tuning -Iinclude "$work/this_machine.c"
report "the row compiles" $?
fields=$(grep -cE '^(PLAIN|PRODUCTS|CONV|INDEXING|COPIES|OF_LANES|SYSTEM)\(' src/cpu/tuning/fields.def)
[ "$(grep -cE '^ +\.[a-z_]+ = [A-Z0-9]' "$work/this_machine.c")" = "$fields" ]
report "the row is complete" $?
try bench --tune --seconds 0 --json huge
wants "bench --tune as JSON" 0 '^\{"fields": "system.huge_least", "in_use": "[0-9]+", '
grep -qE '^\{"changes": "[^"]*", "tuning": "[a-z_0-9]+,thread_work=[0-9]+,.*"\}$' "$work/out"
report "the tuning as JSON" $?
TSR_TUNING=default,copy_ahead=64 try bench --tune --seconds 0 --json huge
wants "bench --tune of another family" 0 '"tuning": "default,.*,copy_ahead=64,'
try bench --tune --list;                 wants "--tune with another form" 2 '' '--tune goes with'
try bench --tune nothing_like_it
wants "a field that is none" 1 '' "no field that is measured matches 'nothing_like_it'"
try bench --tune '('
wants "a pattern of fields that is none" 2 '' 'is no regular expression'
try devices
wants "the devices" 0 '^cpu:0 .* CPU, [a-z0-9]+ kernels, [0-9]+ threads$'
try devices
wants "devices of plugins" 0 '^sim:1 .* simulated device 1 \(f64 f16 bf16 async graphs peer\)$'
try devices --json;                      wants "the devices as JSON" 0 '"name": "cpu:0"'
try devices cpu
wants "a word that devices does not take" 2 '' "takes no argument, but got 'cpu'"

# --- selftest ---------------------------------------------------------------------------

try selftest --seed 7 --seconds 0;  wants "selftest" 0 '^[0-9]+ run, 0 failed, [0-9]+ skipped in .* seed 7$'
sed 's/ in [0-9.]* s with.*//' "$work/out" >"$work/first"
try selftest --seed 7 --seconds 0
sed 's/ in [0-9.]* s with.*//' "$work/out" | cmp -s - "$work/first"
report "selftest of one seed repeats itself" $?
try selftest --seed 7 --seconds 0;  wants "selftest has a check of every op" 0 '^[0-9]+ run, 0 failed'
! grep -q 'no check is about' "$work/out"; report "no op is without a check in selftest" $?
TSR_LAPACK=none try selftest --seed 7 --seconds 0
wants "selftest without LAPACK" 0 '^[0-9]+ run, 0 failed, 0 skipped in'
try selftest --seed 1 --family order --verbose; wants "selftest of a family" 0 '^ok +order +sort f32 '
! grep -q elementwise "$work/out"; report "other families are not run" $?
try selftest --family ordre;     wants "selftest of a family that is none" 1 '' "did you mean order\?"
try selftest --seed x;           wants "a seed that is none" 2 '' "--seed takes a whole number"
try selftest --seed -1;          wants "a negative seed" 2 '' "--seed takes a whole number"
try selftest --seconds nan;      wants "seconds that are none" 2 '' "--seconds takes a number of seconds"
try selftest word;               wants "a word too much" 2 '' "not 'word'"
TSR_THREADS=3 try selftest --seed 2 --family threads
wants "selftest with 3 threads" 0 'with 3 threads; seed 2'
for family in $("$tsr" ops --families); do
    try selftest --seed 3 --seconds 0 --family "$family"; wants "selftest --family $family" 0 ' run, 0 failed'
done
try selftest --seed 4 --seconds 0 --family elementwise
! grep -q '^skipped, as no check' "$work/out"
report "each elementwise op has a row in cli/check_elementwise.c" $?

# A library that is wrong is noticed: maximum answers with x, whatever y is.
cat >"$work/wrong.c" <<'C'
#include <tessera/tessera.h>
tsr_status tsr_maximum(tsr_tensor **out, const tsr_tensor *x, const tsr_tensor *y)
{
    return tsr_fmin(out, x, y);
}
C
if ldd "$tsr" | grep -q asan ||
    ! ${CC:-cc} -shared -fPIC -Iinclude "$work/wrong.c" -o "$work/wrong.so" 2>/dev/null; then
    skip "a wrong library: cannot be made here"
else
    LD_PRELOAD=$work/wrong.so try selftest --seed 5 --seconds 0
    wants "a wrong library" 1 '^FAILED elementwise: maximum f32'
    grep -qE '^[0-9]+ run, [1-9][0-9]* failed, ' "$work/out"; report "failures are counted" $?
fi

# --- files --------------------------------------------------------------------------------

# Made by tsr itself: three tensors, in several formats.
f=$work/files
mkdir -p "$f/shards"
make() { "$tsr" eval "$1" -o "$f/$2" --force || echo "cannot make $2"; }
make 'arange(24).reshape(2, 3, 4)' x.npy
make 'sin(arange(3000).reshape(60, 50) / 70.0).astype(f32)' wave.npy
make 'where(arange(1000) == 3, nan, where(arange(1000) == 5, inf, arange(1000) * 0.5))' nan.npy
make 'arange(600).reshape(10, 20, 3).astype(u8)' image.npy
make 'normal((2, 3, 8, 9), seed=7).astype(f32)' box.npy
"$tsr" convert "$f/x.npy" "$f/wave.npy" "$f/m.safetensors" --quiet
"$tsr" convert "$f/m.safetensors" "$f/m.npz" --quiet --compress
printf 'this is no tensor file at all' >"$f/bad.npy"
head -c 90 "$f/x.npy" >"$f/short.npy"

try info "$f/x.npy";              wants "info" 0 '^  - +i64 +\(2, 3, 4\) +\(12, 4, 1\) +192 +mapped$'
try info "$f/m.npz";              wants "info of npz" 0 'total: 2 tensors, 3024 elements'
try info --brief "$f";            wants "info of a directory" 3 'm.npz: npz, 2 tensors' 'bad.npy'
try info "$f/m.safetensors:wave"; wants "info of one tensor" 0 '^total: 1 tensor, 3000 elements'
try info "$f/nothing.npy";        wants "info of no file" 3 '' 'nothing.npy: No such file'
try info "$f/bad.npy";            wants "info of what is none" 3 '' 'bad.npy'
try info "$f/short.npy";          wants "info of a cut file" 3 '' 'short.npy'
try stats "$f/x.npy" "$f/m.npz";  wants "stats of two files names them" 0 "^$f/m.npz$"
try show "$f/x.npy" "$f/x.npy[0]"; wants "show of two files names them" 0 "^$f/x.npy\\[0\\]$"
: >"$f/empty.npy"
try info "$f/empty.npy";          wants "info of an empty file" 3 '' 'empty.npy: the file is empty$'
rm "$f/empty.npy"
try info;                         wants "info of nothing" 2 '' 'which file'
status=0; "$tsr" info - <"$f/x.npy" >"$work/out" 2>"$work/err" || status=$?
wants "info of standard input" 0 'i64 +\(2, 3, 4\)'
status=0
# shellcheck disable=SC2002 # a pipe is what is tried
cat "$f/x.npy" | "$tsr" show '-[1, 2]' >"$work/out" 2>"$work/err" || status=$?
wants "show of a pipe" 0 '^\[20 21 22 23\]$'

# A model of twelve layers, of which one is not like the others, in the order of strcmp.
l=$f/layers
mkdir "$l"
for i in 0 1 10 11 2 3 4 5 6 7 8 9; do
    "$tsr" eval "zeros(($((i == 3 ? 9 : 8)), 4)).astype(f32)" -o "$l/net.layers.$i.q.weight.npy"
    "$tsr" eval 'zeros(4).astype(f16)' -o "$l/net.layers.$i.norm.npy"
done
"$tsr" eval 'zeros(())' -o "$l/net.step.npy"
"$tsr" convert "$l" "$f/layers.safetensors" --quiet
LC_ALL=C.UTF-8 try info --tree "$f/layers.safetensors"
wants "info as a tree" 0 '^  net  +25 tensors  +1\.7 KB$'
cat >"$work/tree" <<'TREE'
  net                    25 tensors           1.7 KB
  ├ layers               24 tensors           1.6 KB
  │ ├ 0–2,4–11           2 tensors each       1.5 KB
  │ │ ├ norm             4               f16     8 B
  │ │ └ q.weight         8×4             f32   128 B
  │ └ 3                  2 tensors             152 B
  │   ├ norm             4               f16     8 B
  │   └ q.weight         9×4             f32   144 B
  └ step                 scalar          f64     8 B
TREE
grep -E '^  ' "$work/out" | sed 's/  */ /g' | diff - <(sed 's/  */ /g' "$work/tree") >"$work/err"
report "layers that are alike are folded" $?
LC_ALL=C try info --tree "$f/layers.safetensors"; wants "a tree without UTF-8" 0 '^  \| \| \| norm '
! LC_ALL=C grep -q '[^ -~]' "$work/out";       report "and nothing else but ASCII" $?
LC_ALL=C.UTF-8 try info --all "$f/layers.safetensors"; wants "nothing is folded" 0 '10 +2 tensors +136 B'
[ "$(grep -n ' 10 ' "$work/out" | cut -d: -f1)" -gt "$(grep -n ' 9 ' "$work/out" | cut -d: -f1)" ]
report "layer 9 comes before layer 10" $?
for width in 60 200; do
    COLUMNS=$width LC_ALL=C.UTF-8 try info --tree "$f/layers.safetensors"
    [ "$(grep -E '^  ' "$work/out" | wc -L)" -le $width ]; report "a tree fits $width columns" $?
done
try info "$f/layers.safetensors"
wants "info to a file is a table" 0 '^  net\.layers\.3\.q\.weight +f32 +\(9, 4\) +\(4, 1\) +144 +mapped$'
try info "$f/layers.safetensors:net.layers.*.norm" --sort name
wants "names by a pattern" 0 'total: 12 tensors, 48 elements'
[ "$(awk '/norm/ { print $1 }' "$work/out" | sed -n '3p;11p' |
    tr '\n' ' ')" = "net.layers.2.norm net.layers.10.norm " ]
report "which come in natural order" $?
try info "$f/layers.safetensors" --sort size;  wants "the largest first" 0 ''
[ "$(awk 'NR == 3 { print $1 }' "$work/out")" = net.layers.3.q.weight ]; report "and it is" $?
try info "$f/layers.safetensors" --select '*.1.*' --select '*step'; wants "two patterns" 0 'total: 3 tensors'
try info "$f/layers.safetensors" --names --select '*.1.*'; wants "names alone" 0 '^net\.layers\.1\.norm$'
[ "$(wc -l <"$work/out")" = 2 ];               report "and no more than them" $?
try info "$f/layers.safetensors" --select none
wants "a pattern that matches nothing" 1 '' 'no name matches --select'
try info "$f/layers.safetensors:none*"
wants "the same behind the file" 3 '' "no name matches 'none\*'"
try info "$f/layers.safetensors" --sort weight
wants "an order that is none" 2 '' '--sort takes one of: file name size'
try convert "$f/layers.safetensors" "$f/sorted.safetensors" --sort size; wants "convert in an order" 0
try info "$f/sorted.safetensors"
[ "$(awk 'NR == 3 { print $1 }' "$work/out")" = net.layers.3.q.weight ]; report "which is that of the file" $?

try show "$f/x.npy[0, ::2, ..., -1]"; wants "show of a slice" 0 '^\[ 3 11\]$'
try show "$f/x.npy[1, None, 2, ::-1]"; wants "show with a new axis, backwards" 0 '^\[\[23 22 21 20\]\]$'
try show "$f/x.npy[5:2, 100:]";   wants "show of nothing" 0 'i64\(0, 0, 4 '
try show "$f/x.npy[2]"
wants "an index out of bounds" 3 '' 'index 2 is out of bounds for axis 0 with size 2'
try show "$f/x.npy[0, 0, 0, 0]";  wants "too many indices" 3 '' '4 indices for a tensor with 3 dims'
try show "$f/x.npy[1:2:0]";       wants "a step of 0" 2 '' 'step of a range is 0'
try show "$f/x.npy[a]";           wants "a slice that is none" 2 '' 'neither an index'
try show "$f/m.safetensors:wav";  wants "a name that is none" 3 '' "has no tensor 'wav'; did you mean wave\?"
try show "$f/m.safetensors:x[0, 0, 0]"; wants "one element of one tensor" 0 '^0$'
try show "$f/m.safetensors[0]";   wants "a slice of several tensors" 2 '' 'several tensors'
try show "$f:nan[:3]";            wants "a tensor of a directory" 3 '^\[0\.  0\.5 1\. \]$' 'bad.npy'
make 'arange(2)' vector.npy
printf '\223NUMPY\1\0v\0%-117s\n\200\4N.' "{'descr': '|O', 'fortran_order': False, 'shape': (2,), }" \
    >"$work/o.npy"
for name in show stats plot "diff $f/vector.npy" "convert --force"; do
    # shellcheck disable=SC2086 # words
    try $name "$work/o.npy" $([ "${name%% *}" != convert ] || echo "$work/o2.npy")
    grep -qE '(^|/)o\.npy is \|O: objects of Python, which is not read$' "$work/err"
    report "${name%% *}: what is not read is told of in words" $?
done
try show "$f/m.npz" --select 'w*'; wants "show of those that match" 0 '^wave: f32'
! grep -q '^x: ' "$work/out";      report "and of no others" $?
try show "$f/m.npz" --sort size;  wants "show in an order" 0
[ "$(grep -oE '^(wave|x):' "$work/out" | head -n 1)" = wave: ]; report "the largest first" $?
try show "$f/m.npz" --select none; wants "show of nothing that matches" 1 '' 'no name matches'
try show "$f/wave.npy" --full --precision 2; wants "show in full" 0 '9.99e-01'
[ "$(wc -l <"$work/out")" -gt 300 ]; report "show --full shows all" $?
"$tsr" convert "$f/x.npy" "$f/odd.npz" --rename '^x$=w[0]:a' --quiet
try show "$f/odd.npz:w[0]:a[0, 0]";   wants "a name with brackets and a colon" 0 '^\[0 1 2 3\]$'
try show "$f/odd.npz:\"w[0]:a\"[0, 0]"; wants "the same in quotes" 0 '^\[0 1 2 3\]$'
try show "$f/odd.npz:\"w[0";          wants "quotes that do not close" 2 '' 'do not close'
dd if="$f/x.npy" bs=1 skip=$(($(wc -c <"$f/x.npy") - 192)) of="$f/x.bin" 2>/dev/null
"$tsr" convert "$f/x.npy" "$f/loud.npz" --rename "^x\$=a"$'\033[31m'b --quiet
for name in info show stats "diff $f/x.npy" "plot --kind hist"; do
    # shellcheck disable=SC2086 # words
    try $name "$f/loud.npz"
    ! grep -q $'\033' "$work/out" "$work/err"; report "${name%% *}: names do not speak to the terminal" $?
done
cp "$f/x.npy" "$f/a"$'\033[31m'$'\n'"b.npy"
for name in info "info --names" "show $f/x.npy" "stats $f/x.npy" "diff $f/wave.npy" \
    "plot --kind hist" "convert --force"; do
    # shellcheck disable=SC2086 # words
    try $name "$f/a"$'\033[31m'$'\n'"b.npy" $([ "${name%% *}" != convert ] || echo "$work/silent.npy")
    ! grep -q $'\033' "$work/out" "$work/err"
    report "${name%% *}: names of files do not speak to the terminal" $?
done
try convert "$f/x.npy" "$f/c"$'\033[31m'".npy"
    wants "a name of a result that speaks" 0 '^.*/c\?\[31m\.npy: 1 tensor'
rm "$f/a"$'\033[31m'$'\n'"b.npy" "$f/c"$'\033[31m'".npy"
try show "$f/loud.npz:a"$'\033[31m'b"[0, 0]"; wants "but they are found" 0 '^\[0 1 2 3\]$'
try show "$f/x.bin[1, -1]" --dtype i64 --shape=2,-1,4; wants "raw bytes" 0 '^\[20 21 22 23\]$'
try show "$f/x.bin" --dtype i65 --shape 24; wants "a dtype that is none" 2 '' "no dtype is called 'i65'"
try show "$f/x.bin" --dtype i64 --shape 2,x; wants "a shape that is none" 2 '' '--shape takes sizes'

try stats "$f/nan.npy";           wants "stats" 0 '^  nan +1 +\(0.1 %\)$'
grep -qE '^  max +inf$' "$work/out";  report "stats has infinities" $?
try stats "$f/x.npy" --quantiles 0,0.5,1; wants "stats of quantiles" 0 '^  50 % +11.5$'
COLUMNS=120 try stats "$f/m.npz"; wants "stats of several" 0 '^wave +f32 +3000 '
make 'where(arange(1000) < 2, nan, where(arange(1000) < 5, -inf, (arange(1000) % 10).astype(f32)))' odd.npy
try stats "$f/odd.npy"
wants "stats of what is not finite" 0 '^  mean +4\.5[0-9]+  \(of 995 finite ones\)$'
make 'full((5,), nan)' none.npy
try stats "$f/none.npy";          wants "stats of NaN alone" 0 '^  mean +-$'
! grep -q -e -nan "$work/out";    report "and no sign of it" $?
for dtype in bf16 f16 f32 f64; do
    for n in 9 5000; do
        make "full(($n,), -0.0).astype($dtype)" zeros.safetensors
        try stats "$f/zeros.safetensors"; wants "min of -0 of $dtype" 0 '^  min +-0$'
        grep -qE '^  max +-0$' "$work/out"; report "max of -0 of $dtype" $?
        make "where(arange($n) == 3, -0.0, 0.0).astype($dtype)" zeros.safetensors
        try stats "$f/zeros.safetensors"; wants "-0 of $dtype is below 0" 0 '^  min +-0$'
        grep -qE '^  max +0$' "$work/out"; report "and 0 above it" $?
    done
done
mkdir "$f/rows"
for i in 1 2 10; do "$tsr" eval "normal((50, 60), seed=$i) * $i" -o "$f/rows/layer.$i.npy"; done
cp "$f/odd.npy" "$f/rows/odd.npy"
LC_ALL=C.UTF-8 COLUMNS=120 try stats "$f/rows"
wants "stats in rows" 0 '^layer\.2 +f64 +3000 .* 0 +0 +0  .*█.*'
[ "$(awk '{ print $1 }' "$work/out" | tr '\n' ' ')" = "name layer.1 layer.2 layer.10 odd " ]
report "in natural order" $?
grep -qE '^odd +f32 +1000 +-inf +9 +4\.5[0-9]* +2\.[0-9]* +99 +2 +3 ' "$work/out"
report "with all numbers" $?
LC_ALL=C COLUMNS=120 try stats "$f/rows" --sort std; wants "rows by a number" 0 '^layer\.10 .*[#*]'
[ "$(awk 'NR == 2 { print $1 }' "$work/out")" = layer.10 ]; report "the largest first" $?
for width in 50 60 80 200; do
    LC_ALL=C.UTF-8 COLUMNS=$width try stats "$f/rows"
    [ "$(wc -L <"$work/out")" -le $width ] && grep -q ' nan' "$work/out" && grep -q ' inf' "$work/out"
    report "rows fit $width columns, and tell of NaN" $?
done
try stats "$f/rows" --quantiles 0.5; wants "quantiles of several" 0 '^layer\.10: f64\(50, 60'
[ "$(grep -cE '^  50 % ' "$work/out")" = 4 ]; report "which each of them has" $?
try stats "$f/rows" --select none; wants "rows of nothing" 1 '' 'no name matches'
try stats "$f/x.npy[0, 0]";       wants "stats of a slice" 0 '^  max +3$'
try stats "$f/x.npy[:0]";         wants "stats of nothing" 0 '^  count +0$'
make 'arange(900000).reshape(900, 1000)' large.npy
try stats "$f/large.npy[::2, ::-3]"; wants "stats in pieces" 0 '^  mean +449499.5$'
try diff "$f/large.npy" "$f/large.npy[::-1]" --quiet; wants "diff in pieces" 1
for words in "stats $f/large.npy $f/rows" "diff $f/large.npy $f/large.npy[::-1]"; do
    # shellcheck disable=SC2086 # words
    TSR_THREADS=1 try $words --json; cp "$work/out" "$work/one"
    # shellcheck disable=SC2086
    TSR_THREADS=3 try $words --json
    cmp -s "$work/one" "$work/out"; report "${words%% *}: three threads find what one does" $?
done
try stats "$f/x.npy" --bins 0;    wants "no bins" 2 '' '--bins takes 1'
try stats "$f/x.npy" --quantiles 2; wants "a quantile that is none" 2 '' '--quantiles takes'

make 'sin(arange(3000).reshape(60, 50) / 70.0).astype(f32) + (arange(3000).reshape(60, 50) == 777) * 0.001' \
    near.npy
try diff "$f/wave.npy" "$f/wave.npy"; wants "diff of the same" 0 '^identical$'
try diff "$f/wave.npy" "$f/near.npy" --any-dtype
wants "diff of what differs" 1 'max abs 0.001[0-9.e-]* at \(15, 27\)'
try diff "$f/wave.npy" "$f/near.npy" --any-dtype --atol 0.002; wants "diff within a tolerance" 0 '^close$'
try diff "$f/wave.npy" "$f/near.npy" --atol 0.002; wants "diff of dtypes" 1 'tensor: other dtype; '
LC_ALL=C try diff "$f/x.npy" "$f/wave.npy"; wants "diff of shapes" 1 '2x3x4 and 60x50$'
try diff "$f/m.npz" "$f/x.npy" --quiet; wants "diff --quiet" 1
[ ! -s "$work/out" ];                 report "diff --quiet says nothing" $?
try diff "$f/m.npz" "$f/odd.npz";     wants "diff of names" 1 '^wave +only in A$'
try diff "$f/m.npz" "$f/m.safetensors"; wants "diff of two formats" 0 '^identical: 2 tensors$'
try diff "$f/m.npz" "$f/bad.npy";     wants "diff with a damaged file" 3 '' 'bad.npy'
try diff "$f/nan.npy" "$f/nan.npy";   wants "NaN is NaN" 0
try diff "$f/nan.npy" "$f/nan.npy" --nan-differs; wants "unless it differs" 1 'different'
# Two models: one tensor moved a little, one a lot, one has a NaN, one another shape, one another dtype; one
# of each side alone.
mkdir "$f/a" "$f/b"
for i in 1 2 3 4 5 6 7; do
    "$tsr" eval "sin(arange(600).reshape(20, 30) * $i).astype(f32)" -o "$f/a/w.$i.npy"
done
cp "$f"/a/* "$f/b"
"$tsr" eval 'x + (arange(600).reshape(20, 30) == 7).astype(f32) * 0.001' "x=$f/a/w.2.npy" -o "$f/b/w.2.npy" \
    --force
"$tsr" eval 'x * 1.5' "x=$f/a/w.3.npy" -o "$f/b/w.3.npy" --force
"$tsr" eval 'where(arange(600).reshape(20, 30) == 9, nan, x).astype(f32)' "x=$f/a/w.4.npy" -o "$f/b/w.4.npy" \
    --force
"$tsr" eval 'x[1:]' "x=$f/a/w.5.npy" -o "$f/b/w.5.npy" --force
"$tsr" eval 'x.astype(f64)' "x=$f/a/w.6.npy" -o "$f/b/w.6.npy" --force
mv "$f/b/w.7.npy" "$f/b/v.npy"
LC_ALL=C try diff "$f/a" "$f/b"
others='1 only in A, 1 only in B, 1 of another shape, 1 of another dtype'
wants "diff of two models" 1 "^different: 6 of 8 tensors \($others\); NaN on one side of w\.4$"
cat >"$work/table" <<'TABLE'
name    rel L2     cosine  max abs  changed   share
v     only in B
w.7   only in A
w.5   shapes 20x30 and 19x30
w.4        nan        nan        0        1  0.167%  NaN in one
w.3      0.333  1.0000000      0.5      599   99.8%
w.2   5.77e-05  1.0000000    0.001        1  0.167%
w.6          0  1.0000000        0        0      0%  f32 and f64
TABLE
head -n 8 "$work/out" | diff - "$work/table" >"$work/err"; report "diff has one table, the worst first" $?
LC_ALL=C try diff "$f/a" "$f/b" --sort name; wants "diff by name" 1 '^different'
[ "$(awk 'NR == 3 { print $1 }' "$work/out")" = w.3 ]; report "and it is by name" $?
LC_ALL=C COLUMNS=40 try diff "$f/a" "$f/b"
[ "$(head -n 8 "$work/out" | wc -L)" -le 40 ]; report "the table fits 40 columns" $?
LC_ALL=C try diff "$f/layers.safetensors" "$f/m.npz"
    wants "names of what one side has" 1 '^net\.layers\.10\.q\.weight  only in A$'
mkdir "$f/long.a" "$f/long.b"
for i in 3 4; do
    cp "$f/a/w.$i.npy" "$f/long.a/model.layers.$i.self_attn.q_proj.weight.npy"
    cp "$f/b/w.$i.npy" "$f/long.b/model.layers.$i.self_attn.q_proj.weight.npy"
done
cp "$f/a/w.5.npy" "$f/long.a/w.npy" && cp "$f/b/w.5.npy" "$f/long.b/w.npy"
LC_ALL=C.UTF-8 COLUMNS=60 try diff "$f/long.a" "$f/long.b"
    wants "long names in 60 columns" 1 '^model\.layers\.3\.se'
try diff "$f/a" "$f/b" --select 'w.[16]'; wants "dtypes alone" 1 '^same values, other dtypes: 2 tensors$'
try diff "$f/a" "$f/b" --select 'w.[16]' --any-dtype
wants "which are allowed" 0 '^same values, other dtypes: 2 tensors$'
try diff "$f/a" "$f/b" --select 'w.[12]' --atol 0.01
wants "within a tolerance" 0 '^close: 2 tensors; largest relative L2 5\.77e-05 in w\.2$'
try diff "$f/a" "$f/b" --select none; wants "nothing to compare" 1 '' 'no name matches'
try diff "$f/a/w.4.npy" "$f/b/w.4.npy"; wants "a NaN is no infinite error" 1 '^    NaN on one side alone: 1$'
! grep -q inf "$work/out";            report "and has none" $?
make 'arange(600) + 9007199254740992' long.npy
make 'arange(600) + 9007199254740993' longer.npy
try diff "$f/long.npy" "$f/longer.npy"; wants "integers beyond doubles" 1 '600 of 600 elements differ$'
try diff "$f/long.npy" "$f/longer.npy" --atol 1; wants "which are 1 apart" 0 '^close$'
make 'where(arange(600) == 5, inf, arange(600) * 1.0)' infinite.npy
try diff "$f/infinite.npy" "$f/infinite.npy" --nan-differs; wants "infinities are the same" 0 '^identical$'
try diff "$f/x.npy";                  wants "diff of one" 2 '' 'two files'

try convert "$f/m.npz" "$f/new.safetensors"; wants "convert" 0 'new.safetensors: 2 tensors'
try convert "$f/m.npz" "$f/new.safetensors"; wants "convert over a file" 1 '' 'is there already; --force'
try convert "$f/m.npz" "$f/new.safetensors" --force --quiet; wants "convert --force" 0
try convert "$f/m.npz" "$f/one.npy"
wants "convert several to npy" 1 '' 'npy holds one tensor, and there are 2'
[ ! -e "$f/one.npy" ];                report "and nothing is written" $?
try convert "$f/m.npz" "$f/each/";    wants "convert to a directory" 0 'each/: 2 tensors'
try diff "$f/m.npz" "$f/each";        wants "which has the same" 0 '^identical: 2 tensors$'
names=(a/b a_b a%2Fb A/b .hidden -dash a/B)
header=
for i in "${!names[@]}"; do
    header+=${header:+,}"\"${names[i]}\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[$i,$((i + 1))]}"
done
header={$header}
{ printf "\\x$(printf %x $((${#header} % 256)))\\x$(printf %x $((${#header} / 256)))\0\0\0\0\0\0"
  printf '%s' "$header" 1234567; } >"$f/names.safetensors"
try convert "$f/names.safetensors" "$f/apart/"; wants "names that are no names of files" 0 'apart/: 7 tensors'
try diff "$f/names.safetensors" "$f/apart"; wants "each has a file of its own" 0 '^identical: 7 tensors$'
[ "$(find "$f/apart" -name '*.npy' | tr '[:upper:]' '[:lower:]' | sort -u | wc -l)" = 7 ]
report "and no two differ in case alone" $?
rm -r "$f/apart" "$f/names.safetensors"
try convert "$f/m.npz" "$f/shards/m.safetensors" --shard 1KB; wants "convert to shards" 0 'in 2 shards'
try convert "$f/m.npz" "$f/shards/m.safetensors" --shard 1KB
wants "convert over shards" 1 '' 'is there already; --force'
try convert "$f/m.npz" "$f/one-shard" --to safetensors --shard 1GB
wants "convert to one shard" 0 'in 1 shard$'
rm -f "$f"/one-shard*
"$tsr" convert "$f/m.npz" - --to safetensors | cat >"$f/piped.safetensors"
try diff "$f/m.npz" "$f/piped.safetensors"; wants "convert to standard output" 0 '^identical: 2 tensors$'
rm -f "$f/piped.safetensors"
"$tsr" eval 'arange(3)' -o - >"$f/piped.npy"
try show "$f/piped.npy";              wants "eval to standard output" 0 '\[0 1 2\]'
rm -f "$f/piped.npy"
try convert "$f/m.npz" - --to npz;    wants "npz to standard output" 1 '' 'npz is not written so'
try convert "$f/m.npz" -;             wants "a format for standard output" 2 '' 'use --to FORMAT'
try convert "$f/m.npz" - --to gguf --json; wants "JSON and a file on standard output" 2 '' 'nothing but it'
try diff "$f/m.npz" "$f/shards";      wants "shards in a directory" 0 '^identical: 2 tensors$'
try info --brief "$f/shards";         wants "an index stands for its shards" 0 'total: 2 tensors.* in 3 files'
try convert "$f/m.npz" "$f/s.npz" --select 'w*' --rename '^(.)=\1.' --dtype f16 --transpose 1,0
wants "select, rename, cast, transpose" 0
try info "$f/s.npz";                  wants "and their result" 0 '^  w\.ave +f16 +\(50, 60\)'
try convert "$f/m.npz" "$f/t.npz" --select nothing; wants "select nothing" 1 '' 'no name matches'
try convert "$f/m.npz" "$f/t.npz" --rename '(=x'; wants "a regular expression that is none" 2 '' '--rename'
try convert "$f/m.npz" "$f/t.npz" --rename '.*=x'; wants "two of one name" 1 '' "would be called 'x'"
try convert "$f/m.npz" "$f/t.npz" --transpose 1,0
wants "axes that do not fit" 3 '' 'has 3 dims; --transpose names 2'
"$tsr" convert "$f/wave.npy" "$f/half.safetensors" --dtype bf16 --quiet
try convert "$f/half.safetensors" "$f/half.npy"
wants "what a format lacks" 1 '' 'half\.npy: npy has no bf16; --dtype f32 converts it$'
! grep -qE 'tsr_|writer_|file_' "$work/err"; report "is told in words of the command" $?
printf 'x' >"$f/unknown"
try info "$f/unknown"
wants "a file of no format" 3 '' '^tsr: info: .*/unknown: .*\(--format does\)$'
rm "$f/unknown"
try convert "$f/m.npz" "$f/t.what";   wants "a format that is none" 2 '' 'does not say which format'
try convert "$f/m.npz" "$f/no/t.npz"; wants "a directory that is not there" 1 '' 'no/t.npz'
printf 'city;age\nRome;3\nOslo;NA\n' >"$f/words.csv"
try show "$f/words.csv" --separator ';' --columns age,city; wants "columns of a table" 0 '\[nan +1\.\]'
try info "$f/words.csv" --separator ';';  wants "words of a table" 0 'categories.city = \[Rome, Oslo\]'
printf 'city;age\n"a, b";3\nOslo;4\n' >"$f/commas.csv"
try info "$f/commas.csv" --separator ';'; wants "a word with a comma" 0 'categories.city = \["a, b", Oslo\]'
rm "$f/commas.csv"
try show "$f/words.csv:city[1:]" --separator ';'; wants "a column by its name" 0 'city: f64\(1'
try show "$f/words.csv:cty" --separator ';'
wants "a column that nearly is one" 3 '' "no column 'cty'; did you mean city"
try stats "$f/words.csv" --separator ';'; wants "a row for each column" 0 '^city +2 words'
try show "$f/words.csv" --columns age;    wants "a separator that is found" 0 '\[nan *\]'
try stats "$f/words.csv:city";            wants "how often each word is there" 0 '^  Rome 1 '
try eval '(arange(100) % 7 + 1).astype(u8)' -o "$f/seven.npy"
try stats "$f/seven.npy";                 wants "a bar for each of few whole numbers" 0 '^  7 14 '
printf 'a;b\n1,5;2\n' >"$f/semicolons.csv"
try show "$f/semicolons.csv"; wants "a decimal comma" 0 '\[1.5 2. \]'
printf 'a\n1,5\n' >"$f/ragged.csv"
try show "$f/ragged.csv"; wants "another separator" 3 '' '--separator'
printf 'version https://git-lfs.github.com/spec/v1\nsize 1\n' >"$f/pointer.safetensors"
try info "$f/pointer.safetensors"; wants "a pointer of Git LFS" 3 '' 'git lfs pull'
try convert "$f/words.csv" "$f/words.pt"
wants "a format that is only read" 2 '' 'only read; these are written: npy'
try show "$f/words.csv" --separator ';' --header no --columns 0; wants "a table without a header" 0 '\[2\.\]'
try show "$f/words.csv" --columns height; wants "a column that is none" 3 '' 'no column "height"'
try show "$f/words.csv" --header maybe;   wants "--header of neither" 2 '' 'yes or no'
try show "$f/words.csv" --separator ab;   wants "--separator of two" 2 '' 'one character'
for format in npy npz safetensors gguf csv tsv; do
    "$tsr" convert "$f/wave.npy" "$f/r.$format" --quiet --force
    try diff "$f/wave.npy" "$f/r.$format" --any-dtype --rtol 1e-6
    wants "there and back: $format" 0 '^(identical|close|same values, other dtypes)$'
done
for format in png ppm; do
    "$tsr" convert "$f/image.npy" "$f/r.$format" --quiet --force
    try diff "$f/image.npy" "$f/r.$format"; wants "there and back: $format" 0 '^identical$'
done

# --- expressions ------------------------------------------------------------------------

# value EXPRESSION ANSWER [NAME=FILE...]: the last line that is printed.
value() {
    local text=$1 answer=$2
    shift 2
    try eval "$text" "$@"
    [ "$status" = 0 ] && [ "$(tail -n 1 "$work/out")" = "$answer" ]
    report "$text is $answer" $?
}

value '1 + 2 * 3' 7
value '-2 ** 2' -4
value '2 ** 3 ** 2' 512
value '2 ** -1' 0.5
value '-7 // 2' -4
value '-7 % 3' 2
value '7 / 2' 3.5
value '1 < 2' True
value '~5 & 0xff' 250
value '(1 + 2j) * 2' 2.+4.j
value 'sum(x)' 276 "x=$f/x.npy"
value 'x.sum(axis=(0, 2))' '[ 60  92 124]' "x=$f/x.npy"
value 'x[1, ..., -1]' '[15 19 23]' "x=$f/x.npy"
value 'x[x % 7 == 0]' '[ 0  7 14 21]' "x=$f/x.npy"
value 'x[0, [0, -1], 1]' '[1 9]' "x=$f/x.npy"
value 'x.shape' '[2 3 4]' "x=$f/x.npy"
value '(x @ x.mT).shape' '[2 3 3]' "x=$f/x.npy"
value 'np.linalg.norm([3.0, 4.0])' 5.
value 'where([True, False], [1, 2], 0)' '[1 0]'
value 'softmax(zeros(4))' '[0.25 0.25 0.25 0.25]'
value "einsum('ij,j->i', x[0], arange(4))" '[14 38 62]' "x=$f/x.npy"
value 'concatenate([arange(2), 9 * ones(1)])' '[0. 1. 9.]'
value 'x.astype(f16).dtype' f16 "x=$f/x.npy"
value 'quantile(arange(5), 1)' 4.
value 'eye(2, 3, dtype=i8)[1]' '[0 1 0]'
value 'percentile(arange(5), [25, 100])' '[1. 4.]'
value 'resize(x, (5, 40)).shape' '[ 5 40]' "x=$f/wave.npy"
value 'resize(x, (7, 5), "cubic", channels_last=True).shape' '[7 5 3]' "x=$f/image.npy"
one='resize(x, (4, 5), channels_last=True).astype(f32)'
other='resize(x.transpose(2, 0, 1), (4, 5)).transpose(1, 2, 0)'
value "abs($one - $other).max()" 0. "x=$f/image.npy"
value 'x.T.max() - y.min()' 23. "x=$f/x.npy" "y=$f/nan.npy[:1]"

# caret TITLE STATUS COLUMN PATTERN EXPRESSION: the complaint, and where its caret stands.
caret() {
    try eval "$5" "x=$f/x.npy"
    local line
    line=$(grep -nE '^ +\^' "$work/err" | head -n 1 | sed 's/^[0-9]*://')
    line=${line%%^*}
    [ "$status" = "$2" ] && grep -qE "$4" "$work/err" && [ "${#line}" = "$(($3 + 2))" ]
    report "a caret for $1" $?
}

caret "an end too soon" 2 3 'the expression ends where' 'x +'
caret "a bracket that does not close" 2 5 "')' is expected" '(x, 1'
caret "a name that is none" 2 4 "'yy' is not defined" 'x + yy'
caret "a function that is none" 2 4 "no function 'summ'; did you mean sum" '1 + summ(x)'
caret "shapes that do not fit" 1 2 'matmul' 'x @ x'
caret "shapes that do not broadcast" 1 2 'add' 'x + ones(5)'
caret "a keyword that is none" 2 7 "no 'axsi'; did you mean axis" 'sum(x, axsi=0)'
caret "an argument too many" 2 16 'takes 3 arguments' 'sum(x, 0, True, 4)'
caret "an index out of bounds" 2 1 'out of bounds' 'x[7]'
for expression in '10 ** 20' '2 ** 63' '3000000000 * 4000000000' '9223372036854775807 + 1' '1 << 70'; do
    try eval "$expression"
        wants "an integer of more than 64 bits: $expression" 2 '' 'does not fit 64 bits; with a point'
done
value '-2 ** 62 * 2 + 9223372036854775807' -1
value '2.0 ** 64' 1.84467441e+19
caret "a dtype that is not taken" 1 0 \
    'dtype must be floating/u8, but x is i64.* \(astype converts\)$' 'resize(x, (4, 4))'
caret "scalars side by side" 1 0 \
    'scalars have no dim to join along \(stack has one\)$' 'concatenate([ones(()), ones(())])'
caret "words of Python" 2 2 "use &" 'x and x'
caret "a character that means nothing" 2 2 'means nothing' 'x $ 1'
caret "a text that does not end" 2 7 'does not end' 'einsum("ij'
try eval 'x' "x=$f/bad.npy";      wants "a file that cannot be read" 3 '' "'x' cannot be read"
try eval 'x' "x=$f/m.npz";        wants "a file of several" 3 '' 'choose one as in FILE:NAME'
try eval 'x' x;                   wants "a variable without a file" 2 '' 'a=FILE:NAME'
try eval;                         wants "no expression" 2 '' 'which expression'
try eval '-x[0, 0]' "x=$f/x.npy"; wants "an expression that begins with -" 0 '^\[ 0 -1 -2 -3\]$'
try eval '1' -o "$f/x.npy";       wants "eval over a file" 1 '' 'is there already'
rm -f "$f/new.npy"
cat >"$f/towns.csv" <<'TABLE'
town,"a ""b""",c
x,1.5,"p,q"
"",2,
y z,nan,"""r"
TABLE
try convert "$f/towns.csv" - --to csv; wants "a table as a table" 0
diff "$f/towns.csv" "$work/out" >"$work/err" 2>&1 ||
    diff <(sed 's/^"",2,$/"",2,""/' "$f/towns.csv") "$work/out" >"$work/err"
report "keeps names and words" $?
try convert "$f/towns.csv[1:]" - --to tsv --columns c,town
    wants "some rows and columns of one" 0 '^"""r".y z$'
[ "$(head -n 1 "$work/out")" = $'c\ttown' ]; report "keep their names" $?
try convert "$f/towns.csv:c" - --to csv; wants "a column as a table" 0 '^"p,q"$'
[ "$(head -n 1 "$work/out")" = c ]; report "keeps its name" $?
try plot "$f/towns.csv:town" --kind hist; wants "a histogram of words" 0 '^y z +1 '
try plot "$f/towns.csv:town" --kind hist -o - --to svg; wants "a picture of one" 0 '>y z</text>'
try show "$f/towns.csv" --columns twon
    wants "a column that is none" 3 '' 'no column "twon" among its 3; did you mean "town"\?'
try convert "$f/x.npy" "$f/unnamed.npz" --rename '^x$='; wants "no name" 0
try info "$f/unnamed.npz" --names; wants "which gets that of NumPy" 0 '^arr_0$'
make 'arange(3).astype(u64)' u64.npy
try convert "$f/u64.npy" "$f/new.gguf"
    wants "a dtype that gguf has not" 1 '' 'gguf has no u64; --dtype f32 converts it$'
status=0; : >"$work/out"
(ulimit -f 1; exec "$tsr" convert "$f/wave.npy" "$f/new.npy") 2>"$work/err" || status=$?
wants "convert beyond a limit on files" 1 '' 'convert: wave: [^ ]*new\.npy: cannot write: File too large$'
try convert "$f/x.npy" - --to npz
    wants "convert to standard output, as what is not written in order" 1 '' \
        '^tsr: convert: standard output takes bytes in order, and npz is not written so: write a file$'
status=0; echo none | "$tsr" info - >"$work/out" 2>"$work/err" || status=$?
wants "standard input of no format" 3 '' '^tsr: info: standard input: neither'
try convert "$f/x.npy" "$f/new.npy" --compress
    wants "an option of another format" 2 '' '--compress is for npz and hdf5, not npy'
try convert "$f/x.npy" "$f/new.npy" --quality 9
    wants "--quality of what is no jpeg" 2 '' '--quality is for jpeg, not npy'
try convert "$f/x.npy" "$f/new.npz" --shard 9
    wants "--shard of what has no shards" 2 '' '--shard is for safetensors, not npz'
try eval '1' -o "$f/new.foo";     wants "eval to no format" 2 '' 'does not say which format to write'
try eval 'x' "x=$f/none.npy" -o "$f/x.npy"
    wants "eval over a file, before anything is read" 1 '' 'is there already'
try eval 'x[1, :2]' "x=$f/x.npy" -o - --to csv; wants "eval to standard output as csv" 0 '^16,17,18,19$'
try eval 'x[1, :2]' "x=$f/x.npy" -o "$f/new.foo" --to npy; wants "eval to a name that tells nothing" 0
try eval 1 --to csv;              wants "eval in a format, to nowhere" 2 '' '--to goes with -o'
try eval --functions;             wants "eval --functions" 0 '^softmax\(x, axis=-1\)$'
missing=$(comm -23 <("$tsr" ops --json --family elementwise | grep -B 4 '"params": null' |
    sed -n 's/.*"name": "\(.*\)",/\1/p' | sort -u) \
    <("$tsr" eval --functions | sed 's/[( ].*//' | sort -u) | tr '\n' ' ')
[ -z "$missing" ];                report "every elementwise op is a function; $missing" $?
depth=$(printf '(%.0s' $(seq 5000))
try eval "$depth";                wants "brackets without end" 2 '' 'nested too deeply'

# --- pictures -----------------------------------------------------------------------------

# picture NAME WORDS...: pixels of a plot, made smaller, are those of tests/data/plot/NAME.png.
# TSR_MAKE_PLOTS=1 writes them.
picture() {
    local name=$1
    shift
    try plot "$@" -o "$work/plot.npy" --force; wants "plot $name" 0
    try eval 'round(p[:p.shape[0] // 12 * 12, :p.shape[1] // 12 * 12].astype(f32)
        .reshape(p.shape[0] // 12, 12, p.shape[1] // 12, 12, 3).mean(axis=(1, 3))).astype(u8)' \
        "p=$work/plot.npy" -o "$work/small.png" --force
    wants "plot $name made smaller" 0
    if [ -n "${TSR_MAKE_PLOTS:-}" ]; then cp "$work/small.png" "tests/data/plot/$name.png"; fi
    try diff "$work/small.png" "tests/data/plot/$name.png" --atol 8
    wants "plot $name is as it was" 0 '^(identical|close)$'
}

picture heat "$f/wave.npy"
picture line "$f/nan.npy"
picture hist "$f/wave.npy" --kind hist
make 'arange(40) * 7 % 5 + 3' whole.npy
picture whole "$f/whole.npy" --kind hist
picture image "$f/image.npy"
make 'where((arange(2000).reshape(2000, 1) + arange(2000)) % 2 == 0, 0, 200).astype(u8)' checked.npy
try plot "$f/checked.npy" --kind image -o "$work/plot.npy" --force; wants "plot of a large image" 0
try stats "$work/plot.npy[500, 400:800, 0]"; wants "its pixels are means" 0 '^  min +100$'
grep -qE '^  max +100$' "$work/out"; report "of all that they cover" $?
picture grid "$f/box.npy"
make 'sin(arange(5).reshape(5, 1) + arange(3000) / 99.0)' curves.npy
make '(arange(120 * 160 * 3).reshape(120, 160, 3) * 7919 % 251).astype(u8)' noise.npy
for words in "wave.npy" "nan.npy" "wave.npy --kind hist" "image.npy" "noise.npy" "box.npy" \
    "curves.npy --kind line" "large.npy"; do
    # shellcheck disable=SC2086 # words
    for end in svg png; do "$tsr" plot $f/$words -o "$work/size.$end" --force; done
    [ "$(wc -c <"$work/size.svg")" -le "$(wc -c <"$work/size.png")" ]
    report "the SVG of $words is no larger than its PNG" $?
done
COLUMNS=60 try plot "$f/curves.npy" --kind line
    wants "several curves as characters" 0 '^            rows 0 1 2 3 4$'
grep -q '|.*0.*4' "$work/out" && ! grep -qF '*' "$work/out"; report "which are told apart" $?
try plot "$f/wave.npy" --kind line
    wants "more curves than are drawn" 0 '^f32\(60, 50\), the first 8 rows$'
try plot "$f/curves.npy" --kind line -o "$work/curves.svg"; wants "plot of several curves" 0
grep -q '>row 4</text>' "$work/curves.svg" && grep -q '>value</text>' "$work/curves.svg"
report "curves have a legend and labels" $?
try plot "$f/wave.npy" --kind hist -o "$work/hist.svg"; wants "a histogram as SVG" 0
grep -q '>count</text>' "$work/hist.svg"; report "a histogram has a label upwards" $?
try plot "$f/wave.npy";                   wants "plot without a terminal" 0 '^f32\(60, 50\)$'
! grep -q $'\033' "$work/out";            report "plot prints no colours to a file" $?
try plot "$f/x.npy[0, 0, 0]";             wants "plot of one number" 1 '' 'one number is no picture'
try plot "$f/x.npy[:0]";                  wants "plot of nothing" 1 '' 'nothing to draw'
try plot "$f/x.npy" --kind heat
wants "a kind that does not fit" 1 '' '3 dims cannot be drawn as heat'
try plot "$f/x.npy" --kind pie;           wants "a kind that is none" 2 '' '--kind is'
try plot "$f/m.npz";                      wants "plot of several" 3 '' 'choose one'
try plot "$f/wave.npy" -o "$work/w.svg";  wants "plot to SVG" 0
try plot "$f/wave.npy" -o "$work/w.svg";  wants "plot over a file" 1 '' 'is there already'
try plot "$f/wave.npy" -o "$work/W.SVG";  wants "plot to a name in capitals" 0
cmp -s "$work/w.svg" "$work/W.SVG";       report "which is an SVG too" $?
try plot "$f/wave.npy" -o - --to svg;     wants "plot to standard output" 0 '^<svg '
try plot "$f/wave.npy" -o -;              wants "plot to standard output, as what?" 2 '' 'use --to svg'
try plot "$f/none" -o "$work/w.gif"
    wants "plot as no picture" 2 '' 'w\.gif is no picture that is written: svg png jpeg pnm npy are'
try plot "$f/wave.npy" --min 3 --max 1;   wants "a range that is none" 2 '' '--min 3 is not below --max 1'
try plot "$f/wave.npy" -o "$work/w.png";  wants "plot to PNG" 0
if command -v rsvg-convert >/dev/null; then
    rsvg-convert "$work/w.svg" -o "$work/r.png" 2>"$work/err"; report "the SVG is drawn by others" $?
else
    skip "SVG: no rsvg-convert"
fi

# --- with Python ----------------------------------------------------------------------------

if command -v python3 >/dev/null && python3 -c '' 2>/dev/null; then
    cp "$f/wave.npy" "$f/nan.npy" "$work"
    mv "$work/wave.npy" "$work/x.npy" && mv "$work/nan.npy" "$work/v.npy"
    status=0; python3 tools/check_cli_terminal.py "$tsr" "$work" >"$work/out" 2>"$work/err" || status=$?
    if [ $status = 77 ]; then skip "pseudo-terminals"; else wants "in a pseudo-terminal" 0 ' 0 failed'; fi
    numpy=${TSR_PYTHON:-python3}
    "$numpy" -c 'import numpy' 2>/dev/null || numpy=$(tools/venv.sh "$build") || numpy=
    if [ -n "$numpy" ]; then
        status=0; "$numpy" tools/check_cli_numpy.py "$tsr" "$work" >"$work/out" 2>"$work/err" || status=$?
        wants "against NumPy" 0 ' 0 failed'
    else
        skip "against NumPy: no Python that has it"
    fi
else
    skip "a pseudo-terminal, NumPy: no python3"
fi

# --- JSON -------------------------------------------------------------------------------

# json TITLE EXPRESSION: the last output is JSON, and the expression of it is true.
json() {
    python3 -c "import json, sys; d = json.load(open(sys.argv[1])); sys.exit(not ($2))" "$work/out"
    report "$1" $?
}

if command -v python3 >/dev/null && python3 -c '' 2>/dev/null; then
    try ops --json
    json "ops --json has every op" "len(d['ops']) == $listed"
    json "ops --json tells dtypes" \
        "next(o for o in d['ops'] if o['name'] == 'sqrt')['takes'][0]['dtypes'][0] == 'f8e4m3'"
    for words in "info $f/m.npz" "info --brief $f/m.npz" "show $f/x.npy[0] $f/nan.npy[:6]" \
        "stats $f/m.npz $f/nan.npy" "stats $f/x.npy[:0]" "diff $f/wave.npy $f/near.npy" \
        "convert $f/m.npz $f/j.npz" "plot $f/wave.npy" "plot $f/nan.npy" "eval arange(6).reshape(2,3)"; do
        # shellcheck disable=SC2086 # words
        try $words --json
        json "${words%% *} --json is JSON" "isinstance(d, (dict, list))"
    done
    try show --json "$f/x.npy[1]"
    json "show --json has the elements" "d[0]['shape'] == [3, 4] and d[0]['values'][2] == [20, 21, 22, 23]"
    try ops --json abs where
    json "ops --json of two names" "[o['name'] for o in d['ops']] == ['abs', 'where']"
    try selftest --seed 18446744073709551615 --seconds 0 --family errors --json --verbose
    json "selftest --json" "d['seed'] == 2**64 - 1 and d['failed'] == 0 and d['run'] == len(d['checks'])"
    if [ -e "$work/wrong.so" ]; then
        LD_PRELOAD=$work/wrong.so try selftest --seed 5 --seconds 0 --family elementwise --json
        json "selftest --json of a wrong library" \
            "d['failed'] > 0 and any(f['check'] == 'maximum f32' for f in d['failures'])"
    fi
else
    skip "JSON: no python3"
fi

# --- output that cannot be written, and terminals ------------------------------------------

for words in "ops" "ops --json" "--help" "selftest --seconds 0 --family errors" "info $f/x.npy" \
    "show $f/x.npy" "stats $f/x.npy" "diff $f/x.npy $f/x.npy" "plot $f/wave.npy" "eval 1+1"; do
    status=0
    # shellcheck disable=SC2086 # words
    if [ -e /dev/full ]; then "$tsr" $words >/dev/full 2>"$work/err" </dev/null || status=$?; : >"$work/out"
        wants "$words to a full disk" 1 '' 'cannot write the output'
    fi
    status=0
    # shellcheck disable=SC2086
    "$tsr" $words >&- 2>"$work/err" </dev/null || status=$?
    wants "$words to nowhere" 1 '' 'cannot write the output'
    # The reader is gone before a word is written: tsr starts when its input ends.
    mkfifo "$work/pipe"
    # shellcheck disable=SC2086
    { { read -r _ <"$work/pipe"; "$tsr" $words; echo $? >"$work/status"; } 2>"$work/err" | exec true; } &
    sleep 0.2
    echo >"$work/pipe"
    wait $!
    rm "$work/pipe"
    status=$(cat "$work/status")
    wants "$words to a reader that has gone" 1
done

if command -v script >/dev/null && script -qec true /dev/null >/dev/null 2>&1; then
    status=0
    script -qec "'$tsr' ops" /dev/null >"$work/out" 2>"$work/err" </dev/null || status=$?
    wants "ops on a terminal is coloured" 0 $'\033\\[1m'
    NO_COLOR=1 script -qec "'$tsr' ops" /dev/null >"$work/out" 2>"$work/err" </dev/null
    ! grep -q $'\033' "$work/out"; report "NO_COLOR is heeded" $?
    script -qec "'$tsr' selftest --seconds 1 --seed 1" /dev/null >"$work/out" 2>"$work/err" </dev/null
    grep -q '/s .* s left' "$work/out"; report "selftest shows how far it is" $?
else
    skip "terminals: no script"
fi

# --- the man page -------------------------------------------------------------------------

page=docs/man/tsr.1
if command -v groff >/dev/null; then
    groff -man -Tutf8 -ww -z $page 2>"$work/err"; : >"$work/out"
    [ ! -s "$work/err" ]; report "the man page renders without warnings" $?
    groff -man -Tascii -P-cbou $page >"$work/page" 2>/dev/null
elif command -v mandoc >/dev/null; then
    mandoc -T lint -W warning $page >"$work/err" 2>&1; report "the man page renders without warnings" $?
    mandoc -T ascii $page | col -b >"$work/page"
elif command -v man >/dev/null; then
    MANWIDTH=80 man --warnings -l $page >"$work/page" 2>"$work/err"
    [ ! -s "$work/err" ]; report "the man page renders without warnings" $?
else
    skip "the man page: nothing that renders it"
fi

# Words that each page and completion must know: the commands and all of their options.
for name in $commands; do
    "$tsr" help "$name" >"$work/help"
    for word in $name $(grep -oE -e '--[a-z]+' "$work/help" | sort -u); do
        bare=${word#--}
        if [ -e "$work/page" ]; then
            grep -qF -e "$word" "$work/page"
            report "the man page knows $name $word" $?
        fi
        for file in cli/completion/*; do
            grep -qE -e "(--|-l |[ ':])$bare\b" "$file"; report "$file knows $name $word" $?
        done
    done
done

# --- completions ----------------------------------------------------------------------------

# complete_line WORDS...: what bash completes the last word to, one a line.
complete_line() {
    PATH=$build/bin:$PATH bash --norc --noprofile -c '
        . cli/completion/tsr.bash
        COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
        function=$(complete -p tsr | sed -E "s/.*-F ([^ ]+) .*/\1/")
        $function tsr "${!#}" "${@: -2:1}"
        printf "%s\n" "${COMPREPLY[@]}"' complete "$@" >"$work/out" 2>"$work/err"
    status=$?
}

complete_line tsr op;                   wants "bash: tsr op" 0 '^ops$'
[ "$(wc -l <"$work/out")" = 1 ];        report "bash: tsr op has one answer" $?
complete_line tsr ops logi;             wants "bash: tsr ops logi" 0 '^logical_and$'
complete_line tsr ops --j;              wants "bash: tsr ops --j" 0 '^--json$'
complete_line tsr ops --family re;      wants "bash: tsr ops --family re" 0 '^reduce$'
complete_line tsr selftest --family th; wants "bash: tsr selftest --family th" 0 '^threads$'
complete_line tsr help se;              wants "bash: tsr help se" 0 '^selftest$'
complete_line tsr stats --q;            wants "bash: tsr stats --q" 0 '^--quantiles$'
complete_line tsr convert --to g;       wants "bash: tsr convert --to g" 0 '^gguf$'
complete_line tsr plot --kind h;        wants "bash: tsr plot --kind h" 0 '^hist$'
complete_line tsr show "$f/m.npz" : w;  wants "bash: tsr show FILE:w" 0 '^wave$'
complete_line tsr stats "$f/m.npz:wa";  wants "bash: tsr stats FILE:wa in one word" 0 '/m\.npz:wave$'
complete_line tsr info "$f/m.npz" --select w; wants "bash: tsr info FILE --select w" 0 '^wave$'
complete_line tsr eval x+1 x = "$f/m.npz" : w; wants "bash: tsr eval x=FILE:w" 0 '^wave$'
"$tsr" convert "$f/x.npy" "$f/trap.npz" --rename "^x\$=w \$(touch $work/trapped) *" --quiet
complete_line tsr show "$f/trap.npz" : w; wants "bash: a name with spaces and dollars" 0 '^w \$\(touch'
[ ! -e "$work/trapped" ] && [ "$(wc -l <"$work/out")" = 1 ]; report "bash: which is not expanded" $?
complete_line tsr info "$f/wa";         wants "bash: tsr info FILE" 0 '/wave.npy$'
complete_line tsr "";                   wants "bash: tsr" 0 '^--version$'
for name in $commands; do
    complete_line tsr "$name";          wants "bash: tsr $name" 0 "^$name\$"
done
if command -v zsh >/dev/null; then zsh -n cli/completion/_tsr; report "zsh reads its completion" $?
else skip "zsh is not here"; fi
if command -v fish >/dev/null; then
    fish --no-execute cli/completion/tsr.fish; report "fish reads its completion" $?
    PATH=$build/bin:$PATH fish -c 'source cli/completion/tsr.fish; complete -C "tsr op"' >"$work/out" \
        2>"$work/err"
    grep -q '^ops' "$work/out"; report "fish: tsr op" $?
    PATH=$build/bin:$PATH fish -c "source cli/completion/tsr.fish; complete -C 'tsr show $f/m.npz:w'" \
        >"$work/out" 2>"$work/err"
    grep -q 'm.npz:wave' "$work/out"; report "fish: tsr show FILE:w" $?
    PATH=$build/bin:$PATH fish -c "source cli/completion/tsr.fish
        complete -C 'tsr info $f/m.npz --select w'" >"$work/out" 2>"$work/err"
    grep -q '^wave' "$work/out"; report "fish: tsr info FILE --select w" $?
else
    skip "fish is not here"
fi

echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
