/* test_product_edges.c - products whose sizes end where strips, tiles and blocks of k do, one before and one
 * behind, with results and operands at pages that nobody may touch.
 *
 * Every result lies at a guard, or between rows of a wider matrix that are watched. It is compared with a
 * plain triple loop, and its bits with those that other numbers of threads give. Elements are small whole
 * numbers, so that sums are exact in any order. */
#if defined(__unix__) || defined(__APPLE__)
#define _GNU_SOURCE /* MAP_ANONYMOUS */
#define TEST_OWN_MAIN
#include "guarded.h"

/* Layouts -------------------------------------------------------------------------- */

typedef enum layout { PACKED, WIDE, TRANSPOSED, TRANSPOSED_WIDE, SPARSE, LAYOUTS } layout;

/* A matrix in a zone; `gap` elements more than needed from row to row of wide ones. */
static guarded matrix_make(int zone, bool high, tsr_dtype dtype, int64_t rows, int64_t cols, layout how,
                           int64_t gap)
{
    const int64_t wide = how == WIDE || how == TRANSPOSED_WIDE ? gap : 0;
    int64_t stride[2] = { cols + wide, 1 };
    if (how == TRANSPOSED || how == TRANSPOSED_WIDE) stride[0] = 1, stride[1] = rows + wide;
    if (how == SPARSE) stride[0] = 2 * cols + 1, stride[1] = 2;
    return guarded_make(zone, high, dtype, 2, (const int64_t[]){ rows, cols }, stride);
}

/* Products ------------------------------------------------------------------------- */

typedef enum product { MATMUL, MATMUL_I8, GEMM } product;

typedef struct sizes {
    product op;
    tsr_dtype a_type, b_type, z_type;
    int64_t m, k, n;
    layout a, b, z;
    int64_t gap;
    bool high;
} sizes;

/* z += a b; integers wrap. */
static void multiply_plainly(numbers *z, const numbers *a, const numbers *b, int64_t m, int64_t k, int64_t n,
                             tsr_dtype dtype)
{
    const bool complex = tsr_dtype_kind(dtype) == TSR_COMPLEX;
    for (int64_t i = 0; i < m; i++)
        for (int64_t p = 0; p < k; p++) {
            const double x = a->re[i * k + p], y = a->im[i * k + p];
            const uint64_t u = a->u[i * k + p];
            double *const re = z->re + i * n, *const im = z->im + i * n;
            const double *b_re = b->re + p * n, *b_im = b->im + p * n;
            if (is_integer(dtype)) {
                for (int64_t j = 0; j < n; j++) z->u[i * n + j] += u * b->u[p * n + j];
            } else if (complex) {
                for (int64_t j = 0; j < n; j++) re[j] += x * b_re[j] - y * b_im[j];
                for (int64_t j = 0; j < n; j++) im[j] += x * b_im[j] + y * b_re[j];
            } else {
                for (int64_t j = 0; j < n; j++) re[j] += x * b_re[j];
            }
        }
}

/* z = 2 z + c */
static void scale_and_add(numbers *z, const numbers *c, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        z->re[i] = 2 * z->re[i] + c->re[i];
        z->im[i] = 2 * z->im[i] + c->im[i];
        z->u[i] = 2 * z->u[i] + c->u[i];
    }
}

static tsr_status multiply(const sizes *s, guarded *z, const guarded *a, const guarded *b,
                           const tsr_tensor *c)
{
    if (s->op == MATMUL) return tsr_matmul(&z->t, a->t, b->t);
    if (s->op == MATMUL_I8) return tsr_matmul_i8(&z->t, a->t, b->t);
    return tsr_gemm(&z->t, a->t, b->t, c, tsr_scalar_i64(2), tsr_scalar_i64(1));
}

