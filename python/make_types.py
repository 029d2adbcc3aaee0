"""Types of the package, made of the package: signatures are the functions' own, types follow names.

    PYTHONPATH=build/python python3 make_types.py FOLDER

Writes __init__.pyi, linalg.pyi and fft.pyi into FOLDER.
"""
import inspect
import pathlib
import sys

sys.path.pop(0)  # the modules beside this file have no extension
import tessera  # noqa: E402

HEAD = '''"""Made by make_types.py."""
from collections.abc import Iterator, Sequence
from typing import Any, Literal

'''
NAMES = {
    "x": "Array", "x1": "Array | Number", "x2": "Array | Number", "out": "Array | None", "obj": "Any",
    "condition": "Array", "indices": "Array", "arrays": "Array", "shape": "int | Sequence[int]",
    "dtype": "DType", "device": "str | None", "copy": "bool | None", "keepdims": "bool", "stable": "bool",
    "descending": "bool", "axes": "Any", "axis": "int | Sequence[int] | None", "k": "int",
    "n": "int | None", "num": "int", "min": "Array | Number | None", "max": "Array | Number | None",
    "fill_value": "Number", "correction": "float", "path": "Any",
    "norm": "Literal['backward', 'ortho', 'forward']", "side": "Literal['left', 'right']",
    "sorter": "Array | None", "repeats": "int | Array", "endpoint": "bool", "include_initial": "bool",
    "invert": "bool", "upper": "bool", "full_matrices": "bool", "offset": "int",
    "rtol": "float | Array | None",
}
RETURNS = {
    "bool": "isdtype can_cast shares_memory",
    "dtype": "result_type",
    "tuple[Array, ...]": "meshgrid broadcast_arrays unstack nonzero unique_all unique_counts unique_inverse "
                         "eig eigh qr slogdet svd",
    "tuple[int, ...]": "broadcast_shapes",
    "Any": "finfo iinfo load plot __array_namespace_info__ open",
    "None": "save convert set_threads synchronize",
    "int": "threads",
}
RETURN_OF = {name: kind for kind, names in RETURNS.items() for name in names.split()}
ARRAY_METHODS = {
    "__len__": "int", "__bool__": "bool", "__int__": "int", "__float__": "float", "__index__": "int",
    "__complex__": "complex", "item": "Number", "tolist": "Any", "__iter__": "Iterator[Array]",
    "__dlpack__": "Any", "__dlpack_device__": "tuple[int, int]", "__array__": "Any",
    "__array_namespace__": "Any", "_repr_html_": "str", "__reduce_ex__": "Any", "__dir__": "Any",
    "__format__": "str", "__setitem__": "None", "__delitem__": "None",
}
HIDDEN = {"__class__", "__new__", "_text", "__hash__", "__repr__", "__str__"}
ATTRIBUTES = {
    "shape": "tuple[int, ...]", "strides": "tuple[int, ...]", "ndim": "int", "size": "int",
    "itemsize": "int", "nbytes": "int", "dtype": "dtype", "device": "str", "base": "Any",
    "is_contiguous": "bool", "readonly": "bool", "address": "int", "__array_interface__": "dict[str, Any]",
}


def parameter(p):
    kind = NAMES.get(p.name, "Any")
    star = {p.VAR_POSITIONAL: "*", p.VAR_KEYWORD: "**"}.get(p.kind, "")
    if p.default is p.empty:
        return f"{star}{p.name}: {kind}"
    optional = kind + " | None" if p.default is None and "None" not in kind and kind != "Any" else kind
    return f"{p.name}: {optional} = {p.default!r}"


def arguments(signature, bound=False):
    out, before = [], None
    for p in signature.parameters.values():
        if before == p.POSITIONAL_ONLY != p.kind:
            out.append("/")
        if p.kind == p.KEYWORD_ONLY and before not in (p.KEYWORD_ONLY, p.VAR_POSITIONAL):
            out.append("*")
        out.append("self" if bound and p.name == "self" else parameter(p))
        before = p.kind
    return ", ".join(out + (["/"] if before == inspect.Parameter.POSITIONAL_ONLY else []))


def function(name, f, returns, indent="", bound=False):
    try:
        text = arguments(inspect.signature(f), bound)
    except ValueError:
        text = ("self, " if bound else "") + "*args: Any, **names: Any"
    words = (inspect.getdoc(f) or "").split("\n")[0].replace('"""', "'''")
    return f'{indent}def {name}({text}) -> {returns}:\n{indent}    """{words}"""\n'


def array_class():
    lines = ["class Array:\n"]
    for name in sorted(vars(tessera.Array)):
        member = getattr(tessera.Array, name)
        if name in ATTRIBUTES or type(member).__name__ == "getset_descriptor":
            lines.append(f"    @property\n    def {name}(self) -> {ATTRIBUTES.get(name, 'Array')}: ...\n")
        elif callable(member) and name not in HIDDEN:
            returns = ARRAY_METHODS.get(name, "Array")
            if name in ("__eq__", "__ne__"):
                lines.append(f"    def {name}(self, other: Any, /) -> Array: ...  # type: ignore[override]\n")
            elif name.startswith("__") and name not in ARRAY_METHODS:
                lines.append(f"    def {name}(self, *args: Any) -> {returns}: ...\n")
            else:
                lines.append(function(name, member, returns, "    ", bound=True))
    return "".join(lines)


def write(path, module, names):
    out = [HEAD]
    if module is tessera:
        out.append("from . import fft as fft, linalg as linalg, ops as ops, random as random\n"
                   "from ._files import File as File\n\n")
    else:
        out.append("from . import Array, DType, Number\n\n")
    if module is tessera:
        out += ["class dtype:\n    name: str\n    short_name: str\n    itemsize: int\n    kind: str\n"
                "    def __init__(self, name: Any) -> None: ...\n"
                "    @property\n    def real(self) -> dtype: ...\n\n",
                "Number = int | float | complex\nDType = dtype | str | None\n\n", array_class(), "\n"]
        out += [f"{d.name}: dtype\n" for d in tessera._tessera.dtypes]
        out += ["e: float\ninf: float\nnan: float\npi: float\nnewaxis: None\n__version__: str\n"]
        errors = [n for n in dir(tessera._tessera) if n.endswith("Error")]
        out += ["class Error(Exception): ...\n"]
        out += [f"class {n}(Error, {vars(tessera._tessera)[n].__mro__[2].__name__}): ...\n"
                for n in errors if n != "Error"]
    for name in names:
        f = getattr(module, name)
        if tessera._tessera.ops.get(name) is f:
            out.append(f"from .ops import {name} as {name}\n")
        elif callable(f) and not isinstance(f, type) and not isinstance(f, tessera.dtype):
            out.append(function(name, f, RETURN_OF.get(name, "Array")))
    path.write_text("".join(out), encoding="utf-8")


def main():
    folder = pathlib.Path(sys.argv[1])
    write(folder / "__init__.pyi", tessera, dict.fromkeys(tessera.__all__))
    write(folder / "linalg.pyi", tessera.linalg, tessera.linalg.__all__)
    write(folder / "fft.pyi", tessera.fft, tessera.fft.__all__)


main()
