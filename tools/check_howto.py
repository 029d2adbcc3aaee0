"""What docs/howto/add-an-op.md tells to write is enough for an op that every suite covers.

    python3 tools/check_howto.py [FOLDER]

Copies the tree to FOLDER (build/howto), applies the page's snippets, builds the library with portable kernels
and the programs below, and runs them for the new ops. Then each of the new functions is made wrong, and the
programs that compare with the reference must say so.

A snippet is a block of code behind a comment that tells the file and the line it goes after or before:

    <!-- apply: include/tessera/op.def | after: text of one line -->

Prints one line a failure; the exit status is 1 if there is one.
"""
import os
import re
import shutil
import subprocess
import sys

PAGE = "docs/howto/add-an-op.md"
FOLDER = sys.argv[1] if len(sys.argv) > 1 else "build/howto"
TREE, BUILD = FOLDER + "/tree", FOLDER + "/build"
JOBS = os.environ.get("JOBS", str(os.cpu_count() or 2))

# Portable kernels alone and little optimisation: what takes time is the build.
SETTINGS = [f"-DTSR_HAVE_{isa}=OFF" for isa in ("AVX2", "AVX512", "VNNI", "VBMI", "BF16", "AMX")] + [
    "-DTSR_CUDA=OFF", "-DTSR_BUILD_COMPAT=OFF", "-DTSR_BUILD_EXAMPLES=OFF", "-DCMAKE_C_FLAGS_RELEASE=-O1",
    "-DTSR_TEST_OPTIMIZATION=-O0"]
TARGETS = ["ops-test_elementwise", "ops-test_accuracy", "tsr", "tsr-backend-check", "backend-sim"]

MATH = "src/cpu/template/math.inc"
failed = 0


def expect(ok, what, output=""):
    global failed
    failed += not ok
    if not ok:
        print("FAILED", what)
        print("\n".join("    " + line for line in output.splitlines()[-20:]))
    return ok


# The page ---------------------------------------------------------------------------------


def read(path):
    with open(path) as f:
        return f.read()


def read_snippets(page):
    """[(file, "after" or "before", text of the line, code)]."""
    pattern = r"<!-- apply: (\S+) \| (after|before): (.*?) -->\n```\w*\n(.*?)```\n"
    found = re.findall(pattern, page, re.S)
    whole = found and len(found) == page.count("<!-- apply:")
    if not expect(whole, f"{PAGE}: a comment without its snippet"):
        sys.exit(1)
    return found


def insert(text, where, anchor, code):
    """The code beside the only line that has the anchor; None if there is no such line, or more."""
    lines = text.splitlines(keepends=True)
    places = [i for i, line in enumerate(lines) if anchor in line]
    if len(places) != 1:
        return None
    place = places[0] + (where == "after")
    return "".join(lines[:place]) + code + "".join(lines[place:])


def apply(snippets):
    for path, where, anchor, code in snippets:
        path = f"{TREE}/{path}"
        text = insert(read(path), where, anchor, code)
        if not expect(text is not None, f"{path}: not one line with '{anchor}'"):
            sys.exit(1)
        write(path, text)


def write(path, text):
    with open(path, "w") as f:
        f.write(text)


# Building and running -----------------------------------------------------------------------


def run(*words):
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          env={**os.environ, "TSR_FALLBACK": "error"})
    return done.returncode, done.stdout


def build():
    status, output = run("cmake", "--build", BUILD, f"-j{JOBS}", "--target", *TARGETS)
    return expect(status == 0, "the copy does not build", output)


def copy_tree():
    shutil.rmtree(FOLDER, ignore_errors=True)
    shutil.copytree(".", TREE, ignore=shutil.ignore_patterns("build", "build-*", ".git"), symlinks=True)


def check_right(names):
    for program in ("test_elementwise", "test_accuracy"):
        status, output = run(f"{BUILD}/tests/ops/{program}")
        expect(status == 0, program, output)
    status, output = run(f"{BUILD}/bin/tsr", "selftest", "--seed", "1", "--seconds", "0", "--verbose",
                         "--family", "elementwise")
    expect(status == 0, "tsr selftest", output)
    for name in names:
        expect(re.search(rf"^ok +elementwise +{name} f32 +[1-9]", output, re.M), f"tsr selftest runs {name}")
        status, device = run(f"{BUILD}/bin/tsr-backend-check", "sim", "--filter", name + " ")
        expect(status == 0 and f" {name} f32" in device, f"tsr-backend-check of {name}", device)
        expect(f"`{name}`" in run(f"{BUILD}/bin/tsr", "ops", "--markdown")[1], f"{name} in the reference")
    status, output = run(f"{TREE}/tools/check_rows.sh")
    expect(status == 0, "check_rows.sh", output)


def check_wrong(names):
    """The functions give other numbers: the three that compare with the reference name each op."""
    path = f"{TREE}/{MATH}"
    text = read(path)
    for name in names:
        text = re.sub(rf"(math_{name}\(.*?return )(.*?);", r"\1 1.001 * \2;", text)
    write(path, text)
    if not build():
        return
    commands = {"test_elementwise": [f"{BUILD}/tests/ops/test_elementwise"],
                "test_accuracy": [f"{BUILD}/tests/ops/test_accuracy"],
                "tsr selftest": [f"{BUILD}/bin/tsr", "selftest", "--seed", "1", "--seconds", "0", "--family",
                                 "elementwise"]}
    for title, words in commands.items():
        status, output = run(*words)
        for name in names:
            expect(status != 0 and re.search(rf"\b{name}\b", output), f"{title} finds a wrong {name}", output)


def main():
    snippets = read_snippets(read(PAGE))
    names = re.findall(r"^(?:UNARY|BINARY)\(\w+, (\w+),", "\n".join(code for *_, code in snippets), re.M)
    expect(names, f"{PAGE} has rows")
    copy_tree()
    apply(snippets)
    status, output = run("cmake", "-S", TREE, "-B", BUILD, *SETTINGS)
    if expect(status == 0, "cmake", output) and build():
        check_right(names)
        check_wrong(names)
    if not failed:
        print(f"{', '.join(names)}: {len(snippets)} places, and every suite covers them")
        shutil.rmtree(FOLDER, ignore_errors=True)
    return 1 if failed else 0


sys.exit(main())
