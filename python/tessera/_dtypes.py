"""What dtypes are, and conversion between them."""
import dataclasses

from . import _tessera as c
from ._common import KINDS, Array, need_array, ops, result_type


def _dtype_of(x):
    return x.dtype if isinstance(x, Array) else c.dtype(x)


def astype(x, dtype, /, *, copy=True, device=None):
    """x converted to dtype."""
    dtype = c.dtype(dtype)
    need_array(x, "astype")
    if x.dtype.kind == "complex" and dtype.kind not in ("complex", "boolean"):
        raise TypeError(f"astype: {x.dtype} to {dtype} loses the imaginary part: take real() first")
    out = x if x.dtype is dtype and not copy else ops.cast(x, dtype)
    return out if device is None or out.device == device else c._to(out, device)


def can_cast(from_, to, /):
    """Does `to` hold every value of from_, by the rules of promotion?"""
    from_, to = _dtype_of(from_), c.dtype(to)
    if from_ is to:
        return True
    try:
        return c.promote(from_, to) is to
    except TypeError:
        return False


@dataclasses.dataclass(frozen=True)
class finfo_object:
    """Limits of a floating dtype."""
    bits: int
    eps: float
    max: float
    min: float
    smallest_normal: float
    dtype: c.dtype


@dataclasses.dataclass(frozen=True)
class iinfo_object:
    """Limits of an integer dtype."""
    bits: int
    max: int
    min: int
    dtype: c.dtype


# eps, max, smallest normal
_FLOATS = {
    "float64": (2.0**-52, (2 - 2.0**-52) * 2.0**1023, 2.0**-1022),
    "float32": (2.0**-23, (2 - 2.0**-23) * 2.0**127, 2.0**-126),
    "float16": (2.0**-10, 65504.0, 2.0**-14),
    "bfloat16": (2.0**-7, (2 - 2.0**-7) * 2.0**127, 2.0**-126),
    "float8_e4m3fn": (2.0**-3, 448.0, 2.0**-6),
    "float8_e5m2": (2.0**-2, 57344.0, 2.0**-14),
}


def finfo(type, /):
    """Limits of a floating dtype, or of a complex dtype's parts."""
    dtype = _dtype_of(type).real
    if dtype.name not in _FLOATS:
        raise TypeError(f"finfo: {dtype} is not floating")
    eps, largest, smallest = _FLOATS[dtype.name]
    return finfo_object(dtype.itemsize * 8, eps, largest, -largest, smallest, dtype)


def iinfo(type, /):
    """Limits of an integer dtype."""
    dtype = _dtype_of(type)
    if dtype.kind not in ("signed", "unsigned"):
        raise TypeError(f"iinfo: {dtype} is no integer")
    bits = dtype.itemsize * 8
    signed = dtype.kind == "signed"
    return iinfo_object(bits, 2**(bits - signed) - 1, -(2**(bits - 1)) if signed else 0, dtype)


def isdtype(dtype, kind):
    """Is it of this kind, or this dtype, or one of these?"""
    dtype = c.dtype(dtype)
    if isinstance(kind, tuple):
        return any(isdtype(dtype, k) for k in kind)
    if isinstance(kind, str) and kind in KINDS:
        return dtype.kind in KINDS[kind]
    if isinstance(kind, str):
        raise ValueError(f"isdtype: there is no kind {kind!r}")
    return dtype is c.dtype(kind)


__all__ = ["astype", "can_cast", "finfo", "iinfo", "isdtype", "result_type"]