/* The result for so many threads, packed. */
static char *product_with(const sizes *s, int threads, guarded *z, const guarded *a, const guarded *b,
                          const tsr_tensor *c)
{
    name_case("%s(%lld, %lld, %lld), layouts %d %d %d, gap %lld, %s end, %d threads",
              tsr_dtype_name(s->a_type), (long long)s->m, (long long)s->k, (long long)s->n, s->a, s->b, s->z,
              (long long)s->gap, s->high ? "high" : "low", threads);
    EXPECT_OK(tsr_set_threads(threads));
    guarded_fill(z, FILL);
    EXPECT_OK(multiply(s, z, a, b, c));
    char *packed = guarded_elements(z);
    EXPECT_MSG(guarded_is_untouched(z), "%s: wrote outside the result", case_name);
    return packed;
}

static void check_product(const sizes *s, uint64_t *random)
{
    static const int some_threads[] = { 2, 3, 5, 8 };
    const codes of_a = codes_of(s->a_type, random), of_b = codes_of(s->b_type, random),
                of_c = codes_of(s->z_type, random);
    guarded z = matrix_make(0, s->high, s->z_type, s->m, s->n, s->z, s->gap),
            a = matrix_make(1, !s->high, s->a_type, s->m, s->k, s->a, s->gap),
            b = matrix_make(2, s->high, s->b_type, s->k, s->n, s->b, s->gap),
            c = matrix_make(3, s->high, s->z_type, s->m, s->n, s->z, s->gap);
    numbers x = guarded_random(&a, &of_a, random), y = guarded_random(&b, &of_b, random),
            want = numbers_make(s->m * s->n);
    multiply_plainly(&want, &x, &y, s->m, s->k, s->n, s->z_type);
    if (s->op == GEMM) {
        numbers added = guarded_random(&c, &of_c, random);
        scale_and_add(&want, &added, s->m * s->n);
        numbers_free(&added);
    }
    char *one = product_with(s, 1, &z, &a, &b, c.t);
    const int64_t wrong = count_wrong(one, s->z_type, &want, s->m * s->n);
    EXPECT_MSG(wrong == 0, "%s: %lld elements are wrong", case_name, (long long)wrong);
    char *more = product_with(s, some_threads[test_below(random, 4)], &z, &a, &b, c.t);
    EXPECT_MSG(memcmp(one, more, (size_t)tsr_byte_size(z.t)) == 0, "%s: other bits than with one", case_name);
    free(one);
    free(more);
    numbers_free(&x);
    numbers_free(&y);
    numbers_free(&want);
    tsr_release(&a.t);
    tsr_release(&b.t);
    tsr_release(&c.t);
    tsr_release(&z.t);
}

/* Half of the operands and most results lie as strips take them. */
static layout random_layout(uint64_t *random, int64_t plain_of_8)
{
    if (test_below(random, 8) < plain_of_8) return test_below(random, 2) ? PACKED : WIDE;
    return (layout)test_below(random, LAYOUTS);
}

static sizes random_case(tsr_dtype dtype, int64_t m, int64_t k, int64_t n, uint64_t *random)
{
    sizes s = { MATMUL,
                dtype,
                dtype,
                dtype,
                m,
                k,
                n,
                random_layout(random, 4),
                random_layout(random, 4),
                random_layout(random, 6),
                1 + test_below(random, 20),
                test_below(random, 2) };
    const bool bytes = dtype == TSR_I8 || dtype == TSR_U8;
    if (test_below(random, 8) == 0)
        s.op = GEMM;
    else if (bytes && test_below(random, 2))
        s.op = MATMUL_I8, s.z_type = TSR_I32;
    if (s.op == MATMUL_I8 && test_below(random, 2)) s.b_type = TSR_I8;
    return s;
}

/* Sizes ---------------------------------------------------------------------------- */

static const tsr_dtype dtypes[] = { TSR_F32,  TSR_F64, TSR_F32,  TSR_F64, TSR_F16,
                                    TSR_BF16, TSR_C64, TSR_C128, TSR_I8,  TSR_U8,
                                    TSR_I16,  TSR_I32, TSR_I64,  TSR_U16, TSR_F8E4M3 };
enum { DTYPES = sizeof dtypes / sizeof *dtypes };

