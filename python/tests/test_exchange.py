"""Memory shared with other libraries."""
import array
import ctypes

import numpy as np
import pytest
from helpers import ALL

import tessera as ts


@pytest.mark.parametrize("dtype", ALL + ["float16"])
def test_numpy_sees_the_same_memory(dtype):
    x = ts.zeros((3, 4), dtype=dtype)
    y = np.asarray(x[::-1, ::2])
    assert y.dtype == dtype and y.shape == (3, 2)
    y[0, 1] = 1
    assert x[2, 2].item() == 1
    z = ts.asarray(y)
    assert ts.shares_memory(z, x) and z.strides == y.strides and z[0, 1].item() == 1


def test_array_interface():
    x = ts.asarray([[1, 2], [3, 4]], dtype="int16")

    class Other:
        __array_interface__ = x.T.__array_interface__

    assert np.asarray(Other()).tolist() == [[1, 3], [2, 4]]


def test_read_only_memory_stays_so():
    y = np.arange(3.0)
    y.flags.writeable = False
    x = ts.asarray(y)
    assert x.readonly
    with pytest.raises(ValueError):
        x[0] = 1
    with pytest.raises(ValueError):
        x += 1
    assert not np.asarray(x).flags.writeable
    assert not ts.asarray(y, copy=True).readonly


def test_owners_live_as_long_as_views():
    x = ts.asarray(np.arange(1000.0))[::2]
    y = np.asarray(ts.ones(1000))[::2]
    assert float(ts.sum(x)) == 249500 and y.sum() == 500


def test_other_owners_of_memory():
    assert ts.asarray(array.array("d", [1, 2])).tolist() == [1.0, 2.0]
    assert ts.asarray(bytearray(b"ab")).tolist() == [97, 98]
    assert ts.asarray((ctypes.c_int32 * 2)(5, 6)).dtype is ts.int32
    assert ts.asarray(memoryview(bytes(4)).cast("f")).tolist() == [0.0]
    assert bytes(memoryview(ts.asarray([1, 2], dtype="uint8"))) == b"\1\2"
    with pytest.raises(BufferError):
        memoryview(ts.zeros(2, dtype="bfloat16"))


def test_dlpack_with_numpy():
    x = ts.asarray([[1.0, 2.0], [3.0, 4.0]])[:, ::-1]
    y = np.from_dlpack(x)
    assert y.tolist() == x.tolist() and np.shares_memory(y, np.asarray(x))
    z = ts.from_dlpack(np.arange(6.0).reshape(2, 3)[:, ::-1])
    assert z.tolist() == [[2.0, 1.0, 0.0], [5.0, 4.0, 3.0]]
    assert x.__dlpack_device__() == (1, 0)
    copied = np.from_dlpack(x, copy=True)
    copied[0, 0] = 9
    assert x[0, 0] == 2
    x.__dlpack__()  # a capsule that nobody takes
    x.__dlpack__(max_version=(1, 0), dl_device=(1, 0), copy=False)
    with pytest.raises(BufferError):
        x.__dlpack__(dl_device=(2, 0))
    with pytest.raises(BufferError):
        ts.asarray(np.broadcast_to(1.0, (2,))).__dlpack__()  # read-only, and no version that says so


def test_bfloat16_through_ml_dtypes():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    for name in ("bfloat16", "float8_e4m3fn", "float8_e5m2"):
        x = ts.asarray([1.0, -2.0], dtype=name)
        y = np.asarray(x)
        assert y.dtype == getattr(ml_dtypes, name) and y.tolist() == [1.0, -2.0]
        y[0] = 4
        assert x.tolist() == [4.0, -2.0]
        assert ts.asarray(y).dtype is x.dtype and ts.shares_memory(ts.asarray(y), x)


def test_torch():
    torch = pytest.importorskip("torch")
    x = ts.asarray([[1.0, 2.0], [3.0, 4.0]])
    t = torch.from_dlpack(x)
    t[0, 0] = 7
    assert x[0, 0] == 7
    y = ts.from_dlpack(torch.arange(6).reshape(2, 3).T)
    assert y.tolist() == [[0, 3], [1, 4], [2, 5]]
    assert ts.from_dlpack(torch.ones(2, dtype=torch.bfloat16)).dtype is ts.bfloat16


class Column:
    """An object of another library with one of Arrow's protocols."""

    def __init__(self, x):
        self.x = x

    def __arrow_c_array__(self, requested_schema=None):
        return self.x.__arrow_c_array__(requested_schema)


@pytest.mark.parametrize("dtype", ["int8", "uint16", "int64", "float16", "float32", "float64", "bool"])
def test_columns_of_arrow(dtype):
    x = ts.asarray([1, 0, 3], dtype=dtype)
    y = ts.asarray(Column(x))
    assert y.dtype is x.dtype and y.tolist() == x.tolist()
    assert ts.shares_memory(x, y) == y.readonly == (dtype != "bool")  # which are bits there, and copied
    assert ts.asarray(Column(x[::2])).tolist() == x[::2].tolist()
    assert not ts.asarray(Column(x), copy=True).readonly


def test_what_is_no_column():
    for x, error in ((ts.ones((2, 2)), ValueError), (ts.ones(2, dtype="bfloat16"), TypeError)):
        with pytest.raises(error):
            x.__arrow_c_array__()
    schema, array = ts.ones(3).__arrow_c_array__()
    ts._tessera.import_arrow(schema, array)
    for bad in ((schema, array), (array, schema), (None, None)):  # the first pair is taken already
        with pytest.raises(ValueError):
            ts._tessera.import_arrow(*bad)


def test_pyarrow_and_pandas():
    pa = pytest.importorskip("pyarrow")
    pd = pytest.importorskip("pandas")
    theirs = pa.array([1.0, 2.0, 3.0])
    address = theirs.buffers()[1].address
    for column in (theirs, pa.chunked_array([theirs]), pd.Series(theirs, dtype=pd.ArrowDtype(pa.float64()))):
        assert ts.asarray(column).address == address and ts.asarray(column).tolist() == [1.0, 2.0, 3.0]
    assert ts.asarray(pa.chunked_array([[1, 2], [3]])).tolist() == [1, 2, 3]
    ours = ts.asarray([4.0, 5.0])
    assert pa.array(ours).buffers()[1].address == ours.address and pa.array(ours).to_pylist() == [4.0, 5.0]
    assert pd.Series(ours).to_numpy().__array_interface__["data"][0] == ours.address
    series = pd.Series(np.arange(3.0))
    assert ts.shares_memory(ts.asarray(series), ts.asarray(series.to_numpy()))
    with pytest.raises(NotImplementedError):
        ts.asarray(pa.array([1, None]))


def test_jax():
    jnp = pytest.importorskip("jax.numpy")
    x = jnp.arange(6.0).reshape(2, 3)
    y = ts.from_dlpack(x)
    assert y.tolist() == x.tolist() and y.address == x.unsafe_buffer_pointer()
    ours = ts.asarray([[1.0, 2.0]], dtype="float32")
    assert jnp.from_dlpack(ours).tolist() == [[1.0, 2.0]]


def test_cupy():
    cupy = pytest.importorskip("cupy")
    if not any(d.startswith("cuda") for d in ts.__array_namespace_info__().devices()):
        pytest.skip("no device of CUDA")
    assert ts.from_dlpack(cupy.arange(3)).to_device("cpu").tolist() == [0, 1, 2]
