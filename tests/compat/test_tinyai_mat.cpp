/* test_tinyai_mat.cpp - tiny::Mat and the functions of TinyMath under it, against plain loops. */
#include <cmath>
#include <sstream>
#include <vector>

#include "test.h"
#include "tiny_math.h"

using namespace tiny;

static Mat numbered(int rows, int cols, int step, uint64_t seed)
{
    Mat m(rows, cols, step);
    for (int r = 0; r < rows; r++)
        for (int c = 0; c < cols; c++) m(r, c) = static_cast<float>(test_below(&seed, 200) - 100) / 16.0f;
    return m;
}

static bool near(float a, double b, double tol = 1e-4)
{
    return std::fabs(a - b) <= tol * (1 + std::fabs(b));
}

static bool same(const Mat &a, const Mat &b, double tol = 1e-4)
{
    if (a.row != b.row || a.col != b.col || !a.data || !b.data) return false;
    for (int r = 0; r < a.row; r++)
        for (int c = 0; c < a.col; c++)
            if (!near(a(r, c), b(r, c), tol)) return false;
    return true;
}

/* Refusals print to std::cerr; tests that expect them keep it quiet. */
struct Quiet
{
    std::ostringstream sink;
    std::streambuf *err, *out;
    Quiet() : err(std::cerr.rdbuf(sink.rdbuf())), out(std::cout.rdbuf(sink.rdbuf())) {}
    ~Quiet()
    {
        std::cerr.rdbuf(err);
        std::cout.rdbuf(out);
    }
};

static bool is_none(const Mat &m) { return m.row == 0 && m.col == 0 && !m.data; }
static bool is_refusal(const Mat &m) { return m.row == 1 && m.col == 1 && m.data && m(0, 0) == 0.0f; }

/* Needs LAPACK; without one the rest of the test is left out. */
static bool has_lapack()
{
    const int64_t shape[2] = {1, 1};
    tsr_tensor *a = nullptr, *b = nullptr;
    const bool has = tsr_ones(&a, TSR_F32, 2, shape) == TSR_OK && tsr_inv(&b, a) == TSR_OK;
    tsr_release(&a);
    tsr_release(&b);
    return has;
}

TEST(test_matrices_are_made_of_zeros)
{
    const Mat one, two(2, 3), padded(2, 3, 5), empty(0, 3);
    EXPECT(one.row == 1 && one.col == 1 && one(0, 0) == 0.0f && one.element == 1);
    EXPECT(two.step == 3 && two.pad == 0 && two.element == 6 && two.memory == 6 && !two.ext_buff);
    EXPECT(padded.step == 5 && padded.pad == 2 && padded.stride == 5 && padded.memory == 10);
    EXPECT(empty.data == nullptr && empty.element == 0);
    for (int i = 0; i < padded.memory; i++) EXPECT(padded.data[i] == 0.0f);
}

TEST(test_matrices_of_bad_sizes_have_no_data)
{
    Quiet quiet;
    float buf[4] = {0};
    EXPECT(Mat(-1, 2).data == nullptr && Mat(2, -1).data == nullptr && Mat(2, 3, 2).data == nullptr);
    EXPECT(Mat(70000, 70000).data == nullptr && Mat(buf, 2, 2, 1).data == nullptr &&
           Mat(buf, -2, 2).data == nullptr);
    Mat bad(-1, 2), copy(bad), &self = bad;
    bad += 1.0f;
    bad.clear();
    bad = self;
    EXPECT(copy.data == nullptr && is_refusal(bad.transpose()) && bad.norm() == 0.0f);
}

TEST(test_copies_are_deep_except_of_parts)
{
    Mat a = numbered(3, 4, 6, 1), b(a), c;
    c = a;
    Mat part = a.view_roi(1, 1, 2, 3), again(part);
    a(1, 1) = 99.0f;
    EXPECT(b(1, 1) != 99.0f && c(1, 1) != 99.0f && c.step == 4 && b.step == 6);
    EXPECT(part(0, 0) == 99.0f && again(0, 0) == 99.0f && part.sub_matrix && part.step == 6);
    Quiet quiet;
    part = c;
    EXPECT(part.row == 2 && part(0, 0) == 99.0f);
}

