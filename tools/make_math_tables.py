#!/usr/bin/env python3
"""Prints the tables of src/cpu/simd/tables.inc, or those named:

    pip install mpmath
    tools/make_math_tables.py            # all: a minute
    tools/make_math_tables.py erf        # one

An interval's polynomial goes through a point (x, y) at which the function is a float, or a multiple of a
power of two, to many bits more than a float has: nothing is lost where the terms are smallest. Floats near
the middle of the interval are tried until enough are such points, and the one whose rounded polynomial is
best is taken. The other coefficients interpolate at Chebyshev's points. Every choice follows from the
interval: two runs print the same."""
import random
import struct
import sys

import mpmath as mp

mp.mp.dps = 30
NEAR = mp.mpf(2) ** -29.5       # how nearly the function is a float there
TABLE = 32


def bits(x):
    return struct.unpack("I", struct.pack("f", x))[0]


def from_bits(b):
    return struct.unpack("f", struct.pack("I", b))[0]


def nearest(x):
    return from_bits(bits(float(mp.mpf(x)))) if abs(x) > 1e-30 else 0.0


def interpolate(g, low, high, n):
    """n coefficients of the polynomial that is g at Chebyshev's points of [low, high]."""
    points = [(low + high) / 2 + (high - low) / 2 * mp.cos(mp.pi * (2 * k + 1) / (2 * n)) for k in range(n)]
    powers = mp.matrix([[p ** c for c in range(n)] for p in points])
    return list(mp.lu_solve(powers, mp.matrix([g(p) for p in points])))


def coefficients(f, low, high, degree, x, less):
    """Of (f(x + u) - f(x)) / u - less, as floats."""
    at_x = f(mp.mpf(x))

    def slope(u):
        if abs(u) < mp.mpf(10) ** -15:
            u = mp.mpf(10) ** -12
        return (f(mp.mpf(x) + u) - at_x) / u - less

    return [nearest(c) for c in interpolate(slope, mp.mpf(low) - x, mp.mpf(high) - x, degree)]


def error(f, low, high, x, y, rest, less):
    """The largest relative one, at 25 places."""
    worst = 0
    for k in range(25):
        a = mp.mpf(low) + (mp.mpf(high) - low) * k / 24
        if a == 0:
            continue
        u = a - x
        value = y + u * (mp.polyval([mp.mpf(c) for c in rest[::-1]], u) + less)
        worst = max(worst, abs((value - f(a)) / f(a)))
    return worst


def fit(f, low, high, degree, x, y, less=0):
    rest = coefficients(f, low, high, degree, x, less)
    return error(f, low, high, x, y, rest, less), [x, y] + rest


def fit_near_middle(f, low, high, degree, tries, grid=None, middle=None):
    """Through the best of `tries` points that chance finds. grid: y is a multiple of it, and else a float."""
    middle = middle or (mp.mpf(low) + high) / 2
    sign = -1 if middle < 0 else 1
    center = bits(nearest(abs(middle)))
    span = bits(nearest(abs(middle) + (high - low) / 12)) - center
    chance = random.Random(center)
    best = fallback = None
    tried = 0
    for _ in range(6000):
        x = sign * from_bits(center + chance.randint(-span, span))
        exact = f(mp.mpf(x))
        y = nearest(exact) if grid is None else float(mp.nint(exact / grid) * grid)
        if y == 0:
            continue
        off = abs((mp.mpf(y) - exact) / exact)
        if fallback is None or off < fallback[0]:
            fallback = (off, x, y)
        if off < NEAR:
            found = fit(f, low, high, degree, x, y)
            best = found if best is None or found[0] < best[0] else best
            tried += 1
            if tried == tries:
                break
    return best or fit(f, low, high, degree, fallback[1], fallback[2])


