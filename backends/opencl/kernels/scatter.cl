/* scatter.cl - lanes along an axis, each walked in order by one work item: two indices meet in one
 * element only within a lane. MODE_SET, MODE_ADD or MODE_MAX.
 *
 * LIMIT: a single long lane is walked by one work item. */

#if defined(MODE_SET)
static inline void put(BYTES z, CONST_BYTES x, int dtype) { move_bits(z, x, size_of(dtype)); }
#elif defined(MODE_ADD)
static inline void put(BYTES z, CONST_BYTES x, int dtype)
{
    STORE(z, dtype, LOAD(z, dtype) + LOAD(x, dtype));
}
#elif defined(CLASS_FLOAT) || defined(CLASS_DOUBLE)
/* NaN if either is; of two zeros +0 is the larger. Elements keep their bits. */
static inline void put(BYTES z, CONST_BYTES x, int dtype)
{
    const value a = LOAD(z, dtype), b = LOAD(x, dtype);
    if (a != a) return;
    if (b != b || b > a || (a == b && signbit(a))) move_bits(z, x, size_of(dtype));
}
#else
static inline void put(BYTES z, CONST_BYTES x, int dtype)
{
    const value a = LOAD(z, dtype), b = LOAD(x, dtype);
    STORE(z, dtype, a > b ? a : b);
}
#endif

/* Operands z, index, x without the axis; steps along it apart. */
kernel void scatter(BYTES z, CONST_BYTES index, CONST_BYTES x, nest t, long n, long z_step, long index_step,
                    long x_step)
{
    const ulong i = get_global_id(0);
    if (i >= (ulong)t.count) return;
    long at[3] = { t.base[0], t.base[1], t.base[2] };
    place(&t, i, at, 3);
    for (long j = 0; j < n; j++) {
        const long to = AT_CONST(long, index + at[1] + j * index_step);
        put(z + at[0] + to * z_step, x + at[2] + j * x_step, DTYPE0(&t));
    }
}