static const int64_t depths[] = { 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 63, 64, 65, 127, 129, 200 };
enum { DEPTHS = sizeof depths / sizeof *depths };

/* Every width up to twice that of the widest strips, of every height. */
static void test_products_stay_inside_at_every_width_and_height_of_strips(void)
{
    uint64_t r = 1;
    for (int d = 0; d < DTYPES; d++)
        for (int64_t n = 1; n <= 132; n++) {
            const sizes low = random_case(dtypes[d], 1 + n % 17, depths[test_below(&r, DEPTHS)], n, &r),
                        high = random_case(dtypes[d], 1 + test_below(&r, 80), depths[test_below(&r, DEPTHS)],
                                           n, &r);
            check_product(&low, &r);
            check_product(&high, &r);
        }
}

static int64_t around(uint64_t *random, const int64_t *units, int64_t count, int64_t most)
{
    const int64_t unit = units[test_below(random, count)], times = 1 + test_below(random, most / unit);
    return times * unit + test_below(random, 3) - 1;
}

/* 10^4 to 10^6 elements, where tiles end and loops are cut. */
static void test_products_of_middle_sizes_stay_inside(void)
{
    static const int64_t rows[] = { 4, 6, 7, 8, 12, 14, 16, 32, 64, 256 },
                         cols[] = { 4, 8, 16, 24, 32, 48, 64, 128 }, blocks[] = { 1, 16, 64, 128, 256, 512 };
    enum { LEAST = 10000, MOST = 1000000, WORK = 1 << 23 };
    uint64_t r = 2;
    for (int i = 0; i < 480;) {
        const int64_t m = around(&r, rows, 10, 600), n = around(&r, cols, 8, 600),
                      k = 1 + around(&r, blocks, 6, 600);
        if (m < 1 || n < 1 || m * n < LEAST || m * n > MOST || m * n * k > WORK) continue;
        const sizes s = random_case(dtypes[i % DTYPES], m, k, n, &r);
        check_product(&s, &r);
        i++;
    }
}

/* The last two panels of columns share what is left: every remainder, in wider results and in narrow ones. */
static void test_last_columns_stay_inside_for_every_remainder(void)
{
    static const int64_t heights[] = { 70, 74, 250 }, ks[] = { 3, 64, 65, 200, 256, 257 };
    uint64_t r = 3;
    for (int64_t rest = 0; rest < 96; rest++)
        for (int d = 0; d < 2; d++) {
            const int64_t n = 192 + rest, m = heights[rest % 3], k = ks[test_below(&r, m > 100 ? 3 : 6)];
            sizes s = {
                MATMUL, dtypes[d], dtypes[d], dtypes[d], m, k, n, PACKED, PACKED, WIDE, 20, rest % 2
            };
            check_product(&s, &r);
            s.z = PACKED;
            s.n = 28 + rest;
            s.m = 250;
            check_product(&s, &r);
        }
}

/* Sizes whose last panel is whole and whose last but one is not, where strips have one vector or two. */
static void test_a_whole_last_panel_after_a_narrow_one_stays_inside(void)
{
    static const int64_t shapes[][3] = {
        { 250, 250, 100 }, { 250, 250, 248 }, { 74, 200, 28 }, { 64, 64, 68 }
    };
    uint64_t r = 6;
    for (int i = 0; i < 32; i++) {
        const int64_t *of = shapes[i % 4];
        const tsr_dtype dtype = i % 4 == 1 ? TSR_F32 : TSR_F64;
        const sizes s = { MATMUL, dtype,    dtype,  dtype,  of[0],
                          of[1],  of[2],    PACKED, PACKED, i / 4 % 2 ? WIDE : PACKED,
                          20,     i / 8 % 2 };
        check_product(&s, &r);
    }
}

