#!/usr/bin/env python3
"""Everything timed: every op, dtype, layout and size beside NumPy, PyTorch and a plain compiled loop.

    bench/all/run.py [--seconds S] [--threads N] [--device D] [--seed K] [--json FILE] [--list] [--check] [REGEX]

Cases are made from the list of ops (cases.py). As many as fit in S seconds are drawn, some of each family in each
round; a seed draws the same ones again. The libraries alternate, over the same memory, and the best of five rounds
counts.

Ends with counts by family: behind the plain loop, behind the best peer by more than 5 % and by more than half; and
the worst 30. A ratio is the other's time over ours: below 1 we are slower. Loops count from 10^4 elements on: what
a call costs is measured by bench-ops. --device cuda:0 times everything there, beside PyTorch on the same device and
the same memory: sizes are 10^3, 10^6 and 10^8, and a time is of a batch of calls that ends with waiting for the device.
Ops that the device's backend does not have are counted and listed. --check runs every op once, on its smallest
operands, compares values with NumPy's (PyTorch's on a device), and times nothing."""

import argparse
import collections
import ctypes
import json
import math
import os
import pathlib
import random
import re
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
BUILD = pathlib.Path(os.environ.get("BUILD", HERE.parent.parent / "build"))
ROUNDS = 5


def arguments():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--seconds", type=float, default=300)
    p.add_argument("--threads", type=int, default=1)
    p.add_argument("--device", default="cpu")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--json")
    p.add_argument("--list", action="store_true")
    p.add_argument("--check", action="store_true")
    p.add_argument("regex", nargs="?", default=".")
    return p.parse_args()


def processor():
    for line in open("/proc/cpuinfo") if os.path.exists("/proc/cpuinfo") else ():
        if line.startswith("model name"):
            return line.split(":")[1].strip()
    return "an unnamed processor"


