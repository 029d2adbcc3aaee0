"""What docs/howto/add-*.md tell to write is enough.

    python3 tools/check_howto.py [FOLDER]

Copies the tree to FOLDER (build/howto), applies the snippets of all pages, builds the library with portable
kernels and the programs that the pages name, and runs their commands. Then the new code is made wrong, and
the programs that should notice must fail. Comments in a page tell what a block of code is for:

    <!-- apply: FILE | after: text of one line -->   goes beside the only line with the text; also `before:`
    <!-- create: FILE -->                            is a new file
    <!-- run -->                                     lines `$ command`, each followed by what it prints, where
                                                     `...` is any text and the number of blanks does not count
    <!-- build: TARGET ... -->                       what the commands need
    <!-- wrong: FILE | text | other text -->         makes the code wrong
    <!-- fails: WORD ... | command -->               the command then fails, and prints each word

Prints one line a failure; the exit status is 1 if there is one.
"""
import glob
import os
import re
import shutil
import subprocess
import sys

FOLDER = sys.argv[1] if len(sys.argv) > 1 else "build/howto"
TREE = FOLDER + "/tree"
JOBS = os.environ.get("JOBS", str(os.cpu_count() or 2))

# Portable kernels alone and little optimisation: what takes time is the build.
SETTINGS = [f"-DTSR_HAVE_{isa}=OFF" for isa in ("AVX2", "AVX512", "VNNI", "BF16", "AMX")] + [
    "-DTSR_CUDA=OFF", "-DTSR_BUILD_COMPAT=OFF", "-DTSR_BUILD_EXAMPLES=OFF", "-DCMAKE_C_FLAGS_RELEASE=-O1",
    "-DTSR_TEST_OPTIMIZATION=-O0"]

COMMENT = r"<!-- (apply|create|run|build|wrong|fails)(?:: (.*?))? -->\n(?:```\w*\n(.*?)```\n)?"
failed = 0


def expect(ok, what, output=""):
    global failed
    failed += not ok
    if not ok:
        print("FAILED", what)
        print("\n".join("    " + line for line in output.splitlines()[-20:]))
    return ok


def read(path):
    with open(path) as f:
        return f.read()


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as f:
        f.write(text)


class Page:
    def __init__(self, path):
        self.path = path
        self.found = [(kind, [word.strip() for word in rest.split(" | ")], code)
                      for kind, rest, code in re.findall(COMMENT, read(path), re.S)]
        # that one is check_readme's
        lost = len(re.findall("<!-- (?!not run -->)", read(path))) - len(self.found)
        expect(not lost, f"{path}: {lost} comments are not understood")

    def all(self, kind):
        return [(words, code) for found, words, code in self.found if found == kind]

    def edit(self, file, change, what):
        text = change(read(f"{TREE}/{file}"))
        if expect(text is not None, f"{self.path}: {file}: not one line with '{what}'"):
            write(f"{TREE}/{file}", text)

    def apply(self):
        for (file,), code in self.all("create"):
            expect(not os.path.exists(f"{TREE}/{file}"), f"{self.path}: {file} exists")
            write(f"{TREE}/{file}", code)
        for (file, place), code in self.all("apply"):
            where, anchor = place.split(": ", 1)
            self.edit(file, lambda text: insert(text, where, anchor, code), anchor)

    def spoil(self):
        for (file, text, other), _ in self.all("wrong"):
            self.edit(file, lambda all_of_it: all_of_it.replace(text, other) if text in all_of_it else None,
                      text)

    def targets(self):
        return [target for (names,), _ in self.all("build") for target in names.split()]

    def check_commands(self):
        for _, code in self.all("run"):
            for command, printed in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", code, re.M):
                status, output = run("bash", "-o", "pipefail", "-c", command, cwd=TREE)
                expect(status == 0, f"{self.path}: $ {command}: status {status}", output)
                expect(not printed.strip() or is_like(output, printed), f"{self.path}: $ {command}",
                       f"expected:\n{printed}\ngot:\n{output}")

    def check_spoilt(self):
        for (words, command), _ in self.all("fails"):
            status, output = run("bash", "-c", command, cwd=TREE)
            for word in words.split():
                expect(status != 0 and re.search(rf"\b{word}\b", output),
                       f"{self.path}: {command} finds a wrong {word}", output)


def insert(text, where, anchor, code):
    """The code beside the only line that has the anchor; None if there is no such line, or more."""
    lines = text.splitlines(keepends=True)
    places = [i for i, line in enumerate(lines) if anchor in line]
    if len(places) != 1:
        return None
    place = places[0] + (where == "after")
    return "".join(lines[:place]) + code + "".join(lines[place:])


def is_like(output, printed):
    pattern = r"\s+".join(re.escape(word).replace(r"\.\.\.", ".*") for word in printed.split())
    return re.fullmatch(rf"\s*{pattern}\s*", output, re.S)


def run(*words, cwd=None):
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=cwd,
                          env={**os.environ, "TSR_FALLBACK": "error"})
    return done.returncode, done.stdout


def build(targets):
    status, output = run("cmake", "--build", TREE + "/build", f"-j{JOBS}", "--target", *targets)
    warned = [line for line in output.splitlines() if "warning:" in line]
    expect(not warned, "the copy builds with warnings", "\n".join(warned))
    return expect(status == 0, "the copy does not build", output)


def copy_tree():
    shutil.rmtree(FOLDER, ignore_errors=True)
    shutil.copytree(".", TREE, ignore=shutil.ignore_patterns("build", "build-*", ".git"), symlinks=True)


def main():
    pages = [page for page in map(Page, sorted(glob.glob("docs/howto/add-*.md"))) if page.found]
    targets = sorted({target for page in pages for target in page.targets()})
    copy_tree()
    for page in pages:
        page.apply()
    status, output = run("cmake", "-S", TREE, "-B", TREE + "/build", *SETTINGS,
                         *os.environ.get("HOWTO_CMAKE", "").split())
    if not failed and expect(status == 0, "cmake", output) and build(targets):
        for page in pages:
            page.check_commands()
        for page in pages:
            page.spoil()
        if build(targets):
            for page in pages:
                page.check_spoilt()
    for page in pages:
        print(f"{page.path}: {len(page.all('apply')) + len(page.all('create'))} places")
    if not failed:
        shutil.rmtree(FOLDER, ignore_errors=True)
    return 1 if failed else 0


sys.exit(main())
