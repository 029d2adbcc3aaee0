#!/usr/bin/env python3
"""Whole models timed beside PyTorch: the same weights in the same memory, calls of the two alternating.

    bench/models/run.py [--seconds S] [--threads N] [--json FILE] [--check] [REGEX]

A decoder of Qwen2's shape (f32, bf16, i8, q4_0 weights; a prompt of 128 tokens, then token after token), ResNet-50,
BERT-base, and a training step of an MLP. The best of the rounds that fit in S seconds counts. A ratio is PyTorch's
time over ours. `difference` is the largest between the results, over the largest result. For decoding, `read` is the
bytes of the weights over the time, as a share of what a sum over a large tensor reads.

PyTorch has i8 and q4_0 weights as f32 of the same values: it has no product of its own for them on every processor.
--check runs tiny models, compares, and times nothing."""

import argparse
import json
import os
import pathlib
import re
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
BUILD = pathlib.Path(os.environ.get("BUILD", HERE.parent.parent / "build")).resolve()
sys.path[:0] = [str(HERE), str(BUILD / "python")]

import torch  # noqa: E402

import tessera as ts  # noqa: E402
from libraries import Ours, Torch  # noqa: E402
from models import Bert, Decoder, Random, ResNet, Training  # noqa: E402

LIBRARIES = Ours, Torch
PROMPT, DECODED = 128, 16
# The largest difference that is rounding: bf16 rounds activations, and i8 those of one library alone.
LIMITS = {"f32": 1e-3, "q4_0": 1e-3, "bf16": 0.1, "i8": 0.1}


def processor():
    for line in open("/proc/cpuinfo") if os.path.exists("/proc/cpuinfo") else ():
        if line.startswith("model name"):
            return line.split(":")[1].strip()
    return "an unnamed processor"


class Case:
    """A model and an input: run(state) gives the result; `units` of work are done in it."""

    def __init__(self, name, make, run, limit=1e-3, units=1):
        self.name, self.make, self.run, self.limit, self.units = name, make, run, limit, units


def decoder_cases(tiny):
    shape = (64, 2, 4, 2, 96, 100) if tiny else (896, 24, 14, 2, 4864, 32000)
    prompt, decoded = (5, 3) if tiny else (PROMPT, DECODED)
    tokens = torch.randint(0, shape[-1], (prompt + decoded,), generator=torch.Generator().manual_seed(2))

    def prefill(model, state):
        return model.run(state, tokens[:prompt], 0)

    def decode(model, state):
        for i in range(prompt, prompt + decoded):
            logits = model.run(state, tokens[i:i + 1], i)
        return logits

    for encoding, limit in LIMITS.items():
        make = lambda encoding=encoding: Decoder(*shape, encoding, prompt + decoded)
        yield Case(f"qwen2 {encoding} prefill {prompt}", make, prefill, limit)
        yield Case(f"qwen2 {encoding} decode", make, decode, limit, decoded)


def other_cases(tiny):
    r = Random(3)
    size, batches = (32, (1, 2)) if tiny else (224, (1, 8))
    for n in batches:
        x = r.normal(n, 3, size, size)
        make = (lambda: ResNet((1, 1), 8, 10)) if tiny else (lambda: ResNet((3, 4, 6, 3), 64, 1000))
        yield Case(f"resnet50 f32 batch {n}", make, lambda model, state, x=x: model.run(state, x))
    length = 5 if tiny else 128
    tokens = torch.randint(0, 90, (length,), generator=r.generator)
    make = (lambda: Bert(32, 2, 2, 64, 90, 8)) if tiny else (lambda: Bert(768, 12, 12, 3072, 30522, 512))
    yield Case(f"bert f32 {length} tokens", make, lambda model, state: model.run(state, tokens))
    sizes, n = ((12, 8, 4), 6) if tiny else ((784, 512, 256, 10), 128)
    x, classes = r.normal(n, sizes[0]), torch.randint(0, sizes[-1], (n,), generator=r.generator)
    wanted = torch.nn.functional.one_hot(classes, sizes[-1]).float()
    yield Case(f"mlp step batch {n}", lambda: Training(sizes), lambda model, state: model.run(state, x, wanted))


def difference(results):
    ours, theirs = results
    return float((ours - theirs).abs().max() / theirs.abs().max())


def bandwidth():
    """Bytes a second of a sum over more than caches hold; the better of both libraries."""
    x, best = torch.ones(1 << 26), 0
    for _ in range(5):
        for f in (lambda: x.sum(), lambda y=ts.from_dlpack(x): ts.sum(y)):
            start = time.perf_counter()
            f()
            best = max(best, x.numel() * 4 / (time.perf_counter() - start))
    return best


def measure(case, model, states, seconds, check):
    """The results of both, and the best time of each; a first call warms up, and is compared."""
    results = [lib.synced(case.run(model, s)) for lib, s in zip(LIBRARIES, states)]
    best, end = [float("inf")] * 2, time.perf_counter() + (0 if check else seconds)
    while not check and (time.perf_counter() < end or best[1] == float("inf")):
        for i, s in enumerate(states):
            start = time.perf_counter()
            case.run(model, s)
            best[i] = min(best[i], time.perf_counter() - start)
    return difference(results), best


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--seconds", type=float, default=120)
    p.add_argument("--threads", type=int, default=os.cpu_count())
    p.add_argument("--json")
    p.add_argument("--check", action="store_true")
    p.add_argument("regex", nargs="?", default=".")
    a = p.parse_args()
    torch.set_num_threads(a.threads)
    torch.set_grad_enabled(False)
    ts.set_threads(a.threads)
    cases = [c for c in [*decoder_cases(a.check), *other_cases(a.check)] if re.search(a.regex, c.name)]
    read = 0 if a.check else bandwidth()
    print(f"{processor()}, {a.threads} threads, PyTorch {torch.__version__}" +
          (f", sums read {read / 1e9:.1f} GB/s" if read else ""))
    print(f"{'':26}{'tessera ms':>12}{'pytorch ms':>12}{'ratio':>8}{'difference':>12}{'read':>7}")
    wrong, lines, kept = 0, [], (None, None, None)
    for c in cases:
        name = c.name.rsplit(" ", 2)[0] if "prefill" in c.name else c.name.removesuffix(" decode")
        if kept[0] != name:  # a decoder's cache is filled by its prompt
            model = c.make()
            kept = name, model, [model.start(lib) for lib in LIBRARIES]
        off, (ours, theirs) = measure(c, kept[1], kept[2], a.seconds / len(cases), a.check)
        share = kept[1].bytes * c.units / ours / read if "decode" in c.name and read else None
        wrong += not off <= c.limit
        print(f"{c.name:26}" + ("" if a.check else
              f"{ours / c.units * 1e3:12.2f}{theirs / c.units * 1e3:12.2f}{theirs / ours:8.2f}") +
              f"{off:12.1e}" + (f"{share:7.2f}" if share else "") + ("" if off <= c.limit else "  another model"),
              flush=True)
        lines.append({"case": c.name, "seconds": ours / c.units, "pytorch": theirs / c.units, "difference": off})
    if a.json:
        with open(a.json, "w") as f:
            f.writelines(json.dumps(line) + "\n" for line in lines)
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main())
