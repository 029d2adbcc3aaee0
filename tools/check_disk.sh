#!/usr/bin/env bash
# The command tsr and the file system: any name of a tensor as a file, signals and limits that leave nothing
# behind, pipes and devices that are never waited for, small files that cost little.
#
#   tools/check_disk.sh [BUILD]
#
# Exit status 77: there is no command to try.
set -u
cd "$(dirname "$0")/.." || exit 1
tsr=$(realpath "${1:-build}")/bin/tsr
[ -x "$tsr" ] || { echo "no $tsr"; exit 77; }
command -v python3 >/dev/null || { echo "no python3"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
passed=0 failed=0

report() {
    if [ "$2" = 0 ]; then passed=$((passed + 1)); else failed=$((failed + 1)); echo "FAILED $1"; fi
}

# wants TITLE STATUS PATTERN WORDS...: the exit status of tsr, and words it prints or complains with.
wants() {
    local title=$1 status=$2 pattern=$3 got=0
    shift 3
    timeout 900 "$tsr" "$@" >out 2>&1 </dev/null || got=$?
    [ $got = "$status" ] && grep -qE -e "$pattern" out
    report "$title (status $got: $(head -c 300 out))" $?
}

python3 - <<'END'
import json, struct, zlib
def safetensors(path, names):
    header, data = {}, b''
    for i, name in enumerate(names):
        header[name] = {"dtype": "F32", "shape": [2], "data_offsets": [8 * i, 8 * i + 8]}
        data += struct.pack('<ff', i, -i)
    text = json.dumps(header).encode()
    open(path, 'wb').write(struct.pack('<Q', len(text)) + text + data)
safetensors('names.safetensors', ["a/b", "a_b", "A_b", "..", ".", ".hidden", "-x", "new\nline", "a.npy",
                                  "100%", "%41", "Ab", "ab", "aB", "AB", "back\\slash", "../up", "\u00e9",
                                  "\u00c9", " "])
safetensors('long.safetensors', ["short", "x" * 300])
safetensors('two.safetensors', ["a", "b"])

# 60,000 members on the bytes of one, whose header has 60 KB.
header = b"{'descr':'<f4','fortran_order':False,'shape':(0,)" + b' ' * 60000 + b'}'
npy = b'\x93NUMPY\1\0' + struct.pack('<H', len(header)) + header
size, crc = len(npy), zlib.crc32(npy)
body = struct.pack('<IHHHHHIIIHH', 0x04034b50, 20, 0, 0, 0, 33, crc, size, size, 5, 0) + b'a.npy' + npy
member = struct.pack('<IHHHHHHIIIHHHHHII', 0x02014b50, 20, 20, 0, 0, 0, 33, crc, size, size, 10, 0, 0, 0, 0,
                     0, 0)
directory = b''.join(member + b'%06d.npy' % i for i in range(60000))
end = struct.pack('<IHHHHIIH', 0x06054b50, 0, 0, 60000, 60000, len(directory), len(body), 0)
open('many.npz', 'wb').write(body + directory + end)

# 400 MB that take no room on the disk.
count = 100 << 20
text = json.dumps({"a": {"dtype": "F32", "shape": [count], "data_offsets": [0, 4 * count]}}).encode()
with open('big.safetensors', 'wb') as f:
    f.write(struct.pack('<Q', len(text)) + text)
    f.truncate(8 + len(text) + 4 * count)
END

# --- names ------------------------------------------------------------------------------

wants "a file for each name" 0 '20 tensors' convert names.safetensors each/
[ "$(find each -type f | wc -l)" = 20 ] && [ -z "$(find . -maxdepth 1 -name 'up*')" ]
report "as many files as tensors, all of them in the directory" $?
[ "$(find each -type f | tr 'A-Z' 'a-z' | sort -u | wc -l)" = 20 ]; report "which differ in more than case" $?
wants "and back" 0 '20 tensors' convert each back.safetensors
wants "with the same names and numbers" 0 '^20 same' diff names.safetensors back.safetensors
wants "once more, over them" 0 '20 tensors' convert names.safetensors each/ --force
wants "a name too long for a file" 1 'would have 304 bytes' convert long.safetensors long/
[ ! -e long ]; report "before anything is written" $?
wants "two of one name" 1 "'a' and 'b': two tensors would be called 'x'" convert two.safetensors t.npz \
    --rename '.=x'

# --- signals ------------------------------------------------------------------------------

# What a signal leaves of a file being written, where another one was. Arguments: the signal, tsr.
cat >end_by.py <<'END'
import os, signal, subprocess, sys, time
number = getattr(signal, 'SIG' + sys.argv[1])
for s in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP):
    signal.signal(s, signal.SIG_DFL)
p = subprocess.Popen([sys.argv[2], 'convert', 'big.safetensors', 'dir/x.npz', '--force', '--compress',
                      '--quiet'])
here = os.path.realpath('dir') + '/'
def is_writing():
    for name in os.listdir('/proc/%d/fd' % p.pid):
        try:
            if os.readlink('/proc/%d/fd/%s' % (p.pid, name)).startswith(here): return True
        except OSError:
            pass
while p.poll() is None and not is_writing():
    time.sleep(0.001)
p.send_signal(number)
sys.exit(p.wait() != -number)
END

if [ -d /proc/self/fd ]; then
    for signal in INT TERM HUP QUIT KILL; do
        mkdir dir
        echo old >dir/x.npz
        (ulimit -c 0; python3 end_by.py $signal "$tsr"); report "SIG$signal ends it" $?
        [ "$(ls -A dir)" = x.npz ] && [ "$(cat dir/x.npz)" = old ]
        report "SIG$signal leaves what was there" $?
        rm -r dir
    done
fi
mkdir dir
echo old >dir/x.npy
status=0
(ulimit -f 1000; exec timeout 900 "$tsr" convert big.safetensors dir/x.npy --force) >out 2>&1 || status=$?
[ $status = 1 ] && grep -q 'File too large' out; report "a limit on the size of files is told" $?
[ "$(ls -A dir)" = x.npy ] && [ "$(cat dir/x.npy)" = old ]; report "and leaves what was there" $?

# --- what is no file ------------------------------------------------------------------------

mkdir odd
"$tsr" convert two.safetensors:a odd/a.npy --quiet
mkfifo odd/fifo.npy
ln -s /dev/zero odd/endless.npy
ln -s /dev/zero odd/endless.safetensors
echo '{"weight_map":{"a":"endless.safetensors"}}' >odd/i.safetensors.index.json
wants "a pipe is no file" 3 'is a pipe' info odd/fifo.npy
wants "nor is a device" 3 'is a device' stats odd/endless.npy
wants "nor a part of a set" 3 'is a device' info odd/i.safetensors.index.json
wants "in a directory they are told" 3 'fifo.npy is a pipe' info odd
grep -q '^  a ' out; report "and the others listed" $?
"$tsr" info <(cat odd/a.npy) >out 2>&1 && grep -q 'f32' out; report "what is piped in is read" $?
# shellcheck disable=SC2002 # a pipe is what is tried
cat odd/a.npy | "$tsr" info - >out 2>&1 && grep -q 'f32' out; report "from standard input too" $?

# --- work -----------------------------------------------------------------------------------

(ulimit -t 5; exec "$tsr" info many.npz) >out 2>&1
grep -q 'overlap' out; report "60,000 members on the bytes of one are refused at once" $?

echo "$passed passed, $failed failed"
[ $failed = 0 ]