/* One row, one column, both: sums of many indices. */
static void test_products_with_vectors_stay_inside(void)
{
    static const int64_t units[] = { 1, 8, 16, 32, 64, 128, 256, 1024, 2048 };
    enum { MOST = 1 << 17 };
    uint64_t r = 4;
    for (int i = 0; i < 24 * DTYPES; i++) {
        const int64_t k = 1 + around(&r, units, 9, 4200),
                      side = 1 + test_below(&r, MOST / k < 300 ? MOST / k : 300);
        const int which = i / DTYPES % 3;
        const sizes s = random_case(dtypes[i % DTYPES], which == 0 ? side : 1, k, which == 1 ? side : 1, &r);
        check_product(&s, &r);
    }
}

/* Batches -------------------------------------------------------------------------- */

/* (count, m, k) times (count, k, n), in results whose matrices and rows lie apart. */
static void check_batch(tsr_dtype dtype, int64_t count, int64_t m, int64_t k, int64_t n, bool high,
                        uint64_t *random)
{
    const codes c = codes_of(dtype, random);
    const int64_t gap = test_below(random, 3) * 3;
    guarded z = guarded_make(0, high, dtype, 3, (const int64_t[]){ count, m, n },
                             (const int64_t[]){ m * (n + gap) + gap, n + gap, 1 }),
            a = guarded_make(1, high, dtype, 3, (const int64_t[]){ count, m, k },
                             (const int64_t[]){ m * k, k, 1 }),
            b = guarded_make(2, high, dtype, 3, (const int64_t[]){ count, k, n },
                             (const int64_t[]){ k * n, n, 1 });
    numbers x = guarded_random(&a, &c, random), y = guarded_random(&b, &c, random),
            want = numbers_make(count * m * n);
    for (int64_t i = 0; i < count; i++) {
        const numbers at[3] = { { want.re + i * m * n, want.im + i * m * n, want.u + i * m * n },
                                { x.re + i * m * k, x.im + i * m * k, x.u + i * m * k },
                                { y.re + i * k * n, y.im + i * k * n, y.u + i * k * n } };
        numbers part = at[0];
        multiply_plainly(&part, &at[1], &at[2], m, k, n, dtype);
    }
    for (int threads = 1; threads <= 5; threads += 2) {
        name_case("%s: %lld of (%lld, %lld, %lld), gap %lld, %d threads", tsr_dtype_name(dtype),
                  (long long)count, (long long)m, (long long)k, (long long)n, (long long)gap, threads);
        EXPECT_OK(tsr_set_threads(threads));
        guarded_fill(&z, FILL);
        EXPECT_OK(tsr_matmul(&z.t, a.t, b.t));
        char *packed = guarded_elements(&z);
        const int64_t wrong = count_wrong(packed, dtype, &want, count * m * n);
        EXPECT_MSG(wrong == 0, "%s: %lld elements are wrong", case_name, (long long)wrong);
        EXPECT_MSG(guarded_is_untouched(&z), "%s: wrote outside the result", case_name);
        free(packed);
    }
    numbers_free(&x);
    numbers_free(&y);
    numbers_free(&want);
    tsr_release(&a.t);
    tsr_release(&b.t);
    tsr_release(&z.t);
}

static void test_batches_of_products_stay_inside(void)
{
    uint64_t r = 5;
    for (int i = 0; i < 20 * DTYPES; i++)
        check_batch(dtypes[i % DTYPES], 1 + test_below(&r, 40), 1 + test_below(&r, 18),
                    depths[test_below(&r, 12)], 1 + test_below(&r, 50), i / DTYPES % 2, &r);
}

int main(int argc, char **argv)
{
    TEST_BEGIN(argc, argv);
    if (!guard_zones()) {
        printf("no memory between guards\n");
        return 1;
    }
    RUN(test_products_stay_inside_at_every_width_and_height_of_strips);
    RUN(test_products_of_middle_sizes_stay_inside);
    RUN(test_last_columns_stay_inside_for_every_remainder);
    RUN(test_a_whole_last_panel_after_a_narrow_one_stays_inside);
    RUN(test_products_with_vectors_stay_inside);
    RUN(test_batches_of_products_stay_inside);
    tsr_set_executor(NULL, NULL);
    return TEST_END();
}
#else
#include "test.h"
int main(void) { return 0; }
#endif
