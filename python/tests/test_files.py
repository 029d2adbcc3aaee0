"""Files: written, listed, read in parts, converted, drawn."""
import io
import sys

import numpy as np
import pytest

import tessera as ts
from tessera._progress import Bar


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


def test_conversion_keeps_arrays_and_texts(tmp_path):
    source, target = tmp_path / "m.safetensors", tmp_path / "m.gguf"
    ts.save(source, {"a": ts.ones((2, 3), dtype="bfloat16"), "b": ts.arange(3, dtype="int32")},
            metadata={"made by": "hand"})
    ts.convert(source, target)
    loaded = ts.load(target)
    assert loaded["a"].dtype is ts.bfloat16 and loaded["b"].tolist() == [0, 1, 2]
    assert ts.open(target).metadata["made by"] == "hand"
    ts.save(tmp_path / "x.npy", ts.arange(4.0)[::2])
    ts.convert(tmp_path / "x.npy", tmp_path / "x.npz")
    assert [a.tolist() for a in ts.load(tmp_path / "x.npz").values()] == [[0.0, 2.0]]


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_bar(monkeypatch, tmp_path):
    for stream, total, drawn in ((Terminal(), 1 << 30, True), (Terminal(), 1000, False),
                                 (io.StringIO(), 1 << 30, False)):
        with Bar("loading x", total, stream) as bar:
            bar.add(total // 2)
        assert ("loading x [" + "#" * 15 + " " * 15 + "]  50%" in stream.getvalue()) == drawn
        assert stream.getvalue().endswith("\r\x1b[K") == drawn
    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setattr(ts._progress, "LARGE", 10)
    ts.save(tmp_path / "m.npz", {"a": ts.ones(100), "b": ts.ones(300)})
    assert "25%" in sys.stderr.getvalue() and "100%" in sys.stderr.getvalue()
    ts.load(tmp_path / "m.npz")
    assert "loading m.npz" in sys.stderr.getvalue()


def test_plot(tmp_path):
    try:
        picture = ts.plot(ts.reshape(ts.arange(12.0), (3, 4)), title="twelve numbers")
    except NotImplementedError as error:
        pytest.skip(str(error))
    assert repr(picture).startswith("twelve numbers\n") and picture._repr_svg_().startswith("<svg")
    picture.save(tmp_path / "x.png")
    assert (tmp_path / "x.png").read_bytes().startswith(b"\x89PNG")
    ts.plot([1, 2, 2, 3], tmp_path / "x.svg", kind="hist", bins=3)
    assert "<svg" in (tmp_path / "x.svg").read_text()
    assert "bfloat16 (30,)" in repr(ts.plot(ts.ones(30, dtype="bfloat16")))
    for error, arguments in ((ValueError, (ts.asarray(1.0),)), (ValueError, (ts.ones(3), None, "heat")),
                             (OSError, (ts.ones(3), tmp_path / "no" / "x.svg")), (TypeError, ("text",))):
        with pytest.raises(error):
            ts.plot(*arguments[:2], kind=arguments[2] if len(arguments) > 2 else "auto")