TEST(test_assignment_resizes_owners_and_writes_into_buffers)
{
    float buf[6] = {0};
    Mat view(buf, 2, 3), owner(4, 4), src = numbered(2, 3, 5, 2);
    owner = src;
    EXPECT(same(owner, src) && !owner.ext_buff);
    view = src;
    EXPECT(buf[5] == src(1, 2) && view.data == buf);
    view = numbered(3, 3, 3, 3);
    EXPECT(!view.ext_buff && view.row == 3 && view.data != buf);
}

TEST(test_regions_are_views_or_copies)
{
    Mat a = numbered(4, 5, 7, 4);
    Mat v = a.view_roi(Mat::ROI(1, 2, 3, 2)), c = a.copy_roi(Mat::ROI(1, 2, 3, 2)), b = a.block(2, 1, 2, 3);
    EXPECT(v.row == 2 && v.col == 3 && same(v, c) && same(v, b) && v.data == &a(2, 1));
    a(2, 1) = 50.0f;
    EXPECT(v(0, 0) == 50.0f && c(0, 0) != 50.0f);
    Quiet quiet;
    EXPECT(is_refusal(a.view_roi(3, 0, 2, 1)) && is_refusal(a.view_roi(-1, 0, 1, 1)) &&
           is_refusal(a.view_roi(0, 0, 0, 1)));
    EXPECT(is_refusal(a.copy_roi(0, 4, 1, 2)) && is_refusal(a.view_roi(INT_MAX, 0, 1, 1)));
    Mat::ROI roi(1, 2, 3, 4);
    roi.resize_roi(4, 3, 2, 5);
    EXPECT(roi.pos_x == 4 && roi.pos_y == 3 && roi.area_roi() == 10 && Mat::ROI(0, 0, -1, 2).area_roi() == 0);
}

TEST(test_parts_are_pasted_and_heads_shared)
{
    Mat a(4, 4), b = numbered(2, 2, 3, 5), head;
    EXPECT(a.copy_paste(b, 1, 2) == TINY_OK && a(1, 2) == b(0, 0) && a(2, 3) == b(1, 1) && a(0, 0) == 0.0f);
    EXPECT(head.copy_head(a) == TINY_OK && head.data == a.data && head.ext_buff && head.row == 4);
    Quiet quiet;
    EXPECT(a.copy_paste(b, 3, 0) == TINY_ERR_INVALID_ARG && a.copy_paste(b, -1, 0) == TINY_ERR_INVALID_ARG);
    EXPECT(a.copy_paste(Mat(0, 0), 0, 0) == TINY_ERR_INVALID_ARG &&
           a.copy_head(Mat(0, 0)) == TINY_ERR_INVALID_ARG);
}

TEST(test_rows_and_columns_change_places)
{
    Mat a = numbered(3, 4, 5, 6), b(a);
    a.swap_rows(0, 2);
    EXPECT(a(0, 1) == b(2, 1) && a(2, 3) == b(0, 3));
    a.swap_rows(0, 2);
    a.swap_cols(1, 3);
    EXPECT(a(2, 1) == b(2, 3) && a(0, 0) == b(0, 0));
    Quiet quiet;
    a.swap_rows(0, 3);
    a.swap_cols(-1, 0);
    a.clear();
    EXPECT(a(1, 1) == 0.0f && a.norm() == 0.0f);
}

