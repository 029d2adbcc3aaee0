"""The command tsr against NumPy: files it wrote, statistics, and random expressions.

    python check_cli_numpy.py TSR WORK [SEED [COUNT]]

Prints one line a failure and the count of what held; the exit status is 1 if something failed.
"""
import json
import os
import random
import subprocess
import sys
import warnings

import numpy as np

TSR, WORK = sys.argv[1], sys.argv[2]
SEED = int(sys.argv[3]) if len(sys.argv) > 3 else 1
COUNT = int(sys.argv[4]) if len(sys.argv) > 4 else 120
warnings.filterwarnings("ignore")
np.seterr(all="ignore")
held = failed = 0


def expect(ok, what):
    global held, failed
    held += bool(ok)
    failed += not ok
    if not ok:
        print("FAILED against NumPy:", what)


def path(name):
    return os.path.join(WORK, name)


def run(*words):
    return subprocess.run([TSR, *words], capture_output=True, text=True)


def answer(*words):
    return json.loads(run(*words, "--json").stdout)


def check_files(rng):
    """npy in every order and byte order, npz stored and deflated: shape, dtype, values."""
    for code in "?bBhHiIlLefdFD":
        x = (rng.standard_normal((3, 4, 5)) * 100).astype(code)
        for order, y in (("C", x), ("F", np.asfortranarray(x)), ("big", x.astype(x.dtype.newbyteorder(">")))):
            np.save(path("x.npy"), y)
            np.savez_compressed(path("x.npz"), x=y)
            got = answer("show", path("x.npy") + "[1, ::-2, ..., 1:3]")[0]
            parts = [2] if x.dtype.kind == "c" else []
            values = np.array(got["values"], dtype=object).reshape(got["shape"] + parts)
            want = x[1, ::-2, ..., 1:3]
            want = np.stack([want.real, want.imag], -1) if x.dtype.kind == "c" else want
            expect(got["shape"] == list(x[1, ::-2, ..., 1:3].shape)
                   and (values.astype(want.dtype) == want).all(), f"show {x.dtype} {order}")
            expect(run("diff", path("x.npy"), path("x.npz")).returncode == 0,
                   f"npy and npz of {x.dtype} {order}")
            run("convert", path("x.npz"), path("y.npz"), "--force")
            expect((np.load(path("y.npz"))["x"] == x).all(), f"npz written {x.dtype} {order}")


def check_stats(rng):
    for code in "efdbBhHiIlL?":
        x = (rng.standard_normal(3001) * 90).astype(code)
        if x.dtype.kind == "f":
            x[5], x[6] = 0, -0.0
        np.save(path("s.npy"), x)
        got, y = answer("stats", path("s.npy"), "--exact")[0], x.astype("f8")
        quantiles = np.quantile(y, [q["q"] for q in got["quantiles"]])
        expect(got["min"] == x.min() and got["max"] == x.max() and got["zero"] == (x == 0).sum(),
               f"extremes of {x.dtype}")
        expect(np.isclose(got["mean"], y.mean()) and np.isclose(got["std"], y.std()), f"moments of {x.dtype}")
        expect(np.allclose([q["value"] for q in got["quantiles"]], quantiles, rtol=1e-12),
               f"quantiles of {x.dtype}")


def check_hard_stats(rng):
    """Large means with small deviations, the ends of the range, and numbers that are not finite, in runs."""
    for code in "efdhil":
        x = rng.standard_normal(70001)
        floats = code in "efd"
        small, large = ((1, 0), (1, 1000), (3, 30000)), ((1, 0), (1, 1e6), (1e4, 1e8), (1e-30, 0))
        for scale, mean in small if code in "eh" else large:
            for broken in (False, True) if floats else (False,):
                y = (x * scale + mean).astype(code)
                if broken:
                    y[::7], y[3], y[2048], y[-1] = np.nan, np.inf, -np.inf, np.nan
                np.save(path("s.npy"), y)
                got, wide = answer("stats", path("s.npy"))[0], y.astype("f8")
                finite = wide[np.isfinite(wide)]
                what = f"{y.dtype} of {scale} about {mean}{' with NaN' if broken else ''}"
                expect(got["nan"] == np.isnan(wide).sum() and got["inf"] == np.isinf(wide).sum(),
                       f"counts of {what}")
                expect(np.isclose(got["mean"], finite.mean(), rtol=1e-12, atol=1e-12 * scale),
                       f"mean of {what}")
                expect(np.isclose(got["std"], finite.std(), rtol=1e-9, atol=0), f"std of {what}")
    np.save(path("s.npy"), np.tile([1e308, -1e308], 3000))
    got = answer("stats", path("s.npy"))[0]
    expect(abs(got["mean"]) < 1e292 and got["std"] is None, "moments beyond a double")
    for value in (np.nan, np.inf):
        np.save(path("s.npy"), np.full(5000, value, "f4"))
        got = answer("stats", path("s.npy"))[0]
        expect(got["nan"] + got["inf"] == 5000 and got["mean"] is None, f"nothing but {value}")


