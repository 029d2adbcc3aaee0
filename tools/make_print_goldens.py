#!/usr/bin/env python3
"""Writes tests/data/print/goldens.txt: arrays, and how NumPy prints them.

    python3 tools/make_print_goldens.py

Needs NumPy 2.3 or later and ml_dtypes. A case is four parts:

    case DTYPE SHAPE PRECISION LINE_WIDTH THRESHOLD EDGE_ITEMS SUPPRESS PREFIX
    data HEX            the elements in C order, little-endian, repeated to fill the shape
    text N              N lines follow
    ...

SHAPE is 2,3 or "-" for rank 0; PREFIX is how far the text is indented. NumPy has no
c32 and does not print ml_dtypes' types as floats; for those its layout code runs
over digits made here, with exact fractions. That digit code is first held against
NumPy's own on float16.
"""
from fractions import Fraction
import os
import random

import ml_dtypes
import numpy as np
from numpy._core import arrayprint

OUT = os.path.join(os.path.dirname(__file__), "..", "tests", "data", "print", "goldens.txt")

NAMES = {
    "bool": np.bool_, "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64,
    "u8": np.uint8, "u16": np.uint16, "u32": np.uint32, "u64": np.uint64,
    "f16": np.float16, "f32": np.float32, "f64": np.float64, "c64": np.complex64, "c128": np.complex128,
    "bf16": ml_dtypes.bfloat16, "f8e4m3": ml_dtypes.float8_e4m3fn, "f8e5m2": ml_dtypes.float8_e5m2,
    "c32": np.complex64,    # stored as pairs of float16
}
SHORT = ("bf16", "f8e4m3", "f8e5m2")


# Digits of short floats, by exact fractions -------------------------------------

def neighbours(x, dtype):
    """The positive value, and the points half-way to its neighbours, exactly."""
    bits = np.array([abs(float(x))]).astype(dtype).view(f"u{np.dtype(dtype).itemsize}")[0]
    here, below, above = (Fraction(float(v)) if np.isfinite(float(v)) else None for v in
                          (np.array([int(bits) + d], dtype=bits.dtype).view(dtype)[0] for d in (0, -1, 1)))
    if above is None:
        above = here + (here - below)
    return here, (here + below) / 2, (here + above) / 2, int(bits) % 2 == 0


def first_place(v):
    place = 0
    while v >= Fraction(10) ** (place + 1):
        place += 1
    while v < Fraction(10) ** place:
        place -= 1
    return place


def digits(x, dtype, cutoff, least):
    """(integer, place): the number is integer * 10**place. cutoff: the lowest place
    allowed; least: the highest place at which identified digits may end."""
    v, low, high, even = neighbours(x, dtype)
    place = first_place(v)
    if cutoff is not None:
        place = max(place, cutoff)
    while True:
        unit = Fraction(10) ** place
        down = v // unit
        rest = v - down * unit
        ok_down = low <= down * unit if even else low < down * unit
        ok_up = (down + 1) * unit <= high if even else (down + 1) * unit < high
        if ((ok_down or ok_up) and (least is None or place <= least)) or place == cutoff:
            break
        place -= 1
    if ok_down != ok_up:
        return int(down + ok_up), place
    half = unit / 2
    return int(down + (rest > half or (rest == half and down % 2 == 1))), place


def signed(x, sign):
    return "-" if np.signbit(np.float64(x)) else "+" if sign else ""


def split(x, dtype, precision, least):
    """Whole and fraction digits, the fraction without closing zeros."""
    if float(x) == 0:
        return "0", ""
    n, place = digits(x, dtype, None if precision < 0 else -precision, None if least is None else -least)
    text = str(n) + "0" * max(place, 0)
    places = max(-place, 0)
    text = text.rjust(places + 1, "0")
    return text[:len(text) - places], text[len(text) - places:].rstrip("0")


def positional(dtype):
    """All digits before the point are the number's own, also where NumPy only measures;
    for its own types that makes no difference below the threshold for exponents."""
    def format_it(x, precision=-1, unique=True, fractional=True, trim="k", sign=False, pad_left=-1,
                  pad_right=-1, min_digits=0):
        whole, fraction = split(x, dtype, precision, min_digits)
        text = (signed(x, sign) + whole).rjust(max(pad_left, 0)) + "."
        return text + fraction.ljust(max(pad_right, 0))
    return format_it


