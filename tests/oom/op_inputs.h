/* op_inputs.h - the operands of the calls in op_calls.inc, and the calls as a table. */
#ifndef OP_INPUTS_H
#define OP_INPUTS_H

#include "test.h"

/* Inputs ---------------------------------------------------------------------------------- */

#define INPUTS(I)                                                                                      \
    I(x) I(transposed) I(row) I(eight) I(twelve) I(one) I(three) I(square) I(square_transposed)        \
    I(wide_square) I(complex_square) I(half) I(half_transposed) I(left) I(right) I(left_transposed)    \
    I(right_transposed) I(bytes) I(bytes_transposed) I(weights) I(long_rows) I(positive) I(chances)    \
    I(mask)                                                                                            \
    I(mask_transposed) I(mask_square) I(along) I(along_transposed) I(along_square) I(indices)          \
    I(classes) I(numbers) I(wide_numbers) I(ascending) I(many) I(wave) I(cube) I(images)               \
    I(images_transposed) I(wide_images) I(half_images) I(places) I(kernels) I(each_kernel)             \
    I(half_kernels) I(kernels_back) I(points) I(signals) I(taps) I(taps_back) I(volumes) I(blocks)     \
    I(heads) I(half_heads) I(queries) I(infinite) I(pairs) I(positions) I(table) I(sheet)              \
    I(sheet_transposed) I(half_sheet) I(half_sheet_transposed) I(sheet_classes) I(sheet_indices)       \
    I(pictures) I(picture_kernels) I(long_queries) I(deepest) I(cells) I(line) I(nothing)

#define I(name) static tsr_tensor *name;
INPUTS(I)
#undef I

#define DIMS(...) ((const int64_t[]){ __VA_ARGS__ })

/* Numbers from 0.1 to 1.1. */
static void draw(tsr_tensor **out, tsr_dtype dtype, int ndim, const int64_t *shape, uint64_t seed)
{
    tsr_tensor *numbers_drawn = NULL;
    EXPECT_OK(tsr_uniform(&numbers_drawn, TSR_F32, ndim, shape, 0.1, 1.1, seed));
    EXPECT_OK(tsr_cast(out, numbers_drawn, dtype));
    tsr_release(&numbers_drawn);
}

static void draw_integers(tsr_tensor **out, tsr_dtype dtype, int ndim, const int64_t *shape, int64_t high)
{
    EXPECT_OK(tsr_integers(out, dtype, ndim, shape, 0, high, 5));
}

/* Symmetric, and far from singular. */
static void make_square(void)
{
    tsr_tensor *a = NULL, *b = NULL, *unit = NULL;
    draw(&a, TSR_F32, TSR_SHAPE(40, 40), 1);
    EXPECT_OK(tsr_transpose(&b, a, 0, 1));
    EXPECT_OK(tsr_add(&square, a, b));
    EXPECT_OK(tsr_eye(&unit, TSR_F32, 40, 40, 0));
    EXPECT_OK(tsr_addcmul(&square, square, unit, unit, 90));
    EXPECT_OK(tsr_transpose(&square_transposed, square, 0, 1));
    EXPECT_OK(tsr_cast(&wide_square, square, TSR_F64));
    EXPECT_OK(tsr_cast(&complex_square, square, TSR_C64));
    tsr_release_all(&a, &b, &unit);
}

static void make_matrices(void)
{
    draw(&x, TSR_F32, TSR_SHAPE(48, 40), 2);
    EXPECT_OK(tsr_transpose(&transposed, x, 0, 1));
    draw(&row, TSR_F32, TSR_SHAPE(40), 3);
    draw(&eight, TSR_F32, TSR_SHAPE(8), 3);
    draw(&twelve, TSR_F32, TSR_SHAPE(12), 3);
    draw(&one, TSR_F32, TSR_SHAPE(1), 3);
    draw(&three, TSR_F32, TSR_SHAPE(3, 40), 4);
    draw(&half, TSR_F16, TSR_SHAPE(48, 40), 5);
    EXPECT_OK(tsr_transpose(&half_transposed, half, 0, 1));
    draw(&left, TSR_F32, TSR_SHAPE(70, 150), 6);
    draw(&right, TSR_F32, TSR_SHAPE(150, 90), 7);
    EXPECT_OK(tsr_transpose(&left_transposed, left, 0, 1));
    EXPECT_OK(tsr_transpose(&right_transposed, right, 0, 1));
    draw(&positive, TSR_F32, TSR_SHAPE(40), 8);
    draw(&chances, TSR_F32, TSR_SHAPE(40), 9);
    EXPECT_OK(tsr_clip(&chances, chances, row, row));
    EXPECT_OK(tsr_tanh(&chances, chances));
    draw(&cube, TSR_F32, TSR_SHAPE(40, 40, 40), 10);
}

