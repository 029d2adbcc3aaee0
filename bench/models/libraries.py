"""The calls that models are made of, by this library and by PyTorch, over the same memory."""

import numpy as np
import torch
import torch.nn.functional as F

import tessera as ts


def blocks_of(w):
    """w (n, k) as blocks of q4_0, u8 (n, k / 32, 18), and the numbers they stand for."""
    x = w.numpy().reshape(-1, 32)
    far = np.take_along_axis(x, np.abs(x).argmax(1)[:, None], 1)
    d = (far / -8).astype(np.float16)
    inverse = np.where(d == 0, 0, 1 / np.where(d == 0, 1, d.astype(np.float32)))
    q = np.clip(np.rint(x * inverse) + 8, 0, 15).astype(np.uint8)
    blocks = np.concatenate([d.view(np.uint8), q[:, :16] | q[:, 16:] << 4], axis=1)
    numbers = (q.astype(np.float32) - 8) * d.astype(np.float32)
    return blocks.reshape(w.shape[0], -1, 18), torch.from_numpy(numbers.reshape(w.shape))


class Weight:
    """A matrix (n, k) in one of the encodings, as both libraries take it."""

    def __init__(self, w, encoding):
        self.encoding, self.torch, self.scale = encoding, w, None
        if encoding == "bf16":
            self.torch = w.bfloat16()
        if encoding == "i8":
            self.scale = (w.abs().amax(1) / 127).clamp_min(1e-12)
            self.bytes_ = (w / self.scale[:, None]).round().to(torch.int8)
            self.torch = self.bytes_.float() * self.scale[:, None]
            self.ours, self.scale = ts.from_dlpack(self.bytes_.T), ts.from_dlpack(self.scale)
        elif encoding == "q4_0":
            blocks, self.torch = blocks_of(w)
            self.ours = ts.asarray(blocks)
        else:
            self.ours = ts.from_dlpack(self.torch)
        size = {"f32": 4, "bf16": 2, "i8": 1, "q4_0": 18 / 32}[encoding]
        self.bytes = w.numel() * size


class Ours:
    name = "tessera"
    shared = staticmethod(ts.from_dlpack)
    synced = staticmethod(lambda x: torch.from_dlpack(x).float())
    rms_norm = staticmethod(lambda x, w: ts.ops.rms_norm(x, w, eps=1e-6))
    layer_norm = staticmethod(lambda x, w, b: ts.ops.layer_norm(x, 1, w, b))
    attention = staticmethod(ts.ops.self_attention)
    embedding = staticmethod(ts.ops.embedding)
    swiglu = staticmethod(ts.ops.swiglu)
    gelu = staticmethod(ts.ops.gelu)
    relu = staticmethod(ts.ops.relu)
    softmax = staticmethod(lambda x: ts.ops.softmax(x, -1))
    sum_rows = staticmethod(lambda x: ts.sum(x, axis=0))
    is_positive = staticmethod(lambda x: ts.astype(x > 0, ts.float32))
    reshape = staticmethod(ts.reshape)

    @staticmethod
    def linear(x, w, bias=None):
        if w.encoding == "q4_0":
            return ts.ops.linear_blocks(x, w.ours, bias, kind="q4_0")
        if w.encoding != "i8":
            return ts.ops.linear(x, w.ours, bias)
        q, scale, _ = ts.ops.quantise_dynamic(x, dtype="int8", symmetric=True)
        return ts.ops.matmul_quantised(q, scale, b=w.ours, b_scale=w.scale, bias=bias, dtype="float32")

    @staticmethod
    def rope(x, positions):
        return ts.ops.rope(x, positions)

    @staticmethod
    def attend_all(q, k, v):
        """Heads (m, h, d), all to all."""
        by_heads = [ts.permute_dims(t, (1, 0, 2)) for t in (q, k, v)]
        return ts.permute_dims(ts.ops.attention(*by_heads), (1, 0, 2))

    @staticmethod
    def conv(x, w, stride, padding):
        return ts.ops.conv2d(x, w, stride=stride, padding=padding)

    @staticmethod
    def batch_norm(x, n):
        return ts.ops.batch_norm(x, *n)

    @staticmethod
    def max_pool(x):
        return ts.ops.max_pool2d(x, 3, stride=2, padding=1)

    @staticmethod
    def mean_pool(x):
        return ts.mean(x, axis=(2, 3))


class Torch:
    name = "pytorch"
    shared = staticmethod(lambda x: x)
    synced = staticmethod(lambda x: x.float())
    rms_norm = staticmethod(lambda x, w: F.rms_norm(x, (x.shape[-1],), w, 1e-6))
    layer_norm = staticmethod(lambda x, w, b: F.layer_norm(x, (x.shape[-1],), w, b))
    embedding = staticmethod(lambda table, i: F.embedding(i, table))
    swiglu = staticmethod(lambda gate, up: F.silu(gate) * up)
    gelu = staticmethod(F.gelu)
    relu = staticmethod(F.relu)
    softmax = staticmethod(lambda x: torch.softmax(x, -1))
    sum_rows = staticmethod(lambda x: x.sum(0))
    is_positive = staticmethod(lambda x: x > 0)
    reshape = staticmethod(torch.reshape)
    batch_norm = staticmethod(lambda x, n: F.batch_norm(x, *n))
    conv = staticmethod(lambda x, w, stride, padding: F.conv2d(x, w, None, stride, padding))
    max_pool = staticmethod(lambda x: F.max_pool2d(x, 3, 2, 1))
    mean_pool = staticmethod(lambda x: x.mean((2, 3)))

    @staticmethod
    def linear(x, w, bias=None):
        return F.linear(x, w.torch, bias)

    @staticmethod
    def rope(x, positions):
        half = x.shape[-1] // 2
        angle = positions.double()[:, None] * 10000.0 ** (-torch.arange(half).double() / half)
        sin, cos = (f(angle)[:, None].to(x.dtype) for f in (torch.sin, torch.cos))
        a, b = x[..., :half], x[..., half:]
        return torch.cat([a * cos - b * sin, b * cos + a * sin], -1)

    @staticmethod
    def attention(q, k, v):
        q, k, v = (t.transpose(0, 1)[None] for t in (q, k, v))
        causal = q.shape[2] > 1
        return F.scaled_dot_product_attention(q, k, v, is_causal=causal, enable_gqa=True)[0].transpose(0, 1)

    @staticmethod
    def attend_all(q, k, v):
        q, k, v = (t.transpose(0, 1)[None] for t in (q, k, v))
        return F.scaled_dot_product_attention(q, k, v)[0].transpose(0, 1)
