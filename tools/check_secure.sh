#!/usr/bin/env bash
# Code that nobody asked for is not run, and what plugins say of themselves is not believed.
#
#   tools/check_secure.sh [BUILD]
#
# A program linked with libtessera.a is run with libraries that leave a mark in its way: in the environment,
# in the current folder, in folders that others may write. As root also as a setuid program that another user
# starts.
set -u
cd "$(dirname "$0")/.." || exit 1
build=${1:-build}
cc=${CC:-cc}
[ -f "$build/lib/libtessera.a" ] || { echo "no $build/lib/libtessera.a"; exit 77; }
work=$(mktemp -d) && work=$(realpath "$work") && trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
mkdir "$work"/{bin,marks,evil,here,here/tessera,open,shared,shared/tessera,hostile}
chmod 1777 "$work/marks"
chmod 777 "$work/open"
unset TSR_BACKEND_PATH TSR_BLAS TSR_LAPACK TSR_FFT TSR_ZLIB TSR_JPEG TSR_EXTERNAL
passed=0 failed=0 skipped=0

$cc -std=gnu11 -O1 -Iinclude tests/secure/program.c "$build/lib/libtessera.a" -o "$work/bin/victim" -lm -ldl \
    -lpthread &&
    $cc -std=gnu11 -O1 -Iinclude -fPIC -shared "-DMARK=\"$work/marks/ran\"" tests/secure/hostile.c \
        -o "$work/evil/libtessera-evil.so" || exit 1
for folder in here here/tessera open shared/tessera; do
    cp "$work/evil/libtessera-evil.so" "$work/$folder"
done
cp "$work/bin/victim" "$work/shared"
evil=$work/evil/libtessera-evil.so

# ran TITLE COMMAND..., quiet TITLE COMMAND...: the command runs the library's code, or does not.
mark() {
    local want=$1 title=$2 got=no
    shift 2
    rm -f "$work/marks/ran"
    (cd "$work/here" && "$@") >"$work/log" 2>&1 || { echo "status $?" >>"$work/log"; got=failure; }
    [ ! -e "$work/marks/ran" ] || got=yes
    if [ $got = "$want" ]; then passed=$((passed + 1)); else
        failed=$((failed + 1))
        echo "FAILED: $title: the code ran: $got, and it should be $want"
        cat "$work/log"
    fi
}
ran() { mark yes "$@"; }
quiet() { mark no "$@"; }

# says TEXT: the last command printed this.
says() {
    if grep -qF -- "$1" "$work/log"; then passed=$((passed + 1)); else
        failed=$((failed + 1))
        echo "FAILED: nothing says \"$1\""
        cat "$work/log"
    fi
}

# An ordinary program does what its environment says: else the rest would show nothing.
victim=$work/bin/victim
ran "a plugin that is asked for" env TSR_BACKEND_PATH="$work/evil" "$victim"
for name in TSR_BLAS TSR_LAPACK TSR_ZLIB TSR_JPEG; do
    ran "$name" env $name="$evil" "$victim"
    quiet "$name by a relative path" env $name=./libtessera-evil.so "$victim"
    says "./libtessera-evil.so was not opened"
    quiet "$name without libraries of others" env TSR_EXTERNAL=off $name="$evil" "$victim"
    says "zlib: not used"
done

quiet "TSR_TUNING" env TSR_TUNING=default,thread_work=65536 "$victim"
says "tuning: default,thread_work=65536,"

# The current folder.
quiet "a program found through PATH" env PATH="$work/bin:$PATH" victim
quiet "the same by a relative path" ../bin/victim
quiet "argv[0] that names another folder" bash -c 'exec -a "$0/x" "$1"' "$work/here" "$victim"
for path in tessera ./tessera . "" : "/nowhere:" ":/nowhere" "/nowhere::tessera"; do
    quiet "TSR_BACKEND_PATH=$path" env TSR_BACKEND_PATH="$path" "$victim"
done
says "plugins: tessera: is not followed"
says "an empty entry is not followed"