static void make_integers(void)
{
    draw_integers(&bytes, TSR_I8, TSR_SHAPE(48, 40), 100);
    EXPECT_OK(tsr_integers(&weights, TSR_U8, TSR_SHAPE(48, 2, 18), 0, 60, 11));
    EXPECT_OK(tsr_randn(&long_rows, TSR_F16, TSR_SHAPE(3, 64), 12));
    EXPECT_OK(tsr_transpose(&bytes_transposed, bytes, 0, 1));
    draw_integers(&along, TSR_I64, TSR_SHAPE(48, 40), 40);
    EXPECT_OK(tsr_transpose(&along_transposed, along, 0, 1));
    draw_integers(&along_square, TSR_I64, TSR_SHAPE(40, 40), 40);
    draw_integers(&indices, TSR_I64, TSR_SHAPE(40), 40);
    draw_integers(&classes, TSR_I64, TSR_SHAPE(48), 40);
    EXPECT_OK(tsr_bernoulli(&mask, TSR_SHAPE(48, 40), 0.5, 6));
    EXPECT_OK(tsr_transpose(&mask_transposed, mask, 0, 1));
    EXPECT_OK(tsr_bernoulli(&mask_square, TSR_SHAPE(40, 40), 0.5, 6));
    EXPECT_OK(tsr_arange(&positions, TSR_I64, tsr_scalar_i64(0), tsr_scalar_i64(30), tsr_scalar_i64(1)));
}

static void make_vectors(void)
{
    draw(&numbers, TSR_F32, TSR_SHAPE(3000), 11);
    draw(&wide_numbers, TSR_F64, TSR_SHAPE(3000), 12);
    EXPECT_OK(tsr_sort(&ascending, numbers, 0, false));
    draw(&many, TSR_F32, TSR_SHAPE(140000), 13);
    draw(&wave, TSR_C64, TSR_SHAPE(2048), 14);
}

static void make_windows(void)
{
    draw(&images, TSR_F32, TSR_SHAPE(2, 8, 18, 22), 15);
    EXPECT_OK(tsr_transpose(&images_transposed, images, 2, 3));
    draw(&wide_images, TSR_F64, TSR_SHAPE(1, 8, 18, 22), 16);
    draw(&places, TSR_F32, TSR_SHAPE(2, 9, 11, 2), 19);
    draw(&half_images, TSR_F16, TSR_SHAPE(1, 8, 18, 22), 17);
    draw(&kernels, TSR_F32, TSR_SHAPE(12, 8, 3, 3), 18);
    draw(&each_kernel, TSR_F32, TSR_SHAPE(8, 1, 3, 3), 19);
    draw(&half_kernels, TSR_F16, TSR_SHAPE(12, 8, 3, 3), 20);
    draw(&kernels_back, TSR_F32, TSR_SHAPE(8, 12, 3, 3), 21);
    draw(&points, TSR_F32, TSR_SHAPE(12, 8, 1, 1), 22);
    draw(&signals, TSR_F32, TSR_SHAPE(2, 8, 200), 23);
    draw(&taps, TSR_F32, TSR_SHAPE(12, 8, 5), 24);
    draw(&taps_back, TSR_F32, TSR_SHAPE(8, 12, 5), 25);
    draw(&volumes, TSR_F32, TSR_SHAPE(1, 4, 6, 7, 8), 26);
    draw(&blocks, TSR_F32, TSR_SHAPE(4, 4, 3, 3, 3), 27);
}

static void make_heads(void)
{
    draw(&heads, TSR_F32, TSR_SHAPE(30, 4, 16), 28);
    draw(&half_heads, TSR_BF16, TSR_SHAPE(30, 4, 16), 29);
    draw(&queries, TSR_F32, TSR_SHAPE(2, 4, 30, 16), 30);
    EXPECT_OK(tsr_div(&infinite, queries, TSR_NUMBER(0)));
    EXPECT_OK(tsr_bernoulli(&pairs, TSR_SHAPE(30, 30), 0.5, 6));
    draw(&table, TSR_F32, TSR_SHAPE(30, 8), 31);
}

