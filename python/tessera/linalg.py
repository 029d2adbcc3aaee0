"""The standard's linear algebra."""
import math as _math
import typing as _typing

from . import _tessera as _c
from ._common import Array as _Array
from ._common import as_dtype as _as_dtype
from ._common import cast as _cast
from ._common import need_array as _need_array
from ._common import ops as _ops
from ._manipulation import matmul, matrix_transpose, tensordot, vecdot

EighResult = _typing.NamedTuple("EighResult", [("eigenvalues", _Array), ("eigenvectors", _Array)])
EigResult = _typing.NamedTuple("EigResult", [("eigenvalues", _Array), ("eigenvectors", _Array)])
QRResult = _typing.NamedTuple("QRResult", [("Q", _Array), ("R", _Array)])
SlogdetResult = _typing.NamedTuple("SlogdetResult", [("sign", _Array), ("logabsdet", _Array)])
SVDResult = _typing.NamedTuple("SVDResult", [("U", _Array), ("S", _Array), ("Vh", _Array)])


def cholesky(x, /, *, upper=False):
    """The lower triangle l with x = l @ adjoint(l), or the upper one u with x = adjoint(u) @ u."""
    return _ops.cholesky(x, upper)


def cross(x1, x2, /, *, axis=-1):
    """The vector product along an axis of three elements."""
    return _ops.cross(x1, x2, axis)


def det(x, /):
    """The determinant."""
    return _ops.det(x)


def diagonal(x, /, *, offset=0):
    """A diagonal of the last two dims as a new last dim: a view."""
    return _c.diagonal(x, offset)


def eig(x, /):
    """Eigenvalues and eigenvectors, complex, in no order."""
    return EigResult(*_ops.eig(x))


def eigh(x, /):
    """Eigenvalues, ascending, and eigenvectors of a Hermitian matrix."""
    return EighResult(*_ops.eigh(x))


def eigvals(x, /):
    """Eigenvalues, complex, in no order."""
    return _ops.eigvals(x)


def eigvalsh(x, /):
    """Eigenvalues of a Hermitian matrix, ascending."""
    return _ops.eigvalsh(x)


def inv(x, /):
    """The inverse."""
    return _ops.inv(x)


_ORDS = {"fro": "fro", "nuc": "nuc", 1: "one", -1: "minus_one", 2: "two", -2: "minus_two", _math.inf: "inf",
         -_math.inf: "minus_inf", None: "fro"}


def matrix_norm(x, /, *, keepdims=False, ord="fro"):
    """A norm of each matrix."""
    if ord not in _ORDS:
        raise ValueError(f"matrix_norm: there is no norm {ord!r}")
    return _ops.matrix_norm(x, _ORDS[ord], keepdims)


def matrix_power(x, n, /):
    """The product of n equal matrices; of the inverse for n < 0."""
    return _ops.matrix_power(x, n)


def _above(s, rtol, rows, cols):
    """Which singular values count, where rtol may differ from matrix to matrix."""
    largest = _ops.max(s, -1, True) if s.shape[-1] else s
    rtol = _cast(rtol, s.dtype)
    return _ops.gt(s, _ops.mul(_c.expand_dims(rtol, rtol.ndim), largest))


def matrix_rank(x, /, *, rtol=None):
    """How many singular values are larger than rtol times the largest."""
    if not isinstance(rtol, _Array):
        return _ops.matrix_rank(x, -1 if rtol is None else rtol)
    return _ops.count_nonzero(_above(_ops.svdvals(x), rtol, *x.shape[-2:]), -1)


def outer(x1, x2, /):
    """out[i, j] = x1[i] * x2[j]."""
    if _need_array(x1, "outer").ndim != 1 or _need_array(x2, "outer").ndim != 1:
        raise ValueError(f"outer: the arrays have {x1.ndim} and {x2.ndim} dims, and not 1")
    return _ops.mul(_c.expand_dims(x1, 1), x2)  # not a sum of one product, which would lose -0


def pinv(x, /, *, rtol=None):
    """The pseudo-inverse."""
    if not isinstance(rtol, _Array):
        return _ops.pinv(x, -1 if rtol is None else rtol)
    u, s, vh = _ops.svd(x, False)
    inverse = _ops.where(_above(s, rtol, *x.shape[-2:]), _ops.reciprocal(s), _ops.mul(s, 0))
    scaled = _ops.mul(_ops.adjoint(vh), _cast(_c.expand_dims(inverse, -2), x.dtype))
    return _ops.matmul(scaled, _ops.adjoint(u))


def qr(x, /, *, mode="reduced"):
    """Orthonormal columns and an upper triangle whose product is x."""
    if mode not in ("reduced", "complete"):
        raise ValueError(f"qr: mode is {mode!r}, and neither 'reduced' nor 'complete'")
    return QRResult(*_ops.qr(x, mode == "complete"))


def slogdet(x, /):
    """Sign, and logarithm of the absolute value, of the determinant."""
    return SlogdetResult(*_ops.slogdet(x))


def solve(x1, x2, /):
    """x with x1 @ x = x2."""
    return _ops.solve(x1, x2)


def svd(x, /, *, full_matrices=True):
    """x = (U * S) @ Vh, S descending."""
    return SVDResult(*_ops.svd(x, full_matrices))


def svdvals(x, /):
    """Singular values, descending."""
    return _ops.svdvals(x)


def trace(x, /, *, offset=0, dtype=None):
    """The sum of a diagonal."""
    dtype = _as_dtype(dtype)
    out = _ops.trace(x if dtype is None else _cast(x, dtype), offset)
    return out if dtype is None else _cast(out, dtype)


def vector_norm(x, /, *, axis=None, keepdims=False, ord=2):
    """(sum of |x|^ord)^(1/ord); the largest |x| for inf, the smallest for -inf, how many are not 0 for 0."""
    _need_array(x, "vector_norm")
    if isinstance(axis, (tuple, list)) and len(axis) == 0:
        return _ops.vector_norm(_c.expand_dims(x, 0), 0, False, p=ord)
    if axis is None and x.ndim == 0:
        return _ops.vector_norm(_c.expand_dims(x, 0), 0, False, p=ord)
    return _ops.vector_norm(x, axis, keepdims, p=ord)


__all__ = """cholesky cross det diagonal eig eigh eigvals eigvalsh inv matmul matrix_norm matrix_power
matrix_rank matrix_transpose outer pinv qr slogdet solve svd svdvals tensordot trace vecdot
vector_norm""".split()


def __dir__():
    return __all__
