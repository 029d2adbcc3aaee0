#!/usr/bin/env python3
"""The workloads of bench-ops through NumPy and PyTorch, in turns with ours.

    tools/bench_peers.py [--json FILE] [--threads N] [--rounds N] [--bin DIR] [REGEX]

Each workload is timed in rounds: ours (bench-ops --serve), then each peer, again and
again, and the best of each counts. Prints seconds as ratios (peer / ours: above 1 we are
faster) and the geometric mean for each family. A peer that is not installed is left out
with a line."""
import argparse
import json
import math
import os
import re
import subprocess
import sys
import time

os.environ.setdefault("OMP_NUM_THREADS", "1")
DTYPES = {"f32": "float32", "f64": "float64", "f16": "float16", "i8": "int8", "u8": "uint8", "i32": "int32", "bool": "bool"}


def arguments():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--json")
    p.add_argument("--threads", type=int, default=1)
    p.add_argument("--rounds", type=int, default=3)
    p.add_argument("--bin", default="build/bin")
    p.add_argument("regex", nargs="?", default=".")
    return p.parse_args()


class Ours:
    def __init__(self, folder, threads):
        self.threads = threads
        self.process = subprocess.Popen([f"{folder}/bench-ops", "--serve"], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)

    def time(self, name):
        self.process.stdin.write(f"{name} {self.threads}\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline().strip()
        return None if answer in ("", "none") else float(answer)


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
            x, z = np.abs(x), np.zeros_like(x)
            return lambda: unary[op](x, out=z)
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
        if part[1] not in ("mm", "bmm", "gemv", "mm_nt", "mm_tn", "mm_tt", "gemv_nt") or part[2] not in DTYPES:
            return None
        size = shape_of(part[3])
        b, m, k, n = (1, *size * 3) if len(size) == 1 else (1, *size) if len(size) == 3 else size
        shape = () if b == 1 else (b,)
        how = part[1].partition("_")[2] or "nn"
        x = make(shape + ((m, k) if how[0] == "n" else (k, m)), part[2])
        y = make(shape + ((k, n) if how[1] == "n" else (n, k)), part[2])
        x = x if how[0] == "n" else x.swapaxes(-1, -2)
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
        if op in unary:
            x = x.abs()
            return lambda: unary[op](x, out=z)
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
        if part[1] == "softmax":
            return lambda: torch.softmax(x, -1)
        if part[1] == "layernorm":
            w, b = make(x.shape[1]), make(x.shape[1])
            return lambda: torch.nn.functional.layer_norm(x, (x.shape[1],), w, b)
        return None
    if part[0] == "d":
        if part[1] not in ("mm", "bmm", "gemv", "mm_nt", "mm_tn", "mm_tt", "gemv_nt") or part[2] == "i8":
            return None
        size = shape_of(part[3])
        b, m, k, n = (1, *size * 3) if len(size) == 1 else (1, *size) if len(size) == 3 else size
        shape = () if b == 1 else (b,)
        how = part[1].partition("_")[2] or "nn"
        x = make(shape + ((m, k) if how[0] == "n" else (k, m)), part[2])
        y = make(shape + ((k, n) if how[1] == "n" else (n, k)), part[2])
        x = x if how[0] == "n" else x.transpose(-1, -2)
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
    return None


def find_peers(threads):
    peers = {}
    try:
        import numpy
        peers["numpy " + numpy.__version__] = numpy_workload
    except ImportError:
        print("bench-peers: no NumPy: leaving it out")
    try:
        import torch
        torch.set_num_threads(threads)
        peers["torch " + torch.__version__.partition("+")[0]] = torch_workload
    except ImportError:
        print("bench-peers: no PyTorch: leaving it out")
    return peers


def main():
    args = arguments()
    os.environ["OMP_NUM_THREADS"] = str(args.threads)
    peers = find_peers(args.threads)
    names = subprocess.run([f"{args.bin}/bench-ops", "--list"], capture_output=True, text=True, check=True).stdout.split()
    names = [n for n in names if re.search(args.regex, n)]
    ours = Ours(args.bin, args.threads)
    out = open(args.json, "a") if args.json else None
    ratios = {}
    print(f"{'workload':42}{'ours':>12}" + "".join(f"{p:>16}" for p in peers) + "   (peer / ours)")
    for i, name in enumerate(names):
        if sys.stderr.isatty():
            print(f"\r\033[K[{i + 1}/{len(names)}] {name}", end="", file=sys.stderr)
        runs = {p: make(name) for p, make in peers.items()}
        best = {"tessera": math.inf, **{p: math.inf for p in runs}}
        for _ in range(args.rounds):
            seconds = ours.time(name)
            if seconds:
                best["tessera"] = min(best["tessera"], seconds)
            for p, run in runs.items():
                if run:
                    best[p] = min(best[p], timed(run))
        if sys.stderr.isatty():
            print("\r\033[K", end="", file=sys.stderr)
        line = f"{name:42}{best['tessera'] * 1e6:9.2f} us"
        for p in runs:
            ratio = best[p] / best["tessera"]
            line += f"{ratio:16.2f}" if math.isfinite(ratio) else f"{'-':>16}"
            if math.isfinite(ratio):
                ratios.setdefault(name.split(".")[0], {}).setdefault(p, []).append(ratio)
        print(line, flush=True)
        if out:
            for lib, seconds in best.items():
                if math.isfinite(seconds):
                    out.write(json.dumps({"lib": lib, "workload": name, "threads": args.threads, "seconds": seconds}) + "\n")
    print("\ngeometric mean of peer / ours")
    for family, table in ratios.items():
        print(f"  {family}  " + "  ".join(f"{p}: {math.exp(sum(map(math.log, r)) / len(r)):.2f} ({len(r)})" for p, r in table.items()))


if __name__ == "__main__":
    main()
