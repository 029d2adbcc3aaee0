"""The tables of special cases of the standard's elementwise and statistical functions, row by row."""
import math

import pytest

import tessera as ts

inf, nan, pi = math.inf, math.nan, math.pi

# Function, argument, result. Where the standard allows an approximation, the nearest number is meant.
ONE = """
abs nan nan, abs -0. 0., abs -inf inf
acos nan nan, acos 1.5 nan, acos -1.5 nan, acos 1 0.
acosh nan nan, acosh 0.5 nan, acosh 1 0., acosh inf inf
asin nan nan, asin 1.5 nan, asin -1.5 nan, asin 0. 0., asin -0. -0.
asinh nan nan, asinh 0. 0., asinh -0. -0., asinh inf inf, asinh -inf -inf
atan nan nan, atan 0. 0., atan -0. -0., atan inf pi/2, atan -inf -pi/2
atanh nan nan, atanh -1.5 nan, atanh 1.5 nan, atanh -1 -inf, atanh 1 inf, atanh 0. 0., atanh -0. -0.
ceil nan nan, ceil inf inf, ceil -inf -inf, ceil 0. 0., ceil -0. -0., ceil -0.5 -0.
cos nan nan, cos 0. 1, cos -0. 1, cos inf nan, cos -inf nan
cosh nan nan, cosh 0. 1, cosh -0. 1, cosh inf inf, cosh -inf inf
exp nan nan, exp 0. 1, exp -0. 1, exp inf inf, exp -inf 0.
expm1 nan nan, expm1 0. 0., expm1 -0. -0., expm1 inf inf, expm1 -inf -1
floor nan nan, floor inf inf, floor -inf -inf, floor 0. 0., floor -0. -0.
log nan nan, log -1 nan, log 0. -inf, log -0. -inf, log 1 0., log inf inf
log1p nan nan, log1p -2 nan, log1p -1 -inf, log1p -0. -0., log1p 0. 0., log1p inf inf
log2 nan nan, log2 -1 nan, log2 0. -inf, log2 -0. -inf, log2 1 0., log2 inf inf
log10 nan nan, log10 -1 nan, log10 0. -inf, log10 -0. -inf, log10 1 0., log10 inf inf
negative nan nan, negative 0. -0., negative inf -inf
reciprocal nan nan, reciprocal inf 0., reciprocal -inf -0., reciprocal 0. inf, reciprocal -0. -inf
round nan nan, round 0. 0., round -0. -0., round inf inf, round 0.5 0., round 1.5 2, round 2.5 2
round -0.5 -0.
sign nan nan, sign 0. 0., sign -0. 0., sign 5 1, sign -5 -1
sin nan nan, sin 0. 0., sin -0. -0., sin inf nan, sin -inf nan
sinh nan nan, sinh 0. 0., sinh -0. -0., sinh inf inf, sinh -inf -inf
sqrt nan nan, sqrt -1 nan, sqrt 0. 0., sqrt -0. -0., sqrt inf inf
tan nan nan, tan 0. 0., tan -0. -0., tan inf nan, tan -inf nan
tanh nan nan, tanh 0. 0., tanh -0. -0., tanh inf 1, tanh -inf -1
trunc nan nan, trunc inf inf, trunc -inf -inf, trunc 0. 0., trunc -0. -0., trunc -0.5 -0.
"""
TWO = """
add nan 1 nan, add inf -inf nan, add -inf inf nan, add inf inf inf, add -inf 1 -inf, add 1 inf inf
add -0. -0. -0.
add -0. 0. 0., add 0. -0. 0., add 1 -1 0., add 0. 0. 0.
atan2 nan 1 nan, atan2 1 nan nan, atan2 1 0. pi/2, atan2 1 -0. pi/2, atan2 0. 1 0., atan2 0. 0. 0.
atan2 0. -0. pi, atan2 0. -1 pi, atan2 -0. 1 -0., atan2 -0. 0. -0., atan2 -0. -0. -pi, atan2 -0. -1 -pi
atan2 -1 0. -pi/2, atan2 -1 -0. -pi/2, atan2 1 inf 0., atan2 1 -inf pi, atan2 -1 inf -0., atan2 -1 -inf -pi
atan2 inf 1 pi/2, atan2 -inf 1 -pi/2, atan2 inf inf pi/4, atan2 inf -inf 3*pi/4, atan2 -inf inf -pi/4
atan2 -inf -inf -3*pi/4
copysign 1 -0. -1, copysign nan 1 nan, copysign 0. -1 -0., copysign -0. 0. 0., copysign 1 nan 1
divide nan 1 nan, divide inf inf nan, divide 0. 0. nan, divide -0. 0. nan, divide 0. 1 0., divide 0. -1 -0.
divide -0. 1 -0., divide 1 0. inf, divide 1 -0. -inf, divide -1 0. -inf, divide -1 -0. inf, divide inf 1 inf
divide inf -1 -inf, divide -inf 1 -inf, divide 1 inf 0., divide 1 -inf -0., divide -1 inf -0.
floor_divide nan 1 nan, floor_divide inf inf nan, floor_divide 0. 0. nan, floor_divide 0. 1 0.
floor_divide 0. -1 -0., floor_divide -0. 1 -0., floor_divide -0. -1 0., floor_divide 1 0. inf
floor_divide 1 -0. -inf, floor_divide -1 0. -inf, floor_divide -1 -0. inf, floor_divide 1 inf 0.
floor_divide 1 -inf -0., floor_divide -1 inf -0., floor_divide -1 -inf 0., floor_divide inf 1 inf
floor_divide inf -1 -inf, floor_divide -inf 1 -inf, floor_divide -inf -1 inf
hypot inf nan inf, hypot nan -inf inf, hypot 1 nan nan, hypot nan 1 nan, hypot 0. -3 3, hypot -0. 3 3
logaddexp nan 1 nan, logaddexp inf nan nan, logaddexp inf 1 inf
maximum nan 1 nan, maximum 1 nan nan, maximum 1 2 2, minimum nan 1 nan, minimum 1 nan nan, minimum 1 2 1
multiply nan 1 nan, multiply inf 0. nan, multiply inf -0. nan, multiply 0. inf nan, multiply inf inf inf
multiply inf -inf -inf, multiply inf -1 -inf, multiply -0. 1 -0., multiply -0. -1 0.
nextafter 1 1 1, nextafter nan 1 nan, nextafter 1 nan nan, nextafter -0. 0. 0.
pow 2 nan nan, pow nan 0. 1, pow nan -0. 1, pow nan 1 nan, pow 2 inf inf, pow 2 -inf 0., pow 1 inf 1
pow -1 -inf 1, pow 1 nan 1, pow 0.5 inf 0., pow 0.5 -inf inf, pow inf 2 inf, pow inf -2 0., pow -inf 3 -inf
pow -inf 2 inf, pow -inf -3 -0., pow -inf -2 0., pow 0. 2 0., pow 0. -2 inf, pow -0. 3 -0., pow -0. 2 0.
pow -0. -3 -inf, pow -0. -2 inf, pow -8 0.5 nan
remainder nan 1 nan, remainder inf 1 nan, remainder -inf inf nan, remainder 0. 0. nan, remainder 0. 1 0.
remainder -0. 1 0., remainder 0. -1 -0., remainder -0. -1 -0., remainder 1 0. nan, remainder 1 -0. nan
remainder 1 inf 1, remainder 1 -inf -inf, remainder -1 inf inf, remainder -1 -inf -1
subtract inf inf nan, subtract -0. 0. -0., subtract 0. 0. 0.
"""


