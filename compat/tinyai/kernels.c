/* kernels.c - tiny_vec.h and tiny_mat.h: the caller's floats seen as placed tensors, and one op of
 * the library each. Nothing is allocated. */
#include "tiny_mat.h"
#include "tiny_vec.h"

#include "place.h"

typedef tsr_status (*binary_fn)(tsr_tensor **, const tsr_tensor *, const tsr_tensor *);

static tiny_error_t error_of(tsr_status s)
{
    if (s == TSR_OK) return TINY_OK;
    return s == TSR_ENOMEM ? TINY_ERR_NO_MEM : TINY_ERR_INVALID_ARG;
}

/* A vector is a matrix of one row. */
static tsr_status look_vec(tsr_tensor *t, const float *data, int len, int step)
{
    return tinyai_place(t, data, 1, len, (int64_t)len * step, step);
}

/* One side of an op on matrices. */
typedef struct side {
    const float *data;
    int          pad, stride;
} side;

static tsr_status look_side(tsr_tensor *t, const side *s, int row, int rows, int cols)
{
    const int64_t step = (int64_t)cols + s->pad;
    return tinyai_place(t, s->data + row * step, rows, cols, step, s->stride);
}

/* Rows from .. from + rows - 1 of c = a op b; b NULL: the number instead. */
static tsr_status mat_rows(binary_fn op, const side *c, const side *a, const side *b, float number, int from,
                           int rows, int cols)
{
    tsr_tensor tc, ta, tb, *out = &tc;
    TSR_TRY(look_side(&tc, c, from, rows, cols));
    TSR_TRY(look_side(&ta, a, from, rows, cols));
    if (!b) return op(&out, &ta, TSR_NUMBER(number));
    TSR_TRY(look_side(&tb, b, from, rows, cols));
    return op(&out, &ta, &tb);
}

/* With a stride above 1 rows may lie within each other. The original writes them one after the
 * other, and so does this where the output as a whole has two elements in one place. */
static tiny_error_t mat_op(binary_fn op, side c, side a, const side *b, float number, int rows, int cols)
{
    if (!c.data || !a.data || (b && !b->data)) return TINY_ERR_MATH_NULL_POINTER;
    if (rows <= 0 || cols <= 0 || c.pad < 0 || a.pad < 0 || (b && b->pad < 0) || c.stride <= 0 ||
        a.stride <= 0 || (b && b->stride <= 0))
        return TINY_ERR_MATH_INVALID_PARAM;
    tsr_status s = mat_rows(op, &c, &a, b, number, 0, rows, cols);
    if (s != TSR_EOVERLAP) return error_of(s);
    for (int r = 0; r < rows; r++)
        if ((s = mat_rows(op, &c, &a, b, number, r, 1, cols)) != TSR_OK) break;
    return error_of(s);
}

static tiny_error_t vec_op(binary_fn op, const float *a, const float *b, float number, float *c, int len,
                           int step_a, int step_b, int step_c)
{
    tsr_tensor tc, ta, tb, *out = &tc;
    tsr_status s;
    if (len <= 0 || step_a <= 0 || step_b <= 0 || step_c <= 0) return TINY_ERR_INVALID_ARG;
    if ((s = look_vec(&tc, c, len, step_c)) != TSR_OK) return error_of(s);
    if ((s = look_vec(&ta, a, len, step_a)) != TSR_OK) return error_of(s);
    if (!b) return error_of(op(&out, &ta, TSR_NUMBER(number)));
    if ((s = look_vec(&tb, b, len, step_b)) != TSR_OK) return error_of(s);
    return error_of(op(&out, &ta, &tb));
}

static tiny_error_t vec_with_vec(binary_fn op, const float *a, const float *b, float *c, int len, int step_a,
                                 int step_b, int step_c)
{
    if (!a || !b || !c) return TINY_ERR_MATH_NULL_POINTER;
    return vec_op(op, a, b, 0, c, len, step_a, step_b, step_c);
}

static tiny_error_t vec_with_number(binary_fn op, const float *a, float *c, int len, float number, int step_a,
                                    int step_c)
{
    if (!a || !c) return TINY_ERR_MATH_NULL_POINTER;
    return vec_op(op, a, NULL, number, c, len, step_a, 1, step_c);
}

/* Vectors ------------------------------------------------------------------------ */

tiny_error_t tiny_vec_add_f32(const float *input1, const float *input2, float *output, int len, int step1,
                              int step2, int step_out)
{
    return vec_with_vec(tsr_add, input1, input2, output, len, step1, step2, step_out);
}

tiny_error_t tiny_vec_addc_f32(const float *input, float *output, int len, float C, int step_in, int step_out)
{
    return vec_with_number(tsr_add, input, output, len, C, step_in, step_out);
}

