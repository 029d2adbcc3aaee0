#!/usr/bin/env python3
"""Calls pass through no more files than docs/architecture.md says.

    tools/check_walks.py [--show] [BUILD]

Links tools/walks.c with the library's objects in BUILD, and makes each call of the page's table. A call
passes through a file if it enters a function of that file's object. --show prints the files."""
import bisect
import glob
import os
import re
import subprocess
import sys
import tempfile

PAGE = "docs/architecture.md"
ROW = re.compile(r"^\| `tsr_(?:file_)?(add|sum|matmul|read)` of ([\d ]+)(?: x \d+)? floats.* "
                 r"\| (\d+) \| (\d+) \|$")
MOST = {"given": 8, "made": 14}  # of calls with few elements


def rows():
    """(line, call, size, files given, files made) of the page's table."""
    with open(PAGE) as page:
        for line in page:
            m = ROW.match(line)
            if m:
                yield line, m[1], int(m[2].replace(" ", "")), int(m[3]), int(m[4])


def build_walks(folder, build):
    inside = f"{build}/CMakeFiles/tessera_objects.dir/"
    objects = [o for o in glob.glob(f"{inside}src/**/*.o", recursive=True)
               if os.path.exists(o.removeprefix(inside).removesuffix(".o"))]  # not of sources that are gone
    if not objects:
        print(f"no objects in {build}")
        sys.exit(77)
    program, link_map = f"{folder}/walks", f"{folder}/walks.map"
    subprocess.run([os.environ.get("CC", "cc"), "-no-pie", "-D_GNU_SOURCE", "-Iinclude", "tools/walks.c",
                    *objects, f"-Wl,-Map={link_map}", "-o", program, "-lm", "-lpthread", "-ldl"], check=True)
    return program, link_map


def read_map(path):
    """(begin, end, source below src) of the code of each object, in order."""
    with open(path) as lines:
        text = lines.read()
    found = re.findall(r"^ \.text\S*\s+0x([0-9a-f]+)\s+0x([0-9a-f]+)\s+(\S+)$", text, re.M)
    parts = [(int(at, 16), int(size, 16), re.search(r"/src/(.*)\.o$", name)) for at, size, name in found]
    return sorted((begin, begin + size, m[1]) for begin, size, m in parts if m and size > 0)


def functions_of(program, parts):
    """{address of a function of the library: the source of its object}, by address."""
    begins = [begin for begin, _, _ in parts]
    found = {}
    names = subprocess.run(["nm", "--defined-only", program], check=True, capture_output=True,
                           text=True).stdout
    for at in sorted(int(line.split()[0], 16) for line in names.split("\n") if re.search(r" [tTwW] ", line)):
        i = bisect.bisect_right(begins, at) - 1
        if i >= 0 and at < parts[i][1]:
            found[at] = parts[i][2]
    return found


def walk(program, functions, call, size, folder):
    """The files that the call passes through, in order."""
    elements, side = (size, 4) if call.startswith(("add", "sum")) else (16, size)
    run = subprocess.run([program, call, str(elements), str(side), f"{folder}/a.safetensors"],
                         input="\n".join(f"{at:x}" for at in functions),
                         env=dict(os.environ, TSR_THREADS="2"), capture_output=True, text=True)
    if run.returncode == 77:
        print("processes cannot be traced here")
        sys.exit(77)
    if run.returncode:
        sys.exit(f"walks {call} ended with status {run.returncode}: {run.stderr}")
    return list(dict.fromkeys(functions[int(line, 16)] for line in run.stdout.split()))


def main():
    arguments = [a for a in sys.argv[1:] if a != "--show"]
    wrong = calls = 0
    with tempfile.TemporaryDirectory() as folder:
        program, link_map = build_walks(folder, arguments[0] if arguments else "build")
        functions = functions_of(program, read_map(link_map))
        for line, call, size, *said in rows():
            for name, suffix, most in zip(MOST, ("", "_made"), said):
                files = walk(program, functions, call + suffix, size, folder)
                if "--show" in sys.argv:
                    print(f"{call}, {size}, {name}: {len(files)}:", *files)
                limit = min(most, MOST[name]) if size <= 16 else most
                if not 1 < len(files) <= limit:
                    print(f"{call}, {size}, result {name}: {len(files)} files, not {limit}:", *files)
                    wrong += 1
                calls += 1
    if calls < 8:
        sys.exit(f"{PAGE}: no table of calls")
    if not wrong:
        print(f"{calls} calls pass through no more files than {PAGE} says")
    return 1 if wrong else 0


sys.exit(main())
