/* test_loop.c - the loop-nest normaliser: what it reduces, and that it meets every element once. */
#include "test.h"

#include "core/loop.h"
#include "tessera/threads.h"

#define DIMS(...) (const int64_t[]){ __VA_ARGS__ }

static char memory[1 << 16];

static tsri_operand operand(int64_t at, const int64_t *stride, int64_t size)
{
    return (tsri_operand){ memory + at, stride, size };
}

static tsri_loop build(int ndim, const int64_t *shape, int nop, const tsri_operand *op, int lead)
{
    tsri_loop loop;
    memset(&loop, 0xa5, sizeof loop);
    tsri_loop_build(&loop, ndim, shape, nop, op, lead);
    return loop;
}

/* Reducing ------------------------------------------------------------------------- */

TEST(test_loop_over_packed_operands_is_one_run)
{
    const tsri_operand op[] = { operand(0, DIMS(12, 4, 1), 4), operand(4096, DIMS(12, 4, 1), 8) };
    const tsri_loop loop = build(3, DIMS(2, 3, 4), 2, op, 0);
    EXPECT(loop.ndim == 1 && loop.dim[0].n == 24 && loop.dim[0].step[0] == 4 && loop.dim[0].step[1] == 8);
    EXPECT(loop.base[0] == memory && loop.base[1] == memory + 4096 && tsri_loop_count(&loop) == 24);
}

TEST(test_loop_drops_dims_of_one_whatever_their_stride)
{
    const tsri_operand op[] = { operand(0, DIMS(INT64_MIN, 7, INT64_MAX), 4) };
    const tsri_loop loop = build(3, DIMS(1, 5, 1), 1, op, 0);
    EXPECT(loop.ndim == 1 && loop.dim[0].n == 5 && loop.dim[0].step[0] == 28);
}

TEST(test_loop_of_a_scalar_meets_one_element)
{
    const tsri_operand op[] = { operand(8, NULL, 4) };
    const tsri_loop loop = build(0, NULL, 1, op, 0);
    EXPECT(tsri_loop_count(&loop) == 1 && loop.base[0] == memory + 8);
}

TEST(test_loop_flips_what_the_lead_walks_backwards)
{
    const tsri_operand op[] = { operand(100, DIMS(-5, 1), 4), operand(200, DIMS(5, 1), 4) };
    const tsri_loop loop = build(2, DIMS(2, 4), 2, op, 0);
    EXPECT(loop.ndim == 2 && loop.dim[0].step[0] == 20 && loop.dim[0].step[1] == -20);
    EXPECT(loop.base[0] == memory + 80 && loop.base[1] == memory + 220);
}

TEST(test_loop_sorts_by_the_steps_of_the_lead)
{
    const tsri_operand op[] = { operand(0, DIMS(1, 50, 10), 1), operand(0, DIMS(100, 1, 7), 1) };
    const tsri_loop loop = build(3, DIMS(2, 3, 4), 2, op, 0);
    EXPECT(loop.ndim == 3);
    EXPECT(loop.dim[0].n == 3 && loop.dim[0].step[0] == 50 && loop.dim[0].step[1] == 1);
    EXPECT(loop.dim[1].n == 4 && loop.dim[1].step[0] == 10 && loop.dim[1].step[1] == 7);
    EXPECT(loop.dim[2].n == 2 && loop.dim[2].step[0] == 1 && loop.dim[2].step[1] == 100);
}

TEST(test_loop_lets_the_others_decide_where_the_lead_does_not_care)
{
    const tsri_operand op[] = { operand(0, DIMS(0, 0), 4), operand(0, DIMS(1, 2), 4) };
    const tsri_loop loop = build(2, DIMS(2, 3), 2, op, 0);
    EXPECT(loop.ndim == 1 && loop.dim[0].n == 6 && loop.dim[0].step[0] == 0 && loop.dim[0].step[1] == 4);
}

TEST(test_loop_merges_only_what_every_operand_walks_as_one)
{
    const tsri_operand both[] = { operand(0, DIMS(4, 1), 4), operand(0, DIMS(0, 0), 4) };
    tsri_loop loop = build(2, DIMS(3, 4), 2, both, 0);
    EXPECT(loop.ndim == 1 && loop.dim[0].n == 12);
    const tsri_operand one[] = { operand(0, DIMS(4, 1), 4), operand(0, DIMS(5, 1), 4) };
    loop = build(2, DIMS(3, 4), 2, one, 0);
    EXPECT(loop.ndim == 2);
}

TEST(test_loop_in_order_keeps_the_order_of_indices)
{
    const tsri_operand op[] = { operand(100, DIMS(1, -10, 3), 1) };
    const tsri_loop loop = build(3, DIMS(2, 3, 4), 1, op, TSRI_ORDERED);
    EXPECT(loop.ndim == 3 && loop.dim[0].step[0] == 1 && loop.dim[1].step[0] == -10 &&
           loop.dim[2].step[0] == 3);
    EXPECT(loop.base[0] == memory + 100);
}

/* Walking -------------------------------------------------------------------------- */

static int calls;

static void count_call(const tsri_tile *tile, const void *params)
{
    (void)tile; (void)params;
    calls++;
}

