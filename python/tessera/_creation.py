"""Arrays from nothing, from numbers, and from other libraries."""
import math

from . import _tessera as c
from ._common import Array, as_dtype, cast, default_dtype, need_array, ops, result_type
from ._tessera import empty, ones, zeros


def _place(x, device):
    return x if device is None or x.device == device else c._to(x, device)


def full(shape, fill_value, *, dtype=None, device=None):
    """Every element fill_value."""
    if isinstance(fill_value, Array):
        dtype, fill_value = dtype or fill_value.dtype, fill_value.item()
    out = c._empty(shape, as_dtype(dtype, default_dtype(fill_value)), device)
    out[...] = fill_value
    return out


def empty_like(x, /, *, dtype=None, device=None):
    """An array of x's shape whose elements are not set."""
    return c._empty(x.shape, as_dtype(dtype, x.dtype), device or x.device)


def zeros_like(x, /, *, dtype=None, device=None):
    """An array of x's shape, every element 0."""
    return zeros(x.shape, dtype=dtype or x.dtype, device=device or x.device)


def ones_like(x, /, *, dtype=None, device=None):
    """An array of x's shape, every element 1."""
    return ones(x.shape, dtype=dtype or x.dtype, device=device or x.device)


def full_like(x, /, fill_value, *, dtype=None, device=None):
    """An array of x's shape, every element fill_value."""
    return full(x.shape, fill_value, dtype=dtype or x.dtype, device=device or x.device)


def eye(n_rows, n_cols=None, /, *, k=0, dtype=None, device=None):
    """Ones where column - row is k, else zeros."""
    n_cols = n_rows if n_cols is None else n_cols
    limit = max(n_rows, n_cols) + 1
    return _place(ops.eye(as_dtype(dtype, c.float64), n_rows, n_cols, max(-limit, min(k, limit))), device)


def arange(start, /, stop=None, step=1, *, dtype=None, device=None):
    """start, start + step, ... up to but without stop."""
    if stop is None:
        start, stop = 0, start
    if dtype is None:
        dtype = result_type(*(v if not isinstance(v, bool) else int(v) for v in (start, stop, step)))
    dtype = c.dtype(dtype)
    if dtype.kind not in ("floating", "signed", "unsigned"):
        raise TypeError(f"arange: no {dtype}")
    if step == 0:
        raise ValueError("arange: step is 0")
    if max(0, math.ceil((stop - start) / step)) == 0:
        return _place(c._empty((0,), dtype), device)
    return _place(ops.arange(dtype, start, stop, step), device)


def linspace(start, stop, /, num, *, dtype=None, device=None, endpoint=True):
    """num values from start to stop, evenly spaced; the last is stop if endpoint."""
    if dtype is None:
        dtype = c.complex128 if isinstance(start, complex) or isinstance(stop, complex) else c.float64
    dtype = c.dtype(dtype)
    whole = dtype.kind in ("signed", "unsigned")
    out = ops.linspace(c.float64 if whole else dtype, start, stop, num, endpoint)
    return _place(cast(ops.floor(out), dtype) if whole else out, device)


def meshgrid(*arrays, indexing="xy"):
    """Coordinates of a grid: an array for each vector, all of one shape."""
    if indexing not in ("xy", "ij"):
        raise ValueError(f"meshgrid: indexing is {indexing!r}, and neither 'xy' nor 'ij'")
    if not arrays:
        return ()
    vectors = [c.reshape(a, (1,)) if need_array(a, "meshgrid").ndim == 0 else a for a in arrays]
    return tuple(ops.rearrange(g) for g in ops.meshgrid(vectors, indexing))


def tril(x, /, *, k=0):
    """x with zeros above the k-th diagonal."""
    return ops.tril(x, k)


def triu(x, /, *, k=0):
    """x with zeros below the k-th diagonal."""
    return ops.triu(x, k)


# From other objects -----------------------------------------------------------------------------


