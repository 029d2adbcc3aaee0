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
    timeout 300 "$tsr" "$@" >"$work/out" 2>"$work/err" </dev/null || status=$?
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
for code in 0 1 2; do
    grep -qE "^  $code  " "$work/out"; report "--help tells exit status $code" $?
done
try --version;       wants "--version" 0 '^tsr [0-9.]+, library [0-9.]+'
try;                 wants "no command" 2 '' '^usage: tsr COMMAND'
try help;            wants "help" 0 '^usage: tsr COMMAND'
try help nothing;    wants "help of no command" 2 '' "no command 'nothing'"
try oops;            wants "a command that is none" 2 '' "^tsr: there is no command 'oops'; did you mean ops\?"
try --oops;          wants "an option that is none" 2 '' '^tsr: there is no option --oops'
for name in $commands; do
    try help "$name";     wants "help $name" 0 "^usage: tsr $name"
    cp "$work/out" "$work/help"
    try "$name" --help;   wants "$name --help" 0 "^usage: tsr $name"
    cmp -s "$work/help" "$work/out"; report "both helps of $name are the same" $?
    try "$name" --oops;   wants "$name with an option that is none" 2 '' "^tsr: $name: there is no option --oops"
done

# --- ops --------------------------------------------------------------------------------

try ops;                  wants "ops" 0 '^elementwise \('
[ "$(awk '{ if (length > n) n = length } END { print n + 0 }' "$work/out")" -le 80 ]; report "ops fits 80 columns" $?
! grep -q $'\033' "$work/out"; report "ops prints no colours to a file" $?
for width in 40 64 100; do
    COLUMNS=$width try ops
    [ "$(awk '{ if (length > n) n = length } END { print n + 0 }' "$work/out")" -le $width ]
    report "ops fits $width columns" $?
done
try ops --names;          wants "ops --names" 0 '^add$'
names=$(wc -l <"$work/out")
listed=$(grep -cE '^X\(' include/tessera/op.def)
[ "$names" = "$listed" ]; report "ops names each of the $listed rows of op.def" $?
try ops --families;       wants "ops --families" 0 '^reduce$'
try ops add matmul;       wants "ops of two names" 0 '^matmul  matmul$'
grep -qE '^  takes +y: as x$' "$work/out"; report "an operand that shares a dtype says so" $?
try ops abs;              wants "ops abs" 0 '^  gives +z: i8 .* f64$'
try ops --family scan;    wants "ops of a family" 0 '^scan \('
! grep -q '^reduce' "$work/out"; report "other families are not shown" $?
try ops --family=scan;    wants "ops of a family, with =" 0 '^scan \('
try ops logadexp;         wants "an op that is none" 1 '' "^tsr: ops: no op is called 'logadexp'; did you mean logaddexp\?$"
try ops sum nothing_like_it; wants "one of two that is none" 1 '' "no op is called 'nothing_like_it'$"
try ops --family reduse;  wants "a family that is none" 1 '' "no family is called 'reduse'; did you mean reduce\?"
try ops add --family scan; wants "an op of another family" 1 '' "none of these"
try ops --family;         wants "an option without its value" 2 '' '--family needs a value'
try ops --json=x;         wants "a switch with a value" 2 '' '--json takes no value'
try ops --json --markdown; wants "two forms at once" 2 '' 'not several'
try ops -- add;           wants "a name after --" 0 '^add  elementwise'

# --- selftest ---------------------------------------------------------------------------

