/* rope.cl - rotary positions: pairs of a row rotated by position / slowness, in f64. */

/* The nest has all dims but the last: z, x, positions. A work item for each pair of each row. */
kernel void rope(BYTES z, CONST_BYTES x, CONST_BYTES positions, global const double *slowness, nest t,
                 long pairs, long z_step, long x_step, int by_pairs)
{
    const long j = (long)get_global_id(1);
    if (j >= pairs) return;
    const int from = t.dtype[1], to = t.dtype[0];
    const long one = by_pairs ? 2 * j : j, other = by_pairs ? one + 1 : j + pairs;
    long at[3] = { t.base[0], t.base[1], t.base[2] };
    place(&t, get_global_id(0), at, 3);
    const double angle = (double)AT_CONST(long, positions + at[2]) / slowness[j];
    const double c = cos(angle), s = sin(angle);
    const double a = (double)LOAD(x + at[1] + one * x_step, from),
                 b = (double)LOAD(x + at[1] + other * x_step, from);
    store_real(z + at[0] + one * z_step, to, a * c - b * s);
    store_real(z + at[0] + other * z_step, to, b * c + a * s);
}
