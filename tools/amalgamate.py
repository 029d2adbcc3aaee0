#!/usr/bin/env python3
"""The library as two files: tools/amalgamate.py FOLDER writes FOLDER/tessera.h and FOLDER/tessera.c.

The kernels are those in plain C. A source file's own names stay apart: a static function, type or constant
whose name two files have gets the number of its file, and macros end with their file. Which static names a
file has is asked of the compiler (cc and nm), since templates make most of them.
"""
import collections
import concurrent.futures
import os
import re
import subprocess
import sys
import tempfile

PATHS = ["include", "src"]
CC = os.environ.get("CC", "cc")

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]+(?:"([^"]+)"|([A-Z_]+))')
FEATURE = re.compile(r"^[ \t]*#[ \t]*define _(GNU_SOURCE|DEFAULT_SOURCE|FILE_OFFSET_BITS)\b")


def read(path):
    return open(path, encoding="utf-8").read()


def find(name, folder):
    for base in [folder] + PATHS:
        path = os.path.normpath(os.path.join(base, name))
        if os.path.isfile(path):
            return path
    raise FileNotFoundError(name)


def is_guarded(path):
    """Is it a header that is to be read once?"""
    return re.search(r"^#ifndef (TSRI|TESSERA)_\w+_H\n#define \1_\w+_H$", read(path), re.M) is not None


class Text:
    """Lines of sources with what they include put in its place; headers once for each `seen`."""

    def __init__(self, seen):
        self.seen = seen
        self.lines = []
        self.files = {}     # macros whose value is a file's name

    def add(self, path, again=False):
        folder = os.path.dirname(path)
        text = read(path)
        if again:           # the words of a template are read once
            text = re.sub(r"/\*.*?\*/", lambda m: "\n" * m.group(0).count("\n") or " ", text, flags=re.S)
            text = re.sub(r"\n{3,}", "\n\n", text)
        for line in text.splitlines():
            named = re.match(r'[ \t]*#[ \t]*define (\w+) +"([^"]+)"', line)
            if named and named.group(2).endswith((".inc", ".h", ".def")):
                self.files[named.group(1)] = named.group(2)
            if FEATURE.match(line):
                continue
            include = INCLUDE.match(line)
            if not include:
                self.lines.append(line)
            else:
                self.include(include, folder)

    def include(self, match, folder):
        path = find(match.group(1) or self.files[match.group(2)], folder)
        if is_guarded(path):
            if path in self.seen:
                return
            self.seen.add(path)
            self.add(path)
        else:
            again = path in self.seen
            self.seen.add(path)
            self.add(path, again)

    def __str__(self):
        return "\n".join(self.lines) + "\n"


# Names of a file's own ------------------------------------------------------------------------------------


KEYWORDS = set("auto bool break case char const continue default do double else enum extern float for goto "
               "if inline int long register restrict return short signed sizeof static struct switch typedef "
               "union unsigned void volatile while".split())


def own(names):
    """Those that belong to one file: names that the library shares have its prefix."""
    return {n for n in names if not n.startswith(("tsr_", "tsri_", "TSR_", "TSRI_", "_"))
            and n not in KEYWORDS}


def preprocessed(source):
    """The source and its templates without macros, and without headers."""
    text = subprocess.run([CC, "-std=c11", "-E", "-Iinclude", "-Isrc", source], check=True, text=True,
                          capture_output=True).stdout
    lines, wanted = [], False
    for line in text.splitlines():
        marker = re.match(r'# \d+ "([^"]+)"', line)
        if marker:
            wanted = marker.group(1).endswith((".c", ".inc"))
        elif wanted:
            lines.append(line)
    return "\n".join(lines)


def static_names(source, folder):
    """Names of a file's own, as the compiler sees them: types, constants, static functions, variables."""
    out = os.path.join(folder, source.replace("/", "_") + ".o")
    subprocess.run([CC, "-std=c11", "-O0", "-w", "-fkeep-static-functions", "-fkeep-inline-functions",
                    "-Iinclude", "-Isrc", "-c", source, "-o", out],
                   check=True)
    symbols = subprocess.run(["nm", "--defined-only", out], check=True, text=True, capture_output=True).stdout
    static = {s[2] for s in (line.split() for line in symbols.splitlines())
              if len(s) == 3 and s[1] in "tbdr" and re.fullmatch(r"[A-Za-z]\w*", s[2])}
    return own(other_names(preprocessed(source)) | static)


