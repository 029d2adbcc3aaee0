"""Times what training and linear algebra need of the CUDA plugin beside PyTorch, as compare.py does.

    python3 training.py LIBTESSERA.so

A case that fails is told, and the others go on.
"""
import ctypes as C
import sys

import torch

from compare import I64, TORCH, VP, Library, Table, random

TORCH.update({torch.complex64: 17, torch.complex128: 18})
D = C.c_double


def near(a, b, bound):
    b = b.to(torch.complex128 if b.is_complex() else torch.float64)
    a = a.to(b.dtype)
    return ((a - b).norm() / b.norm()).item() < bound


def handles(l, tensors):
    return (VP * len(tensors))(*[l.borrow(t) for t in tensors])


def attempt(f, *args):
    try:
        f(*args)
    except Exception as e:  # told, and the next
        print(f"{f.__name__}{args[2:]}: {e}", flush=True)


def steps(t, l, dtype):
    """300 tensors, as of a transformer: large matrices and short rows."""
    shapes = [(1024, 1024) if i % 3 == 0 else (1024,) if i % 3 == 1 else (256, 1024) for i in range(300)]
    params = [random(*s, dtype=dtype) for s in shapes]
    grads = [random(*s, dtype=dtype) for s in shapes]
    first, second = [torch.zeros_like(p) for p in params], [torch.zeros_like(p) for p in params]
    theirs = [p.clone() for p in params]
    for p, g in zip(theirs, grads):
        p.grad = g
    adam = torch.optim.AdamW(theirs, lr=1e-3, weight_decay=0.01, fused=True)
    n, p, m, v, g = len(params), *(handles(l, x) for x in (params, first, second, grads))
    right = [x.clone() for x in params]
    for x, y in zip(right, grads):
        x.grad = y
    torch.optim.AdamW(right, lr=1e-3, weight_decay=0.01).step()
    count = sum(x.numel() for x in params) * params[0].element_size()

    def step():
        l.call("tsr_adam_step", n, p, m, v, g, I64(1), D(1e-3), D(0.9), D(0.999), D(1e-8), D(0.01), True)

    torch.cuda.synchronize()
    step()
    l.sync()
    good = all(near(x, y, 1e-6 if dtype == torch.float32 else 1e-2) for x, y in zip(params, right))
    t.add(f"adamw 300 tensors {dtype}", "TB/s", 7 * count * 1e-12, step, adam.step, lambda: good)
    z = torch.zeros((), device="cuda")
    zz = l.borrow(z)
    want = torch.sqrt(sum(x.double().square().sum() for x in grads))
    t.add(f"joint_norm 300 tensors {dtype}", "TB/s", count * 1e-12,
          lambda: l.call("tsr_joint_norm", C.byref(zz), n, g),
          lambda: torch.linalg.vector_norm(torch.stack(torch._foreach_norm(grads))),
          lambda: near(z, want, 1e-5))


def transform(t, l, name, shape, axis, dtype):
    x = random(*shape) if dtype == torch.float32 else torch.randn(*shape, device="cuda", dtype=dtype)
    if name == "irfft":  # of reals
        x[..., 0].imag, x[..., -1].imag = 0, 0
    want = getattr(torch.fft, name)(x, dim=axis)
    z = torch.empty_like(want.contiguous())
    xx, zz = l.borrow(x), l.borrow(z)
    work = (x.numel() * x.element_size() + z.numel() * z.element_size()) * 1e-12
    t.add(f"{name} {shape} axis {axis} {dtype}", "TB/s", work,
          lambda: l.call("tsr_" + name, C.byref(zz), xx, I64(0), axis, 0),
          lambda: getattr(torch.fft, name)(x, dim=axis), lambda: near(z, want, 1e-5))


def factors(t, l, name, batch, n, dtype):
    a = torch.randn(*batch, n, n, device="cuda", dtype=dtype)
    a = a @ a.mT + n * torch.eye(n, device="cuda", dtype=dtype)
    b = torch.randn(*batch, n, 8, device="cuda", dtype=dtype)
    aa, bb = l.borrow(a), l.borrow(b)
    bound = 1e-3 if dtype == torch.float32 else 1e-9
    made = [torch.zeros_like(a), torch.zeros_like(a), torch.zeros(*batch, n, device="cuda", dtype=dtype)]
    x, y, w = (l.borrow(m) for m in made)
    s = torch.zeros_like(b)
    ss = l.borrow(s)
    calls = {
        "solve": (lambda: l.call("tsr_solve", C.byref(ss), aa, bb), lambda: near(a @ s, b, bound)),
        "inv": (lambda: l.call("tsr_inv", C.byref(x), aa),
                lambda: near(a @ made[0], torch.eye(n, device="cuda", dtype=dtype).expand(a.shape), bound)),
        "cholesky": (lambda: l.call("tsr_cholesky", C.byref(x), aa, False),
                     lambda: near(made[0] @ made[0].mT, a, bound)),
        "qr": (lambda: l.call("tsr_qr", C.byref(x), C.byref(y), aa, False),
               lambda: near(made[0] @ made[1], a, bound)),
        "eigh": (lambda: l.call("tsr_eigh", C.byref(w), C.byref(x), aa),
                 lambda: near(made[0] * made[2].unsqueeze(-2) @ made[0].mT, a, bound)),
        "svd": (lambda: l.call("tsr_svd", C.byref(x), C.byref(w), C.byref(y), aa, True),
                lambda: near(made[0] * made[2].unsqueeze(-2) @ made[1], a, bound)),
    }
    theirs = getattr(torch.linalg, name)
    t.add(f"{name} {batch} {n} {dtype}", "1/s", 1, calls[name][0],
          (lambda: theirs(a, b)) if name == "solve" else (lambda: theirs(a)), calls[name][1])


