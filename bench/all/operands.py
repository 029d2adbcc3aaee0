"""Operands of cases: a dtype, a shape and a layout, made once in memory that all libraries share."""

import collections
import math

import numpy as np

try:
    import torch
except ImportError:
    torch = None

# low and high of the values; integers are drawn from the whole numbers between.
Operand = collections.namedtuple("Operand", "dtype shape layout low high")

NUMPY = {
    "bool": "?",
    "u8": "u1",
    "i8": "i1",
    "i32": "i4",
    "i64": "i8",
    "f16": "f2",
    "f32": "f4",
    "f64": "f8",
    "c64": "c8",
    "c128": "c16",
    "bf16": "f4",
}
TORCH = {
    "bool": "bool",
    "u8": "uint8",
    "i8": "int8",
    "i32": "int32",
    "i64": "int64",
    "f16": "float16",
    "bf16": "bfloat16",
    "f32": "float32",
    "f64": "float64",
    "c64": "complex64",
    "c128": "complex128",
}
SIZE = {
    "bool": 1,
    "u8": 1,
    "i8": 1,
    "i32": 4,
    "i64": 8,
    "f16": 2,
    "bf16": 2,
    "f32": 4,
    "f64": 8,
    "c64": 8,
    "c128": 16,
}


def operand(dtype, *shape, layout="contiguous", low=-3.0, high=3.0):
    if dtype == "u8":
        low, high = max(low, 0), min(high, 255)
    return Operand(dtype, tuple(shape), layout, low, high)


def permuted_order(n):
    """The last dims first."""
    return (*range(2, n), *range(min(2, n)))


def stored(o):
    """Shape in memory, and what makes the operand of it."""
    n = len(o.shape)
    if o.layout == "transposed":
        return o.shape[::-1], lambda a: a.T
    if o.layout == "permuted":
        order = permuted_order(n)
        return tuple(o.shape[order.index(d)] for d in range(n)), lambda a: a.transpose(order)
    if o.layout == "step":
        return (*o.shape[:-1], o.shape[-1] * 3), lambda a: a[..., ::3]
    if o.layout == "part":
        return (*o.shape[:-1], o.shape[-1] + 5), lambda a: a[..., : o.shape[-1]]
    return o.shape, lambda a: a


def filled(o, shape, random):
    kind = np.dtype(NUMPY[o.dtype]).kind
    if kind == "b":
        return random.random(shape, dtype="f4") < 0.5
    if kind in "iu":
        return random.integers(int(o.low), max(int(o.high), int(o.low) + 1), shape, dtype=NUMPY[o.dtype])
    values = (random.random(shape, dtype="f4") * (o.high - o.low) + o.low).astype(NUMPY[o.dtype])
    if kind == "c":
        values.imag = random.random(shape, dtype="f4")
    return values


class Memory:
    """The operand as NumPy's array, PyTorch's tensor and ours, over the same bytes.
    NumPy has no bf16, so PyTorch makes those."""

    def __init__(self, o, random, tessera):
        shape, view = stored(o)
        base = filled(o, shape, random)
        if o.layout == "sorted":
            base.sort()
        if o.dtype == "bf16":
            base = torch.from_numpy(base).to(torch.bfloat16)
            self.numpy = None
            self.torch = as_torch(view, o, base)
            self.tessera = tessera.from_dlpack(self.torch)
        else:
            self.numpy = view(base)
            self.torch = torch.from_numpy(self.numpy) if torch else None
            self.tessera = tessera.asarray(self.numpy)


def filled_there(o, shape, device, seed):
    """The same in a device's memory; each seed has its own numbers."""
    source = torch.Generator(device).manual_seed(seed)
    dtype = getattr(torch, TORCH[o.dtype])
    if o.dtype == "bool":
        return torch.rand(shape, generator=source, device=device) < 0.5
    if o.dtype in ("u8", "i8", "i32", "i64"):
        low = int(o.low)
        return torch.randint(low, max(int(o.high), low + 1), shape, generator=source, device=device, dtype=dtype)
    if o.dtype in ("c64", "c128"):
        return torch.randn(shape, generator=source, device=device, dtype=dtype)
    values = torch.rand(shape, generator=source, device=device) * (o.high - o.low) + o.low
    return values.to(dtype)


class DeviceMemory:
    """The operand in a device's memory, as PyTorch's tensor and ours."""

    numpy = None

    def __init__(self, o, device, seed, tessera):
        shape, view = stored(o)
        base = filled_there(o, shape, device, seed)
        if o.layout == "sorted":
            base = base.sort()[0]
        self.torch = as_torch(view, o, base)
        torch.cuda.synchronize()  # our streams do not wait for PyTorch's
        self.tessera = tessera.from_dlpack(self.torch)


def as_torch(view, o, base):
    if o.layout == "permuted":
        return base.permute(permuted_order(base.ndim))
    return base.mT if o.layout == "transposed" and base.ndim == 2 else view(base)


def size_in_bytes(o):
    return math.prod(o.shape) * SIZE[o.dtype]
