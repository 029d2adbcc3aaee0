#!/usr/bin/env python3
"""A perceptron trained through the face of Tech Renaissance beside PyTorch, epoch by epoch in turns.

    cmake --build build --target bench-renaissance
    bench/faces/mlp.py [--bin PROGRAM] [--threads N] [--epochs N] [--samples N] [OPTIMIZER...]

784-512-256-10 without biases, tanh, batches of 128; samples are ten prototypes with noise, the same
on both sides, in memory, in the same order, from the same weights. Prints for each optimizer the
median over the epochs of PyTorch's time divided by the face's, of time that passed and of the
processor's time, and the accuracy of both. The processor's time is that of one thread's work only
with --threads 1."""
import argparse
import os
import statistics
import subprocess
import tempfile
import time

import numpy as np
import torch
from torch import nn

BATCH, SIZES = 128, (784, 512, 256, 10)
OPTIMIZERS = {"sgd": lambda p: torch.optim.SGD(p, 0.1, momentum=0.9),
              "adam": lambda p: torch.optim.Adam(p, 1e-3),
              "adamw": lambda p: torch.optim.AdamW(p, 1e-3, weight_decay=0.01)}


class Data:
    """What both sides train on; `path` holds it in the order that mlp.cpp reads."""

    def __init__(self, samples, tests, epochs, path):
        self.random = np.random.default_rng(1)
        self.prototypes = 0.12 * self.random.standard_normal((10, 784), np.float32)
        self.images, self.labels = self.draw(samples)
        self.test_images, self.test_labels = self.draw(tests)
        self.order = np.stack([self.random.permutation(samples) for _ in range(epochs)]).astype(np.int32)
        self.weights = [self.random.uniform(-i ** -0.5, i ** -0.5, (o, i)).astype(np.float32)
                        for i, o in zip(SIZES, SIZES[1:])]
        with open(path, "wb") as file:
            for part in (np.array([samples, tests, epochs], np.int32), self.images, self.test_images,
                         self.labels, self.test_labels, self.order, *self.weights):
                part.tofile(file)

    def draw(self, count):
        labels = self.random.integers(0, 10, count).astype(np.int32)
        return self.prototypes[labels] + self.random.standard_normal((count, 784), np.float32), labels


class Peer:
    def __init__(self, data, optimizer):
        self.images, self.test_images = torch.from_numpy(data.images), torch.from_numpy(data.test_images)
        self.labels, self.test_labels = (torch.from_numpy(x).long() for x in (data.labels, data.test_labels))
        self.order = torch.from_numpy(data.order).long()
        layers = [nn.Linear(i, o, bias=False) for i, o in zip(SIZES, SIZES[1:])]
        self.net = nn.Sequential(layers[0], nn.Tanh(), layers[1], nn.Tanh(), layers[2])
        with torch.no_grad():
            for layer, weight in zip(layers, data.weights):
                layer.weight.copy_(torch.from_numpy(weight))
        self.loss = nn.CrossEntropyLoss()
        self.optimizer = OPTIMIZERS[optimizer](self.net.parameters())

    def epoch(self, number):
        start, busy = time.perf_counter(), time.process_time()
        total, steps = 0.0, len(self.images) // BATCH
        for index in self.order[number, :steps * BATCH].split(BATCH):
            self.optimizer.zero_grad()
            loss = self.loss(self.net(self.images[index]), self.labels[index])
            loss.backward()
            self.optimizer.step()
            total += loss.item()
        seconds, cpu = time.perf_counter() - start, time.process_time() - busy
        return seconds, cpu, total / steps, self.accuracy()

    def accuracy(self):
        count = len(self.test_images) // BATCH * BATCH
        with torch.no_grad():
            found = self.net(self.test_images[:count]).argmax(1)
        return 100 * (found == self.test_labels[:count]).double().mean().item()


def describe(epoch):
    seconds, cpu, loss, accuracy = epoch
    return f"{seconds:.3f} s (cpu {cpu:.3f}), loss {loss:.4f}, {accuracy:.2f} %"


def compare(options, optimizer, data, path):
    face = subprocess.Popen([options.bin, optimizer, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                            text=True, env=dict(os.environ, TSR_THREADS=str(options.threads)))
    peer = Peer(data, optimizer)
    ratios, busy_ratios = [], []
    for number in range(options.epochs):
        theirs = peer.epoch(number)
        face.stdin.write("epoch\n")
        face.stdin.flush()
        ours = [float(x) for x in face.stdout.readline().split()]
        ratios.append(theirs[0] / ours[0])
        busy_ratios.append(theirs[1] / ours[1])
        print(f"  {optimizer} {number + 1:2}: PyTorch {describe(theirs)}; face {describe(ours)}", flush=True)
    face.stdin.close()
    face.wait()
    print(f"{optimizer}, {options.threads} threads: {statistics.median(ratios):.2f} times as fast as PyTorch "
          f"(by the processor's time {statistics.median(busy_ratios):.2f}), "
          f"accuracy {ours[3]:.2f} % and {theirs[3]:.2f} %", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--bin", default="build/bin/bench-renaissance")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--samples", type=int, default=60000)
    parser.add_argument("optimizers", nargs="*", metavar="OPTIMIZER", help="sgd, adam, adamw: all if none")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "data")
        data = Data(options.samples, 10000, options.epochs, path)
        for optimizer in options.optimizers or OPTIMIZERS:
            compare(options, optimizer, data, path)


main()