def rows(table):
    return [row.split() for line in table.strip().split("\n") for row in line.split(", ")]


def number(text):
    return float(eval(text, {"inf": inf, "nan": nan, "pi": pi}))


def check(got, want, dtype):
    got, want = float(got), float(ts.asarray(want, dtype=dtype))
    assert math.isnan(got) if math.isnan(want) else got == want
    assert math.isnan(want) or math.copysign(1, got) == math.copysign(1, want)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_one_argument(dtype):
    for name, x, want in rows(ONE):
        arrays = ts.asarray(number(x), dtype=dtype), ts.full(37, number(x), dtype=dtype)  # also in vectors
        for array in arrays:
            got = getattr(ts, name)(array)
            check(got if got.ndim == 0 else got[-1], number(want), dtype)
            assert got.dtype is array.dtype


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_two_arguments(dtype):
    for name, x, y, want in rows(TWO):
        for shape in ((), (37,)):
            got = getattr(ts, name)(*(ts.full(shape, number(v), dtype=dtype) for v in (x, y)))
            check(got if got.ndim == 0 else got[-1], number(want), dtype)


@pytest.mark.parametrize("name, x, want", [
    ("sum", [], 0), ("sum", [1, nan], nan), ("prod", [], 1), ("prod", [1, nan], nan), ("mean", [], nan),
    ("mean", [1, nan], nan), ("max", [1, nan], nan), ("min", [1, nan], nan), ("std", [1], 0), ("var", [1], 0),
    ("std", [1, nan], nan), ("var", [1, nan], nan), ("any", [], 0), ("all", [], 1),
])
def test_statistics(name, x, want):
    for dtype in ("float32", "float64"):
        check(ts.astype(getattr(ts, name)(ts.asarray(x, dtype=dtype)), dtype), want, dtype)


def test_statistics_of_too_few():
    assert math.isnan(float(ts.var(ts.asarray([1.0]), correction=1)))
    for name in ("max", "min", "argmax", "argmin"):
        with pytest.raises(ValueError):
            getattr(ts, name)(ts.zeros(0))
