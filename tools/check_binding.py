"""A binding that is made of `tsr ops --json` calls every op.

    python3 tools/check_binding.py BUILD

Names, kinds, order and defaults of arguments come from the rows of op.def; of the headers it takes the
numbers of enums. What a call needs beyond that (shapes that fit, numbers without a
default) stands below. Then

- each function succeeds, and its results have the dtypes that the signature gives;
- composed and elementwise ops take the dtypes of their signatures, and refuse all others with TSR_EDTYPE;
  other ops, whose signatures tell what reaches a backend, take at least those;
- the most extreme numbers, in the place of any integer or list of integers, are no reason to die.

Prints one line a failure; the exit status is 1 if there is one.
"""
import ctypes
import glob
import json
import os
import re
import resource
import subprocess
import sys

BUILD = sys.argv[1]
LIBRARY = ctypes.CDLL(f"{BUILD}/lib/libtessera.so")
ROWS = json.loads(subprocess.check_output([f"{BUILD}/bin/tsr", "ops", "--json"]))["ops"]
for name in ("tsr_status_name", "tsr_dtype_name", "tsr_last_error"):
    getattr(LIBRARY, name).restype = ctypes.c_char_p
failures, calls = [], 0

# Tensors --------------------------------------------------------------------------------------


class Value(ctypes.Union):
    _fields_ = [("i", ctypes.c_int64), ("parts", ctypes.c_double * 2)]


class Scalar(ctypes.Structure):
    _fields_ = [("dtype", ctypes.c_int32), ("reserved", ctypes.c_int32), ("value", Value)]


class Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("storage", ctypes.c_void_p), ("dtype", ctypes.c_int32)]


Handle = ctypes.POINTER(Tensor)


def dtype_numbers():
    numbers, i = {}, 1
    while LIBRARY.tsr_dtype_is_valid(i) & 1:
        numbers[LIBRARY.tsr_dtype_name(i).decode()] = i
        i += 1
    return numbers


DTYPES = dtype_numbers()
NAMES = {number: name for name, number in DTYPES.items()}


def read_enums():
    """The constants of the enums that ops take, by name."""
    constants = {}
    for header in glob.glob("include/tessera/ops/*.h"):
        with open(header) as f:
            text = re.sub(r"/\*.*?\*/", "", f.read(), flags=re.S)
        for body in re.findall(r"typedef enum \w+ \{(.*?)\}", text, re.S):
            names = re.findall(r"\bTSR_\w+", body)
            constants.update({name: i for i, name in enumerate(names)})
    return constants


ENUMS = read_enums()


def number(value):
    return Scalar(DTYPES["i64"], 0, Value(i=int(value)))


def int64s(values):
    return (ctypes.c_int64 * len(values))(*values)


def made(dtype, shape):
    """Ones; a matrix is the identity, which has an inverse."""
    t = Handle()
    if len(shape) == 2:
        status = LIBRARY.tsr_eye(ctypes.byref(t), DTYPES[dtype], *(ctypes.c_int64(n) for n in shape),
                                 ctypes.c_int64(0))
    else:
        status = LIBRARY.tsr_full(ctypes.byref(t), DTYPES[dtype], len(shape), int64s(shape), number(1))
    assert status == 0, LIBRARY.tsr_last_error()
    return t


# What calls need beside the rows -------------------------------------------------------------------

# Kernels of 2, and zeros for the defaults: tsr_pool begins with them.
POOL = (ctypes.c_int64 * 24)(2, 2, 2)


def conv(dims):
    return {"x": (1, 2) + (6,) * dims, "w": (2, 2) + (3,) * dims, "bias": (2,)}


def channels(*names):
    return {name: (4,) for name in names}


