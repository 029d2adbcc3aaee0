"""Models in plain calls: a decoder like Qwen2, BERT, ResNet-50, and a training step of an MLP."""

import torch

from libraries import Weight


class Random:
    """Weights by a seed; `scale` keeps activations of the size of their inputs."""

    def __init__(self, seed=1):
        self.generator = torch.Generator().manual_seed(seed)

    def normal(self, *shape, scale=1.0):
        return torch.randn(*shape, generator=self.generator) * scale

    def matrix(self, n, k, encoding="f32"):
        return Weight(self.normal(n, k, scale=k**-0.5), encoding)


class Decoder:
    """Tokens to logits, with a cache of keys and values."""

    def __init__(self, hidden, layers, heads, kv_heads, inner, vocabulary, encoding, longest):
        r, d = Random(), hidden // heads
        self.heads, self.kv_heads, self.d, self.hidden = heads, kv_heads, d, hidden
        self.dtype = torch.bfloat16 if encoding == "bf16" else torch.float32
        small = lambda *shape: r.normal(*shape, scale=0.02).to(self.dtype)
        self.head = r.matrix(vocabulary, hidden, encoding)
        self.table, self.last = self.head.torch, 1 + small(hidden)
        self.layers = [{
            "first": 1 + small(hidden), "second": 1 + small(hidden),
            "q": r.matrix(hidden, hidden, encoding), "q_bias": small(hidden),
            "k": r.matrix(kv_heads * d, hidden, encoding), "k_bias": small(kv_heads * d),
            "v": r.matrix(kv_heads * d, hidden, encoding), "v_bias": small(kv_heads * d),
            "o": r.matrix(hidden, hidden, encoding), "gate": r.matrix(inner, hidden, encoding),
            "up": r.matrix(inner, hidden, encoding), "down": r.matrix(hidden, inner, encoding),
        } for _ in range(layers)]
        self.bytes = self.head.bytes + sum(w.bytes for x in self.layers for w in x.values() if isinstance(w, Weight))
        self.longest = longest

    def start(self, lib):
        """What a library runs with: shared weights, and a cache of its own."""
        share = lambda w: w if isinstance(w, Weight) else lib.shared(w)
        zeros = lambda: lib.shared(torch.zeros(self.longest, self.kv_heads, self.d, dtype=self.dtype))
        return {"lib": lib, "layers": [{k: share(w) for k, w in x.items()} for x in self.layers],
                "table": lib.shared(self.table), "last": lib.shared(self.last),
                "cache": [(zeros(), zeros()) for _ in self.layers]}

    def run(self, state, tokens, at):
        """The logits that follow `tokens`, the first of which is number `at`."""
        lib, m = state["lib"], len(tokens)
        positions = lib.shared(torch.arange(at, at + m))
        x = lib.embedding(state["table"], lib.shared(tokens))
        for w, (keys, values) in zip(state["layers"], state["cache"]):
            h = lib.rms_norm(x, w["first"])
            q, k, v = (lib.reshape(lib.linear(h, w[n], w[n + "_bias"]), (m, -1, self.d)) for n in "qkv")
            keys[at:at + m], values[at:at + m] = lib.rope(k, positions), v
            seen = lib.attention(lib.rope(q, positions), keys[:at + m], values[:at + m])
            x = x + lib.linear(lib.reshape(seen, (m, self.hidden)), w["o"])
            h = lib.rms_norm(x, w["second"])
            x = x + lib.linear(lib.swiglu(lib.linear(h, w["gate"]), lib.linear(h, w["up"])), w["down"])
        return lib.linear(lib.rms_norm(x[-1:], state["last"]), self.head)


