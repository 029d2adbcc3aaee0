#!/usr/bin/env python3
"""Pages and man pages from docs/, README.md and the words of the public headers.

    tools/make_docs.py pages FOLDER    sources of the site: FOLDER/mkdocs.yml and FOLDER/docs
    tools/make_docs.py man FOLDER      a page of section 3 for every public function: FOLDER/man3
    tools/make_docs.py links FOLDER    are all links between the pages below FOLDER alive?

A header becomes a page, and every function of it one more: the comment before a declaration is about all
declarations up to the next empty line.
"""
import html.parser
import os
import re
import shutil
import subprocess
import sys
import textwrap
import urllib.parse

HEADERS = "include/tessera"

# What a block of a header is made of: comments, declarations, macros of the interface.
PART = r"/\*.*?\*/|^TSR_API\b[^;{]*;(?:[ \t]*/\*[^\n]*?\*/)?|^#define TSR_\w*[A-Z0-9]\b(?:\([^)]*\))?"


# Headers ------------------------------------------------------------------------------------------------


def words(comment):
    """The text of a C comment, without its stars."""
    lines = comment.strip()[2:-2].splitlines()
    return "\n".join(re.sub(r"^ \* ?", "", line).rstrip() for line in lines).strip("\n").lstrip()


def clean(declaration):
    """A declaration without the macros that only compilers read."""
    text = re.sub(r"\bTSR_API\b|\bTSR_MUST_CHECK\b|\bTSR_PRINTF\([^)]*\)", "", declaration)
    return re.sub(r"\s+", " ", text).strip().replace("( ", "(")


class Header:
    """name, title, intro, functions: (name, declarations of its group, words), and macros: (name, words)."""

    def __init__(self, path):
        text = open(path, encoding="utf-8").read()
        self.path = path
        self.name = os.path.relpath(path, HEADERS)
        first = words(re.match(r"/\*.*?\*/", text, re.S).group(0))
        self.title = first.splitlines()[0].split(" - ", 1)[1]
        self.intro = "\n".join(first.splitlines()[1:]).strip("\n")
        self.functions = []
        self.macros = []
        self.types = []
        self.read(text[text.index("*/") + 2:])

    def read(self, text):
        comment = ""
        for block in re.split(r"\n\s*\n", text):
            self.types += re.findall(r"^typedef (?:struct|enum) \w+ \{.*?^\} \w+;", block, re.M | re.S)
            parts = re.findall(PART, block, re.M | re.S)
            if not parts and block.strip():
                comment = ""
            group = []
            for part in parts:
                if part.startswith("/*"):
                    if not self.trailing(block, part):
                        self.add(comment, group)
                        comment, group = words(re.sub(r"^/\*[^\n]*-{10,}(\n( \*\n)?| \*/)", "/*", part)), []
                elif part.startswith("#define"):
                    self.add_macro(part[len("#define "):], comment)
                else:
                    group.append(clean(part))
            self.add(comment, group)
            if group:
                comment = ""

    @staticmethod
    def trailing(block, comment):
        """Does the comment follow something on its line?"""
        before = block[:block.index(comment)]
        return before.rpartition("\n")[2].strip() != ""

    def add(self, comment, group):
        for one in group:
            name = re.search(r"(\w+)\s*\(", one)
            if name:
                self.functions.append((name.group(1), group, comment))

    def add_macro(self, name, comment):
        if comment and name not in [other for other, _ in self.macros]:
            self.macros.append((name, comment))


def first_sentence(text):
    return re.split(r"(?<!\.\.)[.;:](?:\s|$)", " ".join(text.split("\n\n")[0].split()))[0]


def brief(header, name, declarations, text, rows):
    """One line about a function: of the words before it, behind it, of the op's row, or of its header."""
    own = next(d for d in declarations if re.search(r"\b%s\s*\(" % name, d))
    behind = re.search(r"/\*(.*?)\*/", own)
    what = rows[name[4:]][2] if name[4:] in rows else ""
    line = first_sentence(text) or (behind and behind.group(1).strip()) or what or header.title.rstrip(".")
    return line[0].upper() + line[1:] if line.split()[0].islower() and not text and not what else line


