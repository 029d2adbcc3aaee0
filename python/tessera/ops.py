"""Every op of the library by its row: names, arguments and words are the library's own.

    >>> import tessera
    >>> tessera.ops.softmax(tessera.asarray([0., 0.]))
    Array([0.5 0.5], dtype=float64)
"""
from . import _tessera

globals().update(_tessera.ops)
__all__ = sorted(_tessera.ops)
