#!/usr/bin/env python3
"""The workloads of bench-ops through NumPy, PyTorch, OpenBLAS and oneDNN, in turns with ours.

    bench/peers/compare.py [--json FILE] [--threads N] [--rounds N] [--bin DIR] [REGEX]

Each workload is timed in rounds: ours (bench-ops --serve), then each peer, again and
again, and the best of each counts. Prints what part of the machine's limit we reach, and
how many times longer each peer takes (above 1 we are faster), then the geometric mean for
each family. NumPy and PyTorch are those of the interpreter that runs this; bench-peer-openblas
and bench-peer-onednn are built where their headers are found. A peer that is not there is
left out with a line."""
import argparse
import json
import math
import os
import re
import subprocess
import sys
import time

DTYPES = {"f32": "float32", "f64": "float64", "f16": "float16", "i8": "int8", "u8": "uint8", "i32": "int32", "bool": "bool"}


def arguments():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--json")
    p.add_argument("--threads", type=int, default=1)
    p.add_argument("--rounds", type=int, default=3)
    p.add_argument("--bin", default="build/bin")
    p.add_argument("regex", nargs="?", default=".")
    return p.parse_args()


class Program:
    """A program that answers "NAME THREADS" with seconds, or with "none"."""

    def __init__(self, command, threads, named=True):
        self.threads = threads
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.name = self.process.stdout.readline().strip() if named else "tessera"

    def ask(self, name):
        self.process.stdin.write(f"{name} {self.threads}\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline().split()
        return None if not answer or answer == ["none"] else [float(a) for a in answer]

    def workload(self, name):
        """As the functions below: something that times itself, or None."""
        return (lambda: self.ask(name)[0]) if self.ask(name) else None


def timed(run, seconds=0.1):
    """Best time of one call, in batches of a millisecond at least."""
    run()
    batch = 1
    while True:
        start = time.perf_counter()
        for _ in range(batch):
            run()
        took = time.perf_counter() - start
        if took > 1e-3:
            break
        batch *= 2
    best = took / batch
    until = time.perf_counter() + seconds
    while time.perf_counter() < until:
        start = time.perf_counter()
        for _ in range(batch):
            run()
        best = min(best, (time.perf_counter() - start) / batch)
    return best


def numpy_workload(name):
    """A function that runs the workload, or None where NumPy has none."""
    import numpy as np
    rng = np.random.default_rng(1)
    part = name.split(".")

    def make(shape, dt="f32"):
        if dt not in DTYPES:
            return None
        if dt == "bool":
            return rng.random(shape) < 0.5
        if dt[0] in "iu":
            return rng.integers(0, 100, shape).astype(DTYPES[dt])
        return (rng.random(shape) * 2 - 1).astype(DTYPES[dt])

    def shape_of(text):
        return tuple(int(n) for n in text.split("x"))

    fresh = part[-1] == "alloc"
    if fresh:
        part = part[:-1]
    if part[0] == "a":
        views = {"T": lambda x: x.T, "nchw2nhwc": lambda x: x.transpose(0, 2, 3, 1), "flip0": lambda x: x[::-1],
                 "flip1": lambda x: x[:, ::-1], "copy": lambda x: x, "rev5": lambda x: x.transpose(),
                 "rev6": lambda x: x.transpose()}
        if part[1] in ("T", "flip0", "flip1", "copy"):
            x = make((int(part[3]),) * 2, part[2])
            v = views[part[1]](x)
        elif part[1] in ("nchw2nhwc", "rev5", "rev6"):
            v = views[part[1]](make(shape_of(part[3]), part[2]))
        elif part[1] == "nhwc2nchw":
            n, c, h, w = shape_of(part[3])
            v = make((n, h, w, c), part[2]).transpose(0, 3, 1, 2)
        elif part[1] in ("p3", "p4"):
            v = make(shape_of(part[4]), part[3]).transpose([int(d) for d in part[2]])
        elif part[1].startswith("bcast"):
            r, c = shape_of(part[3])
            v = np.broadcast_to(make((1, c) if "row" in part[1] else (r, 1)), (r, c))
        elif part[1] == "slice2_first":
            v = make((4000, 2000))[::2]
        elif part[1] == "slice2_last":
            v = make((2000, 4000))[:, ::2]
        elif part[1] == "slice_inner":
            v = make((2200, 2200))[100:2100, 100:2100]
        else:
            return None
        if fresh:
            return lambda: np.ascontiguousarray(v)
        z = np.zeros(v.shape, v.dtype)
        return lambda: np.copyto(z, v)
    if part[0] == "b":
        counts = {"64": 64, "1K": 1024, "1M": 1 << 20, "8M": 1 << 23, "16M": 1 << 24}
        unary = {"exp": np.exp, "tanh": np.tanh, "sqrt": np.sqrt, "log": np.log, "sin": np.sin}
        binary = {"add": np.add, "mul": np.multiply, "maximum": np.maximum, "less": np.less}
        op = part[1]
        if op.startswith("bcast") or op == "add_T":
            n = int(part[3])
            x = make((n, 1) if op == "bcast_outer" else (n, n))
            y = make((n, n)).T if op == "add_T" else make((n, 1) if op == "bcast_col" else (1, n))
            z = np.zeros((n, n), "f4")
            return lambda: np.add(x, y, out=z)
        if op == "cast":
            x, dt = make(counts[part[4]], part[2]), DTYPES.get(part[3])
            if x is None or dt is None:
                return None
            z = np.zeros(x.shape, dt)
            return lambda: np.copyto(z, x, casting="unsafe")
        n = counts[part[3]]
        x, y = make(n, part[2]), make(n, part[2])
        if x is None:
            return None
        if op == "add_strided2":
            x, y, z = make(2 * n)[::2], make(2 * n)[::2], np.zeros(n, "f4")
            return lambda: np.add(x, y, out=z)
        if op in unary:
            x, z = np.abs(x) if part[-1] != "wide" else np.maximum(100 * x, 0) if op == "log" else 100 * x, np.zeros_like(x)
            return lambda: unary[op](x, out=z)
        if op == "pow2":
            z = np.zeros_like(x)
            return lambda: np.power(x, 2, out=z)
        if op in binary:
            z = np.zeros(n, bool if op == "less" else x.dtype)
            return (lambda: binary[op](x, y)) if fresh else (lambda: binary[op](x, y, out=z))
        if op == "addscalar":
            z = np.zeros_like(x)
            return lambda: np.add(x, np.float32(2.5), out=z)
        if op == "relu":
            z = np.zeros_like(x)
            return lambda: np.maximum(x, np.float32(0), out=z)
        if op == "where":
            m = make(n, "bool")
            return lambda: np.where(m, x, y)
        return None
    if part[0] == "c":
        ops = {"sum": np.sum, "max": np.max, "mean": np.mean, "argmax": np.argmax, "std": np.std, "cumsum": np.cumsum}
        if part[1] not in ops:
            return None
        axis = {"all": None, "ax0": 0, "ax1": 1, "flat": None}[part[2]]
        x = make(shape_of(part[4]), part[3])
        if part[-1] == "T":
            x = x.T
        return lambda: ops[part[1]](x, axis=axis)
    if part[0] == "d":
        if part[1] not in ("mm", "bmm", "gemv", "mm_nt", "mm_tn", "mm_tt", "mm_gs", "gemv_nt") or part[2] not in DTYPES:
            return None
        size = shape_of(part[3])
        b, m, k, n = (1, *size * 3) if len(size) == 1 else (1, *size) if len(size) == 3 else size
        shape = () if b == 1 else (b,)
        how = part[1].partition("_")[2] or "nn"
        how = "sn" if how == "gs" else how
        x = make(shape + {"n": (m, k), "t": (k, m), "s": (2 * m, 2 * k)}[how[0]], part[2])
        y = make(shape + ((k, n) if how[1] == "n" else (n, k)), part[2])
        x = {"n": x, "t": x.swapaxes(-1, -2), "s": x[..., ::2, ::2]}[how[0]]
        y = y if how[1] == "n" else y.swapaxes(-1, -2)
        z = np.zeros(shape + (m, n), x.dtype)
        return lambda: np.matmul(x, y, out=z)
    if part[0] == "g":
        if part[1] == "sort":
            x = make(1 << 20)
            return lambda: np.sort(x)
        if part[1] == "argsort":
            x = make(1 << 20)
            return lambda: np.argsort(x, kind="stable")
        if part[1] in ("rand", "randn"):
            z = np.zeros(1 << 24, "f4")
            draw = rng.random if part[1] == "rand" else rng.standard_normal
            return lambda: draw(out=z, dtype=np.float32)
        if part[1] == "gather":
            x, i = make((50257, 768)), rng.integers(0, 50257, 4096)
            z = np.zeros((4096, 768), "f4")
            return lambda: np.take(x, i, 0, out=z, mode="clip")
        if part[1] == "concat3":
            xs = [make((1, 224, 224, 3)) for _ in range(3)]
            z = np.zeros((3, 224, 224, 3), "f4")
            return lambda: np.concatenate(xs, 0, out=z)
        if part[1].startswith(("concat64", "stack")):
            count, shape = (64, (1024, 1024)) if "64" in part[1] else (3, (224, 224))
            xs = [make(shape) for _ in range(count)]
            join, axis = (np.concatenate, int(part[2][2])) if part[1] == "concat64" else (np.stack, 2)
            z = join(xs, axis)
            return lambda: join(xs, axis, out=z)
        if part[1] == "pad":
            x = make((32, 64, 56, 56))
            return lambda: np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
        if part[1] == "topk":
            x = make(1 << 20)
            return lambda: np.partition(x, -100)[-100:]
    if part[0] == "f":
        a, b, m, k = make((2, 2)), make((2, 2)), make((3, 3)), make((4, 4))
        z, mz = np.zeros((2, 2), "f4"), np.zeros((4, 4), "f4")
        return {"add4": lambda: a + b, "add4_out": lambda: np.add(a, b, out=z), "slice": lambda: m[:2],
                "transpose": lambda: a.T, "zeros2x3": lambda: np.zeros((2, 3), "f4"),
                "empty2x3": lambda: np.empty((2, 3), "f4"), "mm4": lambda: np.matmul(k, k, out=mz),
                "reshape": lambda: a.reshape(4), "sum4": lambda: a.sum(), "getitem_scalar": lambda: a[1, 1]}.get(part[1])
    if part[0] == "s":
        n = int(part[3])
        if part[1] == "mm":
            x, y, z = make((n, n)), make((n, n)), np.zeros((n, n), "f4")
            return lambda: np.matmul(x, y, out=z)
        x, y, z = make(n), make(n), np.zeros(n, "f4")
        return {"copy": lambda: np.copyto(z, x), "add": lambda: np.add(x, y, out=z), "sum": lambda: x.sum()}.get(part[1])
    if part[0] == "h" and part[1] == "add_sum":
        n = {"64K": 1 << 16, "1M": 1 << 20, "16M": 1 << 24}[part[3]]
        x, y, z = make(n), make(n), np.zeros(n, "f4")
        return lambda: np.add(x, y, out=z).sum()
    return None


def torch_workload(name):
    """The same in PyTorch, for what it does that NumPy does not, or does in another way."""
    import torch
    part = name.split(".")
    fresh = part[-1] == "alloc"
    if fresh:
        part = part[:-1]
    dtypes = {"f32": torch.float32, "f64": torch.float64, "f16": torch.float16, "bf16": torch.bfloat16, "i8": torch.int8,
              "u8": torch.uint8, "i32": torch.int32}
    torch.manual_seed(1)

    def make(shape, dt="f32"):
        shape = shape if isinstance(shape, tuple) else (shape,)
        if dt[0] in "iu":
            return torch.randint(0, 100, shape, dtype=dtypes[dt])
        return (torch.rand(shape) * 2 - 1).to(dtypes[dt])

    def shape_of(text):
        return tuple(int(n) for n in text.split("x"))

    counts = {"64": 64, "1K": 1024, "1M": 1 << 20, "8M": 1 << 23, "16M": 1 << 24}
    if part[0] == "a":
        if part[1] in ("T", "copy"):
            x = make((int(part[3]),) * 2, part[2])
            v = x.T if part[1] == "T" else x
        elif part[1] == "nchw2nhwc":
            v = make(shape_of(part[3]), part[2]).permute(0, 2, 3, 1)
        elif part[1] == "nhwc2nchw":
            n, c, h, w = shape_of(part[3])
            v = make((n, h, w, c), part[2]).permute(0, 3, 1, 2)
        elif part[1] in ("p3", "p4"):
            v = make(shape_of(part[4]), part[3]).permute([int(d) for d in part[2]])
        elif part[1] in ("rev5", "rev6"):
            x = make(shape_of(part[3]), part[2])
            v = x.permute(*range(x.ndim - 1, -1, -1))
        elif part[1] in ("flip0", "flip1"):
            x, axis = make((2000, 2000)), int(part[1][4])
            return lambda: torch.flip(x, (axis,))
        elif part[1].startswith("bcast"):
            r, c = shape_of(part[3])
            v = make((1, c) if "row" in part[1] else (r, 1)).expand(r, c)
        elif part[1].startswith("slice"):
            v = {"slice2_first": lambda: make((4000, 2000))[::2], "slice2_last": lambda: make((2000, 4000))[:, ::2],
                 "slice_inner": lambda: make((2200, 2200))[100:2100, 100:2100]}[part[1]]()
        else:
            return None
        if fresh:
            return lambda: v.contiguous()
        z = torch.empty(v.shape, dtype=v.dtype)
        return lambda: z.copy_(v)
    if part[0] == "b":
        gelu = torch.nn.functional.gelu
        unary = {"exp": torch.exp, "tanh": torch.tanh, "sqrt": torch.sqrt, "log": torch.log, "sin": torch.sin,
                 "sigmoid": torch.sigmoid, "erf": torch.erf}
        binary = {"add": torch.add, "mul": torch.mul, "maximum": torch.maximum, "less": torch.lt}
        op = part[1]
        if op.startswith("bcast") or op == "add_T":
            n = int(part[3])
            x = make((n, 1) if op == "bcast_outer" else (n, n))
            y = make((n, n)).T if op == "add_T" else make((n, 1) if op == "bcast_col" else (1, n))
            z = torch.empty(n, n)
            return lambda: torch.add(x, y, out=z)
        if op == "cast":
            x, z = make(counts[part[4]], part[2]), torch.empty(counts[part[4]], dtype=dtypes[part[3]])
            return lambda: z.copy_(x)
        if part[2] not in dtypes:
            return None
        n = counts[part[3]]
        x, y = make(n, part[2]), make(n, part[2])
        z = torch.empty(n, dtype=torch.bool if op == "less" else x.dtype)
        if part[-1] == "wide":
            x = torch.relu(100 * x) if op == "log" else 100 * x
        elif op in unary:
            x = x.abs()
        if op in unary:
            return lambda: unary[op](x, out=z)
        if op == "pow2":
            return lambda: torch.pow(x, 2, out=z)
        if op in binary:
            return (lambda: binary[op](x, y)) if fresh else (lambda: binary[op](x, y, out=z))
        if op in ("gelu", "gelu_tanh"):
            return lambda: gelu(x, approximate="tanh" if op == "gelu_tanh" else "none")
        if op == "silu":
            return lambda: torch.nn.functional.silu(x)
        if op == "addscalar":
            return lambda: torch.add(x, 2.5, out=z)
        if op == "fma":
            w = make(n)
            return lambda: torch.addcmul(w, x, y, out=z)
        if op == "where":
            m = torch.rand(n) < 0.5
            return lambda: torch.where(m, x, y)
        return None
    if part[0] == "c":
        x = make(shape_of(part[4] if part[2][:2] in ("ax", "al", "fl") else part[3]), part[3] if part[2] in ("all", "ax0", "ax1") else "f32")
        axis = {"all": None, "ax0": 0, "ax1": 1}.get(part[2])
        if part[1] in ("sum", "mean", "argmax"):
            f = {"sum": torch.sum, "mean": torch.mean, "argmax": torch.argmax}[part[1]]
            return (lambda: f(x)) if axis is None else (lambda: f(x, axis))
        if part[1] == "max":
            return (lambda: torch.amax(x)) if axis is None else (lambda: torch.amax(x, axis))
        if part[1] == "cumsum" and axis is not None:
            return lambda: torch.cumsum(x, axis)
        if part[1] in ("std", "logsumexp"):
            f = {"std": torch.std, "logsumexp": torch.logsumexp}[part[1]]
            return lambda: f(x, 1)
        if part[1] == "softmax" and part[-1] == "masked":
            x[torch.rand(x.shape) < 0.5] = float("-inf")
        if part[1] == "softmax":
            return lambda: torch.softmax(x, -1)
        if part[1] == "rmsnorm":
            w = make(x.shape[1])
            return lambda: torch.nn.functional.rms_norm(x, (x.shape[1],), w)
        if part[1] == "layernorm":
            w, b = make(x.shape[1]), make(x.shape[1])
            return lambda: torch.nn.functional.layer_norm(x, (x.shape[1],), w, b)
        return None
    if part[0] == "d":
        if part[1] not in ("mm", "bmm", "gemv", "mm_nt", "mm_tn", "mm_tt", "mm_gs", "gemv_nt") or part[2] == "i8":
            return None
        size = shape_of(part[3])
        b, m, k, n = (1, *size * 3) if len(size) == 1 else (1, *size) if len(size) == 3 else size
        shape = () if b == 1 else (b,)
        how = part[1].partition("_")[2] or "nn"
        how = "sn" if how == "gs" else how
        x = make(shape + {"n": (m, k), "t": (k, m), "s": (2 * m, 2 * k)}[how[0]], part[2])
        y = make(shape + ((k, n) if how[1] == "n" else (n, k)), part[2])
        x = {"n": x, "t": x.transpose(-1, -2), "s": x[..., ::2, ::2]}[how[0]]
        y = y if how[1] == "n" else y.transpose(-1, -2)
        z = torch.empty(shape + (m, n), dtype=x.dtype)
        return lambda: torch.matmul(x, y, out=z)
    if part[0] == "e":
        if part[1] in ("conv2d", "conv2d_1x1", "dwconv2d"):
            x = make(shape_of(part[3]))
            k = 1 if part[1] == "conv2d_1x1" else 3
            groups = 64 if part[1] == "dwconv2d" else 1
            w = make((64, 64 // groups, k, k))
            return lambda: torch.nn.functional.conv2d(x, w, padding=k // 2, groups=groups)
        if part[1] == "conv2d_nhwc":
            x = make(shape_of(part[3])).to(memory_format=torch.channels_last)
            w = make((64, 64, 3, 3)).to(memory_format=torch.channels_last)
            return lambda: torch.nn.functional.conv2d(x, w, padding=1)
        if part[1] == "conv1d":
            x, w = make((32, 64, 1024)), make((64, 64, 3))
            return lambda: torch.nn.functional.conv1d(x, w, padding=1)
        if part[1] in ("attn", "attn_causal"):
            q, k, v = (make((1, 32, 1024, 128)) for _ in range(3))
            return lambda: torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=part[1] == "attn_causal")
        x = make((32, 64, 56, 56))
        pools = {"maxpool2x2": lambda: torch.nn.functional.max_pool2d(x, 2), "avgpool2x2": lambda: torch.nn.functional.avg_pool2d(x, 2),
                 "maxpool3x3s2": lambda: torch.nn.functional.max_pool2d(x, 3, 2, 1)}
        return pools.get(part[1])
    if part[0] == "g":
        if part[1] in ("sort", "argsort"):
            x = make(1 << 20)
            return (lambda: torch.sort(x)) if part[1] == "sort" else (lambda: torch.argsort(x, stable=True))
        if part[1] == "topk":
            x = make(1 << 20)
            return lambda: torch.topk(x, 100)
        if part[1] in ("rand", "randn"):
            z = torch.empty(1 << 24)
            return (lambda: z.uniform_()) if part[1] == "rand" else (lambda: z.normal_())
        if part[1] == "gather":
            x, i = make((50257, 768)), torch.randint(0, 50257, (4096,))
            z = torch.empty(4096, 768)
            return lambda: torch.index_select(x, 0, i, out=z)
        if part[1] == "scatter_add":
            x, i, y = make((50257, 768)), torch.randint(0, 50257, (4096,)), make((4096, 768))
            return lambda: x.index_add_(0, i, y)
        if part[1].startswith(("concat", "stack")):
            count = 64 if "64" in part[1] else 3
            shape = (1, 224, 224, 3) if part[1] == "concat3" else (224, 224) if count == 3 else (1024, 1024)
            xs = [make(shape) for _ in range(count)]
            join, axis = (torch.stack, 2) if part[1].startswith("stack") else (torch.cat, 1 if part[2] == "ax1" else 0)
            z = join(xs, axis)
            return lambda: join(xs, axis, out=z)
        if part[1] == "pad":
            x = make((32, 64, 56, 56))
            return lambda: torch.nn.functional.pad(x, (1, 1, 1, 1))
    if part[0] == "f":
        a, b, m, k = make((2, 2)), make((2, 2)), make((3, 3)), make((4, 4))
        z, mz = torch.empty(2, 2), torch.empty(4, 4)
        return {"add4": lambda: a + b, "add4_out": lambda: torch.add(a, b, out=z), "slice": lambda: m[:2],
                "transpose": lambda: a.T, "zeros2x3": lambda: torch.zeros(2, 3), "empty2x3": lambda: torch.empty(2, 3),
                "mm4": lambda: torch.matmul(k, k, out=mz), "reshape": lambda: a.reshape(4), "sum4": lambda: a.sum(),
                "getitem_scalar": lambda: a[1, 1].item()}.get(part[1])
    if part[0] == "s":
        n = int(part[3])
        if part[1] == "mm":
            x, y, z = make((n, n)), make((n, n)), torch.empty(n, n)
            return lambda: torch.matmul(x, y, out=z)
        x, y, z = make(n), make(n), torch.empty(n)
        return {"copy": lambda: z.copy_(x), "add": lambda: torch.add(x, y, out=z), "sum": lambda: x.sum()}.get(part[1])
    if part[0] == "h":
        if part[1] == "add_sum":
            n = {"64K": 1 << 16, "1M": 1 << 20, "16M": 1 << 24}[part[3]]
            x, y, z = make(n), make(n), torch.empty(n)
            return lambda: torch.add(x, y, out=z).sum()
        if part[1] == "mm_gelu_mm":
            n = int(part[3])
            scale = math.sqrt(3 / n)  # as networks scale their weights
            x, y, w, t, z = make((n, n)), make((n, n)) * scale, make((n, n)) * scale, torch.empty(n, n), torch.empty(n, n)
            return lambda: torch.matmul(torch.nn.functional.gelu(torch.matmul(x, y, out=t)), w, out=z)
        if part[1] == "permute_mm":
            x, w, t, z = make((8, 128, 16, 64)), make((64, 64)), torch.empty(8, 16, 128, 64), torch.empty(8, 16, 128, 64)
            return lambda: torch.matmul(t.copy_(x.permute(0, 2, 1, 3)), w, out=z)
    return None


def vector_machine():
    try:
        return "avx512f" in open("/proc/cpuinfo").read()
    except OSError:
        return False


def find_peers(folder, threads):
    """Name of each peer, and a function from a workload's name to one that returns seconds."""
    def in_python(make):
        def workload(name):
            run = make(name)
            return (lambda: timed(run)) if run else None
        return workload

    peers = {}
    try:
        import numpy
        peers["numpy " + numpy.__version__] = in_python(numpy_workload)
    except ImportError:
        print("bench-peers: no NumPy: left out")
    try:
        import torch
        torch.set_num_threads(threads)
        peers["torch " + torch.__version__.partition("+")[0]] = in_python(torch_workload)
    except ImportError:
        print("bench-peers: no PyTorch: left out")
    for library in ("openblas", "onednn"):
        try:
            program = Program([f"{folder}/bench-peer-{library}"], threads)
            peers[program.name] = program.workload
        except OSError:
            print(f"bench-peers: no {library}: left out")
    return peers


def measure(name, ours, peers, rounds):
    """Best seconds of ours, of the limit and of each peer that has the workload."""
    runs = {p: make(name) for p, make in peers.items()}
    best = {"tessera": math.inf, "limit": math.inf, **{p: math.inf for p in runs}}
    for _ in range(rounds):
        answer = ours.ask(name)
        if answer:
            best["tessera"] = min(best["tessera"], answer[0])
            best["limit"] = min(best["limit"], answer[1] or math.inf)
        for p, run in runs.items():
            if run:
                best[p] = min(best[p], run())
    return best


def mean(ratios):
    return math.exp(sum(map(math.log, ratios)) / len(ratios))


def main():
    args = arguments()
    os.environ["OMP_NUM_THREADS"] = str(args.threads)
    if vector_machine():  # older releases take newer machines for very old ones
        os.environ.setdefault("OPENBLAS_CORETYPE", "SkylakeX")
    peers = find_peers(args.bin, args.threads)
    names = subprocess.run([f"{args.bin}/bench-ops", "--list"], capture_output=True, text=True, check=True).stdout.split()
    names = [n for n in names if re.search(args.regex, n)]
    ours = Program([f"{args.bin}/bench-ops", "--serve", "--threads", str(args.threads)], args.threads, named=False)
    out = open(args.json, "a") if args.json else None
    ratios, slower = {}, []
    print(f"{args.threads} thread{'s' * (args.threads > 1)}; columns of peers: how many times as long as ours")
    print(f"{'workload':42}{'ours':>12}{'of limit':>10}" + "".join(f"{p:>16}" for p in peers))
    for i, name in enumerate(names):
        if sys.stderr.isatty():
            done = 24 * i // len(names)
            print(f"\r\033[K{'#' * done}{'.' * (24 - done)} {i}/{len(names)} {name}", end="", file=sys.stderr)
        best = measure(name, ours, peers, args.rounds)
        if sys.stderr.isatty():
            print("\r\033[K", end="", file=sys.stderr)
        share = best["limit"] / best["tessera"]
        line = f"{name:42}{best['tessera'] * 1e6:9.2f} us" + (f"{share:10.2f}" if math.isfinite(share) else f"{'':10}")
        for p in peers:
            ratio = best[p] / best["tessera"]
            line += f"{ratio:16.2f}" if math.isfinite(ratio) else f"{'-':>16}"
            if math.isfinite(ratio):
                ratios.setdefault(name.split(".")[0], {}).setdefault(p, []).append(ratio)
        fastest = min(peers, key=best.get, default=None)
        if fastest and best[fastest] < best["tessera"]:
            slower.append((best["tessera"] / best[fastest], name, fastest))
        print(line, flush=True)
        if out:
            for lib, seconds in best.items():
                if math.isfinite(seconds):
                    out.write(json.dumps({"lib": lib, "workload": name, "threads": args.threads, "seconds": seconds}) + "\n")
            out.flush()
    print("\ngeometric mean of the peer's time over ours (number of workloads)")
    for family, table in sorted(ratios.items()):
        print(f"  {family}  " + "  ".join(f"{p}: {mean(r):.2f} ({len(r)})" for p, r in table.items()))
    if slower:
        print("\nslower than the best peer here")
        for ratio, name, p in sorted(slower, reverse=True):
            print(f"  {name:42}{ratio:6.2f} times as long as {p}")


if __name__ == "__main__":
    main()
