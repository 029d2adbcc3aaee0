#!/usr/bin/env python3
"""The folders of src include and call each other in one direction (docs/decisions/0023).

    tools/check_layers.py [BUILD]

Reads what sources include, and which symbols the objects of the library in BUILD define and need. Prints each
edge that goes the wrong way, with the file or the pair of files and the symbol. Before that, a tree with such
edges is made and checked, to see that they are noticed."""
import os
import re
import subprocess
import sys
import tempfile

# What each folder may know. The CPU's kernels know no registry; the registry knows two names of theirs.
MAY_KNOW = {
    "core": set(),
    "cpu": {"core"},
    "backend": {"core"},
    "ops": {"core", "backend"},
    "io": {"core", "backend", "ops"},
    "interop": {"core", "backend", "ops"},
}
REGISTERED = {("backend/registry.c", "tsri_cpu_backend"), ("backend/registry.c", "tsri_cpu_entries")}


def is_wrong(user, used):
    """Paths below src. A file outside of the folders is everybody's."""
    a, b = user.split("/")[0], used.split("/")[0]
    return a in MAY_KNOW and b in MAY_KNOW and a != b and b not in MAY_KNOW[a]


def wrong_includes(src):
    for folder, _, names in os.walk(src):
        for name in sorted(names):
            if not name.endswith((".c", ".h", ".inc")):
                continue
            path = os.path.join(folder, name)
            user = os.path.relpath(path, src)
            with open(path) as text:
                for used in re.findall(r'^\s*#\s*include\s+"([^"]+)"', text.read(), re.M):
                    here = os.path.normpath(os.path.join(os.path.dirname(user), used))
                    used = here if os.path.exists(os.path.join(src, here)) else os.path.normpath(used)
                    if is_wrong(user, used):
                        yield f"src/{user} includes {used}"


def objects(src, build):
    """(path below src, file) of each object whose source is there; an old build has others."""
    for folder, _, names in os.walk(build):
        for name in names:
            path = os.path.join(folder, name)
            source = re.search(r"tessera_objects\.dir/src/(.+\.c)\.(o|obj)$", path)
            if source and os.path.exists(os.path.join(src, source.group(1))):
                yield source.group(1), path


def symbols(path):
    """Names that an object defines, and that it needs."""
    defined, needed = set(), set()
    for line in subprocess.run(["nm", path], check=True, capture_output=True, text=True).stdout.splitlines():
        kind, name = line.split()[-2:]
        if kind == "U":
            needed.add(name)
        elif kind.isupper():
            defined.add(name)
    return defined, needed


def wrong_calls(src, build):
    found = {source: symbols(path) for source, path in objects(src, build)}
    home = {name: source for source, (defined, _) in found.items() for name in defined}
    for user, (_, needed) in sorted(found.items()):
        for name in sorted(needed):
            used = home.get(name)
            if used and is_wrong(user, used) and (user, name) not in REGISTERED:
                yield f"src/{user} needs {name} of src/{used}"


def check_that_wrong_edges_are_noticed():
    files = {"core/low.c": "void tsri_high(void); void tsri_low(void); "
                           "void tsri_low(void) { tsri_high(); }\n",
             "ops/high.c": "void tsri_high(void); void tsri_high(void) {}\n",
             "ops/high.h": '#include "cpu/kernel.h"\n', "cpu/kernel.h": ""}
    with tempfile.TemporaryDirectory() as root:
        for name, text in files.items():
            path = os.path.join(root, "src", name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w") as out:
                out.write(text)
            if name.endswith(".c"):
                target = os.path.join(root, "tessera_objects.dir/src", name + ".o")
                os.makedirs(os.path.dirname(target), exist_ok=True)
                subprocess.run([os.environ.get("CC", "cc"), "-c", path, "-o", target], check=True)
        src = os.path.join(root, "src")
        assert list(wrong_calls(src, root)) == ["src/core/low.c needs tsri_high of src/ops/high.c"]
        assert list(wrong_includes(src)) == ["src/ops/high.h includes cpu/kernel.h"]


def main():
    build = sys.argv[1] if len(sys.argv) > 1 else "build"
    count = sum(1 for _ in objects("src", os.path.join(build, "CMakeFiles")))
    if count == 0:
        print(f"no objects in {build}")
        return 77
    check_that_wrong_edges_are_noticed()
    wrong = list(wrong_includes("src")) + list(wrong_calls("src", os.path.join(build, "CMakeFiles")))
    for line in wrong:
        print(line)
    if not wrong:
        print(f"{count} objects call in one direction")
    return 1 if wrong else 0


sys.exit(main())
