"""The array object: what Python expects of it, and what the standard does."""
import copy
import gc
import inspect
import math
import pickle
import threading
import weakref

import numpy as np
import pytest

import tessera as ts


def test_numbers_of_python():
    x = ts.asarray(2.5)
    assert float(x) == 2.5 and int(x) == 2 and complex(x) == 2.5 and bool(x)
    assert math.sqrt(ts.asarray(4.0)) == 2 and f"{x:.2f}" == "2.50"
    assert [10, 20, 30][ts.asarray(1)] == 20
    for bad in (lambda: int(ts.asarray(1j)), lambda: float(ts.zeros(2)), lambda: [1][ts.asarray(0.0)]):
        with pytest.raises(TypeError):
            bad()
    with pytest.raises(ValueError):
        bool(ts.zeros(2))
    with pytest.raises(OverflowError):
        int(ts.asarray(math.inf))
    assert ts.asarray(2**64 - 1, dtype=ts.uint64).item() == 2**64 - 1


def test_sizes_beyond_64_bits_are_refused():
    for shape in ((-2**63, 2), (2**62, 8), (2**40, 2**40), (0, -1)):
        with pytest.raises(ValueError):
            ts.zeros(shape)


class Meddler:
    """A number that changes the list it is in while that is read."""

    def __init__(self, change):
        self.change = change

    def __index__(self):
        self.change()
        return 7


def test_a_list_that_changes_while_it_is_read_is_refused():
    shorter, longer, endless = [], [], []
    shorter += [Meddler(lambda: shorter.__delitem__(slice(1, None))), *range(100)]
    longer += [Meddler(lambda: longer.append(1)), 1]
    endless += [Meddler(lambda: endless.__setitem__(slice(None), [endless])), 1]
    for changing in (shorter, longer, endless):
        with pytest.raises(ValueError, match="changed while"):
            ts.asarray(changing)


def test_length_and_iteration():
    x = ts.asarray([[1, 2], [3, 4]])
    assert len(x) == 2 and [r.tolist() for r in x] == [[1, 2], [3, 4]]
    with pytest.raises(TypeError):
        len(ts.asarray(1))
    with pytest.raises(TypeError):
        iter(ts.asarray(1))


def test_views_share_memory_and_know_their_base():
    x = ts.zeros((3, 4))
    y = x[1:, ::-2].T
    assert y.base is x and ts.shares_memory(x, y) and not y.is_contiguous
    y[...] = 1
    assert float(ts.sum(x)) == 4
    assert x.strides == (32, 8) and y.strides == (-16, 32)
    z = y[0]
    del x, y
    gc.collect()
    assert z.tolist() == [1.0, 1.0]


def test_failures_are_what_python_expects():
    x = ts.zeros((2, 3))
    with pytest.raises(ts.Error) as caught:
        ts.ops.softmax(ts.asarray([1]))
    assert isinstance(caught.value, TypeError) and "softmax" in str(caught.value)
    for exception, call in [
        (ValueError, lambda: x + ts.zeros(2)),
        (IndexError, lambda: x[2]),
        (IndexError, lambda: x[0, 0, 0]),
        (IndexError, lambda: ts.ops.sum(x, 5)),
        (TypeError, lambda: ts.add(x, "a")),
        (TypeError, lambda: ts.add(x)),
        (TypeError, lambda: ts.ops.sum(x, nothing=1)),
        (TypeError, lambda: x + "a"),
        (OSError, lambda: ts.load("no such file.npy")),
        (TypeError, lambda: ts.asarray([1]) + 0.5),
        (OverflowError, lambda: ts.asarray([1], dtype="uint8") + 256),
        (ValueError, lambda: ts.asarray([[1], [1, 2]])),
        (ValueError, lambda: ts.asarray([1, [2]])),
        (TypeError, lambda: ts.asarray(object())),
        (MemoryError, lambda: ts.empty((2**40, 2**10))),
        (TypeError, lambda: ts.zeros(2.5)),
        (TypeError, lambda: ts.Array()),
        (TypeError, lambda: hash(x)),
        (ValueError, lambda: ts.ops.fft(x, norm="no")),
        (ValueError, lambda: ts.permute_dims(x, (0, 0))),
        (TypeError, lambda: ts.astype(ts.asarray(1j), ts.float64)),
    ]:
        with pytest.raises(exception):
            call()


