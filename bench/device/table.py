"""Times what models and training steps are made of beside PyTorch on one GPU.

    python3 table.py LIBTESSERA.so [PART ...]

Prints, for each workload, both times, PyTorch's over ours (below 1 we are slower), and the bytes or
operations that ours does in a second. Both work on the same memory, in turns; times are the best of three
medians of events around single calls. Every result is checked before it is timed.
"""
import ctypes as C
import math
import sys

import torch
import torch.nn.functional as F

from compare import Conv, Library, random, time_torch

F32, BF16, F16 = torch.float32, torch.bfloat16, torch.float16
I8, I32, I64, U8, F64 = torch.int8, torch.int32, torch.int64, torch.uint8, torch.float64
BOOL = torch.bool
NAMES = {F32: "f32", BF16: "bf16", F16: "f16", F64: "f64", I8: "i8", I32: "i32", I64: "i64", U8: "u8",
         BOOL: "bool"}


def bound(dtype):
    return {F32: 2e-5, F16: 2e-3, BF16: 1.2e-2, F64: 1e-12}.get(dtype, 0)


def near(got, want, dtype):
    got, want = got.double(), want.double()
    if not torch.isfinite(want).all():
        return torch.equal(got.isnan(), want.isnan())
    return ((got - want).norm() / want.norm().clamp_min(1e-30)).item() <= bound(dtype)


class Bench:
    def __init__(self, library):
        self.l, self.rows, self.checks = library, [], 0

    def row(self, name, ours, theirs, right, nbytes=0, flops=0):
        try:
            torch.cuda.synchronize()  # our streams do not wait for PyTorch's
            ours()
            self.l.sync()
            good = bool(right())
            once = time_torch(theirs, 3)
            n = max(3, min(15, int(0.03 / max(once, 1e-5))))
            pairs = [(self.l.time(ours, n), time_torch(theirs, n)) for _ in range(3)]
            a, b = (min(p[i] for p in pairs) for i in (0, 1))
        except Exception as e:  # one workload that fails leaves the others
            print(f"{name:44} FAILED {e}", flush=True)
            self.rows.append((name, 0, False))
            return
        rate = f"{nbytes / a * 1e-12:6.2f} TB/s" if nbytes else f"{flops / a * 1e-12:6.0f} TF/s"
        print(f"{name:44} {a * 1e6:9.1f} {b * 1e6:9.1f} us {b / a:7.2f}  {rate}{'' if good else '  WRONG'}",
              flush=True)
        self.rows.append((name, b / a, good))


    def check(self, name, ours, right):
        try:
            torch.cuda.synchronize()
            ours()
            self.l.sync()
            good, note = bool(right()), ""
        except Exception as e:
            good, note = False, f" {e}"
        if not good:
            print(f"{name:44} WRONG{note}", flush=True)
        self.checks += 1
        self.rows += [] if good else [(name, 1, False)]


def into(l, z, name, *args):
    """A call of ours with result z; arguments that are tensors of PyTorch's are borrowed."""
    zz = l.borrow(z)
    own = [l.borrow(a) if torch.is_tensor(a) else a for a in args]
    return lambda: l.call(name, C.byref(zz), *own)


def axes(*list_):
    return len(list_), (C.c_int * len(list_))(*list_)


def rows(t, l):
    for shape in [(32, 50257), (65536, 64), (1, 1 << 24), (16384, 4096), (4096, 50257), (262144, 32),
                  (8192, 1000)]:
        for dtype in (F32, BF16):
            x = random(*shape, dtype=dtype)
            z = torch.empty_like(x)
            t.row(f"softmax {shape} {NAMES[dtype]}", into(l, z, "tsr_softmax", x, 1),
                  lambda: torch.softmax(x, 1), lambda: near(z, torch.softmax(x.double(), 1), dtype),
                  2 * x.numel() * x.element_size())
    for shape in [(16384, 4096), (65536, 128), (512, 65536), (4, 1 << 22)]:
        for dtype in (F32, BF16):
            x, w, b = (random(*s, dtype=dtype) for s in (shape, shape[1:], shape[1:]))
            z = torch.empty_like(x)
            nbytes = 2 * x.numel() * x.element_size()
            n = (shape[1],)
            xd, wd, bd = x.double(), w.double(), b.double()
            want = F.rms_norm(xd, n, wd, 1e-6)
            t.row(f"rms_norm {shape} {NAMES[dtype]}", into(l, z, "tsr_rms_norm", x, w, C.c_double(1e-6)),
                  lambda: F.rms_norm(x, n, w, 1e-6), lambda: near(z, want, dtype), nbytes)
            want = F.layer_norm(xd, n, wd, bd, 1e-5)
            t.row(f"layer_norm {shape} {NAMES[dtype]}",
                  into(l, z, "tsr_layer_norm", x, 1, w, b, C.c_double(1e-5)),
                  lambda: F.layer_norm(x, n, w, b, 1e-5), lambda: near(z, want, dtype), nbytes)
            del xd, want