static bool count_visit(const tsri_tile *tile, void *context)
{
    (void)tile;
    ++*(int *)context;
    return true;
}

TEST(test_loop_empty_never_calls_the_kernel)
{
    const int64_t shapes[][3] = { { 0, 3, 4 }, { 2, 0, 4 }, { 2, 3, 0 }, { 0, 0, 0 } };
    for (int i = 0; i < 4; i++) {
        const tsri_operand op[] = { operand(0, DIMS(INT64_MAX, 7, 1), 4) };
        const tsri_loop loop = build(3, shapes[i], 1, op, i % 2 ? 0 : TSRI_ORDERED);
        int visits = 0;
        calls = 0;
        tsri_loop_run(&loop, count_call, NULL);
        EXPECT_OK(tsri_loop_run_parallel(&loop, &(tsri_kernel){ .fn = count_call }, 1));
        EXPECT(tsri_loop_visit(&loop, count_visit, &visits));
        EXPECT(calls == 0 && visits == 0 && tsri_loop_count(&loop) == 0);
    }
}

typedef struct stop_after { int left, seen; } stop_after;

static bool stop_visit(const tsri_tile *tile, void *context)
{
    stop_after *s = context;
    (void)tile;
    s->seen++;
    return --s->left > 0;
}

TEST(test_loop_visit_stops_when_told)
{
    const tsri_operand op[] = { operand(0, DIMS(1000, 100, 10, 1), 1) };
    const tsri_loop loop = build(4, DIMS(3, 3, 3, 3), 1, op, TSRI_ORDERED);
    stop_after s = { 4, 0 };
    EXPECT(!tsri_loop_visit(&loop, stop_visit, &s) && s.seen == 4);
    s = (stop_after){ 100, 0 };
    EXPECT(tsri_loop_visit(&loop, stop_visit, &s) && s.seen == 9);
}

TEST(test_loop_reduction_is_an_operand_with_step_zero)
{
    /* The sum over columns of a 3 x 4 matrix: the output does not move along them. */
    const tsri_operand op[] = { operand(0, DIMS(1, 0), 4), operand(4096, DIMS(4, 1), 4) };
    const tsri_loop loop = build(2, DIMS(3, 4), 2, op, 1);
    EXPECT(loop.ndim == 2 && loop.dim[0].step[0] == 4 && loop.dim[1].step[0] == 0 &&
           loop.dim[1].step[1] == 4);
}

/* Against enumeration ---------------------------------------------------------------- */

enum { MOST = 600, OPERANDS = 3 };

typedef struct met { int64_t n, at[MOST][OPERANDS]; } met;

static met walked, listed;

static void note_tile(const tsri_tile *t, const void *params)
{
    const int nop = *(const int *)params;
    for (int64_t r = 0; r < t->rows; r++)
        for (int64_t c = 0; c < t->cols; c++, walked.n++)
            for (int o = 0; o < nop && walked.n < MOST; o++)
                walked.at[walked.n][o] = t->ptr[o] + r * t->row_step[o] + c * t->col_step[o] - memory;
}

static bool note_visit(const tsri_tile *t, void *context)
{
    note_tile(t, context);
    return true;
}

static int compare_rows(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;
    for (int o = 0; o < OPERANDS; o++) if (x[o] != y[o]) return x[o] < y[o] ? -1 : 1;
    return 0;
}

/* Random shapes and strides: the walk meets the tuples of addresses that enumeration lists, each
 * as often, and in order if an order was asked for. */
TEST(test_loop_meets_every_index_once_with_all_operands_in_step)
{
    uint64_t random = 77;
    for (int round = 0; round < 20000; round++) {
        int64_t shape[7], stride[OPERANDS][7], index[7] = { 0 };
        const int ndim = (int)test_below(&random, 8), nop = 1 + (int)test_below(&random, OPERANDS);
        const int lead = (int)test_below(&random, nop + 1) - 1;
        int64_t n = 1;
        for (int i = 0; i < ndim; i++) {
            shape[i] = n > 60 ? 1 : test_below(&random, 30) ? 1 + test_below(&random, 5) : 0;
            n *= shape[i];
        }
        tsri_operand op[OPERANDS];
        for (int o = 0; o < nop; o++) {
            int64_t step = 1;
            const bool packed = test_below(&random, 2);
            for (int i = ndim - 1; i >= 0; i--) {
                stride[o][i] = packed ? step : test_below(&random, 41) - 20;
                if (shape[i] == 1 && test_below(&random, 2)) stride[o][i] = (int64_t)test_next(&random);
                step *= shape[i] ? shape[i] : 1;
            }
            op[o] = operand((1 << 14) + 8 * o, stride[o], (int64_t)1 << test_below(&random, 4));
        }
        listed.n = n;
        for (int64_t k = 0; k < n; k++) {
            for (int o = 0; o < OPERANDS; o++) listed.at[k][o] = walked.at[k][o] = 0;
            for (int o = 0; o < nop; o++) {
                int64_t at = op[o].data - memory;
                for (int i = 0; i < ndim; i++) if (index[i]) at += index[i] * stride[o][i] * op[o].size;
                listed.at[k][o] = at;
            }
            for (int i = ndim - 1; i >= 0 && ++index[i] == shape[i]; i--) index[i] = 0;
        }
        const tsri_loop loop = build(ndim, shape, nop, op, lead);
        walked.n = 0;
        if (round % 2) tsri_loop_run(&loop, note_tile, &nop);
        else           (void)tsri_loop_visit(&loop, note_visit, (void *)(uintptr_t)&nop);
        EXPECT_MSG(walked.n == n && tsri_loop_count(&loop) == n, "round %d: %lld met", round,
                   (long long)walked.n);
        if (lead != TSRI_ORDERED) {
            qsort(walked.at, (size_t)n, sizeof walked.at[0], compare_rows);
            qsort(listed.at, (size_t)n, sizeof listed.at[0], compare_rows);
        }
        EXPECT_MSG(!memcmp(walked.at, listed.at, (size_t)n * sizeof walked.at[0]), "round %d, lead %d", round,
                   lead);
    }
}