def from_dlpack(x, /, *, device=None, copy=None):
    """An array of the memory of another library's array."""
    if isinstance(x, Array) and not copy:
        if device is None or device == x.device:
            return x[...]
        if copy is False:
            raise BufferError("from_dlpack: this device cannot see the array without a copy")
        return c._to(x, device)
    arguments = {"max_version": (1, 3)}
    if copy is not None:
        arguments["copy"] = copy
    if device == "cpu":
        arguments["dl_device"] = (1, 0)
    try:
        capsule = x.__dlpack__(**arguments)
    except TypeError:
        capsule = x.__dlpack__()
        out = c.import_dlpack(capsule, x)
        return out.copy() if copy else out
    out = c.import_dlpack(capsule, x)
    if device is not None and out.device != device:
        if copy is False:
            raise BufferError("from_dlpack: this device cannot see the array without a copy")
        out = c._to(out, device)
    return out


def _shared(obj):
    """An array of obj's memory, or None."""
    dtype = getattr(getattr(obj, "dtype", None), "name", None)
    if dtype in ("bfloat16", "float8_e4m3fn", "float8_e5m2") and hasattr(obj, "__array_interface__"):
        bits = c.from_buffer(obj.view("uint16" if dtype == "bfloat16" else "uint8"))
        return None if bits is None else c.bit_view(bits, dtype)
    if isinstance(obj, (str, bytes)):
        return None
    out = c.from_buffer(obj)
    if out is None and hasattr(obj, "__arrow_c_array__"):
        return c.import_arrow(*obj.__arrow_c_array__())
    if out is None and hasattr(obj, "__dlpack__"):
        return from_dlpack(obj)
    if out is None and hasattr(obj, "__array__"):
        return _shared_by_numpy(obj)
    if out is None and hasattr(obj, "__arrow_c_stream__"):
        chunks = c.import_arrow_stream(obj.__arrow_c_stream__())
        return chunks[0] if len(chunks) == 1 else ops.concat(chunks, 0)
    return out


def _shared_by_numpy(obj):
    """What obj is for NumPy: its own memory, as of pandas' columns, or a copy that NumPy made."""
    array = obj.__array__()
    out = None if array is obj else _shared(array)
    if out is None:
        raise TypeError(f"asarray: {type(obj).__name__} holds no numbers of a dtype here")
    return out


def _stacked(obj, dtype):
    """Nested sequences that hold arrays."""
    if isinstance(obj, (list, tuple)):
        parts = [_stacked(o, dtype) for o in obj]
        dtype = dtype or result_type(*parts)
        return ops.stack([cast(p, dtype) for p in parts], 0)
    return asarray(obj, dtype=dtype)


_PLAIN = frozenset((list, tuple, bool, int, float, complex))


def asarray(obj, /, *, dtype=None, device=None, copy=None):
    """An array of obj: an array, a number, nested lists or tuples of numbers, or what has memory of
    numbers (the buffer protocol, DLPack). Memory is shared unless copy is True, or dtype or device
    are others; copy=False fails where it cannot be."""
    if type(obj) in _PLAIN and copy is not False:
        x = c.from_numbers(obj, dtype)
        if x is not None:
            return x if device is None else _place(x, device)
    if dtype is not None:
        dtype = c.dtype(dtype)
    made = False
    if isinstance(obj, Array):
        x = obj
    else:
        x = None if isinstance(obj, (bool, int, float, complex, list, tuple)) else _shared(obj)
        if x is None:
            x, made = c.from_numbers(obj, dtype), True
        if x is None:
            if isinstance(obj, (list, tuple)):
                x = _stacked(obj, dtype)
            else:
                raise TypeError(f"asarray: {type(obj).__name__} is no array")
    if made and copy is False:
        raise ValueError("asarray: Python's numbers cannot be seen without a copy")
    out = x
    if dtype is not None and out.dtype is not dtype:
        if out.dtype.kind == "complex" and dtype.kind not in ("complex", "boolean"):
            raise TypeError(f"asarray: {out.dtype} is not stored in {dtype}")
        out = ops.cast(out, dtype)
    out = _place(out, device)
    if copy is False and out is not x and not c.shares_memory(out, x) and out.size:
        raise ValueError("asarray: another dtype or device needs a copy")
    return out.copy() if copy and out is x and not made else out