try selftest --seed 7 --seconds 0;  wants "selftest" 0 '^[0-9]+ run, 0 failed, [0-9]+ skipped in .* seed 7$'
sed 's/ in [0-9.]* s with.*//' "$work/out" >"$work/first"
try selftest --seed 7 --seconds 0
sed 's/ in [0-9.]* s with.*//' "$work/out" | cmp -s - "$work/first"; report "selftest of one seed repeats itself" $?
try selftest --seed 1 --family order --verbose; wants "selftest of a family" 0 '^ok +order +sort f32 '
! grep -q elementwise "$work/out"; report "other families are not run" $?
try selftest --family ordre;     wants "selftest of a family that is none" 1 '' "did you mean order\?"
try selftest --seed x;           wants "a seed that is none" 2 '' "--seed takes a whole number"
try selftest --seed -1;          wants "a negative seed" 2 '' "--seed takes a whole number"
try selftest --seconds nan;      wants "seconds that are none" 2 '' "--seconds takes a number of seconds"
try selftest word;               wants "a word too much" 2 '' "not 'word'"
TSR_THREADS=3 try selftest --seed 2 --family threads; wants "selftest with 3 threads" 0 'with 3 threads; seed 2'
for family in $("$tsr" ops --families); do
    try selftest --seed 3 --seconds 0 --family "$family"; wants "selftest --family $family" 0 ' run, 0 failed'
done
try selftest --seed 4 --seconds 0 --family elementwise
! grep -q '^skipped, as no check' "$work/out"; report "each elementwise op has a row in cli/check_elementwise.c" $?

# A library that is wrong is noticed: maximum answers with x, whatever y is.
cat >"$work/wrong.c" <<'C'
#include <tessera/tessera.h>
tsr_status tsr_maximum(tsr_tensor **out, const tsr_tensor *x, const tsr_tensor *y)
{
    return tsr_fmin(out, x, y);
}
C
if ldd "$tsr" | grep -q asan || ! ${CC:-cc} -shared -fPIC -Iinclude "$work/wrong.c" -o "$work/wrong.so" 2>/dev/null; then
    skip "a wrong library: cannot be made here"
else
    LD_PRELOAD=$work/wrong.so try selftest --seed 5 --seconds 0
    wants "a wrong library" 1 '^FAILED elementwise: maximum f32'
    grep -qE '^[0-9]+ run, [1-9][0-9]* failed, ' "$work/out"; report "failures are counted" $?
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
    json "ops --json tells dtypes" "next(o for o in d['ops'] if o['name'] == 'sqrt')['takes'][0]['dtypes'][0] == 'f8e4m3'"
    try ops --json abs where
    json "ops --json of two names" "[o['name'] for o in d['ops']] == ['abs', 'where']"
    try selftest --seed 18446744073709551615 --seconds 0 --family errors --json --verbose
    json "selftest --json" "d['seed'] == 2**64 - 1 and d['failed'] == 0 and d['run'] == len(d['checks'])"
    if [ -e "$work/wrong.so" ]; then
        LD_PRELOAD=$work/wrong.so try selftest --seed 5 --seconds 0 --family elementwise --json
        json "selftest --json of a wrong library" "d['failed'] > 0 and any(f['check'] == 'maximum f32' for f in d['failures'])"
    fi
else
    skip "JSON: no python3"
fi

# --- output that cannot be written, and terminals ------------------------------------------

for words in "ops" "ops --json" "--help" "selftest --seconds 0 --family errors"; do
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
        if [ -e "$work/page" ]; then grep -qF -e "$word" "$work/page"; report "the man page knows $name $word" $?; fi
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
complete_line tsr "";                   wants "bash: tsr" 0 '^--version$'
for name in $commands; do
    complete_line tsr "$name";          wants "bash: tsr $name" 0 "^$name\$"
done
if command -v zsh >/dev/null; then zsh -n cli/completion/_tsr; report "zsh reads its completion" $?
else skip "zsh is not here"; fi
if command -v fish >/dev/null; then
    fish --no-execute cli/completion/tsr.fish; report "fish reads its completion" $?
    PATH=$build/bin:$PATH fish -c 'source cli/completion/tsr.fish; complete -C "tsr op"' >"$work/out" 2>"$work/err"
    grep -q '^ops' "$work/out"; report "fish: tsr op" $?
else
    skip "fish is not here"
fi

echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