def headers():
    folder = [os.path.join(HEADERS, f) for f in sorted(os.listdir(HEADERS)) if f.endswith(".h")]
    ops = [os.path.join(HEADERS, "ops", f) for f in sorted(os.listdir(HEADERS + "/ops"))]
    return [Header(f) for f in folder + ops]


def op_rows():
    """name -> (family, signature, what it computes), of op.def preprocessed; empty without a compiler."""
    source = '#include "tessera/op_rows.h"\n' \
             '#define X(ID, n, f, p, s, c, d, a) ROW_BEGIN n ROW_NEXT f ROW_NEXT s ROW_NEXT d ROW_END\n' \
             '#include "tessera/op.def"\n'
    try:
        text = subprocess.run([os.environ.get("CC", "cc"), "-E", "-P", "-Iinclude", "-"], input=source,
                              text=True, capture_output=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return {}
    rows = {}
    for row in re.findall(r"ROW_BEGIN (.*?) ROW_END", text, re.S):
        name, family, signature, what = (re.sub(r'"\s*"', "", part).strip().strip('"')
                                         for part in row.split("ROW_NEXT"))
        rows[name] = (family, signature, what)
    return rows


# Pages --------------------------------------------------------------------------------------------------


def pieces(text):
    """(kind, line) for each line of a header's words: text, item and more of a list, code for what is
    indented, and none for empty lines."""
    item = None     # how far the words of the current item are indented
    for line in text.splitlines():
        indent = len(line) - len(line.lstrip())
        bullet = re.match(r" *- ", line)
        if not line.strip():
            yield "none", ""
        elif bullet and indent < 4:
            item = bullet.end()
            yield "item", line.strip()[2:]
        elif item is not None and indent == item:
            yield "more", line.strip()
        elif indent >= 2:
            yield "code", line
        else:
            item = None
            yield "text", line


def blocks(text):
    """(kind, lines): paragraphs, items and code, each as a whole."""
    out = []
    for kind, line in pieces(text):
        if kind == "none":
            out.append(("none", []))
        elif kind == "more" or (out and out[-1][0] == kind and kind != "item"):
            out[-1][1].append(line)
        elif kind == "code" and len(out) > 1 and out[-1][0] == "none" and out[-2][0] == "code":
            out.pop()
            out[-1][1].extend(["", line])
        else:
            out.append((kind, [line]))
    return [(kind, textwrap.dedent("\n".join(lines)).split("\n") if kind == "code" else lines)
            for kind, lines in out if kind != "none"]


def escaped(text):
    """Plain words as Markdown, names of the library as code."""
    parts = re.split(r"(?<![\w`])((?:tsr|TSR)_\w+(?:\([^()]*\))?)", text)
    for i, part in enumerate(parts):
        parts[i] = "`%s`" % part if i % 2 else re.sub(r"([*<|])", r"\\\1", part)
    return "".join(parts)


def markdown(text):
    out = []
    for kind, lines in blocks(text):
        if kind == "code":
            out += ["", "```c"] + lines + ["```", ""]
        elif kind == "item":
            out += ["- " + escaped(lines[0])] + ["  " + escaped(line) for line in lines[1:]]
        else:
            out += [""] + [escaped(line) for line in lines] + [""]
    return "\n".join(out)


def file_of(header):
    return "reference/c/" + header.name.replace("/", "_")[:-2] + ".md"


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)


