"""The command tsr in a pseudo-terminal: colours, blocks, widths, progress.

    python3 check_cli_terminal.py TSR WORK

WORK holds x.npy, a matrix of f32, and v.npy, a vector. Prints one line a failure and the count of what held;
the exit status is 1 if something failed, 77 if there are no pseudo-terminals.
"""
import json
import os
import re
import struct
import sys
import unicodedata

try:
    import fcntl
    import pty
    import termios
except ImportError:
    sys.exit(77)

TSR, WORK = sys.argv[1], sys.argv[2]
held = failed = 0


def expect(ok, what, text=""):
    global held, failed
    held += bool(ok)
    failed += not ok
    if not ok:
        print("FAILED in a terminal:", what, repr(text[:300]))


def run(words, columns=70, rows=24, **environment):
    """Exit status and all that was written to a terminal of this size."""
    child, terminal = pty.fork()
    if child == 0:
        clean = {k: v for k, v in os.environ.items()
                 if k not in ("NO_COLOR", "COLUMNS", "COLORTERM", "LC_ALL", "LC_CTYPE", "LANG", "TERM")}
        fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        os.chdir(WORK)
        os.execve(TSR, [TSR, *words], {**clean, "TERM": "xterm", "LC_ALL": "C.UTF-8", **environment})
    text = b""
    while True:
        try:
            more = os.read(terminal, 65536)
        except OSError:
            break
        if not more:
            break
        text += more
    _, status = os.waitpid(child, 0)
    os.close(terminal)
    return os.waitstatus_to_exitcode(status), text.decode("utf-8", "replace").replace("\r\n", "\n")


def plain(text):
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text)


def width(line):
    return sum(0 if unicodedata.combining(c) else 1 for c in plain(line))


def check_colours():
    for words in (["info", "x.npy"], ["stats", "x.npy"], ["diff", "x.npy", "x.npy", "--verbose"]):
        status, text = run(words)
        expect(status == 0 and "\x1b[" in text, f"{words[0]} is coloured", text)
        status, text = run(words, NO_COLOR="1")
        expect(status == 0 and "\x1b" not in text, f"{words[0]} heeds NO_COLOR", text)
    status, text = run(["eval", "x + y", "x=x.npy"])
    expect(status == 2 and "\x1b[31m^" in text, "a caret is red", text)
    status, text = run(["info", "x.npy"], TERM="dumb")
    expect("\x1b" not in text, "a dumb terminal gets no colours", text)


def check_pictures():
    status, text = run(["plot", "x.npy"], COLORTERM="truecolor")
    expect(status == 0 and "\x1b[48;2;" in text and "\u2580" in text, "half blocks in all colours", text)
    status, text = run(["plot", "x.npy"])
    expect(status == 0 and "\x1b[48;5;" in text and "48;2;" not in text, "half blocks in 256 colours", text)
    status, text = run(["plot", "x.npy"], LC_ALL="C")
    expect(status == 0 and "\x1b[48;5;" in text and text.isascii(), "spaces where there are no blocks", text)
    status, text = run(["plot", "x.npy"], NO_COLOR="1")
    expect(status == 0 and "\x1b" not in text and "@" not in plain(text)[:1], "letters without colours", text)
    status, text = run(["plot", "x.npy[:3]", "--kind", "line"])
    expect("\x1b[38;5;" in text and re.search("[\u2801-\u28ff]", text) and
           plain(text).rstrip().endswith("rows 0 1 2"), "curves in colours", text)
    status, text = run(["plot", "v.npy"])
    expect(status == 0 and any(0x2800 <= ord(c) < 0x2900 for c in text), "a line of dots", text)
    status, text = run(["plot", "v.npy"], LC_ALL="C")
    expect(status == 0 and "*" in text and text.isascii(), "a line of stars", text)
    status, text = run(["plot", "x.npy", "--kind", "hist"])
    expect(status == 0 and "\u2588" in text, "bars of blocks", text)


def check_widths():
    for columns in (40, 70, 120):
        for words in (["plot", "x.npy"], ["plot", "v.npy"], ["plot", "x.npy", "--kind", "hist"],
                      ["show", "x.npy"], ["stats", "x.npy"]):
            status, text = run(words, columns=columns)
            widest = max(width(line) for line in text.split("\n"))
            expect(status == 0 and widest <= columns,
                   f"{' '.join(words)} fits {columns} columns, not {widest}", text)
    status, text = run(["plot", "x.npy"], columns=100, rows=12)
    expect(text.count("\n") <= 12, "a picture fits the height", text)


def check_progress():
    """A gigabyte of zeros that takes no room on the disk: one thread needs more than a second for it."""
    count = 300_000_000
    header = json.dumps({"z": {"dtype": "F32", "shape": [count], "data_offsets": [0, 4 * count]}}).encode()
    header += b" " * (-len(header) % 8)
    name = os.path.join(WORK, "zeros.safetensors")
    with open(name, "wb") as f:
        f.write(struct.pack("<Q", len(header)) + header)
        f.truncate(8 + len(header) + 4 * count)
    status, text = run(["stats", name], TSR_THREADS="1")
    expect(status == 0 and re.search(r"\[#*\.*\] +\d+%  [0-9.]+ [KMG]?B of 2\.4 GB  "
                                     r"[0-9.]+ [KMG]?B/s  \d+ s left", text),
           "a bar with rate and time left", text)
    expect(text.rstrip().split("\n")[0].endswith(")") or "\x1b[K" in text, "the bar is removed", text)
    status, text = run(["convert", name, os.path.join(WORK, "zeros.npz"), "--compress"], columns=60)
    expect(status == 0 and re.search(r"\[#+\.+\] +[1-9]\d?%  \d+ MB of 1\.2 GB  \d+ s left", text),
           "convert tells how far it is", text)
    lines = [len(x) for x in re.split(r"\r\x1b\[K|\r?\n", text)]
    expect(max(lines) <= 60, "in the width that there is", text)
    status, text = run(["stats", "x.npy"])
    expect("s left" not in text, "short work shows no bar", text)
    os.remove(name)
    os.remove(os.path.join(WORK, "zeros.npz"))


check_colours()
check_pictures()
check_widths()
check_progress()
print(f"{held} held, {failed} failed in a terminal")
sys.exit(failed > 0)
