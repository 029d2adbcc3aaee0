/* tiles_copy.c - boxes of inputs, copied for tiles (tiles.c) and padded with zeros. */
#include "core/mem.h"
#include "tiles.h"

tsri_tiles_inputs tsri_tiles_see_inputs(const tsri_tiles *j, const tsri_tiles_unit *u, int d)
{
    const tsri_slide *a = &j->g->axis[d];
    tsri_tiles_inputs i = { .first = u->of.o[d] * a->step + j->side[d].low,
                            .all = tsri_tiles_inputs_of(j, d, u->of.n[d]) };
    i.begin = least(i.all, most(0, -i.first));
    i.end = most(i.begin, least(i.all, a->in - i.first));
    return i;
}

/* Rows of n elements, `step` apart, padded with zeros before and after, to `all`. */
static void copy_rows(const tsri_tiles *j, char *z, int64_t z_row, const char *x, int64_t x_row, int64_t step,
                      int64_t rows, int64_t ahead, int64_t n, int64_t all)
{
    const int64_t floats = j->element / (int64_t)sizeof(float);
    if (rows <= 0) return;
    if (j->dtype->native && (step == j->element || n <= 1)) {
        j->kernels->pad(z, z_row, x, x_row, rows, ahead * floats, n * floats, all * floats);
        return;
    }
    for (int64_t i = 0; i < rows; i++, z += z_row, x += x_row) {
        memset(z, 0, (size_t)(all * j->element));
        if (n > 0) j->dtype->pack(z + ahead * j->element, x, step, 0, n, 1, (int)n);
    }
}

static void clear(char *z, int64_t bytes)
{
    if (bytes > 0) memset(z, 0, (size_t)bytes);
}

/* Rows of places, with channels last. */
static void copy_places(const tsri_tiles *j, char *z, const char *x, const tsri_tiles_inputs *in)
{
    const tsri_slide *a = j->g->axis;
    const int64_t row = j->side[1].pitch, place = j->side[2].pitch, n = j->g->channels;
    clear(z, in[1].begin * row);
    for (int64_t i = in[1].begin; i < in[1].end; i++) {
        char *to = z + i * row;
        const char *from = x + (in[1].first + i) * a[1].x + (in[2].first + in[2].begin) * a[2].x;
        const int64_t places = in[2].end - in[2].begin;
        clear(to, in[2].begin * place);
        to += in[2].begin * place;
        if (j->transposed) j->kernels->transpose(to, place, from, j->g->x_channel, n, places);
        else           copy_rows(j, to, place, from, a[2].x, j->g->x_channel, places, 0, n, n);
        to += places * place;
        clear(to, (in[2].all - in[2].end) * place);
    }
    clear(z + in[1].end * row, (in[1].all - in[1].end) * row);
}

/* Rows of one channel. */
static void copy_plane(const tsri_tiles *j, char *z, const char *x, const tsri_tiles_inputs *in)
{
    const tsri_slide *a = j->g->axis;
    const int64_t row = j->side[1].pitch;
    clear(z, in[1].begin * row);
    copy_rows(j, z + in[1].begin * row, row,
              x + (in[1].first + in[1].begin) * a[1].x + (in[2].first + in[2].begin) * a[2].x, a[1].x, a[2].x,
              in[1].end - in[1].begin, in[2].begin, in[2].end - in[2].begin, in[2].all);
    clear(z + in[1].end * row, (in[1].all - in[1].end) * row);
}

void tsri_tiles_copy(const tsri_tiles *j, const tsri_tiles_unit *u)
{
    const tsri_tiles_side *s = j->side;
    tsri_tiles_inputs in[TSRI_AXES];
    for (int d = 0; d < TSRI_AXES; d++) in[d] = tsri_tiles_see_inputs(j, u, d);
    for (int64_t c = 0; c < (j->last ? 1 : j->g->channels); c++)
        for (int64_t i = 0; i < in[0].all; i++) {
            char *z = u->copy + c * j->channel + i * s[0].pitch;
            const char *x = u->of.x + c * j->g->x_channel + (in[0].first + i) * j->g->axis[0].x;
            if (i < in[0].begin || i >= in[0].end) clear(z, in[1].all * s[1].pitch);
            else if (j->last)                      copy_places(j, z, x, in);
            else                                   copy_plane(j, z, x, in);
        }
}