/* Several threads ---------------------------------------------------------------------- */

static void add_one(const tsri_tile *t, const void *params)
{
    (void)params;
    for (int64_t r = 0; r < t->rows; r++)
        for (int64_t c = 0; c < t->cols; c++) ++*(t->ptr[0] + r * t->row_step[0] + c * t->col_step[0]);
}

/* What a kernel needs is asked of the tiles that it would be handed. */
TEST(test_loop_meets_the_needs_of_a_kernel_or_not)
{
    const tsri_operand op[] = { operand(0, DIMS(200, 10, 1), 1) };
    const tsri_loop loop = build(3, DIMS(4, 5, 6), 1, op, TSRI_ORDERED);
    EXPECT(tsri_loop_meets(&loop,
                           &(tsri_kernel){ .fn = add_one, .rows = { .least = 5 }, .cols = { .least = 6 } }));
    EXPECT(!tsri_loop_meets(&loop, &(tsri_kernel){ .fn = add_one, .rows = { .least = 6 } }));
    EXPECT(!tsri_loop_meets(&loop, &(tsri_kernel){ .fn = add_one, .cols = { .least = 7 } }));
}

enum { ROWS = 1000, ROW_STEP = 3 };

typedef struct rows_seen { tsri_needs needs; int64_t *wrong; } rows_seen;

static void note_rows(const tsri_tile *t, const void *params)
{
    const rows_seen *s = params;
    const int64_t first = (t->ptr[0] - memory) / ROW_STEP;
    if (t->rows < s->needs.least || first % s->needs.multiple)
        (void)__atomic_add_fetch(s->wrong, 1, __ATOMIC_RELAXED);
    add_one(t, NULL);
}

TEST(test_loop_parallel_hands_a_kernel_the_rows_it_needs)
{
    static const tsri_needs needs[] = { { 1, 1 }, { 7, 1 }, { 1, 8 }, { 16, 4 }, { 300, 1 }, { 1000, 1 } };
    const tsri_operand op[] = { operand(0, DIMS(ROW_STEP, 1), 1) };
    const tsri_loop loop = build(2, DIMS(ROWS, 2), 1, op, TSRI_ORDERED);
    EXPECT_OK(tsr_set_threads(4));
    for (size_t i = 0; i < sizeof needs / sizeof *needs; i++) {
        int64_t wrong = 0, right = 0;
        const rows_seen seen = { needs[i], &wrong };
        memset(memory, 0, sizeof memory);
        EXPECT_OK(tsri_loop_run_parallel(&loop, &(tsri_kernel){ note_rows, &seen, .rows = needs[i] }, 1));
        for (int64_t k = 0; k < ROWS * ROW_STEP; k++) right += memory[k] == (k % ROW_STEP < 2);
        EXPECT_MSG(wrong == 0 && right == ROWS * ROW_STEP, "needs %zu: %lld wrong", i, (long long)wrong);
    }
    EXPECT_OK(tsr_set_threads(0));
}

TEST(test_loop_parallel_meets_every_element_once)
{
    static const int64_t shapes[][3] = {
        { 40, 40, 40 }, { 2, 3, 9000 }, { 9000, 2, 3 }, { 3, 9000, 2 }, { 1, 1, 60000 }
    };
    for (int i = 0; i < 5; i++)
        for (int64_t grain = 1; grain < 100000; grain *= 7) {
            int64_t stride[3] = { shapes[i][1], 1, shapes[i][0] * shapes[i][1] };
            const int64_t n = shapes[i][0] * shapes[i][1] * shapes[i][2];
            const tsri_operand op[] = { operand(0, stride, 1) };
            const tsri_loop loop = build(3, shapes[i], 1, op, 0);
            memset(memory, 0, sizeof memory);
            EXPECT_OK(tsri_loop_run_parallel(&loop, &(tsri_kernel){ .fn = add_one }, grain));
            int64_t right = 0;
            for (int64_t k = 0; k < (int64_t)sizeof memory; k++) right += memory[k] == (k < n);
            EXPECT_MSG(right == (int64_t)sizeof memory, "shape %d, grain %lld", i, (long long)grain);
        }
}
