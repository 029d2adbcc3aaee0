"""What the extension knows of ops, made of op.def and the headers.

    python3 generate.py SOURCE ROWS_INC OPS_PYI

SOURCE is the root of the project. ROWS_INC holds a C function for each op, which hands parsed arguments to
it, and the table of their arguments (src/rows.h); OPS_PYI the types of tessera.ops. CC names the compiler
whose preprocessor reads op.def. Examples come from examples.txt beside this file.
"""
import os
import re
import subprocess
import sys

OWN_KINDS = {"axis", "axes", "shape", "dtype", "seed", "text"}  # kinds that are names of arguments
LISTS = {"tensors", "axes", "ints", "shape"}
TYPES = {
    "tensor": "Operand",
    "given": "Array",
    "givens": "Sequence[Array]",
    "tensors": "Sequence[Array]",
    "axis": "int",
    "axes": "int | Sequence[int]",
    "int": "int",
    "int64": "int",
    "ints": "int | Sequence[int]",
    "shape": "int | Sequence[int]",
    "double": "float",
    "bool": "bool",
    "scalar": "Number",
    "dtype": "DType",
    "seed": "int",
    "text": "str",
    "enum": "str | int",
    "int3": "int | Sequence[int]",
    "double3": "float | Sequence[float]",
     "want": "bool"}


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def literal(text):
    """A C string."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def read_examples():
    """The lines of each function's example by its name: "ops.add", "linalg.inv", "asarray"."""
    examples, name = {}, None
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "examples.txt")
    for line in read(path).split("\n")[3:]:
        if line and not line.startswith(" "):
            name = line
        elif line:
            examples[name] = examples.get(name, "") + line + "\n"
    return examples


# The headers ---------------------------------------------------------------------------------


class Headers:
    """Enums, structs and the words above each function."""

    def __init__(self, include):
        self.enums, self.structs, self.words = {}, {}, {}
        names = [h for folder in ("", "ops") for h in sorted(
            os.path.join(folder, f) for f in os.listdir(os.path.join(include, folder)) if f.endswith(".h"))]
        for name in names:
            self.read(read(os.path.join(include, name)))

    def read(self, text):
        bare = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
        for name, body in re.findall(r"typedef enum (\w+) \{([^}]*)\}", bare):
            constants = [c for c in re.findall(r"\bTSR_\w+", body) if not c.endswith("_")]
            prefix = os.path.commonprefix(constants)
            prefix = prefix[:prefix.rfind("_") + 1]
            self.enums[name] = {c: c[len(prefix):].lower() for c in constants}
        for name, body in re.findall(r"typedef struct (\w+)\s*\{([^}]*)\} \w+;", bare):
            self.structs[name] = body
        pattern = r"/\*((?:(?!\*/).)*)\*/\s*((?:TSR_API[^;{]*;\s*)+)"
        for comment, functions in re.findall(pattern, text, re.S):
            lines = [re.sub(r"^\s*\* ?", "", line).rstrip() for line in comment.strip().split("\n")]
            for name in re.findall(r"\btsr_(\w+)\s*\(", functions):
                if not lines[0].rstrip().endswith("---"):
                    self.words[name] = "\n".join(lines).strip()

    def fields(self, struct):
        """[(type, name, length)]; one declaration may name several fields of a type."""
        out = []
        for line in filter(str.strip, self.structs[struct].split(";")):
            first, *others = " ".join(line.split()).split(", ")
            kind, name, length = re.fullmatch(r"(.*?[ *])(\w+)(?:\[(\w+)\])?", first).groups()
            out.append((kind.strip(), name, length))
            out += [(kind.strip(), other.strip(" *"), None) for other in others]
        return out


# The rows --------------------------------------------------------------------------------------


class Argument:
    """One argument as Python sees it. c is what the call in C is given, a format of the value's name."""

    def __init__(self, name, kind, type_=None, default=None, field=None):
        self.name, self.kind, self.type, self.default, self.field = name, kind, type_, default, field
        self.shares = False  # a list whose length is that of the one before it


