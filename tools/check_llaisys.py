#!/usr/bin/env python3
"""LLAISYS' face from Python against NumPy; tools/check_llaisys.sh runs it.

    check_llaisys.py build/compat/llaisys/lib/libllaisys.so
"""
import ctypes as c
import os
import subprocess
import sys
import tempfile

import numpy as np

SYMBOLS = """tensorCreate tensorDestroy tensorGetData tensorGetNdim tensorGetShape tensorGetStrides
tensorGetDataType tensorGetDeviceType tensorGetDeviceId tensorDebug tensorIsContiguous tensorLoad tensorView
tensorPermute tensorSlice llaisysGetRuntimeAPI llaisysSetContextRuntime llaisysAdd llaisysArgmax
tensorReshape llaisysEmbedding llaisysLinear llaisysRearrange llaisysRmsNorm llaisysROPE llaisysSelfAttention
llaisysSwiGLU""".split()
I64, F16, F32, BF16 = 6, 12, 13, 19
H2D, D2H, D2D = 1, 2, 3
failures = checks = 0


def load(path):
    """The library from a folder of its own, where a package would keep it."""
    folder = tempfile.mkdtemp()
    link = os.path.join(folder, "libllaisys.so")
    os.symlink(os.path.abspath(path), link)
    lib = c.CDLL(link)
    os.unlink(link)
    os.rmdir(folder)
    for name in SYMBOLS:
        getattr(lib, name)
    lib.tensorCreate.argtypes = [c.POINTER(c.c_size_t), c.c_size_t, c.c_int, c.c_int, c.c_int]
    lib.tensorView.argtypes = [c.c_void_p, c.POINTER(c.c_size_t), c.c_size_t]
    lib.tensorPermute.argtypes = [c.c_void_p, c.POINTER(c.c_size_t)]
    lib.tensorSlice.argtypes = [c.c_void_p, c.c_size_t, c.c_size_t, c.c_size_t]
    lib.tensorGetShape.argtypes = [c.c_void_p, c.POINTER(c.c_size_t)]
    lib.tensorGetStrides.argtypes = [c.c_void_p, c.POINTER(c.c_ssize_t)]
    lib.tensorLoad.argtypes = [c.c_void_p, c.c_void_p]
    for name in ("tensorCreate", "tensorView", "tensorPermute", "tensorSlice", "tensorGetData"):
        getattr(lib, name).restype = c.c_void_p
    for name in ("tensorDestroy", "tensorGetData", "tensorGetNdim", "tensorIsContiguous", "tensorDebug"):
        getattr(lib, name).argtypes = [c.c_void_p]
    lib.tensorGetNdim.restype = c.c_size_t
    lib.tensorIsContiguous.restype = c.c_uint8
    for name, tensors, number in (("Add", 3, 0), ("Argmax", 3, 0), ("Embedding", 3, 0), ("Linear", 4, 0),
                                  ("Rearrange", 2, 0), ("RmsNorm", 3, 1), ("ROPE", 3, 1),
                                  ("SelfAttention", 4, 1), ("SwiGLU", 3, 0)):
        op = getattr(lib, "llaisys" + name)
        op.argtypes = [c.c_void_p] * tensors + [c.c_float] * number
        op.restype = None
    lib.llaisysGetRuntimeAPI.restype = c.POINTER(Table)
    return lib


class Table(c.Structure):
    copy = c.CFUNCTYPE(None, c.c_void_p, c.c_void_p, c.c_size_t, c.c_int)
    take, give = c.CFUNCTYPE(c.c_void_p, c.c_size_t), c.CFUNCTYPE(None, c.c_void_p)
    _fields_ = [("get_device_count", c.CFUNCTYPE(c.c_int)), ("set_device", c.CFUNCTYPE(None, c.c_int)),
                ("device_synchronize", c.CFUNCTYPE(None)), ("create_stream", c.CFUNCTYPE(c.c_void_p)),
                ("destroy_stream", give), ("stream_synchronize", give), ("malloc_device", take),
                ("free_device", give), ("malloc_host", take), ("free_host", give), ("memcpy_sync", copy),
                ("memcpy_async", c.CFUNCTYPE(None, c.c_void_p, c.c_void_p, c.c_size_t, c.c_int, c.c_void_p))]


def to_bf16(x):
    bits = np.ascontiguousarray(x, np.float32).view(np.uint32)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(np.uint16)


def from_bf16(x):
    return (x.astype(np.uint32) << 16).view(np.float32)