def reference(docs):
    rows, index = op_rows(), ["# C reference", "", "| header | |", "|---|---|"]
    nav = []
    for h in headers():
        if not h.functions and not h.types and not h.intro:
            continue
        page = file_of(h)
        lines = ["# " + h.name, "", h.title[0].upper() + h.title[1:].rstrip(".") + ".", "", markdown(h.intro),
                 ""]
        if h.functions:
            lines += ["## Functions", "", "| | |", "|---|---|"]
        for name, declarations, text in h.functions:
            line = brief(h, name, declarations, text, rows)
            lines.append("| [%s](%s.md) | %s |" % (name, name, escaped(line)))
            function = ["# " + name, "", "```c"] + declarations + ["```", ""]
            function += [markdown(text), ""]
            if name[4:] in rows:
                family, signature, what = rows[name[4:]]
                said = escaped(what) in markdown(text)
                function += ["An op of the family %s%s." % (family, "" if said else ": " + escaped(what)),
                             "", "    " + signature, ""]
            function += ["Declared in [%s](%s), which has the rules for all of them." %
                         (h.name, os.path.basename(page)), ""]
            write(os.path.join(docs, "reference/c", name + ".md"), "\n".join(function))
        if h.macros:
            lines += ["", "## Macros", ""]
        for name, text in h.macros:
            lines += ["### " + name, "", markdown(text), ""]
        if h.types:
            lines += ["", "## Types", ""]
        for declaration in h.types:
            lines += ["```c", declaration, "```", ""]
        write(os.path.join(docs, page), "\n".join(lines) + "\n")
        index.append("| [%s](%s) | %s |" % (h.name, os.path.basename(page), h.title))
        nav.append(page)
    write(os.path.join(docs, "reference/c/index.md"), "\n".join(index) + "\n")
    return nav


def whole(code):
    """Code between words: bars are not escaped, as for tables elsewhere, and options are not broken."""
    text = code.group(0).replace("\\|", "|")
    return text + "{.whole}" if re.fullmatch(r"`[^ `]*-[^ `]{1,20}`|`tsr [-a-z]{1,12}`", text) else text


# Tables without titles show none; see whole() for the other.
STYLE = """.md-typeset table:not([class]) th:empty { padding: 0; min-width: 0; }
.md-typeset code.whole { white-space: nowrap; }
"""

# Browsers run no workers for pages that are opened as files: this one runs the search in a frame instead.
WORKER = """if (location.protocol === "file:") {
    const load = (frame, url) => new Promise((loaded, failed) => {
        const script = frame.contentDocument.createElement("script");
        Object.assign(script, { src: new URL(url, location.href).href, onload: loaded, onerror: failed });
        frame.contentDocument.body.append(script);
    });
    window.Worker = window.IFrameWorker = class extends EventTarget {
        constructor(url) {
            super();
            this.frame = document.createElement("iframe");
            this.frame.hidden = true;
            document.body.append(this.frame);
            const inner = this.frame.contentWindow;
            inner.postMessage = data => this.dispatchEvent(new MessageEvent("message", { data }));
            inner.importScripts = (...urls) =>
                urls.reduce((before, next) => before.then(() => load(this.frame, next)), Promise.resolve());
            this.ready = load(this.frame, url);
        }
        postMessage(data) {
            const message = new MessageEvent("message", { data });
            this.ready.then(() => this.frame.contentWindow.dispatchEvent(message));
        }
        terminate() { this.frame.remove(); }
    };
}
"""


