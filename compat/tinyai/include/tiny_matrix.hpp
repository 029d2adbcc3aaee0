/* tiny_matrix.hpp - tiny::Mat: a matrix of floats, row-major, with padding at the ends of rows.
 *
 * Element (r, c) is data[r * step + c]. A matrix owns its data, or looks at a buffer (ext_buff) or
 * at a part of another matrix (ext_buff and sub_matrix). Copies are deep, except of parts, whose
 * copies look at the same elements.
 *
 * What cannot be done (sizes that do not fit, no data) is said in one line on std::cerr; the matrix
 * stays as it was. Where a matrix is returned it is Mat(), a zero of one element, up to vstack below, and
 * Mat(0, 0), without data, from minor on. A matrix that could not be made has no data. Nothing throws.
 */
#ifndef TINY_MATRIX_HPP
#define TINY_MATRIX_HPP

#include "tiny_math_config.h"
#include "tiny_vec.h"
#include "tiny_mat.h"

#ifdef __cplusplus

#include <climits>
#include <cstring>
#include <iostream>
#include <stdint.h>
#include <stdlib.h>

namespace tiny
{

class TINY_EXPORT Mat
{
public:
    int row;
    int col;
    int pad;         /* step - col */
    union {
        int step;    /* elements from one row to the next */
        int stride;  /* the same by its former name */
    };
    int    element;    /* row * col */
    int    memory;     /* row * step */
    float *data;
    float *temp;
    bool   ext_buff;   /* is data another's? */
    bool   sub_matrix; /* is it a part of another matrix? */

    struct TINY_EXPORT ROI
    {
        int pos_x;  /* first column */
        int pos_y;  /* first row */
        int width;
        int height;

        ROI(int x = 0, int y = 0, int w = 0, int h = 0) : pos_x(x), pos_y(y), width(w), height(h) {}
        void resize_roi(int x, int y, int w, int h) { *this = ROI(x, y, w, h); }
        int area_roi(void) const { return width < 0 || height < 0 ? 0 : width * height; }
    };

    void print_info() const;
    void print_matrix(bool show_padding) const;

    /* Making. All zeros, or looking at a buffer of the caller's. */
    Mat() : Mat(1, 1) {}
    Mat(int rows, int cols) : Mat(rows, cols, cols) {}

    Mat(int rows, int cols, int step_) : Mat(Shape{rows, cols, step_})
    {
        if (!bad) alloc_mem();
        if (data) std::memset(data, 0, static_cast<size_t>(memory) * sizeof(float));
    }

    Mat(float *buffer, int rows, int cols) : Mat(buffer, rows, cols, cols) {}

    Mat(float *buffer, int rows, int cols, int step_) : Mat(Shape{rows, cols, step_})
    {
        ext_buff = true;
        if (!bad) data = buffer;
    }

    Mat(const Mat &src) : Mat(Shape{src.row, src.col, src.step})
    {
        if (src.sub_matrix && src.ext_buff) {
            data = src.data;
            ext_buff = sub_matrix = true;
        } else if (src.data && !bad) {
            alloc_mem();
            copy_elements(src);
        }
    }

    ~Mat()
    {
        drop();
        delete[] temp;
    }

    /* Takes row * step elements, undefined and aligned to a cache line; data is NULL if there are none,
     * or no memory. */
    void alloc_mem()
    {
        ext_buff = false;
        data = nullptr;
        memory = 0;
        if (row <= 0 || step <= 0 || step > INT_MAX / row) return;
        const size_t bytes = static_cast<size_t>(row) * static_cast<size_t>(step) * sizeof(float);
        data = static_cast<float *>(::aligned_alloc(64, (bytes + 63) / 64 * 64));
        if (data) memory = row * step;
    }

    float &operator()(int r, int c) { return data[r * step + c]; }
    const float &operator()(int r, int c) const { return data[r * step + c]; }

    /* Parts */
    tiny_error_t copy_paste(const Mat &src, int row_pos, int col_pos);
    tiny_error_t copy_head(const Mat &src); /* looks at what src looks at */
    Mat view_roi(int start_row, int start_col, int roi_rows, int roi_cols) const;
    Mat view_roi(const Mat::ROI &roi) const;
    Mat copy_roi(int start_row, int start_col, int height, int width);
    Mat copy_roi(const Mat::ROI &roi);
    Mat block(int start_row, int start_col, int block_rows, int block_cols);
    void swap_rows(int row1, int row2);
    void swap_cols(int col1, int col2);
    void clear(void);

    /* Arithmetic. *= with a matrix is the matrix product; /= and ^ work element by element. */
    Mat &operator=(const Mat &src);
    Mat &operator+=(const Mat &A);
    Mat &operator+=(float C);
    Mat &operator-=(const Mat &A);
    Mat &operator-=(float C);
    Mat &operator*=(const Mat &A);
    Mat &operator*=(float C);
    Mat &operator/=(const Mat &B);
    Mat &operator/=(float C);
    Mat operator^(int C);

    Mat transpose();
    float determinant();
    float determinant_laplace();
    float determinant_lu();
    float determinant_gaussian();
    Mat adjoint();
    Mat inverse_adjoint();
    void normalize();   /* divides by the norm */
    float norm() const; /* Frobenius */
    float dotprod(const Mat &A, const Mat &B);

    static Mat eye(int size);
    static Mat ones(int rows, int cols);
    static Mat ones(int size);
    static Mat augment(const Mat &A, const Mat &B); /* [A | B] */
    static Mat vstack(const Mat &A, const Mat &B);  /* [A; B] */
    static bool gram_schmidt_orthogonalize(const Mat &vectors, Mat &orthogonal_vectors, Mat &coefficients,
                                           float tolerance = 1e-6f);

