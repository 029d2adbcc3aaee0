"""What the namespace can do, as the standard asks for it."""
from . import _tessera as c
from ._common import KINDS

_STANDARD = [
    d for d in c.dtypes if d.name in (
        "bool",
        "int8",
        "int16",
        "int32",
        "int64",
        "uint8",
        "uint16",
        "uint32",
        "uint64",
        "float32",
        "float64",
        "complex64",
         "complex128")]


class _Info:
    """__array_namespace_info__()"""

    def capabilities(self):
        """Which optional behaviour there is, and the highest rank."""
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": c.max_dims}

    def default_device(self):
        """Where arrays are made unless a device is named."""
        return c.default_device()

    def default_dtypes(self, *, device=None):
        """What is made unless a dtype is named."""
        return {"real floating": c.float64, "complex floating": c.complex128, "integral": c.int64,
                "indexing": c.int64}

    def devices(self):
        """The names of all devices."""
        return tuple(c.devices())

    def dtypes(self, *, device=None, kind=None):
        """The standard's dtypes of a kind by their names."""
        if kind is None:
            return {d.name: d for d in _STANDARD}
        kinds = kind if isinstance(kind, tuple) else (kind,)
        for k in kinds:
            if k not in KINDS:
                raise ValueError(f"dtypes: there is no kind {k!r}")
        wanted = {name for k in kinds for name in KINDS[k]}
        return {d.name: d for d in _STANDARD if d.kind in wanted}


def __array_namespace_info__():
    """What the namespace can do."""
    return _Info()
