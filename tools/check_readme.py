"""What README.md, docs/ and the tour in tessera.h show runs, and prints what they say.

    python3 tools/check_readme.py [BUILD] [PAGE...]

Blocks of a page run in order: ```c and ```cpp with a main as programs, ```sh as scripts, ``` with lines
`$ command` as single commands, which print what follows them; a line `...` stands for any number of lines. A
block without a language right after a program or script is the end of what that prints. Comments:

    <!-- file: NAME -->      the block is this file, beside which the others run
    <!-- in the tree -->     the block runs in the source tree
    <!-- needs: PROGRAM -->  the block is skipped where there is no such program
    <!-- first: COMMAND -->  runs before the block
    <!-- fails -->           the last command of the block fails
    <!-- output left out --> what the commands of the block print is not compared
    <!-- not run -->         the block is not run

HOME is a folder that is thrown away; $TESSERA is the source tree. Prints one line a failure; the exit status
is 1 if there is one.
"""
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

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
    own = {"HOME": home, "PATH": path, "TESSERA": TREE, "BUILD": BUILD, "COLUMNS": "100", "LC_ALL": "C.UTF-8"}
    done = subprocess.run(["bash", "-e", "-o", "pipefail", "-c", script], cwd=folder,
                          env={**os.environ, **own}, text=True, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return done.returncode, done.stdout


def missing(notes):
    return [program for program in re.findall(r"<!-- needs: (\S+) -->", notes) if not shutil.which(program)]


def is_program(language, code):
    return language in ("c", "cpp") and "int main" in code


def run_program(language, code, work, home):
    """Statically, because a page on the inside shows internal functions."""
    source = f"program.{language}"
    with open(f"{work}/{source}", "w") as f:
        f.write(code)
    compiler = "${CC:-cc} -std=c11" if language == "c" else "${CXX:-c++} -std=c++17"
    return run(f"{compiler} -Wall -Wextra -Werror -I$TESSERA/include -I$TESSERA/src {source} -o program "
               f"$BUILD/lib/libtessera.a -lpthread -lm && ./program", work, home)


def is_like(printed, wanted):
    """Are they the same, where `...` is any number of lines?"""
    parts = re.split(r"^ *\.\.\.\n", wanted, flags=re.M)
    return re.fullmatch("(?:.*\n)*".join(map(re.escape, parts)), printed) is not None


def run_commands(page, notes, code, folder, home):
    fails, compared = "<!-- fails -->" in notes, "<!-- output left out -->" not in notes
    commands = re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", code, re.M)
    for i, (command, wanted) in enumerate(commands):
        status, output = run(command, folder, home)
        good = (status != 0) == (fails and i == len(commands) - 1)
        report(good and (is_like(output, wanted) or not compared), f"{page}: $ {command}", output)


def check_block(page, notes, language, code, work, home):
    """Runs it; what it printed, or None."""
    title = f"{page}: {code.splitlines()[0] if code else ''}"
    folder = TREE if "<!-- in the tree -->" in notes else work
    for command in re.findall(r"<!-- first: (.*) -->", notes):
        status, output = run(command, folder, home)
        report(status == 0, f"{page}: {command}", output)
    if is_program(language, code) or language == "sh":
        status, printed = run(code, folder, home) if language == "sh" else \
            run_program(language, code, work, home)
        report(status == 0, title, printed)
        return printed
    if language == "" and code.startswith("$ "):
        run_commands(page, notes, code, folder, home)
    return None


def check_page(page, text, work, home):
    global skipped
    printed = None  # by the block before
    for notes, language, code in re.findall(BLOCK, text, re.S):
        name = re.search(r"<!-- file: (\S+) -->", notes)
        absent = missing(notes + ("<!-- needs: c++ -->" if language == "cpp" else ""))
        if name:
            with open(f"{work}/{name.group(1)}", "w") as f:
                f.write(code)
        elif "<!-- not run -->" in notes or "<!-- run -->" in notes:  # the latter by check_howto.py
            printed = None
        elif absent:
            print(f"skipped: no {absent[0]}: {page}")
            skipped += 1
            printed = None
        elif language == "" and printed is not None and not code.startswith("$ "):
            report(printed.endswith(code), f"{page}: {code.splitlines()[0]}: is not what is printed", printed)
            printed = None
        else:
            printed = check_block(page, notes, language, code, work, home)


def read(page):
    """The text of a page; of a header, the program in its first comment."""
    with open(page) as f:
        text = f.read()
    if not page.endswith(".h"):
        return text
    rest = text[text.index(" *     #include"):]
    lines = re.match(r"(?: \*(?:     .*)?\n)+", rest).group(0).splitlines()
    return "```c\n" + "\n".join(line[7:] for line in lines) + "\n```\n"


def main():
    pages = sys.argv[2:] or ["README.md", "include/tessera/tessera.h", "docs/tour.md"] + \
        sorted(glob.glob("docs/concepts/*.md") + glob.glob("docs/howto/*.md"))
    for page in pages:
        with tempfile.TemporaryDirectory() as top:
            for inner in ("work", "home"):
                os.mkdir(f"{top}/{inner}")
            check_page(page, read(page), f"{top}/work", f"{top}/home")
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return failed != 0


sys.exit(main())