def joined(literals):
    return "".join(re.findall(r'"([^"]*)"', literals))


def parse_argument(text):
    text, _, default = (part.strip() for part in text.partition("="))
    name, _, kind = (part.strip() for part in text.partition(":"))
    kind = kind or (name if name in OWN_KINDS else "tensor")
    kind, _, type_ = kind.partition(" ")
    return Argument(name, kind, type_ or None, default or None)


def read_rows(root):
    include = os.path.join(root, "include", "tessera")
    source = ("#define X(ID, name, family, params, signature, flops, doc, call) "
              "@row name @is family @is signature @is doc @is call @end\n"
              "#define COMPOSED(name, family, signature, doc, call) "
              "@row name @is family @is signature @is doc @is call @end\n"
              f'#include "{include}/op.def"\n')
    command = os.environ.get("CC", "cc").split() + ["-E", "-P", "-xc", "-"]
    text = subprocess.run(command, input=source, text=True, stdout=subprocess.PIPE, check=True).stdout
    for row in re.findall(r"@row(.*?)@end", text, re.S):
        name, family, signature, doc, call = [joined(part) for part in row.split("@is")]
        if not call.startswith("by "):
            yield Row(name, family, signature, doc, call)


class Row:
    def __init__(self, name, family, signature, doc, call):
        self.name, self.family, self.signature, self.doc = name, family, signature, doc
        takes, _, gives = call.partition("->")
        self.c_arguments = [parse_argument(a) for a in takes.split(", ") if a.strip()]
        self.results = [parse_argument(r) for r in gives.split(",")]
        before = self.results[-1]
        for a in self.c_arguments:
            a.shares = a.kind in LISTS and before.kind in LISTS | {"givens"}
            before = a

    def expand(self, headers):
        """Arguments as Python has them: fields in place of structs."""
        self.arguments, self.structs = [], []
        extra = []
        for r in [r for r in self.results if r.kind in ("given", "givens")]:
            self.arguments.append(Argument(r.name, r.kind))
            self.arguments[-1].shares = r.kind == "givens" and len(self.arguments) > 1
        for a in self.c_arguments:
            if a.kind == "report":
                a.slot = None
            elif a.kind == "struct":
                self.structs.append(a)
                extra += self.expand_struct(a, headers)
            else:
                self.arguments.append(a)
        self.arguments += extra
        for r in [r for r in self.results if r.default == "none"]:
            self.arguments.append(Argument(r.name, "want", default="false"))

    def expand_struct(self, a, headers):
        out, a.fields = [], []
        for kind, name, length in headers.fields(a.type):
            if kind == "tsr_tensor **":
                self.results.append(Argument(name, "tensor"))
                a.fields.append((name, len(self.results) - 1, None))
                continue
            taken = [x.name for x in self.arguments + out] + ["out"]
            if kind == "const tsr_tensor *":
                field = Argument(name, "tensor", default=None if "_bias" not in name else "none")
            elif kind == "bool":
                field = Argument(name, "bool", default="false")
            elif kind == "double":
                field = Argument(name, "double3" if length else "double", default="0")
            elif kind in headers.enums:
                field = Argument(name, "enum", kind, next(iter(headers.enums[kind])))
            else:
                field = Argument(name, "int3" if length else "int64", default="0")
            if a.type == "tsr_pool" and name == "kernel":
                field.default = None
            if name in taken:
                field.name = f"{a.name}_{name}"
            out.append(field)
            a.fields.append((name, None, field))
        return out


def keyword_from(arguments):
    """How many arguments may be given by place: up to one without a default behind one that has it."""
    optional = False
    for i, a in enumerate(arguments):
        if a.kind == "want" or (optional and a.default is None):
            return i
        optional = optional or a.default is not None
    return len(arguments)


def python_default(a, headers):
    if a.default in ("none", "all"):
        return "None"
    if a.default in ("true", "false"):
        return a.default.capitalize()
    if a.kind == "enum":
        return repr(headers.enums[a.type][a.default])
    return a.default