SHAPES = {  # where not (4, 4)
    "index_add": channels("index"), "linear": channels("bias"), "dot": channels("a", "b"),
    "outer": channels("a", "b"), "cross": {"a": (3, 3), "b": (3, 3)},
    "meshgrid": channels("vectors"), "global_avg_pool": {"x": (2, 3, 4)},
    **{f"conv{k}{n}d": conv(n) for k in ("", "_transpose") for n in (1, 2, 3)},
    **{f"{k}_pool{n}d": {"x": (1, 2) + (6,) * n} for k in ("max", "avg", "lp") for n in (1, 2, 3)},
    **{f"{k}_pool_all": {"x": (1, 2, 6)} for k in ("max", "avg")},
    **{f"adaptive_{k}_pool": {"x": (1, 2, 6)} for k in ("max", "avg")},
    "conv_grad_data": {"grad": (1, 2, 2), "w": (2, 4, 3)},
    "conv_grad_weights": {"grad": (1, 2, 3), "x": (1, 4, 4)}, "linear_activation": channels("bias"),
    "resize": {"x": (1, 2, 6)}, "grid_sample": {"x": (1, 2, 3, 4), "grid": (1, 3, 2, 2)},
    "multi_head_attention": {"x": (3, 4), "mask": (3, 3)},
    "attention": {"q": (2, 3, 4), "k": (2, 3, 4), "v": (2, 3, 4), "mask": (3, 3)},
    "self_attention": {"q": (3, 2, 4), "k": (3, 2, 4), "v": (3, 2, 4)},
    "quantise": {"scale": (1,), "zero_point": (1,)}, "dequantise": {"scale": (1,), "zero_point": (1,)},
    "dequantise_blocks": {"blocks": (5, 2, 18)},
    "linear_blocks": {"x": (3, 64), "blocks": (5, 2, 18), "bias": (5,)},
    "matmul_quantised": {"a_scale": (1,), "a_zero": (1,), "b_scale": (1,), "b_zero": (1,), "bias": (4,)},
    "layer_norm": channels("weight", "bias"), "rms_norm": channels("weight"),
    "add_rms_norm": channels("weight"), "batch_norm": channels("mean", "var", "weight", "bias"),
    "group_norm": channels("weight", "bias"), "instance_norm": {"x": (2, 4, 3), **channels("weight", "bias")},
    "rope": {"x": (3, 2, 4), "positions": (3,)},
    "rope_with": {"x": (3, 2, 4), "positions": (3,), "sin_table": (4, 2), "cos_table": (4, 2)},
    "cross_entropy": channels("target", "weight"), "nll_loss": channels("target", "weight"),
    "searchsorted": channels("sorted"), "histogram_with": channels("edges"), "quantile": channels("q"),
    "nanquantile": channels("q"), "cov": channels("fweights", "aweights"),
}

VALUES = {  # of arguments without a default
    "axis": 0, "k": 2, "n": 2, "count": 2, "depth": 5, "rows": 3, "cols": 4, "samples": 1, "groups": 2,
    "heads": 2, "low": 0, "high": 5, "start": 0, "stop": 4, "value": 1, "eps": 1e-5, "p": 2, "random": 0.5,
    "seed": 7, "shape": (2, 3), "sizes": (2,), "shifts": (1,), "axes": (0,), "reps": (2, 2),
    "alpha": 2, "factor": 2, "rate": 0.5, "step": 1, "before": (1, 1), "after": (1, 1), "text": b"ij,jk->ik",
}
OWN_VALUES = {"tensordot": {"axes_a": (1,), "axes_b": (0,)}, "max_pool_all": {"n": 1},
              "avg_pool_all": {"n": 1}, "conv_grad_data": {"sizes": (4,)}}
RESULT_DTYPES = {"quantise": "i8", "quantisation_range": "i8", "quantise_dynamic": "i8", "integers": "i32"}


# Calls ---------------------------------------------------------------------------------------------


