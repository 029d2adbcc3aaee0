"""Every case of the benchmark, made from the list of ops that `tsr ops --json` prints.

A case is an op, a dtype, a layout and a size, with the same call for each library. Ops without cases are listed
with the reason in WITHOUT; all_cases names those that have neither."""

import collections

import numpy as np

from operands import operand, torch

# ours, numpy, torch: functions of the operands; None where that library has no such function.
# loop: the name of a plain loop of loops.c.
Case = collections.namedtuple("Case", "name op family operands ours numpy torch loop")

SIZES = {"1e3": (32, 32), "1e5": (300, 340), "1e7": (3200, 3200)}
REAL = ("f32", "f64", "f16", "bf16", "i32", "i64", "u8")

WITHOUT = {
    "called through others": "conv conv_transpose max_pool avg_pool adaptive_max_pool adaptive_avg_pool "
    "max_pool_all avg_pool_all lp_pool batch_join global_avg_pool self_attention multi_head_attention rope_with "
    "sample_with cross_entropy_soft instance_norm",
    "depends on the size of the result alone": "fftfreq rfftfreq eye arange linspace zeros ones full "
    "zeros_like ones_like full_like zero fill meshgrid permutation",
    "no peer computes it": "causal_softmax add_rms_norm quantisation_range quantise_dynamic matmul_quantised "
    "sample quantise dequantise dequantise_blocks linear_blocks multinomial shuffle bernoulli_each integers bernoulli "
    "rope nextafter",
}

NUMPY_NAMES = {
    "sub": "subtract",
    "mul": "multiply",
    "div": "divide",
    "neg": "negative",
    "eq": "equal",
    "ne": "not_equal",
    "lt": "less",
    "le": "less_equal",
    "gt": "greater",
    "ge": "greater_equal",
    "pow": "power",
    "round": "rint",
    "shift_left": "left_shift",
    "shift_right": "right_shift",
    "bitwise_not": "invert",
    "floor_div": "floor_divide",
    "asin": "arcsin",
    "acos": "arccos",
    "atan": "arctan",
    "atan2": "arctan2",
    "asinh": "arcsinh",
    "acosh": "arccosh",
    "atanh": "arctanh",
}
TORCH_NAMES = {
    "clip": "clamp",
    "shift_left": "bitwise_left_shift",
    "shift_right": "bitwise_right_shift",
    "conj": "conj_physical",
    "floor_div": "floor_divide",
}
TORCH_CALLS = {
    "gelu": lambda x: torch.nn.functional.gelu(x),
    "gelu_tanh": lambda x: torch.nn.functional.gelu(x, approximate="tanh"),
    "silu": lambda x: torch.nn.functional.silu(x),
    "softplus": lambda x: torch.nn.functional.softplus(x),
    "elu": lambda x: torch.nn.functional.elu(x),
    "leaky_relu": lambda x: torch.nn.functional.leaky_relu(x),
    "hardswish": lambda x: torch.nn.functional.hardswish(x),
    "hardtanh": lambda x: torch.nn.functional.hardtanh(x),
    "real": lambda x: torch.real(x).clone(),
    "imag": lambda x: torch.imag(x).clone(),
    "fma": lambda x, y, w: torch.addcmul(w, x, y),
    "axpy": lambda x, y: torch.add(y, x, alpha=2),
    "div": lambda x, y: torch.div(x, y),
}
NUMPY_CALLS = {
    "real": lambda x: np.real(x).copy(),
    "imag": lambda x: np.imag(x).copy(),
    "relu": None,
    "elu": None,
}
DOMAIN = {
    "acosh": (1.1, 9),
    "erfinv": (-0.9, 0.9),
    "lgamma": (0.01, 9),
    "digamma": (0.01, 9),
    "log": (0.01, 9),
    "log2": (0.01, 9),
    "log10": (0.01, 9),
    "sqrt": (0, 9),
    "rsqrt": (0.01, 9),
    "asin": (-1, 1),
    "acos": (-1, 1),
    "atanh": (-0.9, 0.9),
    "log1p": (-0.9, 9),
    "pow": (0.1, 3),
    "floor_div": (1, 99),
    "remainder": (1, 99),
    "div": (1, 99),
    "shift_left": (0, 6),
    "shift_right": (0, 6),
    "reciprocal": (0.1, 9),
}
LOOPS = {"add", "sub", "mul", "neg", "abs", "relu", "sqrt", "fma", "maximum", "square", "lt"}


def peer(module, names, calls, op):
    if module is None:
        return None
    return calls[op] if op in calls else getattr(module, names.get(op, op), None)


def numpy_of(op):
    return peer(np, NUMPY_NAMES, NUMPY_CALLS, op)


def torch_of(op):
    return peer(torch, TORCH_NAMES, TORCH_CALLS, op)


def dtypes_of(row, wanted):
    """Those of an op's first operand that are measured."""
    takes = row["takes"][-1]["dtypes"] if row["takes"] else []
    return [d for d in wanted if d in takes]


