/* clblast.c - CLBlast's functions, found at run time; TSR_OPENCL_CLBLAST=off does without. */
#include "clblast.h"

#include <dlfcn.h>
#include <string.h>

enum {
    ROW_MAJOR = 101, COLUMN_MAJOR = 102, AS_IT_IS = 111, TRANSPOSED = 112,  /* CLBlast's numbers */
    LEAST = 96  /* rows, columns and depth of a product that is worth its kernels */
};

#define GEMM(name, scalar) \
    typedef int (*name)(int layout, int a_order, int b_order, size_t m, size_t n, size_t k, scalar alpha, \
                        cl_mem a, size_t a_offset, size_t a_ld, cl_mem b, size_t b_offset, size_t b_ld, \
                        scalar beta, cl_mem z, size_t z_offset, size_t z_ld, cl_command_queue *queue, \
                        cl_event *event)
GEMM(gemm_float, float);
GEMM(gemm_double, double);
GEMM(gemm_cfloat, cl_float2);
GEMM(gemm_cdouble, cl_double2);
#undef GEMM

static struct {
    gemm_float   s;
    gemm_double  d;
    gemm_cfloat  c;
    gemm_cdouble z;
    bool         found;
} blast;

static void find_blast(void)
{
    const char *off = ocl_setting("TSR_OPENCL_CLBLAST");
    void *library = off && !strcmp(off, "off") ? NULL : dlopen("libclblast.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) return;
    static const char *const names[] = { "CLBlastSgemm", "CLBlastDgemm", "CLBlastCgemm", "CLBlastZgemm" };
    void *found[4];
    for (int i = 0; i < 4; i++) {
        found[i] = dlsym(library, names[i]);
        if (!found[i]) return;
    }
    memcpy(&blast.s, &found[0], sizeof found[0]);
    memcpy(&blast.d, &found[1], sizeof found[1]);
    memcpy(&blast.c, &found[2], sizeof found[2]);
    memcpy(&blast.z, &found[3], sizeof found[3]);
    blast.found = true;
}

static bool is_there(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, find_blast);
    return blast.found;
}

/* Have rows unit stride, `cols` long, without gaps? Then the leading dimension, in elements; else 0. */
static int64_t leading(int64_t row, int64_t col, int64_t cols, int64_t size)
{
    return col == size && row >= cols * size && row % size == 0 ? row / size : 0;
}

bool ocl_clblast_suits(const ocl_product *p)
{
    const int64_t size = (int64_t)ocl_size_of(p->dtype);
    if (p->dtype != TSR_F32 && p->dtype != TSR_F64 && p->dtype != TSR_C64 && p->dtype != TSR_C128)
        return false;
    if (p->m < LEAST || p->n < LEAST || p->k < LEAST || !is_there()) return false;
    if (p->z_base % size || p->a_base % size || p->b_base % size) return false;
    return (leading(p->z_row, p->z_col, p->n, size) || leading(p->z_col, p->z_row, p->m, size)) &&
           (leading(p->a_row, p->a_col, p->k, size) || leading(p->a_col, p->a_row, p->m, size)) &&
           (leading(p->b_row, p->b_col, p->n, size) || leading(p->b_col, p->b_row, p->k, size));
}

tsr_status ocl_clblast_run(const ocl_call *call, const ocl_product *p)
{
    const int64_t size = (int64_t)ocl_size_of(p->dtype);
    const int64_t z_rows = leading(p->z_row, p->z_col, p->n, size),
                  a_rows = leading(p->a_row, p->a_col, p->k, size);
    const int64_t b_rows = leading(p->b_row, p->b_col, p->n, size);
    const bool    by_rows = z_rows != 0;
    const int     layout = by_rows ? ROW_MAJOR : COLUMN_MAJOR;
    const int     a_order = (a_rows != 0) == by_rows ? AS_IT_IS : TRANSPOSED;
    const int     b_order = (b_rows != 0) == by_rows ? AS_IT_IS : TRANSPOSED;
    const size_t  z_ld = (size_t)(by_rows ? z_rows : leading(p->z_col, p->z_row, p->m, size));
    const size_t  a_ld = (size_t)(a_rows ? a_rows : leading(p->a_col, p->a_row, p->m, size));
    const size_t  b_ld = (size_t)(b_rows ? b_rows : leading(p->b_col, p->b_row, p->k, size));
    const size_t z_at = (size_t)(p->z_base / size), a_at = (size_t)(p->a_base / size),
                 b_at = (size_t)(p->b_base / size);
    const size_t  m = (size_t)p->m, n = (size_t)p->n, k = (size_t)p->k;
    cl_command_queue queue = call->stream->queue;
    int outcome;
#define GEMM(f, alpha, beta) \
    f(layout, a_order, b_order, m, n, k, alpha, p->a, a_at, a_ld, p->b, b_at, b_ld, beta, p->z, z_at, z_ld, \
      &queue, NULL)
    if (p->dtype == TSR_F32) {
        outcome = GEMM(blast.s, (float)p->alpha.re, (float)p->beta.re);
    } else if (p->dtype == TSR_F64) {
        outcome = GEMM(blast.d, p->alpha.re, p->beta.re);
    } else if (p->dtype == TSR_C64) {
        const cl_float2 alpha = { { (float)p->alpha.re, (float)p->alpha.im } };
        const cl_float2 beta = { { (float)p->beta.re, (float)p->beta.im } };
        outcome = GEMM(blast.c, alpha, beta);
    } else {
        const cl_double2 alpha = { { p->alpha.re, p->alpha.im } }, beta = { { p->beta.re, p->beta.im } };
        outcome = GEMM(blast.z, alpha, beta);
    }
#undef GEMM
    __atomic_store_n(&call->stream->last, call->name, __ATOMIC_RELAXED);
    if (outcome == 0) return TSR_OK;
    return ocl_fail(ocl_status(outcome), "%s: opencl:%d: CLBlast does not multiply (%d)", call->name,
                    call->device->index, outcome);
}
