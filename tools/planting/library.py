"""A copy of the tree, built so that one changed object costs one compilation and one link."""
import collections
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
COPIED = "backend-check backends bench cli cmake include opcheck src tests tools CMakeLists.txt".split()
KINDS = "unit property ops oom fuzz net".split()
CMAKE = ["-DCMAKE_EXPORT_COMPILE_COMMANDS=ON", "-DTSR_CUDA=OFF", "-DTSR_BUILD_COMPAT=OFF",
         "-DTSR_BUILD_EXAMPLES=OFF", "-DTSR_BUILD_CLI=OFF", "-DTSR_BUILD_PYTHON=OFF", "-DTSR_INSTALL=OFF",
         "-DCMAKE_C_FLAGS_RELEASE=-O1"]

# Linked into the library: notes in a mapped file, a byte for each address, where a block was entered.
TRACE = r"""
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
void __sanitizer_cov_trace_pc(void) __attribute__((visibility("hidden")));
static char *seen;
__attribute__((constructor(101))) static void begin(void)
{
    const char *name = getenv("PLANT_TRACE");
    const int file = name ? open(name, O_RDWR) : -1;
    if (file < 0) return;
    void *at = mmap(NULL, (size_t)lseek(file, 0, SEEK_END), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (at != MAP_FAILED) seen = at;
}
void __sanitizer_cov_trace_pc(void)
{
    if (!seen) return;
    char *at = seen + ((const char *)__builtin_return_address(0) - __ehdr_start);
    if (!*at) *at = 1;
}
"""


def must(command, **options):
    """Runs it; its processor seconds. Throws what it printed if it fails."""
    with tempfile.TemporaryFile("w+") as out:
        child = subprocess.Popen([str(c) for c in command], stdout=out, stderr=subprocess.STDOUT, **options)
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode:
            out.seek(0)
            raise RuntimeError(f"{shlex.join(str(c) for c in command)}\n{out.read()}")
        return used.ru_utime + used.ru_stime


def plain_command(words):
    """A command of CMake's without its source and object, without warnings, and exporting everything."""
    kept, skip = [], False
    for word in words:
        if skip or word in ("-o", "-c"):
            skip = word in ("-o", "-c")
        elif not re.match(r"-(O|g\d|W|fvisibility)", word):
            kept.append(word)
    return kept + ["-w", "-O1"]