TEST(test_arithmetic_agrees_with_loops_and_leaves_padding_alone)
{
    Mat a = numbered(5, 7, 9, 7), b = numbered(5, 7, 8, 8);
    a.data[7] = 123.0f;
    Mat sum = a + b, difference = a - b, more = a + 2.5f, less = a - 2.5f, twice = 2.0f * a, half = a / 2.0f;
    Mat ratio = a / (b * 0.0f + 4.0f), cube = a ^ 3;
    for (int r = 0; r < 5; r++)
        for (int c = 0; c < 7; c++) {
            EXPECT(sum(r, c) == a(r, c) + b(r, c) && difference(r, c) == a(r, c) - b(r, c));
            EXPECT(more(r, c) == a(r, c) + 2.5f && less(r, c) == a(r, c) - 2.5f &&
                   twice(r, c) == 2 * a(r, c));
            EXPECT(half(r, c) == a(r, c) * 0.5f && ratio(r, c) == a(r, c) / 4.0f);
            EXPECT(near(cube(r, c), std::pow(static_cast<double>(a(r, c)), 3)));
        }
    Mat x(a);
    x += b;
    x -= b;
    x += 1.0f;
    x -= 1.0f;
    x *= 2.0f;
    x /= 2.0f;
    EXPECT(same(x, a) && a.data[7] == 123.0f);
    Mat y = numbered(5, 7, 9, 7);
    y.data[7] = 5.0f;
    y += b;
    y *= 3.0f;
    EXPECT(y.data[7] == 5.0f);
}

TEST(test_arithmetic_refuses_sizes_that_do_not_fit)
{
    Quiet quiet;
    Mat a = numbered(2, 3, 3, 9), b = numbered(3, 2, 2, 10), before(a), zero(2, 3);
    a += b;
    a -= b;
    a /= b;
    a /= zero;
    a /= 0.0f;
    a *= numbered(2, 2, 2, 1);
    EXPECT(same(a, before, 0) &&
           quiet.sink.str().find("[Error] operator/=: division by zero") != std::string::npos);
    EXPECT(is_refusal(a + b) && is_refusal(a - b) && is_refusal(a / b) && is_refusal(a / 0.0f) &&
           is_refusal(a * a));
    EXPECT(!(a == b) && a == before);
    before(0, 0) += 1.0f;
    EXPECT(!(a == before));
}

TEST(test_products_agree_with_loops)
{
    Mat a = numbered(6, 9, 11, 11), b = numbered(9, 5, 5, 12), c = a * b, square = numbered(9, 9, 9, 13),
        x(a);
    for (int r = 0; r < 6; r++)
        for (int k = 0; k < 5; k++) {
            double want = 0;
            for (int i = 0; i < 9; i++) want += static_cast<double>(a(r, i)) * b(i, k);
            EXPECT(near(c(r, k), want));
        }
    x *= square;
    EXPECT(same(x, a * square) && x.step == 11);
    a *= b;
    EXPECT(same(a, c) && a.col == 5);
    EXPECT(same(b.transpose().transpose(), b, 0) && b.transpose()(4, 8) == b(8, 4));
}

TEST(test_norms_and_dot_products)
{
    Mat a(2, 2), b = Mat::ones(2, 2);
    a(0, 0) = 3.0f;
    a(1, 1) = 4.0f;
    EXPECT(a.norm() == 5.0f && a.dotprod(a, b) == 7.0f);
    a.normalize();
    EXPECT(near(a(1, 1), 0.8) && near(a.norm(), 1));
    Mat z(2, 2);
    z.normalize();
    EXPECT(z.norm() == 0.0f);
}

TEST(test_makers_make_what_they_say)
{
    const Mat e = Mat::eye(3), o = Mat::ones(2), w = Mat::augment(Mat::ones(3, 1), e),
              t = Mat::vstack(Mat::ones(1, 3), e);
    EXPECT(e(0, 0) == 1.0f && e(0, 1) == 0.0f && e(2, 2) == 1.0f && o(1, 1) == 1.0f && o.col == 2);
    EXPECT(w.col == 4 && w(2, 0) == 1.0f && w(2, 3) == 1.0f && w(2, 1) == 0.0f && t.row == 4 &&
           t(3, 2) == 1.0f);
    Quiet quiet;
    EXPECT(is_refusal(Mat::augment(o, e)) && is_refusal(Mat::vstack(o, e)) && Mat::eye(-1).data == nullptr);
}

