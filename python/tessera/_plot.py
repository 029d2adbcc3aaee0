"""Pictures of arrays: those of the command `tsr plot`, which draws them.

The command knows how to gather, scale and draw an array of any size; it is asked to, with the array in a
temporary file, so that pictures are the same from both."""
import os
import pathlib
import shutil
import subprocess
import tempfile

from ._common import Array
from ._creation import asarray
from ._files import save

_NOT_IN_NPY = ("bfloat16", "float8_e4m3fn", "float8_e5m2")


def _command():
    """`tsr` beside the package (in a wheel), in the build that it is part of, or on the PATH."""
    here = pathlib.Path(__file__).resolve().parent
    for place in (here / "tsr", here.parents[1] / "bin" / "tsr"):
        if os.access(place, os.X_OK):
            return str(place)
    found = shutil.which("tsr")
    if found is None:
        raise NotImplementedError("plot: the command tsr is neither beside the package nor on the PATH")
    return found


def _to_file(path):
    """Options that write the picture to a file."""
    folder = os.path.dirname(os.path.abspath(path))
    if not os.path.isdir(folder):
        raise FileNotFoundError(f"plot: there is no folder {folder}")
    return ["--force", "-o", os.fspath(path)]


def _run(x, options):
    """What the command prints of x."""
    with tempfile.TemporaryDirectory() as folder:
        if x.dtype.name in _NOT_IN_NPY:
            path = os.path.join(folder, "x.safetensors")
            save(path, {"x": x}, sync=False)
        else:
            path = os.path.join(folder, "x.npy")
            save(path, x, sync=False)
        done = subprocess.run([_command(), "plot", path, *options], capture_output=True, text=True)
    if done.returncode:
        words = done.stderr.strip().split("\n")[0]
        raise ValueError(words.removeprefix("tsr: ") or f"plot: status {done.returncode}")
    return done.stdout


class Picture:
    """A picture of an array: characters as text, an SVG in notebooks."""

    def __init__(self, x, options):
        self._x, self._options = x, options
        self._text = _run(x, options)  # what cannot be drawn fails now

    def __repr__(self):
        return self._text.rstrip("\n")

    def _repr_svg_(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "picture.svg"
            self.save(path)
            return path.read_text(encoding="utf-8")

    def save(self, path):
        """Writes the picture: the name ends in .svg, .png, .ppm or .npy (pixels)."""
        _run(self._x, self._options + _to_file(path))


def plot(x, path=None, *, kind="auto", min=None, max=None, bins=None, title=None):
    """A picture of x: one dim as a line, two as a heat map, (height, width, 3 or 4) as an image, more as a
    grid of the last two; kind says otherwise: "heat", "image", "hist", "line" or "grid". min and max are the
    range of colours, or of a line's axis. With a path it is written there (.svg, .png, .ppm, .npy);
    otherwise the result shows itself, in a notebook as an SVG and as characters elsewhere."""
    x = x if isinstance(x, Array) else asarray(x)
    options = ["--kind", str(kind), "--title", str(title or f"{x.dtype} {x.shape}")]
    for name, value in (("--min", min), ("--max", max), ("--bins", bins)):
        if value is not None:
            options += [name, str(float(value) if name != "--bins" else int(value))]
    if path is None:
        return Picture(x, options)
    _run(x, options + _to_file(path))