def gates(t, l):
    n = 1 << 26
    for name, f in (("gelu", F.gelu), ("silu", F.silu), ("exp", torch.exp)):
        for dtype in (F32, BF16, F16):
            x = random(n, dtype=dtype)
            z = torch.empty_like(x)
            t.row(f"{name} 64M {NAMES[dtype]}", into(l, z, "tsr_" + name, x), lambda: f(x),
                  lambda: near(z, f(x.double()), dtype), 2 * n * x.element_size())
    a, b = random(n, dtype=BF16), random(n)
    z = torch.empty(n, device="cuda")
    t.row("add bf16 + f32 64M", into(l, z, "tsr_add", a, b), lambda: a + b, lambda: torch.equal(z, a + b),
          10 * n)
    b16, z16 = random(n, dtype=BF16), torch.empty_like(a)
    t.row("add bf16 64M", into(l, z16, "tsr_add", a, b16), lambda: a + b16,
          lambda: torch.equal(z16, a + b16), 6 * n)
    a, b = random(8192, 8192), random(8192, 8192)
    z = torch.empty_like(a)
    t.row("a + b.T 8192^2 f32", into(l, z, "tsr_add", a, b.T), lambda: a + b.T,
          lambda: torch.equal(z, a + b.T), 12 * n)


def reductions(t, l):
    def case(name, x, axis, theirs, dtype=None):
        shape = theirs(x).shape
        z = torch.empty(shape, dtype=dtype or x.dtype, device="cuda")
        if name == "argmax":
            ours = into(l, z, "tsr_argmax", x, axis, False)
        else:
            ours = into(l, z, "tsr_" + name, x, *axes(axis), False)
        exact = name != "sum"
        want = theirs(x) if exact else theirs(x.double())
        right = (lambda: torch.equal(z, want)) if exact else (lambda: near(z, want, x.dtype))
        t.row(f"{name} {tuple(x.shape)} axis {axis} {NAMES[x.dtype]}", ours, lambda: theirs(x), right,
              x.numel() * x.element_size())

    for dtype in (F32, BF16):
        x = random(8, 1 << 22, dtype=dtype)
        case("sum", x, 0, lambda x: x.sum(0))
        case("max", x, 0, lambda x: x.amax(0))
        case("argmax", x, 0, lambda x: x.argmax(0), torch.int64)
        case("sum", random(4096, 4096, dtype=dtype), 0, lambda x: x.sum(0))
        case("sum", random(512, 300, 700, dtype=dtype), 1, lambda x: x.sum(1))
        case("sum", random(1 << 20, 64, dtype=dtype), 0, lambda x: x.sum(0))


def lists(t, l):
    x = random(8192, 8192)
    z = torch.empty_like(x)
    t.row("cumsum last axis 8192^2 f32", into(l, z, "tsr_cumsum", x, 1), lambda: x.cumsum(1),
          lambda: near(z, x.double().cumsum(1), F32), 8 * x.numel())
    x = random(4096, 4096)
    z = torch.empty_like(x)
    t.row("sort rows 4096^2 f32", into(l, z, "tsr_sort", x, 1, False), lambda: x.sort(1),
          lambda: torch.equal(z, x.sort(1).values), 8 * x.numel())
    x = random(64, 151936)
    v, i = torch.empty(64, 50, device="cuda"), torch.empty(64, 50, device="cuda", dtype=torch.int64)
    vv, ii, xx = l.borrow(v), l.borrow(i), l.borrow(x)
    t.row("top 50 of (64, 151936) f32",
          lambda: l.call("tsr_topk", C.byref(vv), C.byref(ii), xx, C.c_int64(50), 1, True, True),
          lambda: x.topk(50), lambda: torch.equal(v, x.topk(50).values), 4 * x.numel())
    table = random(151936, 4096, dtype=BF16)
    index = torch.randint(0, 151936, (16384,), device="cuda")
    z = torch.empty(16384, 4096, dtype=BF16, device="cuda")
    t.row("embedding bf16 16384 of (151936, 4096)", into(l, z, "tsr_embedding", table, index),
          lambda: F.embedding(index, table), lambda: torch.equal(z, table[index]), 4 * z.numel())
    base, src = random(8192, 1024), random(65536, 1024)
    index = torch.randint(0, 8192, (65536,), device="cuda")
    z = torch.empty_like(base)
    want = base.double().index_add(0, index, src.double())
    t.row("index_add (65536, 1024) f32", into(l, z, "tsr_index_add", base, index, src, 0),
          lambda: base.index_add(0, index, src), lambda: near(z, want, F32),
          4 * (src.numel() + 2 * base.numel()))
    parts = [random(2048, 128) for _ in range(32)]
    z = torch.empty(2048, 4096, device="cuda")
    own = (C.c_void_p * 32)(*[l.borrow(p).value for p in parts])
    zz = l.borrow(z)
    t.row("concat of 32 on axis 1", lambda: l.call("tsr_concat", C.byref(zz), 32, own, 1),
          lambda: torch.cat(parts, 1), lambda: torch.equal(z, torch.cat(parts, 1)), 8 * z.numel())


