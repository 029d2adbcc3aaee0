"""The rows of op.def and the public headers say the same.

    python3 tools/check_rows.py

- The call of each row is the prototype of tsr_NAME: arguments in order, names, kinds; defaults are values of
  their kind.
- Every public function that computes has a row. Headers of other functions, and the few others among ops, are
  named below with the reason.
- The operands of a composed op's signature are the tensors of its call.

Prints one line a difference; the exit status is 1 if there is one.
"""
import os
import re
import subprocess
import sys

INCLUDE = "include/tessera"

# Every function of these is an op, or in NOT_OPS.
OP_HEADERS = ["move.h", "random.h", "compare.h", "tensor.h"]

# No function of these is.
OTHER_HEADERS = {
    "backend.h": "for backends", "config.h": "about the build", "desc.h": "descriptors",
    "device.h": "devices", "dtype.h": "dtypes", "element.h": "single elements",
    "interop.h": "memory of others", "io.h": "files", "log.h": "messages", "match.h": "signatures",
    "memory.h": "memory", "op.h": "the list of ops", "op_rows.h": "macros", "ops.h": "includes",
    "print.h": "printing", "scalar.h": "single numbers", "scope.h": "life of tensors",
    "status.h": "failures", "stream.h": "devices",
    "tessera.h": "includes", "threads.h": "threads", "view.h": "views: nothing is computed",
}

NOT_OPS = {
    "philox": "words, not tensors",
    "load": "host memory", "store": "host memory", "from_data": "host memory",
    "to": "devices", "to_memory": "devices", "to_host": "devices", "copy_async": "devices",
    "same_desc": "descriptors", "same_shape": "descriptors", "identical": "descriptors",
    "close_report_to_string": "printing",
    "empty": "memory alone", "empty_like": "memory alone", "alloc": "memory alone",
    "declare": "life of tensors", "wrap": "life of tensors", "wrap_const": "life of tensors",
    "adopt": "life of tensors", "from_storage": "life of tensors", "map_file": "life of tensors",
    "place": "life of tensors", "check": "asks a tensor", "dim": "asks a tensor",
    "as_matrix": "asks a tensor",
}

OWN_KINDS = {"axis", "axes", "shape", "dtype", "seed", "text"}  # kinds that are names of arguments
LISTS = {"tensors": "const tsr_tensor *const *", "axes": "const int *", "ints": "const int64_t *",
         "shape": "const int64_t *"}
ARGUMENTS = {"tensor": "const tsr_tensor *", "axis": "int", "int": "int", "int64": "int64_t",
             "double": "double", "bool": "bool", "scalar": "tsr_scalar", "dtype": "tsr_dtype",
             "seed": "uint64_t", "text": "const char *", **LISTS}
RESULTS = {"tensor": "tsr_tensor **", "list": "tsr_tensor **", "given": "tsr_tensor *",
           "givens": "tsr_tensor *const *", "bool": "bool *"}
TYPED = {"enum": "{}", "struct": "const {} *", "report": "{} *"}

NUMBER = r"-?[0-9]+(\.[0-9]+)?(e-?[0-9]+)?"
DEFAULTS = {"tensor": "none", "tensors": "none", "axis": "-?[0-9]+|all", "axes": "all|none", "ints": "none",
            "int": "-?[0-9]+", "int64": "-?[0-9]+", "double": NUMBER, "scalar": NUMBER, "bool": "true|false",
            "struct": "none", "report": "none"}

failures = []


def fail(name, text):
    failures.append(f"{name}: {text}")


# What is there ---------------------------------------------------------------------------


def read(path):
    with open(path) as f:
        return f.read()


def joined(literals):
    """The text of adjacent string literals, or of a bare word."""
    return "".join(re.findall(r'"([^"]*)"', literals)) or literals.strip()


def read_rows():
    """[(name, family, signature, call, composed)] as the preprocessor makes them."""
    source = ("#define X(ID, name, family, params, signature, flops, doc, call) "
              "@row op @ name @ family @ signature @ call @end\n"
              "#define COMPOSED(name, family, signature, doc, call) "
              "@row composed @ name @ family @ signature @ call @end\n"
              f'#include "{INCLUDE}/op.def"\n')
    command = [os.environ.get("CC", "cc"), "-E", "-P", "-I.", "-xc", "-"]
    text = subprocess.check_output(command, input=source, text=True)
    rows = []
    for row in re.findall(r"@row(.*?)@end", text, re.S):
        kind, name, family, signature, call = [joined(part) for part in row.split(" @ ")]
        rows.append((name, family, signature, call, kind == "composed"))
    return rows


def parameters(text):
    """[(type, name)] of a prototype's parameters."""
    out = []
    for part in " ".join(text.split()).split(", "):
        match = re.fullmatch(r"(.*?)(\w+)(\[\w*\])?", part)
        out.append((match[1].strip() + (" *" if match[3] else ""), match[2]))
    return out


def read_functions(header):
    """{name: (result, [(type, name)])} of what a header declares."""
    text = re.sub(r"/\*.*?\*/", "", read(f"{INCLUDE}/{header}"), flags=re.S)
    found = re.findall(r"TSR_API\s+(?:TSR_MUST_CHECK\s+)?([\w\s*]*?)\btsr_(\w+)\s*\(([^;]*)\);", text)
    return {name: (" ".join(result.split()), parameters(arguments)) for result, name, arguments in found}


def read_headers():
    headers = [h for h in sorted(os.listdir(INCLUDE)) if h.endswith(".h")]
    for header in headers:
        if header not in OP_HEADERS and header not in OTHER_HEADERS:
            fail(header, "neither a header of ops nor named in check_rows.py as one without")
    return OP_HEADERS + sorted("ops/" + h for h in os.listdir(f"{INCLUDE}/ops") if h.endswith(".h"))


