"""What a call costs, beside NumPy in the same run.

    PYTHONPATH=build/python python3 python/tests/overhead.py
"""
import timeit

import numpy as np

import tessera as ts

CASES = {
    "a + b, 4 elements": "a + b",
    "add(a, b), 4 elements": "xp.add(a, b)",
    "a + 1.0": "a + 1.0",
    "a += b": "a.__iadd__(b)",
    "sum of 4": "xp.sum(a)",
    "m[1:3]": "m[1:3]",
    "m[:, 1]": "m[:, 1]",
    "m.T": "m.T",
    "permute_dims": "xp.permute_dims(m, (1, 0))",
    "reshape": "xp.reshape(m, (-1,))",
    "m[1, 2]": "m[1, 2]",
    "float(m[1, 2])": "float(m[1, 2])",
    "m[1, 2] = 3.0": "m[1, 2] = 3.0",
    "zeros(4)": "xp.zeros(4)",
    "asarray([1., 2., 3., 4.])": "xp.asarray([1., 2., 3., 4.])",
}


def nanoseconds(statement, xp):
    names = {"xp": xp, "a": xp.ones(4), "b": xp.ones(4), "m": xp.ones((4, 4))}
    timer = timeit.Timer(statement, globals=names)
    return min(timer.repeat(15, 10000)) / 10000 * 1e9


def main():
    print(f"{'':28}{'tessera':>9}{'numpy':>9}{'ratio':>8}")
    for name, statement in CASES.items():
        ours, theirs = nanoseconds(statement, ts), nanoseconds(statement, np)
        print(f"{name:28}{ours:7.0f}ns{theirs:7.0f}ns{ours / theirs:8.2f}")


main()