def scientific(dtype):
    def format_it(x, precision=-1, unique=True, trim="k", sign=False, pad_left=-1, exp_digits=-1,
                  min_digits=None):
        exponent, text = 0, "0"
        if float(x) != 0:
            exponent = first_place(abs(Fraction(float(x))))
            n, place = digits(x, dtype, None if precision < 0 else exponent - precision,
                              None if min_digits is None else exponent - min_digits)
            text = str(n)
            exponent = place + len(text) - 1
            text = text[0] + text[1:].rstrip("0")
        fraction = text[1:].ljust(precision, "0") if trim == "k" else text[1:]
        number = (signed(x, sign) + text[0]).rjust(max(pad_left, 0)) + "." + fraction
        return number + ("e-" if exponent < 0 else "e+") + str(abs(exponent)).rjust(max(exp_digits, 2), "0")
    return format_it


def check_digits_against_numpy():
    for bits in range(0, 0x7c00, 7):
        x = np.array([bits], np.uint16).view(np.float16)[0]
        for p in (-1, 0, 3, 8):
            a = arrayprint.dragon4_positional(x, precision=p, min_digits=0, unique=True, fractional=True,
                                              trim=".")
            b = positional(np.float16)(x, precision=p)
            assert a == b, (bits, p, a, b)
            a = arrayprint.dragon4_scientific(x, precision=p, unique=True, trim=".")
            b = scientific(np.float16)(x, precision=p, trim=".")
            assert a == b, (bits, p, a, b)


# Printing -------------------------------------------------------------------------

class ShortFormat(arrayprint.FloatingFormat):
    """NumPy's layout over our digits. The values are float32, which holds them all."""
    def __init__(self, data, dtype, precision, suppress, sign="-"):
        self.dtype = dtype
        self.with_ours(super().__init__, data, precision, "maxprec", suppress, sign=sign, legacy=10**9)

    def with_ours(self, call, *args, **kwargs):
        theirs = arrayprint.dragon4_positional, arrayprint.dragon4_scientific, np.finfo
        arrayprint.dragon4_positional = positional(self.dtype)
        arrayprint.dragon4_scientific = scientific(self.dtype)
        np.finfo = lambda _: theirs[2](np.float16)      # exponents from 1e3 on
        try:
            return call(*args, **kwargs)
        finally:
            arrayprint.dragon4_positional, arrayprint.dragon4_scientific, np.finfo = theirs

    def __call__(self, x):
        return self.with_ours(super().__call__, x)


def shown(a, o):
    return arrayprint._leading_trailing(a, o["edgeitems"]) if a.size > o["threshold"] else a


def pair(re, im, x):
    i = im(np.float16(x.imag))
    return re(np.float16(x.real)) + i.rstrip() + "j" + i[len(i.rstrip()):]


def bytes_of(name, a):
    return a.view(np.float32).astype(np.float16).tobytes() if name == "c32" else a.tobytes()


def text_of(name, a, o, prefix):
    options = dict(precision=o["precision"], max_line_width=o["linewidth"], threshold=o["threshold"],
                   edgeitems=o["edgeitems"], suppress_small=o["suppress"], prefix=" " * prefix)
    if name == "c32":
        part, rest = shown(a, o), (o["precision"], "maxprec", o["suppress"])
        re = arrayprint.FloatingFormat(part.real.astype(np.float16), *rest, legacy=10**9)
        im = arrayprint.FloatingFormat(part.imag.astype(np.float16), *rest, sign="+", legacy=10**9)
        return np.array2string(a, formatter={"complex_kind": lambda x: pair(re, im, x)}, **options)
    if name not in SHORT:
        return np.array2string(a, **options)
    wide = a.astype(np.float32)
    f = ShortFormat(shown(wide, o), NAMES[name], o["precision"], o["suppress"])
    return np.array2string(wide, formatter={"float_kind": f}, **options)


# Cases ----------------------------------------------------------------------------

DEFAULT = dict(precision=8, linewidth=75, threshold=32, edgeitems=3, suppress=False)
cases = []


def case(name, pattern, shape, prefix=0, **opts):
    """An array of this shape, filled with the pattern again and again."""
    o = {**DEFAULT, **opts}
    pattern = np.asarray(pattern, NAMES[name]).ravel()
    if name == "c32":
        pattern = pattern.view(np.float32).astype(np.float16).astype(np.float32).view(np.complex64)
    a = np.resize(pattern, shape) if pattern.size else np.zeros(shape, NAMES[name])
    text = text_of(name, a, o, prefix)
    lines = text.split("\n")
    entry = (f"case {name} {','.join(map(str, shape)) or '-'} {o['precision']} {o['linewidth']} "
             f"{o['threshold']} {o['edgeitems']} {int(o['suppress'])} {prefix}\n"
             f"data {bytes_of(name, pattern).hex()}\ntext {len(lines)}\n{text}\n")
    if entry not in cases:
        cases.append(entry)


