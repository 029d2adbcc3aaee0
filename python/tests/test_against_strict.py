"""Results are those of array-api-strict, the standard's own plain implementation, for arrays that hypothesis
makes with ours."""
import functools
import os

import hypothesis
import numpy as np
import pytest
from hypothesis import assume
from hypothesis import strategies as st
from hypothesis.extra.array_api import make_strategies_namespace

import tessera as ts

strict = pytest.importorskip("array_api_strict")
pytestmark = pytest.mark.filterwarnings("ignore")

INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
FLOATS, COMPLEX = ["float32", "float64"], ["complex64", "complex128"]
KINDS = {"b": ["bool"], "i": INTEGERS, "f": FLOATS, "c": COMPLEX}
# The kinds that each function takes.
UNARY_BY_KINDS = {
    "b": "logical_not", "bi": "bitwise_invert", "if": "abs ceil floor round trunc sign",
    "ifc": "negative positive square isfinite isinf isnan", "f": "signbit reciprocal", "c": "conj real imag",
    "fc": "acos acosh asin asinh atan atanh cos cosh exp expm1 log log1p log2 log10 sin sinh sqrt tan tanh",
}
BINARY_BY_KINDS = {
    "b": "logical_and logical_or logical_xor", "bi": "bitwise_and bitwise_or bitwise_xor",
    "i": "bitwise_left_shift bitwise_right_shift", "f": "atan2 copysign hypot logaddexp nextafter",
    "if": "less less_equal greater greater_equal maximum minimum floor_divide remainder pow", "fc": "divide",
    "ifc": "add subtract multiply equal not_equal",
}
REDUCTIONS_BY_KINDS = {"ifc": "sum prod", "if": "max min argmax argmin", "f": "mean var std",
                       "bifc": "all any count_nonzero"}


def by_name(by_kinds):
    return {name: kinds for kinds, names in by_kinds.items() for name in names.split()}


UNARY, BINARY, REDUCTIONS = by_name(UNARY_BY_KINDS), by_name(BINARY_BY_KINDS), by_name(REDUCTIONS_BY_KINDS)
FFT = "fft ifft rfft irfft hfft ihfft fftn ifftn rfftn irfftn fftshift ifftshift".split()
xps = make_strategies_namespace(ts, api_version="2024.12")
# NumPy is what most examples are compared with; here a few do, unless many are asked for.
EXAMPLES = int(os.environ.get("TSR_EXAMPLES", "25"))


def given(**strategies):
    few = hypothesis.settings(max_examples=EXAMPLES if EXAMPLES >= 200 else 2)
    return lambda test: few(hypothesis.given(**strategies)(test))


def theirs_of(x):
    return strict.asarray(np.asarray(x).copy()) if isinstance(x, ts.Array) else x


@functools.cache
def elements(dtype, low=-100):
    """Numbers that functions have something to say of: not huge, now and then special."""
    if dtype == "bool":
        return st.booleans()
    if dtype in INTEGERS:
        return st.integers(max(low, 0 if dtype[0] == "u" else -100), 100)
    special = st.sampled_from([0.0, -0.0, 1.0, 2.0**-13, 50.0])
    real = st.one_of(st.integers(-200, 200).map(lambda i: i / 16), special)
    return real if dtype in FLOATS else st.builds(complex, real, real)


@st.composite
def arrays(draw, kinds, shapes=None, low=-100):
    dtype = draw(st.sampled_from([d for k in kinds for d in KINDS[k]]))
    shapes = xps.array_shapes(min_dims=0, max_dims=3, max_side=4) if shapes is None else shapes
    x = draw(xps.arrays(dtype, shapes, elements=elements(dtype, low)))
    return x[..., ::-1] if x.ndim and draw(st.booleans()) else x


def agree(got, want, units=16):
    """The same dtype and shape, and numbers within so many units in the last place of the largest part."""
    if isinstance(want, (tuple, list)):
        for g, w in zip(got, want, strict=True):
            agree(g, w, units)
        return
    assert str(got.dtype) == str(want.dtype).rsplit(".", 1)[-1] and got.shape == want.shape
    got, want = np.asarray(got), np.asarray(want)
    if want.dtype.kind in "fc":
        eps = np.finfo(want.dtype).eps * units
        largest = float(np.max(np.abs(want[np.isfinite(want)]), initial=0))
        np.testing.assert_allclose(got, want, rtol=eps, atol=eps * largest)
    else:
        np.testing.assert_array_equal(got, want)


def both(name, *args, units=16, **names):
    find = lambda place: getattr(getattr(place, name.split(".")[0]), name.split(".")[1]) if "." in name \
        else getattr(place, name)  # noqa: E731
    want = find(strict)(*(theirs_of(a) for a in args), **names)
    agree(find(ts)(*args, **names), want, units)


@pytest.mark.parametrize("name", UNARY)
@given(data=st.data())
def test_one_array(name, data):
    x = data.draw(arrays(UNARY[name]))
    # On the cuts of complex functions the sign of zero decides, which NumPy does not always follow.
    assume(x.dtype.kind != "complex" or bool(ts.all((ts.real(x) != 0) & (ts.imag(x) != 0))))
    both(name, x, units=256 if x.dtype.kind == "complex" else 16)


