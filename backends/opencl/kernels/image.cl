/* image.cl - pictures of other sizes and at the places of a grid. Sums are in the class's type; bytes are
 * summed as floats. */

enum { INTERPOLATE_NEAREST = 0, INTERPOLATE_LINEAR = 2, INTERPOLATE_CUBIC = 3 };
enum { GRID_ZEROS, GRID_BORDER, GRID_REFLECTION };

/* Resize ------------------------------------------------------------------------------------------ */

static inline value load_pixel(CONST_BYTES p, int dtype)
{
    return dtype == T_U8 ? (value)*p : LOAD(p, dtype);
}

static inline void store_pixel(BYTES p, int dtype, value v)
{
    if (dtype == T_U8) *p = (uchar)clamp(floor(v + (value)0.5), (value)0, (value)255);
    else STORE(p, dtype, v);
}

/* Operands z, first, x, along one dim, whose steps are not in x's. What has no weight is not seen. */
kernel void resize(BYTES z, CONST_BYTES first, CONST_BYTES x, nest t, long step, global const value *weight,
                   long taps)
{
    const ulong i = get_global_id(0);
    if (i >= (ulong)t.count) return;
    long at[3] = { t.base[0], t.base[1], t.base[2] };
    place(&t, i, at, 3);
    CONST_BYTES from = x + at[2] + AT_CONST(long, first + at[1]) * step;
    global const value *w = weight + at[1] / (long)sizeof(long) * taps;
    value sum = 0;
    for (long k = 0; k < taps; k++)
        if (w[k] != 0) sum += w[k] * load_pixel(from + k * step, t.dtype[2]);
    store_pixel(z + at[0], DTYPE0(&t), sum);
}

/* Grids ------------------------------------------------------------------------------------------- */

#ifdef HAS_F64

/* As in image.c. */
typedef struct grid_args {
    long size[3], x_step[3];
    long channels, z_channel, x_channel, which;
    int  spatial, mode, padding, align_corners, grid_dtype, unused;
} grid_args;

/* Elements that a place sees along one axis; -1: one outside. */
typedef struct taps {
    int    n;
    long   index[4];
    double weight[4];
} taps;

/* x, reflected at low and low + span as often as needed. */
static inline double reflected(double x, double low, double span)
{
    const double from = fabs(x - low);
    if (span == 0) return 0;
    const double flips = from / span < 0x1p53 ? floor(from / span) : 0,
                 extra = clamp(from - flips * span, 0.0, span);
    return fmod(flips, 2.0) == 0 ? low + extra : low + span - extra;
}

/* The place in x that is meant by one outside it; still outside, where zeros are seen. */
static inline double padded(double at, long size, const grid_args *g)
{
    const double last = (double)(size - 1);
    if (g->padding == GRID_REFLECTION)
        at = g->align_corners ? reflected(at, 0, last) : reflected(at, -0.5, (double)size);
    return g->padding == GRID_ZEROS ? clamp(at, -8.0, last + 8) : clamp(at, 0.0, last);
}

static inline long inside(double at, long size) { return at >= 0 && at < (double)size ? (long)at : -1; }

/* Keys' cubic at x >= 0, a = -0.75. */
static inline double cubic(double x)
{
    return x < 1 ? (1.25 * x - 2.25) * x * x + 1 : (((x - 5) * x + 8) * x - 4) * -0.75;
}

static inline void take_cubic(taps *t, double at, long size, const grid_args *g)
{
    const double low = floor(clamp(at, -0x1p52, 0x1p52)), over = clamp(at - low, 0.0, 1.0);
    t->n = 4;
    for (int i = 0; i < 4; i++) {
        t->index[i] = inside(rint(padded(low - 1 + i, size, g)), size);
        t->weight[i] = cubic(fabs(over + 1 - i));
    }
}

/* What a coordinate of -1 .. 1 sees along an axis. NaN counts as -1; infinity times 0, where there is one
 * element, too. */
static inline void take_axis(taps *t, double at, long size, const grid_args *g)
{
    at = g->align_corners ? (at + 1) / 2 * (double)(size - 1) : ((at + 1) * (double)size - 1) / 2;
    if (at != at) at = g->align_corners ? 0 : -0.5;
    if (g->mode == INTERPOLATE_CUBIC) {
        take_cubic(t, at, size, g);
        return;
    }
    at = padded(at, size, g);
    const double low = g->mode == INTERPOLATE_NEAREST ? rint(at) : floor(at), over = at - low;
    t->n = g->mode == INTERPOLATE_NEAREST || over == 0 ? 1 : 2;
    t->index[0] = inside(low, size);
    t->index[1] = inside(low + 1, size);
    t->weight[0] = t->n == 1 ? 1 : 1 - over;
    t->weight[1] = over;
}

/* Every combination of taps that lies in x: its offset and weight. Returns how many there are. */
static inline int combine_taps(long *offset, value *weight, const taps *t, const grid_args *g)
{
    int n = 0;
    for (int i = 0; i < t[0].n; i++)
        for (int k = 0; k < t[1].n; k++)
            for (int m = 0; m < t[2].n; m++) {
                const double w = t[0].weight[i] * t[1].weight[k] * t[2].weight[m];
                if (t[0].index[i] < 0 || t[1].index[k] < 0 || t[2].index[m] < 0 || w == 0) continue;
                offset[n] = t[0].index[i] * g->x_step[0] + t[1].index[k] * g->x_step[1] +
                            t[2].index[m] * g->x_step[2];
                weight[n++] = (value)w;
            }
    return n;
}

/* Operands z, x, grid, without channels; x walks along the images alone. */
kernel void grid_sample(BYTES z, CONST_BYTES x, CONST_BYTES grid, nest t, grid_args g)
{
    const ulong i = get_global_id(0);
    if (i >= (ulong)t.count) return;
    long at[3] = { t.base[0], t.base[1], t.base[2] }, offset[16];
    value weight[16];
    taps seen[3];
    place(&t, i, at, 3);
    for (int d = 0; d < 3; d++) {
        seen[d].n = 1;
        seen[d].index[0] = 0;
        seen[d].weight[0] = 1;
        if (d >= 3 - g.spatial)  /* columns come first */
            take_axis(&seen[d], load_real(grid + at[2] + (2 - d) * g.which, g.grid_dtype), g.size[d], &g);
    }
    const int n = combine_taps(offset, weight, seen, &g);
    for (long c = 0; c < g.channels; c++) {
        value sum = 0;
        for (int k = 0; k < n; k++)
            sum += weight[k] * LOAD(x + at[1] + c * g.x_channel + offset[k], t.dtype[1]);
        STORE(z + at[0] + c * g.z_channel, t.dtype[0], sum);
    }
}

#endif
