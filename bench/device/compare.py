"""Times the CUDA plugin beside PyTorch on one GPU and prints one table.

    python3 compare.py LIBTESSERA.so

Both sides work on the same memory: PyTorch's tensors are borrowed. Times are medians of events
around single calls, after warming up. Every workload is checked before it is timed.
"""
import ctypes as C
import os
import sys

import torch

I64, VP = C.c_int64, C.c_void_p
TORCH = {torch.bool: 1, torch.uint8: 6, torch.int8: 2, torch.int32: 4, torch.int64: 5, torch.float16: 12, torch.bfloat16: 13,
         torch.float32: 14, torch.float64: 15}


class Desc(C.Structure):
    _fields_ = [("dtype", C.c_int32), ("ndim", C.c_int32), ("shape", I64 * 16), ("stride", I64 * 16)]


class Library:
    def __init__(self, path):
        self.c = C.CDLL(path)
        self.c.tsr_last_error.restype = C.c_char_p
        self.device = C.c_int32()
        self.call("tsr_device_parse", C.byref(self.device), b"cuda:0")
        self.begin, self.end = VP(), VP()
        for e in (self.begin, self.end):
            self.call("tsr_event_create", C.byref(e), self.device)

    def call(self, name, *args):
        status = getattr(self.c, name)(*args)
        if status:
            raise RuntimeError(f"{name}: {self.c.tsr_last_error().decode()}")

    def sync(self):
        self.call("tsr_device_sync", self.device)

    def borrow(self, t):
        """A tensor of ours over a tensor of PyTorch's."""
        storage, out = VP(), VP()
        base = t.untyped_storage()
        self.call("tsr_storage_borrow", C.byref(storage), VP(base.data_ptr()), C.c_size_t(base.nbytes()),
                  self.device, 4)
        d = Desc(TORCH[t.dtype], t.dim())
        for i in range(t.dim()):
            d.shape[i], d.stride[i] = t.shape[i], t.stride(i)
        offset = t.data_ptr() - base.data_ptr()
        self.call("tsr_from_storage", C.byref(out), storage, C.c_size_t(offset), C.byref(d))
        return out

    def time(self, f, n):
        for _ in range(3):
            f()
        self.sync()
        times = []
        for _ in range(n):
            self.call("tsr_event_record", self.begin, None)
            f()
            self.call("tsr_event_record", self.end, None)
            self.call("tsr_event_sync", self.end)
            seconds = C.c_double()
            self.call("tsr_event_elapsed", C.byref(seconds), self.begin, self.end)
            times.append(seconds.value)
        return sorted(times)[n // 2]


def time_torch(f, n):
    for _ in range(3):
        f()
    torch.cuda.synchronize()
    times = []
    for _ in range(n):
        a, b = torch.cuda.Event(True), torch.cuda.Event(True)
        a.record()
        f()
        b.record()
        b.synchronize()
        times.append(a.elapsed_time(b) * 1e-3)
    return sorted(times)[n // 2]


class Table:
    """Rows: workload, ours, PyTorch's, the ratio, the target."""

    def __init__(self, library, n=20):
        self.l, self.n, self.rows = library, n, []

    def add(self, name, unit, work, ours, theirs, right, target=""):
        torch.cuda.synchronize()  # our streams do not wait for PyTorch's
        ours()
        self.l.sync()
        good = right()
        a, b = self.l.time(ours, self.n), time_torch(theirs, self.n)
        a, b = work / a, work / b
        self.rows.append((name, a, b, unit, good, target))
        note = ("" if good else "WRONG ") + target
        print(f"{name:36} {a:9.2f} {b:9.2f} {unit:5} {a / b:6.2f}  {note}", flush=True)


def random(*shape, dtype=torch.float32):
    if dtype in (torch.uint8, torch.int8):
        return torch.randint(0, 100, shape, device="cuda", dtype=torch.int32).to(dtype)
    return torch.randn(*shape, device="cuda").to(dtype)


def copies(t, l):
    def case(name, x, target="", nbytes=None):
        z = torch.full(x.shape, 7, dtype=x.dtype, device="cuda")
        zz, xx = l.borrow(z), l.borrow(x)
        work = (nbytes or 2 * x.numel() * x.element_size()) * 1e-12
        t.add(name, "TB/s", work, lambda: l.call("tsr_copy", zz, xx), lambda: z.copy_(x),
              lambda: torch.equal(z, x), target)

    n = 16384
    x = random(n, n)
    case("copy f32 16384^2", x, ">= 0.98x")
    case("transpose f32 16384^2", x.T, ">= 3.4")
    case("x[:, ::2] f32", x[:, ::2], ">= 2.6", 6 * n * n)
    case("transpose u8 16384^2", random(n, n, dtype=torch.uint8).T, ">= 2.8")
    case("transpose bf16 16384^2", random(n, n, dtype=torch.bfloat16).T)
    case("transpose f64 8192^2", random(8192, 8192, dtype=torch.float64).T)
    case("transpose f32 16001^2", random(16001, 16001).T)
    case("nchw to nhwc f32", random(256, 64, 112, 112).permute(0, 2, 3, 1), ">= 3.4")
    case("nhwc to nchw f32", random(256, 112, 112, 64).permute(0, 3, 1, 2))
    case("images u8 nhwc to nchw", random(512, 224, 224, 3, dtype=torch.uint8).permute(0, 3, 1, 2))
    case("(0,2,1,3) bf16", random(64, 1024, 16, 64, dtype=torch.bfloat16).permute(0, 2, 1, 3), ">= 3.8")
    case("6-d reversal f32", random(24, 16, 50, 50, 5, 7).permute(5, 4, 3, 2, 1, 0), ">= 2.0")


def elementwise(t, l):
    n = 16384
    x, y, z = random(n, n), random(n, n), torch.empty(n, n, device="cuda")
    row, column = random(n), random(n, 1)

    def case(name, b, nbytes, target):
        zz, xx, bb = l.borrow(z), l.borrow(x), l.borrow(b)
        t.add(name, "TB/s", nbytes * 1e-12, lambda: l.call("tsr_add", C.byref(zz), xx, bb),
              lambda: torch.add(x, b, out=z), lambda: torch.equal(z, x + b), target)

    case("add f32 16384^2", y, 12 * n * n, ">= 0.98x")
    case("add a row f32", row, 8 * n * n, ">= 3.8")
    case("add a column f32", column, 8 * n * n, ">= 3.8")


def reductions(t, l):
    n = 16384
    x = random(n, n)
    xx = l.borrow(x)

    def near(a, b):
        return ((a.double() - b.double()).norm() / b.double().norm()).item() < 1e-5

    def case(name, z, ours, theirs, right, target, nbytes=4 * n * n):
        t.add(name, "TB/s", nbytes * 1e-12, ours, theirs, right, target)

    axes = [(C.c_int * 1)(0), (C.c_int * 1)(1)]
    sums = (("sum all f32", None, ()), ("sum axis 0 f32", 0, (n,)), ("sum axis 1 f32", 1, (n,)))
    for name, axis, shape in sums:
        z = torch.empty(shape, device="cuda")
        zz = l.borrow(z)
        listed = (0, None) if axis is None else (1, axes[axis])
        theirs = (lambda: x.sum()) if axis is None else (lambda axis=axis: x.sum(axis))
        want = x.double().sum() if axis is None else x.double().sum(axis)
        case(name, z, lambda: l.call("tsr_sum", C.byref(zz), xx, *listed, False), theirs,
             lambda: near(z, want), ">= 0.98x")
    z = torch.empty(n, dtype=torch.int64, device="cuda")
    zz = l.borrow(z)
    case("argmax axis 1 f32", z, lambda: l.call("tsr_argmax", C.byref(zz), xx, 1, False),
         lambda: x.argmax(1), lambda: torch.equal(z, x.argmax(1)), ">= 4.1")
    s = torch.empty_like(x)
    ss = l.borrow(s)
    case("softmax axis 1 f32", s, lambda: l.call("tsr_softmax", C.byref(ss), xx, 1),
         lambda: torch.softmax(x, 1),
         lambda: near(s, torch.softmax(x, 1)), ">= 4.0", 8 * n * n)


def products(t, l):
    def case(name, n, dtype, target, bound):
        a, b = random(n, n, dtype=dtype), random(n, n, dtype=dtype)
        z = torch.empty(n, n, dtype=dtype, device="cuda")
        aa, bb, zz = l.borrow(a), l.borrow(b), l.borrow(z)
        want = a.double() @ b.double()
        t.add(name, "TF/s", 2 * n ** 3 * 1e-12, lambda: l.call("tsr_matmul", C.byref(zz), aa, bb),
              lambda: torch.matmul(a, b, out=z),
              lambda: ((z.double() - want).norm() / want.norm()).item() < bound, target)

    tf32 = os.environ.get("TSR_CUDA_TF32") == "1"
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = tf32
    if tf32:
        case("matmul tf32 8192^3", 8192, torch.float32, ">= 1.0x", 1e-3)
    else:
        case("matmul bf16 8192^3", 8192, torch.bfloat16, ">= 1.0x", 1e-2)
        case("matmul f16 8192^3", 8192, torch.float16, "", 1e-2)
        case("matmul f32 8192^3", 8192, torch.float32, ">= 1.0x", 1e-5)
        case("matmul f64 4096^3", 4096, torch.float64, "", 1e-12)
        convolution(t, l)


class Conv(C.Structure):
    _fields_ = [(name, I64 * 3) for name in ("stride", "padding", "pad_low", "pad_high", "dilation",
                                             "output_padding")]
    _fields_ += [("groups", I64), ("fit", C.c_int32)]


def convolution(t, l):
    torch.backends.cudnn.benchmark = True
    x, w = random(32, 512, 7, 7), random(512, 512, 3, 3)
    z = torch.empty(32, 512, 7, 7, device="cuda")
    xx, ww, zz = l.borrow(x), l.borrow(w), l.borrow(z)
    how = Conv()
    how.padding[0] = how.padding[1] = 1
    want = torch.nn.functional.conv2d(x.double(), w.double(), padding=1)
    t.add("conv f32 (32,512,7,7)x(512,512,3,3)", "TF/s", 2 * 32 * 512 * 49 * 512 * 9 * 1e-12,
          lambda: l.call("tsr_conv2d", C.byref(zz), xx, ww, None, C.byref(how)),
          lambda: torch.nn.functional.conv2d(x, w, padding=1),
          lambda: ((z.double() - want).norm() / want.norm()).item() < 1e-4, ">= 1.0x")


def main():
    library = Library(sys.argv[1])
    table = Table(library)
    print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}")
    print(f"{'workload':36} {'ours':>9} {'PyTorch':>9} {'':5} {'ratio':>6}  target")
    parts = {"copies": copies, "elementwise": elementwise, "reductions": reductions, "products": products}
    for name in sys.argv[2:] or parts:
        parts[name](table, library)
        torch.cuda.empty_cache()
    sys.exit(any(not good for *_, good, _ in table.rows))


if __name__ == "__main__":
    main()