TEST(test_text_of_matrices)
{
    Mat a(2, 2), b(2, 2);
    a(0, 1) = 2.5f;
    a(1, 0) = -1.0f;
    std::ostringstream text, roi;
    text << a;
    roi << Mat::ROI(1, 2, 3, 4);
    EXPECT(text.str() == "0 2.5\n-1 0\n" &&
           roi.str() == "row start 2\ncol start 1\nrow count 4\ncol count 3\n");
    std::istringstream in(text.str());
    in >> b;
    EXPECT(a == b);
    Quiet quiet;
    Mat(2, 1, 2).print_matrix(true);
    a.print_info();
    EXPECT(quiet.sink.str().find("Matrix Elements >>>\n") == 0 &&
           quiet.sink.str().find("rows            2\n") != std::string::npos);
    quiet.sink.str("");
    b.step = 1; /* set by the program: rows do not fit into it */
    b.print_matrix(false);
    EXPECT(quiet.sink.str().find("[Warning] step < cols; printing only the first 1 column(s)") == 0 &&
           quiet.sink.str().find(">>>\n           0 \n         2.5 \n<<<") != std::string::npos);
    quiet.sink.str("");
    b.step = -1;
    b.print_matrix(true);
    EXPECT(quiet.sink.str() == "[Error] Invalid matrix dimensions\n");
}

TEST(test_linear_algebra_of_square_matrices)
{
    if (!has_lapack()) SKIP("no LAPACK");
    Mat a(3, 3), b(3, 1);
    const float values[9] = {4, -2, 1, -2, 4, -2, 1, -2, 4};
    for (int i = 0; i < 9; i++) a.data[i] = values[i];
    b(0, 0) = 11.0f;
    b(1, 0) = -16.0f;
    b(2, 0) = 17.0f;
    EXPECT(near(a.determinant(), 36) && near(a.determinant_lu(), 36) && near(a.determinant_laplace(), 36) &&
           near(a.determinant_gaussian(), 36));
    EXPECT(same(a * a.inverse_gje(), Mat::eye(3)) && same(a * a.inverse_adjoint(), Mat::eye(3)));
    EXPECT(same(a.adjoint() * (1.0f / 36.0f), a.inverse_gje()));
    const Mat x = a.solve(a, b);
    EXPECT(same(a * x, b) && same(a.band_solve(a, b, 3), x) && same(a.roots(a, b), x));
    EXPECT(a.is_symmetric() && a.is_positive_definite() && !(a * -1.0f).is_positive_definite());
    const Mat::LUDecomposition lu = a.lu_decompose(), plain = a.lu_decompose(false);
    EXPECT(lu.status == TINY_OK && same(lu.L * lu.U, lu.P * a) && same(Mat::solve_lu(lu, b), x));
    EXPECT(plain.status == TINY_OK && !plain.pivoted && same(plain.L * plain.U, a) &&
           same(Mat::solve_lu(plain, b), x));
    Mat::CholeskyDecomposition chol = a.cholesky_decompose();
    EXPECT(chol.status == TINY_OK && same(chol.L * chol.L.transpose(), a) &&
           same(Mat::solve_cholesky(chol, b), x));
    const Mat::EigenDecomposition e = a.eigendecompose();
    Mat scaled(e.eigenvectors);
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) scaled(r, c) *= e.eigenvalues(c, 0);
    EXPECT(e.status == TINY_OK && e.eigenvalues.row == 3 && same(a * e.eigenvectors, scaled));
    const Mat::EigenPair top = a.power_iteration(), least = a.inverse_power_iteration();
    EXPECT(near(top.eigenvalue, (9 + std::sqrt(33.0)) / 2) &&
           near(least.eigenvalue, (9 - std::sqrt(33.0)) / 2));
    EXPECT(same(a * top.eigenvector, top.eigenvector * top.eigenvalue) && top.status == TINY_OK);
    EXPECT(a.eigendecompose_qr().status == TINY_OK && a.eigendecompose_jacobi().status == TINY_OK);
}