def read_types():
    """Enums with their constants, and structs, of all headers."""
    text = "".join(read(f"{INCLUDE}/{folder}{h}") for folder in ("", "ops/")
                   for h in os.listdir(f"{INCLUDE}/{folder}") if h.endswith(".h"))
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    enums = {name: re.findall(r"\bTSR_\w+", body)
             for name, body in re.findall(r"typedef enum (\w+) \{(.*?)\}", text, re.S)}
    return enums, set(re.findall(r"typedef struct (\w+) \{", text))


# What a row says -------------------------------------------------------------------------


def split_argument(text, default_kind):
    """name: kind type = default, as (name, kind, type, default)."""
    text, _, default = text.partition("=")
    name, _, kind = text.partition(":")
    name = name.strip()
    kind, _, of = kind.strip().partition(" ")
    return name, kind or (name if name in OWN_KINDS else default_kind), of, default.strip()


def split_call(call):
    arguments, _, results = call.partition("->")
    parts = lambda text: [split_argument(part, "tensor") for part in text.split(",") if part.strip()]
    return parts(arguments), parts(results)


def c_type(name, argument, kinds):
    of, kind = argument[2], argument[1]
    if kind in TYPED and kinds is ARGUMENTS:
        return TYPED[kind].format(of)
    if kind not in kinds:
        fail(name, f"{argument[0]}: there is no kind '{kind}'")
    return kinds.get(kind, "?")


def prototype(name, call):
    """The parameters of C that a call asks for; the length of a list has no name."""
    arguments, results = split_call(call)
    out = [(c_type(name, r, RESULTS), r[0]) for r in results]
    in_list = any(r[1] == "givens" for r in results)
    if in_list:
        out.insert(0, ("int", None))
    for argument in arguments:
        if argument[1] in LISTS and not in_list:
            out.append(("int", None))
        in_list = argument[1] in LISTS
        out.append((c_type(name, argument, ARGUMENTS), argument[0]))
    return out


def check_default(name, argument, enums, structs):
    word, kind, of, default = argument
    if kind == "enum" and of not in enums or kind in ("struct", "report") and of not in structs:
        fail(name, f"{word}: there is no {kind} {of}")
    elif kind == "enum" and default and default not in enums[of]:
        fail(name, f"{word}: {default} is not one of {of}")
    elif kind != "enum" and default and not re.fullmatch(DEFAULTS.get(kind, ""), default):
        fail(name, f"{word}: '{default}' is no default of kind {kind}")


def spelled(parameter):
    return f"{parameter[0]} {parameter[1] or 'length'}".replace("* ", "*")


def check_prototype(name, call, header, function):
    result, given = function
    wanted = prototype(name, call)
    if result != "tsr_status":
        fail(name, f"{header} has it return {result}, not tsr_status")
    for i in range(max(len(given), len(wanted))):
        here = given[i] if i < len(given) else ("nothing", "")
        row = wanted[i] if i < len(wanted) else ("nothing", "")
        if here[0] != row[0] or row[1] not in (None, here[1]):
            fail(name, f"parameter {i + 1} is '{spelled(here)}' in {header}, and '{spelled(row)}' by its row")
            return


def check_callers(name, family, call, rows):
    """A call that names the functions that run the op."""
    for caller in call[3:].split(", "):
        found = [row for row in rows if row[0] == caller]
        if not found or found[0][3].startswith("by "):
            fail(name, f"by {caller}, which has no row with a call")
        elif found[0][1] != family:
            fail(name, f"by {caller}, which is of another family")


def check_operands(name, signature, call):
    """A composed op's operands are its tensors."""
    arguments, results = split_call(call)
    names = lambda parts, kinds: [part[0] for part in parts if part[1] in kinds]
    takes, _, gives = signature.partition("->")
    for words, wanted in ((takes, names(arguments, ("tensor", "tensors"))),
                          (gives, names(results, ("tensor", "given", "givens", "list")))):
        found = re.findall(r"(\w+)\{", words)
        if found != wanted:
            fail(name, f"the signature names {', '.join(found)}, the call {', '.join(wanted)}")


# The check --------------------------------------------------------------------------------


def check_row(row, rows, functions, types):
    name, family, signature, call, composed = row
    if call.startswith("by "):
        if name in functions:
            fail(name, f"has a function in {functions[name][0]}, which its row does not call")
        check_callers(name, family, call, rows)
        return
    if name not in functions:
        fail(name, "has a row, but no function in the headers of ops")
        return
    check_prototype(name, call, *functions[name])
    for argument in sum(split_call(call), []):
        check_default(name, argument, *types)
    if composed:
        check_operands(name, signature, call)


def computes(name, header, function):
    """tensor.h has questions too; they return no status."""
    return name not in NOT_OPS and (header != "tensor.h" or function[0] == "tsr_status")


def main():
    rows, types = read_rows(), read_types()
    functions = {}
    for header in read_headers():
        functions.update({name: (header, f) for name, f in read_functions(header).items()})
    names = [row[0] for row in rows]
    for row in rows:
        check_row(row, rows, functions, types)
    for name in sorted(set(n for n in names if names.count(n) > 1)):
        fail(name, "has two rows")
    for name, (header, function) in functions.items():
        if computes(name, header, function) and name not in names:
            fail(name, f"is a function of {header} without a row in op.def")
        if name in NOT_OPS and name in names:
            fail(name, "has a row, and is named in check_rows.py as no op")
    for name in sorted(set(NOT_OPS) - set(functions)):
        fail(name, "is named in check_rows.py, but is no function")
    print("\n".join(failures) or f"{len(rows)} rows are what the headers declare")
    return 1 if failures or not rows else 0


sys.exit(main())
