/* matmul.cl - products of matrices of any strides, in batches.
 *
 *     SUMS_FLOAT    f8 f16 bf16 f32       float
 *     SUMS_DOUBLE   f64                   double
 *     SUMS_U32      i8 .. i32, u8 .. u32  uint: sums wrap, signed and unsigned alike
 *     SUMS_U64      i64, u64              ulong
 *     SUMS_CFLOAT   c64                   float2
 *     SUMS_CDOUBLE  c128                  double2
 *
 * A sum over k is taken in blocks of BLOCK indices, each from 0, and then over the blocks. */

#define BLOCK 256
#define SIDE 8          /* work items of a side of a group */
#define EACH 4          /* rows and columns of a work item */
#define TILE (SIDE * EACH)
#define DEPTH 16        /* indices of k in local memory */

/* a * b + s in one step, where the device has it; doubles always do. */
#if defined(SUMS_DOUBLE) || defined(SUMS_CDOUBLE)
#define FUSED(a, b, s) fma((a), (b), (s))
#elif defined(HAS_FMA) && (defined(SUMS_FLOAT) || defined(SUMS_CFLOAT))
#define FUSED(a, b, s) fma((a), (b), (s))
#else
#define FUSED(a, b, s) ((s) + (a) * (b))
#endif

#if defined(SUMS_FLOAT)
typedef float sum;
#define READ load_float
#elif defined(SUMS_DOUBLE)
typedef double sum;
#define READ(p, dtype) AT_CONST(double, p)
#elif defined(SUMS_U64)
typedef ulong sum;
#define READ(p, dtype) AT_CONST(ulong, p)
#elif defined(SUMS_U32)
typedef uint sum;
static inline uint READ(CONST_BYTES p, int dtype)
{
    switch (dtype) {
    case T_I8:  return (uint)(int)AT_CONST(char, p);
    case T_I16: return (uint)(int)AT_CONST(short, p);
    case T_U8:  return (uint)*p;
    case T_U16: return (uint)AT_CONST(ushort, p);
    default:    return AT_CONST(uint, p);
    }
}
#elif defined(SUMS_CFLOAT)
typedef float2 sum;
#define READ load_cfloat
#else
typedef double2 sum;
#define READ load_complex
#endif

/* What a block has come to. A real part takes both products of an index of k in turn; those of an
 * imaginary part are summed apart, and added at the end of a block, as the CPU does it. */
#if defined(SUMS_CFLOAT)
typedef float4 block_sum;
#elif defined(SUMS_CDOUBLE)
typedef double4 block_sum;
#else
typedef sum block_sum;
#endif

#if defined(SUMS_CFLOAT) || defined(SUMS_CDOUBLE)
static inline block_sum add_product(block_sum s, sum a, sum b)
{
    s.x = FUSED(-a.y, b.y, FUSED(a.x, b.x, s.x));
    s.y = FUSED(a.x, b.y, s.y);
    s.z = FUSED(a.y, b.x, s.z);
    return s;
}

static inline sum end_block(block_sum s) { return (sum)(s.x, s.y + s.z); }
#else
static inline block_sum add_product(block_sum s, sum a, sum b) { return FUSED(a, b, s); }
static inline sum end_block(block_sum s) { return s; }
#endif

/* alpha * sum + beta * c; plain: alpha is 1 and there is no c. */
typedef struct scale {
    wide2 alpha, beta;
    ulong int_alpha, int_beta;
    int   is_plain, has_c;
} scale;

static inline void finish(BYTES z, CONST_BYTES c, int dtype, sum s, scale f)
{
#if defined(SUMS_U32) || defined(SUMS_U64)
    ulong v = (ulong)s;
    if (!f.is_plain) v = f.int_alpha * v + (f.has_c ? f.int_beta * (ulong)READ(c, dtype) : 0ul);
    store_integer(z, dtype, v);
#elif defined(SUMS_CFLOAT) || defined(SUMS_CDOUBLE)
    wide2 v = (wide2)((wide)s.x, (wide)s.y);
    if (!f.is_plain) {
        v = (wide2)(f.alpha.x * v.x - f.alpha.y * v.y, f.alpha.x * v.y + f.alpha.y * v.x);
        if (f.has_c) {
            const wide2 had = load_complex(c, dtype);
            v += (wide2)(f.beta.x * had.x - f.beta.y * had.y, f.beta.x * had.y + f.beta.y * had.x);
        }
    }
    store_complex(z, dtype, v);
#else
    wide v = (wide)s;
    if (!f.is_plain) {
        v = f.alpha.x * v;
        if (f.has_c) v += f.beta.x * (wide)READ(c, dtype);
    }
    store_real(z, dtype, v);
#endif
}

