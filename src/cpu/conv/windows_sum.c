/* windows_sum.c - the sums of a unit (windows.c): strip by strip; kernel by kernel if depthwise; or with the
 * special kernel for windows of 3 x 3. */
#include "core/dtype_int.h"
#include "core/mem.h"
#include "windows.h"

static int64_t tile_row(const tsri_windows *j) { return vectors_bytes(j); }


/* Columns of the box, whose rows are merged into one: `at` is the first. */
typedef struct columns {
    const char *x;
    int64_t at, n;
} columns;

static char *output_at(const tsri_windows *j, const tsri_windows_unit *u, int64_t kernel, const int64_t *o)
{
    const tsri_grid *g = j->g;
    char *z = g->z + u->of.image * g->z_image + (u->of.group * g->kernels + kernel) * g->z_channel;
    for (int d = 0; d < TSRI_AXES; d++) z += (u->of.o[d] + o[d]) * g->axis[d].z;
    return z;
}

static char *tile_of(const tsri_windows *j, const tsri_windows_unit *u, int64_t panel)
{
    return u->sums + (panel - u->panel) * j->rows * tile_row(j);
}

/* One block of k, whose columns are at s->x. */
static void sum_block(const tsri_windows *j, tsri_windows_unit *u, const columns *c, int64_t p,
                      tsri_conv_strip *s)
{
    const tsri_conv_strip_fn *strips = j->kernels->strip[pieces(c->n, j->kernels->lanes)];
    for (int64_t i = u->panel; i < u->panel + u->panels; i++) {
        const int64_t row = row_of(j, i), rows = row_of(j, i + 1) - row;
        s->w = j->weights + ((u->of.group * j->count + row) * j->k + p * rows) * j->element;
        s->z = j->writes_z ? output_at(j, u, j->first + row, (const int64_t[]){ 0, 0, c->at })
                           : tile_of(j, u, i);
        s->z_row = j->writes_z ? j->g->z_channel : tile_row(j);
        s->stream =
            j->stream && c->n % j->kernels->lanes == 0 &&
            ((uintptr_t)s->z | (uintptr_t)s->z_row) % (uintptr_t)(j->kernels->lanes * j->element) == 0;
        s->ahead = tsri_prefetch_lines(&u->ahead, s->w, &s->ahead_step);
        strips[rows](s);
    }
}

static void sum_columns(const tsri_windows *j, tsri_windows_unit *u, const columns *c)
{
    tsri_conv_strip s = { .cols = c->n, .padded = !j->no_copy };
    for (int64_t p = 0; p < j->k; p += s.k) {
        s.k = block_at(j, p);
        s.add = p > 0;
        s.x = c->x;
        s.offset = j->offset + p;
        sum_block(j, u, c, p, &s);
    }
}

/* Adds the bias of a kernel to n sums. */
static void add_bias(const tsri_windows *j, char *sums, int64_t kernel, int64_t n)
{
    double bias;
    j->dtype->pack(&bias, j->g->bias + kernel * j->g->bias_step, 0, 0, 1, 1, 1);
    if (j->element == (int64_t)sizeof(float)) {
        float *z = (float *)(void *)sums, b;
        memcpy(&b, &bias, sizeof b);
        for (int64_t i = 0; i < n; i++) z[i] += b;
    } else {
        double *z = (double *)(void *)sums;
        for (int64_t i = 0; i < n; i++) z[i] += bias;
    }
}

static void add_biases(const tsri_windows *j, const tsri_windows_unit *u, const columns *c)
{
    for (int64_t i = u->panel; i < u->panel + u->panels; i++)
        for (int64_t row = row_of(j, i); row < row_of(j, i + 1); row++) {
            const int64_t kernel = j->first + row;
            char *sums = j->writes_z ? output_at(j, u, kernel, (const int64_t[]){ 0, 0, c->at })
                                     : tile_of(j, u, i) + (row - row_of(j, i)) * tile_row(j);
            add_bias(j, sums, u->of.group * j->g->kernels + kernel, c->n);
        }
}

/* Stores the sums of places `from` .. from + n - 1 of the columns: a run of outputs from o on. */
static void store_run(const tsri_windows *j, const tsri_windows_unit *u, int64_t from, int64_t n,
                      const int64_t *o)
{
    const tsri_gemm_scale plain = { .plain = true };
    const int64_t step = j->g->axis[2].z;
    for (int64_t i = u->panel; i < u->panel + u->panels; i++) {
        const tsri_gemm_matrix z = { output_at(j, u, j->first + row_of(j, i), o), j->g->z_channel,
                                     n > 1 ? step : tsri_dtype_size(j->g->dtype) };
        j->dtype->store(z, (tsri_gemm_matrix){ NULL, 0, 0 }, tile_of(j, u, i) + from * j->element,
                        row_of(j, i + 1) - row_of(j, i), n, (int)j->rows, (int)(tile_row(j) / j->element),
                        &plain);
    }
}

static void store_columns(const tsri_windows *j, const tsri_windows_unit *u, const columns *c)
{
    const tsri_windows_side *s = j->side;
    for (int64_t i = 0; i < c->n;) {
        const int64_t at = c->at + i, rest = at % s[0].pitch;
        const int64_t o[TSRI_AXES] = { at / s[0].pitch, rest / s[1].pitch, rest % s[1].pitch };
        const int64_t n = least(c->n - i, u->of.n[2] - o[2]);
        if (n > 0 && o[1] < u->of.n[1]) store_run(j, u, i, n, o);
        i += n > 0 ? n : least(c->n - i, s[1].pitch - o[2]);
    }
}