TEST(test_linear_algebra_of_tall_matrices)
{
    if (!has_lapack()) SKIP("no LAPACK");
    Mat a = numbered(5, 3, 4, 21), q, r, b = numbered(5, 1, 1, 22);
    Mat::QRDecomposition qr = a.qr_decompose();
    EXPECT(qr.status == TINY_OK && same(qr.Q * qr.R, a) && same(qr.Q.transpose() * qr.Q, Mat::eye(3)));
    for (int i = 0; i < 3; i++) EXPECT(qr.R(i, i) >= 0.0f);
    EXPECT(Mat::gram_schmidt_orthogonalize(a, q, r) && same(q, qr.Q) && same(r, qr.R));
    Mat at = a.transpose();
    EXPECT(same(at * (a * Mat::solve_qr(qr, b)), at * b, 1e-3));
    Mat::SVDDecomposition svd = a.svd_decompose();
    EXPECT(svd.status == TINY_OK && svd.rank == 3 && svd.S.row == 3 && svd.S(0, 0) >= svd.S(1, 0));
    Mat us(svd.U);
    for (int i = 0; i < 5; i++)
        for (int c = 0; c < 3; c++) us(i, c) *= svd.S(c, 0);
    EXPECT(same(us * svd.V.transpose(), a, 1e-3) && same(Mat::pseudo_inverse(svd) * a, Mat::eye(3), 1e-3));
}

TEST(test_elimination_reduces_rows)
{
    Mat a(2, 3);
    const float values[6] = {0, 2, 4, 1, 1, 3};
    for (int i = 0; i < 6; i++) a.data[i] = values[i];
    Mat ref = a.gaussian_eliminate(), rref = ref.row_reduce_from_gaussian();
    EXPECT(ref(0, 0) == 1.0f && ref(1, 0) == 0.0f && ref(1, 1) == 2.0f);
    EXPECT(rref(0, 0) == 1.0f && rref(0, 1) == 0.0f && rref(0, 2) == 1.0f && rref(1, 2) == 2.0f);
    Mat b = numbered(3, 3, 3, 30), m = b.minor(1, 0);
    EXPECT(m.row == 2 && m(0, 0) == b(0, 1) && m(1, 1) == b(2, 2) && same(b.cofactor(1, 0), m));
}

TEST(test_linear_algebra_refuses_bad_matrices)
{
    Quiet quiet;
    Mat tall = numbered(3, 2, 2, 31), zero(2, 2), b(2, 1);
    EXPECT(tall.determinant() == 0.0f && is_none(tall.inverse_gje()) && is_refusal(tall.adjoint()) &&
           is_refusal(tall.inverse_adjoint()) && is_refusal(zero.inverse_adjoint()));
    EXPECT(is_none(zero.inverse_gje()) && is_none(zero.solve(zero, b)) && is_none(zero.solve(tall, b)));
    EXPECT(tall.lu_decompose().status != TINY_OK && tall.cholesky_decompose().status != TINY_OK);
    EXPECT(zero.lu_decompose(false).status != TINY_OK && zero.cholesky_decompose().status != TINY_OK);
    EXPECT(tall.eigendecompose().status != TINY_OK && tall.power_iteration().status != TINY_OK);
    EXPECT(!tall.is_symmetric() && !tall.is_positive_definite() && is_none(zero.band_solve(zero, b, 0)));
    EXPECT(is_none(zero.roots(tall, b)) && is_none(Mat::solve_lu(tall.lu_decompose(), b)));
    EXPECT(is_none(Mat::solve_cholesky(tall.cholesky_decompose(), b)));
}

TEST(test_matrices_without_elements)
{
    Quiet quiet;
    Mat none(0, 0);
    EXPECT(none.determinant() == 1.0f && none.determinant_laplace() == 1.0f &&
           none.determinant_lu() == 1.0f && none.determinant_gaussian() == 1.0f);
    EXPECT(none.is_symmetric() && !none.is_positive_definite());
    EXPECT(none.qr_decompose().status != TINY_OK && none.svd_decompose().status != TINY_OK);
    EXPECT(is_none(none.qr_decompose().Q) && is_none(none.svd_decompose().S));
    EXPECT(is_none(none.lu_decompose().L) && is_none(none.cholesky_decompose().L));
    EXPECT(none.eigendecompose().status == TINY_ERR_MATH_NULL_POINTER);
    EXPECT(is_none(none.gaussian_eliminate()) && is_none(none.row_reduce_from_gaussian()) &&
           is_none(none.inverse_gje()) && is_none(Mat::pseudo_inverse(none.svd_decompose())));
}

