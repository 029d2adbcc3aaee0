"""Shell blocks of README.md and of the page on installing do what the pages say.

    python3 tools/check_readme.py [BUILD]

Blocks of a page run in order: ```sh as scripts, ``` with lines `$ command` as single commands, which print what
follows them. A block without a language right after ```sh is the end of what that script prints. Comments:

    <!-- file: NAME -->      the block is this file, beside which the others run
    <!-- in the tree -->     the block runs in the source tree
    <!-- needs: PROGRAM -->  the block is skipped where there is no such program
    <!-- not run -->         the block is not run

HOME is a folder that is thrown away; $TESSERA is the source tree. Prints one line a failure; the exit status is 1 if
there is one.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

PAGES = ["README.md", "docs/howto/use-from-cmake-or-pkg-config.md"]
TREE = os.getcwd()
BUILD = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else "build")
BLOCK = r"((?:<!-- [^\n]* -->\n)*)```(\w*)\n(.*?)```\n"
passed = failed = skipped = 0


def report(ok, what, output=""):
    global passed, failed
    passed += ok
    failed += not ok
    if not ok:
        print("FAILED", what)
        print("\n".join("    " + line for line in output.splitlines()[-20:]))


def run(script, folder, home):
    path = f"{BUILD}/bin:{os.environ['PATH']}"
    environment = {**os.environ, "HOME": home, "PATH": path, "TESSERA": TREE, "BUILD": BUILD, "COLUMNS": "100"}
    done = subprocess.run(["bash", "-e", "-o", "pipefail", "-c", script], cwd=folder, env=environment, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return done.returncode, done.stdout


def missing(notes):
    return [program for program in re.findall(r"<!-- needs: (\S+) -->", notes) if not shutil.which(program)]


def check_page(page, work, home):
    global skipped
    printed = None  # by the script before
    with open(page) as f:
        text = f.read()
    for notes, language, code in re.findall(BLOCK, text, re.S):
        title = f"{page}: {code.splitlines()[0] if code else ''}"
        name = re.search(r"<!-- file: (\S+) -->", notes)
        folder = TREE if "<!-- in the tree -->" in notes else work
        absent = missing(notes)
        if name:
            with open(f"{work}/{name.group(1)}", "w") as f:
                f.write(code)
        elif "<!-- not run -->" in notes:
            pass
        elif absent:
            print(f"skipped: no {absent[0]}: {title}")
            skipped += 1
            printed = None
        elif language == "sh":
            status, printed = run(code, folder, home)
            report(status == 0, title, printed)
        elif language == "" and code.startswith("$ "):
            for command, wanted in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", code, re.M):
                status, output = run(command, folder, home)
                report(status == 0 and output == wanted, f"{page}: $ {command}", output)
        elif language == "" and printed is not None:
            report(printed.endswith(code), f"{title} is not what is printed", printed)
            printed = None


for each in PAGES:
    with tempfile.TemporaryDirectory() as top:
        for inner in ("work", "home"):
            os.mkdir(f"{top}/{inner}")
        check_page(each, f"{top}/work", f"{top}/home")
print(f"{passed} passed, {failed} failed, {skipped} skipped")
sys.exit(failed != 0)
