"""Tensors in files: npy, npz, checkpoints of PyTorch, safetensors, ONNX, gguf, images, tables."""
import math
import os
import typing

from . import _tessera as c
from ._common import Array
from ._creation import asarray
from ._progress import Bar

Entry = typing.NamedTuple("Entry", [("name", str), ("encoding", str), ("dtype", typing.Any), ("shape", tuple),
                                    ("offset", int), ("bytes", int), ("mapped", bool)])


class Part:
    """An array of a file that is not read yet: indexing it reads what is asked for."""

    def __init__(self, file, entry):
        self._file, self.entry = file, entry

    name = property(lambda self: self.entry.name)
    shape = property(lambda self: self.entry.shape)
    dtype = property(lambda self: self.entry.dtype)
    ndim = property(lambda self: len(self.entry.shape))

    def __repr__(self):
        return f"<{self.name or 'array'}: {self.dtype} {self.shape}, {self.entry.encoding}>"

    def __len__(self):
        return self.shape[0]

    def read(self):
        """The whole array: mapped where it lies in the file as it would in memory, else decoded."""
        return self._file.read(self.name)

    def __getitem__(self, key):
        key = key if isinstance(key, tuple) else (key,)
        plain = [k for k in key if isinstance(k, (int, slice)) and not isinstance(k, bool)]
        if len(plain) != len(key) or len(key) > self.ndim:
            return self.read()[key]
        ranges = []
        for size, k in zip(self.shape, key):
            if isinstance(k, slice):
                start, stop, step = k.indices(size)
                if len(range(start, stop, step)) in (0, size) or step < 0:
                    return self.read()[key]
                ranges.append((start, min(stop, size), step))
            else:
                ranges.append((k, 0, 0))
        return c.file_read_part(self._file._handle, self.name, tuple(ranges))


class File:
    """The arrays of a file by their names, read when they are asked for.

    file["name"] is a Part, which reads what it is indexed with; file.read("name") the whole array."""

    def __init__(self, path, *, format=None, copy=False, dtype=None, shape=None, offset=0):
        shape = None if shape is None else tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
        self._handle = c.file_open(path, format, copy, dtype, shape, offset)
        self.format, self.bytes, entries = c.file_list(self._handle)
        self.entries = {e[0]: Entry(*e) for e in entries}

    @property
    def metadata(self):
        """Keys and values that the file holds beside the arrays."""
        return c.file_meta(self._handle)

    def read(self, name=None, *, raw=False):
        """A whole array; raw gives its bytes as they are stored."""
        return c.file_read(self._handle, name or None, raw)

    def keys(self):
        return self.entries.keys()

    def __getitem__(self, name):
        if name not in self.entries:
            raise KeyError(name)
        return Part(self, self.entries[name])

    def __iter__(self):
        return iter(self.entries)

    def __len__(self):
        return len(self.entries)

    def __contains__(self, name):
        return name in self.entries

    def items(self):
        return ((name, self[name]) for name in self.entries)

    def values(self):
        return (self[name] for name in self.entries)

    def __repr__(self):
        return f"<{self.format} file with {len(self)} arrays>"

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        return None


def open(path, **options):
    """A File: its arrays are read when they are asked for."""
    return File(path, **options)


def load(path, name=None, **options):
    """The array of this name; without one, the only array of the file, or a dict of all. Mapped where that is
    possible: reading costs nothing until elements are touched. On a terminal a bar shows how far the
    reading of a large file is."""
    file = File(path, **options)
    if name is not None or list(file) == [""]:
        return file.read(name)
    out = {}
    with Bar(f"loading {os.path.basename(os.fspath(path))}", file.bytes) as bar:
        for key, entry in file.entries.items():
            out[key] = file.read(key)
            bar.add(entry.bytes)
    return out


def _bytes_of(a):
    return math.prod(a.shape) * a.dtype.itemsize


def _array(a):
    """What is written: of a part of a file, what is read when its turn comes."""
    return a.read() if isinstance(a, Part) else a


def save(path, arrays, *, format=None, metadata=None, compress=False, sync=True, encoding=None):
    """Writes an array, or a dict of arrays, or an open File, in the format of the name's end. The file is
    there whole or not at all."""
    named = arrays if isinstance(arrays, (dict, File)) else {None: arrays}
    named = {name: a if isinstance(a, (Array, Part)) else asarray(a) for name, a in named.items()}
    writer = c.writer_create(path, format, compress, not sync)
    for key, text in (metadata or {}).items():
        c.writer_text(writer, key, text)
    if len(named) > 1:
        for name, a in named.items():
            c.writer_declare(writer, name, a.shape, a.dtype, encoding)
    words = f"writing {os.path.basename(os.fspath(path))}"
    with Bar(words, sum(_bytes_of(a) for a in named.values())) as bar:
        for name, a in named.items():
            c.writer_add(writer, name, _array(a), encoding)
            bar.add(_bytes_of(a))
    c.writer_finish(writer)


def convert(source, target, **options):
    """Writes the arrays of one file into another, of the format of its name's end, one array at a time.
    Options are those of save; texts of the metadata are kept unless others are given."""
    file = File(source)
    if "metadata" not in options:
        options["metadata"] = {k: v for k, v in file.metadata.items() if isinstance(v, str)}
    save(target, file.read() if list(file) == [""] else file, **options)
