/* elementwise.cl - ops over a nest, NIN operands each: the functions of float.cl, integer.cl, complex.cl
 * and pattern.cl. A program is for one op, with OP as its function, or, so that few programs do for
 * short tensors, for a group of ops alike, EACH_OP(X), of which `which` says the one.
 *
 *     RESULT_BOOL   the function gives bools
 *     RESULT_REAL   the function gives the real dtype of a complex one
 *     PARAMS        it takes two numbers more, as `extra`
 */

#if NIN == 1
#define OPERANDS CONST_BYTES x
#define VALUES(dtype, i1, i2, i3) LOAD(x + (i1), dtype)
#elif NIN == 2
#define OPERANDS CONST_BYTES x, CONST_BYTES y
#define VALUES(dtype, i1, i2, i3) LOAD(x + (i1), dtype), LOAD(y + (i2), dtype)
#else
#define OPERANDS CONST_BYTES x, CONST_BYTES y, CONST_BYTES w
#define VALUES(dtype, i1, i2, i3) LOAD(x + (i1), dtype), LOAD(y + (i2), dtype), LOAD(w + (i3), dtype)
#endif

#ifdef PARAMS
#define MORE , wide first, wide second, long whole
#define EXTRA , ((extra){ first, second, whole })
#else
#define MORE
#define EXTRA
#endif

#if NIN == 1
#define NAMES x
#define TYPED value x
#elif NIN == 2
#define NAMES x, y
#define TYPED value x, value y
#else
#define NAMES x, y, w
#define TYPED value x, value y, value w
#endif

#ifdef EACH_OP
#if defined(RESULT_BOOL)
typedef int result;
#elif defined(RESULT_REAL)
typedef wide result;
#else
typedef value result;
#endif
#define CASE(ID, name) case O_##ID: return op_##name(NAMES);
static inline result any_op(int which, TYPED)
{
    switch (which) {
        EACH_OP(CASE)
    default: return (result)0;
    }
}
#define WHICH , int which
#else
#define WHICH
#endif

#if defined(RESULT_BOOL)
#define PUT(p, dtype, v) (*(p) = (v) ? 1 : 0)
#elif defined(RESULT_REAL)
#define PUT(p, dtype, v) store_real(p, dtype, v)
#else
#define PUT(p, dtype, v) STORE(p, dtype, v)
#endif

/* What knows its operand's dtype takes it first. */
#if defined(EACH_OP)
#define CALL(dtype, ...) any_op(which, __VA_ARGS__)
#elif defined(BY_DTYPE)
#define CALL(dtype, ...) OP(dtype, __VA_ARGS__ EXTRA)
#else
#define CALL(dtype, ...) OP(__VA_ARGS__ EXTRA)
#endif

kernel void strided(BYTES z, OPERANDS, nest t MORE WHICH)
{
    const ulong i = get_global_id(0);
    if (i >= (ulong)t.count) return;
    long at[NIN + 1];
    for (int k = 0; k <= NIN; k++) at[k] = t.base[k];
    place(&t, i, at, NIN + 1);
    const int from = DTYPE1(&t);
    PUT(z + at[0], DTYPE0(&t), CALL(from, VALUES(from, at[1], at[NIN > 1 ? 2 : 1], at[NIN > 2 ? 3 : 1])));
}

/* All operands have unit stride. */
kernel void packed(BYTES z, OPERANDS, nest t MORE WHICH)
{
    const long i = (long)get_global_id(0);
    if (i >= t.count) return;
    const int from = DTYPE1(&t);
    const long step = i * size_of(from);
    PUT(z + t.base[0] + i * size_of(DTYPE0(&t)), DTYPE0(&t),
        CALL(from, VALUES(from, t.base[1] + step, t.base[2] + step, t.base[3] + step)));
}