class Library:
    """The copy of the tree, its objects, the shared library and the test programs."""

    def __init__(self, work, jobs):
        self.work, self.jobs, self.tree = work, jobs, work / "tree"
        self.hashes = {}
        self.copy_tree()
        self.configure()
        self.linker = ["-fuse-ld=lld"] if shutil.which("ld.lld") else []
        self.build()

    def copy_tree(self):
        """Only what changed is written, so that what is built of the rest stays."""
        keep = set()
        for name in COPIED:
            top = ROOT / name
            for file in [top] if top.is_file() else top.rglob("*"):
                if file.is_file() and "__pycache__" not in file.parts:
                    copy = self.tree / file.relative_to(ROOT)
                    keep.add(copy)
                    if not copy.exists() or copy.read_bytes() != file.read_bytes():
                        copy.parent.mkdir(parents=True, exist_ok=True)
                        shutil.copy2(file, copy)
        for copy in [f for f in self.tree.rglob("*") if f.is_file() and f not in keep]:
            copy.unlink()

    def configure(self):
        folder = self.work / "cmake"
        must(["cmake", "-S", self.tree, "-B", folder, *CMAKE])
        targets = ["backend-sim", "backend-null"]
        must(["cmake", "--build", folder, f"-j{self.jobs}", "--target", *targets])
        self.objects, self.programs, self.opcheck = {}, collections.defaultdict(list), []
        for entry in json.loads((folder / "compile_commands.json").read_text()):
            words = shlex.split(entry["command"])
            target = words[words.index("-o") + 1].split("/")[1][:-len(".dir")]
            kind, _, name = target.partition("-")
            if target == "tessera_objects":
                self.objects[os.path.relpath(entry["file"], self.tree)] = plain_command(words)
            elif target == "opcheck":
                self.opcheck.append((entry["file"], plain_command(words)))
            elif kind in KINDS:
                self.programs[kind, name].append((entry["file"], plain_command(words)))

    def hash_of(self, file):
        if file not in self.hashes:
            path = pathlib.Path(file)
            self.hashes[file] = hashlib.sha1(path.read_bytes()).hexdigest() if path.exists() else ""
        return self.hashes[file]

    def key(self, command, depends):
        return hashlib.sha1(repr([command, [(f, self.hash_of(f)) for f in depends]]).encode()).hexdigest()

    def compile(self, source, command, out):
        """Unless it is there, of the same command and files."""
        note = pathlib.Path(f"{out}.json")
        if out.exists() and note.exists():
            last = json.loads(note.read_text())
            if last["key"] == self.key(command, last["depends"]):
                return last
        out.parent.mkdir(parents=True, exist_ok=True)
        seconds = must([*command, "-MMD", "-MF", f"{out}.d", "-c", source, "-o", out])
        text = pathlib.Path(f"{out}.d").read_text().replace("\\\n", " ").split(":", 1)[1]
        depends = sorted({os.path.normpath(f) for f in text.split()})
        last = {"key": self.key(command, depends), "depends": depends, "seconds": seconds}
        note.write_text(json.dumps(last))
        return last

    def build(self):
        tracer = self.work / "trace.c"
        tracer.write_text(TRACE)
        traced = ["-g1", "-fsanitize-coverage=trace-pc"]
        self.out = {s: self.work / "objects" / f"{s}.o" for s in self.objects}
        self.depends, self.seconds = {}, {}
        with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            notes = {s: pool.submit(self.compile, self.tree / s, c + traced, self.out[s])
                     for s, c in self.objects.items()}
            tests = {key: [pool.submit(self.compile, f, c, self.test_object(key, f)) for f, c in parts]
                     for key, parts in self.programs.items()}
            checks = [pool.submit(self.compile, f, c, self.test_object(("opcheck",), f))
                      for f, c in self.opcheck]
            for source, note in notes.items():
                self.depends[source] = {os.path.relpath(f, self.tree) for f in note.result()["depends"]}
                self.seconds[source] = note.result()["seconds"]
            must(["cc", "-O2", "-fPIC", "-c", tracer, "-o", self.work / "trace.o"])
            self.base = self.work / "base"
            self.base.mkdir(exist_ok=True)
            self.link(self.out, self.base)
            self.link(self.out, self.base, self.work / "cmake/lib/libtessera.so", "-Wl,-Bsymbolic")
            for key, parts in tests.items():
                for part in parts:
                    part.result()
            for check in checks:
                check.result()
            self.archive = self.work / "libopcheck.a"
            self.archive.unlink(missing_ok=True)
            must(["ar", "rcs", self.archive, *(self.test_object(("opcheck",), f) for f, _ in self.opcheck)])
            self.binaries = {f"{k}/{n}": self.work / "tests" / k / n for k, n in self.programs}
            list(pool.map(self.link_program, self.programs))

    def test_object(self, key, file):
        return self.work / "objects/tests" / "-".join(key) / (os.path.basename(file) + ".o")

    def link_program(self, key):
        out = self.work / "tests" / key[0] / key[1]
        out.parent.mkdir(parents=True, exist_ok=True)
        objects = [self.test_object(key, f) for f, _ in self.programs[key]]
        must(["cc", *self.linker, "-rdynamic", *objects, self.archive, "-o", out, f"-L{self.base}",
              "-lplanted", "-lm", "-ldl", "-pthread"])

    def link(self, objects, folder, out=None, *options):
        """The library, in this folder; or out, the copy with symbols of its own that tests load."""
        listed = folder / "objects.txt"
        listed.write_text("\n".join(f'"{o}"' for o in objects.values()))
        out = out or folder / "libplanted.so"
        must(["cc", *self.linker, "-shared", f"@{listed}", self.work / "trace.o", "-o", out,
              "-Wl,-soname,libplanted.so", *options, "-lm", "-ldl", "-pthread"])

    def objects_of(self, file):
        """The sources that include a file, or are it."""
        return sorted(source for source, depends in self.depends.items() if file in depends)