def parameters(row, headers, typed=False):
    words = []
    places = keyword_from(row.arguments)
    for i, a in enumerate(row.arguments):
        if i == places:
            words.append("*")
        default = None if a.default is None else python_default(a, headers)
        word = a.name
        if typed:
            word += ": " + TYPES[a.kind]
            word += " | None" if default == "None" else ""
        words.append(word + ("" if default is None else (" = " if typed else "=") + default))
    if any(r.kind in ("tensor", "list") for r in row.results):
        if places >= len(row.arguments):
            words.append("*")
        several = len(row.results) > 1 or row.results[0].kind == "list"
        words.append("out: Array | Sequence[Array | None] | None = None" if typed and several else
                     "out: Array | None = None" if typed else "out=None")
    return ", ".join(words)


# C ------------------------------------------------------------------------------------------------


def c_words(a, i):
    """What a C call is given for argument i, which was parsed into v[i]."""
    count = f"v[{i}].n"
    lists = {"tensors": f"v[{i}].tensors", "axes": f"v[{i}].axes", "ints": f"v[{i}].ints",
             "shape": f"v[{i}].ints"}
    if a.kind in lists:
        return ([] if a.shares else [count]) + [lists[a.kind]]
    if a.kind == "enum":
        return [f"({a.type})v[{i}].i"]
    return [{"tensor": f"v[{i}].t", "axis": f"(int)v[{i}].i", "int": f"(int)v[{i}].i", "int64": f"v[{i}].i",
             "double": f"v[{i}].d", "bool": f"v[{i}].b", "scalar": f"v[{i}].s", "dtype": f"v[{i}].dtype",
             "seed": f"v[{i}].u", "text": f"v[{i}].text"}[a.kind]]


def struct_lines(row, a):
    lines = [f"    {a.type} {a.name} = {{ 0 }};"]
    for name, result, field in a.fields:
        if field is None:
            lines.append(f"    {a.name}.{name} = &r[{result}];")
            continue
        i = row.arguments.index(field)
        if field.kind in ("int3", "double3"):
            three = "three" if field.kind == "int3" else "doubles"
            lines.append(f"    memcpy({a.name}.{name}, v[{i}].{three}, sizeof {a.name}.{name});")
        else:
            lines.append(f"    {a.name}.{name} = {c_words(field, i)[0]};")
    return lines


def result_word(row, k, r):
    if r.kind == "givens":
        i = next(i for i, a in enumerate(row.arguments) if a.name == r.name)
        return ("" if row.arguments[i].shares else f"v[{i}].n, ") + f"v[{i}].givens"
    if r.kind == "given":
        return f"v[{row.arguments.index(next(a for a in row.arguments if a.name == r.name))}].given"
    if r.kind == "list":
        return "r"
    if r.kind == "bool":
        return "answer"
    if r.default == "none":
        want = next(i for i, a in enumerate(row.arguments) if a.kind == "want" and a.name == r.name)
        return f"v[{want}].b ? &r[{k}] : NULL"
    return f"&r[{k}]"


def c_function(row):
    lines = [f"static tsr_status call_{row.name}(tsr_tensor **r, bool *answer, const value *v)", "{"]
    words = [result_word(row, k, r) for k, r in enumerate(row.results)
             if not any(f[1] == k for a in row.structs for f in a.fields)]
    for a in row.structs:
        lines += struct_lines(row, a)
    for a in row.c_arguments:
        if a.kind == "struct":
            words.append(f"&{a.name}")
        elif a.kind == "report":
            words.append("NULL")
        else:
            words += c_words(a, row.arguments.index(a))
    unused = [name for name in ("r", "answer", "v")
              if not any(re.search(rf"\b{name}\b", w) for w in words + lines[2:])]
    lines += [f"    (void){name};" for name in unused]
    return "\n".join(lines + [f"    return tsr_{row.name}({', '.join(words)});", "}", ""])


