"""InfiniOP's face as its Python front end meets it: loaded with ctypes, every name looked up, and
operators run on NumPy's memory.

    infiniop_ctypes.py FOLDER     the folder with libinfiniop.so, libinfinirt.so and libinfiniccl.so
"""
import ctypes
import os
import sys

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
DTYPES = {"bool": 2, "int8": 3, "int16": 4, "int32": 5, "int64": 6, "uint8": 7, "uint16": 8, "uint32": 9,
          "uint64": 10, "float16": 12, "float32": 13, "float64": 14, "complex64": 17, "complex128": 18}
failures = []
done = 0


class Tensor:
    """An array and its descriptor, with the array's own strides."""

    def __init__(self, lib, array):
        self.lib, self.array, self.desc = lib, array, ctypes.c_void_p()
        n = array.ndim
        shape = (ctypes.c_uint64 * n)(*array.shape)
        strides = (ctypes.c_int64 * n)(*[s // array.itemsize for s in array.strides])
        dtype = DTYPES[array.dtype.name]
        assert lib.infiniopCreateTensorDescriptor(ctypes.byref(self.desc), n, shape, strides, dtype) == 0

    def data(self):
        return ctypes.c_void_p(self.array.ctypes.data)

    def destroy(self):
        assert self.lib.infiniopDestroyTensorDescriptor(self.desc) == 0


class Front:
    def __init__(self, folder):
        self.rt = ctypes.CDLL(os.path.join(folder, "libinfinirt.so"))
        self.op = ctypes.CDLL(os.path.join(folder, "libinfiniop.so"))
        self.ccl = ctypes.CDLL(os.path.join(folder, "libinfiniccl.so"))
        self.op.infiniopCreateTensorDescriptor.argtypes = [
            ctypes.c_void_p, ctypes.c_uint64, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int]
        self.handle = ctypes.c_void_p()
        assert self.rt.infinirtSetDevice(0, 0) == 0
        assert self.op.infiniopCreateHandle(ctypes.byref(self.handle)) == 0

    def find(self, name):
        return next((getattr(lib, name) for lib in (self.op, self.rt, self.ccl) if hasattr(lib, name)), None)

    def run(self, name, arrays, create=(), extra=(), workspace=True):
        """Creates with the arrays' descriptors and the numbers, destroys those, runs on the data. An
        array that is None is left out."""
        tensors = [None if a is None else Tensor(self.op, a) for a in arrays]
        desc = ctypes.c_void_p()
        status = self.find(f"infiniopCreate{name}Descriptor")(
            self.handle, ctypes.byref(desc), *[t and t.desc for t in tensors], *create)
        for t in tensors:
            if t:
                t.destroy()
        if status:
            return status
        head = [desc]
        if workspace:
            size = ctypes.c_uint64(1)
            assert self.find(f"infiniopGet{name}WorkspaceSize")(desc, ctypes.byref(size)) == 0
            head += [None, ctypes.c_uint64(size.value)]
        data = [t and t.data() for t in tensors]
        status = self.find(f"infiniop{name}")(*head, *data, *extra, None)
        assert self.find(f"infiniopDestroy{name}Descriptor")(desc) == 0
        return status


def near(name, status, got, want, tol=1e-5):
    global done
    done += 1
    same_shape = got.shape == np.shape(want)
    if status != 0 or not same_shape or not np.allclose(got.astype(np.float64), want, rtol=tol, atol=tol):
        failures.append(f"{name}: status {status}")


def silu(x):
    return x / (1 + np.exp(-x))


def check_names(front):
    global done
    with open(os.path.join(HERE, "infiniop_symbols.txt")) as f:
        names = f.read().split()
    missing = [n for n in names if front.find(n) is None]
    failures.extend(f"missing: {n}" for n in missing)
    done += len(names)
    print(f"{len(names) - len(missing)} of {len(names)} names found")


def check_operators(front):
    rng = np.random.default_rng(1)
    f32 = lambda *shape: rng.standard_normal(shape).astype(np.float32)
    real = ctypes.c_float

    a, b, c = f32(13, 4), f32(4, 13).T, np.zeros((13, 4), np.float32)
    for name, fn in (("Add", np.add), ("Sub", np.subtract), ("Mul", np.multiply)):
        near(name, front.run(name, [c, a, b]), c, fn(a, b))
    near("SwiGLU", front.run("SwiGLU", [c, a, b]), c, a * silu(b))
    for name, fn in (("Relu", lambda x: np.maximum(x, 0)), ("Sigmoid", lambda x: 1 / (1 + np.exp(-x))),
                     ("Tanh", np.tanh), ("Silu", silu), ("Ones", np.ones_like)):
        near(name, front.run(name, [c, a]), c, fn(a))
    half, half_out = a.astype(np.float16), np.zeros((13, 4), np.float16)
    near("Silu f16", front.run("Silu", [half_out, half]), half_out, silu(half.astype(np.float32)), 2e-3)
    low, high = (np.broadcast_to(np.float32(v), c.shape) for v in (-0.5, 0.5))
    near("Clip", front.run("Clip", [c, a, low, high]), c, np.clip(a, -0.5, 0.5))

    src, dst = f32(5, 6, 7), np.zeros((7, 5, 6), np.float32)
    for view in (src, src[::-1, :, ::-1]):
        transposed = view.transpose(2, 0, 1)
        near("Rearrange", front.run("Rearrange", [dst, transposed], workspace=False), dst, transposed, 0)

    m, k, n = 9, 33, 7
    x, w, y = f32(2, m, k), f32(2, n, k).transpose(0, 2, 1), f32(2, m, n)
    want = 0.5 * (x @ w) + 2 * y
    near("Gemm", front.run("Gemm", [y, x, w], extra=(real(0.5), real(2))), y, want, 1e-4)

    p, weight = np.zeros((4, 16), np.float32), f32(16)
    x = f32(4, 16)
    near("RMSNorm", front.run("RMSNorm", [p, x, weight], (real(1e-5),)), p,
         x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-5) * weight)
    e = np.exp(x - x.max(0))
    near("Softmax", front.run("Softmax", [p, x], (ctypes.c_int(0),)), p, e / e.sum(0))
    s = f32(2, 4, 6)
    seen = np.where(np.arange(6) <= np.arange(4)[:, None] + 2, s, -np.inf)
    e = np.exp(seen - seen.max(-1, keepdims=True))
    o = np.zeros_like(s)
    near("CausalSoftmax", front.run("CausalSoftmax", [o, s]), o, e / e.sum(-1, keepdims=True))

    seq, heads, d = 5, 2, 8
    q, out = f32(seq, heads, d), np.zeros((seq, heads, d), np.float32)
    pos = np.arange(3, 3 + seq).astype(np.int32)
    sin, cos = f32(20, d // 2), f32(20, d // 2)
    rotated = np.empty_like(q)
    sp, cp = sin[pos][:, None, :], cos[pos][:, None, :]
    rotated[..., 0::2] = q[..., 0::2] * cp - q[..., 1::2] * sp
    rotated[..., 1::2] = q[..., 0::2] * sp + q[..., 1::2] * cp
    near("RoPE", front.run("RoPE", [out, q, pos, sin, cos], (ctypes.c_int(0),)), out, rotated)

    logits, drawn = f32(100), np.zeros((), np.int64)
    how = (real(0.3), real(0.9), ctypes.c_int(1), real(1))
    near("RandomSample", front.run("RandomSample", [drawn, logits], extra=how), drawn, logits.argmax())

    v, r = f32(50)[::2], np.zeros((), np.float32)
    near("Nrm2", front.run("Nrm2", [v, r]), r, np.linalg.norm(v))
    place = np.zeros((), np.int32)
    near("BlasAmax", front.run("BlasAmax", [v, place]), place, np.abs(v).argmax() + 1)

    image, kernel, bias = f32(2, 3, 8, 8), f32(4, 3, 3, 3), f32(4)
    result = np.zeros((2, 4, 4, 4), np.float32)
    padded = np.pad(image, ((0, 0), (0, 0), (1, 1), (1, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), (2, 3))[:, :, ::2, ::2]
    sizes = [(ctypes.c_int64 * 2)(v, v) for v in (1, 2, 1)]
    near("Conv", front.run("Conv", [result, image, kernel, bias],
                           (*[ctypes.cast(z, ctypes.c_void_p) for z in sizes], ctypes.c_size_t(2))),
         result, np.einsum("nchwij,ocij->nohw", windows, kernel) + bias[:, None, None], 1e-4)

    xq, wq = rng.integers(-128, 128, (6, 20), np.int8), rng.integers(-128, 128, (20, 5), np.int8)
    xs, ws, got = np.abs(f32(6, 1)), np.abs(f32(5)), np.zeros((6, 5), np.float16)
    near("I8Gemm", front.run("I8Gemm", [got, None, xq, xs * 1e-3, wq, ws]), got,
         (xq.astype(np.float64) @ wq) * xs * 1e-3 * ws, 2e-3)


def check_refusals(front):
    global done
    x = np.zeros((3, 4), np.float32)
    cases = [("shapes", front.run("Add", [x, x, np.zeros((4, 3), np.float32)]), 11),
             ("dtypes", front.run("Add", [x, x, x.astype(np.float16)]), 10),
             ("broadcast result", front.run("Relu", [np.broadcast_to(np.float32(0), (3, 4)), x]), 12),
             ("null", front.run("Add", [x, x, None]), 4),
             ("bits", front.run("AwqMarlinRepack", [x, x], (ctypes.c_int64(3), False)), 3),
             ("missing device", front.rt.infinirtSetDevice(3, 0), 5)]
    for name, got, want in cases:
        done += 1
        if got != want:
            failures.append(f"{name}: {got}, not {want}")


def main():
    front = Front(sys.argv[1])
    check_names(front)
    check_operators(front)
    check_refusals(front)
    for line in failures:
        print("FAILED", line)
    print(f"{done - len(failures)} passed, {len(failures)} failed, 0 skipped")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