class Site:
    """docs/ as it is, with links to files of the tree going to copies of them."""

    def __init__(self, docs):
        self.docs = docs
        self.copied = set()

    def tree(self, path):
        """The place of a file or folder of the tree in the site."""
        path = os.path.normpath(path)
        if path.startswith(HEADERS) and path.endswith(".h"):
            page = file_of(Header(path))
            return page if os.path.exists(os.path.join(self.docs, page)) else self.copy(path)
        return self.folder(path) if os.path.isdir(path) else self.copy(path)

    def copy(self, path):
        place = "tree/" + path + ("" if path.endswith((".svg", ".png")) else ".txt")
        if path not in self.copied:
            self.copied.add(path)
            os.makedirs(os.path.dirname(os.path.join(self.docs, place)), exist_ok=True)
            shutil.copyfile(path, os.path.join(self.docs, place))
        return place

    def folder(self, path):
        place = "tree/" + path + "/index.md"
        if path not in self.copied:
            self.copied.add(path)
            files = subprocess.run(["git", "ls-files", path], capture_output=True, text=True).stdout.split()
            files = files or sorted(os.path.join(path, f) for f in os.listdir(path))
            files = [f for f in files if os.path.dirname(f) == path and os.path.isfile(f)]
            lines = ["# " + path, ""]
            for f in files:
                to = os.path.relpath(self.copy(f), os.path.dirname(place))
                lines.append("- [%s](%s)" % (os.path.basename(f), to))
            write(os.path.join(self.docs, place), "\n".join(lines) + "\n")
        return place

    def page(self, source, place):
        """One page of Markdown, with its links as they must be at `place`."""
        def link(match):
            text, target = match.group(1), match.group(2)
            if re.match(r"[a-z]+:|#", target):
                return match.group(0)
            path, _, anchor = target.partition("#")
            full = os.path.normpath(os.path.join(os.path.dirname(source), path))
            if full == "README.md":
                to = "index.md"
            elif full.startswith("docs" + os.sep) and not os.path.isdir(full) and full in self.pages:
                to = self.pages[full]
            elif full in self.pages:
                to = self.pages[full]
            elif os.path.exists(full):
                to, anchor = self.tree(full), ""
            else:
                return match.group(0)
            return "%s(%s%s)" % (text, os.path.relpath(to, os.path.dirname(place)),
                                 "#" + anchor if anchor else "")

        text = open(source, encoding="utf-8").read()
        parts = re.split(r"(^```.*?^```\n)", text, flags=re.M | re.S)
        for i in range(0, len(parts), 2):
            parts[i] = re.sub(r"(\[(?:[^][]|\[[^]]*\])*\])\(([^()\s]+)\)", link, parts[i])
            parts[i] = re.sub(r"`[^`\n]+`", whole, parts[i])
        write(os.path.join(self.docs, place), "".join(parts))

    def build(self):
        self.pages = {"README.md": "index.md", "CONTRIBUTING.md": "contributing.md",
                      "CHANGELOG.md": "changelog.md", "SECURITY.md": "security-reports.md",
                      "CODE_OF_CONDUCT.md": "conduct.md", "docs/index.md": "contents.md",
                      "packaging/README.md": "packages.md"}
        for folder, _, names in os.walk("docs"):
            for name in sorted(names):
                path = os.path.join(folder, name)
                place = os.path.relpath(path, "docs")
                if name == "README.md":
                    place = place.replace("README.md", "index.md")
                if name.endswith(".md"):
                    self.pages.setdefault(path, place)
                elif name.endswith((".svg", ".png")):
                    self.pages[path] = place
                    os.makedirs(os.path.dirname(os.path.join(self.docs, place)), exist_ok=True)
                    shutil.copyfile(path, os.path.join(self.docs, place))
        self.pages = {k: v for k, v in self.pages.items() if os.path.exists(k)}
        for path, place in self.pages.items():
            if path.endswith(".md"):
                self.page(path, place)


def title_of(path):
    for line in open(path, encoding="utf-8"):
        if line.startswith("# "):
            return line[2:].strip()
    return os.path.basename(path)


def pages(folder):
    docs = os.path.join(folder, "docs")
    shutil.rmtree(folder, ignore_errors=True)
    nav = reference(docs)
    site = Site(docs)
    site.build()
    here = {p for p in site.pages.values() if p.endswith(".md")}
    version = ".".join(re.findall(r"#define TSR_VERSION_\w+ (\d+)", open(HEADERS + "/config.h").read()))
    lines = ["site_name: Tessera %s" % version, "use_directory_urls: false", "theme:", "  name: material",
             "  font: false",
             "  features: [navigation.indexes, navigation.top, content.code.copy, toc.follow]",
             "  palette:", "    - media: '(prefers-color-scheme: light)'", "      scheme: default",
             "    - media: '(prefers-color-scheme: dark)'", "      scheme: slate",
             "plugins: [search, offline]", "extra_css: [style.css]",
             "extra: { polyfills: [iframe-worker.js] }",
             "markdown_extensions: [tables, fenced_code, sane_lists, toc, attr_list, pymdownx.highlight, "
             "pymdownx.superfences]",
             "validation:", "  omitted_files: ignore", "  not_found: warn", "  absolute_links: ignore",
             "  anchors: warn", "nav:", "  - Tessera: index.md", "  - Contents: contents.md"]

    def group(name, chosen):
        lines.append("  - %s:" % name)
        lines.extend('      - "%s": %s' % (title_of(os.path.join(docs, p)), p) for p in chosen)

    group("Concepts", sorted(p for p in here if p.startswith("concepts/")))
    group("How to", sorted(p for p in here if p.startswith("howto/")))
    group("C reference", ["reference/c/index.md"] + nav)
    group("Decisions", sorted(p for p in here if p.startswith("decisions/")))
    group("More", sorted(p for p in here if "/" not in p and p not in ("index.md", "contents.md")) +
          sorted(p for p in here if p.startswith(("compat/", "reference/"))))
    write(os.path.join(docs, "style.css"), STYLE)
    write(os.path.join(docs, "iframe-worker.js"), WORKER)
    write(os.path.join(folder, "mkdocs.yml"), "\n".join(lines) + "\n")


