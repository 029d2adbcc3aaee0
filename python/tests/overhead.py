"""What a call costs, beside NumPy and PyTorch, in turns in the same run: a table for docs/performance.md.

    PYTHONPATH=build/python python3 python/tests/overhead.py
"""
import timeit

import numpy as np

import tessera as ts

try:
    import torch
    torch.set_num_threads(1)
    torch.set_default_dtype(torch.float64)
except ImportError:
    torch = None

CASES = {
    "`a + b`, 4 elements": "a + b",
    "`add(a, b)`": "xp.add(a, b)",
    "`a + 1.0`": "a + 1.0",
    "`a += b`": "a.__iadd__(b)",
    "`sum(a)`": "xp.sum(a)",
    "`m[1:3]`": "m[1:3]",
    "`m[:, 1]`": "m[:, 1]",
    "`m[0]`": "m[0]",
    "`m.T`": "m.T",
    "`permute_dims(m, (1, 0))`": "permute(m, (1, 0))",
    "`reshape(m, (-1,))`": "xp.reshape(m, (-1,))",
    "`m[1, 2]`": "m[1, 2]",
    "`float(m[1, 2])`": "float(m[1, 2])",
    "`m[1, 2] = 3.0`": "m[1, 2] = 3.0",
    "`zeros(4)`": "xp.zeros(4)",
    "`asarray([1., 2., 3., 4.])`": "xp.asarray([1., 2., 3., 4.])",
}
CALLS, TURNS = 2000, 40


def timer(statement, xp):
    names = {"xp": xp, "a": xp.ones(4), "b": xp.ones(4), "m": xp.ones((4, 4)),
             "permute": xp.permute if xp is torch else xp.permute_dims}
    return timeit.Timer(statement, globals=names)


def main():
    libraries = [ts, np] + ([torch] if torch else [])
    print("| call | ours | NumPy | ours / NumPy |" + (" PyTorch |" if torch else ""))
    print("|---|" + "---:|" * (len(libraries) + 1))
    for name, statement in CASES.items():
        timers = [timer(statement, xp) for xp in libraries]
        turns = [[t.timeit(CALLS) / CALLS * 1e9 for t in timers] for _ in range(TURNS)]
        ours, theirs, *others = (min(times) for times in zip(*turns))
        words = [f"{ours:.0f} ns", f"{theirs:.0f} ns", f"{ours / theirs:.2f}"]
        words += [f"{t:.0f} ns" for t in others]
        print(f"| {name} | {' | '.join(words)} |")


main()