class Loops:
    """The plain loops of loops.c, or nothing where there is no compiler."""

    def __init__(self):
        out = BUILD / "bench-loops.so"
        built = subprocess.run(
            [
                "cc",
                "-O3",
                "-march=native",
                "-ffast-math",
                "-w",
                "-shared",
                "-fPIC",
                HERE / "loops.c",
                "-lm",
                "-o",
                out,
            ]
        )
        self.library = ctypes.CDLL(str(out)) if built.returncode == 0 else None

    def prepare(self, case, memories):
        """A function that runs the loop so many times, or None."""
        if self.library is None or case.loop is None or not memories:
            return None
        if case.op == "copy":
            memories = memories[1:]
        arrays = [m.numpy for m in memories]
        dtype = case.operands[-1].dtype
        n, m = max((a.shape for a in arrays), key=lambda s: s[0] * s[1])

        class Operand(ctypes.Structure):
            _fields_ = [("at", ctypes.c_void_p), ("row", ctypes.c_int64), ("column", ctypes.c_int64)]

        in_elements = [
            Operand(a.ctypes.data, *(s // a.itemsize if d > 1 else 0 for s, d in zip(a.strides, a.shape)))
            for a in (arrays * 3)[:3]
        ]
        import numpy as np

        z = np.empty((n, m), arrays[0].dtype)
        operands = (Operand * 3)(*in_elements)
        call = getattr(self.library, f"{case.loop}_{dtype}")
        sizes = [ctypes.c_int64(n), ctypes.c_int64(m)]
        return lambda times: (
            call(ctypes.c_int64(times), *sizes, ctypes.c_void_p(z.ctypes.data), operands),
            z,
        )[1]


def repeated(call, arrays):
    def run(times):
        for _ in range(times):
            result = call(*arrays)
        return result

    return run


class OnDevice:
    """What a device has in place of plain loops: calls that are waited for."""

    def __init__(self, name):
        import torch

        self.name, self.torch = name, torch

    def prepare(self, case, memories):
        return None

    def waited(self, run):
        def call(times):
            with self.torch.device(self.name):
                result = run(times)
            self.torch.cuda.synchronize()
            return result

        return call

    def tidy(self):
        """What results leave is kept by PyTorch for the next of their size: 60 GB of it are enough."""
        if self.torch.cuda.memory_reserved() > 60 << 30:
            self.torch.cuda.empty_cache()


def prepare(case, memories, loops):
    """Functions that run the case so many times, by library: those that can."""
    runs = {"tessera": repeated(case.ours, [m.tessera for m in memories])}
    if case.numpy and all(m.numpy is not None for m in memories):
        runs["numpy"] = repeated(case.numpy, [m.numpy for m in memories])
    if case.torch and all(m.torch is not None for m in memories):
        runs["torch"] = repeated(case.torch, [m.torch for m in memories])
    if isinstance(loops, OnDevice):
        runs.pop("numpy", None)
        runs = {lib: loops.waited(run) for lib, run in runs.items()}
    for lib in list(runs):
        try:
            runs[lib](1)
        except Exception as why:  # whatever a library says where it has no such case
            if lib == "tessera":
                raise RuntimeError(f"{case.name}: {why}") from why
            del runs[lib]
    loop = loops.prepare(case, memories)
    if loop and math.prod(case.operands[-1].shape) >= 10_000:
        runs["loop"] = loop
    return runs


def batch_of(run):
    """How often a call is repeated to take a quarter of a millisecond."""
    times = 1
    while True:
        start = time.perf_counter()
        run(times)
        took = time.perf_counter() - start
        if took > 2.5e-4 or times > 1 << 16:
            return times
        times *= 4 if took < 5e-5 else 2


def measure(runs):
    batch = {lib: batch_of(run) for lib, run in runs.items()}
    best = dict.fromkeys(runs, math.inf)
    for _ in range(ROUNDS):
        for lib, run in runs.items():
            start = time.perf_counter()
            run(batch[lib])
            best[lib] = min(best[lib], (time.perf_counter() - start) / batch[lib])
    return best


def drawn(cases, seed):
    """Some of each family in each round, each family in random order."""
    families = collections.defaultdict(list)
    for case in cases:
        families[case.family].append(case)
    for family in sorted(families):
        random.Random(f"{seed} {family}").shuffle(families[family])
    rounds = max(map(len, families.values()), default=0)
    for i in range(rounds):
        for family in sorted(families):
            # Families with many cases are drawn oftener, by the root of their number.
            share = max(1, round(math.sqrt(len(families[family]) / 50)))
            yield from families[family][i * share : (i + 1) * share]


def bytes_of(case):
    from operands import size_in_bytes

    return sum(map(size_in_bytes, case.operands))


def memories_of(args, case, tessera):
    import numpy as np
    from operands import DeviceMemory, Memory

    if args.device != "cpu":
        return [
            DeviceMemory(o, args.device, args.seed + i, tessera) for i, o in enumerate(case.operands)
        ]
    source = np.random.default_rng(args.seed)
    return [Memory(o, source, tessera) for o in case.operands]


def run_all(args, cases, tessera):
    """Cases with their times, and those that our backend refused."""
    loops = Loops() if args.device == "cpu" else OnDevice(args.device)
    results, refused = [], []
    until = time.perf_counter() + args.seconds
    out = open(args.json, "a") if args.json else None
    for case in drawn(cases, args.seed):
        if time.perf_counter() > until:
            break
        try:
            best = measure(prepare(case, memories_of(args, case, tessera), loops))
        except RuntimeError as why:
            if args.device == "cpu":
                raise
            refused.append((case, why))
            continue
        results.append((case, best))
        if args.device != "cpu":
            loops.tidy()
        if out:
            for lib, seconds in best.items():
                out.write(
                    json.dumps(
                        {
                            "lib": lib,
                            "workload": case.name,
                            "threads": args.threads,
                            "seconds": seconds,
                            "bytes": bytes_of(case),
                            "flops": 0,
                        }
                    )
                    + "\n"
                )
        if sys.stderr.isatty():
            left = until - time.perf_counter()
            print(
                f"\r\033[K{len(results)} of {len(cases)} cases, {left:.0f} s left  {case.name[:60]}",
                end="",
                file=sys.stderr,
            )
    if sys.stderr.isatty():
        print("\r\033[K", end="", file=sys.stderr)
    return results, refused


def ratio(best, libs):
    """The time of the best of these over ours, and its name."""
    others = [(best[lib], lib) for lib in libs if lib in best]
    return (min(others)[0] / best["tessera"], min(others)[1]) if others else (None, None)


def machine(args):
    if args.device == "cpu":
        return f"{processor()}, {args.threads} thread{'s' * (args.threads > 1)}"
    import torch

    return f"{args.device}, {torch.cuda.get_device_name(args.device)}"


def report_refused(refused):
    """Ops that the device cannot do, with the words for the first case of each."""
    by_op = {}
    for case, why in refused:
        by_op.setdefault(case.op, (case, why))
    if by_op:
        print(f"\n{len(refused)} cases of {len(by_op)} ops were refused:")
    for case, why in by_op.values():
        print(f"  {case.name}: {str(why.__cause__ or why)[:110]}")


def report(args, results, refused, total):
    rows = collections.defaultdict(lambda: [0] * 6)
    worst = []
    for case, best in results:
        peer, name = ratio(best, ("numpy", "torch"))
        loop, _ = ratio(best, ("loop",))
        worst += [
            (r, n, case, best) for r, n in ((peer, name), (loop, "loop")) if r is not None and r < 1 / 1.05
        ]
        for row in (rows[case.family], rows["all"]):
            row[0] += 1
            row[1] += peer is not None
            row[2] += peer is not None and peer < 1 / 1.05
            row[3] += peer is not None and peer < 1 / 1.5
            row[4] += loop is not None
            row[5] += loop is not None and loop < 1 / 1.05
    print(
        f"{machine(args)}: {len(results)} of {total} cases, seed {args.seed}\n"
    )
    print(
        f"{'family':12} {'cases':>6} {'with a peer':>12} {'behind by 5 %':>14} {'by half':>8} "
        f"{'with a loop':>12} {'behind it':>10}"
    )
    for family in [*sorted(f for f in rows if f != "all"), "all"]:
        n, peers, behind, far, looped, slower = rows[family]
        print(f"{family:12} {n:6} {peers:12} {behind:14} {far:8} {looped:12} {slower:10}")
    print("\nthe worst 30: the other's time over ours")
    for r, name, case, best in sorted(worst, key=lambda w: w[0])[:30]:
        print(f"  {r:5.2f} {name:6} {best['tessera'] * 1e6:12.2f} us  {case.name}")
    report_refused(refused)


def values_of(result):
    """As NumPy's array on the host; None of what is no single array."""
    import numpy as np
    from operands import torch

    if isinstance(result, tuple):
        return None
    if torch and torch.is_tensor(result):
        result = result.float() if result.dtype == torch.bfloat16 else result.resolve_conj().resolve_neg()
        result = result.cpu()
    elif hasattr(result, "to_device"):
        result = result.to_device("cpu")
    return np.asarray(result)


def are_near(ours, theirs):
    import numpy as np

    if ours is None or theirs is None or ours.dtype == object or ours.shape != theirs.shape:
        return True
    return np.allclose(ours, theirs, rtol=1e-2, atol=1e-2, equal_nan=True)


def check(args, cases, tessera):
    """Every op once: its smallest case, with values compared where a peer gives them."""
    smallest, wrong, refused = {}, 0, []
    loops, peer = (Loops(), "numpy") if args.device == "cpu" else (OnDevice(args.device), "torch")
    for case in cases:
        if case.op not in smallest or bytes_of(case) < bytes_of(smallest[case.op]):
            smallest[case.op] = case
    for case in smallest.values():
        try:
            runs = prepare(case, memories_of(args, case, tessera), loops)
        except RuntimeError as why:
            if args.device == "cpu":
                raise
            refused.append((case, why))
            continue
        if case.family in ("linalg", "random") or case.op in ("dropout", "argsort") or peer not in runs:
            continue
        if not are_near(values_of(runs["tessera"](1)), values_of(runs[peer](1))):
            print(f"{case.name}: {peer} gives other values")
            wrong += 1
    report_refused(refused)
    print(f"{len(smallest) - len(refused)} passed, {wrong} failed, {len(refused)} skipped")
    return wrong == 0


def main():
    args = arguments()
    for variable in ("TSR_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[variable] = str(args.threads)
    sys.path[:0] = [str(BUILD / "python"), str(HERE)]
    import tessera
    from cases import SIZES, all_cases
    from operands import torch

    if args.device != "cpu":
        if not torch or not torch.cuda.is_available():
            sys.exit("bench-all: no PyTorch with a device here")
        SIZES.clear()
        SIZES.update({"1e3": (32, 32), "1e6": (1000, 1001), "1e8": (10_000, 10_000)})

    if torch:
        torch.set_num_threads(args.threads)
        torch.set_grad_enabled(False)
    else:
        print("bench-all: no PyTorch here; beside NumPy and plain loops alone")
    rows = json.loads(subprocess.check_output([BUILD / "bin/tsr", "ops", "--json"]))["ops"]
    cases, missing = all_cases(rows, tessera.ops)
    if missing:
        sys.exit(f"bench-all: no cases of {', '.join(missing)}: see cases.py")
    cases = [
        c
        for c in cases
        if re.search(args.regex, c.name) and (torch or all(o.dtype != "bf16" for o in c.operands))
    ]
    if args.list:
        print("\n".join(c.name for c in cases))
    elif args.check:
        sys.exit(not check(args, cases, tessera))
    else:
        report(args, *run_all(args, cases, tessera), len(cases))


if __name__ == "__main__":
    main()