    Mat minor(int target_row, int target_col) const;    /* without that row and column */
    Mat cofactor(int target_row, int target_col) const; /* of a square one; the sign is the caller's */
    Mat gaussian_eliminate() const;
    Mat row_reduce_from_gaussian() const;
    Mat inverse_gje() const;

    Mat solve(const Mat &A, const Mat &b) const;
    Mat band_solve(Mat A, Mat b, int k) const;
    Mat roots(Mat A, Mat y) const;

    struct LUDecomposition;
    struct CholeskyDecomposition;
    struct QRDecomposition;
    struct SVDDecomposition;
    struct EigenPair;
    struct EigenDecomposition;

    bool is_symmetric(float tolerance = 1e-6f) const;
    bool is_positive_definite(float tolerance = 1e-6f, int max_minors_to_check = -1) const;

    LUDecomposition lu_decompose(bool use_pivoting = true) const;
    CholeskyDecomposition cholesky_decompose() const;
    QRDecomposition qr_decompose() const;
    SVDDecomposition svd_decompose(int max_iter = 100, float tolerance = 1e-6f) const;
    static Mat solve_lu(const LUDecomposition &lu, const Mat &b);
    static Mat solve_cholesky(const CholeskyDecomposition &chol, const Mat &b);
    static Mat solve_qr(const QRDecomposition &qr, const Mat &b);
    static Mat pseudo_inverse(const SVDDecomposition &svd, float tolerance = 1e-6f);

    EigenPair power_iteration(int max_iter = 1000, float tolerance = 1e-6f) const;
    EigenPair inverse_power_iteration(int max_iter = 1000, float tolerance = 1e-6f) const;
    EigenDecomposition eigendecompose_jacobi(float tolerance = 1e-6f, int max_iter = 100) const;
    EigenDecomposition eigendecompose_qr(int max_iter = 100, float tolerance = 1e-6f) const;
    EigenDecomposition eigendecompose(float tolerance = 1e-6f, int max_iter = 100) const;

private:
    struct Shape
    {
        int rows, cols, step;
    };

    /* The head alone. A shape that is none, or too large, leaves a matrix that stays without data. */
    explicit Mat(const Shape &s)
        : row(s.rows), col(s.cols), pad(0), step(s.step), element(0), memory(0), data(nullptr), temp(nullptr),
          ext_buff(false), sub_matrix(false), bad(!sound(s))
    {
        if (bad) {
            std::cerr << "[Error] Invalid matrix dimensions: rows=" << row << ", cols=" << col
                      << ", step=" << step << "\n";
            return;
        }
        pad = step - col;
        element = row * col;
        memory = row * step;
    }

    static bool sound(const Shape &s)
    {
        return s.rows >= 0 && s.cols >= 0 && s.step >= s.cols && (s.rows == 0 || s.step <= INT_MAX / s.rows);
    }

    void copy_elements(const Mat &src)
    {
        for (int r = 0; data && r < row; r++)
            std::memcpy(data + static_cast<size_t>(r) * step, src.data + static_cast<size_t>(r) * src.step,
                        static_cast<size_t>(col) * sizeof(float));
    }

    void drop()
    {
        if (!ext_buff) ::free(data);
        data = nullptr;
    }

    bool bad; /* the shape was none: data stays NULL */
};

/* A = L U, or P A = L U */
struct TINY_EXPORT Mat::LUDecomposition
{
    Mat L{0, 0}, U{0, 0}, P{0, 0};
    bool pivoted = false;
    tiny_error_t status = TINY_OK;
};

/* A = L L^T */
struct TINY_EXPORT Mat::CholeskyDecomposition
{
    Mat L{0, 0};
    tiny_error_t status = TINY_OK;
};

/* A = Q R */
struct TINY_EXPORT Mat::QRDecomposition
{
    Mat Q{0, 0}, R{0, 0};
    tiny_error_t status = TINY_OK;
};

/* A = U diag(S) V^T: S is a column of values, largest first; the columns of V are the vectors */
struct TINY_EXPORT Mat::SVDDecomposition
{
    Mat U{0, 0}, S{0, 0}, V{0, 0};
    int rank = 0;
    int iterations = 0;
    tiny_error_t status = TINY_OK;
};

struct TINY_EXPORT Mat::EigenPair
{
    float eigenvalue = 0.0f;
    Mat eigenvector; /* a column */
    int iterations = 0;
    tiny_error_t status = TINY_OK;
};

struct TINY_EXPORT Mat::EigenDecomposition
{
    Mat eigenvalues;  /* a column */
    Mat eigenvectors; /* in columns */
    int iterations = 0;
    tiny_error_t status = TINY_OK;
};

TINY_EXPORT std::ostream &operator<<(std::ostream &os, const Mat &m);
TINY_EXPORT std::ostream &operator<<(std::ostream &os, const Mat::ROI &roi);
TINY_EXPORT std::istream &operator>>(std::istream &is, Mat &m);

TINY_EXPORT Mat operator+(const Mat &A, const Mat &B);
TINY_EXPORT Mat operator+(const Mat &A, float C);
TINY_EXPORT Mat operator-(const Mat &A, const Mat &B);
TINY_EXPORT Mat operator-(const Mat &A, float C);
TINY_EXPORT Mat operator*(const Mat &A, const Mat &B);
TINY_EXPORT Mat operator*(const Mat &A, float C);
TINY_EXPORT Mat operator*(float C, const Mat &A);
TINY_EXPORT Mat operator/(const Mat &A, float C);
TINY_EXPORT Mat operator/(const Mat &A, const Mat &B);
TINY_EXPORT bool operator==(const Mat &A, const Mat &B);

} // namespace tiny

#endif
#endif