# What others may write.
quiet "a folder that anyone may write" env TSR_BACKEND_PATH="$work/open" "$victim"
says "$work/open: is left out: anyone may write it"
chmod 755 "$work/open" && chmod 777 "$work/open/libtessera-evil.so"
quiet "a file that anyone may write" env TSR_BACKEND_PATH="$work/open" "$victim"
says "libtessera-evil.so: is left out: anyone may write it"
ran "the folder beside the program" "$work/shared/victim"
if [ "$(id -u)" = 0 ]; then
    chown 12345 "$work/shared/tessera"
    quiet "a stranger's folder beside the program" "$work/shared/victim"
    says "it belongs neither to root nor to you"
fi

# What plugins say of themselves.
# hostile CASE NAME TEXT: the plugin is refused with these words.
hostile() {
    $cc -std=gnu11 -Iinclude -fPIC -shared -DCASE="$1" -DNAME="\"$2\"" tests/secure/hostile.c \
        -o "$work/hostile/libtessera-$2.so" || exit 1
    quiet "$1" env TSR_BACKEND_PATH="$work/hostile" "$victim"
    says "$3"
    rm "$work/hostile/libtessera-$2.so"
}
hostile OTHER_ABI a "built for ABI 99, and this is ABI 1"
hostile SHORT a "a table of 8 bytes lacks required entries"
hostile ODD a "ends inside an entry"
hostile NO_NAME a "name is missing"
hostile EMPTY_NAME a "name is missing"
hostile PATH_NAME a "byte 2 of the name is 0x2f"
hostile COLON_NAME a "byte 3 of the name is 0x3a"
hostile LONG_NAME a "the name has more than 32 bytes"
hostile OTHER_NAME a "the backend is called cuda, and not as its file"
for case in NO_COUNT NO_ALLOC NO_FREE NO_SUPPORTS NO_RUN; do hostile $case a "a required entry is NULL"; done
hostile HALF_STREAMS a "some entries for streams are NULL"
hostile NEGATIVE a "device_count gives -5; a backend has 0 to 256 devices"
hostile TOO_MANY a "device_count gives 257"
hostile HUGE a "device_count gives 2000000000"
hostile LATER a "devices: 257"
hostile WHOLE a "devices: 2"

# More rights than whoever starts it.
setuid() {
    [ "$(id -u)" = 0 ] || { echo "setuid programs: not root"; return 1; }
    command -v setpriv >/dev/null || { echo "setuid programs: no setpriv"; return 1; }
    cp "$victim" "$work/bin/elevated" && chown 12345 "$work/bin/elevated" &&
        chmod 4755 "$work/bin/elevated" || return 1
    as=(setpriv --reuid=65534 --regid=65534 --clear-groups env)
    quiet "a setuid program alone" "${as[@]}" "$work/bin/elevated"
    grep -q "elevated: yes" "$work/log" ||
        { echo "setuid programs: not honoured in $work (nosuid?)"; return 1; }
}
if setuid; then
    mkdir "$work/bin/tessera" && cp "$evil" "$work/bin/tessera"
    quiet "a plugin beside a setuid program" "${as[@]}" "$work/bin/elevated"
    quiet "a setuid program in a folder with tessera/" "${as[@]}" PATH="$work/bin:$PATH" elevated
    quiet "TSR_BACKEND_PATH of a setuid program" "${as[@]}" TSR_BACKEND_PATH="$work/evil" "$work/bin/elevated"
    for name in TSR_BLAS TSR_LAPACK TSR_ZLIB TSR_JPEG; do
        quiet "$name of a setuid program" "${as[@]}" $name="$evil" "$work/bin/elevated"
    done
    quiet "TSR_TUNING of a setuid program" "${as[@]}" TSR_TUNING=thread_work=65536 "$work/bin/elevated"
    says ",thread_work=262144,"
    quiet "a relative path in a setuid program" "${as[@]}" "$work/bin/elevated" ./libtessera-evil.so
    says "load: TSR_EINVAL"
    ran "what a setuid program asks for itself" "${as[@]}" "$work/bin/elevated" "$evil"
    says "elevated: yes"
else
    skipped=$((skipped + 1))
fi
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
