"""The small faults that a line of C can be given."""
import collections
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
Fault = collections.namedtuple("Fault", "file line kind before after")

OTHER = {"compare": {" < ": " <= ", " <= ": " < ", " > ": " >= ", " >= ": " > ", " == ": " != ",
                     " != ": " == "},
         "operator": {" + ": " - ", " - ": " + ", " * ": " + ", " / ": " * ", " % ": " / ", " && ": " || ",
                      " || ": " && ", " & ": " | ", " | ": " & ", " << ": " >> ", " >> ": " << ",
                      " += ": " -= ", " -= ": " += ", " *= ": " += ", " |= ": " &= ", " &= ": " |= "}}
PAIRS = ("row/col rows/cols x/y z/x a/b m/n first/last begin/end start/stop in/out low/high inner/outer "
         "next/last").split()
TWINS = {p: q for pair in PAIRS for p, q in (pair.split("/"), pair.split("/")[::-1])}
# Nothing depends on the order of their operands.
SYMMETRIC = re.compile(r"_(?:add|mul|and|or|xor)$|^(?:least|most|smaller|larger|tsri_(?:min|max))$")
NOT_CALLS = {"if", "for", "while", "switch", "return", "sizeof", "defined"}
ARRAY = re.compile(r"^\s*(?:static |const |_Alignas\(\w+\) )*[\w ]+[ *]\w+\[[^\]]*\](?: = .*)?[;,]")
DIRECTIVE = re.compile(r"^\s*#\s*(?!define\s+\w+(?:\([^)]*\))?\s+\S)")
HINT = re.compile("prefetch", re.I)  # asks for memory early: no result depends on it
STATEMENT = re.compile(r"^\s+(?:\*?[\w.>\[\]()-]+ (?:[-+*/%|&^]|<<|>>)?= .+|"
                       r"[\w.>-]+\(.*\)|[\w.>\[\]-]+(?:\+\+|--))(;)\s*\\?$")


def code_of(text):
    """The text with blanks in place of comments, strings and assertions, line by line."""
    skipped = (r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|'
               r'\w*(?:ASSERT|[Ss]tatic_assert)\([^\n]*')
    return re.sub(skipped, lambda m: re.sub(r"[^\n]", " ", m[0]), text, flags=re.S).split("\n")


def closing(code, start):
    """Where the parenthesis that opens at start is closed on this line; -1 if it is not."""
    depth = 0
    for i in range(start, len(code)):
        depth += {"(": 1, ")": -1}.get(code[i], 0)
        if depth == 0:
            return i
    return -1


def edits(code):
    """Every (kind, start, end, text) that makes a fault of this line of code."""
    if not code.strip() or DIRECTIVE.match(code) or HINT.search(code):
        return
    for kind, table in OTHER.items():
        for m in re.finditer(r"(?= (\S{1,2}) )", code):
            text = f" {m[1]} "
            if text in table:
                yield kind, m.start(), m.start() + len(text), table[text]
    if not ARRAY.match(code):
        for m in re.finditer(r"(?<![\w.])(\d+)(?=[uUlL]*(?![\w.]))", code):
            yield "constant", *m.span(), str(int(m[1]) + 1)
    for m in re.finditer(r"\b(if|while) \(", code):
        end = closing(code, m.end() - 1)
        if end > 0:
            for text in ("0", "1") if m[1] == "if" else ("0",):
                yield "check" if m[1] == "if" else "loop", m.end(), end, text
    for m in re.finditer(r"\bfor \([^;]*;([^;]+);", code):
        yield "loop", *m.span(1), " 0"
        yield "end", m.end(1), m.end(1), " - 1"
        yield "end", m.end(1), m.end(1), " + 1"
    for m in re.finditer(r"\b(\w+)\(([\w.>\[\]&*-]+), ([\w.>\[\]&*-]+)(?=[,)])", code):
        if m[1] not in NOT_CALLS and m[2] != m[3] and not SYMMETRIC.search(m[1]):
            yield "swap", m.start(2), m.end(3), f"{m[3]}, {m[2]}"
    for m in re.finditer(r"(?<![\w.>*/%-] )([\w.>\[\]-]+) ([-/%]) ([\w.>\[\]-]+)(?! [*/%])", code):
        if m[1] != m[3]:
            yield "swap", *m.span(), f"{m[3]} {m[2]} {m[1]}"
    for m in re.finditer(r"\b(v\w_(?:load|store))_n(\w*)\((.*?), [^,()]+\)", code):
        yield "mask", *m.span(), f"{m[1]}{m[2]}({m[3]})"
    for m in re.finditer(r"_mm(\d*)_mask_storeu_(\w+)\(([^,()]+), [^,()]+, ", code):
        yield "mask", *m.span(), f"_mm{m[1]}_storeu_{m[2]}({m[3]}, "
    for m in re.finditer(r"\b[a-z]\w*\b", code):
        words = m[0].split("_")
        for i, word in enumerate(words):
            if word in TWINS and (len(words) > 1 or len(word) > 1):
                yield "stride", *m.span(), "_".join(words[:i] + [TWINS[word]] + words[i + 1:])
    m = STATEMENT.match(code)
    if m and code.count("(") == code.count(")"):
        yield "statement", len(code) - len(code.lstrip()), m.start(1), ""


def faults_of(file, of=None):
    """Every fault of a file: a list for each line that has any. of: of lines with this text alone."""
    text = (ROOT / file).read_text()
    found = []
    for number, (line, code) in enumerate(zip(text.split("\n"), code_of(text)), 1):
        if of is not None and line.strip() != of:
            continue
        seen, here = collections.Counter(), []
        for kind, start, end, new in edits(code):
            seen[kind] += 1
            name = kind if seen[kind] == 1 else f"{kind}{seen[kind]}"
            here.append(Fault(file, number, name, line, line[:start] + new + line[end:]))
        if here:
            found.append(here)
    return found


def drawn(files, rng):
    """Faults of these files in random order: a line, a kind of those it has, one of that kind."""
    lines = [line for file in sorted(files) for line in faults_of(file)]
    rng.shuffle(lines)
    for line in lines:
        kinds = sorted({re.sub(r"\d+$", "", fault.kind) for fault in line})
        kind = rng.choice(kinds)
        yield rng.choice([fault for fault in line if re.sub(r"\d+$", "", fault.kind) == kind])
