"""Statistics, searching, sorting, sets."""
import typing

from . import _tessera as c
from ._common import Array, as_dtype, cast, flat, is_integer, need_array, operands, ops


def _reduced(op, x, axis, keepdims, **more):
    """By an op that takes a list of axes, of which the library's empty one means all."""
    need_array(x, "a reduction")
    if isinstance(axis, (tuple, list)) and len(axis) == 0:
        return op(c.expand_dims(x, 0), 0, False, **more)
    if axis is None and x.ndim == 0:
        return op(c.expand_dims(x, 0), 0, False, **more)
    return op(x, axis, keepdims, **more)


def _summed(op, x, axis, dtype, keepdims):
    dtype = as_dtype(dtype)
    if dtype is not None:
        x = cast(x, dtype)
    if x.dtype is c.bool:
        x = ops.cast(x, c.int64)
    out = _reduced(op, x, axis, keepdims)
    return out if dtype is None else cast(out, dtype)


def sum(x, /, *, axis=None, dtype=None, keepdims=False):
    """The sum over axes; integers give int64 or uint64."""
    return _summed(ops.sum, x, axis, dtype, keepdims)


def prod(x, /, *, axis=None, dtype=None, keepdims=False):
    """The product over axes; integers give int64 or uint64."""
    return _summed(ops.prod, x, axis, dtype, keepdims)


def mean(x, /, *, axis=None, keepdims=False):
    """The arithmetic mean over axes."""
    return _reduced(ops.mean, x, axis, keepdims)


def var(x, /, *, axis=None, correction=0.0, keepdims=False):
    """The variance over axes: the sum of squared distances from the mean, over count - correction."""
    return _reduced(ops.var, x, axis, keepdims, correction=correction)


def std(x, /, *, axis=None, correction=0.0, keepdims=False):
    """The square root of var."""
    return _reduced(ops.std, x, axis, keepdims, correction=correction)


def max(x, /, *, axis=None, keepdims=False):
    """The largest over axes; NaN if one is."""
    return _reduced(ops.max, x, axis, keepdims)


def min(x, /, *, axis=None, keepdims=False):
    """The smallest over axes; NaN if one is."""
    return _reduced(ops.min, x, axis, keepdims)


def all(x, /, *, axis=None, keepdims=False):
    """Is no element zero?"""
    return _reduced(ops.all, x, axis, keepdims)


def any(x, /, *, axis=None, keepdims=False):
    """Is an element not zero?"""
    return _reduced(ops.any, x, axis, keepdims)


def count_nonzero(x, /, *, axis=None, keepdims=False):
    """How many elements are not zero."""
    return _reduced(ops.count_nonzero, x, axis, keepdims)


def _cumulative(op, x, axis, dtype, include_initial, initial):
    need_array(x, op.__name__)
    if axis is None:
        if x.ndim != 1:
            raise ValueError(f"{op.__name__}: axis must be given for an array with {x.ndim} dims")
        axis = 0
    dtype = as_dtype(dtype)
    if dtype is not None:
        x = cast(x, dtype)
    if x.dtype is c.bool:
        x = ops.cast(x, c.int64)
    out = op(x, axis)
    if dtype is not None:
        out = cast(out, dtype)
    if include_initial:
        axis %= x.ndim
        shape = x.shape[:axis] + (1,) + x.shape[axis + 1:]
        first = c._empty(shape, out.dtype, out.device)
        ops.fill(first, initial)
        out = ops.concat([first, out], axis)
    return out


def cumulative_sum(x, /, *, axis=None, dtype=None, include_initial=False):
    """Running sums along an axis; with a 0 ahead of them if include_initial."""
    return _cumulative(ops.cumsum, x, axis, dtype, include_initial, 0)


def cumulative_prod(x, /, *, axis=None, dtype=None, include_initial=False):
    """Running products along an axis; with a 1 ahead of them if include_initial."""
    return _cumulative(ops.cumprod, x, axis, dtype, include_initial, 1)


def diff(x, /, *, axis=-1, n=1, prepend=None, append=None):
    """x[i + 1] - x[i] along an axis, n times over."""
    parts = [p for p in (prepend, need_array(x, "diff"), append) if p is not None]
    if len(parts) > 1:
        x = ops.concat(operands("diff", *parts), axis)
    return x.copy() if n == 0 else ops.diff(x, axis, n)


