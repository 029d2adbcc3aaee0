#!/usr/bin/env bash
# tsr view in a terminal: keys are sent by tmux, and the screen is compared with tests/data/view/*.txt at 60,
# 80 and 200 columns.
#
#   tools/check_view.sh [BUILD]
#
# TSR_MAKE_VIEWS=1 writes the screens anew: look at them. Exit status 77: there is no tmux, or no command to
# try.
set -u
cd "$(dirname "$0")/.." || exit 1
tsr=$(realpath "${1:-build}")/bin/tsr
[ -x "$tsr" ] || { echo "no $tsr"; exit 77; }
command -v tmux >/dev/null || { echo "no tmux"; exit 77; }
work=$(mktemp -d)
passed=0 failed=0
server=0
t() { tmux -S "$work/socket$server" -f /dev/null "$@"; }
trap 't kill-server 2>/dev/null; rm -rf "$work"' EXIT
unset COLUMNS LINES COLORTERM NO_COLOR TMUX
export LC_ALL=C.UTF-8

report() {
    if [ "$2" = 0 ]; then passed=$((passed + 1)); return; fi
    failed=$((failed + 1))
    echo "FAILED view: $1"
    cat "$work/diff" 2>/dev/null
}

# until_holds COMMAND...: tries it until it holds, for half a minute at the most: the machine may be busy.
until_holds() {
    for _ in $(seq 300); do
        "$@" && return 0
        t has-session 2>/dev/null || return 1
        sleep 0.1
    done
    return 1
}

is_screen() { t capture-pane -p >"$work/screen" && diff "$1" "$work/screen" >"$work/diff"; }
has() { t capture-pane -p | grep -qE -e "$1"; }

# see NAME: the screen is tests/data/view/NAME-COLUMNS.txt.
see() {
    local file=tests/data/view/$1-$columns.txt
    if [ -n "${TSR_MAKE_VIEWS:-}" ]; then
        sleep 1
        t capture-pane -p >"$file"
        return
    fi
    until_holds is_screen "$file"; report "$1 at $columns columns" $?
}

# sees TITLE PATTERN: a line of the screen matches.
sees() { until_holds has "$2"; report "$1" $?; }

keys() { t send-keys "$@"; }

# begin COLUMNS: a shell in a new window of this width.
begin() {
    columns=$1
    t kill-server 2>/dev/null
    server=$((server + 1)) # the old one may not be gone yet
    t new-session -d -x "$columns" -y 22 "exec bash --norc --noprofile"
    keys "PS1='ready> '; cd '$work'; clear" Enter
    until_holds has '^ready>' || echo "the shell is not ready"
}

# --- a file with all sorts of tensors -------------------------------------------------------

