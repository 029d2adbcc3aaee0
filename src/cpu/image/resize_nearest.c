/* resize_nearest.c - nearest: elements are copied, whatever they are. */
#ifndef TSR_FREESTANDING

#include "image.h"
#include "layout.h"
#include "core/alloc.h"
#include "core/mem.h"
#include "core/resample.h"
#include "core/threads_int.h"
#include "cpu/kernels.h"

enum { SLICES, ROWS, COLUMNS, AXES };

typedef struct job {
    tsri_picture x, z;
    int64_t     *index[AXES];
    int32_t     *offset;    /* bytes of the columns; NULL: none, or too far */
    int64_t      size;      /* bytes of a pixel */
    tsri_gather_fn gather;
} job;

/* Inlined for sizes that are known. */
static void copy_pixels(char *z, int64_t z_step, const char *x, int64_t x_step, const int64_t *index,
                        int64_t n, const int64_t size)
{
    for (int64_t i = 0; i < n; i++) memcpy(z + i * z_step, x + index[i] * x_step, (size_t)size);
}

/* Pixels of three bytes, four at a time where the fourth is there and will be written over. */
static void copy_threes(char *z, const char *x, const int64_t *index, int64_t in, int64_t n)
{
    int64_t i = 0;
    for (; i < n - 1 && index[i] < in - 1; i++) memcpy(z + i * 3, x + index[i] * 3, 4);
    for (; i < n; i++) memcpy(z + i * 3, x + index[i] * 3, 3);
}

static void copy_columns(char *z, const char *x, const job *j)
{
    const int64_t *index = j->index[COLUMNS], n = j->z.columns, xs = j->x.step, zs = j->z.step;
    const bool dense = j->z.dense && j->x.dense;
    if (j->offset) j->gather(z, x, j->offset, n);
    else if (j->size == 3 && dense) copy_threes(z, x, index, j->x.columns, n);
    else switch (j->size) {
    case 1: copy_pixels(z, zs, x, xs, index, n, 1); break;
    case 2: copy_pixels(z, zs, x, xs, index, n, 2); break;
    case 4: copy_pixels(z, zs, x, xs, index, n, 4); break;
    case 8: copy_pixels(z, zs, x, xs, index, n, 8); break;
    case 12: copy_pixels(z, zs, x, xs, index, n, 12); break;
    default: copy_pixels(z, zs, x, xs, index, n, j->size);
    }
}

static tsr_status copy_rows(void *context, int64_t begin, int64_t end)
{
    const job *j = context;
    const char *last = NULL, *made = NULL;  /* the row of x that was copied last, and where to */
    for (int64_t i = begin; i < end; i++) {
        const int64_t row = i % j->z.rows, slice = i / j->z.rows % j->z.slices,
                      plane = i / j->z.rows / j->z.slices;
        const char *x = tsri_picture_plane(&j->x, plane) + j->index[SLICES][slice] * j->x.slice +
                        j->index[ROWS][row] * j->x.row;
        char *z = tsri_picture_plane(&j->z, plane) + slice * j->z.slice + row * j->z.row;
        if (x == last && j->z.dense)
            memcpy(z, made, (size_t)(j->z.columns * j->size));
        else
            copy_columns(z, x, j);
        last = x;
        made = z;
    }
    return TSR_OK;
}

static void fill_index(const job *j, const tsr_op *op, int d)
{
    const tsr_resize_params *p = op->params;
    const int i = d - (AXES - p->spatial);
    double w;
    j->index[d][0] = 0;
    if (i < 0) return;
    const tsri_resample r = tsri_resample_of(p, i, op->in[0]->shape[op->in[0]->ndim - AXES + d]);
    for (int64_t o = 0; o < r.out; o++) (void)tsri_resample_at(&r, o, &j->index[d][o], &w);
}

static int64_t length(int64_t step) { return step < 0 ? -step : step; }

/* Offsets, where elements of one channel follow one another in z. */
static void plan_gather(job *j, const tsr_op *op)
{
    const int64_t size = tsri_dtype_size(op->in[0]->dtype);
    const int kind = size == 1 ? 0 : size == 2 ? 1 : size == 4 ? 2 : 3;
    int32_t *offset = (int32_t *)(void *)(j->index[COLUMNS] + j->z.columns);
    j->offset = NULL;
    if (j->z.inner > 1 || !j->z.dense || j->x.columns > INT32_MAX / (length(j->x.step) + 1)) return;
    for (int64_t i = 0; i < j->z.columns; i++) offset[i] = (int32_t)(j->index[COLUMNS][i] * j->x.step);
    j->gather = tsri_cpu_kernels_get()->gather_offsets[kind];
    j->offset = offset;
}

tsr_status tsri_cpu_resize_nearest(const tsr_op *op)
{
    const tsr_tensor *x = op->in[0], *z = op->out[0];
    const int spatial = ((const tsr_resize_params *)op->params)->spatial;
    const bool channels = tsri_picture_is_last(x, spatial) && tsri_picture_is_last(z, spatial);
    job j = { .x = tsri_picture_of(x, spatial, channels), .z = tsri_picture_of(z, spatial, channels) };
    int64_t numbers = 0;
    j.size = j.x.inner * tsri_dtype_size(x->dtype);
    const bool fits = tsri_add(&numbers, j.z.slices, j.z.rows) && tsri_add(&numbers, numbers, j.z.columns) &&
                      tsri_add(&numbers, numbers, j.z.columns) && numbers < INT64_MAX / 16;
    const size_t bytes = (size_t)numbers * sizeof(int64_t);
    j.index[SLICES] = fits ? tsri_scratch(bytes) : NULL;
    TSRI_CHECK(j.index[SLICES], TSR_ENOMEM, "resize: no room for %lld indices", (long long)numbers);
    j.index[ROWS] = j.index[SLICES] + j.z.slices;
    j.index[COLUMNS] = j.index[ROWS] + j.z.rows;
    for (int d = 0; d < AXES; d++) fill_index(&j, op, d);
    plan_gather(&j, op);
    const int64_t rows = tsri_picture_planes(&j.z) * j.z.slices * j.z.rows;
    const tsr_status s = tsri_parallel_for(
        rows, tsri_grain(2 * (double)(j.z.columns * j.size) + TSRI_WORK_READ * (double)j.z.columns),
        copy_rows, &j);
    tsri_free(j.index[SLICES], bytes);
    return s;
}

#endif