# Searching -----------------------------------------------------------------------------------------


def argmax(x, /, *, axis=None, keepdims=False):
    """Where the first largest element is."""
    return ops.argmax(x, axis, keepdims)


def argmin(x, /, *, axis=None, keepdims=False):
    """Where the first smallest element is."""
    return ops.argmin(x, axis, keepdims)


def nonzero(x, /):
    """Where elements are not zero: an array of indices for each axis."""
    if need_array(x, "nonzero").ndim == 0:
        raise ValueError("nonzero: the array has no dims")
    places = ops.rearrange(ops.nonzero(x).T)
    return tuple(places[i] for i in range(x.ndim))


def searchsorted(x1, x2, /, *, side="left", sorter=None):
    """Before which element of the ascending vector x1 each element of x2 belongs."""
    if side not in ("left", "right"):
        raise ValueError(f"searchsorted: side is {side!r}, and neither 'left' nor 'right'")
    if sorter is not None:
        x1 = ops.take(x1, sorter, 0)
    x1, x2 = operands("searchsorted", x1, x2)
    return ops.searchsorted(x1, x2, side == "right")


def where(condition, x1, x2, /):
    """x1 where condition, else x2."""
    need_array(condition, "where")
    if not isinstance(x1, Array) and not isinstance(x2, Array):
        from ._common import result_type
        dtype = result_type(x1, x2)
        x1, x2 = c.from_numbers(x1, dtype), c.from_numbers(x2, dtype)
    else:
        x1, x2 = operands("where", x1, x2)
    return ops.where(condition, x1, x2)


# Sorting ------------------------------------------------------------------------------------------------


def sort(x, /, *, axis=-1, descending=False, stable=True):
    """x in order along an axis; always stable."""
    return ops.sort(x, axis, descending)


def argsort(x, /, *, axis=-1, descending=False, stable=True):
    """The indices that put x in order along an axis; always stable."""
    return ops.argsort(x, axis, descending)


# Sets -----------------------------------------------------------------------------------------------------

UniqueAll = typing.NamedTuple("UniqueAll", [("values", Array), ("indices", Array), ("inverse_indices", Array),
                                            ("counts", Array)])
UniqueCounts = typing.NamedTuple("UniqueCounts", [("values", Array), ("counts", Array)])
UniqueInverse = typing.NamedTuple("UniqueInverse", [("values", Array), ("inverse_indices", Array)])


def _unique(x):
    """(values, counts, inverse, first). Complex numbers are equal where the numbers of both parts are."""
    need_array(x, "unique")
    if x.dtype.kind != "complex":
        return ops.unique(x)
    parts = [ops.unique(ops.rearrange(part))[2] for part in (x.real, x.imag)]
    key = parts[0] * (x.size + 1) + parts[1]
    _, counts, inverse, first = ops.unique(key)
    return ops.take(flat(x), first, 0), counts, inverse, first


def unique_all(x, /):
    """The different values, where each is first, which one each element is, and how often each is there."""
    values, counts, inverse, first = _unique(x)
    return UniqueAll(values, first, inverse, counts)


def unique_counts(x, /):
    """The different values, and how often each is there."""
    values, counts, _, _ = _unique(x)
    return UniqueCounts(values, counts)


def unique_inverse(x, /):
    """The different values, and which one each element is."""
    values, _, inverse, _ = _unique(x)
    return UniqueInverse(values, inverse)


def unique_values(x, /):
    """The different values."""
    return _unique(x)[0]


def isin(x1, x2, /, *, invert=False):
    """Is each element of x1 among those of x2?"""
    x1, x2 = operands("isin", x1, x2)
    if x1.dtype.kind == "complex":
        pairs = flat(x1)
        pairs, others = c.expand_dims(pairs, 1), c.expand_dims(flat(x2), 0)
        out = c.reshape(ops.any(ops.eq(pairs, others), 1), x1.shape) if x2.size else ops.ne(x1, x1) & False
    else:
        out = ops.isin(x1, x2)
    return ops.logical_not(out) if invert else out


__all__ = """sum prod mean var std max min all any count_nonzero cumulative_sum cumulative_prod diff argmax
argmin nonzero searchsorted where sort argsort unique_all unique_counts unique_inverse
unique_values isin""".split()
