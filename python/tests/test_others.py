"""Functions of other libraries that take the standard's arrays give ours back."""
import os

os.environ.setdefault("SCIPY_ARRAY_API", "1")  # read when SciPy is first imported

import numpy as np  # noqa: E402
import pytest  # noqa: E402

import tessera as ts  # noqa: E402

X = ts.random.Generator(1).normal((50, 3))
Y = np.asarray(X)


def close(got, want):
    assert isinstance(got, ts.Array)
    np.testing.assert_allclose(np.asarray(got), want, rtol=1e-9, atol=1e-12)


def test_array_api_strict_agrees():
    xp = pytest.importorskip("array_api_strict")
    theirs = xp.asarray(Y)
    for name in ("sum", "mean", "std", "max", "argmin", "cumulative_sum", "sort", "unique_values"):
        arguments = {} if name == "unique_values" else {"axis": 0}
        got, want = (getattr(m, name)(x, **arguments) for m, x in ((ts, X), (xp, theirs)))
        np.testing.assert_allclose(np.asarray(got), np.asarray(want), rtol=1e-12)
        assert str(got.dtype) == str(want.dtype).rsplit(".", 1)[-1].strip("'>")


def test_scipy():
    pytest.importorskip("scipy")
    from scipy import fft, integrate, special, stats
    close(stats.zscore(X), stats.zscore(Y))
    close(stats.skew(X), stats.skew(Y))
    close(special.logsumexp(X, axis=0), special.logsumexp(Y, axis=0))
    close(special.softmax(X, axis=1), special.softmax(Y, axis=1))
    close(fft.fft(X), fft.fft(Y))
    close(integrate.trapezoid(X, axis=0), integrate.trapezoid(Y, axis=0))


def test_scikit_learn():
    sklearn = pytest.importorskip("sklearn")
    from sklearn.decomposition import PCA
    from sklearn.linear_model import Ridge
    from sklearn.metrics.pairwise import euclidean_distances
    from sklearn.preprocessing import MinMaxScaler, StandardScaler
    for make in (MinMaxScaler, StandardScaler):
        with sklearn.config_context(array_api_dispatch=True):
            got = make().fit_transform(X)
        close(got, make().fit_transform(Y))
    with sklearn.config_context(array_api_dispatch=True):
        distances = euclidean_distances(X, X)
        try:
            ts.linalg.svdvals(X)
        except NotImplementedError:
            return  # no LAPACK
        ridge = Ridge(solver="svd").fit(X, X[:, 0])
        parts = PCA(n_components=2, svd_solver="full").fit_transform(X)
    np.testing.assert_allclose(np.asarray(distances), euclidean_distances(Y, Y), atol=1e-6)
    close(ridge.coef_, Ridge(solver="svd").fit(Y, Y[:, 0]).coef_)
    assert isinstance(parts, ts.Array) and parts.shape == (50, 2)
