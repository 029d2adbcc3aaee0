#!/usr/bin/env python3
"""Prints src/cpu/special_tables.h:

    pip install mpmath
    tools/make_special_tables.py > src/cpu/special_tables.h      # a minute

A polynomial is in t from -1 to 1, the ends of its interval, and interpolates at Chebyshev's points."""
import mpmath as mp

mp.mp.dps = 40
ZEROS = range(2, 18)            # of lgamma beside -n; beyond, no double lies near one


def interpolate(f, low, high, n):
    places = [mp.cos(mp.pi * (2 * k + 1) / (2 * n)) for k in range(n)]
    powers = mp.matrix([[t ** c for c in range(n)] for t in places])
    return list(mp.lu_solve(powers, mp.matrix([f((low + high) / 2 + (high - low) / 2 * t) for t in places])))


def error(f, low, high, c):
    """The largest relative one of the rounded polynomial, at 60 places."""
    worst = mp.mpf(0)
    for k in range(60):
        t = mp.mpf(2 * k + 1) / 60 - 1
        exact = f((low + high) / 2 + (high - low) / 2 * t)
        worst = max(worst, abs(mp.polyval([mp.mpf(float(v)) for v in c[::-1]], t) / exact - 1))
    return mp.nstr(mp.log(worst, 2), 3)


def lgamma_rest(x):
    return mp.loggamma(x) / ((x - 1) * (x - 2))


def lgamma(x):
    return mp.log(abs(mp.gamma(x)))


FIRST_ZEROS = mp.findroot(lgamma, -2.457), mp.findroot(lgamma, -2.7477)


def lgamma_between_zeros(x):
    return lgamma(x) / ((x - FIRST_ZEROS[0]) * (x - FIRST_ZEROS[1]))


DIGAMMA_ZERO = mp.findroot(mp.digamma, 1.46)


def digamma_rest(x):
    return mp.digamma(x) / (x - DIGAMMA_ZERO)


def i0_scaled(u):
    x = 8 / u
    return mp.sqrt(x) * mp.exp(-x) * mp.besseli(0, x)


def erfinv_middle(s):
    return mp.erfinv(mp.sqrt(s)) / mp.sqrt(s)


def erfinv_tail(t):
    with mp.workdps(60):
        return mp.findroot(lambda y: mp.log(mp.erfc(y)) + t * t, t * mp.mpf("0.9")) / t


# name, words, function, ends, terms
POLYNOMIALS = [
    ("lgamma_half", "lgamma(x) / ((x - 1) (x - 2)), 1/2 to 1", lgamma_rest, "0.5", "1", 22),
    ("lgamma_one", "the same, 1 to 2", lgamma_rest, "1", "2", 22),
    ("lgamma_two", "the same, 2 to 3", lgamma_rest, "2", "3", 17),
    ("lgamma_pair_rest",
     "lgamma(x) / ((x - a) (x - b)) between its first zeros below 0, a and b: -89/32 to -39/16",
     lgamma_between_zeros, "-2.78125", "-2.4375", 26),
    ("digamma_one", "digamma(x) / (x - its zero), 1 to 2", digamma_rest, "1", "2", 24),
    ("i0_large", "sqrt(x) exp(-x) i0(x) in 8 / x, 0 to 1", i0_scaled, "0", "1", 24),
    ("erfinv_middle", "erfinv(x) / x in x^2, 0 to 9/16", erfinv_middle, "0", "0.5625", 24),
    ("erfinv_tail_0", "erfinv(x) / t in t = sqrt(-log(1 - x)), 37/32 to 15/8", erfinv_tail, "1.15625",
     "1.875", 16),
    ("erfinv_tail_1", "the same, 15/8 to 3", erfinv_tail, "1.875", "3", 17),
    ("erfinv_tail_2", "the same, 3 to 9/2", erfinv_tail, "3", "4.5", 16),
    ("erfinv_tail_3", "the same, 9/2 to 49/8", erfinv_tail, "4.5", "6.125", 16),
]

# For floats: to 2^-29.
COARSE = [
    ("coarse_lgamma_one", "lgamma(x) / ((x - 1) (x - 2)), 1 to 2", lgamma_rest, "1", "2", 11),
    ("coarse_digamma_one", "digamma(x) / (x - its zero), 1 to 2", digamma_rest, "1", "2", 12),
    ("coarse_i0_large", "sqrt(x) exp(-x) i0(x) in 8 / x, 0 to 1", i0_scaled, "0", "1", 9),
    ("coarse_erfinv_middle", "erfinv(x) / x in x^2, 0 to 9/16", erfinv_middle, "0", "0.5625", 12),
    ("coarse_erfinv_tail", "erfinv(x) / t in t = sqrt(-log(1 - x)), 37/32 to 33/8", erfinv_tail, "1.15625",
     "4.125", 15),
]


def rows(numbers):
    line, lines = "   ", []
    for number in numbers:
        if len(line) + len(number) + 2 > 108:
            lines.append(line)
            line = "   "
        line += f" {number},"
    return "\n".join(lines + [line])


def print_polynomial(name, words, f, low, high, n):
    low, high = mp.mpf(low), mp.mpf(high)
    c = interpolate(f, low, high, n)
    print(f"\n/* {words}; to 2^{error(f, low, high, c)}. */")
    print(f"static const double tsri_{name}[] = {{\n{rows(float(v).hex() for v in c)}\n}};")


def zero_beside(n, sign):
    """e with lgamma(-n + e) = 0, in two doubles; zeros where there is none."""
    if (n, sign) == (2, 1):
        return 0.0, 0.0
    near = 1 / mp.factorial(n)
    size = mp.findroot(lambda e: lgamma(-n + sign * e), (near / 2, min(near * 2, mp.mpf("0.49"))),
                       solver="anderson") * sign
    high = float(size)
    return high, float(size - high)


def main():
    print("/* special_tables.h - polynomials and zeros of special_math.h, made by "
          "tools/make_special_tables.py. */")
    print("#ifndef TSRI_SPECIAL_TABLES_H\n#define TSRI_SPECIAL_TABLES_H")
    for polynomial in POLYNOMIALS + COARSE:
        print_polynomial(*polynomial)
    high = float(DIGAMMA_ZERO)
    print("\n/* Where digamma is 0. */")
    print(f"#define TSRI_DIGAMMA_ZERO     {high.hex()}")
    print(f"#define TSRI_DIGAMMA_ZERO_LOW {float(DIGAMMA_ZERO - high).hex()}")
    print("\n/* lgamma is 0 at -n + e, in two doubles: for n from 2 to 17, e above 0 and below. */")
    print("static const double tsri_lgamma_zeros[][2][2] = {")
    for n in ZEROS:
        pairs = [zero_beside(n, sign) for sign in (1, -1)]
        print("    { " + ",\n      ".join(f"{{ {a.hex()}, {b.hex()} }}" for a, b in pairs) + " },")
    print("};\n\n#endif")


if __name__ == "__main__":
    main()