def floats(rng, n, low, high):
    """n values of either sign whose sizes lie between 10**low and 10**high."""
    return [rng.choice((-1, 1, 1)) * rng.random() * 10 ** rng.uniform(low, high) for _ in range(n)]


def some_shape(rng, most=32):
    while True:
        shape = [rng.randint(1, 6) for _ in range(rng.randint(1, 4))]
        if np.prod(shape) <= most:
            return shape


def integer_cases(rng):
    for name in ("i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"):
        info = np.iinfo(NAMES[name])
        case(name, [info.min, info.max, 0, 1], (4,))
        case(name, [info.max], ())
        case(name, [], (0,))
        for _ in range(3):
            top = min(10 ** rng.randint(1, 18), int(info.max))
            values = [rng.randint(max(-top, int(info.min)), top) for _ in range(24)]
            case(name, values, some_shape(rng, 24))
        case(name, range(50), (50,))
        case(name, range(100), (10, 10))
        case(name, range(100), (200,), threshold=1000)
    case("bool", [True, False, True], (2, 3))
    case("bool", [True], ())
    case("bool", [False], ())
    case("bool", [True], (3,))
    case("bool", [True, False], (4, 20))


def special_cases(name):
    nan, inf = float("nan"), float("inf")
    inf = nan if name == "f8e4m3" else inf          # it has none
    for values in ([nan], [inf], [-inf], [nan, inf, -inf], [1, nan], [1.5, -inf], [1.25, inf], [0.0], [-0.0],
                   [0.0, -0.0, 1], [-1, nan], [100, nan, -0.0], [1e-6, nan], [-1e-7, inf, 1e2], [1, 2, 3],
                   [0.1, 0.2, 0.3], [-0.5, 0.25], [1000, 0.5], [0.001, 1], [0.001, 1.001], [0.0001],
                   [0.00009], [9.9e-5, 1], [1e2, 99.5], [1024, 1], [999, 1], [1000, 1],
                   [448, 1, 0.015625], [0, 0, 0]):
        case(name, values, (len(values),))
        case(name, values[:1], ())


def float_cases(rng, name):
    special_cases(name)
    for low, high in ((-1, 1), (-3, 3), (0, 0), (-8, -5), (2, 3), (-2, 0)):
        case(name, floats(rng, 24, low, high), some_shape(rng, 24))
        case(name, floats(rng, 7, low, high), (7,), precision=rng.choice((3, 1, 5, 12, 0)))
        case(name, floats(rng, 30, low, high), (6, 5), linewidth=rng.choice((20, 40, 200)))
    case(name, floats(rng, 20, -1, 1), (3, 4, 50))
    case(name, floats(rng, 20, -1, 1), (100,), edgeitems=2)
    case(name, floats(rng, 20, -1, 1), (7, 7, 7, 7), edgeitems=1)
    case(name, floats(rng, 20, -4, 0), (8,), suppress=True)
    case(name, floats(rng, 20, -4, 0), (8,), suppress=True, precision=2)
    case(name, [], (0,))
    case(name, [], (2, 0, 3))
    case(name, floats(rng, 64, -1, 1), (64,), threshold=100)
    case(name, [rng.randint(-20, 20) for _ in range(24)], (2, 3, 4))
    case(name, [rng.randint(-20, 20) / 8 for _ in range(24)], (2, 3, 4), prefix=8)