def fit_on_grid(f, low, high, degree, grid):
    """The same where multiples of the grid are few: x is the float at which f is nearest to one."""
    middle, width = (mp.mpf(low) + high) / 2, (mp.mpf(high) - low) / 8
    first, last = int(mp.ceil(f(middle + width) / grid)), int(mp.floor(f(middle - width) / grid))
    found = []
    for multiple in range(first, last + 1, max(1, (last - first + 1) // 160)):
        y, x = multiple * grid, middle
        for _ in range(6):
            x -= (f(x) - y) / mp.diff(f, x)
        x = nearest(x)
        found.append((abs((f(mp.mpf(x)) - y) / f(mp.mpf(x))), x, float(y)))
    found.sort()
    return min((fit(f, low, high, degree, x, y) for _, x, y in found[:4]), key=lambda r: r[0])


def by_octaves(f, degree, lowest, top, less):
    """Four intervals in an octave from 2^lowest on; the first begins with 0, and has `less` less in t[2]."""
    columns = {}
    for i in range(TABLE):
        octave = mp.mpf(2) ** (lowest + i // 4)
        low, high = octave * (1 + mp.mpf(i % 4) / 4), octave * (1 + mp.mpf(i % 4 + 1) / 4)
        at = bits(float(low)) >> 21 & 31
        high = min(high, mp.mpf(top))
        if low >= top:
            continue
        columns[at] = (fit(f, 0, high, degree, 0.0, 0.0, less) if i == 0
                       else fit_near_middle(f, low, high, degree, 12))
    return columns


def by_multiples(f, degree, length, signed=False, chance_to=0, less=0):
    """Around multiples of a length. From interval 1 to chance_to, y is a multiple of the last place of
    numbers in the interval that chance finds; after it, of those looked for."""
    columns = {}
    for i in range(TABLE):
        k = i - TABLE if signed and i >= TABLE // 2 else i
        middle = mp.mpf(k) * length
        low, high = middle - mp.mpf(length) / 2, middle + mp.mpf(length) / 2
        if k == 0:
            columns[i] = fit(f, low if signed else mp.mpf(0), high, degree, 0.0, nearest(f(mp.mpf(0))), less)
            if not signed:
                columns[i][1][2] = 0  # the slope is `less`, so that small numbers keep all bits
            continue
        grid = None if signed else mp.mpf(2) ** (mp.floor(mp.log(high, 2)) - 23)
        if grid is not None and k >= chance_to:
            columns[i] = fit_on_grid(f, low, high, degree, grid)
        else:
            columns[i] = fit_near_middle(f, low, high, degree, 12 if signed else 24, grid,
                                         low * 1.35 if k == 1 and not signed else None)
    return columns


def gelu_tanh_part(a):
    return a / (1 + mp.exp(2 * mp.sqrt(2 / mp.pi) * (a + mp.mpf("0.044715") * a ** 3)))


TABLES = {
    "tanh": lambda: by_octaves(mp.tanh, 6, -4, 9.02, 1),
    "erf": lambda: by_octaves(mp.erf, 6, -5, 3.93, 1),
    "logistic": lambda: by_multiples(lambda x: 1 / (1 + mp.exp(-x)), 6, 0.5, signed=True),
    "silu": lambda: by_multiples(lambda a: a / (1 + mp.exp(a)), 5, 0.25, chance_to=21, less=0.5),
    "gelu": lambda: by_multiples(lambda a: a * mp.erfc(a / mp.sqrt(2)) / 2, 5, 0.125, chance_to=24, less=0.5),
    "gelu_tanh": lambda: by_multiples(gelu_tanh_part, 5, 0.125, chance_to=24, less=0.5),
}


def text_of(value):
    if value == 0:
        return "0"
    mantissa, exponent = value.hex().split("p")
    return f"{mantissa.rstrip('0').rstrip('.')}p{int(exponent)}f"


def text(name, columns):
    terms = max(len(numbers) for _, numbers in columns.values())
    lines = [f"static const float {name}_table[{terms}][{TABLE}] = {{"]
    for t in range(terms):
        line = "    { "
        for i in range(TABLE):
            number = text_of(columns[i][1][t]) if i in columns else "0"
            number += ", " if i < TABLE - 1 else " },"
            if len(line) + len(number) > 110:
                lines.append(line.rstrip())
                line = "      "
            line += number
        lines.append(line)
    return "\n".join(lines + ["};"])


def main():
    for name in sys.argv[1:] or TABLES:
        columns = TABLES[name]()
        worst = max(w for w, _ in columns.values())
        print(f"{name}: relative error below 2^{mp.nstr(mp.log(worst, 2), 4)}", file=sys.stderr)
        print(text(name, columns))


if __name__ == "__main__":
    main()