class Bert:
    def __init__(self, hidden, layers, heads, inner, vocabulary, longest):
        r = Random()
        self.heads, self.hidden = heads, hidden
        norm = lambda: (1 + r.normal(hidden, scale=0.02), r.normal(hidden, scale=0.02))
        self.tables = r.normal(vocabulary, hidden), r.normal(longest, hidden)
        self.layers = [{
            "first": norm(), "second": norm(),
            **{n: (r.matrix(a, b), r.normal(a, scale=0.02)) for n, a, b in (
                ("q", hidden, hidden), ("k", hidden, hidden), ("v", hidden, hidden), ("o", hidden, hidden),
                ("up", inner, hidden), ("down", hidden, inner))},
        } for _ in range(layers)]

    def start(self, lib):
        share = lambda w: w if isinstance(w, Weight) else lib.shared(w)
        return {"lib": lib, "tables": [lib.shared(t) for t in self.tables],
                "layers": [{k: tuple(map(share, w)) for k, w in x.items()} for x in self.layers]}

    def run(self, state, tokens):
        lib, m = state["lib"], len(tokens)
        x = lib.embedding(state["tables"][0], lib.shared(tokens)) + state["tables"][1][:m]
        for w in state["layers"]:
            q, k, v = (lib.reshape(lib.linear(x, *w[n]), (m, self.heads, -1)) for n in "qkv")
            seen = lib.reshape(lib.attend_all(q, k, v), (m, self.hidden))
            x = lib.layer_norm(x + lib.linear(seen, *w["o"]), *w["first"])
            x = lib.layer_norm(x + lib.linear(lib.gelu(lib.linear(x, *w["up"])), *w["down"]), *w["second"])
        return x


class ResNet:
    """Bottlenecks of three convolutions, each with a norm; ResNet-50 has (3, 4, 6, 3) of them."""

    def __init__(self, blocks, width, classes):
        r = Random()
        self.convs = []

        def conv(o, i, k):
            norm = tuple(1 + r.normal(o, scale=0.1).abs() if j in (1, 2) else r.normal(o, scale=0.1) for j in range(4))
            self.convs.append((r.normal(o, i, k, k, scale=(2 / (i * k * k))**0.5), norm))
            return len(self.convs) - 1

        self.stem = conv(width, 3, 7)
        self.blocks, into = [], width
        for stage, count in enumerate(blocks):
            inner = width << stage
            for i in range(count):
                stride = 2 if stage > 0 and i == 0 else 1
                shortcut = conv(4 * inner, into, 1) if i == 0 else None
                self.blocks.append((conv(inner, into, 1), conv(inner, inner, 3), conv(4 * inner, inner, 1), shortcut,
                                    stride))
                into = 4 * inner
        self.last = r.matrix(classes, into)

    def start(self, lib):
        return {"lib": lib, "convs": [(lib.shared(w), tuple(map(lib.shared, n))) for w, n in self.convs]}

    def run(self, state, x):
        lib = state["lib"]

        def conv(x, which, stride=1):
            w, norm = state["convs"][which]
            return lib.batch_norm(lib.conv(x, w, stride, w.shape[-1] // 2), norm)

        x = lib.max_pool(lib.relu(conv(lib.shared(x), self.stem, 2)))
        for a, b, c, shortcut, stride in self.blocks:
            kept = x if shortcut is None else conv(x, shortcut, stride)
            h = lib.relu(conv(lib.relu(conv(x, a)), b, stride))
            x = lib.relu(conv(h, c) + kept)
        return lib.linear(lib.mean_pool(x), self.last)


class Training:
    """Steps of gradient descent of an MLP with relu and cross-entropy, gradients by hand."""

    def __init__(self, sizes, rate=0.05):
        r = Random()
        self.rate = rate
        self.weights = [(r.normal(o, i, scale=(2 / i)**0.5), torch.zeros(o)) for i, o in zip(sizes, sizes[1:])]

    def start(self, lib):
        return {"lib": lib, "weights": [[lib.shared(w.clone()), lib.shared(b.clone())] for w, b in self.weights]}

    def run(self, state, x, wanted):
        """x (n, sizes[0]), wanted (n, classes) with a one in each row. Gives the logits before the step."""
        lib, weights = state["lib"], state["weights"]
        inputs = [lib.shared(x)]
        for i, (w, b) in enumerate(weights):
            z = inputs[-1] @ w.T + b
            inputs.append(lib.relu(z) if i + 1 < len(weights) else z)
        logits = inputs[-1]
        gradient = (lib.softmax(logits) - lib.shared(wanted)) * (1 / len(x))
        for i in reversed(range(len(weights))):
            w, b = weights[i]
            before = gradient @ w if i else None
            w -= (gradient.T @ inputs[i]) * self.rate
            b -= lib.sum_rows(gradient) * self.rate
            weights[i][:] = w, b
            if i:
                gradient = before * lib.is_positive(inputs[i])
        return logits