def filled(*shape, dtype=F32):
    """Random numbers of any dtype."""
    if dtype.is_floating_point:
        return random(*shape, dtype=dtype)
    if dtype == BOOL:
        return torch.rand(shape, device="cuda") < 0.001
    return torch.randint(0, 100, shape, device="cuda", dtype=dtype)


def size_of(*tensors):
    return sum(t.numel() * t.element_size() for t in tensors)


def same(z, want):
    """Close for floats, equal else."""
    return near(z, want, z.dtype) if z.dtype.is_floating_point else torch.equal(z, want)


def sums(t, l):
    """Reductions of every dtype, along both axes, of rows that are aligned and that are not."""

    def case(name, x, axis, theirs, dtype, *more):
        want = theirs(x.double() if x.is_floating_point() and dtype == x.dtype else x)
        z = torch.empty(want.shape, dtype=dtype, device="cuda")
        ours = into(l, z, "tsr_" + name, x, *((axis,) if name == "argmin" else axes(axis)), *more)
        right = lambda: same(z, want.to(dtype))
        if name == "argmin":  # of equal ones PyTorch's may be any
            right = lambda: torch.equal(x.gather(axis, z.unsqueeze(axis)), x.amin(axis, keepdim=True))
        t.row(f"{name} {tuple(x.shape)} axis {axis} {NAMES[x.dtype]}", ours, lambda: theirs(x), right,
              size_of(x))

    for columns in (8192, 8191):
        for axis in (0, 1):
            for dtype in (F32, BF16, F16, F64, I32, I8):
                rows_ = 32768 if dtype == I8 else 8192
                x = filled(rows_, columns, dtype=dtype)
                case("sum", x, axis, lambda x: x.sum(axis), dtype if dtype.is_floating_point else I64, False)
            for dtype in (F32, BF16):
                x = filled(8192, columns, dtype=dtype)
                case("max", x, axis, lambda x: x.amax(axis), dtype, False)
                case("argmin", x, axis, lambda x: x.argmin(axis), I64, False)
                case("var", x, axis, lambda x: x.var(axis, correction=0), dtype, False, C.c_double(0))
                norm = torch.linalg.vector_norm
                case("norm", x, axis, lambda x: norm(x, dim=axis), dtype, False, C.c_double(2))
                case("logsumexp", x, axis, lambda x: x.logsumexp(axis), dtype, False)
            case("any", filled(32768, columns, dtype=BOOL), axis, lambda x: x.any(axis), BOOL, False)


