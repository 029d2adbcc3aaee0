"""Shapes: joined, repeated, broadcast; elements by index."""
from . import _tessera as c
from ._common import Array, cast, flat, need_array, operands, ops, result_type
from ._tessera import broadcast_to, expand_dims, flip, moveaxis, permute_dims, reshape, squeeze


def _joined(what, arrays):
    arrays = list(arrays)
    if not arrays:
        raise ValueError(f"{what}: there are no arrays")
    dtype = result_type(*(need_array(a, what) for a in arrays))
    return [cast(a, dtype) for a in arrays]


def concat(arrays, /, *, axis=0):
    """Arrays joined along an axis that they have; flattened first if axis is None."""
    arrays = _joined("concat", arrays)
    return ops.concat([flat(a) for a in arrays] if axis is None else arrays, axis or 0)


def stack(arrays, /, *, axis=0):
    """Arrays of one shape joined along a new axis."""
    return ops.stack(_joined("stack", arrays), axis)


def unstack(x, /, *, axis=0):
    """The parts of one index each along an axis: views."""
    if not -x.ndim <= axis < x.ndim:
        raise IndexError(f"unstack: axis {axis} is out of range for {x.ndim} dims")
    x = moveaxis(x, axis, 0)
    return tuple(x[i] for i in range(x.shape[0]))


def broadcast_shapes(*shapes):
    """The shape that these broadcast to."""
    out = []
    for k in range(1, max((len(s) for s in shapes), default=0) + 1):
        sizes = {s[-k] for s in shapes if len(s) >= k}
        if len(sizes) > 1:
            sizes.discard(1)
        if len(sizes) > 1:
            raise ValueError(f"broadcast_shapes: {shapes} do not fit")
        out.append(sizes.pop())
    return tuple(reversed(out))


def broadcast_arrays(*arrays):
    """Arrays repeated to one shape: views."""
    shape = broadcast_shapes(*(need_array(a, "broadcast_arrays").shape for a in arrays))
    return tuple(broadcast_to(a, shape) for a in arrays)


def repeat(x, repeats, /, *, axis=None):
    """Each index along an axis, repeats times in a row."""
    if axis is None:
        x, axis = flat(x), 0
    if isinstance(repeats, Array) and repeats.size == 1:
        repeats = int(flat(repeats)[0])
    if not isinstance(repeats, Array):
        return ops.repeat(x, repeats, axis)
    if repeats.ndim != 1 or repeats.size != x.shape[axis]:
        raise ValueError(f"repeat: {repeats.size} repeats for {x.shape[axis]} indices")
    if repeats.size and int(ops.min(repeats)) < 0:
        raise ValueError("repeat: a number of repeats is negative")
    if not repeats.size:
        return x.copy()
    ends = ops.cumsum(cast(repeats, c.int64), 0)
    places = ops.arange(c.int64, 0, int(ends[-1]), 1)
    return ops.take(x, ops.searchsorted(ends, places, True), axis)


def roll(x, /, shift, *, axis=None):
    """Elements moved along axes; what leaves at one end comes in at the other."""
    if axis is None:
        if isinstance(shift, (tuple, list)):
            shift = sum(shift)
        return reshape(ops.roll(flat(x), (shift,), (0,)), x.shape)
    axes = tuple(axis) if isinstance(axis, (tuple, list)) else (axis,)
    shifts = tuple(shift) if isinstance(shift, (tuple, list)) else (shift,) * len(axes)
    if len(axes) == 1 and len(shifts) > 1:
        axes = axes * len(shifts)
    if len(axes) != len(shifts):
        raise ValueError(f"roll: {len(shifts)} shifts for {len(axes)} axes")
    for s, a in zip(shifts, axes):  # an axis may be named twice
        x = ops.roll(x, (s,), (a,))
    return x if axes else x.copy()


def tile(x, repetitions, /):
    """The whole of x, repeated along each dim."""
    return ops.tile(x, repetitions)


def take(x, indices, /, *, axis=None):
    """x at each index along an axis."""
    if axis is None:
        if x.ndim != 1:
            raise ValueError(f"take: axis must be given for an array with {x.ndim} dims")
        axis = 0
    return ops.take(x, indices, axis)


def take_along_axis(x, indices, /, *, axis=-1):
    """out[.., i, ..] = x[.., indices[.., i, ..], ..] along an axis."""
    return ops.take_along_axis(x, indices, axis)


# Products ------------------------------------------------------------------------------------------


def matmul(x1, x2, /):
    """The product of matrices."""
    return ops.matmul(x1, x2)


def matrix_transpose(x, /):
    """The last two dims swapped: a view."""
    return need_array(x, "matrix_transpose").mT


def vecdot(x1, x2, /, *, axis=-1):
    """The sum of conj(x1) * x2 along an axis."""
    return ops.vecdot(x1, x2, axis)


def tensordot(x1, x2, /, *, axes=2):
    """Sums of products over pairs of axes, or over the last of x1 and the first of x2."""
    if isinstance(axes, int):
        if axes < 0 or axes > min(x1.ndim, x2.ndim):
            raise ValueError(f"tensordot: {axes} axes of {x1.ndim} and {x2.ndim}")
        axes = tuple(range(x1.ndim - axes, x1.ndim)), tuple(range(axes))
    first, second = ([a] if isinstance(a, int) else list(a) for a in axes)
    if not first and not second:
        x1, x2 = operands("tensordot", x1, x2)
        return c.reshape(ops.mul(c.reshape(x1, x1.shape + (1,) * x2.ndim), x2), x1.shape + x2.shape)
    return ops.tensordot(x1, x2, first, second)


__all__ = """concat stack unstack broadcast_shapes broadcast_arrays repeat roll tile take take_along_axis
matmul matrix_transpose vecdot tensordot broadcast_to expand_dims flip moveaxis permute_dims
reshape squeeze""".split()