tiny_error_t tiny_vec_sub_f32(const float *input1, const float *input2, float *output, int len, int step1,
                              int step2, int step_out)
{
    return vec_with_vec(tsr_sub, input1, input2, output, len, step1, step2, step_out);
}

tiny_error_t tiny_vec_subc_f32(const float *input, float *output, int len, float C, int step_in, int step_out)
{
    return vec_with_number(tsr_sub, input, output, len, C, step_in, step_out);
}

tiny_error_t tiny_vec_mul_f32(const float *input1, const float *input2, float *output, int len, int step1,
                              int step2, int step_out)
{
    return vec_with_vec(tsr_mul, input1, input2, output, len, step1, step2, step_out);
}

tiny_error_t tiny_vec_mulc_f32(const float *input, float *output, int len, float C, int step_in, int step_out)
{
    return vec_with_number(tsr_mul, input, output, len, C, step_in, step_out);
}

static bool is_small(float x) { return fabsf(x) < TINY_MATH_MIN_DENOMINATOR; }

static bool any_small(const float *x, int len, int step)
{
    for (int64_t i = 0; i < len; i++)
        if (is_small(x[i * step])) return true;
    return false;
}

tiny_error_t tiny_vec_div_f32(const float *input1, const float *input2, float *output, int len, int step1,
                              int step2, int step_out, bool allow_divide_by_zero)
{
    if (!input1 || !input2 || !output) return TINY_ERR_MATH_NULL_POINTER;
    if (len <= 0 || step1 <= 0 || step2 <= 0 || step_out <= 0) return TINY_ERR_INVALID_ARG;
    if (!any_small(input2, len, step2))
        return vec_op(tsr_div, input1, input2, 0, output, len, step1, step2, step_out);
    if (!allow_divide_by_zero) return TINY_ERR_MATH_ZERO_DIVISION;
    for (int64_t i = 0; i < len; i++) {
        const float d = input2[i * step2];
        output[i * step_out] = is_small(d) ? 0.0f : input1[i * step1] / d;
    }
    return TINY_OK;
}

tiny_error_t tiny_vec_divc_f32(const float *input, float *output, int len, float C, int step_in, int step_out,
                               bool allow_divide_by_zero)
{
    if (!input || !output) return TINY_ERR_MATH_NULL_POINTER;
    if (len <= 0 || step_in <= 0 || step_out <= 0) return TINY_ERR_INVALID_ARG;
    if (!is_small(C)) return vec_op(tsr_mul, input, NULL, 1.0f / C, output, len, step_in, 1, step_out);
    if (!allow_divide_by_zero) return TINY_ERR_MATH_ZERO_DIVISION;
    tsr_tensor t;
    const tsr_status s = look_vec(&t, output, len, step_out);
    return error_of(s == TSR_OK ? tsr_zero(&t) : s);
}

typedef tsr_status (*unary_fn)(tsr_tensor **, const tsr_tensor *);

/* TINY_ERR_MATH_NEGATIVE_SQRT if an element lies below `least`. */
static tiny_error_t vec_root(unary_fn op, const float *input, float *output, int len, float least)
{
    tsr_tensor to, ti, *out = &to;
    if (!input || !output) return TINY_ERR_MATH_NULL_POINTER;
    if (len <= 0) return TINY_ERR_INVALID_ARG;
    for (int i = 0; i < len; i++)
        if (input[i] < least) return TINY_ERR_MATH_NEGATIVE_SQRT;
    tsr_status s = look_vec(&to, output, len, 1);
    if (s == TSR_OK) s = look_vec(&ti, input, len, 1);
    return error_of(s == TSR_OK ? op(&out, &ti) : s);
}

tiny_error_t tiny_vec_sqrt_f32(const float *input, float *output, int len)
{
    return vec_root(tsr_sqrt, input, output, len, 0.0f);
}

tiny_error_t tiny_vec_sqrtf_f32(const float *input, float *output, int len)
{
    return tiny_vec_sqrt_f32(input, output, len);
}

tiny_error_t tiny_vec_inv_sqrt_f32(const float *input, float *output, int len)
{
    return vec_root(tsr_rsqrt, input, output, len, TINY_MATH_MIN_POSITIVE_INPUT_F32);
}

tiny_error_t tiny_vec_inv_sqrtf_f32(const float *input, float *output, int len)
{
    return tiny_vec_inv_sqrt_f32(input, output, len);
}

tiny_error_t tiny_vec_dotprod_f32(const float *src1, const float *src2, float *dest, int len)
{
    return tiny_vec_dotprode_f32(src1, src2, dest, len, 1, 1);
}