TEST(test_the_symmetric_part_is_decomposed)
{
    if (!has_lapack()) SKIP("no LAPACK");
    Mat a(2, 2);
    a(0, 0) = a(1, 1) = 2.0f;
    a(0, 1) = 2.0f;
    const Mat::EigenDecomposition e = a.eigendecompose_jacobi();
    EXPECT(e.status == TINY_OK && std::fabs(e.eigenvalues(0, 0) - 1.0f) < 1e-5f &&
           std::fabs(e.eigenvalues(1, 0) - 3.0f) < 1e-5f);
}

TEST(test_minors_of_any_size)
{
    Quiet quiet;
    const Mat wide = numbered(3, 4, 4, 17), square = numbered(3, 3, 3, 5), row = numbered(1, 4, 4, 5);
    const Mat m = wide.minor(1, 2);
    EXPECT(m.row == 2 && m.col == 3 && m(0, 2) == wide(0, 3) && m(1, 0) == wide(2, 0));
    EXPECT(is_none(wide.cofactor(0, 0)) && square.cofactor(0, 0).row == 2);
    EXPECT(is_none(square.minor(-1, 0)) && is_none(square.minor(0, -1)) && is_none(square.minor(3, 0)) &&
           is_none(square.minor(0, 3)) && is_none(row.minor(0, 0)));
}

TEST(test_iterations_and_tolerances_that_are_none)
{
    Quiet quiet;
    const Mat a = Mat::eye(3);
    const float below = -1e-6f;
    EXPECT(!a.is_symmetric(below) && !a.is_positive_definite(below) && !a.is_positive_definite(1e-6f, 0));
    if (has_lapack()) EXPECT(a.is_positive_definite(1e-6f, 9) && a.is_positive_definite(1e-6f, -5));
    for (const int times : { 0, -1, -10 }) {
        EXPECT(a.svd_decompose(times).status == TINY_ERR_INVALID_ARG);
        EXPECT(a.power_iteration(times).status == TINY_ERR_INVALID_ARG);
        EXPECT(a.inverse_power_iteration(times).status == TINY_ERR_INVALID_ARG);
        EXPECT(a.eigendecompose_jacobi(1e-6f, times).status == TINY_ERR_INVALID_ARG);
        EXPECT(a.eigendecompose_qr(times).status == TINY_ERR_INVALID_ARG);
        EXPECT(a.eigendecompose(1e-6f, times).status == TINY_ERR_INVALID_ARG);
    }
    EXPECT(a.svd_decompose(100, below).status == TINY_ERR_INVALID_ARG);
    EXPECT(a.power_iteration(100, below).status == TINY_ERR_INVALID_ARG);
    EXPECT(a.inverse_power_iteration(100, below).status == TINY_ERR_INVALID_ARG);
    EXPECT(a.eigendecompose_jacobi(below).status == TINY_ERR_INVALID_ARG);
    EXPECT(a.eigendecompose_qr(100, below).status == TINY_ERR_INVALID_ARG);
    EXPECT(a.eigendecompose(below).status == TINY_ERR_INVALID_ARG);
    EXPECT(is_none(Mat::pseudo_inverse(a.svd_decompose(), below)));
}

/* TinyMath in C ------------------------------------------------------------------------ */