class Tensor:
    """A handle, as the system's own class has it."""

    def __init__(self, shape=None, dtype=F32, handle=None):
        self.dtype = dtype
        self.handle = handle or lib.tensorCreate((c.c_size_t * len(shape))(*shape), len(shape), dtype, 0, 0)

    def __del__(self):
        lib.tensorDestroy(self.handle)

    @staticmethod
    def of(array, dtype):
        t = Tensor(array.shape, dtype)
        raw = to_bf16(array) if dtype == BF16 else np.ascontiguousarray(array, KINDS[dtype])
        lib.tensorLoad(t.handle, raw.ctypes.data)
        return t

    def shape(self):
        out = (c.c_size_t * lib.tensorGetNdim(self.handle))()
        lib.tensorGetShape(self.handle, out)
        return tuple(out)

    def strides(self):
        out = (c.c_ssize_t * lib.tensorGetNdim(self.handle))()
        lib.tensorGetStrides(self.handle, out)
        return tuple(out)

    def array(self):
        kind = np.dtype(KINDS[self.dtype])
        span = 1 + sum(s * (n - 1) for n, s in zip(self.shape(), self.strides()))
        raw = np.zeros(span, kind)
        table.memcpy_sync(raw.ctypes.data, lib.tensorGetData(self.handle), span * kind.itemsize, D2D)
        seen = np.lib.stride_tricks.as_strided(raw, self.shape(), [s * kind.itemsize for s in self.strides()])
        return from_bf16(seen) if self.dtype == BF16 else np.array(seen)


KINDS = {I64: np.int64, F16: np.float16, F32: np.float32, BF16: np.uint16}
NAMES = {F16: "f16", F32: "f32", BF16: "bf16"}
lib = load(sys.argv[1])
table = lib.llaisysGetRuntimeAPI(0).contents
random = np.random.default_rng(0)


def check(good, what):
    global checks, failures
    checks += 1
    if not good:
        failures += 1
        print("FAILED:", what)


def close(got, want, tolerance, what):
    off = np.abs(got.astype(np.float64) - want) - tolerance * np.abs(want)
    check(got.shape == want.shape and np.all(off <= tolerance), f"{what}: off by {off.max():.3g}")


def held(array, dtype):
    """What the dtype makes of an array, in doubles."""
    if dtype == BF16:
        return from_bf16(to_bf16(array)).astype(np.float64)
    return array.astype(KINDS[dtype]).astype(np.float64)


def some(shape, dtype, scale=1.0):
    x = held(random.random(shape, np.float32) * np.float32(scale), dtype)
    return x, Tensor.of(x, dtype)