tiny_error_t tiny_vec_dotprode_f32(const float *src1, const float *src2, float *dest, int len, int step1,
                                   int step2)
{
    tsr_tensor to, ta, tb, *out = &to;
    if (!src1 || !src2 || !dest) return TINY_ERR_MATH_NULL_POINTER;
    if (len <= 0 || step1 <= 0 || step2 <= 0) return TINY_ERR_INVALID_ARG;
    tsr_status s = tinyai_place(&to, dest, 1, 1, 0, 0);
    if (s == TSR_OK) s = tinyai_place(&ta, src1, 1, len, 0, step1);
    if (s == TSR_OK) s = tinyai_place(&tb, src2, len, 1, step2, 0);
    return error_of(s == TSR_OK ? tsr_matmul(&out, &ta, &tb) : s);
}

/* Matrices ------------------------------------------------------------------------ */

static void print_rows(const char *name, const float *mat, int rows, int cols, int64_t step)
{
    printf("%s =\n\r", name ? name : "");
    for (int i = 0; mat && i < rows; i++) {
        for (int j = 0; j < cols; j++) printf("%10.6f ", (double)mat[i * step + j]);
        printf("\n\r");
    }
    printf("\n\r");
}

void print_matrix(const char *name, const float *mat, int rows, int cols)
{
    print_rows(name, mat, rows, cols, cols);
}

void print_matrix_padded(const char *name, const float *mat, int rows, int cols, int step)
{
    print_rows(name, mat, rows, cols, step);
}

tiny_error_t tiny_mat_add_f32(const float *input1, const float *input2, float *output, int rows, int cols,
                              int padd1, int padd2, int padd_out, int stride1, int stride2, int stride_out)
{
    return mat_op(tsr_add, (side){ output, padd_out, stride_out }, (side){ input1, padd1, stride1 },
                  &(side){ input2, padd2, stride2 }, 0, rows, cols);
}

tiny_error_t tiny_mat_addc_f32(const float *input, float *output, float C, int rows, int cols, int padd_in,
                               int padd_out, int stride_in, int stride_out)
{
    return mat_op(tsr_add, (side){ output, padd_out, stride_out }, (side){ input, padd_in, stride_in }, NULL,
                  C, rows, cols);
}

tiny_error_t tiny_mat_sub_f32(const float *input1, const float *input2, float *output, int rows, int cols,
                              int padd1, int padd2, int padd_out, int stride1, int stride2, int stride_out)
{
    return mat_op(tsr_sub, (side){ output, padd_out, stride_out }, (side){ input1, padd1, stride1 },
                  &(side){ input2, padd2, stride2 }, 0, rows, cols);
}

tiny_error_t tiny_mat_subc_f32(const float *input, float *output, float C, int rows, int cols, int padd_in,
                               int padd_out, int stride_in, int stride_out)
{
    return mat_op(tsr_sub, (side){ output, padd_out, stride_out }, (side){ input, padd_in, stride_in }, NULL,
                  C, rows, cols);
}

tiny_error_t tiny_mat_multc_f32(const float *input, float *output, float C, int rows, int cols, int padd_in,
                                int padd_out, int stride_in, int stride_out)
{
    return mat_op(tsr_mul, (side){ output, padd_out, stride_out }, (side){ input, padd_in, stride_in }, NULL,
                  C, rows, cols);
}

tiny_error_t tiny_mat_mult_f32(const float *A, const float *B, float *C, int m, int n, int k)
{
    return tiny_mat_mult_ex_f32(A, B, C, m, n, k, 0, 0, 0);
}

tiny_error_t tiny_mat_mult_ex_f32(const float *A, const float *B, float *C, int A_rows, int A_cols,
                                  int B_cols, int A_padding, int B_padding, int C_padding)
{
    tsr_tensor ta, tb, tc, *out = &tc;
    if (!A || !B || !C) return TINY_ERR_MATH_NULL_POINTER;
    if (A_rows <= 0 || A_cols <= 0 || B_cols <= 0 || A_padding < 0 || B_padding < 0 || C_padding < 0)
        return TINY_ERR_MATH_INVALID_PARAM;
    tsr_status s = tinyai_place(&ta, A, A_rows, A_cols, (int64_t)A_cols + A_padding, 1);
    if (s == TSR_OK) s = tinyai_place(&tb, B, A_cols, B_cols, (int64_t)B_cols + B_padding, 1);
    if (s == TSR_OK) s = tinyai_place(&tc, C, A_rows, B_cols, (int64_t)B_cols + C_padding, 1);
    return error_of(s == TSR_OK ? tsr_matmul(&out, &ta, &tb) : s);
}