make() { "$tsr" eval "$1" -o "$work/$2.npy" >/dev/null || echo "cannot make $2"; }
mkdir -p tests/data/view
make '(arange(108).reshape(12, 9) - 50).astype(f32) / 8' block.0.weight
make '(arange(108).reshape(12, 9) - 50).astype(f32) / 4' block.2.weight
make '(arange(30000).reshape(100, 300) % 1000).astype(i32)' block.10.weight
make 'arange(2 * 3 * 4 * 5).reshape(2, 3, 4, 5)' four
make 'where(arange(7) == 2, nan, where(arange(7) == 4, -inf, arange(7) * 0.5))' odd
make 'zeros((0, 3))' nothing
make 'ones(()) * 1.25' step
make 'arange(4) * (1 + 2j)' '図.複素数'
make 'arange(3) > 1' 'a.very.long.name.that.does.not.fit.a.narrow.terminal.and.goes.on.and.on.weight'
"$tsr" convert "$work"/*.npy "$work/m.npz" --quiet

# --- screens ----------------------------------------------------------------------------------

for width in 60 80 200; do
    begin $width
    keys "'$tsr' view m.npz" Enter;       see list
    keys / block Enter Down;                      see find
    keys Enter;                                   see matrix
    keys Right Down Down Right;                   see moved
    keys End G;                                   see corner
    keys n;                                       see large
    keys : 57,123 Enter h;                        see numbers
    keys h;                                       see map
    keys h f + ;                                  see fixed
    keys q Escape / four Enter Enter ']' ;        see four
    keys r c Tab ']' Down;                        see dims
    keys q Escape / odd Enter Enter;              see odd
    keys q Escape / nothing Enter Enter;          see nothing
    keys q Escape / 複素 Enter Enter Down;        see complex
    keys q '?';                                   see help
    keys q Escape s;                              see sorted
    keys q;                                       sees "q gives the terminal back at $width columns" '^ready>'
    keys "clear; NO_COLOR=1 '$tsr' view m.npz:block.0.weight" Enter h; see letters
    keys q "clear" Enter
    sees "a single tensor is left at once" '^ready>'
done

# --- colours ----------------------------------------------------------------------------------

begin 80
keys "'$tsr' view m.npz:block.0.weight" Enter
sees "one tensor is opened" '^\[0, 0\] = -6.25'
is_coloured() { t capture-pane -e -p | grep -q $'\033\\[48;5;'; }
until_holds is_coloured; report "the heat map has 256 colours" $?
keys q "clear; COLORTERM=truecolor '$tsr' view m.npz:block.0.weight" Enter
sees "and again" '^\[0, 0\] = -6.25'
keys q "clear; NO_COLOR=1 '$tsr' view m.npz:block.0.weight" Enter
is_plain() { has '^\[0, 0\] = -6.25' && ! is_coloured; } # what was there before is coloured
until_holds is_plain; report "NO_COLOR is heeded" $?

# --- another size, and signals ----------------------------------------------------------------

t resize-window -x 60 -y 12
t resize-window -x 80 -y 30
sees "more rows after a resize" '^11 .* 7.125'
keys q
sees "the end" '^ready>'

keys "clear; '$tsr' view m.npz --sort size" Enter
sees "the list in an order" '^> block\.10\.weight'
keys s
sees "s goes on from the order of --sort" '^sorted by dtype'
keys q
sees "the end again" '^ready>'

# sane TITLE: the terminal echoes, and ends lines.
sane() {
    keys "clear; stty -a | grep -oE -e '-?(icanon|echo|icrnl)\\b' | tr '\\n' ' '; echo done" Enter
    sees "$1" '^icrnl icanon echo done|^icanon echo icrnl done'
}

keys "clear; '$tsr' view m.npz" Enter
sees "a list" 'enter open'
keys C-c
sees "Ctrl-C ends it" '^ready>'
keys 'echo status $?' Enter
sees "Ctrl-C ends it with 130" '^status 130'
sane "Ctrl-C gives the terminal back"
keys "clear; '$tsr' view m.npz; echo status \$?" Enter
sees "a list again" 'enter open'
kill "$(ps -o pid= --ppid "$(t display-message -p '#{pane_pid}')" | head -n 1)"
sees "SIGTERM ends it" '^status 143'
sane "SIGTERM gives the terminal back"
keys "clear; '$tsr' view m.npz" Enter
sees "and a list again" 'enter open'
keys C-z
sees "Ctrl-Z stops it" 'Stopped'
sane "a stopped one leaves the terminal"
keys "clear; fg" Enter
sees "fg draws it again" 'enter open'
keys Enter
sees "and keys work" 'q back'
keys q q
sees "to the end" '^ready>'
sane "which gives the terminal back"

# --- where there is none ------------------------------------------------------------------------

"$tsr" view "$work/m.npz" >"$work/out" 2>"$work/err" </dev/null
[ $? = 1 ] && grep -q 'needs a terminal' "$work/err"; report "no terminal" $?
"$tsr" view 2>"$work/err"; [ $? = 2 ]; report "no file" $?
"$tsr" view "$work/none.npy" 2>"$work/err"; [ $? = 3 ]; report "a file that is not there" $?

echo "$passed passed, $failed failed"
[ $failed = 0 ]
