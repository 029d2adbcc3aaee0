"""Random arrays that can be repeated anywhere: seed and index give the value, on every device."""
from . import _tessera as _c
from ._common import as_dtype as _as_dtype
from ._common import ops as _ops


class Generator:
    """Arrays from one seed, each call with values of its own: call i uses the stream i of the seed."""

    def __init__(self, seed=0):
        self.seed, self.calls = int(seed), 0

    def _next(self):
        """A seed for this call: SplitMix64 of the seed and the number of the call."""
        word = (self.seed + self.calls * 0x9E3779B97F4A7C15) & (2**64 - 1)
        self.calls += 1
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
            word = ((word ^ (word >> shift)) * factor) & (2**64 - 1)
        return word ^ (word >> 31)

    def __repr__(self):
        return f"Generator(seed={self.seed}) after {self.calls} calls"

    def uniform(self, shape=(), low=0.0, high=1.0, *, dtype=None):
        """Uniform in [low, high)."""
        return _ops.uniform(_as_dtype(dtype, _c.float64), shape, low, high, seed=self._next())

    def normal(self, shape=(), mean=0.0, deviation=1.0, *, dtype=None):
        """Normal with this mean and deviation."""
        return _ops.normal(_as_dtype(dtype, _c.float64), shape, mean, deviation, seed=self._next())

    def exponential(self, shape=(), rate=1.0, *, dtype=None):
        """Exponential with this rate."""
        return _ops.exponential(_as_dtype(dtype, _c.float64), shape, rate, seed=self._next())

    def integers(self, low, high, shape=(), *, dtype=None):
        """Integers in [low, high), all equally likely."""
        return _ops.integers(_as_dtype(dtype, _c.int64), shape, low, high, self._next())

    def bernoulli(self, shape=(), p=0.5):
        """True with probability p."""
        return _ops.bernoulli(shape, p, seed=self._next())

    def permutation(self, n):
        """0 .. n - 1 in random order."""
        return _ops.permutation(n, self._next())

    def shuffle(self, x, axis=0):
        """x with its indices along an axis in random order."""
        return _ops.shuffle(x, axis, seed=self._next())

    def choice(self, weights, samples, replacement=False):
        """Indices drawn by weight."""
        return _ops.multinomial(weights, samples, replacement, seed=self._next())


__all__ = ["Generator"]
