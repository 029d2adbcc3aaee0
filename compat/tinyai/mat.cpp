/* mat.cpp - tiny::Mat: parts, arithmetic and text. Elements are computed by the library's ops,
 * through the functions of tiny_mat.h or on placed tensors. */
#include "mat_view.hpp"

#include <iomanip>

namespace tiny
{

namespace
{

bool same_size(const Mat &a, const Mat &b) { return a.row == b.row && a.col == b.col; }

bool has_part(const Mat &m, int r, int c, int rows, int cols)
{
    return r >= 0 && c >= 0 && rows > 0 && cols > 0 && rows <= m.row && cols <= m.col && r <= m.row - rows &&
           c <= m.col - cols;
}

bool copy_over(const Mat &dst, const Mat &src)
{
    tsr_tensor to, from;
    return look(to, dst) && look(from, src) && tsr_copy(&to, &from) == TSR_OK;
}

/* Elements that are too small to divide by. */
bool is_zero(float x) { return std::fabs(x) < 1e-9f; }

bool any_zero(const Mat &m)
{
    for (int r = 0; r < m.row; r++)
        for (int c = 0; c < m.col; c++)
            if (is_zero(m(r, c))) return true;
    return false;
}

} // namespace

/* Text -------------------------------------------------------------------------- */

void Mat::print_info() const
{
    std::cout << "Matrix Info >>>\n"
              << "rows            " << row << "\n"
              << "cols            " << col << "\n"
              << "elements        " << element;
    if (element != row * col) std::cout << "   [Warning] Mismatch! Expected: " << row * col;
    std::cout << "\n"
              << "paddings        " << pad << "\n"
              << "step            " << step << "\n"
              << "memory          " << memory << "\n"
              << "data pointer    " << static_cast<const void *>(data) << "\n"
              << "temp pointer    " << static_cast<const void *>(temp) << "\n"
              << "ext_buff        " << ext_buff << (ext_buff ? "   (External buffer or View)" : "") << "\n"
              << "sub_matrix      " << sub_matrix << (sub_matrix ? "   (This is a Sub-Matrix View)" : "")
              << "\n";
    if (!data) std::cout << "[Info] No data buffer assigned to this matrix.\n";
    std::cout << "<<< Matrix Info\n";
}

void Mat::print_matrix(bool show_padding) const
{
    if (!data) {
        std::cout << "[Error] Cannot print matrix: data pointer is null.\n";
        return;
    }
    if (row < 0 || col < 0 || step < 0) {
        std::cout << "[Error] Invalid matrix dimensions\n";
        return;
    }
    /* The fields are public: a program may have set a step that rows do not fit into. */
    const int shown = step < col ? step : col;
    if (shown < col)
        std::cout << "[Warning] step < cols; printing only the first " << shown
                  << " column(s) per row to avoid out-of-bounds access.\n";
    std::cout << "Matrix Elements >>>\n";
    for (int r = 0; r < row; r++) {
        for (int c = 0; c < shown; c++) std::cout << std::setw(12) << (*this)(r, c) << " ";
        if (show_padding) std::cout << "      |";
        for (int c = col; show_padding && c < step; c++)
            std::cout << std::setw(c == col ? 7 : 12) << (*this)(r, c) << " ";
        std::cout << "\n";
    }
    std::cout << "<<< Matrix Elements\n" << std::endl;
}

std::ostream &operator<<(std::ostream &os, const Mat &m)
{
    if (!m.data) return os << "[Error] Cannot print matrix: data pointer is null.\n";
    for (int r = 0; r < m.row; r++) {
        for (int c = 0; c < m.col; c++) os << (c ? " " : "") << m(r, c);
        os << std::endl;
    }
    return os;
}

std::ostream &operator<<(std::ostream &os, const Mat::ROI &roi)
{
    return os << "row start " << roi.pos_y << std::endl
              << "col start " << roi.pos_x << std::endl
              << "row count " << roi.height << std::endl
              << "col count " << roi.width << std::endl;
}

std::istream &operator>>(std::istream &is, Mat &m)
{
    for (int r = 0; m.data && r < m.row; r++)
        for (int c = 0; c < m.col; c++) is >> m(r, c);
    return is;
}

/* Parts ------------------------------------------------------------------------- */

tiny_error_t Mat::copy_paste(const Mat &src, int row_pos, int col_pos)
{
    if (!is_there(*this) || !is_there(src) || !has_part(*this, row_pos, col_pos, src.row, src.col)) {
        refuse("copy_paste", "the source does not fit at that place");
        return TINY_ERR_INVALID_ARG;
    }
    return copy_over(view_roi(row_pos, col_pos, src.row, src.col), src) ? TINY_OK : TINY_ERR_INVALID_ARG;
}

tiny_error_t Mat::copy_head(const Mat &src)
{
    if (!src.data) {
        refuse("copy_head", "the source has no data");
        return TINY_ERR_INVALID_ARG;
    }
    if (this == &src) return TINY_OK;
    drop();
    delete[] temp;
    temp = nullptr;
    row = src.row;
    col = src.col;
    pad = src.pad;
    step = src.step;
    element = src.element;
    memory = src.memory;
    data = src.data;
    sub_matrix = src.sub_matrix;
    ext_buff = true;
    bad = false;
    return TINY_OK;
}

Mat Mat::view_roi(int start_row, int start_col, int roi_rows, int roi_cols) const
{
    if (!is_there(*this) || !has_part(*this, start_row, start_col, roi_rows, roi_cols))
        return refuse("view_roi", "the region leaves the matrix");
    Mat part(data + static_cast<int64_t>(start_row) * step + start_col, roi_rows, roi_cols, step);
    part.sub_matrix = true;
    return part;
}

Mat Mat::view_roi(const Mat::ROI &roi) const { return view_roi(roi.pos_y, roi.pos_x, roi.height, roi.width); }

Mat Mat::copy_roi(int start_row, int start_col, int height, int width)
{
    if (!is_there(*this) || !has_part(*this, start_row, start_col, height, width))
        return refuse("copy_roi", "the region leaves the matrix");
    Mat part(height, width);
    return copy_over(part, view_roi(start_row, start_col, height, width)) ? part
                                                                         : refuse("copy_roi", "no memory");
}

Mat Mat::copy_roi(const Mat::ROI &roi) { return copy_roi(roi.pos_y, roi.pos_x, roi.height, roi.width); }

Mat Mat::block(int start_row, int start_col, int block_rows, int block_cols)
{
    return copy_roi(start_row, start_col, block_rows, block_cols);
}

void Mat::swap_rows(int row1, int row2)
{
    if (!is_there(*this) || row1 < 0 || row2 < 0 || row1 >= row || row2 >= row) {
        refuse("swap_rows", "there is no such row");
        return;
    }
    for (int c = 0; c < col; c++) std::swap((*this)(row1, c), (*this)(row2, c));
}

void Mat::swap_cols(int col1, int col2)
{
    if (!is_there(*this) || col1 < 0 || col2 < 0 || col1 >= col || col2 >= col) {
        refuse("swap_cols", "there is no such column");
        return;
    }
    for (int r = 0; r < row; r++) std::swap((*this)(r, col1), (*this)(r, col2));
}

void Mat::clear(void)
{
    tsr_tensor t;
    if (!look(t, *this) || tsr_zero(&t) != TSR_OK) refuse("clear", "there is nothing to clear");
}

/* Assignment -------------------------------------------------------------------- */

Mat &Mat::operator=(const Mat &src)
{
    if (this == &src) return *this;
    if (sub_matrix || !src.data) {
        refuse("operator=", sub_matrix ? "a sub-matrix cannot be assigned to" : "the source has no data");
        return *this;
    }
    if (data && same_size(*this, src)) {
        copy_over(*this, src);
        return *this;
    }
    Mat fresh(src.row, src.col);
    if (!fresh.data || !copy_over(fresh, src)) {
        refuse("operator=", "no memory");
        return *this;
    }
    copy_head(fresh);
    ext_buff = false; /* what fresh held is this matrix's now */
    fresh.ext_buff = true;
    return *this;
}

/* Arithmetic -------------------------------------------------------------------- */

Mat &Mat::operator+=(const Mat &A)
{
    if (!same_size(*this, A) ||
        tiny_mat_add_f32(data, A.data, data, row, col, pad, A.pad, pad, 1, 1, 1) != TINY_OK)
        refuse("operator+=", "the matrices do not have equal sizes, or one has no data");
    return *this;
}

Mat &Mat::operator+=(float C)
{
    if (tiny_mat_addc_f32(data, data, C, row, col, pad, pad, 1, 1) != TINY_OK)
        refuse("operator+=", "the matrix has no data");
    return *this;
}

Mat &Mat::operator-=(const Mat &A)
{
    if (!same_size(*this, A) ||
        tiny_mat_sub_f32(data, A.data, data, row, col, pad, A.pad, pad, 1, 1, 1) != TINY_OK)
        refuse("operator-=", "the matrices do not have equal sizes, or one has no data");
    return *this;
}

Mat &Mat::operator-=(float C)
{
    if (tiny_mat_subc_f32(data, data, C, row, col, pad, pad, 1, 1) != TINY_OK)
        refuse("operator-=", "the matrix has no data");
    return *this;
}

Mat &Mat::operator*=(const Mat &A)
{
    if (!is_there(*this) || !is_there(A) || col != A.row) {
        refuse("operator*=", "the matrices do not have fitting sizes, or one has no data");
    } else if (col == A.col) {
        tiny_mat_mult_ex_f32(data, A.data, data, row, col, A.col, pad, A.pad, pad);
    } else if (ext_buff) {
        refuse("operator*=", "a matrix in a buffer of another's cannot change its size");
    } else {
        *this = *this * A;
    }
    return *this;
}

Mat &Mat::operator*=(float C)
{
    if (tiny_mat_multc_f32(data, data, C, row, col, pad, pad, 1, 1) != TINY_OK)
        refuse("operator*=", "the matrix has no data");
    return *this;
}

Mat &Mat::operator/=(const Mat &B)
{
    tsr_tensor t, b, *out = &t;
    if (!same_size(*this, B) || !look(t, *this) || !look(b, B))
        refuse("operator/=", "the matrices do not have equal sizes, or one has no data");
    else if (any_zero(B))
        refuse("operator/=", "division by zero");
    else if (tsr_div(&out, &t, &b) != TSR_OK)
        refuse("operator/=", tsr_last_error());
    return *this;
}

Mat &Mat::operator/=(float C)
{
    if (is_zero(C)) {
        refuse("operator/=", "division by zero");
        return *this;
    }
    return *this *= 1.0f / C;
}

Mat Mat::operator^(int C)
{
    tsr_tensor from, to, *out = &to;
    Mat result(row, col, step);
    if (!look(from, *this) || !look(to, result)) return refuse("operator^", "the matrix has no data");
    if (tsr_pow(&out, &from, TSR_NUMBER(C)) != TSR_OK) return refuse("operator^", tsr_last_error());
    return result;
}

Mat operator+(const Mat &A, const Mat &B)
{
    Mat sum(A.row, A.col);
    if (A.row != B.row || A.col != B.col ||
        tiny_mat_add_f32(A.data, B.data, sum.data, A.row, A.col, A.pad, B.pad, 0, 1, 1, 1) != TINY_OK)
        return refuse("operator+", "the matrices do not have equal sizes, or one has no data");
    return sum;
}

Mat operator+(const Mat &A, float C)
{
    Mat sum(A.row, A.col);
    if (tiny_mat_addc_f32(A.data, sum.data, C, A.row, A.col, A.pad, 0, 1, 1) != TINY_OK)
        return refuse("operator+", "the matrix has no data");
    return sum;
}

Mat operator-(const Mat &A, const Mat &B)
{
    Mat difference(A.row, A.col);
    if (A.row != B.row || A.col != B.col ||
        tiny_mat_sub_f32(A.data, B.data, difference.data, A.row, A.col, A.pad, B.pad, 0, 1, 1, 1) != TINY_OK)
        return refuse("operator-", "the matrices do not have equal sizes, or one has no data");
    return difference;
}

Mat operator-(const Mat &A, float C)
{
    Mat difference(A.row, A.col);
    if (tiny_mat_subc_f32(A.data, difference.data, C, A.row, A.col, A.pad, 0, 1, 1) != TINY_OK)
        return refuse("operator-", "the matrix has no data");
    return difference;
}

Mat operator*(const Mat &A, const Mat &B)
{
    if (!is_there(A) || !is_there(B) || A.col != B.row)
        return refuse("operator*", "the matrices do not have fitting sizes, or one has no data");
    Mat product(A.row, B.col);
    if (tiny_mat_mult_ex_f32(A.data, B.data, product.data, A.row, A.col, B.col, A.pad, B.pad, 0) != TINY_OK)
        return refuse("operator*", "no memory");
    return product;
}

Mat operator*(const Mat &A, float C)
{
    Mat product(A.row, A.col);
    if (tiny_mat_multc_f32(A.data, product.data, C, A.row, A.col, A.pad, 0, 1, 1) != TINY_OK)
        return refuse("operator*", "the matrix has no data");
    return product;
}

Mat operator*(float C, const Mat &A) { return A * C; }

Mat operator/(const Mat &A, float C)
{
    if (C == 0.0f) return refuse("operator/", "division by zero");
    return A * (1.0f / C);
}

Mat operator/(const Mat &A, const Mat &B)
{
    tsr_tensor a, b, q, *out = &q;
    Mat quotient(A.row, A.col);
    if (!same_size(A, B) || !look(a, A) || !look(b, B) || !look(q, quotient))
        return refuse("operator/", "the matrices do not have equal sizes, or one has no data");
    if (tsr_div(&out, &a, &b) != TSR_OK) return refuse("operator/", tsr_last_error());
    return quotient;
}

/* Equal within 1e-5; where not, standard output says so. */
bool operator==(const Mat &A, const Mat &B)
{
    if (!same_size(A, B)) return false;
    if (!is_there(A) || !is_there(B)) return is_there(A) == is_there(B);
    for (int r = 0; r < A.row; r++)
        for (int c = 0; c < A.col; c++) {
            const float diff = std::fabs(A(r, c) - B(r, c));
            if (diff <= 1e-5f) continue;
            std::cout << "operator == Error: " << r << " " << c << ", m1.data=" << A(r, c)
                      << ", m2.data=" << B(r, c) << ", diff=" << diff << std::endl;
            return false;
        }
    return true;
}

/* Makers -------------------------------------------------------------------------- */

Mat Mat::transpose()
{
    tsr_tensor from, to, transposed, *t = tsr_place_none(&transposed), *out = &to;
    Mat result(col, row);
    if (!look(from, *this) || !look(to, result)) return refuse("transpose", "the matrix has no data");
    if (tsr_transpose(&t, &from, 0, 1) != TSR_OK || tsr_rearrange(&out, t) != TSR_OK)
        return refuse("transpose", tsr_last_error());
    return result;
}

Mat Mat::eye(int size)
{
    tsr_tensor t, *out = &t;
    Mat result(size, size);
    if (look(t, result) && tsr_eye(&out, TSR_F32, size, size, 0) != TSR_OK)
        return refuse("eye", tsr_last_error());
    return result;
}

Mat Mat::ones(int rows, int cols)
{
    tsr_tensor t;
    Mat result(rows, cols);
    if (look(t, result) && tsr_fill(&t, TSR_SCALAR(1)) != TSR_OK) return refuse("ones", tsr_last_error());
    return result;
}

Mat Mat::ones(int size) { return ones(size, size); }

Mat Mat::augment(const Mat &A, const Mat &B)
{
    if (!is_there(A) || !is_there(B) || A.row != B.row || A.col > INT_MAX - B.col)
        return refuse("augment", "the matrices do not have equally many rows, or one has no data");
    Mat result(A.row, A.col + B.col);
    if (!result.data) return refuse("augment", "no memory");
    result.copy_paste(A, 0, 0);
    result.copy_paste(B, 0, A.col);
    return result;
}

Mat Mat::vstack(const Mat &A, const Mat &B)
{
    if (!is_there(A) || !is_there(B) || A.col != B.col || A.row > INT_MAX - B.row)
        return refuse("vstack", "the matrices do not have equally many columns, or one has no data");
    Mat result(A.row + B.row, A.col);
    if (!result.data) return refuse("vstack", "no memory");
    result.copy_paste(A, 0, 0);
    result.copy_paste(B, A.row, 0);
    return result;
}

float Mat::norm() const
{
    float value = 0.0f;
    tsr_desc d;
    tsr_tensor t, result, *out = &result;
    if (!look(t, *this) || tsr_desc_init(&d, TSR_F32, TSR_SCALAR_SHAPE, nullptr) != TSR_OK ||
        tsr_place(&result, &value, &d) != TSR_OK ||
        tsr_matrix_norm(&out, &t, TSR_ORD_FRO, false) != TSR_OK)
        refuse("norm", "the matrix has no data");
    return value;
}

void Mat::normalize()
{
    const float n = norm();
    if (n > TINY_MATH_MIN_POSITIVE_INPUT_F32) *this /= n;
}

/* The sum of the products of elements in the same place. */
float Mat::dotprod(const Mat &A, const Mat &B)
{
    float sum = 0.0f;
    if (!is_there(A) || !is_there(B) || !same_size(A, B)) {
        refuse("dotprod", "the matrices do not have equal sizes, or one has no data");
        return sum;
    }
    for (int r = 0; r < A.row; r++) {
        float part = 0.0f;
        tiny_vec_dotprod_f32(&A(r, 0), &B(r, 0), &part, A.col);
        sum += part;
    }
    return sum;
}

} // namespace tiny
