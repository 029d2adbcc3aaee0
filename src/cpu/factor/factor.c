/* factor.c - see factor.h. */
#include "factor.h"
#include "columns.h"
#include "core/dtype_int.h"
#include "core/mem.h"
#include "cpu/gemm/gemm.h"

#include "cpu/kernels.h"

#ifndef TSR_FREESTANDING

tsri_columns_f32 tsri_cpu_columns_f32;
tsri_columns_f64 tsri_cpu_columns_f64;

enum {
    LONG_COLUMN = 16,       /* numbers that are worth a call of a kernel */
    BLOCK = 48,             /* columns of a panel */
    LEAF = 8,               /* rows of a triangle that is solved with by plain loops */
    BLOCK_WORK = 16 * 16 * 16, /* multiplications from which a product is not done by plain loops */
    MOST_ROTATIONS = 24,    /* steps of rotations that are kept, */
    ROTATED_ROWS = 64,      /* and rows that they are done for together */
    MOST_STEPS = 80,        /* of an iteration that converges in 3 as a rule, and of sweeps over all pairs */
    RELAX_AFTER = 20        /* of those, from which on what is small beside the whole matrix counts as 0:
                               rounding errors of a matrix of low rank may never be small beside each other */
};

static tsr_tensor view(tsr_dtype dtype, const void *data, int64_t ld, int64_t rows, int64_t cols)
{
    tsr_tensor t = { .data = (void *)(uintptr_t)data, .count = 1, .flags = TSR_FLAG_PLACED, .device = TSR_CPU,
                     .memory = TSR_MEMORY_HOST };
    t.dtype = dtype;
    t.ndim = 2;
    t.shape[0] = rows;
    t.shape[1] = cols;
    t.stride[0] = 1;
    t.stride[1] = ld;
    return t;
}

/* z = a b, or z - a b, as far as there is memory for it: returns how many of the k indices are done, all
 * or none of a b. Sums over more than TSRI_GEMM_BLOCK indices may be kept in z while they grow, so z is
 * subtracted from in blocks. */
static int64_t multiply_blocks(tsr_dtype dtype, void *z, int64_t ldz, const void *a, int64_t lda,
                               const void *b, int64_t ldb, int64_t m, int64_t n, int64_t k, bool subtract)
{
    const int64_t size = tsri_dtype_size(dtype), step = subtract && k > TSRI_GEMM_BLOCK ? TSRI_GEMM_BLOCK : k;
    const tsr_matmul_params params = { tsr_scalar_f64(subtract ? -1 : 1), tsr_scalar_f64(subtract) };
    tsr_tensor to = view(dtype, z, ldz, m, n);
    for (int64_t at = 0; at < k; at += step) {
        const int64_t here = k - at < step ? k - at : step;
        const tsr_tensor left = view(dtype, (const char *)a + at * lda * size, lda, m, here),
                         right = view(dtype, (const char *)b + at * size, ldb, here, n);
        const tsr_op op = { .kind = TSR_OP_MATMUL,
                            .nin = subtract ? 3 : 2,
                            .nout = 1,
                            .in = { &left, &right, &to },
                            .out = { &to },
                            .params = &params };
        if (tsri_cpu_matmul(&op) != TSR_OK) return at;
    }
    return k;
}

#define T float
#define R float
#define C float _Complex
#define REAL_COLUMNS tsri_cpu_columns_f32
#define PART(x) ((float)(x))
#define ROOT(x) __builtin_sqrtf(x)
#define PART_EPSILON 0x1p-23f
#define TOO_LARGE 1e15f
#define SMALL 1e-14f
#define MOST_POWER 120
#define DTYPE TSR_F32
#define NAME(x) x##_f32
#include "factor_dtype.inc"
#undef T
#undef DTYPE
#undef NAME

#define OF_COMPLEX
#define T float _Complex
#define DTYPE TSR_C64
#define NAME(x) x##_c64
#include "factor_dtype.inc"
#undef OF_COMPLEX
#undef T
#undef R
#undef C
#undef REAL_COLUMNS
#undef PART
#undef ROOT
#undef PART_EPSILON
#undef TOO_LARGE
#undef SMALL
#undef MOST_POWER
#undef DTYPE
#undef NAME

#define T double
#define R double
#define C double _Complex
#define REAL_COLUMNS tsri_cpu_columns_f64
#define PART(x) ((double)(x))
#define ROOT(x) __builtin_sqrt(x)
#define PART_EPSILON 0x1p-52
#define TOO_LARGE 1e100
#define SMALL 1e-140
#define MOST_POWER 1000
#define DTYPE TSR_F64
#define NAME(x) x##_f64
#include "factor_dtype.inc"
#undef T
#undef DTYPE
#undef NAME

#define OF_COMPLEX
#define T double _Complex
#define DTYPE TSR_C128
#define NAME(x) x##_c128
#include "factor_dtype.inc"

const tsri_lapack *tsri_factor_own(tsr_dtype dtype)
{
    (void)tsri_cpu_kernels_get();  /* fills those of columns, too */
    switch (dtype) {
    case TSR_F32: return &routines_f32;
    case TSR_C64: return &routines_c64;
    case TSR_F64: return &routines_f64;
    default:      return &routines_c128;
    }
}

#endif
