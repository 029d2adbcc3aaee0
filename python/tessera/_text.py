"""Arrays as text, lists, pickles and NumPy arrays: what the type in C leaves to Python."""
import pickle
import sys

from . import _tessera as c
from ._common import Array, ops

# What a memoryview makes lists of.
_LISTED = {d.name for d in c.dtypes if d.kind in ("boolean", "signed", "unsigned")} | {"float32", "float64"}
_BITS = {1: "uint8", 2: "uint16", 4: "uint32", 8: "uint64"}


def to_str(x):
    return x._text()


def to_repr(x):
    text = x._text()
    lines = text.split("\n")
    body = ("\n" + " " * 6).join(lines)
    end = "" if x.device == "cpu" else f", device={x.device!r}"
    shape = f", shape={x.shape}" if x.size == 0 or x.size > 1000 else ""
    return f"Array({body}{shape}, dtype={x.dtype}{end})"


def to_format(x, spec=""):
    """A single number by its own format; others as text."""
    return format(x.item(), spec) if x.ndim == 0 else format(str(x), spec)


def to_list(x):
    if x.ndim == 0:
        return x.item()
    if x.size and x.device == "cpu" and x.dtype.name in _LISTED:
        return memoryview(x).tolist()
    return [to_list(part) for part in x]


def directory(x):
    return sorted(set(n for n in dir(type(x)) if not n.startswith("_text")))


# Pickles ------------------------------------------------------------------------------------------


def _bytes_of(x):
    """A vector of bytes with x's elements in row-major order."""
    x = c.contiguous(x if x.device == "cpu" else c._to(x, "cpu"))
    x = ops.cast(x, "uint8") if x.dtype is c.bool else x
    return c.bit_view(c.reshape(x, (-1,)), "uint8") if x.size else c._empty((0,), c.uint8)


def _rebuild(data, name, shape, device):
    dtype = c.dtype(name)
    raw = c.from_buffer(data)
    if dtype is c.bool:
        x = ops.cast(raw, dtype)
    elif raw.size == 0:
        x = c._empty((0,), dtype)
    elif raw.address % dtype.itemsize:
        x = c.bit_view(raw.copy(), dtype)
    else:
        x = c.bit_view(raw, dtype)
    x = c.reshape(x, shape)
    if x.readonly:
        x = x.copy()
    return x if device == "cpu" else c._to(x, device)


def reduce_ex(x, protocol):
    data = _bytes_of(x)
    buffer = pickle.PickleBuffer(data) if protocol >= 5 else bytes(memoryview(data))
    return _rebuild, (buffer, x.dtype.name, x.shape, x.device)


# NumPy ---------------------------------------------------------------------------------------------


def to_numpy(x, dtype=None, *, copy=None):
    import numpy
    if x.device != "cpu":
        if copy is False:
            raise ValueError("the elements are on a device, and cannot be seen without a copy")
        x = c._to(x, "cpu")
    if x.dtype.name in ("bfloat16", "float8_e4m3fn", "float8_e5m2"):
        import ml_dtypes
        bits = c.bit_view(x, _BITS[x.dtype.itemsize])
        out = numpy.asarray(memoryview(bits)).view(getattr(ml_dtypes, x.dtype.name))
    else:
        out = numpy.asarray(memoryview(x))
    if dtype is not None and out.dtype != dtype:
        if copy is False:
            raise ValueError(f"{x.dtype} is not seen as {dtype} without a copy")
        return out.astype(dtype)
    return out.copy() if copy else out


_CODES = {"boolean": "b", "signed": "i", "unsigned": "u", "floating": "f", "complex": "c"}


def array_interface(x):
    if x.device != "cpu" or x.dtype.name in ("bfloat16", "float8_e4m3fn", "float8_e5m2", "complex32"):
        raise AttributeError("__array_interface__")
    order = "|" if x.dtype.itemsize == 1 else "<" if sys.byteorder == "little" else ">"
    return {"version": 3, "shape": x.shape, "typestr": f"{order}{_CODES[x.dtype.kind]}{x.dtype.itemsize}",
            "data": (x.address, x.readonly), "strides": x.strides}


def to_device(x, device, /, *, stream=None):
    return x if device == x.device and stream is None else c._to(x, device)
