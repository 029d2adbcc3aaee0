"""x[key] with arrays, masks and lists in the key, by NumPy's rules. Plain keys are done in C."""
from . import _tessera as c
from ._common import Array, cast, flat, is_integer, ops
from ._creation import asarray
from ._manipulation import broadcast_arrays


def _parts(key):
    """The key as a list, with arrays for lists and for objects of other libraries."""
    out = []
    for part in key if isinstance(key, tuple) else (key,):
        if part is None or part is Ellipsis or isinstance(part, (slice, Array)) or type(part) is int:
            out.append(part)
        elif isinstance(part, list) and not part:
            out.append(c._empty((0,), c.int64))
        else:
            out.append(asarray(part))
    for part in out:
        if isinstance(part, Array) and not (is_integer(part.dtype) or part.dtype is c.bool):
            raise IndexError(f"an index is an integer or bool array, and not {part.dtype}")
    return out


def _axes_of(part):
    """How many axes a part of a key names."""
    if part is None:
        return 0
    return part.ndim if isinstance(part, Array) and part.dtype is c.bool else 1


def _without_ellipsis(parts, ndim):
    named = sum(_axes_of(p) for p in parts if p is not Ellipsis)
    if sum(p is Ellipsis for p in parts) > 1:
        raise IndexError("an index holds at most one ellipsis")
    if named > ndim:
        raise IndexError(f"too many indices for an array with {ndim} dims: {named}")
    if not any(p is Ellipsis for p in parts):
        parts = parts + [Ellipsis]
    at = next(i for i, p in enumerate(parts) if p is Ellipsis)
    return parts[:at] + [slice(None)] * (ndim - named) + parts[at + 1:]


def _mask_indices(mask, shape):
    """Where a mask is true. It has the sizes of the dims that it is for, or 0."""
    if any(m not in (n, 0) for m, n in zip(mask.shape, shape)):
        raise IndexError(f"a mask of shape {mask.shape} for dims of shape {shape}")
    places = ops.nonzero(mask)
    return [places[:, i] for i in range(mask.ndim)]


def _split(x, parts):
    """(view, indices, at, adjacent): a view of x by the plain parts, whose axes `at` the indices are for."""
    plain, indices, at, places = [], [], [], []
    axis = 0
    for place, part in enumerate(parts):
        if isinstance(part, Array) and part.dtype is c.bool and part.ndim == 0:
            plain.append(None)  # a dim of size 1, taken once or not at all
            indices.append(c._empty((1 if part else 0,), c.int64) * 0)
            at.append(len(plain) - 1)
        elif isinstance(part, Array) and part.dtype is c.bool:
            for index in _mask_indices(part, x.shape[axis:axis + part.ndim]):
                plain.append(slice(None))
                indices.append(index)
                at.append(len(plain) - 1)
        elif isinstance(part, (Array, int)):
            plain.append(slice(None))
            indices.append(part if isinstance(part, Array) else c.from_numbers(part, c.int64))
            at.append(len(plain) - 1)
        else:
            plain.append(part)
            axis += part is not None
            continue
        places.append(place)
        axis += _axes_of(part) if not isinstance(part, int) else 1
    adjacent = places[-1] - places[0] == len(places) - 1
    return x[tuple(plain)], indices, at, adjacent


def _checked(index, size, axis):
    """Not negative, int64, and within the dim."""
    index = cast(index, c.int64)
    if index.size:
        low, high = int(ops.min(index)), int(ops.max(index))
        if low < -size or high >= size:
            raise IndexError(
                f"index {low if low < -size else high} is out of range for axis {axis} with size {size}")
        if low < 0:
            index = ops.where(ops.lt(index, 0), ops.add(index, size), index)
    return index


def _linear(view, indices, at):
    """One index for the axes at the front, row-major."""
    indices = broadcast_arrays(*(_checked(i, view.shape[a], a) for i, a in zip(indices, at)))
    out = None
    for index, a in zip(indices, at):
        out = index if out is None else ops.add(ops.mul(out, view.shape[a]), index)
    return out


def _gathered(view, indices, at, adjacent):
    if len(indices) == 1:
        return ops.take(view, _checked(indices[0], view.shape[at[0]], at[0]), at[0])
    linear = _linear(view, indices, at)
    rest = [a for a in range(view.ndim) if a not in at]
    front = c.permute_dims(view, at + rest)
    merged = 1
    for a in at:
        merged *= view.shape[a]
    table = c.reshape(front, (merged,) + tuple(view.shape[a] for a in rest))
    out = ops.take(table, linear, 0)
    if not adjacent:
        return out
    n = linear.ndim
    return c.moveaxis(out, tuple(range(n)), tuple(range(at[0], at[0] + n)))


def _is_mask(parts):
    return len(parts) == 1 and isinstance(parts[0], Array) and parts[0].dtype is c.bool and parts[0].ndim > 0


def get_item(x, key):
    """x[key]: a copy."""
    parts = _parts(key)
    if _is_mask(parts) and parts[0].shape == x.shape:
        return ops.masked_select(x, parts[0])
    view, indices, at, adjacent = _split(x, _without_ellipsis(parts, x.ndim))
    if len(indices) == 1 and not adjacent:
        return _gathered(view, indices, at, True)
    return _gathered(view, indices, at, adjacent)


_RANKS = {"boolean": 0, "signed": 1, "unsigned": 1, "floating": 2, "complex": 3}


def _value_for(x, value):
    if not isinstance(value, Array):
        value = asarray(value)
        if value.dtype.kind == "signed" and is_integer(x.dtype):
            value = asarray(value, dtype=x.dtype)
    if _RANKS[value.dtype.kind] > _RANKS[x.dtype.kind]:
        raise TypeError(f"{value.dtype} is not stored in {x.dtype} without astype")
    return cast(value, x.dtype)


def _is_plain(parts):
    return not any(isinstance(p, Array) and (p.ndim or p.dtype is c.bool) for p in parts)


def set_item(x, key, value):
    """x[key] = value."""
    parts = _parts(key)
    if x.readonly:
        raise ValueError("the array is read-only")
    if _is_plain(parts):
        x[tuple(int(p) if isinstance(p, Array) else p for p in parts)] = _value_for(x, value)
        return
    value = _value_for(x, value)
    if _is_mask(parts) and value.size == 1 and parts[0].shape == x.shape[:parts[0].ndim]:
        mask = parts[0]
        mask = c.reshape(mask, mask.shape + (1,) * (x.ndim - mask.ndim))
        ops.masked_fill(x, mask, c.reshape(value, ()), out=x)
        return
    places = c.reshape(ops.arange(c.int64, 0, x.size, 1) if x.size else c._empty((0,), c.int64), x.shape)
    index = get_item(places, key)
    while value.ndim > index.ndim and value.shape[0] == 1:
        value = value[0]
    source = flat(c.broadcast_to(value, index.shape))
    packed = c.contiguous(x)
    target = c.reshape(packed, (-1,), copy=False)
    ops.scatter(target, flat(index), source, 0, out=target)
    if not c.shares_memory(packed, x):
        x[...] = packed