class Call:
    """One call: keeps what C only points at. `extreme` has numbers for some of the arguments."""

    def __init__(self, row, dtypes, dtype, extreme={}):
        self.row, self.dtypes, self.dtype, self.extreme = row, dtypes, dtype, extreme
        self.tensors, self.words, self.length = [], [], None

    def tensor(self, argument):
        shape = SHAPES.get(self.row["name"], {}).get(argument["name"], (4, 4))
        self.tensors.append(made(self.dtypes.get(argument["name"], self.dtype), shape))
        return self.tensors[-1]

    def value(self, argument):
        name = argument["name"]
        own = OWN_VALUES.get(self.row["name"], {})
        if name in own:
            return own[name]
        return VALUES[name] if argument["default"] is None else argument["default"]

    def list(self, argument, in_list):
        kind = argument["kind"]
        if kind == "tensors":
            items = [self.tensor(argument) for _ in range(2)]
            array = (Handle * 2)(*items)
        else:
            items = self.value(argument)
            items = () if items in ("all", "none") else items
            if argument["name"] in self.extreme:
                items = (self.extreme[argument["name"]],) * max(len(items), 1)
            of = ctypes.c_int if kind == "axes" else ctypes.c_int64
            array = (of * len(items))(*items) if items else None
        if not in_list:
            self.length = len(items)
            self.words.append(ctypes.c_int(self.length))
        self.words.append(array)

    def struct(self, argument):
        """Only what has no default must be made: the struct's contents are no part of a row."""
        if argument["default"] == "none":
            return None
        if argument["type"] == "tsr_pool":
            return POOL
        dtype = next(iter(self.dtypes.values()))
        self.tensors += [made(dtype, (4, 4)) for _ in range(4)]
        return (Handle * 8)(*self.tensors[-4:])

    def argument(self, argument):
        kind, value = argument["kind"], None
        if kind == "tensor":
            return self.tensor(argument)
        if kind in ("struct", "report"):
            return self.struct(argument)
        if argument["name"] in self.extreme:
            return (ctypes.c_int64 if kind == "int64" else ctypes.c_int)(self.extreme[argument["name"]])
        if kind == "dtype":
            return ctypes.c_int(DTYPES[self.dtype])
        if kind == "enum":
            return ctypes.c_int(ENUMS[argument["default"]])
        value = self.value(argument)
        if kind == "axis":
            return ctypes.c_int(-0x80000000 if value == "all" else int(value))
        if kind == "bool":
            return ctypes.c_bool(value == "true")
        make = {"int": ctypes.c_int, "int64": ctypes.c_int64, "seed": ctypes.c_uint64}
        if kind in make:
            return make[kind](int(value))
        return {"double": lambda: ctypes.c_double(float(value)), "scalar": lambda: number(value),
                "text": lambda: ctypes.c_char_p(value)}[kind]()

    def run(self):
        """(name of the status, dtypes of the results)."""
        global calls
        calls += 1
        lists = [r for r in self.row["results"] if r["kind"] == "givens"]
        for i, r in enumerate(lists):
            self.list({"name": r["name"], "kind": "tensors"}, i > 0)
        in_list = bool(lists)
        for argument in self.row["arguments"]:
            is_list = argument["kind"] in ("tensors", "axes", "ints", "shape")
            if is_list:
                self.list(argument, in_list)
            else:
                self.words.append(self.argument(argument))
            in_list = is_list
        others = [r for r in self.row["results"] if r["kind"] != "givens"]
        results = [self.result(r["kind"]) for r in others]
        given = [r["kind"] == "given" for r in others]
        words = [r if g else ctypes.byref(r) if isinstance(r, (Handle, ctypes.c_bool)) else r
                 for r, g in zip(results, given)]
        status = getattr(LIBRARY, "tsr_" + self.row["name"])(*words, *self.words)
        handles = [h for r in results for h in (r if isinstance(r, ctypes.Array) else [r])]
        handles = [h for h in handles if isinstance(h, Handle)]
        dtypes = [NAMES[h.contents.dtype] for h in handles if h]
        for t in handles + self.tensors:
            LIBRARY.tsr_release(ctypes.byref(t))
        return LIBRARY.tsr_status_name(status).decode(), dtypes

    def result(self, kind):
        if kind == "bool":
            return ctypes.c_bool()
        if kind == "list":
            return (Handle * self.length)()
        return made(self.dtype, (4, 4)) if kind == "given" else Handle()


# The check --------------------------------------------------------------------------------------------


def fail(row, text):
    failures.append(f"{row['name']}: {text}")