TEST(test_vectors_agree_with_loops_in_every_step)
{
    float a[40], b[40], c[40];
    for (int i = 0; i < 40; i++) {
        a[i] = static_cast<float>(i) - 7.5f;
        b[i] = 0.25f * static_cast<float>(i + 1);
    }
    for (int step = 1; step <= 3; step++) {
        EXPECT(tiny_vec_add_f32(a, b, c, 13, step, 1, 2) == TINY_OK);
        for (int i = 0; i < 13; i++) EXPECT(c[i * 2] == a[i * step] + b[i]);
        EXPECT(tiny_vec_sub_f32(a, b, c, 13, step, step, step) == TINY_OK);
        for (int i = 0; i < 13; i++) EXPECT(c[i * step] == a[i * step] - b[i * step]);
        EXPECT(tiny_vec_mul_f32(a, b, c, 13, 1, step, 1) == TINY_OK);
        for (int i = 0; i < 13; i++) EXPECT(c[i] == a[i] * b[i * step]);
        EXPECT(tiny_vec_div_f32(a, b, c, 13, step, step, 1, false) == TINY_OK);
        for (int i = 0; i < 13; i++) EXPECT(c[i] == a[i * step] / b[i * step]);
        float dot = 0, want = 0;
        EXPECT(tiny_vec_dotprode_f32(a, b, &dot, 13, step, 1) == TINY_OK);
        for (int i = 0; i < 13; i++) want += a[i * step] * b[i];
        EXPECT(near(dot, want));
    }
    EXPECT(tiny_vec_addc_f32(a, c, 40, 2.0f, 1, 1) == TINY_OK && c[39] == a[39] + 2.0f);
    EXPECT(tiny_vec_subc_f32(a, c, 40, 2.0f, 1, 1) == TINY_OK && c[39] == a[39] - 2.0f);
    EXPECT(tiny_vec_mulc_f32(a, c, 40, 3.0f, 1, 1) == TINY_OK && c[39] == a[39] * 3.0f);
    EXPECT(tiny_vec_divc_f32(a, c, 40, 4.0f, 1, 1, false) == TINY_OK && c[39] == a[39] * 0.25f);
    EXPECT(tiny_vec_sqrt_f32(b, c, 40) == TINY_OK && near(c[15], 2) &&
           tiny_vec_sqrtf_f32(b, c, 40) == TINY_OK);
    EXPECT(tiny_vec_inv_sqrt_f32(b, c, 40) == TINY_OK && near(c[15], 0.5) &&
           tiny_vec_inv_sqrtf_f32(b, c, 40) == TINY_OK);
    float dot = 0;
    EXPECT(tiny_vec_dotprod_f32(b, b, &dot, 2) == TINY_OK && near(dot, 0.3125));
}

TEST(test_vectors_refuse_bad_input)
{
    float a[4] = {1, 0, -1, 2}, c[4] = {9, 9, 9, 9};
    EXPECT(tiny_vec_add_f32(nullptr, a, c, 4, 1, 1, 1) == TINY_ERR_MATH_NULL_POINTER);
    EXPECT(tiny_vec_add_f32(a, a, c, 0, 1, 1, 1) == TINY_ERR_INVALID_ARG &&
           tiny_vec_add_f32(a, a, c, 4, 0, 1, 1) == TINY_ERR_INVALID_ARG);
    EXPECT(tiny_vec_addc_f32(a, nullptr, 4, 1, 1, 1) == TINY_ERR_MATH_NULL_POINTER &&
           tiny_vec_mulc_f32(a, c, -1, 1, 1, 1) == TINY_ERR_INVALID_ARG);
    EXPECT(tiny_vec_div_f32(a, a, c, 4, 1, 1, 1, false) == TINY_ERR_MATH_ZERO_DIVISION && c[0] == 9.0f);
    EXPECT(tiny_vec_div_f32(a, a, c, 4, 1, 1, 1, true) == TINY_OK && c[0] == 1.0f && c[1] == 0.0f);
    EXPECT(tiny_vec_divc_f32(a, c, 4, 0, 1, 1, false) == TINY_ERR_MATH_ZERO_DIVISION);
    EXPECT(tiny_vec_divc_f32(a, c, 4, 0, 1, 1, true) == TINY_OK && c[3] == 0.0f);
    EXPECT(tiny_vec_sqrt_f32(a, c, 4) == TINY_ERR_MATH_NEGATIVE_SQRT &&
           tiny_vec_sqrt_f32(a, nullptr, 4) == TINY_ERR_MATH_NULL_POINTER);
    EXPECT(tiny_vec_inv_sqrt_f32(a, c, 2) == TINY_ERR_MATH_NEGATIVE_SQRT &&
           tiny_vec_sqrt_f32(a, c, 0) == TINY_ERR_INVALID_ARG);
    EXPECT(tiny_vec_dotprod_f32(a, a, nullptr, 4) == TINY_ERR_MATH_NULL_POINTER &&
           tiny_vec_dotprod_f32(a, a, c, 0) == TINY_ERR_INVALID_ARG);
}