def odd(t, l):
    """Elementwise ops over parts, odd rows, both ways of broadcasting, and dtypes of other widths."""

    def case(name, z, theirs, call, *args):
        own = into(l, z, call, *args)
        given = [a for a in args if torch.is_tensor(a)]
        t.row(name, own, lambda: theirs(*given), lambda: same(z, theirs(*given)), size_of(z, *given))

    for dtype in (F32, BF16, F64, U8):
        x, y = filled(8192, 8192, dtype=dtype), filled(8192, 8192, dtype=dtype)
        name = NAMES[dtype]
        z = torch.empty_like(x)
        case(f"add {name}", z, torch.add, "tsr_add", x, y)
        case(f"add a column {name}", z, torch.add, "tsr_add", x, y[:, :1])
        case(f"add a row {name}", z, torch.add, "tsr_add", x, y[:1])
        part = torch.empty(8192, 8185, dtype=dtype, device="cuda")
        case(f"add parts {name}", part, torch.add, "tsr_add", x[:, :8185], y[:, 1:8186])
        case(f"add an odd row {name}", part, torch.add, "tsr_add", part.clone(), y[:1, :8185])
        case(f"add every other {name}", z[:, :4096].clone(), torch.add, "tsr_add", x[:, ::2], y[:, ::2])
        case(f"add transposed {name}", z, torch.add, "tsr_add", x, y.T)
        b = torch.empty(8192, 8192, dtype=BOOL, device="cuda")
        case(f"lt {name}", b, torch.lt, "tsr_lt", x, y)
        case(f"where {name}", z, torch.where, "tsr_where", x < y, x, y)
    for to, from_ in ((F32, BF16), (BF16, F32), (F32, U8), (I64, F32), (F32, BOOL), (F32, F64), (I32, I64),
                      (F16, BF16), (BF16, U8), (BOOL, F32), (F64, I64)):
        x = filled(8192, 8192, dtype=from_)
        z = torch.empty(8192, 8192, dtype=to, device="cuda")
        zz, xx = l.borrow(z), l.borrow(x)
        t.row(f"cast {NAMES[from_]} to {NAMES[to]}", lambda: l.call("tsr_copy", zz, xx), lambda: x.to(to),
              lambda: torch.equal(z, x.to(to)), size_of(x, z))


def lanes(t, l):
    """Scans, rows of odd sizes, joins and what goes by an index."""

    def case(name, z, theirs, call, *args):
        given = [a for a in args if torch.is_tensor(a)]
        t.row(name, into(l, z, call, *args), lambda: theirs(*given), lambda: same(z, theirs(*given)),
              size_of(z, *given))

    for dtype in (F32, BF16, F64, I64):
        x = filled(8192, 8192, dtype=dtype)
        wide = x.double() if dtype.is_floating_point else x
        z = torch.empty_like(x)
        for axis in (0, 1):
            t.row(f"cumsum axis {axis} {NAMES[dtype]}", into(l, z, "tsr_cumsum", x, axis),
                  lambda: x.cumsum(axis), lambda: same(z, wide.cumsum(axis)), size_of(x, z))
    for dtype in (F32, BF16):
        name = NAMES[dtype]
        x = filled(8192, 8191, dtype=dtype)
        for axis, what in ((1, "rows"), (0, "columns")):
            case(f"softmax of {what} of (8192, 8191) {name}", torch.empty_like(x),
                 lambda x: torch.softmax(x, axis), "tsr_softmax", x, axis)
        table, index = filled(50000, 1024, dtype=dtype), torch.randint(0, 50000, (65536,), device="cuda")
        z = torch.empty(65536, 1024, dtype=dtype, device="cuda")
        case(f"embedding of rows of 1024 {name}", z, lambda x, i: F.embedding(i, x), "tsr_embedding", table,
             index)
        along = torch.randint(0, 8191, x.shape, device="cuda")
        case(f"gather axis 1 {name}", torch.empty_like(x), lambda x, i: x.gather(1, i), "tsr_gather", x,
             along, 1)
        parts = [filled(8192, 1000 + 8 * i, dtype=dtype) for i in range(8)]
        for axis, given in ((1, parts), (0, parts[:1] * 8)):
            want = torch.cat(given, axis)
            z = torch.empty_like(want)
            own, zz = (C.c_void_p * 8)(*[l.borrow(p).value for p in given]), l.borrow(z)
            t.row(f"concat of 8 on axis {axis} {name}",
                  lambda: l.call("tsr_concat", C.byref(zz), 8, own, axis), lambda: torch.cat(given, axis),
                  lambda: torch.equal(z, want), 2 * size_of(z))
        three = [filled(1 << 24, dtype=dtype) for _ in range(3)]
        want = torch.stack(three, 1)
        z = torch.empty_like(want)
        own, zz = (C.c_void_p * 3)(*[l.borrow(p).value for p in three]), l.borrow(z)
        t.row(f"stack of 3 on the last axis {name}", lambda: l.call("tsr_stack", C.byref(zz), 3, own, 1),
              lambda: torch.stack(three, 1), lambda: torch.equal(z, want), 2 * size_of(z))
        v, i = (torch.empty(4096, 10, device="cuda", dtype=d) for d in (dtype, I64))
        x = filled(4096, 32000, dtype=dtype)
        vv, ii, xx = l.borrow(v), l.borrow(i), l.borrow(x)
        t.row(f"top 10 of (4096, 32000) {name}",
              lambda: l.call("tsr_topk", C.byref(vv), C.byref(ii), xx, C.c_int64(10), 1, True, True),
              lambda: x.topk(10), lambda: torch.equal(v, x.topk(10).values), size_of(x))


