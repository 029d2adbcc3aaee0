"""Arrays of NumPy and of the package with the same elements and the same strides."""
import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import tessera as ts

FLOATS = ["float32", "float64"]
COMPLEX = ["complex64", "complex128"]
INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
ALL = ["bool"] + INTEGERS + FLOATS + COMPLEX


def elements(dtype, plain=False):
    """Any numbers of the dtype; plain ones are small and finite."""
    dtype = np.dtype(dtype)
    if dtype.kind == "f" and plain:
        return st.integers(-400, 400).map(lambda i: i / 16)
    if dtype.kind == "c" and plain:
        return st.tuples(st.integers(-64, 64), st.integers(-64, 64)).map(lambda p: complex(p[0], p[1]) / 8)
    if dtype.kind in "iu" and plain:
        return st.integers(0 if dtype.kind == "u" else -20, 20)
    return hnp.from_dtype(dtype, allow_subnormal=False)


@st.composite
def views(draw, x):
    """x, and an array of ours with its elements: a view by steps and transposition of a larger one."""
    steps = [draw(st.sampled_from([1, 1, 2, -1, -3])) for _ in range(x.ndim)]
    axes = draw(st.permutations(range(x.ndim)))
    shape = [x.shape[a] * abs(steps[a]) for a in axes]
    key = tuple(slice(None, None, steps[a]) for a in axes)
    large = ts.zeros(tuple(shape), dtype=str(x.dtype))
    view = ts.permute_dims(large[key], tuple(np.argsort(axes).tolist())) if x.ndim else large
    view[...] = ts.asarray(x.copy())
    return x, view


@st.composite
def arrays(draw, dtypes, plain=False, shapes=None):
    """(NumPy's, ours)"""
    dtype = draw(st.sampled_from(dtypes)) if isinstance(dtypes, list) else dtypes
    shape = draw(
    shapes if shapes is not None else hnp.array_shapes(
        min_dims=0,
        max_dims=4,
        min_side=0,
         max_side=5))
    x = draw(hnp.arrays(dtype, shape, elements=elements(dtype, plain)))
    return draw(views(x))


@st.composite
def pairs(draw, dtypes, plain=False):
    """Two of one dtype that broadcast."""
    dtype = draw(st.sampled_from(dtypes))
    shapes = draw(
    hnp.mutually_broadcastable_shapes(
        num_shapes=2,
        max_dims=3,
        max_side=4,
         min_side=0)).input_shapes
    return tuple(draw(arrays(dtype, plain, st.just(s))) for s in shapes)


def to_numpy(x):
    return np.array(memoryview(x)) if x.ndim else np.array(x.item(), dtype=str(x.dtype))


def same(got, want, units=0):
    """The same dtype, shape and elements, or elements within so many units in the last place."""
    want = np.asarray(want)
    assert str(got.dtype) == str(want.dtype), (got.dtype, want.dtype)
    assert got.shape == want.shape, (got.shape, want.shape)
    got = np.asarray(memoryview(got)) if got.size else np.empty(got.shape, str(got.dtype))
    if units and want.dtype.kind in "fc":
        parts = [(got.real, want.real), (got.imag, want.imag)] if want.dtype.kind == "c" else [(got, want)]
        size = np.abs(want) if want.dtype.kind == "c" else None
        for g, w in parts:
            near = np.finfo(w.dtype).eps * units * (np.abs(w)
                            if size is None else size) + np.finfo(w.dtype).tiny
            with np.errstate(all="ignore"):
                close = (np.abs(g - w) <= near) | (g == w) | (np.isnan(g) & np.isnan(w))
            assert close.all(), (got, want)
        return
    np.testing.assert_array_equal(got, want, strict=True)