def preferred(dtypes):
    return next((d for d in ("f32", "i64", "i8", "bool", "c64") if d in dtypes), dtypes[0])


def usual_dtypes(row):
    """A dtype for each tensor among the arguments: of the signature, where that has its name."""
    takes = {t["name"]: preferred(t["dtypes"]) for t in row["takes"]}
    return {a["name"]: takes.get(a["name"], "i64" if a["name"] in ("index", "target", "positions") else "f32")
            for a in row["arguments"] if a["kind"] in ("tensor", "tensors")}


def usual_result(row):
    return RESULT_DTYPES.get(row["name"], "f32")


def describe(dtypes, dtype):
    return ", ".join(f"{name} {d}" for name, d in dtypes.items()) or f"dtype {dtype}"


def try_call(row, dtypes, dtype, taken):
    """taken: True, False (refused), or None, where a signature does not say."""
    status, results = Call(row, dtypes, dtype).run()
    if taken and status != "TSR_OK":
        fail(row, f"{describe(dtypes, dtype)}: {status}, {LIBRARY.tsr_last_error().decode()}")
    if taken is False and status != "TSR_EDTYPE":
        fail(row, f"{describe(dtypes, dtype)}: {status}, though the signature does not name it")
    if status != "TSR_OK":
        return
    for name, got in zip([r["name"] for r in row["results"] if r["kind"] != "givens"], results):
        gives = [g for g in row["gives"] if g["name"] == name]
        if gives and got not in gives[0]["dtypes"]:
            fail(row, f"{describe(dtypes, dtype)}: {name} is {got}, which the signature does not name")
        of = gives[0]["dtype_of"] if gives else None
        if of in dtypes and got != dtypes[of]:
            fail(row, f"{describe(dtypes, dtype)}: {name} is {got}, and not as {of}")


def check_operands(row):
    """Each group of operands that share a dtype, with every dtype."""
    usual = usual_dtypes(row)
    strict = row["kind"] == "composed" or row["family"] == "elementwise"
    for leader in [t for t in row["takes"] if t["dtype_of"] is None and t["name"] in usual]:
        group = [leader["name"]] + [t["name"] for t in row["takes"] if t["dtype_of"] == leader["name"]]
        for dtype in DTYPES:
            named = dtype in leader["dtypes"]
            changed = {name: dtype for name in group if name in usual}
            try_call(row, {**usual, **changed}, usual_result(row), named or (False if strict else None))


def check_result(row):
    """A dtype that is an argument, with every dtype."""
    free = [g for g in row["gives"] if g["dtype_of"] is None]
    if not any(a["kind"] == "dtype" for a in row["arguments"]) or not free or row["family"] == "quant":
        return
    for dtype in DTYPES:
        try_call(row, usual_dtypes(row), dtype, dtype in free[0]["dtypes"])


BITS = {"int": 32, "axis": 32, "axes": 32, "enum": 32, "dtype": 32, "int64": 64, "ints": 64, "shape": 64}


def call_with_extremes(row):
    for argument in row["arguments"]:
        most = 2 ** (BITS.get(argument["kind"], 1) - 1) - 1
        for value in (-most - 1, -most, most, most - 1, -1) if most else ():
            Call(row, usual_dtypes(row), usual_result(row), {argument["name"]: value}).run()


def check_extremes(row):
    """In a process of its own, which may ask for memory in vain."""
    child = os.fork()
    if child == 0:
        resource.setrlimit(resource.RLIMIT_AS, (1 << 32, 1 << 32))
        call_with_extremes(row)
        os._exit(0)
    if os.waitpid(child, 0)[1] != 0:
        fail(row, "does not survive the most extreme integers")


def main():
    rows = [row for row in ROWS if not row["called_by"]]
    for row in rows:
        try_call(row, usual_dtypes(row), usual_result(row), True)
        check_operands(row)
        check_result(row)
        check_extremes(row)
    print("\n".join(failures) or f"{len(rows)} functions by their rows, {calls} calls")
    return 1 if failures or not rows else 0


sys.exit(main())