class Conv(C.Structure):
    _fields_ = [(name, I64 * 3) for name in ("stride", "padding", "low", "high", "dilation", "more")] + [
        ("groups", I64), ("fit", C.c_int)]


def gradients(t, l, stride, groups, dtype):
    x, w = random(32, 64, 56, 56, dtype=dtype), random(128, 64 // groups, 3, 3, dtype=dtype)
    z = torch.nn.functional.conv2d(x, w, stride=stride, padding=1, groups=groups)
    g = torch.randn_like(z)
    how = Conv((stride, stride), (1, 1))
    how.groups = groups
    dx, dw = torch.zeros_like(x), torch.zeros_like(w)
    xx, ww, gg, dxx, dww = (l.borrow(m) for m in (x, w, g, dx, dw))
    sizes, taps = (I64 * 2)(56, 56), (I64 * 2)(3, 3)
    bound = 1e-4 if dtype == torch.float32 else 1e-2
    by_x = lambda a, b, c: torch.nn.grad.conv2d_input(a.shape, b, c, stride, 1, 1, groups)
    by_w = lambda a, b, c: torch.nn.grad.conv2d_weight(a, b.shape, c, stride, 1, 1, groups)
    want_x, want_w = (f(x.double(), w.double(), g.double()) for f in (by_x, by_w))
    work = 2 * z.numel() * w[0].numel() * 1e-12
    t.add(f"conv_grad_data {stride} {groups} {dtype}", "TF/s", work,
          lambda: l.call("tsr_conv_grad_data", C.byref(dxx), gg, ww, 2, sizes, C.byref(how)),
          lambda: by_x(x, w, g), lambda: near(dx, want_x, bound))
    t.add(f"conv_grad_weights {stride} {groups} {dtype}", "TF/s", work,
          lambda: l.call("tsr_conv_grad_weights", C.byref(dww), gg, xx, 2, taps, C.byref(how)),
          lambda: by_w(x, w, g), lambda: near(dw, want_w, bound))


def products(t, l, kind, dtype):
    f = torch.nn.functional
    names = ["none", "relu", "gelu", "gelu_tanh", "silu"]
    after = [lambda v: v, f.relu, f.gelu, lambda v: f.gelu(v, approximate="tanh"), f.silu][kind]
    x, w, b = random(8, 512, 2048, dtype=dtype), random(8192, 2048, dtype=dtype), random(8192, dtype=dtype)
    z = torch.zeros(8, 512, 8192, dtype=dtype, device="cuda")
    xx, ww, bb, zz = (l.borrow(m) for m in (x, w, b, z))
    want = after(f.linear(x.double(), w.double(), b.double()))
    t.add(f"linear + {names[kind]} {dtype}", "TF/s", 2 * 4096 * 2048 * 8192 * 1e-12,
          lambda: l.call("tsr_linear_activation", C.byref(zz), xx, ww, bb, None, kind),
          lambda: after(f.linear(x, w, b)), lambda: near(z, want, 1e-4 if dtype == torch.float32 else 1e-2))


def main():
    l = Library(sys.argv[1])
    t = Table(l, n=10)
    print(f"{torch.cuda.get_device_name(0)}, PyTorch {torch.__version__}")
    for dtype in (torch.float32, torch.bfloat16):
        attempt(steps, t, l, dtype)
        for kind in range(5):
            attempt(products, t, l, kind, dtype)
        for stride, groups in ((1, 1), (2, 1), (1, 32)):
            attempt(gradients, t, l, stride, groups, dtype)
    for dtype in (torch.complex64, torch.complex128):
        for shape, axis in (((4096, 4096), -1), ((4096, 4096), 0), ((16, 512, 512), 1), ((1 << 24,), 0)):
            attempt(transform, t, l, "fft", shape, axis, dtype)
        attempt(transform, t, l, "irfft", (4096, 2049), -1, dtype)
    attempt(transform, t, l, "rfft", (4096, 4096), -1, torch.float32)
    for name in ("solve", "inv", "cholesky", "qr", "eigh", "svd"):
        for batch, n in (((), 1024), ((64,), 32)):
            attempt(factors, t, l, name, batch, n, torch.float64)
    return 0 if all(row[4] for row in t.rows) else 1


if __name__ == "__main__":
    sys.exit(main())
