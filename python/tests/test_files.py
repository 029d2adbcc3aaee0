"""Files: written, listed, read in parts."""
import numpy as np
import pytest

import tessera as ts


def test_one_array(tmp_path):
    x = ts.reshape(ts.arange(12.0), (3, 4))
    path = tmp_path / "x.npy"
    ts.save(path, x.T)
    assert np.load(path).tolist() == x.T.tolist()
    assert ts.load(path).tolist() == x.T.tolist()
    np.save(path, np.arange(5, dtype=">i4"))
    assert ts.load(str(path)).tolist() == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("end", ["safetensors", "npz", "gguf"])
def test_several_arrays(tmp_path, end):
    path = tmp_path / f"model.{end}"
    arrays = {"a.weight": ts.ones((2, 3), dtype="float32"), "b": ts.arange(4, dtype="int32")}
    ts.save(path, arrays)
    loaded = ts.load(path)
    assert list(loaded) == list(arrays) and all(ts.ops.equal(loaded[k], arrays[k]) for k in arrays)
    with ts.open(path) as f:
        assert len(f) == 2 and "b" in f and f["a.weight"].shape == (2, 3) and f.format == end
        assert f["b"][1:3].tolist() == [1, 2] and f["a.weight"][0, 1].item() == 1
        assert f["b"][::-1].tolist() == [3, 2, 1, 0]
        with pytest.raises(KeyError):
            f["c"]
        with pytest.raises(IndexError):
            f.read("c")


def test_metadata_and_what_is_refused(tmp_path):
    path = tmp_path / "x.safetensors"
    ts.save(path, {"x": ts.zeros(2)}, metadata={"format": "pt"})
    assert ts.open(path).metadata == {"format": "pt"}
    (tmp_path / "bad.npy").write_bytes(b"not an array")
    with pytest.raises((ValueError, NotImplementedError)):
        ts.load(tmp_path / "bad.npy")
    with pytest.raises(ts.Error):
        ts.save(tmp_path / "x.unknown", ts.zeros(2))
    assert not (tmp_path / "x.unknown").exists()


def test_a_file_is_mapped_and_outlives_its_name(tmp_path):
    path = tmp_path / "x.npy"
    ts.save(path, ts.ones(1000))
    x = ts.load(path)
    path.unlink()
    x[0] = 5  # the file never changes
    assert float(ts.sum(x)) == 1004
