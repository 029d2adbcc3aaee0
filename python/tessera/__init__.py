"""Tessera: strided N-dimensional tensors.

The namespace is the Python array API standard's, revision 2025.12. Ops beyond it are in
tessera.ops, and those whose names the standard does not use are here too.

    >>> import tessera as xp
    >>> xp.asarray([[1., 2.], [3., 4.]]).T
    Array([[1. 3.]
           [2. 4.]], dtype=float64)
"""
from math import e, inf, nan, pi

from . import _tessera

_tessera.check_interpreter()

from . import _creation, _dtypes, _elementwise, _files, _manipulation, _reductions, _text
from ._creation import (
    arange,
    asarray,
    empty,
    empty_like,
    eye,
    from_dlpack,
    full,
    full_like,
    linspace,
    meshgrid,
    ones,
    ones_like,
    tril,
    triu,
    zeros,
     zeros_like)
from ._dtypes import *  # noqa: F403
from ._elementwise import *  # noqa: F403
from ._files import File, convert, load, open, save
from ._plot import plot
from ._html import to_html as _html
from ._indexing import get_item as _get_item
from ._indexing import set_item as _set_item
from ._info import __array_namespace_info__
from ._manipulation import *  # noqa: F403
from ._reductions import *  # noqa: F403
from ._tessera import (
    ArgumentError,
    Array,
    BoundsError,
    DtypeError,
    Error,
    FileError,
    NoMemoryError,
    UnsupportedError,
    as_strided,
    bit_view,
    bool,
    complex64,
    complex128,
    contiguous,
    dtype,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    set_threads,
    shares_memory,
    synchronize,
    threads,
    uint8,
    uint16,
    uint32,
    uint64,
     unfold)
from ._revisions import NEWEST as __array_api_version__
from ._revisions import namespace_of as _namespace_of
from ._text import array_interface as _array_interface
from ._text import directory as _dir
from ._text import reduce_ex as _reduce_ex
from ._text import to_device as _to_device
from ._text import to_format as _format
from ._text import to_list as _tolist
from ._text import to_numpy as _to_numpy
from ._text import to_repr as _repr
from ._text import to_str as _str
from . import fft, linalg, ops, random

for _dtype in _tessera.dtypes:
    globals()[_dtype.name] = _dtype

newaxis = None
__version__ = _tessera.version

_creation_names = """arange asarray empty empty_like eye from_dlpack full full_like linspace meshgrid ones
ones_like tril triu zeros zeros_like""".split()
__all__ = (
    [
        "e",
        "inf",
        "nan",
        "pi",
        "newaxis",
        "Array",
        "dtype",
        "fft",
        "linalg",
        "ops",
        "random",
        "Error",
        "File",
        "convert",
        "load",
        "open",
        "plot",
        "save",
        "__array_namespace_info__",
        "as_strided",
        "bit_view",
        "contiguous",
        "unfold",
        "shares_memory",
        "set_threads",
        "threads",
        "synchronize",
        "__version__"] +
        [
            d.name for d in _tessera.dtypes] +
            _creation_names +
            _dtypes.__all__ +
            _elementwise.__all__ +
            _manipulation.__all__ +
             _reductions.__all__)

_info = __array_namespace_info__

# Ops whose names the standard does not use.
_linear = set(linalg.__all__) | set(fft.__all__) | {"cast", "fill", "copy", "zero", "equal", "allclose"}
for _name, _op in _tessera.ops.items():
    if _name not in globals() and _name not in _linear:
        globals()[_name] = _op
        __all__.append(_name)

# Functions of Python have their examples in the extension, too.
for _name, _text in _tessera.examples.items():
    _place, _, _short = _name.rpartition(".")
    _op = vars(globals()[_place])[_short] if _place else globals()[_short]
    if isinstance(_op, type(_info)) and ">>>" not in _op.__doc__:
        _op.__doc__ += f"\n\n{_text}"
del _dtype, _name, _op, _linear, _creation_names, _text, _place, _short, _info