def tensors():
    a = np.arange(60, dtype=np.int64).reshape(3, 4, 5)
    t = Tensor.of(a, I64)
    view = Tensor(dtype=I64, handle=lib.tensorView(t.handle, (c.c_size_t * 2)(6, 10), 2))
    permuted = Tensor(dtype=I64, handle=lib.tensorPermute(t.handle, (c.c_size_t * 3)(2, 0, 1)))
    part = Tensor(dtype=I64, handle=lib.tensorSlice(t.handle, 2, 1, 4))
    for got, want in ((t, a), (view, a.reshape(6, 10)), (permuted, a.transpose(2, 0, 1)),
                      (part, a[:, :, 1:4])):
        check(np.array_equal(got.array(), want), "elements of a view")
        check(got.strides() == tuple(s // 8 for s in want.strides), "strides of a view")
        check(bool(lib.tensorIsContiguous(got.handle)) == want.flags["C_CONTIGUOUS"], "contiguity of a view")


def runtime():
    a, b = np.arange(256, dtype=np.uint8), np.zeros(256, np.uint8)
    p, q = table.malloc_device(256), table.malloc_device(256)
    table.memcpy_sync(p, a.ctypes.data, 256, H2D)
    table.memcpy_sync(q, p, 256, D2D)
    table.memcpy_sync(b.ctypes.data, q, 256, D2H)
    table.free_device(p)
    table.free_device(q)
    check(table.get_device_count() == 1 and np.array_equal(a, b), "copies of the runtime")


def elementwise(d, tolerance):
    for shape in ((2, 3), (512, 4096)):
        (a, ta), (b, tb), (_, tc) = some(shape, d), some(shape, d), some(shape, d)
        lib.llaisysAdd(tc.handle, ta.handle, tb.handle)
        close(tc.array(), held(a + b, d), min(tolerance, 1e-3), f"add {NAMES[d]}")
        lib.llaisysSwiGLU(tc.handle, ta.handle, tb.handle)
        close(tc.array(), b * a / (1 + np.exp(-a)), tolerance, f"swiglu {NAMES[d]}")
        weight, tw = some(shape[-1:], d)
        lib.llaisysRmsNorm(tc.handle, ta.handle, tw.handle, 1e-5)
        want = a / np.sqrt(np.mean(a * a, -1, keepdims=True) + 1e-5) * weight
        close(tc.array(), want, tolerance, f"rms_norm {NAMES[d]}")


def picking(d):
    for n in (4, 4096):
        a, ta = some((n,), d)
        place, value = Tensor((1,), I64), Tensor((1,), d)
        lib.llaisysArgmax(place.handle, value.handle, ta.handle)
        check(place.array()[0] == a.argmax() and value.array()[0] == a.max(), f"argmax {NAMES[d]}")
    w, tw = some((512, 64), d)
    index = random.integers(0, 512, 50)
    out, ti = Tensor((50, 64), d), Tensor.of(index, I64)
    lib.llaisysEmbedding(out.handle, ti.handle, tw.handle)
    check(np.array_equal(out.array(), w[index]), f"embedding {NAMES[d]}")
    copy = Tensor((50, 64), d)
    lib.llaisysRearrange(copy.handle, out.handle)
    check(np.array_equal(copy.array(), w[index]), f"rearrange {NAMES[d]}")


def linear(d, tolerance):
    for m, n, k in ((2, 3, 4), (64, 512, 4096)):
        (x, tx), (w, tw), (b, tb) = some((m, k), d, 0.1), some((n, k), d, 0.01), some((n,), d)
        out = Tensor((m, n), d)
        lib.llaisysLinear(out.handle, tx.handle, tw.handle, tb.handle)
        close(out.array(), x @ w.T + b, tolerance, f"linear {NAMES[d]}")
        lib.llaisysLinear(out.handle, tx.handle, tw.handle, None)
        close(out.array(), x @ w.T, tolerance, f"linear {NAMES[d]} without bias")


def rope(d, tolerance):
    """The angles are computed in f32, as the system's own test does."""
    for (seq, heads, dim), start in (((2, 1, 4), 0), ((512, 4, 4096), 512)):
        x, tx = some((seq, heads, dim), d)
        pos, half = np.arange(start, start + seq), dim // 2
        j = np.arange(half, dtype=np.float32)
        base = np.power(10000.0, (2 * j / np.float32(dim)).astype(np.float64)).astype(np.float32)
        angle = (pos.astype(np.float32)[:, None] / base).astype(np.float64)[:, None, :]
        a, b = x[..., :half], x[..., half:]
        sin, cos = np.sin(angle), np.cos(angle)
        want = np.concatenate([a * cos - b * sin, b * cos + a * sin], -1)
        out, tp = Tensor((seq, heads, dim), d), Tensor.of(pos, I64)
        lib.llaisysROPE(out.handle, tx.handle, tp.handle, 10000.0)
        close(out.array(), want, tolerance, f"rope {NAMES[d]}")


def attention(d, tolerance):
    for m, n, heads, kv, dim in ((2, 2, 1, 1, 4), (5, 11, 4, 2, 8), (33, 70, 8, 2, 64)):
        (q, tq), (k, tk), (v, tv) = some((m, heads, dim), d), some((n, kv, dim), d), some((n, kv, dim), d)
        group = [h // (heads // kv) for h in range(heads)]
        scores = np.einsum("ihd,jhd->hij", q, k[:, group]) / np.sqrt(dim)
        scores[:, np.tril(np.ones((m, n)), n - m) == 0] = -np.inf
        p = np.exp(scores - scores.max(-1, keepdims=True))
        out = Tensor((m, heads, dim), d)
        lib.llaisysSelfAttention(out.handle, tq.handle, tk.handle, tv.handle, dim ** -0.5)
        close(out.array(), np.einsum("hij,jhd->ihd", p / p.sum(-1, keepdims=True), v[:, group]), tolerance,
              f"self_attention {NAMES[d]}")


def endings():
    """A view that cannot be ends the process, or is NULL where the environment says so."""
    program = ("import ctypes as c, sys\nl = c.CDLL(sys.argv[1])\n"
               "l.tensorCreate.restype = l.tensorView.restype = c.c_void_p\n"
               "t = c.c_void_p(l.tensorCreate((c.c_size_t * 2)(2, 3), c.c_size_t(2), 13, 0, 0))\n"
               "print(l.tensorView(t, (c.c_size_t * 1)(5), c.c_size_t(1)))\n")
    for strict, good in ((None, lambda r: r.returncode < 0 and b"[ERROR]" in r.stderr),
                         ("0", lambda r: r.returncode == 0 and r.stdout == b"None\n")):
        env = {k: v for k, v in os.environ.items() if k != "LLAISYS_STRICT"}
        if strict:
            env["LLAISYS_STRICT"] = strict
        run = subprocess.run([sys.executable, "-c", program, sys.argv[1]], env=env, capture_output=True)
        check(good(run), f"a bad view with LLAISYS_STRICT={strict}")


tensors()
runtime()
for dtype, bound in ((F32, 1e-5), (F16, 1e-3), (BF16, 1e-2)):
    elementwise(dtype, bound)
    picking(dtype)
    linear(dtype, bound)
    rope(dtype, max(bound, 1e-4))
    attention(dtype, bound)
endings()
print(f"{checks - failures} passed, {failures} failed, 0 skipped")
sys.exit(failures != 0)
