"""What the modules of the package share."""
import types

from . import _tessera as c

ops = types.SimpleNamespace(**c.ops)
Array = c.Array
DTYPES = c.dtypes

KINDS = {
    "bool": ("boolean",),
    "signed integer": ("signed",),
    "unsigned integer": ("unsigned",),
    "integral": ("signed", "unsigned"),
    "real floating": ("floating",),
    "complex floating": ("complex",),
    "numeric": ("signed", "unsigned", "floating", "complex"),
}


def is_integer(dtype):
    return dtype.kind in ("signed", "unsigned")


def need_array(x, what):
    if not isinstance(x, Array):
        raise TypeError(f"{what}: {type(x).__name__} is no array")
    return x


def as_dtype(dtype, default=None):
    return default if dtype is None else c.dtype(dtype)


def default_dtype(value):
    """What a number of Python is without an array beside it."""
    if isinstance(value, bool):
        return c.bool
    if isinstance(value, int):
        return c.int64
    return c.complex128 if isinstance(value, complex) else c.float64


def number_dtype(value, dtype):
    """The dtype of an array and a number of Python: the array's, or the complex one of its floats."""
    kind = dtype.kind
    if isinstance(value, bool):
        return dtype
    if isinstance(value, int):
        if kind != "boolean":
            return dtype
    elif isinstance(value, float):
        if kind in ("floating", "complex"):
            return dtype
    elif isinstance(value, complex):
        if kind == "floating":
            return c.complex128 if dtype is c.float64 else c.complex64
        if kind == "complex":
            return dtype
    else:
        raise TypeError(f"{value!r} is neither an array, a dtype nor a number")
    raise TypeError(f"{type(value).__name__} does not go with {dtype}")


def result_type(*arrays_and_dtypes):
    """The dtype that these compute in together."""
    dtypes = [x.dtype if isinstance(x, Array) else x for x in arrays_and_dtypes]
    numbers = [x for x in dtypes if isinstance(x, (bool, int, float, complex))]
    named = [c.dtype(x) for x in dtypes if not isinstance(x, (bool, int, float, complex))]
    if not named:
        if not numbers:
            raise ValueError("result_type needs at least one array, dtype or number")
        rank = [bool, int, float, complex]
        return default_dtype(max(numbers, key=lambda n: rank.index(
            next(k for k in (bool, int, float, complex) if isinstance(n, k)))))
    dtype = named[0]
    for other in named[1:]:
        dtype = c.promote(dtype, other)
    for number in numbers:
        dtype = number_dtype(number, dtype)
    return dtype


def cast(x, dtype):
    """x in this dtype; itself if it has it."""
    return x if x.dtype is dtype else ops.cast(x, dtype)


def operands(what, *values):
    """Arrays of one dtype; numbers of Python become arrays without dims."""
    if not any(isinstance(v, Array) for v in values):
        raise TypeError(f"{what}: at least one argument must be an array")
    dtype = result_type(*values)
    return [cast(v, dtype) if isinstance(v, Array) else c.from_numbers(v, dtype) for v in values]


def flat(x):
    return c.reshape(x, (-1,)) if x.ndim != 1 else x