static void make_large(void)
{
    draw(&sheet, TSR_F32, TSR_SHAPE(200, 700), 32);
    EXPECT_OK(tsr_transpose(&sheet_transposed, sheet, 0, 1));
    EXPECT_OK(tsr_cast(&half_sheet, sheet, TSR_F16));
    EXPECT_OK(tsr_transpose(&half_sheet_transposed, half_sheet, 0, 1));
    draw_integers(&sheet_classes, TSR_I64, TSR_SHAPE(200), 700);
    draw_integers(&sheet_indices, TSR_I64, TSR_SHAPE(200, 700), 700);
    draw(&pictures, TSR_F32, TSR_SHAPE(2, 16, 40, 40), 33);
    draw(&picture_kernels, TSR_F32, TSR_SHAPE(20, 16, 3, 3), 34);
    draw(&long_queries, TSR_F32, TSR_SHAPE(4, 150, 32), 35);
}

/* As many dims as there can be; dims that cannot be merged; and nothing. */
static void make_shapes(void)
{
    draw(&deepest, TSR_F32, TSR_SHAPE(1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 3, 40), 36);
    draw(&cells, TSR_F32, TSR_SHAPE(2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2), 37);
    draw(&line, TSR_F32, TSR_SHAPE(1, 40), 38);
    EXPECT_OK(tsr_empty(&nothing, TSR_F32, TSR_SHAPE(0, 40)));
}

static void make_inputs(void)
{
    make_shapes();
    make_large();
    make_square();
    make_matrices();
    make_integers();
    make_vectors();
    make_windows();
    make_heads();
}

static void drop_inputs(void)
{
#define I(name) tsr_release(&name);
    INPUTS(I)
#undef I
}

/* Calls ----------------------------------------------------------------------------------- */

enum { OUTS = 4 };

static _Thread_local tsr_tensor *out[OUTS];
static bool is_left_out[OUTS];  /* results that are passed as NULL */
#define R(i) (is_left_out[i] ? NULL : &out[i])
#define R0 R(0)
#define R1 R(1)
#define R2 R(2)
#define R3 R(3)

/* A matrix of the call's own, and views of it. */
static tsr_tensor *own, *own_transposed, *own_backward, *window, *shifted, *quarter[4];

/* Operands of the elementwise ops, by what their rows in op.def take. */
#define OPERAND_FLOATS         half
#define OPERAND_FLOATS_COMPLEX x
#define OPERAND_REALS          transposed
#define OPERAND_REALS_COMPLEX  x
#define OPERAND_ORDERED        x
#define OPERAND_ALL            x
#define OPERAND_INTEGERS       indices
#define OPERAND_BITS           indices
#define OTHER_FLOATS           row
#define OTHER_FLOATS_COMPLEX   row
#define OTHER_REALS            transposed
#define OTHER_REALS_COMPLEX    row
#define OTHER_ORDERED          row
#define OTHER_ALL              row
#define OTHER_INTEGERS         indices
#define OTHER_BITS             indices
#define FIRST_WHERE            mask
#define FIRST_CLIP             x
#define FIRST_LERP             x
#define FIRST_FMA              x

#define CALL(name, call)   static tsr_status run_##name(void) { return call; }
#define OWN(name, call)    CALL(own_##name, call)
#include "op_calls.inc"
#undef CALL
#undef OWN

typedef enum does { MAKES, WRITES } does;

static const struct scenario {
    const char *name;
    tsr_status (*run)(void);
    does        does;  /* WRITES: into `own` */
} scenarios[] = {
#define CALL(name, call)   { #name, run_##name, MAKES },
#define OWN(name, call)    { "own " #name, run_own_##name, WRITES },
#include "op_calls.inc"
#undef CALL
#undef OWN
};

enum { SCENARIOS = sizeof scenarios / sizeof *scenarios };

static inline void make_own(void)
{
    EXPECT_OK(tsr_clone(&own, square));
    EXPECT_OK(tsr_transpose(&own_transposed, own, 0, 1));
    EXPECT_OK(tsr_flip(&own_backward, own, 1, (const int[]){ 0 }));
    EXPECT_OK(tsr_slice(&window, own, 0, 1, 40, 1));
    EXPECT_OK(tsr_slice(&shifted, own, 0, 0, 39, 1));
    for (int i = 0; i < 4; i++) EXPECT_OK(tsr_slice(&quarter[i], own, 0, 10 * i, 10 * (i + 1), 1));
}

static inline void drop_own(void)
{
    tsr_tensor **all[] = { &own, &own_transposed, &own_backward, &window, &shifted,
                           &quarter[0], &quarter[1], &quarter[2], &quarter[3] };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) tsr_release(all[i]);
}

static void drop_results(void)
{
    for (int i = 0; i < OUTS; i++) tsr_release(&out[i]);
}

#endif
