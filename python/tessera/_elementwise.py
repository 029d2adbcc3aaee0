"""The standard's elementwise functions: ops under the standard's names."""
from . import _tessera as c
from ._common import Array, cast, need_array, operands, ops, result_type

# The standard's name, where it is not the op's.
_RENAMED = {
    "bitwise_left_shift": "shift_left", "bitwise_right_shift": "shift_right", "bitwise_invert": "bitwise_not",
    "divide": "div", "equal": "eq", "floor_divide": "floor_div", "greater": "gt", "greater_equal": "ge",
    "less": "lt", "less_equal": "le", "multiply": "mul", "negative": "neg", "not_equal": "ne",
    "positive": "clone", "subtract": "sub",
}
_UNARY = """abs acos acosh asin asinh atan atanh bitwise_invert ceil conj cos cosh exp expm1 floor imag
isfinite isinf isnan log log1p log2 log10 logical_not negative positive real reciprocal round
sign signbit sin sinh square sqrt tan tanh trunc""".split()
_BINARY = """add atan2 bitwise_and bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor copysign
divide equal floor_divide greater greater_equal hypot less less_equal logaddexp logical_and
logical_or logical_xor maximum minimum multiply nextafter not_equal pow remainder subtract""".split()


def _make(name, parameters):
    op = _RENAMED.get(name, name)
    words = c.ops[op].__doc__.partition("\n\n    >>>")[0]
    signature = f"{name}({parameters}, /, *, out=None)"
    return c.elementwise(op, name, f"{signature}\n--\n\n{words}\n\n{c.examples[name]}")


for _name in _UNARY:
    globals()[_name] = _make(_name, "x")
for _name in _BINARY:
    globals()[_name] = _make(_name, "x1, x2")


def clip(x, /, min=None, max=None, *, out=None):
    """min(max(x, min), max), in x's dtype; NaN if any is."""
    need_array(x, "clip")
    result = x
    for op, bound in ((ops.maximum, min), (ops.minimum, max)):
        if bound is not None:
            bound = cast(bound, x.dtype) if isinstance(bound, Array) else c.from_numbers(bound, x.dtype)
            result = op(result, bound)
    if out is not None:
        out[...] = result
        return out
    return x.copy() if result is x else result


__all__ = _UNARY + _BINARY + ["clip"]