#define ARGUMENTS \
    BYTES z, CONST_BYTES a, CONST_BYTES b, CONST_BYTES c, nest t, ulong first, long m, long n, long k, \
        long z_row, long z_col, long a_row, long a_col, long b_row, long b_col, long c_row, long c_col, \
        scale f

/* A work group for each TILE x TILE of a result. The nest has the batch dims: z, a, b, c. */
kernel __attribute__((reqd_work_group_size(SIDE, SIDE, 1))) void tiled(ARGUMENTS)
{
    local sum left[DEPTH][TILE + 1], right[DEPTH][TILE + 1];
    const int lx = (int)get_local_id(0), ly = (int)get_local_id(1), l = ly * SIDE + lx;
    const long row = (long)get_group_id(1) * TILE, col = (long)get_group_id(0) * TILE;
    long at[4] = { t.base[0], t.base[1], t.base[2], t.base[3] };
    sum total[EACH][EACH];
    block_sum block[EACH][EACH];
    place(&t, first + get_group_id(2), at, 4);
    for (int i = 0; i < EACH; i++)
        for (int j = 0; j < EACH; j++) {
            total[i][j] = (sum)0;
            block[i][j] = (block_sum)0;
        }
    for (long p = 0; p < k; p += DEPTH) {
        for (int e = l; e < DEPTH * TILE; e += SIDE * SIDE) {
            /* Neighbours in memory are fetched by neighbouring work items. */
            const int d1 = a_col <= a_row ? e % DEPTH : e / TILE, r = a_col <= a_row ? e / DEPTH : e % TILE;
            const int d2 = b_row < b_col ? e % DEPTH : e / TILE, s = b_row < b_col ? e / DEPTH : e % TILE;
            left[d1][r] = p + d1 < k && row + r < m
                              ? READ(a + at[1] + (row + r) * a_row + (p + d1) * a_col, t.dtype[1]) : (sum)0;
            right[d2][s] = p + d2 < k && col + s < n
                               ? READ(b + at[2] + (p + d2) * b_row + (col + s) * b_col, t.dtype[2]) : (sum)0;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        const int depth = (int)min((long)DEPTH, k - p);
        for (int d = 0; d < depth; d++)
            for (int i = 0; i < EACH; i++)
                for (int j = 0; j < EACH; j++)
                    block[i][j] = add_product(block[i][j], left[d][ly + SIDE * i], right[d][lx + SIDE * j]);
        if ((p + DEPTH) % BLOCK == 0 || p + DEPTH >= k)
            for (int i = 0; i < EACH; i++)
                for (int j = 0; j < EACH; j++) {
                    total[i][j] += end_block(block[i][j]);
                    block[i][j] = (block_sum)0;
                }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    for (int i = 0; i < EACH; i++)
        for (int j = 0; j < EACH; j++) {
            const long r = row + ly + SIDE * i, s = col + lx + SIDE * j;
            if (r < m && s < n)
                finish(z + at[0] + r * z_row + s * z_col, c + at[3] + r * c_row + s * c_col, t.dtype[0],
                       total[i][j], f);
        }
}

/* A work group for each element of a result: for few rows or columns. */
kernel void thin(ARGUMENTS, local sum *shared)
{
    const int l = (int)get_local_id(0), width = (int)get_local_size(0);
    const long r = (long)get_group_id(0) / n, s = (long)get_group_id(0) % n;
    long at[4] = { t.base[0], t.base[1], t.base[2], t.base[3] };
    block_sum total = (block_sum)0;
    place(&t, first + get_group_id(2), at, 4);
    for (long p = l; p < k; p += width) {
        const sum x = READ(a + at[1] + r * a_row + p * a_col, t.dtype[1]);
        const sum y = READ(b + at[2] + p * b_row + s * b_col, t.dtype[2]);
        total = add_product(total, x, y);
    }
    shared[l] = end_block(total);
    for (int half_width = width / 2; half_width > 0; half_width /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l < half_width) shared[l] += shared[l + half_width];
    }
    if (l == 0)
        finish(z + at[0] + r * z_row + s * z_col, c + at[3] + r * c_row + s * c_col, t.dtype[0], shared[0],
               f);
}

/* Panels: for devices that are processors ------------------------------------------------------------
 *
 * Operands are laid out first as a work item reads them: panels of `width` rows of a, or columns of b,
 * index of k by index of k, filled up with zeros; of complex numbers the real parts and then the
 * imaginary ones. */

#if defined(SUMS_FLOAT) || defined(SUMS_CFLOAT)
typedef float part;
typedef float16 parts;
#define WIDTH 16
#define LOAD_PARTS vload16
#define STORE_PARTS vstore16
#elif defined(SUMS_U32)
typedef uint part;
typedef uint16 parts;
#define WIDTH 16
#define LOAD_PARTS vload16
#define STORE_PARTS vstore16
#elif defined(SUMS_U64)
typedef ulong part;
typedef ulong8 parts;
#define WIDTH 8
#define LOAD_PARTS vload8
#define STORE_PARTS vstore8
#else
typedef double part;
typedef double8 parts;
#define WIDTH 8
#define LOAD_PARTS vload8
#define STORE_PARTS vstore8
#endif

#if defined(SUMS_CFLOAT) || defined(SUMS_CDOUBLE)
#define COMPLEX_PARTS 2
#define HEIGHT 4
#else
#define COMPLEX_PARTS 1
#define HEIGHT 8
#endif

/* Operand `which` of the nest, `n` rows or columns `across` bytes apart. */
kernel void pack(global part *panels, CONST_BYTES x, nest t, ulong first, int which, long n, long k,
                 long across, long along, int width)
{
    const long p = (long)get_global_id(0), panel = (long)get_global_id(1);
    if (p >= k) return;
    long at[4] = { t.base[0], t.base[1], t.base[2], t.base[3] };
    place(&t, first + get_global_id(2), at, 4);
    global part *to = panels + (((long)get_global_id(2) * (long)get_global_size(1) + panel) * k + p) * width *
                                   COMPLEX_PARTS;
    for (int i = 0; i < width; i++) {
        const long row = panel * width + i;
        const sum v = row < n ? READ(x + at[which] + row * across + p * along, t.dtype[which]) : (sum)0;
#if COMPLEX_PARTS == 2
        to[i] = v.x;
        to[width + i] = v.y;
#else
        to[i] = v;
#endif
    }
}

/* A work item for each HEIGHT x WIDTH of a result; a and b are panels. */
kernel void panels(BYTES z, global const part *a, global const part *b, CONST_BYTES c, nest t, ulong first,
                   long m, long n, long k, long z_row, long z_col, long c_row, long c_col, scale f)
{
    const long col = (long)get_global_id(0), row = (long)get_global_id(1), batch = (long)get_global_id(2);
    global const part *left = a + (batch * (long)get_global_size(1) + row) * k * HEIGHT * COMPLEX_PARTS;
    global const part *right = b + (batch * (long)get_global_size(0) + col) * k * WIDTH * COMPLEX_PARTS;
    parts total[HEIGHT * COMPLEX_PARTS];
    part line[WIDTH * COMPLEX_PARTS];
    long at[4] = { t.base[0], t.base[1], t.base[2], t.base[3] };
    place(&t, first + (ulong)batch, at, 4);
    for (int i = 0; i < HEIGHT * COMPLEX_PARTS; i++) total[i] = (parts)0;
    for (long from = 0; from < k; from += BLOCK) {
        parts block[HEIGHT * (2 * COMPLEX_PARTS - 1)];
        const long to = min(from + BLOCK, k);
        for (int i = 0; i < HEIGHT * (2 * COMPLEX_PARTS - 1); i++) block[i] = (parts)0;
        for (long p = from; p < to; p++) {
#if COMPLEX_PARTS == 2
            const parts re = LOAD_PARTS(2 * p, right), im = LOAD_PARTS(2 * p + 1, right);
            for (int i = 0; i < HEIGHT; i++) {
                const parts x = (parts)left[2 * HEIGHT * p + i], y = (parts)left[2 * HEIGHT * p + HEIGHT + i];
                block[i] = FUSED(-y, im, FUSED(x, re, block[i]));
                block[HEIGHT + i] = FUSED(x, im, block[HEIGHT + i]);
                block[2 * HEIGHT + i] = FUSED(y, re, block[2 * HEIGHT + i]);
            }
#else
            const parts y = LOAD_PARTS(p, right);
            for (int i = 0; i < HEIGHT; i++) block[i] = FUSED((parts)left[HEIGHT * p + i], y, block[i]);
#endif
        }
#if COMPLEX_PARTS == 2
        for (int i = HEIGHT; i < 2 * HEIGHT; i++) block[i] += block[HEIGHT + i];
#endif
        for (int i = 0; i < HEIGHT * COMPLEX_PARTS; i++) total[i] += block[i];
    }
    for (int i = 0; i < HEIGHT && row * HEIGHT + i < m; i++) {
        const long r = row * HEIGHT + i;
        STORE_PARTS(total[i], 0, line);
#if COMPLEX_PARTS == 2
        STORE_PARTS(total[HEIGHT + i], 1, line);
#endif
        for (int j = 0; j < WIDTH && col * WIDTH + j < n; j++) {
            const long s = col * WIDTH + j;
#if COMPLEX_PARTS == 2
            const sum v = (sum)(line[j], line[WIDTH + j]);
#else
            const sum v = line[j];
#endif
            finish(z + at[0] + r * z_row + s * z_col, c + at[3] + r * c_row + s * c_col, t.dtype[0], v, f);
        }
    }
}
