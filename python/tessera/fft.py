"""The standard's discrete Fourier transforms."""
from . import _tessera as _c
from ._common import as_dtype as _as_dtype
from ._common import ops as _ops
from ._creation import _place


def _length(n):
    if n is not None and n < 1:
        raise ValueError(f"fft: the length is {n}")
    return n or 0


def fft(x, /, *, n=None, axis=-1, norm="backward"):
    """The transform along an axis."""
    return _ops.fft(x, _length(n), axis, norm)


def ifft(x, /, *, n=None, axis=-1, norm="backward"):
    """The inverse of fft."""
    return _ops.ifft(x, _length(n), axis, norm)


def rfft(x, /, *, n=None, axis=-1, norm="backward"):
    """Elements 0 .. n // 2 of the transform of reals."""
    return _ops.rfft(x, _length(n), axis, norm)


def irfft(x, /, *, n=None, axis=-1, norm="backward"):
    """The inverse of rfft."""
    return _ops.irfft(x, _length(n), axis, norm)


def hfft(x, /, *, n=None, axis=-1, norm="backward"):
    """The transform of half a signal whose other half is its conjugate: reals."""
    return _ops.hfft(x, _length(n), axis, norm)


def ihfft(x, /, *, n=None, axis=-1, norm="backward"):
    """The inverse of hfft."""
    return _ops.ihfft(x, _length(n), axis, norm)


def _several(op, x, s, axes, norm):
    if s is None and axes is not None and len(axes) == 0:
        raise ValueError(f"{op.__name__}: there are no axes")
    return op(x, None if s is None else [_length(n) for n in s], axes, norm)


def fftn(x, /, *, s=None, axes=None, norm="backward"):
    """fft along several axes."""
    return _several(_ops.fftn, x, s, axes, norm)


def ifftn(x, /, *, s=None, axes=None, norm="backward"):
    """The inverse of fftn."""
    return _several(_ops.ifftn, x, s, axes, norm)


def rfftn(x, /, *, s=None, axes=None, norm="backward"):
    """rfft along the last of several axes, fft along the others."""
    return _several(_ops.rfftn, x, s, axes, norm)


def irfftn(x, /, *, s=None, axes=None, norm="backward"):
    """The inverse of rfftn."""
    return _several(_ops.irfftn, x, s, axes, norm)


def fftfreq(n, /, *, d=1.0, dtype=None, device=None):
    """The frequencies of fft's elements, in cycles per unit of d."""
    return _place(_ops.fftfreq(n, d, dtype=_as_dtype(dtype, _c.float64)), device)


def rfftfreq(n, /, *, d=1.0, dtype=None, device=None):
    """The frequencies of rfft's elements, in cycles per unit of d."""
    return _place(_ops.rfftfreq(n, d, dtype=_as_dtype(dtype, _c.float64)), device)


def fftshift(x, /, *, axes=None):
    """Element 0 moved to the middle of axes."""
    return _ops.fftshift(x, axes)


def ifftshift(x, /, *, axes=None):
    """The inverse of fftshift."""
    return _ops.ifftshift(x, axes)


__all__ = """fft ifft fftn ifftn rfft irfft rfftn
irfftn hfft ihfft fftfreq rfftfreq fftshift ifftshift""".split()


def __dir__():
    return __all__