def test_copies_and_pickles():
    for dtype in ts._tessera.dtypes:
        x = ts.astype(ts.asarray([[0, 1], [1, 0]]), dtype)[:, ::-1]
        for y in (
    copy.copy(x), copy.deepcopy(x), pickle.loads(
        pickle.dumps(
            x, 2)), pickle.loads(
                pickle.dumps(
                    x, 5))):
            assert y.dtype is x.dtype and y.shape == x.shape and ts.ops.equal(
                x, y) and not ts.shares_memory(x, y)
            assert not y.readonly
    buffers = []
    data = pickle.dumps(ts.ones(1000), protocol=5, buffer_callback=buffers.append)
    assert len(data) < 500 and float(ts.sum(pickle.loads(data, buffers=buffers))) == 1000
    assert pickle.loads(pickle.dumps(ts.zeros((0, 3)))).shape == (0, 3)
    assert pickle.loads(pickle.dumps(ts.float32)) is ts.float32 and copy.deepcopy(ts.int8) is ts.int8


def test_text():
    x = ts.asarray([[1.0, 2.5], [-3.0, 4.0]])
    assert repr(x) == "Array([[ 1.   2.5]\n       [-3.   4. ]], dtype=float64)"
    assert str(ts.asarray([1, 2])) == "[1 2]" and repr(ts.float32) == "tessera.float32"
    assert "float64" in x._repr_html_() and repr(ts.zeros((0, 2))) == "Array([], shape=(0, 2), dtype=float64)"


def test_weak_references_and_release():
    x = ts.zeros(3)
    r = weakref.ref(x)
    assert r() is x
    del x
    assert r() is None


def test_signatures_and_words():
    assert str(inspect.signature(ts.add)) == "(x1, x2, /, *, out=None)"
    assert str(inspect.signature(ts.ops.layer_norm)).startswith(
        "(x, ndims=1, weight=None, bias=None, eps=1e-05")
    for name, f in vars(ts.ops).items():
        if not name.startswith("_"):
            inspect.signature(f)
            assert f.__doc__.strip(), name


def test_other_threads_run_meanwhile():
    x = ts.ones((300, 300))
    seen = []
    threads = [threading.Thread(target=lambda: seen.append(float(ts.sum(x @ x)))) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert seen == [300.0**3] * 4


def test_namespace():
    x = ts.zeros(1)
    assert x.__array_namespace__() is ts and x.__array_namespace__(api_version="2025.12") is ts
    with pytest.raises(ValueError):
        x.__array_namespace__(api_version="1999.01")
    assert x.to_device("cpu") is x and x.device == "cpu"
    with pytest.raises(ValueError):
        x.to_device("nowhere:7")


def test_earlier_revisions():
    x = ts.zeros(1)
    for revision in ("2023.12", "2024.12"):
        xp = x.__array_namespace__(api_version=revision)
        info = xp.__array_namespace_info__()
        assert xp is x.__array_namespace__(api_version=revision) and xp.__array_api_version__ == revision
        assert type(xp.meshgrid(x, x)) is type(xp.broadcast_arrays(x, x)) is type(info.devices()) is list
        assert ("max dimensions" in info.capabilities()) == (revision == "2024.12") and xp.add is ts.add
    assert type(ts.meshgrid(x, x)) is type(ts.__array_namespace_info__().devices()) is tuple


def test_short_floats():
    x = ts.asarray([1.0, 2.5, -3.0], dtype="bfloat16")
    assert x.dtype is ts.bfloat16 and (x + x).tolist() == [2.0, 5.0, -6.0] and x.itemsize == 2
    assert ts.finfo("float16").max == 65504 and ts.result_type("float16", "bfloat16") is ts.float32
    assert ts.astype(x, "float8_e4m3fn").tolist() == [1.0, 2.5, -3.0]


def test_notebooks_get_a_picture():
    import base64
    import re
    import zlib
    html = ts.asarray([[0.0, 1.0], [math.nan, 0.5]])._repr_html_()
    assert "float64 (2, 2) on cpu" in html and "nan" in html
    png = base64.b64decode(re.search(r"base64,([^\"]*)", html)[1])
    at = png.index(b"IDAT")
    lines = zlib.decompress(png[at + 4:at + 4 + int.from_bytes(png[at - 4:at], "big")])
    pixels = [tuple(lines[1 + 7 * (i // 2) + 3 * (i % 2):][:3]) for i in range(4)]
    assert pixels == [(68, 1, 84), (253, 231, 37), (160, 160, 160), (33, 144, 141)]
    for dtype in ts._tessera.dtypes:
        assert "<img" in ts.astype(ts.asarray([0, 1]), dtype)._repr_html_()
    for x in (ts.asarray(1), ts.zeros((2, 0)), ts.asarray([1e308, -1e308]), ts.ones((500, 2, 3, 400))):
        assert "<pre>" in x._repr_html_()


def test_tab_completion():
    names = dir(ts.zeros(1))
    assert {"shape", "T", "to_device", "tolist"} <= set(names) and "_text" not in names
    assert {"add", "softmax", "linalg", "float32"} <= set(dir(ts))