@pytest.mark.parametrize("name", BINARY)
@given(data=st.data())
def test_two_arrays(name, data):
    shapes = data.draw(xps.mutually_broadcastable_shapes(2, max_dims=3, max_side=4)).input_shapes
    x = data.draw(arrays(BINARY[name], st.just(shapes[0])))
    y = data.draw(xps.arrays(x.dtype, shapes[1], elements=elements(x.dtype.name, 0)))
    whole = x.dtype.kind in ("signed", "unsigned")
    if name in ("floor_divide", "remainder", "divide"):
        assume(bool(ts.all(y != 0)))
    if "shift" in name or (name == "pow" and whole):
        y = ts.remainder(y, ts.asarray(5, dtype=y.dtype))
    both(name, x, y, units=256 if name in ("pow", "remainder") else 16)


@pytest.mark.parametrize("name", REDUCTIONS)
@given(data=st.data())
def test_reduction(name, data):
    x = data.draw(arrays(REDUCTIONS[name], xps.array_shapes(min_dims=1, max_dims=3, max_side=4), low=-3))
    axis = data.draw(st.one_of(st.none(), st.integers(-x.ndim, x.ndim - 1)))
    both(name, x, axis=axis, keepdims=data.draw(st.booleans()), units=64)


@given(data=st.data())
def test_order_sets_and_searching(data):
    x = data.draw(arrays("if", xps.array_shapes(min_dims=1, max_dims=3, max_side=5)))
    axis, descending = data.draw(st.integers(-x.ndim, x.ndim - 1)), data.draw(st.booleans())
    both("sort", x, axis=axis, descending=descending)
    both("argsort", x, axis=axis, descending=descending)
    both("cumulative_sum", x, axis=axis, include_initial=data.draw(st.booleans()), units=64)
    both("diff", x, axis=axis)
    for name in ("nonzero", "unique_values", "unique_counts", "unique_inverse", "tril", "triu"):
        if x.ndim >= 2 or not name.startswith("tri"):
            both(name, x)
    line = ts.sort(ts.reshape(x, (-1,)))
    both("searchsorted", line, ts.reshape(x, (-1,)), side=data.draw(st.sampled_from(["left", "right"])))
    both("take", x, ts.asarray([0, -1 % x.shape[axis]]), axis=axis)
    both("clip", x, data.draw(st.integers(0, 3)), data.draw(st.integers(4, 9)))
    both("where", x > x, x, x[..., ::-1])


@given(data=st.data())
def test_creation(data):
    start, stop = data.draw(st.integers(-50, 50)), data.draw(st.integers(-50, 50))
    step = data.draw(st.sampled_from([1, 2, -3, 0.5]))
    dtype = data.draw(st.sampled_from(["float32", "float64", "int32", "int64"]))
    assume(not (dtype.startswith("int") and step == 0.5))
    for name, args in (("arange", (start, stop, step)), ("linspace", (start, stop, abs(start))),
                       ("full", ((2, abs(start) % 4), stop)), ("eye", (abs(start) % 6, abs(stop) % 6))):
        if name == "linspace" and dtype.startswith("int"):
            continue
        got = getattr(ts, name)(*args, dtype=dtype)
        agree(got, getattr(strict, name)(*args, dtype=getattr(strict, dtype)), units=64)


@pytest.mark.parametrize("name", FFT)
@given(data=st.data())
def test_transform(name, data):
    shapes = xps.array_shapes(min_dims=1, max_dims=2, min_side=2, max_side=6)
    kinds = "f" if name in ("rfft", "rfftn", "ihfft") else "fc" if "shift" in name else "c"
    x = data.draw(arrays(kinds, shapes))
    names = {} if "shift" in name else {"norm": data.draw(st.sampled_from(["backward", "ortho", "forward"]))}
    both(f"fft.{name}", x, units=64, **names)


@given(data=st.data())
def test_linear_algebra(data):
    n = data.draw(st.integers(1, 4))
    x = data.draw(xps.arrays("float64", (n, n), elements=st.integers(-8, 8).map(float)))
    x = x + 40 * ts.eye(n)  # far from singular
    y = data.draw(xps.arrays("float64", (n, 2), elements=st.integers(-8, 8).map(float)))
    hermitian = x + x.T
    for name in "det inv pinv svdvals matrix_norm matrix_rank slogdet trace diagonal".split():
        both(f"linalg.{name}", x, units=4096)
    for name in ("cholesky", "eigvalsh"):
        both(f"linalg.{name}", hermitian, units=4096)
    both("linalg.solve", x, y, units=4096)
    both("linalg.matrix_power", x, data.draw(st.integers(-2, 3)), units=4096)
    order = data.draw(st.sampled_from([1, 2, 3, np.inf, -np.inf]))
    both("linalg.vector_norm", x, axis=0, ord=order, units=64)
    both("linalg.outer", x[0, :], y[:, 0])
    for name in ("matmul", "vecdot"):
        both(name, x, x, units=64)
    both("tensordot", x, y, axes=1, units=64)
    q, r = ts.linalg.qr(x)
    np.testing.assert_allclose(np.asarray(q @ r), np.asarray(x), rtol=1e-12, atol=1e-9)
    u, s, vh = ts.linalg.svd(x)
    np.testing.assert_allclose(np.asarray((u * s) @ vh), np.asarray(x), rtol=1e-12, atol=1e-9)