def check_short_stats(rng):
    """Bytes and floats of 16 bits, in whole runs: of one sign, of both, of zeros, with infinities and NaN."""
    x = rng.standard_normal(9001).astype("f4")
    holes = np.where(np.arange(x.size) == 5000, np.nan, np.where(x > 2, -np.inf, x)).astype("f4")
    for what, y in (("both", x), ("negative", -abs(x) - 1), ("positive", abs(x) + 1), ("zeros", x * 0),
                    ("holes", holes)):
        for dtype in ("f16", "bf16", "i8", "u8"):
            ends = (-128, 127) if dtype == "i8" else (0, 255)
            z = {"f16": lambda: y.astype("f2"), "bf16": lambda: (y.view("u4") & 0xffff0000).view("f4")}.get(
                dtype, lambda: np.clip(np.nan_to_num(y) * 50, *ends).astype(dtype[0] + "1"))()
            np.save(path("s.npy"), z)
            run("convert", path("s.npy"), path("s.safetensors"), "--force", "--dtype", dtype)
            got, wide = answer("stats", path("s.safetensors"))[0], z.astype("f8")
            finite, numbers = wide[np.isfinite(wide)], wide[~np.isnan(wide)]
            expect(got["dtype"] == dtype and got["zero"] == (wide == 0).sum()
                   and got["nan"] == np.isnan(wide).sum()
                   and (np.isinf(numbers.min()) or got["min"] == numbers.min())
                   and got["max"] == numbers.max(), f"extremes of {what}, {dtype}")
            expect(np.isclose(got["mean"], finite.mean(), rtol=1e-13, atol=1e-15)
                   and np.isclose(got["std"], finite.std(), rtol=1e-12), f"moments of {what}, {dtype}")


def check_short_diff(rng):
    """The table of several tensors, whose loops for short dtypes are others than those of a single pair."""
    x = np.rint(rng.standard_normal(9001) * 18).astype("f4")
    y = np.rint(x * 1.5)
    y[700:1900], y[4000] = x[700:1900], -100
    x, y = abs(x), abs(y)
    for dtype, sign in (("f16", -1), ("bf16", -1), ("i8", -1), ("u8", 1), ("f32", -1)):
        x[::3], y[::3] = sign * abs(x[::3]), sign * abs(y[::3])
        for name, z in (("a", x), ("b", y)):
            np.savez(path("s.npz"), v=z, w=z[:600])
            run("convert", path("s.npz"), path(name + ".safetensors"), "--force", "--dtype", dtype)
        rows = run("diff", path("a.safetensors"), path("b.safetensors")).stdout.splitlines()
        row = next((r.split() for r in rows if r.startswith("v ")), [0] * 5)
        relative = np.linalg.norm(x.astype("f8") - y) / np.linalg.norm(y.astype("f8"))
        expect(f"{relative:.3g}" == row[1] and float(row[3]) == abs(x - y).max()
               and int(row[4]) == (x != y).sum(), f"diff of {dtype}: {row}")


def make_slice(rnd, shape):
    """A random subscript for a shape, as text."""
    def bound(n):
        return rnd.choice(["", str(rnd.randint(-n - 2, n + 2))])
    parts = []
    for n in shape[:rnd.randint(0, len(shape))]:
        if n and rnd.random() < 0.3:
            parts.append(str(rnd.randint(-n, n - 1)))
        else:
            step = rnd.choice(["", ":", ":1", ":-1", ":2", ":-3", ":100"])
            parts.append(f"{bound(n)}:{bound(n)}{step}")
    if rnd.random() < 0.3:
        parts.insert(rnd.randint(0, len(parts)), "None")
    if rnd.random() < 0.3:
        parts.insert(rnd.randint(0, len(parts)), "...")
    return ", ".join(parts) or "..."


def check_slices(rng):
    x = rng.integers(0, 1000, (5, 1, 4, 6))
    np.save(path("x.npy"), x)
    np.savez(path("x.npz"), x=x.astype(">i4"))
    rnd = random.Random(SEED)
    for _ in range(60):
        part = make_slice(rnd, x.shape)
        try:
            want = eval(f"x[{part}]", {"x": x})
        except IndexError:
            expect(run("show", f"{path('x.npy')}[{part}]").returncode == 3, f"[{part}] is refused")
            continue
        for name in ("x.npy", "x.npz:x"):
            got = answer("show", f"{path(name)}[{part}]")
            ok = (got and got[0]["shape"] == list(want.shape) and
                  np.array_equal(np.array(got[0]["values"]).reshape(want.shape), want))
            expect(ok, f"{name}[{part}]")