def wide_float_cases(rng, name):
    limit = np.finfo(NAMES[name])
    case(name, [limit.max, limit.tiny, -limit.smallest_subnormal, limit.eps], (4,))
    case(name, [limit.max], ())
    case(name, [limit.smallest_subnormal], ())
    case(name, [limit.smallest_subnormal], (1,), suppress=True)
    case(name, [0.1, 1 / 3, 2 / 3, 1e2 / 7], (2, 2), precision=16)
    case(name, [0.1, 1 / 3, 2 / 3, 1e4 / 7], (2, 2), precision=20)
    for e in range(-6, 10):
        if 10.0 ** e * 9.99 < limit.max:
            case(name, [10.0 ** e], (1,))
            case(name, [10.0 ** e, 1, 3], (3,))
            case(name, [9.9999999 * 10.0 ** e, 10.0 ** e / 3], (2,))
    # Ties at the last digit, and quotients that round to the threshold of a thousand.
    case(name, [0.5, 1.5, 2.5, 3.5], (4,), precision=1)
    case(name, [0.125, 0.375, 2.25, 0.0625], (4,), precision=2)
    step = np.nextafter(NAMES[name](1000), NAMES[name](2000))
    case(name, [step, 1], (2,))
    case(name, [step * NAMES[name](0.7), NAMES[name](0.7)], (2,))
    for base in np.arange(0.3, 0.9, 0.001).astype(NAMES[name]):
        much = base * NAMES[name](1000)
        if much / base == 1000 and np.float64(much) / np.float64(base) > 1000:
            case(name, [base, much], (2,))
            break
    for _ in range(6):
        base = NAMES[name](rng.uniform(0.3, 0.9))
        case(name, [base, base * NAMES[name](1000.3)], (2,))


def f64_cases(rng):
    case("f64", floats(rng, 24, -300, 300), (4, 6))
    case("f64", floats(rng, 24, 95, 105), (24,), precision=4)
    case("f64", [1e100, 1], (2,))
    case("f64", [1e-100, -1e-99], (2,))
    case("f64", [123456789.123, 1], (2,))
    case("f64", [99999999.0, 99999998.5], (2,))
    case("f64", [1e8, 1e8 - 1], (2,))


def complex_cases(rng, name):
    nan, inf = float("nan"), float("inf")
    for values in ([1 + 2j], [1.5 - 2j, -0.25 + 1j], [complex(nan, nan)], [complex(nan, inf), 1 + 1j],
                   [complex(1, -inf), complex(-inf, 2)], [0j], [complex(-0.0, -0.0)], [1e10 + 1j],
                   [1e-7j, 1 + 0j], [1, 2, 3], [1 + 1e9j, 2 - 1e9j], [complex(1, nan)],
                   [complex(inf, 0.5), 2]):
        case(name, values, (len(values),))
        case(name, values[:1], ())
    for low, high in ((-1, 1), (-3, 3), (-9, -6)):
        values = [complex(a, b) for a, b in zip(floats(rng, 24, low, high), floats(rng, 24, low, high))]
        case(name, values, some_shape(rng, 24))
        case(name, values, (5, 8))
        case(name, values, (6,), precision=3, linewidth=30)


def layout_cases(rng):
    for shape in ((1,), (1, 1), (1, 1, 1, 1), (33,), (32,), (2, 17), (17, 2), (7, 1, 7), (6, 6, 6),
                  (1, 40), (40, 1), (2, 2, 2, 2), (3, 0), (0, 3), (7, 7), (1, 7, 7), (1000,), (100, 100),
                  (9, 9, 9, 9), (2, 2, 2, 9, 1)):
        for name in ("i32", "f32"):
            case(name, range(-7, 60), shape)
    for width in (1, 5, 10, 11, 12, 13, 17, 18, 19, 20, 30, 74, 75, 76, 80):
        case("i64", [rng.randint(-999, 999) for _ in range(30)], (30,), linewidth=width)
        case("f32", [rng.randint(-99, 99) / 4 for _ in range(30)], (2, 15), linewidth=width)
        case("f64", [1, 2.5], (64,), linewidth=width, edgeitems=rng.randint(1, 6))
        case("i16", range(64), (64,), linewidth=width, edgeitems=4, prefix=5)
    for edge in (1, 2, 3, 5, 15, 16, 17, 40):
        case("i8", range(100), (33,), edgeitems=edge)
        case("u8", range(100), (33, 3), edgeitems=edge, threshold=10)


def main():
    rng = random.Random(20240229)
    check_digits_against_numpy()
    integer_cases(rng)
    for name in ("f16", "f32", "f64") + SHORT:
        float_cases(rng, name)
    for name in ("f16", "f32", "f64"):
        wide_float_cases(rng, name)
    f64_cases(rng)
    complex_cases(rng, "c32")
    complex_cases(rng, "c64")
    complex_cases(rng, "c128")
    layout_cases(rng)
    with open(OUT, "w", newline="\n") as out:
        out.write("\n".join(cases))
    print(f"{len(cases)} cases")


if __name__ == "__main__":
    with np.errstate(all="ignore"):
        main()