# Man pages ----------------------------------------------------------------------------------------------


def roff_line(line):
    line = line.replace("\\", "\\e").replace("-", "\\-")
    return "\\&" + line if line[:1] in (".", "'") else line


def roff(text):
    out = []
    for kind, lines in blocks(text):
        lines = [roff_line(line) for line in lines]
        out += {"code": [".PP", ".RS 4", ".nf"] + lines + [".fi", ".RE"],
                "item": [".IP \\(bu 2"] + lines}.get(
            kind, [".PP"] + lines)
    return "\n".join(out)


def man(folder):
    os.makedirs(folder + "/man3", exist_ok=True)
    version = ".".join(re.findall(r"#define TSR_VERSION_\w+ (\d+)", open(HEADERS + "/config.h").read()))
    rows, count = op_rows(), 0
    for h in headers():
        for name, declarations, text in h.functions:
            line = brief(h, name, declarations, text, rows)
            lines = ['.TH %s 3 "" "Tessera %s" "Library Functions Manual"' % (name.upper(), version),
                     ".SH NAME", "%s \\- %s" % (name, roff_line(line)),
                     ".SH SYNOPSIS", ".nf", ".B #include <tessera/%s>" % h.name, ""]
            lines += ["\\fB" + roff_line(d) + "\\fR" for d in declarations]
            lines += [".fi", ".SH DESCRIPTION", roff(text or h.title[0].upper() + h.title[1:])]
            if name[4:] in rows:
                lines += [".PP", "Signature: " + roff_line(rows[name[4:]][1])]
            lines += [".SH NOTES", roff(h.intro) if h.intro else h.title, ".SH SEE ALSO", ".BR tsr (1)"]
            write("%s/man3/%s.3" % (folder, name), "\n".join(lines) + "\n")
            count += 1
    print("%d pages in %s/man3" % (count, folder))


# Links --------------------------------------------------------------------------------------------------


class Links(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.links, self.ids = [], set()

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.ids.update(v for k, v in attrs.items() if k in ("id", "name") and v)
        self.links += [attrs[k] for k in ("href", "src") if attrs.get(k) and tag != "link"]


def links(folder):
    parsed = {}
    for base, _, names in os.walk(folder):
        for name in names:
            if name.endswith(".html"):
                page = Links()
                page.feed(open(os.path.join(base, name), encoding="utf-8").read())
                parsed[os.path.normpath(os.path.join(base, name))] = page
    dead = []
    for path, page in parsed.items():
        if os.path.basename(path) == "404.html":
            continue
        for link in page.links:
            if re.match(r"[a-z]+:|//", link):
                continue
            target, _, anchor = urllib.parse.unquote(link).partition("#")
            full = os.path.normpath(os.path.join(os.path.dirname(path), target)) if target else path
            if not os.path.exists(full):
                dead.append("%s: %s" % (path, link))
            elif anchor and full in parsed and anchor not in parsed[full].ids:
                dead.append("%s: no part %s" % (path, link))
    print("\n".join(sorted(set(dead))[:50]) + ("\n" if dead else "")
          + "%d pages, %d dead links" % (len(parsed), len(dead)))
    return 1 if dead or not parsed else 0


def main():
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    what = {"pages": pages, "man": man, "links": links}
    if len(sys.argv) != 3 or sys.argv[1] not in what:
        sys.exit(__doc__)
    return what[sys.argv[1]](sys.argv[2]) or 0


if __name__ == "__main__":
    sys.exit(main())
