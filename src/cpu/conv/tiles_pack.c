/* tiles_pack.c - weights packed as tiles (tiles.c) read them, and the offset of each index of k.
 *
 * In memory the taps of a channel are mostly next to each other; tiles want the channels of a row of taps
 * together. So some channels are packed for one panel in memory order, into scratch that stays in cache, and
 * rows of taps are copied from there to their places. */
#include "core/alloc.h"
#include "core/dtype_int.h"
#include "core/mem.h"
#include "core/memory_int.h"
#include "tiles.h"

/* The offset in bytes of weight p, where p counts taps, then channels. */
static int64_t weight_at(const tsri_grid *g, int64_t p)
{
    const tsri_slide *a = g->axis;
    int64_t at = 0;
    for (int d = TSRI_AXES - 1; d >= 0; d--) {
        at += p % a[d].taps * a[d].w;
        p /= a[d].taps;
    }
    return at + p * g->w_channel;
}

/* How many weights, counted so, have one `step`: a divisor of the number that `channels` channels have. */
static int64_t weights_along(const tsri_tiles *j, int64_t channels, int64_t *step)
{
    const tsri_grid *g = j->g;
    int64_t n = 1;
    *step = tsri_dtype_size(g->dtype);
    for (int d = TSRI_AXES - 1; d >= -1; d--) {
        const int64_t count = d < 0 ? channels : g->axis[d].taps, apart = d < 0 ? g->w_channel : g->axis[d].w;
        if (count == 1) continue;
        if (n > 1 && apart != n * *step) return n;
        if (n == 1) *step = apart;
        n *= count;
    }
    return n;
}

static int64_t part_channels(const tsri_tiles *j)
{
    return most(1, least(j->g->channels, tsri_conv_tuning()->packed / j->taps));
}

int64_t tsri_tiles_pack_parts(const tsri_tiles *j) { return pieces(j->g->channels, part_channels(j)); }

/* Copies packed channels c .. c + channels - 1 of some kernels to their places in z. */
static void place_rows(const tsri_tiles *j, char *z, const char *from, int64_t c, int64_t channels,
                       int64_t width)
{
    const tsri_slide *a = j->g->axis;
    const int64_t bytes = a[2].taps * width * j->element, rows = a[0].taps * a[1].taps;
    for (int64_t i = 0; i < channels; i++)
        for (int64_t row = 0; row < rows; row++, from += bytes)
            memcpy(z + (row * j->g->channels + c + i) * bytes, from, (size_t)bytes);
}

/* n kernels from w on, padded to `width`. */
static void pack_part(const tsri_tiles *j, char *z, char *scratch, const char *w, int64_t c, int64_t n,
                      int64_t width)
{
    const tsri_grid *g = j->g;
    const int64_t channels = least(part_channels(j), g->channels - c);
    const bool one_row = j->g->axis[0].taps * j->g->axis[1].taps == 1;
    const int64_t bytes = width * j->element;
    char *const to = one_row ? z + c * j->taps * bytes : scratch;
    int64_t step;
    const int64_t run = weights_along(j, channels, &step);
    for (int64_t p = 0; p < channels * j->taps; p += run)
        j->dtype->pack(to + p * bytes, w + c * g->w_channel + weight_at(g, p), g->w_kernel, step, n, run,
                       (int)width);
    if (!one_row) place_rows(j, z, scratch, c, channels, width);
}

tsr_status tsri_tiles_pack(void *job, int64_t begin, int64_t end)
{
    const tsri_tiles *j = job;
    const tsri_grid *g = j->g;
    const int64_t parts = tsri_tiles_pack_parts(j);
    const size_t bytes = (size_t)(part_channels(j) * j->taps * panel_kernels(j) * j->element);
    size_t reserved = 0;
    char *scratch = tsri_pool_scratch(bytes, &reserved);
    TSRI_CHECK(scratch, TSR_ENOMEM, "conv: no memory for %zu bytes of scratch", bytes);
    for (int64_t i = begin; i < end; i++) {
        const int64_t part = i % parts, panel = i / parts % j->panels, group = i / parts / j->panels;
        const int64_t row = panel * panel_kernels(j), n = least(j->count - row, panel_kernels(j));
        const int64_t width = panel_vectors(j, panel) * j->kernels->lanes;
        const int64_t at = vector_of(j, group, panel) * vector_bytes(j);
        pack_part(j, j->weights + at * j->k, scratch,
                  g->w + group * g->w_group + (j->first + row) * g->w_kernel, part * part_channels(j), n,
                  width);
        if (g->bias && part == 0)
            j->dtype->pack(j->bias + at, g->bias + (group * g->kernels + j->first + row) * g->bias_step,
                           g->bias_step, 0, n, 1, (int)width);
    }
    tsri_pool_give(scratch, reserved);
    return TSR_OK;
}

void tsri_tiles_offsets(const tsri_tiles *j)
{
    const tsri_slide *a = j->g->axis;
    const tsri_tiles_side *s = j->side;
    const int64_t channel = j->no_copy ? j->g->x_channel : j->channel;
    int64_t p = 0, t[TSRI_AXES];
    for (t[0] = 0; t[0] < a[0].taps; t[0]++)
        for (t[1] = 0; t[1] < a[1].taps; t[1]++)
            for (int64_t c = 0; c < j->g->channels; c++)
                for (t[2] = 0; t[2] < a[2].taps; t[2]++, p++) {
                    j->offset[p] = c * channel;
                    for (int d = 0; d < TSRI_AXES; d++)
                        j->offset[p] += (tsri_slide_at(&a[d], t[d]) - s[d].low) * s[d].pitch;
                }
}
