"""Earlier revisions of the standard: namespaces that differ from the newest where the revisions do."""
import functools
import sys
import types

from . import _info

NEWEST = "2025.12"
REVISIONS = ("2021.12", "2022.12", "2023.12", "2024.12", NEWEST)
_made = {}


def _as_list(function):
    """Before 2025.12 several arrays are returned in a list."""

    @functools.wraps(function)
    def listed(*args, **names):
        return list(function(*args, **names))

    return listed


class _EarlierInfo(_info._Info):
    """__array_namespace_info__() of an earlier revision."""

    def __init__(self, revision):
        self._revision = revision

    def capabilities(self):
        """Which optional behaviour there is; from 2024.12 on also the highest rank."""
        found = super().capabilities()
        if self._revision < "2024.12":
            del found["max dimensions"]
        return found

    def devices(self):
        """The names of all devices."""
        return list(super().devices())


def _make(revision):
    package = sys.modules["tessera"]
    namespace = types.ModuleType("tessera", f"{package.__doc__}\nAs revision {revision} has it.")
    vars(namespace).update({k: v for k, v in vars(package).items() if k not in ("__name__", "__doc__")})
    for name in ("meshgrid", "broadcast_arrays"):
        setattr(namespace, name, _as_list(getattr(package, name)))
    namespace.__array_api_version__ = revision
    namespace.__array_namespace_info__ = lambda: _EarlierInfo(revision)
    return namespace


def namespace_of(x, *, api_version=None):
    """The namespace of a revision: tessera itself for the newest."""
    if api_version is None or api_version == NEWEST:
        return sys.modules["tessera"]
    if api_version not in REVISIONS:
        raise ValueError(f"the standard has no revision {api_version!r} that is known here")
    if api_version not in _made:
        _made[api_version] = _make(api_version)
    return _made[api_version]