def without_comments(text):
    return re.sub(r'/\*.*?\*/|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'', " ", text, flags=re.S)


def other_names(text):
    """Types, tags, constants and static names that the text spells out at its top level."""
    names = set()
    text = re.sub(r"__attribute__\s*\(\((?:[^()]|\([^()]*\))*\)\)", "", text)
    plain = re.sub(r"^[ \t]*#(?:[^\n\\]|\\\n|\\.)*", "", without_comments(text), flags=re.M)
    for body in re.findall(r"^(?:typedef )?(?:static )?(?:const )?enum(?:\s+\w+)?\s*\{([^}]*)\}", plain,
                           re.M):
        names.update(re.findall(r"(?:^|,)\s*(\w+)", body))
    names.update(re.findall(r"^(?:typedef |static |const )*(?:struct|union|enum)\s+(\w+)\s*\{", plain, re.M))
    names.update(re.findall(r"^\}\s*(\w+)\s*;", plain, re.M))
    names.update(re.findall(r"^typedef [^;{}]*?\b(\w+)\s*(?:\[[^]]*\])?;", plain, re.M))
    names.update(re.findall(r"^typedef [^;{}]*?\(\*(\w+)\)", plain, re.M))
    names.update(re.findall(r"^typedef .*\{[^{}]*\}\s*(\w+);", plain, re.M))
    names.update(re.findall(r"^(?:static|extern) [^;={(]*?\b(\w+)\s*(?:\[[^]]*\])*\s*[=;{]", plain, re.M))
    names.update(re.findall(r"^static [^;={]*?\b(\w+)\s*\(", plain, re.M))
    return own(names)


def macros(text):
    return sorted(set(re.findall(r"^[ \t]*#[ \t]*define (\w+)", text, re.M)))


TOKEN = re.compile(r'/\*.*?\*/|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'|'
                   r'(?:\.|->)\s*[A-Za-z_]\w*|[A-Za-z_]\w*|[{};]', re.S)


def rename(text, owner):
    """The text with these names changed, but for fields (.name, ->name, and where a struct declares them) and
    what is in strings and comments."""
    out, at = [], 0
    braces = []         # of each that is open: is it a struct's?
    struct = False      # is the next one?
    for match in TOKEN.finditer(text):
        word = match.group(0)
        out.append(text[at:match.start()])
        at = match.end()
        if word in ("struct", "union"):
            struct = True
        elif word == "{":
            braces.append(struct)
            struct = False
        elif word == "}":
            if braces:
                braces.pop()
        elif word == ";":
            struct = False
        field = braces and braces[-1] and (re.match(r"\s*[;,:[]", text[at:at + 20]) or
                                           text[match.start() - 1:match.start()] == "*"
                                           and text[at:at + 1] == ")")
        if struct and word not in ("struct", "union") and not re.match(r"\s*\{", text[at:at + 20]):
            struct = False      # struct name x, not struct name { ... }
        out.append(word if field else word + owner.get(word, ""))
    return "".join(out) + text[at:]


def system_names(sources):
    """What the C library's headers declare, as far as sources include them."""
    included = {line for s in sources for line in re.findall(r"^#include <[^>]+>", read(s), re.M)}
    known = [line for line in sorted(included) if subprocess.run(
        [CC, "-D_GNU_SOURCE", "-E", "-"], input=line, text=True, capture_output=True).returncode == 0]
    text = subprocess.run([CC, "-D_GNU_SOURCE", "-E", "-P", "-"], input="\n".join(known) + "\n", text=True,
                          capture_output=True).stdout
    return set(re.findall(r"[A-Za-z_]\w*", text))


# Both files -----------------------------------------------------------------------------------------------


def header(seen):
    text = Text(seen)
    seen.add("include/tessera/tessera.h")
    text.add("include/tessera/tessera.h")
    for name in ("backend.h", "op_rows.h"):
        path = "include/tessera/" + name
        if path not in seen:
            seen.add(path)
            text.add(path)
    return str(text)


class Headers:
    """The library's own headers, in an order that lets each find what it includes."""

    def __init__(self, sources, seen):
        self.order = []         # paths
        self.reached = {}       # file -> headers that it includes, at once or through others
        self.seen = seen
        for source in sources:
            self.visit(source)

    def visit(self, path):
        if path in self.reached:
            return self.reached[path]
        found = self.reached[path] = set()
        for line in read(path).splitlines():
            include = INCLUDE.match(line)
            if not include or not include.group(1):
                continue
            inner = find(include.group(1), os.path.dirname(path))
            found |= self.visit(inner) | ({inner} if is_guarded(inner) else set())
            if is_guarded(inner) and inner not in self.seen:
                self.seen.add(inner)
                self.order.append(inner)
        return found


def source_files():
    files = []
    for folder, _, names in os.walk("src"):
        if not folder.endswith("/x86"):
            files += [os.path.join(folder, f) for f in names if f.endswith(".c")]
    return sorted(files)


def part_of(text, owner, undefined):
    """The text with names as `owner` says. Names that are pasted together are changed by macros."""
    fields = set(re.findall(r"(?:\.|->)\s*([A-Za-z_]\w*)", without_comments(text)))
    pasted = {n: owner[n] for n in sorted(owner) if "##" in text and n not in fields}
    yield from ("#define %s %s%s\n" % (n, n, pasted[n]) for n in pasted)
    yield rename(text, {n: s for n, s in owner.items() if n not in pasted})
    yield from ("#undef %s\n" % n for n in list(pasted) + undefined)
    if "#include <complex.h>" in text:
        yield "#undef I\n#undef complex\n"


BEGIN = """/* tessera.c - the library in one file; see tessera.h. Kernels are in plain C.
 *
 *     cc -std=c11 -O2 -ffp-contract=off -c tessera.c
 *
 * and link with -lm -lpthread (and -ldl where that is a library). Made by tools/amalgamate.py of the
 * sources. */
#if !defined(TSR_FREESTANDING)
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#ifndef _FILE_OFFSET_BITS
#define _FILE_OFFSET_BITS 64
#endif
#endif
#include "tessera.h"
"""


def amalgamate(out):
    sources = source_files()
    pool_of = concurrent.futures.ThreadPoolExecutor
    with tempfile.TemporaryDirectory() as folder, pool_of(os.cpu_count()) as pool:
        static = dict(zip(sources, pool.map(lambda s: static_names(s, folder), sources)))
    seen = set()
    public = header(seen)
    headers = Headers(sources, seen)
    files = headers.order + sources
    texts, names = {}, {}
    for path in files:
        text = Text(seen)
        text.add(path)
        texts[path] = str(text)
        names[path] = static.get(path, set()) | other_names(texts[path])
    shared = {m for path in headers.order for m in macros(texts[path])}
    names = {path: names[path] - shared - set(macros(texts[path])) for path in files}
    for path in sources:        # the compiler counts functions of headers as the source's
        names[path] -= {n for h in headers.reached[path] if h in names for n in names[h]}
    count = collections.Counter(n for path in files for n in names[path])
    count.update(system_names(files) & set(count))
    suffix = {path: "_in%d" % number for number, path in enumerate(files)}
    parts = [BEGIN]
    for path in files:
        # A name is this file's, or that of a header it includes.
        owner = {}
        for place in [h for h in headers.order if h in headers.reached[path]] + [path]:
            owner.update({n: suffix[place] for n in names[place] if count[n] > 1})
        parts.append("/* %s %s */\n" % (path, "-" * (100 - len(path))))
        parts += part_of(texts[path], owner, [] if path in headers.order else macros(texts[path]))
    os.makedirs(out, exist_ok=True)
    for name, text in (("tessera.h", public), ("tessera.c", "".join(parts))):
        with open(os.path.join(out, name), "w", encoding="utf-8") as f:
            f.write(text)
        print("%s: %d lines" % (os.path.join(out, name), text.count("\n")))


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    out = os.path.abspath(sys.argv[1])
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    amalgamate(out)


if __name__ == "__main__":
    main()
