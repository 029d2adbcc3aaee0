"""Arrays in notebooks: a small picture, and the first numbers."""
import base64
import html
import math
import struct
import zlib

from . import _tessera as c
from ._common import cast, ops

ROWS, COLUMNS = 32, 96  # of the picture, at most
# Viridis at even steps.
_COLOURS = [(68, 1, 84), (71, 44, 122), (59, 81, 139), (44, 113, 142), (33, 144, 141), (39, 173, 129),
            (92, 200, 99), (170, 220, 50), (253, 231, 37)]
_GREY = (160, 160, 160)


def _sampled(x):
    """The first matrix of x with rows and columns left out; a vector is one row."""
    while x.ndim > 2:
        x = x[0]
    if x.ndim == 1:
        x = x[None, :]
    steps = [-(-size // most) for size, most in zip(x.shape, (ROWS, COLUMNS))]
    x = x[::steps[0], ::steps[1]]
    x = x if x.device == "cpu" else c._to(x, "cpu")
    return cast(ops.abs(cast(x, c.complex128)) if x.dtype.kind == "complex" else x, c.float64).tolist()


def _colour(value, low, high):
    if not math.isfinite(value):
        return _GREY
    at = (value - low) / (high - low) * (len(_COLOURS) - 1) if high > low else 0
    i = min(int(at), len(_COLOURS) - 2)
    return tuple(round(a + (b - a) * (at - i)) for a, b in zip(_COLOURS[i], _COLOURS[i + 1]))


def _chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def _png(rows):
    """Rows of colours as a PNG."""
    size = struct.pack(">IIBBBBB", len(rows[0]), len(rows), 8, 2, 0, 0, 0)
    lines = b"".join(b"\0" + bytes(part for colour in row for part in colour) for row in rows)
    return (b"\x89PNG\r\n\x1a\n" + _chunk(b"IHDR", size) + _chunk(b"IDAT", zlib.compress(lines)) +
            _chunk(b"IEND", b""))


def _picture(x):
    """An image element; nothing where there is nothing to see."""
    if x.ndim == 0 or x.size < 2:
        return ""
    rows = _sampled(x)
    finite = [v for row in rows for v in row if math.isfinite(v)]
    low, high = (min(finite), max(finite)) if finite else (0, 0)
    low, high = low / 2, high / 2  # so that their difference is finite
    data = base64.b64encode(_png([[_colour(v / 2, low, high) for v in row] for row in rows])).decode()
    cell = max(2, min(12, 192 // max(len(rows), len(rows[0]))))
    return (f'<img alt="elements as colours" width="{cell * len(rows[0])}" height="{cell * len(rows)}" '
            f'style="image-rendering:pixelated" src="data:image/png;base64,{data}">')


def to_html(x):
    """Dtype, shape and device, a picture of the first matrix, and the numbers as text."""
    caption = html.escape(f"{x.dtype} {x.shape} on {x.device}")
    return f"<div><small>{caption}</small><br>{_picture(x)}<pre>{html.escape(x._text())}</pre></div>"