def check_pieces(rng):
    """Tensors that are read in several pieces."""
    x = rng.standard_normal((11, 1000, 401)).astype("f4")
    y = x.copy()
    y[4, 200, 396] += 1
    np.save(path("x.npy"), x)
    np.save(path("y.npy"), np.asfortranarray(y))
    for part in ("...", "::2, ::-1, 5:", "4", ":, 200, ::-1", "None, 1:, ..., -1"):
        got, want = answer("stats", f"{path('x.npy')}[{part}]")[0], eval(f"x[{part}]", {"x": x}).astype("f8")
        expect(got["count"] == want.size and np.isclose(got["mean"], want.mean(), rtol=1e-9)
               and got["max"] == want.max()
               and np.isclose(got["std"], want.std(), rtol=1e-9)
               and sum(got["histogram"]["counts"]) == want.size, f"pieces of [{part}]")
        expect(np.allclose([q["value"] for q in got["quantiles"]],
                           np.quantile(want, [q["q"] for q in got["quantiles"]])), f"quantiles of [{part}]")
        got = answer("diff", f"{path('x.npy')}[{part}]", f"{path('y.npy')}[{part}]")["tensors"][0]
        differ = int((eval(f"x[{part}]", {"x": x}) != eval(f"x[{part}]", {"x": y})).sum())
        expect(got["differ"] == differ and (not differ or got["abs"]["index"] == [4, 200, 396]),
               f"diff of [{part}]")


def check_long_integers(rng):
    """Of which doubles do not hold all."""
    a = rng.integers(2**62, size=3000)
    b = a + 1
    np.save(path("a.npy"), a)
    np.save(path("b.npy"), b)
    got = answer("diff", path("a.npy"), path("b.npy"))["tensors"][0]
    expect(got["changed"] == 3000 and got["abs"]["size"] == 1, "long integers one apart")


def check_diff(rng):
    a = rng.standard_normal((50, 60)).astype("f4")
    b = a.copy()
    b[7, 9] = np.nextafter(b[7, 9], np.float32(9))
    b[30, 40] += 0.25
    np.save(path("a.npy"), a)
    np.save(path("b.npy"), b)
    got = answer("diff", path("a.npy"), path("b.npy"))["tensors"][0]
    expect(got["differ"] == 2 and got["abs"]["index"] == [30, 40], "where two differ")
    expect(np.isclose(got["abs"]["size"], abs(float(a[30, 40]) - float(b[30, 40]))), "the largest error")
    expect(run("diff", path("a.npy") + "[7]", path("b.npy") + "[7]", "--ulp", "1").returncode == 0,
           "one ulp allowed")
    expect(run("diff", path("a.npy") + "[7]", path("b.npy") + "[7]").returncode == 1, "one ulp not allowed")


def check_distances(rng):
    """Relative L2, cosine, largest errors and counts, in whole runs and others, with and without NaN."""
    for code in "efdbBhIlLFD":
        a = (rng.standard_normal((37, 411)) * 50).astype(code)
        b = a.copy()
        b[3, 5:9] = b[3, 5:9] * 3 + 1
        b[30] = rng.standard_normal(411).astype(code)
        np.save(path("a.npy"), a)
        np.save(path("b.npy"), b)
        got = answer("diff", path("a.npy"), path("b.npy"))["tensors"][0]
        x, y = (v.astype("c16").ravel() for v in (a, b))
        far, size = np.linalg.norm(x - y), np.linalg.norm(y)
        cosine = (x * y.conj()).real.sum() / np.linalg.norm(x) / size
        expect(np.isclose(got["relative_l2"], far / size, rtol=1e-9), f"relative L2 of {a.dtype}")
        expect(np.isclose(got["cosine"], cosine, rtol=1e-9), f"cosine of {a.dtype}")
        expect(got["changed"] == got["differ"] == (a != b).sum(), f"changes of {a.dtype}")
        if a.dtype.kind == "c":
            continue
        errors = np.abs(a.astype("f8") - b.astype("f8"))
        expect(np.isclose(got["abs"]["size"], errors.max(), rtol=1e-12), f"largest error of {a.dtype}")
        where = errors > 0.5 + 0.01 * np.abs(b.astype("f8"))
        got = answer("diff", path("a.npy"), path("b.npy"), "--atol", "0.5", "--rtol", "0.01")["tensors"][0]
        expect(got["differ"] == where.sum(), f"tolerances of {a.dtype}: {got['differ']}, not {where.sum()}")
        if a.dtype.kind == "f":
            b[20, 20], b[21, 21], a[22, 22] = np.nan, np.inf, np.nan
            np.save(path("a.npy"), a)
            np.save(path("b.npy"), b)
            got = answer("diff", path("a.npy"), path("b.npy"))["tensors"][0]
            expect(got["nan"] == 2 and got["changed"] == (a != b).sum(), f"NaN of {a.dtype}")