/* How many strips' widths of columns are prefetched at a time: long runs are cheaper than short ones. */
static int64_t columns_ahead(const tsri_windows *j)
{
    return least(8, most(1, tsri_conv_tuning()->ahead / (j->k * vectors_bytes(j))));
}

/* Plans to prefetch n columns from x on while `strips` widths of others are summed. */
static void plan_columns(const tsri_windows *j, tsri_windows_unit *u, const char *x, int64_t n,
                         int64_t strips)
{
    u->ahead = (tsri_prefetch){ .at = x, .outer = j->g->channels, .outer_step = j->g->x_channel, .inner = 1,
                             .bytes = n * j->element };
    tsri_prefetch_plan(&u->ahead, strips * u->panels * pieces(j->k, block_at(j, 0)), block_at(j, 0));
}

/* Stores the sums of kernel `row` of the group, for all places of the box. */
static void store_rows(const tsri_windows *j, const tsri_windows_unit *u, int64_t row)
{
    const tsri_gemm_scale plain = { .plain = true };
    const int64_t step = j->g->axis[2].z, size = tsri_dtype_size(j->g->dtype);
    int64_t o[TSRI_AXES] = { 0, 0, 0 };
    for (o[0] = 0; o[0] < u->of.n[0]; o[0]++)
        for (o[1] = 0; o[1] < u->of.n[1]; o[1]++)
            j->dtype->store(
                (tsri_gemm_matrix){ output_at(j, u, j->first + row, o), 0, u->of.n[2] > 1 ? step : size },
                (tsri_gemm_matrix){ NULL, 0, 0 },
                u->sums + (o[0] * j->side[0].pitch + o[1] * j->side[1].pitch) * j->element, 1, u->of.n[2], 1,
                (int)j->side[1].pitch, &plain);
}

/* Prefetches the outputs of the box for writing. */
static void fetch_outputs(const tsri_windows *j, const tsri_windows_unit *u)
{
    const int64_t bytes = u->of.n[2] * j->g->axis[2].z;
    int64_t o[TSRI_AXES] = { 0, 0, 0 };
    if (j->g->axis[2].z != tsri_dtype_size(j->g->dtype)) return;
    for (o[0] = 0; o[0] < u->of.n[0]; o[0]++)
        for (o[1] = 0; o[1] < u->of.n[1]; o[1]++)
            for (int64_t at = 0; at < bytes; at += TSRI_CACHE_LINE)
                __builtin_prefetch(output_at(j, u, j->first + u->panel, o) + at, 1, 3);
}

static void multiply_depthwise(const tsri_windows *j, tsri_windows_unit *u)
{
    const int64_t all = flat_places(j, u);
    fetch_outputs(j, u);
    tsri_windows_copy(j, u);
    tsri_prefetch_all(&u->ahead);
    for (int64_t i = u->panel; i < u->panel + u->panels; i++) {
        const char *w = j->weights + (u->of.group * j->count + i) * j->k * j->element;
        j->kernels->sum_one(u->sums, u->copy, j->offset, w, j->k, all);
        if (j->g->bias) add_bias(j, u->sums, u->of.group * j->g->kernels + j->first + i, all);
        store_rows(j, u, i);
    }
}

static void multiply_three(const tsri_windows *j, const tsri_windows_unit *u)
{
    const tsri_grid *g = j->g;
    const tsri_slide *a = g->axis;
    const int64_t zero[TSRI_AXES] = { 0, 0, 0 };
    tsri_conv_3x3 t = { .x = u->of.x,
                          .x_row = a[1].x,
                          .high = a[1].in,
                          .wide = a[2].in,
                          .z_row = a[1].z,
                          .rows = u->of.n[1],
                          .cols = u->of.n[2],
                          .top = -a[1].first - u->of.o[1],
                          .left = -a[2].first };
    t.x_ahead = j->boxes > 1 ? u->of.n[1] * a[1].x : g->x_channel;
    t.z_ahead = j->boxes > 1 ? u->of.n[1] * a[1].z : g->z_channel;
    for (int64_t i = u->panel; i < u->panel + u->panels; i++) {
        t.z = output_at(j, u, j->first + i, zero);
        t.w = (const float *)(const void *)(j->weights + (u->of.group * j->count + i) * j->k * j->element);
        if (g->bias)
            j->dtype->pack(&t.bias, g->bias + (u->of.group * g->kernels + j->first + i) * g->bias_step, 0, 0,
                           1, 1, 1);
        j->kernels->three(&t);
    }
}

void tsri_windows_multiply(const tsri_windows *j, tsri_windows_unit *u)
{
    const int64_t width = TSRI_CONV_VECTORS * j->kernels->lanes,
                  all = j->no_copy ? u->of.n[2] : flat_places(j, u);
    if (j->three) {
        multiply_three(j, u);
        return;
    }
    if (j->depthwise) {
        multiply_depthwise(j, u);
        return;
    }
    if (!j->no_copy) tsri_windows_copy(j, u);
    const int64_t wide = width * columns_ahead(j);
    for (int64_t at = 0; at < all; at += width) {
        const columns c = { (j->no_copy ? u->of.x : u->copy) + at * j->element, at, least(all - at, width) };
        if (j->no_copy && at % wide == 0 && at + wide < all)
            plan_columns(j, u, c.x + wide * j->element, least(all - at - wide, wide), wide / width);
        sum_columns(j, u, &c);
        if (j->g->bias) add_biases(j, u, &c);
        if (!j->writes_z) store_columns(j, u, &c);
    }
}