TEST(test_padded_matrices_agree_with_loops)
{
    std::vector<float> a(64), b(64), c(64), want(64);
    for (int i = 0; i < 64; i++) {
        a[i] = static_cast<float>(i);
        b[i] = static_cast<float>(i * i % 17);
    }
    /* With 6 columns, a stride of 2 and no padding, rows lie within each other. */
    for (int stride = 1; stride <= 2; stride++)
        for (int pad = 0; pad <= 6; pad += 6)
            for (int cols = 5; cols <= 6; cols++) {
                const int step = cols + pad;
                std::fill(c.begin(), c.end(), -1.0f);
                want = c;
                for (int r = 0; r < 4; r++)
                    for (int k = 0; k < cols; k++)
                        want[r * step + k * stride] = a[r * step + k * stride] + b[r * cols + k];
                EXPECT(tiny_mat_add_f32(a.data(), b.data(), c.data(), 4, cols, pad, 0, pad, stride, 1,
                                        stride) == TINY_OK);
                EXPECT_MSG(c == want, "stride %d, padding %d, columns %d", stride, pad, cols);
            }
    EXPECT(tiny_mat_sub_f32(a.data(), b.data(), c.data(), 4, 5, 1, 2, 3, 1, 1, 1) == TINY_OK &&
           c[1 * 8 + 2] == a[8] - b[9]);
    EXPECT(tiny_mat_addc_f32(a.data(), c.data(), 1, 4, 5, 1, 0, 1, 1) == TINY_OK && c[5] == 7.0f);
    EXPECT(tiny_mat_subc_f32(a.data(), c.data(), 1, 4, 5, 1, 0, 1, 1) == TINY_OK && c[5] == 5.0f);
    EXPECT(tiny_mat_multc_f32(a.data(), c.data(), 2, 4, 5, 1, 0, 1, 1) == TINY_OK && c[5] == 12.0f);
    EXPECT(tiny_mat_mult_f32(a.data(), b.data(), c.data(), 2, 3, 2) == TINY_OK);
    EXPECT(c[0] == a[0] * b[0] + a[1] * b[2] + a[2] * b[4] &&
           c[3] == a[3] * b[1] + a[4] * b[3] + a[5] * b[5]);
    EXPECT(tiny_mat_mult_ex_f32(a.data(), b.data(), c.data(), 2, 2, 2, 1, 2, 3) == TINY_OK);
    EXPECT(c[0] == a[0] * b[0] + a[1] * b[4] && c[5] == a[3] * b[0] + a[4] * b[4]);
}

TEST(test_padded_matrices_refuse_bad_input)
{
    float a[4] = {0};
    EXPECT(tiny_mat_add_f32(a, a, nullptr, 2, 2, 0, 0, 0, 1, 1, 1) == TINY_ERR_MATH_NULL_POINTER);
    EXPECT(tiny_mat_add_f32(a, a, a, 0, 2, 0, 0, 0, 1, 1, 1) == TINY_ERR_MATH_INVALID_PARAM);
    EXPECT(tiny_mat_add_f32(a, a, a, 2, 2, -1, 0, 0, 1, 1, 1) == TINY_ERR_MATH_INVALID_PARAM);
    EXPECT(tiny_mat_subc_f32(a, a, 1, 2, 2, 0, 0, 0, 1) == TINY_ERR_MATH_INVALID_PARAM &&
           tiny_mat_multc_f32(nullptr, a, 1, 2, 2, 0, 0, 1, 1) == TINY_ERR_MATH_NULL_POINTER);
    EXPECT(tiny_mat_mult_f32(a, a, nullptr, 1, 1, 1) == TINY_ERR_MATH_NULL_POINTER &&
           tiny_mat_mult_f32(a, a, a, 1, 0, 1) == TINY_ERR_MATH_INVALID_PARAM);
    EXPECT(tiny_mat_mult_ex_f32(a, a, a, 1, 1, 1, 0, -1, 0) == TINY_ERR_MATH_INVALID_PARAM);
}