def c_argument(a, headers):
    default = a.default
    if a.kind == "axes" and default == "none":
        default = "all"
    text = "NULL" if default is None else literal(default)
    if a.kind == "enum":
        text = "NULL" if default is None else literal(headers.enums[a.type][default])
        choices = f"enum_{a.type}"
    else:
        choices = "NULL"
    return f"{{ {literal(a.name)}, KIND_{a.kind.upper()}, {str(a.shares).lower()}, {text}, {choices} }}"


def sentence(text):
    """With a capital, unless it begins with a name."""
    return (text[0].upper() if re.match("[a-z]{2,}[ ,;]", text) else text[0]) + text[1:] + "."


def documentation(row, headers, examples):
    words = headers.words.get(row.name, "")
    if row.family == "elementwise":
        words = ""
    text = f"{row.name}({parameters(row, headers)})\n--\n\n{sentence(row.doc)}\n\n{row.signature}"
    return text + (f"\n\n{words}" if words else "") + f"\n\n{examples.get('ops.' + row.name, '')}"


def c_row(row, headers, examples):
    arguments = ", ".join(c_argument(a, headers) for a in row.arguments) or "{ 0 }"
    kinds = {r.kind for r in row.results}
    kinds = {"given" if k == "givens" else k for k in kinds}
    returns = next((k.upper() for k in ("list", "bool", "given") if k in kinds), "TENSORS")
    return (
    f"static const argument arguments_{row.name}[] = {{ {arguments} }};\n",
    f"    {{ {literal(row.name)}, {literal(row.family)},\n"
    f"      {literal(documentation(row, headers, examples))},\n"
    f"      call_{row.name}, arguments_{row.name}, {len(row.arguments)}, {keyword_from(row.arguments)},"
    f" RETURNS_{returns}, {len(row.results)} }},\n")


def write_rows(path, rows, headers, examples):
    out = ["/* Made by generate.py of op.def and the headers. */\n"]
    used = {a.type for row in rows for a in row.arguments if a.kind == "enum"}
    for name in sorted(used):
        values = ", ".join(literal(v) for v in headers.enums[name].values())
        out.append(f"static const char *const enum_{name}[] = {{ {values}, NULL }};\n")
    out += [c_function(row) for row in rows]
    tables = [c_row(row, headers, examples) for row in rows]
    out += [arguments for arguments, _ in tables]
    out += ["const row rows_of_ops[] = {\n"] + [r for _, r in tables] + ["    { 0 }\n};\n"]
    out.append("const example examples[] = {\n")
    out += [f"    {{ {literal(name)}, {literal(text)} }},\n" for name, text in examples.items()
            if not name.startswith("ops.")]
    out.append("    { 0 }\n};\n")
    with open(path, "w", encoding="utf-8") as f:
        f.write("".join(out))


# Types ----------------------------------------------------------------------------------------------


def returned(row):
    kinds = {r.kind for r in row.results}
    if "list" in kinds:
        return "list[Array]"
    if "bool" in kinds:
        return "bool"
    if kinds & {"given", "givens"}:
        return "None"
    if len(row.results) == 1:
        return "Array"
    if any(r.default == "none" for r in row.results):
        return "Array | tuple[Array, ...]"
    return "tuple[" + ", ".join("Array" for _ in row.results) + "]"


def write_types(path, rows, headers):
    out = [
    '"""Every op by its row of op.def. Made by generate.py."""\n',
    "from collections.abc import Sequence\n",
    "from . import Array\n",
    "from . import dtype as _dtype\n\n",
    "Number = bool | int | float | complex\n",
    "Operand = Array | Number\n",
     "DType = _dtype | str\n"]
    for row in rows:
        out.append(f'\ndef {row.name}({parameters(row, headers, typed=True)}) -> {returned(row)}:\n'
                   f'    """{sentence(row.doc)}"""\n')
    with open(path, "w", encoding="utf-8") as f:
        f.write("".join(out))


def main():
    root, rows_inc, ops_pyi = sys.argv[1:]
    headers = Headers(os.path.join(root, "include", "tessera"))
    rows = list(read_rows(root))
    for row in rows:
        row.expand(headers)
    write_rows(rows_inc, rows, headers, read_examples())
    write_types(ops_pyi, rows, headers)


main()