def weak(function):
    """What is made of numbers alone is a number that takes on any dtype, as in tsr eval."""
    def call(*args, **more):
        number = all(isinstance(x, (bool, int, float)) for x in args)
        result = function(*args, **more)
        return result.item() if number and np.ndim(result) == 0 else result
    return call


def softmax(x, axis=-1):
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def make_expression(rnd, depth):
    """A random expression over a .. z; NumPy decides whether it means anything."""
    def more():
        return make_expression(rnd, depth - 1)
    k = rnd.random()
    if depth <= 0 or k < 0.15:
        return rnd.choice("a b c d a m u 2 0.5 3 -1 1e2".split())
    if k < 0.45:
        return f"({more()} {rnd.choice('+ - * / + - * // % ** == < >= !='.split())} {more()})"
    if k < 0.5:
        return f"-({more()})"
    if k < 0.6:
        return f"{rnd.choice('sqrt exp sin tanh isnan logical_not arctan'.split())}({more()})"
    if k < 0.7:
        how = rnd.choice(["", "axis=0", "axis=-1", "axis=1, keepdims=True", "0"])
        return f"{rnd.choice('ad')}.{rnd.choice('sum mean max min std prod argmax any'.split())}({how})"
    if k < 0.8:
        part = rnd.choice(["0", "-1", "1:", "::2", "...,-1", "None", "::-1", ":, 1:3", "..., None", "[0,-1]",
                           "1, ::-2"])
        return f"{rnd.choice('aduc')}[{part}]"
    if k < 0.85:
        return f"where({more()} > 0, {more()}, {more()})"
    if k < 0.9:
        return rnd.choice(["a @ a.T", "a.T @ c", "d @ a.T", 'einsum("ij,kj->ik", a, a)', "softmax(a, axis=0)",
                           "a.reshape(2, 6).T", "concatenate([a, a * 2], axis=1)", "stack((a, a))",
                           "transpose(d, (2, 0, 1))", "clip(a, -0.5, 0.5)", "cumsum(d, axis=1)",
                           "sort(a, axis=0)", "a[m]", "d.shape[0] * a", "maximum(a, b)", "c.astype(float)",
                           "arange(4) * 1.0", "eye(3)", "zeros((3, 1))", "z * z", "abs(z)", "z.real"])
    return more()


def check_expressions(rng):
    values = {"a": rng.standard_normal((3, 4)), "b": rng.standard_normal(4).astype("f4"),
              "c": rng.integers(-5, 6, (3, 1)), "d": rng.standard_normal((2, 3, 4)),
              "m": rng.random((3, 4)) > 0.5, "u": rng.integers(0, 200, (3, 4), dtype="u1"),
              "z": rng.standard_normal((3, 4)) + 1j * rng.standard_normal((3, 4))}
    for name, x in values.items():
        np.save(path(name + ".npy"), x)
    names = ("sqrt exp abs sin tanh isnan logical_not arctan where einsum concatenate stack transpose clip "
             "cumsum sort maximum arange eye zeros").split()
    scope = {**{name: weak(getattr(np, name)) for name in names}, "softmax": softmax, **values}
    rnd = random.Random(SEED)
    for _ in range(COUNT):
        text = make_expression(rnd, 3)
        try:
            want = np.asarray(eval(text, dict(scope)))
        except Exception:  # what NumPy refuses, tsr may take or refuse
            want = None
        done = run("eval", text, *[f"{name}={path(name + '.npy')}" for name in values], "-o", path("out.npy"),
                   "--force")
        if want is None:
            expect(done.returncode in (0, 1, 2), f"{text}: exit status {done.returncode}")
            continue
        if done.returncode != 0:
            expect(False, f"{text}: {done.stderr.splitlines()[:1]}")
            continue
        got = np.load(path("out.npy"))
        close = got.shape == want.shape and np.allclose(got.astype("c16"), want.astype("c16"),
                                                        rtol=2e-3 if want.dtype == "f2" else 1e-4, atol=1e-6,
                                                        equal_nan=True)
        expect(close and got.dtype == want.dtype,
               f"{text}: {got.dtype}{got.shape}, not {want.dtype}{want.shape}")


generator = np.random.default_rng(SEED)
check_files(generator)
check_stats(generator)
check_hard_stats(generator)
check_short_stats(generator)
check_short_diff(generator)
check_slices(generator)
check_pieces(generator)
check_diff(generator)
check_long_integers(generator)
check_distances(generator)
check_expressions(generator)
print(f"{held} held, {failed} failed against NumPy {np.__version__}")
sys.exit(failed > 0)