def elementwise(row, ops):
    op, ours = row["name"], getattr(ops, row["name"])
    low, high = DOMAIN.get(op, (-3, 3))
    nin = sum(a["kind"] == "tensor" for a in row["arguments"])
    if op == "axpy":
        ours = lambda x, y: ops.axpy(2, x, y)
    call = (numpy_of(op), torch_of(op)) if op != "axpy" else (None, torch_of(op))
    for dtype in dtypes_of(row, REAL + ("bool", "c64", "c128")):
        for size, (n, m) in SIZES.items():
            for layout, operands in layouts(dtype, nin, n, m, low, high).items():
                if op == "where":
                    operands = [operand("bool", *operands[0].shape, layout=operands[0].layout), *operands[1:]]
                loop = op if op in LOOPS and dtype in ("f32", "f64", "i32") and layout in FLOORS else None
                yield Case(f"{op} {dtype} {layout} {size}", op, "elementwise", operands, ours, *call, loop)


FLOORS = ("contiguous", "inner", "outer", "part")


def layouts(dtype, nin, n, m, low, high):
    def one(*shape, layout="contiguous"):
        return operand(dtype, *shape, layout=layout, low=low, high=high)

    four = (n // 8, 8, m // 4, 4)
    all_alike = {
        "contiguous": [one(n, m)] * nin,
        "transposed": [one(n, m)] * (nin - 1) + [one(n, m, layout="transposed")],
        "permuted": [one(*four)] * (nin - 1) + [one(*four, layout="permuted")],
        "step": [one(n, m, layout="step")] * nin,
        "part": [one(n, m, layout="part")] * nin,
    }
    if nin > 1:
        rest = [one(n, m)] * (nin - 1)
        all_alike |= {
            "inner": [*rest, one(n, 1)],
            "outer": [*rest, one(1, m)],
            "both": [one(n, 1)] + [one(1, m)] * (nin - 1),
            "odd": [one(n // 8, 1, 8, m)] + [one(1, 4, 8, 1)] * (nin - 1),
        }
    return all_alike


ROWS = {
    "rows": (lambda n, m: (n, m), -1),
    "columns": (lambda n, m: (n, m), 0),
    "short rows": (lambda n, m: (n * m // 64, 64), -1),
    "long rows": (lambda n, m: (8, n * m // 8), -1),
    "few rows": (lambda n, m: (8, n * m // 8), 0),
    "middle": (lambda n, m: (n // 8, 8, m), 1),
    "all": (lambda n, m: (n, m), None),
}
NUMPY_REDUCE = {
    "count_nonzero": np.count_nonzero,
    "norm": lambda x, axis: np.linalg.norm(x, axis=axis),
    "cumsum": np.cumsum,
    "cumprod": np.cumprod,
    "cummax": np.maximum.accumulate,
    "logsumexp": None,
    "diff": np.diff,
}


def torch_reduce(op):
    names = {"max": "amax", "min": "amin", "norm": "norm"}
    if torch is None:
        return None
    if op == "norm":
        return lambda x, d: torch.linalg.vector_norm(x, dim=d)
    if op in ("var", "std"):
        return lambda x, d: getattr(torch, op)(x, dim=d, correction=0)
    if op == "diff":
        return lambda x, d: torch.diff(x, dim=d)
    f = getattr(torch, names.get(op, op), None)
    return lambda x, d: f(x) if d is None else f(x, dim=d)


def reduce(row, ops):
    op, ours = row["name"], getattr(ops, row["name"])
    np_call = NUMPY_REDUCE.get(op, getattr(np, op, None))
    t_call = torch_reduce(op)
    for dtype in dtypes_of(row, REAL + ("bool", "c64")):
        for size, (n, m) in SIZES.items():
            for name, (shape, axis) in ROWS.items():
                if axis is None and row["family"] == "scan":
                    continue
                if axis is None and op == "logsumexp":
                    continue
                for layout in ("contiguous", "transposed") if name == "rows" else ("contiguous",):
                    x = operand(dtype, *shape(n, m), layout=layout, low=0.9, high=1.1 if "prod" in op else 3)
                    yield Case(
                        f"{op} {dtype} {name} {layout} {size}",
                        op,
                        row["family"],
                        [x],
                        lambda x, f=ours, d=axis: f(x) if d is None else f(x, d),
                        np_call and (lambda x, f=np_call, d=axis: f(x, axis=d)),
                        t_call and (lambda x, f=t_call, d=axis: f(x, d)),
                        (
                            f"{op}_{'rows' if axis == -1 else 'columns'}"
                            if op in ("sum", "max")
                            and axis in (-1, 0)
                            and layout == "contiguous"
                            and dtype in ("f32", "f64")
                            else None
                        ),
                    )


def matmul(row, ops):
    op = row["name"]
    shapes = {
        "64": (64, 64, 64),
        "256": (256, 256, 256),
        "511": (511, 511, 511),
        "1024": (1024, 1024, 1024),
        "1 row": (1, 2048, 2048),
        "16 rows": (16, 2048, 2048),
        "thin": (1000, 10, 1000),
        "long k": (16, 50000, 16),
    }
    calls = {
        "matmul": (lambda a, b: ops.matmul(a, b), np.matmul, torch and torch.matmul),
        "linear": (lambda a, b: ops.linear(a, b), None, torch and torch.nn.functional.linear),
        "linear_activation": (
            lambda a, b: ops.linear_activation(a, b, activation="relu"),
            None,
            torch and (lambda a, b: torch.relu_(torch.nn.functional.linear(a, b))),
        ),
        "dot": (ops.dot, np.dot, torch and torch.dot),
        "outer": (ops.outer, np.outer, torch and torch.outer),
        "vecdot": (ops.vecdot, getattr(np, "vecdot", None), torch and torch.linalg.vecdot),
        "addmm": (ops.addmm, None, torch and torch.addmm),
        "gemm": (ops.gemm, np.matmul, torch and torch.matmul),
        "tensordot": (
            lambda a, b: ops.tensordot(a, b, [1], [0]),
            lambda a, b: np.tensordot(a, b, ([1], [0])),
            torch and (lambda a, b: torch.tensordot(a, b, ([1], [0]))),
        ),
        "einsum": (
            lambda a, b: ops.einsum("ij,jk->ki", [a, b]),
            lambda a, b: np.einsum("ij,jk->ki", a, b, optimize=True),
            torch and (lambda a, b: torch.einsum("ij,jk->ki", a, b)),
        ),
        "matmul_i8": (
            ops.matmul_i8,
            lambda a, b: np.matmul(a.astype("i4"), b.astype("i4")),
            torch and (lambda a, b: torch._int_mm(a, b)),
        ),
    }
    if op not in calls:
        return
    for dtype in dtypes_of(row, ("f32", "f64", "f16", "bf16", "i32", "c64")) or (
        ["i8"] if op == "matmul_i8" else []
    ):
        if op in ("dot", "vecdot", "outer"):
            for size in (1000, 100_000) if op != "outer" else (100, 3000):
                yield Case(f"{op} {dtype} {size}", op, "matmul", [operand(dtype, size)] * 2, *calls[op], None)
            continue
        for name, (m, k, n) in shapes.items():
            for layout in ("contiguous", "transposed"):
                b = operand(dtype, *((n, k) if op.startswith("linear") else (k, n)), layout=layout)
                yield Case(
                    f"{op} {dtype} {name} {layout}",
                    op,
                    "matmul",
                    ([operand(dtype, m, n)] if op == "addmm" else []) + [operand(dtype, m, k), b],
                    *calls[op],
                    None,
                )
        if op == "matmul":
            yield Case(
                f"{op} {dtype} batch",
                op,
                "matmul",
                [operand(dtype, 300, 100, 30), operand(dtype, 300, 30, 100)],
                *calls[op],
                None,
            )


def order(row, ops):
    op = row["name"]
    calls = {
        "sort": (lambda x: ops.sort(x), np.sort, torch and (lambda x: torch.sort(x)[0])),
        "argsort": (lambda x: ops.argsort(x), np.argsort, torch and torch.argsort),
        "sort_with_indices": (lambda x: ops.sort_with_indices(x), None, torch and torch.sort),
        "topk": (lambda x: ops.topk(x, 10), None, torch and (lambda x: torch.topk(x, 10))),
        "kthvalue": (
            lambda x: ops.kthvalue(x, 10),
            lambda x: np.partition(x, 9, -1)[..., 9],
            torch and (lambda x: torch.kthvalue(x, 10)),
        ),
        "unique": (ops.unique, np.unique, torch and torch.unique),
    }
    for dtype in dtypes_of(row, ("f32", "f64", "f16", "i32", "i64", "u8")):
        for size, (n, m) in SIZES.items():
            if op in ("searchsorted", "isin"):
                x = operand(dtype, n * m, high=100)
                table = operand(dtype, 1000, layout="sorted", high=100)
                yield Case(
                    f"{op} {dtype} {size}",
                    op,
                    "order",
                    [table, x],
                    *{
                        "searchsorted": (
                            lambda t, x: ops.searchsorted(t, x),
                            np.searchsorted,
                            torch and torch.searchsorted,
                        ),
                        "isin": (
                            lambda t, x: ops.isin(x, t),
                            lambda t, x: np.isin(x, t),
                            torch and (lambda t, x: torch.isin(x, t)),
                        ),
                    }[op],
                    None,
                )
                continue
            for name, (shape, axis) in ROWS.items():
                if axis == -1 and op in calls:
                    yield Case(
                        f"{op} {dtype} {name} {size}",
                        op,
                        "order",
                        [operand(dtype, *shape(n, m), low=0, high=1e4)],
                        *calls[op],
                        None,
                    )


def index(row, ops):
    op = row["name"]
    for dtype in ("f32", "f16", "f64", "u8"):
        for size, (n, m) in SIZES.items():
            x, i = operand(dtype, n, m), operand("i64", n * 2, low=0, high=n)
            along = operand("i64", n, m, low=0, high=min(n, m))
            mask = operand("bool", n, m)
            cases = {
                "take": (
                    [x, i],
                    lambda x, i: ops.take(x, i, 0),
                    lambda x, i: np.take(x, i, 0),
                    torch and (lambda x, i: torch.index_select(x, 0, i)),
                ),
                "embedding": (
                    [x, i],
                    ops.embedding,
                    lambda x, i: x[i],
                    torch and (lambda x, i: torch.nn.functional.embedding(i, x)),
                ),
                "gather": (
                    [x, along],
                    lambda x, i: ops.gather(x, i, 1),
                    lambda x, i: np.take_along_axis(x, i, 1),
                    torch and (lambda x, i: torch.gather(x, 1, i)),
                ),
                "take_along_axis": (
                    [x, along],
                    lambda x, i: ops.take_along_axis(x, i),
                    lambda x, i: np.take_along_axis(x, i, -1),
                    torch and (lambda x, i: torch.take_along_dim(x, i, -1)),
                ),
                "scatter": (
                    [x, along, x],
                    lambda x, i, s: ops.scatter(x, i, s, 1),
                    None,
                    torch and (lambda x, i, s: torch.scatter(x, 1, i, s)),
                ),
                "index_add": (
                    [x, operand("i64", n, low=0, high=n), x],
                    lambda x, i, s: ops.index_add(x, i, s, 0),
                    None,
                    torch and (lambda x, i, s: torch.index_add(x, 0, i, s)),
                ),
                "masked_select": (
                    [x, mask],
                    ops.masked_select,
                    lambda x, k: x[k],
                    torch and torch.masked_select,
                ),
                "masked_fill": (
                    [x, mask],
                    lambda x, k: ops.masked_fill(x, k, 1),
                    None,
                    torch and (lambda x, k: torch.masked_fill(x, k, 1)),
                ),
                "nonzero": ([mask], ops.nonzero, np.argwhere, torch and torch.nonzero),
                "one_hot": (
                    [operand("i64", n, low=0, high=64)],
                    lambda i: ops.one_hot(i, 64, "i64"),
                    None,
                    torch and (lambda i: torch.nn.functional.one_hot(i, 64)),
                ),
            }
            if op in cases and (dtype == "f32" or op not in ("nonzero", "one_hot")):
                yield Case(f"{op} {dtype} {size}", op, "index", *cases[op], None)


def functional(name):
    return getattr(torch.nn.functional, name) if torch else None


def nn(row, ops):
    op = row["name"]
    for dtype in ("f32", "f64", "bf16", "f16"):
        for size, (n, m) in SIZES.items():
            for name in ("rows", "short rows", "long rows"):
                x = operand(dtype, *ROWS[name][0](n, m))
                w = operand(dtype, x.shape[-1])
                f = torch and torch.nn.functional
                cases = {
                    "softmax": (
                        [x],
                        lambda x: ops.softmax(x),
                        None,
                        torch and (lambda x: torch.softmax(x, -1)),
                    ),
                    "log_softmax": (
                        [x],
                        lambda x: ops.log_softmax(x),
                        None,
                        torch and (lambda x: torch.log_softmax(x, -1)),
                    ),
                    "layer_norm": (
                        [x, w, w],
                        lambda x, w, b: ops.layer_norm(x, 1, w, b),
                        None,
                        torch and (lambda x, w, b: f.layer_norm(x, w.shape, w, b)),
                    ),
                    "rms_norm": (
                        [x, w],
                        lambda x, w: ops.rms_norm(x, w, eps=1e-5),
                        None,
                        torch and (lambda x, w: f.rms_norm(x, w.shape, w, 1e-5)),
                    ),
                    "swiglu": ([x, x], ops.swiglu, None, torch and (lambda g, u: f.silu(g) * u)),
                    "dropout": (
                        [x],
                        lambda x: ops.dropout(x, 0.5, seed=1),
                        None,
                        torch and (lambda x: f.dropout(x, 0.5)),
                    ),
                    "mse_loss": ([x, x], ops.mse_loss, None, torch and f.mse_loss),
                    "l1_loss": ([x, x], ops.l1_loss, None, torch and f.l1_loss),
                    "huber_loss": ([x, x], ops.huber_loss, None, torch and f.huber_loss),
                    "smooth_l1_loss": ([x, x], ops.smooth_l1_loss, None, torch and f.smooth_l1_loss),
                    "cross_entropy": (
                        [x, operand("i64", x.shape[0], low=0, high=x.shape[1])],
                        ops.cross_entropy,
                        None,
                        torch and f.cross_entropy,
                    ),
                    "nll_loss": (
                        [x, operand("i64", x.shape[0], low=0, high=x.shape[1])],
                        ops.nll_loss,
                        None,
                        torch and f.nll_loss,
                    ),
                    "silu_and_mul": (
                        [x],
                        ops.silu_and_mul,
                        None,
                        torch and (lambda x: f.silu(x[..., : x.shape[-1] // 2]) * x[..., x.shape[-1] // 2 :]),
                    ),
                }
                if op in cases:
                    yield Case(f"{op} {dtype} {name} {size}", op, "nn", *cases[op], None)
    image = operand("f32", 8, 32, 28, 28)
    channel = operand("f32", 32, low=0.5, high=2)
    if op == "batch_norm":
        yield Case(
            "batch_norm f32 images",
            op,
            "nn",
            [image, channel, channel],
            lambda x, m, v: ops.batch_norm(x, m, v),
            None,
            torch and (lambda x, m, v: torch.nn.functional.batch_norm(x, m, v)),
            None,
        )
    if op == "group_norm":
        yield Case(
            "group_norm f32 images",
            op,
            "nn",
            [image],
            lambda x: ops.group_norm(x, 8),
            None,
            torch and (lambda x: torch.nn.functional.group_norm(x, 8)),
            None,
        )


def conv_gradients(op, ops):
    """Of 2-D convolutions with a padding of 1."""
    data, ours = op == "conv_grad_data", getattr(ops, op)
    f = torch and (torch.nn.grad.conv2d_input if data else torch.nn.grad.conv2d_weight)
    for dtype in ("f32", "f64", "bf16"):
        for n, channels, size, taps in ((4, 64, 56, 3), (8, 256, 7, 3), (2, 20, 31, 5)):
            out = size + 3 - taps
            image, weights = (n, channels, size, size), (channels, channels, taps, taps)
            yield Case(
                f"{op} {dtype} {image}*{weights}",
                op,
                "conv",
                [operand(dtype, n, channels, out, out), operand(dtype, *(weights if data else image))],
                lambda g, b, s=image[2:] if data else weights[2:]: ours(g, b, s, padding=[1, 1]),
                None,
                f and (lambda g, b, s=image: f(s, b, g, padding=1))
                if data
                else f and (lambda g, b, s=weights: f(b, s, g, padding=1)),
                None,
            )


def conv(row, ops):
    op = row["name"]
    if op.startswith("conv_grad"):
        yield from conv_gradients(op, ops)
    if op[-2:] not in ("1d", "2d", "3d"):
        return
    rank, f = int(op[-2]), functional(op)
    images = {
        "1d": [((8, 64, 500), (64, 64, 3), {}), ((1, 32, 1001), (16, 32, 5), {"stride": 2})],
        "2d": [
            ((1, 64, 56, 56), (64, 64, 3, 3), {"padding": 1}),
            ((4, 512, 7, 7), (512, 512, 3, 3), {"padding": 1}),
            ((1, 512, 7, 7), (2048, 512, 1, 1), {}),
            ((1, 3, 224, 224), (64, 3, 7, 7), {"stride": 2, "padding": 3}),
            ((1, 96, 57, 55), (96, 1, 5, 5), {"padding": 2, "groups": 96}),
            ((2, 20, 31, 33), (30, 20, 3, 3), {}),
        ],
        "3d": [((1, 16, 12, 28, 28), (32, 16, 3, 3, 3), {"padding": 1})],
    }[op[-2:]]
    for dtype in ("f32", "f64", "bf16"):
        for x, w, how in images:
            if "transpose" in op:
                if how.get("groups"):
                    continue
                w, how = (x[1], w[0] // 4, *w[2:]), {k: v for k, v in how.items() if k != "padding"}
            ours = {k: [v] * rank if k != "groups" else v for k, v in how.items()}
            yield Case(
                f"{op} {dtype} {x}*{w} {how or ''}".replace(" ", " ").strip(),
                op,
                "conv",
                [operand(dtype, *x), operand(dtype, *w)],
                lambda x, w, o=ours: getattr(ops, op)(x, w, **o),
                None,
                f and (lambda x, w, h=how: f(x, w, **h)),
                None,
            )


def pool(row, ops):
    op = row["name"]
    if op[-2:] not in ("1d", "2d", "3d"):
        return
    rank, f = int(op[-2]), functional(op)
    for dtype in ("f32", "f64"):
        for shape in ((4, 32, 56, 56, 8)[: 2 + rank], (1, 3, 101, 99, 7)[: 2 + rank]):
            for kernel in (2, 3):
                power = (2,) if op.startswith("lp") else ()
                yield Case(
                    f"{op} {dtype} {shape} {kernel}",
                    op,
                    "pool",
                    [operand(dtype, *shape)],
                    lambda x, k=kernel, p=power: getattr(ops, op)(x, *p, [k] * rank, [k] * rank),
                    None,
                    f and (lambda x, k=kernel, p=power: f(x, *p, k)),
                    None,
                )


def image(row, ops):
    op, f = row["name"], functional({"resize": "interpolate"}.get(row["name"], row["name"]))
    if op == "grid_sample":
        operands = [operand("f32", 1, 16, 64, 64), operand("f32", 1, 96, 96, 2, low=-1, high=1)]
        yield Case(f"{op} f32", op, "image", operands, ops.grid_sample, None,
                   f and (lambda x, g: f(x, g, align_corners=False)), None)
        return
    for size in (64, 384):
        for mode, theirs in (("nearest", {}), ("linear", {"align_corners": False}), ("cubic", {"align_corners": False})):
            name = {"linear": "bilinear", "cubic": "bicubic"}.get(mode, mode)
            yield Case(
                f"{op} f32 {mode} {size}",
                op,
                "image",
                [operand("f32", 1, 3, 224, 224)],
                lambda x, n=size, mode=mode: ops.resize(x, (n, n), mode),
                None,
                f and (lambda x, n=size, name=name, theirs=theirs: f(x, (n, n), mode=name, **theirs)),
                None,
            )


def attention(row, ops):
    if row["name"] != "attention":
        return
    f = torch and torch.nn.functional.scaled_dot_product_attention
    for dtype in ("f32", "bf16", "f64", "f16"):
        for name, (q, k) in {
            "prefill": ((1, 8, 256, 64), (1, 8, 256, 64)),
            "decoding": ((1, 16, 1, 64), (1, 16, 1000, 64)),
            "odd": ((2, 3, 101, 40), (2, 3, 77, 40)),
        }.items():
            for causal in (False, True) if name == "prefill" else (False,):
                yield Case(
                    f"attention {dtype} {name}{' causal' * causal}",
                    "attention",
                    "attention",
                    [operand(dtype, *q), operand(dtype, *k), operand(dtype, *k)],
                    lambda q, k, v, c=causal: ops.attention(q, k, v, causal=c),
                    None,
                    f and (lambda q, k, v, c=causal: f(q, k, v, is_causal=c)),
                    None,
                )


def fft(row, ops):
    op, ours = row["name"], getattr(ops, row["name"], None)
    shift = "shift" in op
    n_dims = op.endswith("n")
    real_in = op.startswith(("rfft", "ihfft", "hfft")) and not op.startswith("hfft")
    t = getattr(torch.fft, op, None) if torch else None
    for wide in (False, True):
        dtype = ("f64" if wide else "f32") if real_in else ("c128" if wide else "c64")
        shapes = (
            [(64, 64), (300, 200), (1024, 1024)]
            if n_dims or shift
            else [(1000, 64), (100, 1000), (10, 1009), (16, 1024), (1, 1 << 20), (64, 1155)]
        )
        for shape in shapes:
            yield Case(
                f"{op} {dtype} {shape}",
                op,
                "fft",
                [operand(dtype, *shape)],
                lambda x: ours(x),
                None if shift and not hasattr(np.fft, op) else getattr(np.fft, op),
                t,
                None,
            )


def linalg(row, ops):
    op = row["name"]
    near = {
        "matrix_transpose": (lambda a: ops.matrix_transpose(a), None, None),
        "adjoint": (lambda a: ops.adjoint(a), None, None),
        "trace": (ops.trace, np.trace, torch and torch.trace),
        "lu": (ops.lu, None, torch and torch.linalg.lu_factor),
        "matrix_norm": (
            ops.matrix_norm,
            lambda a: np.linalg.norm(a, "fro"),
            torch and torch.linalg.matrix_norm,
        ),
        "vector_norm": (
            ops.vector_norm,
            lambda a: np.linalg.norm(a.ravel()),
            torch and torch.linalg.vector_norm,
        ),
        "matrix_power": (
            lambda a: ops.matrix_power(a, 5),
            lambda a: np.linalg.matrix_power(a, 5),
            torch and (lambda a: torch.linalg.matrix_power(a, 5)),
        ),
    }
    two = {"solve": "solve", "lstsq": "lstsq", "kron": "kron", "cross": "cross"}
    for dtype in ("f32", "f64"):
        for n in (4, 30, 100, 300):
            a = operand(dtype, n, n, low=-1, high=1)
            if op in two:
                if op == "kron" and n > 100:
                    continue
                shapes = (
                    [operand(dtype, n * 100, 3)] * 2
                    if op == "cross"
                    else [a, operand(dtype, n, 4)] if op != "kron" else [a, operand(dtype, 4, 4)]
                )
                yield Case(
                    f"{op} {dtype} {n}",
                    op,
                    "linalg",
                    shapes,
                    getattr(ops, op),
                    getattr(np, op, None) or getattr(np.linalg, op),
                    torch and (getattr(torch.linalg, op, None) or torch.kron),
                    None,
                )
                continue
            ours, in_numpy, in_torch = near.get(
                op,
                (
                    getattr(ops, op),
                    getattr(np.linalg, op, None),
                    getattr(torch.linalg, op, None) if torch else None,
                ),
            )
            if op == "cholesky":
                ours = lambda a: ops.cholesky(ops.add(ops.matmul(a, ops.matrix_transpose(a)), 0 * a + 1))
                in_numpy = in_torch = None
            yield Case(f"{op} {dtype} {n}", op, "linalg", [a], ours, in_numpy, in_torch, None)


def movement(row, ops):
    op = row["name"]
    for dtype in ("f32", "f16", "f64", "u8"):
        for size, (n, m) in SIZES.items():
            for layout in ("contiguous", "transposed", "step", "part", "permuted"):
                shape = (n // 8, 8, m // 4, 4) if layout == "permuted" else (n, m)
                x = operand(dtype, *shape, layout=layout)
                cases = {
                    "rearrange": (
                        [x],
                        ops.rearrange,
                        lambda x: x.copy("C"),
                        torch and (lambda x: x.clone(memory_format=torch.contiguous_format)),
                    ),
                    "clone": ([x], ops.clone, np.copy, torch and torch.clone),
                    "copy": (
                        [operand(dtype, *shape), x],
                        ops.copy,
                        np.copyto,
                        torch and (lambda d, s: d.copy_(s)),
                    ),
                    "cast": (
                        [x],
                        lambda x, d="f64" if dtype != "f64" else "f32": ops.cast(x, d),
                        lambda x, d="f8" if dtype != "f64" else "f4": x.astype(d),
                        torch and (lambda x, d=torch.float64 if dtype != "f64" else torch.float32: x.to(d)),
                    ),
                    "concat": (
                        [x] * 4,
                        lambda *a: ops.concat(list(a), -1),
                        lambda *a: np.concatenate(a, -1),
                        torch and (lambda *a: torch.cat(a, -1)),
                    ),
                    "stack": (
                        [x] * 4,
                        lambda *a: ops.stack(list(a), -1),
                        lambda *a: np.stack(a, -1),
                        torch and (lambda *a: torch.stack(a, -1)),
                    ),
                }
                if op in cases and (size != "1e7" or op not in ("concat", "stack")):
                    loop = (
                        "copy"
                        if op in ("rearrange", "copy")
                        and layout in ("contiguous", "part")
                        and dtype in ("f32", "f64")
                        else None
                    )
                    yield Case(f"{op} {dtype} {layout} {size}", op, "movement", *cases[op], loop)


def shape(row, ops):
    op = row["name"]
    for dtype in ("f32", "u8", "f64"):
        for size, (n, m) in SIZES.items():
            x = operand(dtype, n, m)
            cases = {
                "tile": (
                    lambda x: ops.tile(x, [2, 2]),
                    lambda x: np.tile(x, (2, 2)),
                    torch and (lambda x: torch.tile(x, (2, 2))),
                ),
                "repeat": (
                    lambda x: ops.repeat(x, 3, 1),
                    lambda x: np.repeat(x, 3, 1),
                    torch and (lambda x: torch.repeat_interleave(x, 3, 1)),
                ),
                "roll": (
                    lambda x: ops.roll(x, [7], [1]),
                    lambda x: np.roll(x, 7, 1),
                    torch and (lambda x: torch.roll(x, 7, 1)),
                ),
                "pad": (
                    lambda x: ops.pad(x, [1, 2], [3, 1]),
                    lambda x: np.pad(x, ((1, 3), (2, 1))),
                    torch and (lambda x: torch.nn.functional.pad(x, (2, 1, 1, 3))),
                ),
                "tril": (ops.tril, np.tril, torch and torch.tril),
                "triu": (ops.triu, np.triu, torch and torch.triu),
                "diag": (ops.diag, np.diag, torch and torch.diag),
            }
            if op in cases and not (size == "1e7" and op in ("tile", "repeat")):
                yield Case(f"{op} {dtype} {size}", op, "shape", [x], *cases[op], None)


def random(row, ops):
    op = row["name"]
    generator = np.random.default_rng(1)
    for size, (n, m) in SIZES.items():
        cases = {
            "uniform": (
                lambda s=(n, m): ops.uniform("f32", s, seed=1),
                lambda s=(n, m): generator.random(s, dtype="f4"),
                torch and (lambda s=(n, m): torch.rand(s)),
            ),
            "normal": (
                lambda s=(n, m): ops.normal("f32", s, seed=1),
                lambda s=(n, m): generator.standard_normal(s, dtype="f4"),
                torch and (lambda s=(n, m): torch.randn(s)),
            ),
            "randn": (
                lambda s=(n, m): ops.randn("f32", s, 1),
                lambda s=(n, m): generator.standard_normal(s, dtype="f4"),
                torch and (lambda s=(n, m): torch.randn(s)),
            ),
            "exponential": (
                lambda s=(n, m): ops.exponential("f32", s, seed=1),
                lambda s=(n, m): generator.standard_exponential(s, dtype="f4"),
                torch and (lambda s=(n, m): torch.empty(s).exponential_()),
            ),
        }
        if op in cases:
            yield Case(f"{op} f32 {size}", op, "random", [], *cases[op], None)


def compare(row, ops):
    for size, (n, m) in SIZES.items():
        x = operand("f32", n, m)
        calls = {
            "equal": (ops.equal, np.array_equal, torch and torch.equal),
            "allclose": (ops.allclose, np.allclose, torch and torch.allclose),
        }[row["name"]]
        yield Case(f"{row['name']} f32 {size}", row["name"], "compare", [x, x], *calls, None)


def statistics(row, ops):
    op = row["name"]
    calls = {
        "bincount": (ops.bincount, np.bincount, torch and torch.bincount),
        "histogram": (
            lambda x: ops.histogram(x, 100)[0],
            lambda x: np.histogram(x, 100)[0],
            torch and (lambda x: torch.histc(x, 100)),
        ),
        "histogram_with": (ops.histogram_with, lambda x, edges: np.histogram(x, edges)[0], None),
        "median": (ops.median, np.median, None),
        "nanmedian": (ops.nanmedian, np.nanmedian, None),
        "quantile": (ops.quantile, np.quantile, torch and torch.quantile),
        "nanquantile": (ops.nanquantile, np.nanquantile, torch and torch.nanquantile),
        "cov": (ops.cov, np.cov, torch and torch.cov),
        "corrcoef": (ops.corrcoef, np.corrcoef, torch and torch.corrcoef),
    }
    for dtype in ("i64",) if op == "bincount" else ("f32", "f64"):
        more = []
        if op == "histogram_with":
            more = [operand(dtype, 33, layout="sorted", low=0, high=100)]
        if "quantile" in op:
            more = [operand(dtype, 3, low=0, high=1)]
        for size, (n, m) in SIZES.items():
            dims = (min(n, 100), m) if op in ("cov", "corrcoef") else (n * m,)
            x = operand(dtype, *dims, low=0, high=100)
            yield Case(f"{op} {dtype} {size}", op, "statistics", [x, *more], *calls[op], None)


def training(row, ops):
    """Steps over three tensors at a time; each call changes its operands, which stay finite."""
    op = row["name"]
    counts = torch and [torch.tensor(10.0)] * 3
    none = {"maximize": False, "grad_scale": None, "found_inf": None}
    lists, ours, numpy, theirs = {
        "scale_each": (1, lambda x: ops.scale_each(x, -1.0), None, torch and (lambda x: torch._foreach_mul_(x, -1.0))),
        "axpy_each": (
            2,
            lambda y, x: ops.axpy_each(y, x, 1e-6),
            None,
            torch and (lambda y, x: torch._foreach_add_(y, x, alpha=1e-6)),
        ),
        "joint_norm": (
            1,
            ops.joint_norm,
            lambda x: np.sqrt(sum(np.vdot(a, a) for a in x)),
            torch and (lambda x: torch.linalg.vector_norm(torch.stack(torch._foreach_norm(x)))),
        ),
        "sgd_step": (
            3,
            lambda p, v, g: ops.sgd_step(p, v, g, 1e-6, momentum=0.9),
            None,
            torch
            and (
                lambda p, v, g: torch._fused_sgd_(
                    p, g, v, weight_decay=0.0, momentum=0.9, lr=1e-6, dampening=0.0, nesterov=False,
                    is_first_step=False, **none
                )
            ),
        ),
        "adam_step": (
            4,
            lambda p, m, v, g: ops.adam_step(p, m, v, g, 10, rate=1e-6),
            None,
            torch
            and (
                lambda p, m, v, g: torch._fused_adam_(
                    p, g, m, v, [], counts, lr=1e-6, beta1=0.9, beta2=0.999, weight_decay=0.0, eps=1e-8,
                    amsgrad=False, **none
                )
            ),
        ),
    }[op]

    def split(x):
        return [list(x[i : i + 3]) for i in range(0, len(x), 3)]

    for dtype in ("f32", "f64", "bf16"):
        for size, (n, m) in SIZES.items():
            shapes = [(n, m // 2), (m,), (m // 3, n)] * lists
            operands = [operand(dtype, *s, low=0) for s in shapes]
            calls = [f and (lambda *x, f=f: f(*split(x))) for f in (ours, numpy, theirs)]
            yield Case(f"{op} {dtype} {size}", op, "training", operands, *calls, None)


FAMILIES = {
    "training": training,
    "statistics": statistics,
    "elementwise": elementwise,
    "reduce": reduce,
    "scan": reduce,
    "matmul": matmul,
    "order": order,
    "index": index,
    "nn": nn,
    "conv": conv,
    "pool": pool,
    "image": image,
    "attention": attention,
    "fft": fft,
    "linalg": linalg,
    "movement": movement,
    "shape": shape,
    "random": random,
    "compare": compare,
}


def without():
    return {op for ops in WITHOUT.values() for op in ops.split()}


def all_cases(rows, ops):
    """Of every op that is not in WITHOUT; and the names of ops that have neither."""
    found, missing = [], []
    for row in rows:
        if row["name"] in without():
            continue
        cases = list(FAMILIES[row["family"]](row, ops)) if row["family"] in FAMILIES else []
        found += cases
        if not cases:
            missing.append(row["name"])
    return found, missing
