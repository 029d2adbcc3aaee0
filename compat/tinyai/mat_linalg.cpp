/* mat_linalg.cpp - tiny::Mat: systems, factors and eigenvalues, by the ops of the library's
 * linalg.h, with LAPACK where that is found and with the library's own routines elsewhere. */
#include "mat_view.hpp"

#include <cmath>

namespace tiny
{

namespace
{

typedef tsr_status (*unary_fn)(tsr_tensor **, const tsr_tensor *);

bool is_square(const Mat &m) { return is_there(m) && m.row == m.col; }

tiny_error_t status_of(const Mat &m, bool square)
{
    if (!m.data) return TINY_ERR_MATH_NULL_POINTER;
    return !is_there(m) || (square && m.row != m.col) ? TINY_ERR_INVALID_ARG : TINY_OK;
}

tiny_error_t error_of(tsr_status s)
{
    if (s == TSR_OK) return TINY_OK;
    std::cerr << "[Error] " << tsr_last_error() << "\n";
    return s == TSR_EUNSUPPORTED ? TINY_ERR_NOT_SUPPORTED
         : s == TSR_ENOMEM       ? TINY_ERR_NO_MEM
                                 : TINY_ERR_MATH_INVALID_PARAM;
}

/* What cannot be computed gives no elements; adjoint and inverse_adjoint give Mat(), as there. */
Mat none(const char *what, const char *why)
{
    refuse(what, why);
    return Mat(0, 0);
}

/* Of no elements it is 1. */
float determinant_of(const Mat &m)
{
    float value = 0.0f;
    if (m.row == 0 && m.col == 0) return 1.0f;
    tsr_desc d;
    tsr_tensor t, result, *out = &result;
    if (!is_square(m) || !look(t, m)) {
        refuse("determinant", "the matrix is not square, or has no data");
    } else if (tsr_desc_init(&d, TSR_F32, TSR_SCALAR_SHAPE, nullptr) != TSR_OK ||
               tsr_place(&result, &value, &d) != TSR_OK || tsr_det(&out, &t) != TSR_OK) {
        refuse("determinant", tsr_last_error());
    }
    return value;
}

Mat inverse_of(const Mat &m)
{
    if (!is_square(m)) return none("inverse", "the matrix is not square, or has no data");
    Mat result(m.row, m.col);
    tsr_tensor t, r, *out = &r;
    if (!look(t, m) || !look(r, result)) return none("inverse", "no memory");
    if (tsr_inv(&out, &t) != TSR_OK) return none("inverse", tsr_last_error());
    return result;
}

Mat solve_of(const char *what, const Mat &A, const Mat &b)
{
    Mat x(A.col, b.col);
    tsr_tensor ta, tb, tx, *out = &tx;
    if (!is_square(A) || A.row != b.row || !look(ta, A) || !look(tb, b) || !look(tx, x))
        return none(what, "the sizes do not fit, or a matrix has no data");
    if (tsr_solve(&out, &ta, &tb) != TSR_OK) return none(what, tsr_last_error());
    return x;
}

/* Thin factors, with no negative number on the diagonal of R. */
tiny_error_t factor_qr(const Mat &a, Mat &Q, Mat &R)
{
    const int k = a.row < a.col ? a.row : a.col;
    Q = Mat(a.row, k);
    R = Mat(k, a.col);
    tsr_tensor t, tq, tr, *q = &tq, *r = &tr;
    if (!look(t, a) || !look(tq, Q) || !look(tr, R)) return TINY_ERR_INVALID_ARG;
    const tiny_error_t e = error_of(tsr_qr(&q, &r, &t, false));
    for (int i = 0; e == TINY_OK && i < k; i++) {
        if (!(R(i, i) < 0.0f)) continue;
        for (int c = i; c < a.col; c++) R(i, c) = -R(i, c);
        for (int p = 0; p < a.row; p++) Q(p, i) = -Q(p, i);
    }
    return e;
}

/* Eigenvalues of a square matrix as a column, their imaginary parts beside them, and vectors. */
tiny_error_t eigen_of(const Mat &a, bool symmetric, Mat &values, Mat &imaginary, Mat &vectors)
{
    const int n = a.row;
    tsr_tensor *w = nullptr, *v = nullptr, t, tv;
    values = Mat(n, 1);
    imaginary = Mat(n, 1);
    vectors = Mat(n, n);
    if (!look(t, a) || !look(tv, vectors)) return TINY_ERR_INVALID_ARG;
    tsr_status s = symmetric ? tsr_eigh(&w, &v, &t) : tsr_eig(&w, &v, &t);
    for (int64_t i = 0; s == TSR_OK && i < n; i++) {
        values(static_cast<int>(i), 0) = symmetric ? TSR_AT(float, w, i) : TSR_AT(tsr_c64, w, i).re;
        imaginary(static_cast<int>(i), 0) = symmetric ? 0.0f : TSR_AT(tsr_c64, w, i).im;
    }
    if (s == TSR_OK) s = tsr_copy(&tv, v);
    tsr_release(&w);
    tsr_release(&v);
    return error_of(s);
}

/* That of a matrix which is to be iterated on. */
tiny_error_t status_of(const Mat &m, bool square, int max_iter, float tolerance)
{
    const tiny_error_t status = status_of(m, square);
    return status != TINY_OK ? status : max_iter <= 0 || tolerance < 0.0f ? TINY_ERR_INVALID_ARG : TINY_OK;
}

/* The value of largest (or least) magnitude; TINY_ERR_NOT_FINISHED if it is not real. */
Mat::EigenPair extreme(const Mat &a, bool largest, int max_iter, float tolerance)
{
    Mat::EigenPair pair;
    Mat values, imaginary, vectors;
    pair.status = status_of(a, true, max_iter, tolerance);
    if (pair.status == TINY_OK) pair.status = eigen_of(a, a.is_symmetric(), values, imaginary, vectors);
    if (pair.status != TINY_OK) return pair;
    int best = 0;
    for (int i = 1; i < a.row; i++) {
        const float x = std::hypot(values(i, 0), imaginary(i, 0));
        const float y = std::hypot(values(best, 0), imaginary(best, 0));
        if (largest ? x > y : x < y) best = i;
    }
    pair.eigenvalue = values(best, 0);
    pair.eigenvector = vectors.copy_roi(0, best, a.row, 1);
    pair.iterations = 1;
    if (imaginary(best, 0) != 0.0f) pair.status = TINY_ERR_NOT_FINISHED;
    if (!largest && std::fabs(pair.eigenvalue) < TINY_MATH_MIN_POSITIVE_INPUT_F32)
        pair.status = TINY_ERR_MATH_INVALID_PARAM;
    return pair;
}

Mat::EigenDecomposition eigen(const Mat &a, bool symmetric, int max_iter, float tolerance)
{
    Mat::EigenDecomposition result;
    Mat imaginary;
    result.status = status_of(a, true, max_iter, tolerance);
    if (result.status != TINY_OK) return result;
    result.status = eigen_of(a, symmetric, result.eigenvalues, imaginary, result.eigenvectors);
    result.iterations = 1;
    return result;
}

/* L U without exchanging rows. */
tiny_error_t factor_in_order(const Mat &a, Mat &L, Mat &U)
{
    const int n = a.row;
    L = Mat::eye(n);
    U = a;
    for (int k = 0; k < n; k++) {
        if (std::fabs(U(k, k)) < TINY_MATH_MIN_POSITIVE_INPUT_F32) return TINY_ERR_MATH_INVALID_PARAM;
        for (int r = k + 1; r < n; r++) {
            L(r, k) = U(r, k) / U(k, k);
            for (int c = k; c < n; c++) U(r, c) -= L(r, k) * U(k, c);
            U(r, k) = 0.0f;
        }
    }
    return TINY_OK;
}

} // namespace

/* Determinants and inverses -------------------------------------------------------- */

float Mat::determinant() { return determinant_of(*this); }
float Mat::determinant_laplace() { return determinant_of(*this); }
float Mat::determinant_lu() { return determinant_of(*this); }
float Mat::determinant_gaussian() { return determinant_of(*this); }

Mat Mat::minor(int target_row, int target_col) const
{
    if (!is_there(*this) || row < 2 || col < 2 || target_row < 0 || target_col < 0 || target_row >= row ||
        target_col >= col)
        return none("minor", "there is no such row or column, or nothing beside them");
    Mat result(row - 1, col - 1);
    for (int r = 0; r < row - 1; r++)
        for (int c = 0; c < col - 1; c++)
            result(r, c) = (*this)(r + (r >= target_row), c + (c >= target_col));
    return result;
}

Mat Mat::cofactor(int target_row, int target_col) const
{
    return row != col ? none("cofactor", "the matrix is not square") : minor(target_row, target_col);
}

Mat Mat::adjoint()
{
    if (!is_square(*this)) return refuse("adjoint", "the matrix is not square, or has no data");
    Mat result(row, col);
    if (row == 1) result(0, 0) = 1.0f;
    for (int r = 0; row > 1 && r < row; r++)
        for (int c = 0; c < col; c++)
            result(c, r) = ((r + c) % 2 ? -1.0f : 1.0f) * determinant_of(minor(r, c));
    return result;
}

Mat Mat::inverse_adjoint()
{
    const Mat result = inverse_of(*this);
    return result.data ? result : Mat();
}

Mat Mat::inverse_gje() const { return inverse_of(*this); }

/* Elimination ------------------------------------------------------------------------ */

/* Rows exchanged only where a pivot is 0. */
Mat Mat::gaussian_eliminate() const
{
    if (!is_there(*this)) return none("gaussian_eliminate", "the matrix has no data");
    Mat result(row, col);
    result = *this;
    for (int r = 0, lead = 0; r < row && lead < col; lead++) {
        int p = r;
        while (p < row && result(p, lead) == 0.0f) p++;
        if (p == row) continue;
        if (p != r) result.swap_rows(p, r);
        for (int below = r + 1; below < row; below++) {
            const float factor = result(below, lead) / result(r, lead);
            for (int c = lead; c < col; c++) result(below, c) -= factor * result(r, c);
            result(below, lead) = 0.0f;
        }
        r++;
    }
    return result;
}

Mat Mat::row_reduce_from_gaussian() const
{
    if (!is_there(*this)) return none("row_reduce_from_gaussian", "the matrix has no data");
    Mat result(row, col);
    result = *this;
    for (int r = row - 1; r >= 0; r--) {
        int lead = 0;
        while (lead < col && std::fabs(result(r, lead)) < TINY_MATH_MIN_POSITIVE_INPUT_F32) lead++;
        if (lead == col) continue;
        const float pivot = result(r, lead);
        for (int c = lead; c < col; c++) result(r, c) /= pivot;
        for (int above = 0; above < r; above++) {
            const float factor = result(above, lead);
            for (int c = lead; c < col; c++) result(above, c) -= factor * result(r, c);
        }
    }
    return result;
}

bool Mat::gram_schmidt_orthogonalize(const Mat &vectors, Mat &orthogonal_vectors, Mat &coefficients,
                                     float tolerance)
{
    if (!is_there(vectors) || tolerance < 0.0f) return false;
    return factor_qr(vectors, orthogonal_vectors, coefficients) == TINY_OK;
}

/* Systems ------------------------------------------------------------------------------ */

Mat Mat::solve(const Mat &A, const Mat &b) const { return solve_of("solve", A, b); }

Mat Mat::band_solve(Mat A, Mat b, int k) const
{
    return k < 1 ? none("band_solve", "the width of the band is not positive")
                 : solve_of("band_solve", A, b);
}

Mat Mat::roots(Mat A, Mat y) const { return solve_of("roots", A, y); }

Mat Mat::solve_lu(const LUDecomposition &lu, const Mat &b)
{
    if (lu.status != TINY_OK) return none("solve_lu", "the factors are none");
    Mat y = solve_of("solve_lu", lu.L, lu.pivoted ? lu.P * b : b);
    return solve_of("solve_lu", lu.U, y);
}

Mat Mat::solve_cholesky(const CholeskyDecomposition &chol, const Mat &b)
{
    if (chol.status != TINY_OK) return none("solve_cholesky", "the factor is none");
    Mat L(chol.L.row, chol.L.col);
    L = chol.L;
    return solve_of("solve_cholesky", L.transpose(), solve_of("solve_cholesky", L, b));
}

Mat Mat::solve_qr(const QRDecomposition &qr, const Mat &b)
{
    if (qr.status != TINY_OK || qr.Q.row != b.row || qr.R.row != qr.R.col)
        return none("solve_qr", "the factors are none, or the sizes do not fit");
    Mat Q(qr.Q.row, qr.Q.col);
    Q = qr.Q;
    return solve_of("solve_qr", qr.R, Q.transpose() * b);
}

/* Factors -------------------------------------------------------------------------------- */

bool Mat::is_symmetric(float tolerance) const
{
    if (row != col || row < 0 || (row > 0 && !data) || tolerance < 0.0f) return false;
    for (int r = 0; r < row; r++)
        for (int c = r + 1; c < col; c++)
            if (!(std::fabs((*this)(r, c) - (*this)(c, r)) <= tolerance)) return false;
    return true;
}

bool Mat::is_positive_definite(float tolerance, int max_minors_to_check) const
{
    if (!is_there(*this) || !is_symmetric(tolerance) || max_minors_to_check == 0) return false;
    const int n = max_minors_to_check > 0 && max_minors_to_check < row ? max_minors_to_check : row;
    tsr_tensor t, *l = nullptr;
    const bool is = look(t, view_roi(0, 0, n, n)) && tsr_cholesky(&l, &t, false) == TSR_OK;
    tsr_release(&l);
    return is;
}

Mat::LUDecomposition Mat::lu_decompose(bool use_pivoting) const
{
    LUDecomposition result;
    result.status = status_of(*this, true);
    if (result.status != TINY_OK) return result;
    result.P = Mat::eye(row);
    result.pivoted = use_pivoting;
    if (!use_pivoting) {
        result.status = factor_in_order(*this, result.L, result.U);
        return result;
    }
    result.L = Mat(row, row);
    result.U = Mat(row, row);
    tsr_tensor t, tl, tu, *p = nullptr, *l = &tl, *u = &tu;
    if (!look(t, *this) || !look(tl, result.L) || !look(tu, result.U)) {
        result.status = TINY_ERR_NO_MEM;
        return result;
    }
    result.status = error_of(tsr_lu(&p, &l, &u, &t));
    if (result.status == TINY_OK) {
        result.P.clear();
        for (int64_t i = 0; i < row; i++)
            result.P(static_cast<int>(i), static_cast<int>(TSR_AT(int64_t, p, i))) = 1.0f;
    }
    tsr_release(&p);
    return result;
}

Mat::CholeskyDecomposition Mat::cholesky_decompose() const
{
    CholeskyDecomposition result;
    result.status = status_of(*this, true);
    if (result.status == TINY_OK && !is_symmetric()) result.status = TINY_ERR_INVALID_ARG;
    if (result.status != TINY_OK) return result;
    result.L = Mat(row, row);
    tsr_tensor t, tl, *l = &tl;
    if (!look(t, *this) || !look(tl, result.L))
        result.status = TINY_ERR_NO_MEM;
    else
        result.status = error_of(tsr_cholesky(&l, &t, false));
    return result;
}

Mat::QRDecomposition Mat::qr_decompose() const
{
    QRDecomposition result;
    result.status = status_of(*this, false);
    if (result.status == TINY_OK) result.status = factor_qr(*this, result.Q, result.R);
    return result;
}

Mat::SVDDecomposition Mat::svd_decompose(int max_iter, float tolerance) const
{
    SVDDecomposition result;
    result.status = status_of(*this, false, max_iter, tolerance);
    if (result.status != TINY_OK) return result;
    const int k = row < col ? row : col;
    result.U = Mat(row, k);
    result.S = Mat(k, 1);
    result.V = Mat(col, col);
    tsr_tensor t, tu, tv, *s = nullptr, *u = nullptr, *vh = nullptr, *transposed = nullptr;
    tsr_status e = !look(t, *this) || !look(tu, result.U) || !look(tv, result.V) ? TSR_ENOMEM : TSR_OK;
    if (e == TSR_OK) e = tsr_svd(&u, &s, &vh, &t, true);
    if (e == TSR_OK) e = tsr_slice(&u, u, 1, 0, k, 1);
    if (e == TSR_OK) e = tsr_copy(&tu, u);
    if (e == TSR_OK) e = tsr_transpose(&transposed, vh, 0, 1);
    if (e == TSR_OK) e = tsr_copy(&tv, transposed);
    for (int64_t i = 0; e == TSR_OK && i < k; i++) {
        const float value = TSR_AT(float, s, i);
        result.S(static_cast<int>(i), 0) = value;
        result.rank += value * value > tolerance;
    }
    tsr_release(&s);
    tsr_release(&u);
    tsr_release(&vh);
    tsr_release(&transposed);
    result.iterations = 1;
    result.status = error_of(e);
    return result;
}

Mat Mat::pseudo_inverse(const SVDDecomposition &svd, float tolerance)
{
    if (svd.status != TINY_OK || tolerance < 0.0f)
        return none("pseudo_inverse", "the factors are none, or the tolerance is negative");
    const int k = svd.S.row;
    if (svd.U.col != k || svd.V.row < k) return none("pseudo_inverse", "the sizes do not fit");
    Mat scaled(svd.V.row, k), U(svd.U.row, k);
    U = svd.U;
    for (int c = 0; c < k && c < svd.rank; c++)
        for (int r = 0; svd.S(c, 0) > tolerance && r < svd.V.row; r++)
            scaled(r, c) = svd.V(r, c) / svd.S(c, 0);
    return scaled * U.transpose();
}

/* Eigenvalues ------------------------------------------------------------------------------ */

Mat::EigenPair Mat::power_iteration(int max_iter, float tolerance) const
{
    return extreme(*this, true, max_iter, tolerance);
}

Mat::EigenPair Mat::inverse_power_iteration(int max_iter, float tolerance) const
{
    return extreme(*this, false, max_iter, tolerance);
}

/* Of what is not symmetric, the symmetric part. */
Mat::EigenDecomposition Mat::eigendecompose_jacobi(float tolerance, int max_iter) const
{
    if (!is_square(*this) || is_symmetric(0.0f)) return eigen(*this, true, max_iter, tolerance);
    Mat copy(*this);
    return eigen((copy + copy.transpose()) * 0.5f, true, max_iter, tolerance);
}

Mat::EigenDecomposition Mat::eigendecompose_qr(int max_iter, float tolerance) const
{
    return eigen(*this, false, max_iter, tolerance);
}

Mat::EigenDecomposition Mat::eigendecompose(float tolerance, int max_iter) const
{
    return eigen(*this, is_symmetric(tolerance * 10.0f), max_iter, tolerance);
}

} // namespace tiny
