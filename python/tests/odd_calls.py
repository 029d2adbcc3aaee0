"""Calls every function of the package with objects that it did not ask for. Whatever happens is an exception:
the process must end by itself, with status 0.

    PYTHONPATH=build/python python3 python/tests/odd_calls.py [CALLS] [SEED]

The last line of the log on stderr is the call that a crash is due to.
"""
import faulthandler
import os
import random
import resource
import sys
import tempfile

import tessera as ts

faulthandler.enable()


class Index:
    """An index that is not one, or not the same twice."""

    def __init__(self, *values):
        self.values = list(values)

    def __index__(self):
        value = self.values.pop(0) if len(self.values) > 1 else self.values[0]
        if isinstance(value, Exception):
            raise value
        return value


class Liar:
    """A sequence whose length is not how many items it has."""

    def __init__(self, said, real):
        self.said, self.real = said, real

    def __len__(self):
        return self.said

    def __getitem__(self, i):
        if i < self.real:
            return i
        raise IndexError(i)


class Shrinking(list):
    """A list that loses its items while it is read."""

    def __iter__(self):
        while self:
            yield self.pop()

    def __getitem__(self, i):
        self.clear()
        return 1


class Raises:
    """Everything that is asked of it fails."""

    def __getattribute__(self, name):
        raise RuntimeError(name)

    def __len__(self):
        raise RuntimeError("len")

    def __iter__(self):
        raise RuntimeError("iter")

    def __bool__(self):
        raise RuntimeError("bool")


class Protocols:
    """An object of another library that gives what it likes."""

    def __init__(self, given):
        self.given = given

    def __dlpack__(self, **names):
        return self.given

    def __arrow_c_array__(self, requested_schema=None):
        return self.given

    def __arrow_c_stream__(self, requested_schema=None):
        return self.given

    def __array__(self, *args, **names):
        return self.given

    def __float__(self):
        return self.given

    def item(self):
        return self.given

    dtype = "float64"
    __array_interface__ = {"shape": (5,), "typestr": "<f8", "data": (1, False), "version": 3}


class Text(str):
    pass


class Whole(int):
    def __index__(self):
        return 1 << 70


def cyclic():
    out = []
    out.append(out)
    return out


def deep():
    out = 1.0
    for _ in range(2000):
        out = [out]
    return out


X = ts.asarray([[1.0, 2.0], [3.0, 4.0]])
MAKERS = [
    lambda: None, object, Raises, cyclic, deep, dict, set, list, tuple, bytes, lambda: "", lambda: "f32",
    lambda: "text\0more", lambda: "\ud800", lambda: Text("axis"), lambda: b"bytes", lambda: bytearray(5),
    lambda: memoryview(b"123")[::2], lambda: True, lambda: 0, lambda: 1, lambda: 2, lambda: 3, lambda: -1,
    lambda: 17, lambda: 2**31, lambda: 2**63, lambda: -2**63, lambda: 10**30, lambda: Whole(3), lambda: 0.5,
    lambda: -0.0, lambda: float("nan"), lambda: float("inf"), lambda: 1e308, lambda: 1j,
    lambda: complex("nan"), lambda: Index(1), lambda: Index(0, 5, 2**40), lambda: Index(ValueError("no")),
    lambda: Index("text"), lambda: Liar(3, 0), lambda: Liar(0, 3), lambda: Liar(2**40, 2),
    lambda: Liar(-1, 1),
    lambda: Shrinking([1, 2, 3]), lambda: range(3), lambda: iter([1, 2]),
    lambda: slice(None), lambda: slice(2**70, "a", 0), lambda: Ellipsis, lambda: int, lambda: len, lambda: ts,
    lambda: ts.float32, lambda: ts.bool, lambda: ts.Array, lambda: "cpu", lambda: "cuda:99",
    lambda: X, lambda: X.copy(), lambda: X.T, lambda: X[:, 0], lambda: X[0, 0], lambda: X[::-1],
    lambda: ts.zeros((0, 3)), lambda: ts.zeros(()), lambda: ts.ones(3, dtype="bool"),
    lambda: ts.asarray([0, 1, 2]), lambda: ts.asarray([5, -9, 2**62]), lambda: ts.ones(4, dtype="bfloat16"),
    lambda: ts.ones((2, 2), dtype="complex64"), lambda: ts.ones((1,) * 16),
    lambda: ts.broadcast_to(X, (3, 2, 2)),
    lambda: ts.asarray(memoryview(bytes(8))), lambda: [X, X], lambda: (X,), lambda: [1, [2]], lambda: (1, 2),
    lambda: (0, -1), lambda: ("a", None), lambda: {"x": X}, lambda: X.__dlpack__(),
    lambda: X[0].__arrow_c_array__(), lambda: Protocols(None), lambda: Protocols(X.__dlpack__()),
    lambda: Protocols((1, 2)), lambda: Protocols(X), lambda: Protocols(2.5), lambda: Protocols("a"),
]
NAMES = ["axis", "axes", "dtype", "out", "keepdims", "device", "copy", "shape", "n", "k", "x", "nonsense",
         "mode", "stride", "padding", "correction", "seed", "max_version", "dl_device", "stream", "requested_schema"]
NOT_CALLED = {"set_threads", "save", "convert", "plot"}  # these do what they are told, to files and threads


def functions():
    places = [ts, ts.ops, ts.linalg, ts.fft, ts.random, ts._tessera, ts.random.Generator(1),
              ts.__array_namespace_info__()]
    for place in places:
        for name in dir(place):
            f = getattr(place, name)
            hidden = name.startswith("__") and place is not ts._tessera
            if callable(f) and name not in NOT_CALLED and not hidden:
                yield name, f
    for name in dir(ts.Array):
        f = getattr(ts.Array, name)
        if callable(f) and name not in ("__class__", "__init_subclass__", "__subclasshook__", "__new__"):
            yield f"Array.{name}", f


def call_all(calls, choice):
    log = sys.stderr.fileno() if not sys.stderr.isatty() else os.open(os.devnull, os.O_WRONLY)
    known = sorted(functions(), key=lambda f: f[0])
    raised = 0
    for i in range(calls):
        name, f = known[i % len(known)]
        args = [choice.choice(MAKERS)() for _ in range(choice.choice([0, 1, 1, 2, 2, 3, 4, 5]))]
        if choice.random() < 0.6 and args:
            args[0] = X.copy()
        names = {choice.choice(NAMES): choice.choice(MAKERS)() for _ in range(choice.choice([0, 0, 0, 1, 2]))}
        line = f"{i} {name} {[type(a).__name__ for a in args]} {sorted(names)}\n"
        os.write(log, line.encode())
        try:
            out = f(*args, **names)
            if isinstance(out, ts.Array) and out.size < 1000:
                repr(out)
        except Exception:
            raised += 1
    if float(ts.sum(ts.ones(10) + 1)) != 20:
        sys.exit("sums are wrong afterwards")
    print(f"{calls} calls of {len(known)} functions, {raised} exceptions")


def main():
    given = [int(a) for a in sys.argv[1:]]
    calls, seed = given + [3000, 1][len(given):]
    if "LD_PRELOAD" not in os.environ:  # a sanitizer needs room, and has a limit of its own
        resource.setrlimit(resource.RLIMIT_AS, (6 << 30, 6 << 30))
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)  # where files of odd names may be made
        call_all(calls, random.Random(seed))
        os.chdir("/")


main()
