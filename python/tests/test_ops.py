"""Ops beyond the standard, by their rows."""
import numpy as np
import pytest

import tessera as ts
from tessera import ops


def test_every_op_has_a_function_and_says_what_it_needs():
    assert len(ts._tessera.ops) > 250
    for name, f in ts._tessera.ops.items():
        with pytest.raises((TypeError, ValueError)) as caught:
            f(nothing_like_this=1)
        assert name in str(caught.value)


def test_results_can_be_given():
    x, out = ts.asarray([1.0, 2.0]), ts.zeros(2)
    assert ts.add(x, x, out=out) is out and out.tolist() == [2.0, 4.0]
    assert ops.softmax(x, out=out) is out and abs(float(ts.sum(out)) - 1) < 1e-15
    values, indices = ts.zeros(1), ts.zeros(1, dtype=ts.int64)
    got = ops.topk(x, 1, out=(values, indices))
    assert got[0] is values and values.tolist() == [2.0] and indices.tolist() == [1]
    with pytest.raises(ValueError):
        ts.add(x, x, out=ts.zeros(3))
    with pytest.raises(TypeError):
        ts.add(x, x, out=[])


def test_structs_are_keywords():
    x = ts.ones((1, 1, 4, 4))
    w = ts.ones((1, 1, 3, 3))
    assert ops.conv2d(x, w).shape == (1, 1, 2, 2)
    assert ops.conv2d(x, w, padding=1).shape == (1, 1, 4, 4)
    assert ops.conv2d(x, w, fit="same", stride=(2, 1)).shape == (1, 1, 2, 4)
    assert ops.max_pool2d(x, 2).shape == (1, 1, 2, 2)
    values, indices = ops.max_pool2d(x, kernel=(2, 2), indices=True)
    assert indices.tolist() == [[[[0, 2], [8, 10]]]]
    assert ops.allclose(x, x + 1e-9) and not ops.allclose(x, x + 1e-9, rtol=-1, atol=-1)
    assert ops.attention(x[0], x[0], x[0], causal=True).shape == (1, 4, 4)
    e = ops.eye("float64", 4, 4)
    assert ops.multi_head_attention(x[0], 2, q=e, k=e, v=e, weights_out=e).shape == (1, 4, 4)


def test_lists_enums_and_defaults():
    a = ts.asarray([[1.0, 2.0], [3.0, 4.0]])
    assert ops.einsum("ij,jk->ik", [a, a]).tolist() == (a @ a).tolist()
    assert ops.pad(a, (0, 1), (1, 0), mode="edge").tolist() == [[1, 1, 2], [3, 3, 4], [3, 3, 4]]
    assert ops.gemm(a, a, alpha=2).tolist() == (2 * (a @ a)).tolist()
    assert [g.shape for g in ops.meshgrid([a[0], a[0]])] == [(2, 2)] * 2
    assert ops.rms_norm(a, eps=1e-6).shape == (2, 2)
    assert ops.quantise(a, ts.asarray([0.5]), dtype="int8").tolist() == [[2, 4], [6, 8]]
    assert ops.clip(a, 1.5, 3.5).tolist() == [[1.5, 2.0], [3.0, 3.5]]
    assert len(ops.unique(a)) == 4 and ops.equal(a, a) is True
    ops.fill(a, 7)
    assert a.tolist() == [[7.0, 7.0], [7.0, 7.0]]


def test_random_is_repeated_by_its_seed():
    a, b = ts.random.Generator(1), ts.random.Generator(1)
    assert ops.equal(a.normal((3, 3)), b.normal((3, 3)))
    assert not ops.equal(a.uniform(5), a.uniform(5))
    x = a.integers(0, 10, (1000,))
    assert x.dtype is ts.int64 and 0 <= int(ts.min(x)) and int(ts.max(x)) == 9
    assert sorted(a.permutation(10).tolist()) == list(range(10))
    assert abs(float(ts.mean(a.uniform(10000))) - 0.5) < 0.02


def test_linear_algebra_agrees_with_numpy():
    x = ts.random.Generator(3).normal((4, 4))
    y = np.asarray(x)
    try:
        ts.linalg.inv(x)
    except NotImplementedError:
        pytest.skip("no LAPACK")
    np.testing.assert_allclose(np.asarray(ts.linalg.inv(x)), np.linalg.inv(y), rtol=1e-9)
    np.testing.assert_allclose(np.asarray(ts.linalg.svdvals(x)), np.linalg.svdvals(y), rtol=1e-9)
    rtol = ts.asarray(1e-3)
    np.testing.assert_allclose(
    np.asarray(
        ts.linalg.pinv(
            x, rtol=rtol)), np.linalg.pinv(
                y, rtol=1e-3), rtol=1e-7)
    assert int(ts.linalg.matrix_rank(x, rtol=rtol)) == 4


def test_transforms_agree_with_numpy():
    x = ts.random.Generator(3).normal((4, 6))
    y = np.asarray(x)
    np.testing.assert_allclose(np.asarray(ts.fft.fft(x)), np.fft.fft(y), atol=1e-12)
    np.testing.assert_allclose(
    np.asarray(
        ts.fft.rfftn(
            x, s=(
                3, 5), axes=(
                    0, 1))), np.fft.rfftn(
                        y, s=(
                            3, 5), axes=(
                                0, 1)), atol=1e-12)
    np.testing.assert_allclose(np.asarray(ts.fft.irfft(ts.fft.rfft(x), n=6)), y, atol=1e-12)
