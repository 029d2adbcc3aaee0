/* Products that another library does, where it is asked to: the same as ours, to rounding. */
#define _GNU_SOURCE
#include <stdlib.h>

#include "test.h"

static const char library[] = "libopenblas.so.0";

/* The largest distance of z from a @ b in double, over the sum of magnitudes. */
static double error_of(const tsr_tensor *z, const tsr_tensor *a, const tsr_tensor *b)
{
    tsr_tensor *wide[3] = { NULL }, *want = NULL, *gap = NULL, *size = NULL;
    double worst = -1;
    const tsr_dtype dtype = tsr_dtype_kind(z->dtype) == TSR_COMPLEX ? TSR_C128 : TSR_F64;
    const tsr_tensor *const all[3] = { z, a, b };
    for (int i = 0; i < 3; i++) EXPECT_OK(tsr_cast(&wide[i], all[i], dtype));
    EXPECT_OK(tsr_einsum(&want, "ik,kj->ij", 2, (const tsr_tensor *const[]){ wide[1], wide[2] }));
    EXPECT_OK(tsr_sub(&gap, wide[0], want));
    EXPECT_OK(tsr_abs(&size, gap));
    tsr_tensor *most = NULL;
    EXPECT_OK(tsr_max(&most, size, 0, NULL, false));
    EXPECT_OK(tsr_item_f64(&worst, most));
    tsr_release(&most);
    for (int i = 0; i < 3; i++) tsr_release(&wide[i]);
    tsr_release_all(&want, &gap, &size);
    return worst / (double)a->shape[1];
}

static tsr_tensor *matrix(tsr_dtype dtype, int64_t rows, int64_t cols, int how, uint64_t seed)
{
    tsr_tensor *t = NULL;
    EXPECT_OK(tsr_uniform(
        &t, dtype, TSR_SHAPE(how == 1 ? cols : rows, how == 1 ? rows : cols + (how == 2) * 5), -1, 1, seed));
    if (how == 1) EXPECT_OK(tsr_transpose(&t, t, 0, 1));
    if (how == 2) EXPECT_OK(tsr_slice(&t, t, 1, 3, cols + 3, 1));
    if (how == 3) EXPECT_OK(tsr_flip(&t, t, 1, (const int[]){ 1 }));
    return t;
}

TEST(test_blas_products_match_whatever_the_strides)
{
    const tsr_dtype dtypes[] = { TSR_F32, TSR_F64, TSR_C64, TSR_C128 };
    for (int d = 0; d < 4; d++)
        for (int how_a = 0; how_a < 4; how_a++)
            for (int how_b = 0; how_b < 4; how_b++)
                for (int how_z = 0; how_z < 2; how_z++) {
                    tsr_tensor *a = matrix(dtypes[d], 70, 90, how_a, 1),
                               *b = matrix(dtypes[d], 90, 110, how_b, 2);
                    tsr_tensor *z = how_z ? matrix(dtypes[d], 70, 110, 1, 3) : NULL;
                    EXPECT_OK(tsr_matmul(&z, a, b));
                    const double limit = d % 2 ? 2e-15 : 5e-7;
                    const double error = error_of(z, a, b);
                    EXPECT_MSG(error >= 0 && error < limit, "%s a %d b %d z %d: %g",
                               tsr_dtype_name(dtypes[d]), how_a, how_b, how_z, error);
                    tsr_release_all(&a, &b, &z);
                }
}

TEST_BEFORE
{
    (void)setenv("TSR_BLAS", library, 1);
}