class Options(C.Structure):
    _fields_ = [("scale", C.c_double), ("causal", C.c_bool)]


def attention(t, l):
    def case(name, b, heads, kv, m, n, d, dtype, causal):
        q = random(b, heads, m, d, dtype=dtype)
        k, v = random(b, kv, n, d, dtype=dtype), random(b, kv, n, d, dtype=dtype)
        z = torch.empty_like(q)
        how = Options(0, causal)
        same = dict(is_causal=causal and m > 1, enable_gqa=heads != kv)
        want = F.scaled_dot_product_attention(q[:1].float(), k[:1].float(), v[:1].float(), **same)
        t.row(f"attention {name}", into(l, z, "tsr_attention", q, k, v, None, C.byref(how)),
              lambda: F.scaled_dot_product_attention(q, k, v, **same), lambda: near(z[:1], want, dtype),
              flops=4 * b * heads * m * n * d * (0.5 if causal and m > 1 else 1))

    case("bf16 causal (4,16,4096,128)", 4, 16, 16, 4096, 4096, 128, BF16, True)
    case("bf16 full (4,16,4096,128)", 4, 16, 16, 4096, 4096, 128, BF16, False)
    case("bf16 grouped 32/4 causal 2048 d 64", 4, 32, 4, 2048, 2048, 64, BF16, True)
    case("bf16 grouped 32/8 causal 2048 d 128", 2, 32, 8, 2048, 2048, 128, BF16, True)
    case("f16 (8,16,2048,64)", 8, 16, 16, 2048, 2048, 64, F16, False)
    case("f32 (2,16,2048,64)", 2, 16, 16, 2048, 2048, 64, F32, False)
    case("decoding bf16 16 x 32 heads over 4096", 16, 32, 32, 1, 4096, 128, BF16, False)
    case("decoding bf16 1 x 32/8 heads over 8192", 1, 32, 8, 1, 8192, 128, BF16, False)
    case("decoding bf16 8 x 32/4 heads over 4096 d 64", 8, 32, 4, 1, 4096, 64, BF16, False)
    case("bf16 causal (1,32,512,64)", 1, 32, 32, 512, 512, 64, BF16, True)
    case("f16 full (2,16,2048,256)", 2, 16, 16, 2048, 2048, 256, F16, False)
    case("f32 causal (1,32,2048,128)", 1, 32, 32, 2048, 2048, 128, F32, True)


def masks(t, l):
    def case(name, b, heads, m, d, dtype, shape, adds):
        q, k, v = (random(b, heads, m, d, dtype=dtype) for _ in range(3))
        z, mask = torch.empty_like(q), torch.rand(shape, device="cuda") > 0.3
        if adds:
            mask = random(*shape, dtype=dtype).masked_fill(~mask, -math.inf)
        some = mask[:1] if mask.dim() == 4 else mask
        some = some.float() if adds else some
        want = F.scaled_dot_product_attention(q[:1].float(), k[:1].float(), v[:1].float(), some)
        how = Options(0, False)
        t.row(f"attention {NAMES[dtype]} {name}", into(l, z, "tsr_attention", q, k, v, mask, C.byref(how)),
              lambda: F.scaled_dot_product_attention(q, k, v, mask), lambda: near(z[:1], want, dtype),
              flops=4 * b * heads * m * m * d)

    case("bools (4,16,2048,128)", 4, 16, 2048, 128, BF16, (2048, 2048), False)
    case("added (4,16,2048,128)", 4, 16, 2048, 128, BF16, (2048, 2048), True)
    case("bools of keys (8,16,2048,64)", 8, 16, 2048, 64, F16, (8, 1, 1, 2048), False)


def mask_checks(t, l):
    def case(b, heads, kv, m, n, d, dtype, causal, shape, adds, wild):
        q, z = random(b, heads, m, d, dtype=dtype), torch.empty(b, heads, m, d, dtype=dtype, device="cuda")
        k, v = random(b, kv, n, d, dtype=dtype), random(b, kv, n, d, dtype=dtype)
        seen = torch.rand(shape, device="cuda") > 0.3
        seen[..., 5] = False
        if shape[-2] > 1:
            seen[..., 7, :] = False
        mask = random(*shape, dtype=dtype).masked_fill(~seen, -math.inf) if adds else seen
        if wild:
            v[:, :, 5] = math.nan
        add = mask.double() if adds else seen.double().log()
        if causal:
            add = add + torch.ones(m, n, device="cuda").tril(n - m).log()
        kd, vd = (x.double().repeat_interleave(heads // kv, 1) for x in (k, v))
        weight = torch.softmax((q.double() @ kd.transpose(2, 3)) / math.sqrt(d) + add, 3).nan_to_num(0)
        want, how = weight @ vd.nan_to_num(0), Options(0, causal)
        t.check(f"mask {NAMES[dtype]} {b} {heads}/{kv} {m} {n} {d} {shape} {causal} {adds} {wild}",
                into(l, z, "tsr_attention", q, k, v, mask, C.byref(how)), lambda: near(z, want, dtype))

    for dtype in (BF16, F16, F32):
        for adds in (False, True):
            for wild in (False, True):
                case(2, 4, 2, 200, 333, 64, dtype, False, (200, 333), adds, wild)
                case(2, 4, 2, 65, 65, 128, dtype, True, (2, 4, 65, 65), adds, wild)
                case(2, 8, 2, 1, 700, 64, dtype, False, (2, 1, 1, 700), adds, wild)
    for adds in (False, True):  # large enough for cuDNN
        case(1, 8, 8, 1024, 1024, 64, BF16, False, (1024, 1024), adds, False)
        case(2, 8, 2, 1024, 1024, 64, BF16, True, (2, 1, 1024, 1024), adds, True)
        case(2, 8, 4, 1000, 777, 128, F16, False, (2, 1, 1, 777), adds, False)
        case(1, 8, 8, 1024, 1023, 64, F16, False, (8, 1024, 1023), adds, False)
    print(f"{t.checks} checks, masks among them", flush=True)


def attended(q, k, v, causal):
    """Attention in f64, where a key that a row does not see has no part in it; the last row sees all."""
    share = q.shape[1] // k.shape[1]
    k, v = (x.double().repeat_interleave(share, 1) for x in (k, v))
    m, n = q.shape[2], k.shape[2]
    seen = torch.ones(m, n, device="cuda", dtype=torch.bool).tril(n - m if causal else n)
    score = (q.double() @ k.transpose(2, 3)) / math.sqrt(q.shape[3])
    weight = torch.softmax(score.masked_fill(~seen, -math.inf), 3).nan_to_num(0)
    wild = v.isfinite().logical_not().double()
    return (weight @ v.nan_to_num(0)).masked_fill(seen.double() @ wild > 0, math.nan)


def attention_checks(t, l):
    def case(b, heads, kv, m, n, d, e, dtype, causal, heads_last=False, wild=False):
        def operand(h, rows, cols):
            if heads_last:
                return random(b, rows, h, cols, dtype=dtype).transpose(1, 2)
            return random(b, h, rows, cols, dtype=dtype)

        q, k, v, z = operand(heads, m, d), operand(kv, n, d), operand(kv, n, e), operand(heads, m, e)
        if wild:
            v[:, :, n // 2 + 3] = math.nan
        want, how = attended(q, k, v, causal), Options(0, causal)

        def right():
            whole = want.isfinite()
            return torch.equal(whole, z.isfinite()) and near(z[whole], want[whole], dtype)

        name = f"attention {NAMES[dtype]} {b} {heads}/{kv} {m} {n} {d} {e}"
        name += " causal" * causal + " heads last" * heads_last + " NaN" * wild
        t.check(name, into(l, z, "tsr_attention", q, k, v, None, C.byref(how)), right)

    for b, heads, kv, m, n in ((1, 8, 8, 1024, 1024), (1, 8, 2, 1024, 1024), (2, 8, 8, 1000, 1024),
                               (1, 16, 1, 512, 2048), (3, 4, 4, 1024, 1024), (1, 8, 8, 777, 1333)):
        case(b, heads, kv, m, n, 64, 64, BF16, True)  # large enough for cuDNN, in one process
        case(b, heads, kv, m, n, 128, 128, BF16, False, heads_last=True)
    case(1, 8, 4, 1024, 1024, 128, 128, BF16, True, wild=True)
    for dtype in (F16, BF16, F32):
        for d in (32, 64, 96, 128, 256):
            for causal in (False, True):
                case(2, 4, 2, 300, 333, d, d, dtype, causal)
        case(1, 6, 6, 257, 257, 128, 64, dtype, True)
        case(2, 8, 2, 129, 1000, 64, 64, dtype, True, heads_last=True)
        case(2, 8, 2, 200, 200, 80, 80, dtype, False, heads_last=True)
        case(2, 4, 4, 500, 500, 64, 64, dtype, True, wild=True)
        case(1, 4, 1, 300, 400, 128, 128, dtype, True, wild=True)
        case(1, 4, 1, 300, 200, 64, 64, dtype, True)
        case(3, 2, 2, 70, 65, 40, 24, dtype, False)
        for n in (1, 7, 128, 129, 5000):
            case(2, 8, 2, 1, n, 128, 128, dtype, False)
            case(2, 4, 4, 1, n, 64, 64, dtype, True)
        case(1, 32, 8, 2, 4097, 96, 96, dtype, True)
        case(2, 3, 3, 8, 4000, 256, 256, dtype, True)
    print(f"{t.checks} checks of attention", flush=True)


def pairs_of(axes):
    """Zeros for F.pad, which names the last axis first."""
    return [n for low, high in reversed(axes) for n in (low, high)]


def convolved(x, w, b, pads, stride, dilation, groups):
    f = (F.conv1d, F.conv2d, F.conv3d)[x.dim() - 3]
    return f(F.pad(x, pairs_of(pads)), w, b, stride, 0, dilation, groups)


def convolution_of(l, z, x, w, b, pads, stride, dilation, groups):
    how = Conv()
    for i, (low, high) in enumerate(pads):
        how.pad_low[i], how.pad_high[i], how.stride[i], how.dilation[i] = low, high, stride, dilation
    how.groups = groups
    return into(l, z, f"tsr_conv{x.dim() - 2}d", x, w, b, C.byref(how))


def conv_checks(t, l):
    def last(x):
        return x.movedim(1, -1).contiguous().movedim(-1, 1)

    for dtype in (F32, F16, BF16):
        for x, w, pads, stride, dilation, groups in (
                ((4, 32, 28, 28), (64, 32, 3, 3), [(1, 1), (1, 1)], 1, 1, 1),
                ((4, 16, 29, 28), (24, 16, 3, 3), [(0, 2), (1, 0)], 1, 1, 1),
                ((3, 5, 31, 27), (7, 5, 3, 2), [(1, 1), (2, 0)], 2, 2, 1),
                ((2, 64, 28, 28), (64, 1, 3, 3), [(1, 1), (1, 1)], 1, 1, 64),
                ((2, 32, 28, 28), (64, 8, 5, 5), [(2, 2), (2, 2)], 2, 1, 4),
                ((4, 32, 900), (48, 32, 7), [(3, 2)], 1, 2, 1),
                ((2, 16, 9, 28, 27), (32, 16, 3, 3, 3), [(1, 1), (1, 1), (1, 0)], 1, 1, 1),
                ((8, 256, 28, 28), (512, 256, 1, 1), [(0, 0), (0, 0)], 1, 1, 1)):
            for biased in (False, True):
                for lay in (lambda x: x, last):
                    a, f = lay(random(*x, dtype=dtype)), lay(random(*w, dtype=dtype))
                    b = random(w[0], dtype=dtype) if biased else None
                    rest = (pads, stride, dilation, groups)
                    want = convolved(a.double(), f.double(), b if b is None else b.double(), *rest)
                    z = lay(torch.empty(want.shape, dtype=dtype, device="cuda"))
                    name = f"conv {NAMES[dtype]} {x} {w} {rest}"
                    name += " bias" * biased + " channels last" * (lay == last)
                    t.check(name, convolution_of(l, z, a, f, b, *rest), lambda: near(z, want, dtype))
    print(f"{t.checks} checks, convolutions among them", flush=True)


def convs(t, l):
    torch.backends.cudnn.benchmark = True

    def case(name, x, w, pad, dtype, stride=1, groups=1, biased=False, last=False):
        a, f = random(*x, dtype=dtype), random(*w, dtype=dtype)
        if last:
            a, f = (y.to(memory_format=torch.channels_last) for y in (a, f))
        b = random(w[0], dtype=dtype) if biased else None
        rest = ([(pad, pad)] * (len(x) - 2), stride, 1, groups)
        theirs = (F.conv1d, F.conv2d, F.conv3d)[len(x) - 3]
        z = torch.empty_like(theirs(a, f, b, stride, pad, 1, groups))
        want = convolved(a.float(), f.float(), b if b is None else b.float(), *rest)
        t.row(f"conv {name} {NAMES[dtype]}", convolution_of(l, z, a, f, b, *rest),
              lambda: theirs(a, f, b, stride, pad, 1, groups), lambda: near(z, want, dtype),
              flops=2 * z.numel() * math.prod(w[1:]))

    for dtype in (F16, BF16):
        case("3x3 (32,256,28,28)", (32, 256, 28, 28), (256, 256, 3, 3), 1, dtype)
        case("3x3 channels last", (32, 256, 28, 28), (256, 256, 3, 3), 1, dtype, last=True)
        case("3x3 bias", (32, 128, 56, 56), (128, 128, 3, 3), 1, dtype, biased=True)
    case("7x7 stride 2 (64,3,224,224)", (64, 3, 224, 224), (64, 3, 7, 7), 3, F16, stride=2)
    case("3x3 depthwise", (32, 256, 56, 56), (256, 1, 3, 3), 1, F16, groups=256)
    case("1x1 channels last", (32, 256, 56, 56), (512, 256, 1, 1), 0, BF16, last=True)
    case("3x3 (32,256,28,28)", (32, 256, 28, 28), (256, 256, 3, 3), 1, F32)
    case("3x3x3 (4,64,16,56,56)", (4, 64, 16, 56, 56), (64, 64, 3, 3, 3), 1, BF16)
    case("1d 7 (32,256,4096)", (32, 256, 4096), (256, 256, 7), 3, BF16)


def others(t, l):
    torch.backends.cudnn.benchmark = True
    for name, dtype, x, w, pad in (("1x1", BF16, (32, 256, 56, 56), (512, 256, 1, 1), 0),
                                   ("3x3", F16, (32, 256, 28, 28), (256, 256, 3, 3), 1)):
        x, w = random(*x, dtype=dtype), random(*w, dtype=dtype)
        z = torch.empty(x.shape[0], w.shape[0], *x.shape[2:], dtype=dtype, device="cuda")
        how = Conv()
        how.padding[0] = how.padding[1] = pad
        t.row(f"conv {name} {NAMES[dtype]}", into(l, z, "tsr_conv2d", x, w, None, C.byref(how)),
              lambda: F.conv2d(x, w, padding=pad),
              lambda: near(z, F.conv2d(x.float(), w.float(), padding=pad), dtype),
              flops=2 * z.numel() * math.prod(w.shape[1:]))
    a, b = random(4096, 4096), random(4096, 4096)
    z = torch.empty_like(a)
    t.row("matmul f32 4096", into(l, z, "tsr_matmul", a, b), lambda: a @ b,
          lambda: near(z, a.double() @ b.double(), F32), flops=2 * 4096 ** 3)
    for name, x in (("(8192,512,17) to (1,0,2)", random(8192, 512, 17).permute(1, 0, 2)),
                    ("1000 of 1001 columns", random(65536, 1001)[:, :1000]),
                    ("7-d permutation", random(8, 12, 10, 9, 16, 7, 11).permute(6, 2, 4, 0, 5, 1, 3))):
        z = torch.empty(x.shape, device="cuda")
        zz, xx = l.borrow(z), l.borrow(x)
        t.row(f"copy {name}", lambda: l.call("tsr_copy", zz, xx), lambda: z.copy_(x),
              lambda: torch.equal(z, x), 8 * x.numel())


def main():
    library = Library(sys.argv[1])
    bench = Bench(library)
    print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}")
    print(f"{'workload':44} {'ours':>9} {'PyTorch':>9}    {'ratio':>7}")
    parts = {f.__name__: f for f in (rows, gates, reductions, lists, sums, odd, lanes, attention, masks, convs,
                                     others, attention_checks, mask_checks, conv_checks)}
    torch.manual_seed(1)
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    for name in sys.argv[2:] or parts:
        parts[name](bench, library)
        torch.cuda.empty_cache()
    behind = [r for r in bench.rows if r[1] < 0.95]
    wrong = [r for r in bench.rows if not r[2]]
    print(f"{len(bench.rows)} workloads: {len(behind)} behind by more than 5 %, {len(wrong)} wrong")
    for name, ratio, _ in sorted(behind, key=lambda r: r[1])[:30]:
        print(f"    {ratio:5.2f}  {name}")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
