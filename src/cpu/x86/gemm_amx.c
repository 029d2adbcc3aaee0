/* gemm_amx.c - products of bf16 and of bytes in tile registers: 16 rows of 64 bytes each.
 *
 * A tile of a has, in each row, 64 bytes of neighbouring indices of k. A tile of b has, in each
 * of its 16 rows, the pairs or fours of 16 columns. Their product is 16 x 16 sums. So an element
 * of a panel is 64 bytes, 32 indices of bf16 or 64 of bytes, and a micro-tile has up to two by two
 * tiles of sums, which stay in registers over a block of k. Subnormal bf16 count as 0. */
#define ISA(name) name##_amx
#include "core/lock.h"
#include "core/mem.h"
#include "cpu/gemm/gemm.h"
#include "cpu/kernels.h"
#include "cpu/simd/avx512.h"
#include "cpu/x86/pack_fours.inc"
#include "cpu/x86/pack_pairs_16.inc"

enum { LINE = 64, HEIGHT = 16, SIDE = 16, BLOCK_BYTES = 4096 };

/* Tiles ------------------------------------------------------------------------------------- */

/* 0 .. 3 hold sums: left and right of the higher rows, then of the lower ones; 4 and 5 a's higher and
 * lower rows; 6 and 7 b's left and right columns. */

/* The layout that _tile_loadconfig reads. */
typedef struct shapes {
    uint8_t  palette, start_row, reserved[14];
    uint16_t bytes[16];
    uint8_t  rows[16];
} shapes;
_Static_assert(sizeof(shapes) == LINE, "the processor reads 64 bytes");

/* Setting shapes takes as long as several products: they stay set between begin_tiles() and end_tiles(). */
static TSRI_PER_THREAD int64_t shaped;

static void ISA(begin_tiles)(void) { shaped = 0; }
static void ISA(end_tiles)(void) { _tile_release(); }

/* Sums and a of `high` rows, and of `low` more if that is not 0. */
static void ISA(set_shapes)(int64_t high, int64_t low)
{
    if (shaped == high + low) return;
    shaped = high + low;
    _Alignas(LINE) shapes s = { .palette = 1 };
    const int64_t rows[8] = { high, high, low, low, high, low, SIDE, SIDE };
    for (int i = 0; i < 8; i++) {
        s.rows[i] = (uint8_t)rows[i];
        s.bytes[i] = rows[i] ? LINE : 0;
    }
    __asm__ volatile("" : : "r"(&s) : "memory");  /* the compiler must write all of it */
    _tile_loadconfig(&s);
}

/* Both operands are read from the core's L2 cache, which keeps up with the tiles. So a block of k is long,
 * and what is prefetched goes to that cache and not to L1. */

/* One kind of product: PRODUCT(z, a, b) adds it to the sums in tile z. */
#define MICROKERNELS(name, PRODUCT) \
    static TSRI_ALWAYS_INLINE void ISA(sum_##name)(const tsri_gemm_strip *s, int64_t high, const bool tall, \
                                              const bool wide) \
    { \
        const char *a = s->a, *b = s->b, *const *ahead = s->ahead; \
        const int64_t lines = ahead ? s->lines : 0; \
        char *z = s->z, *low = s->z + high * s->z_row; \
        const int64_t line = wide ? 2 * LINE : LINE, a_row = s->a_row, a_low = high * a_row; \
        if (s->add) { \
            _tile_loadd(0, z, s->z_row); \
            if (wide) _tile_loadd(1, z + LINE, s->z_row); \
            if (tall) _tile_loadd(2, low, s->z_row); \
            if (tall && wide) _tile_loadd(3, low + LINE, s->z_row); \
        } else { \
            _tile_zero(0); \
            if (wide) _tile_zero(1); \
            if (tall) _tile_zero(2); \
            if (tall && wide) _tile_zero(3); \
        } \
        for (int64_t p = 0; p < s->k; p++, a += s->a_col, b += s->b_row) { \
            _tile_loadd(4, a, a_row); \
            _tile_loadd(6, b, line); \
            PRODUCT(0, 4, 6); \
            if (wide) _tile_loadd(7, b + LINE, line); \
            if (wide) PRODUCT(1, 4, 7); \
            for (int64_t i = 0; i < lines; i++) _mm_prefetch(ahead[i] + p * LINE, _MM_HINT_T1); \
            if (tall) _tile_loadd(5, a + a_low, a_row); \
            if (tall) PRODUCT(2, 5, 6); \
            if (tall && wide) PRODUCT(3, 5, 7); \
        } \
        _tile_stored(0, z, s->z_row); \
        if (wide) _tile_stored(1, z + LINE, s->z_row); \
        if (tall) _tile_stored(2, low, s->z_row); \
        if (tall && wide) _tile_stored(3, low + LINE, s->z_row); \
    } \
 \
    static void ISA(microkernel_##name)(tsri_gemm_strip *s) \
    { \
        const int64_t high = s->rows < HEIGHT ? s->rows : HEIGHT; \
        const bool tall = s->rows > high, wide = s->b_row > SIDE * LINE; \
        ISA(set_shapes)(high, s->rows - high); \
        if (tall && wide) ISA(sum_##name)(s, high, true, true); \
        else if (tall)    ISA(sum_##name)(s, high, true, false); \
        else if (wide)    ISA(sum_##name)(s, high, false, true); \
        else              ISA(sum_##name)(s, high, false, false); \
    } \
    static const tsri_gemm_microkernels microkernels_##name[] = { \
        { SIDE, 2 * HEIGHT, { NULL, EACH_ROW(ISA(microkernel_##name)) } }, \
        { 2 * SIDE, 2 * HEIGHT, { NULL, EACH_ROW(ISA(microkernel_##name)) } }, { 0 } \
    };

#define EIGHT(f) f, f, f, f, f, f, f, f
#define EACH_ROW(f) EIGHT(f), EIGHT(f), EIGHT(f), EIGHT(f)

MICROKERNELS(bf16, _tile_dpbf16ps)
MICROKERNELS(s8, _tile_dpbssd)
MICROKERNELS(u8, _tile_dpbusd)

/* Panels ------------------------------------------------------------------------------------ */

/* b: lines of pairs or fours, of 4 * width bytes. Adds lines of zeros to make whole tiles. */
static void ISA(fill_tiles)(void *panel, int64_t lines, int64_t width)
{
    const int64_t whole = (lines + SIDE - 1) / SIDE * SIDE;
    memset((char *)panel + lines * 4 * width, 0, (size_t)((whole - lines) * 4 * width));
}

static void ISA(pack_pairs)(void *panel, const char *src, int64_t step, int64_t step_k, int64_t n, int64_t k,
                            int width)
{
    ISA(pack_pairs_16)(panel, src, step, step_k, n, k, width);
    ISA(fill_tiles)(panel, (k + 1) / 2, width);
}

static void ISA(pack_fours)(void *panel, const char *src, int64_t step, int64_t step_k, int64_t n, int64_t k,
                            int width)
{
    ISA(pack_bytes)(panel, src, step, step_k, n, k, width);
    ISA(fill_tiles)(panel, (k + 3) / 4, width);
}

/* a: rows side by side, each with 64 bytes of indices. */
typedef void lines_fn(void *panel, const char *src, int64_t step, int64_t step_k, int64_t n, int64_t k,
                      int width);

/* Rows have unit stride: they are packed in pairs or fours as b's panels are, and then transposed. */
static void ISA(pack_transposed)(char *z, const char *src, int64_t step_k, int64_t n, int64_t k,
                                 int64_t width, const int64_t size, lines_fn *lines_of)
{
    enum { ROWS = 2 * HEIGHT };
    _Alignas(LINE) uint32_t lines[SIDE][ROWS];
    const int64_t group = LINE / size;
    for (; k > 0; k -= group, src += group * step_k, z += width * LINE) {
        lines_of(lines, src, size, step_k, n, k < group ? k : group, ROWS);
        for (int64_t i = 0; i < width; i += 4)
            for (int64_t p = 0; p < SIDE; p += 4) {
                __m128i v[4];
                transpose_four(v, (const char *)&lines[p][i], sizeof lines[p]);
                for (int64_t q = 0; q < 4 && i + q < width; q++)
                    _mm_storeu_si128((__m128i *)(void *)(z + (i + q) * LINE + 4 * p), v[q]);
            }
    }
}

static void ISA(pack_rows)(char *z, const char *src, int64_t step, int64_t step_k, int64_t n, int64_t k,
                           int64_t width, const int64_t size)
{
    const int64_t group = LINE / size;
    for (; k > 0; k -= group, src += group * step_k, z += width * LINE) {
        const int64_t there = k < group ? k : group;
        for (int64_t i = 0; i < width; i++) {
            char *row = z + i * LINE;
            const char *from = src + i * step;
            if (i < n && step_k == size) {
                vi_store(row, vi_load_bytes(from, there * size));
                continue;
            }
            vi_store(row, vi_set(0));
            for (int64_t p = 0; i < n && p < there; p++)
                memcpy(row + p * size, from + p * step_k, (size_t)size);
        }
    }
}

static void ISA(pack_rows_2)(void *panel, const char *src, int64_t step, int64_t step_k, int64_t n, int64_t k,
                             int width)
{
    if (step == 2 && step_k != 2) ISA(pack_transposed)(panel, src, step_k, n, k, width, 2, ISA(pack_pairs));
    else                          ISA(pack_rows)(panel, src, step, step_k, n, k, width, 2);
}

static void ISA(pack_rows_1)(void *panel, const char *src, int64_t step, int64_t step_k, int64_t n, int64_t k,
                             int width)
{
    if (step == 1 && step_k != 1) ISA(pack_transposed)(panel, src, step_k, n, k, width, 1, ISA(pack_fours));
    else                          ISA(pack_rows)(panel, src, step, step_k, n, k, width, 1);
}

/* Tables ------------------------------------------------------------------------------------- */

typedef tsri_gemm_dtype table[TSR_DTYPE_COUNT];
static table bf16_left, bf16_right, s8_left, s8_right, u8_left, u8_right;

/* A copy of the dtypes of another class, which stores the same sums; but `dtype` is packed by `pack`, and
 * only `sum` is native. */
static void fill(tsri_gemm_dtype *to, const tsri_gemm_dtype *from, tsr_dtype dtype, tsri_gemm_pack_fn pack,
                 tsr_dtype sum)
{
    for (int i = 0; i < TSR_DTYPE_COUNT; i++) {
        to[i] = from[i];
        to[i].native = i == (int)sum;
        to[i].rows = NULL;
    }
    to[dtype].pack = pack;
}

void tsri_cpu_gemm_amx(tsri_cpu_kernels *k);
void tsri_cpu_gemm_amx(tsri_cpu_kernels *k)
{
    const tsri_gemm_kernels tiles = { .element = LINE, .sum = 4, .panel = 2 * SIDE, .writes = SIDE,
                                  .packed_only = true, .whole_rows = true,
                                  .begin = ISA(begin_tiles), .end = ISA(end_tiles) };
    tsri_gemm_kernels *bf16 = &k->gemm[TSRI_GEMM_BF16], *s8 = &k->gemm[TSRI_GEMM_S8],
                      *u8 = &k->gemm[TSRI_GEMM_U8];
    fill(bf16_left, k->gemm[TSRI_GEMM_F32].dtypes, TSR_BF16, ISA(pack_rows_2), TSR_F32);
    fill(bf16_right, k->gemm[TSRI_GEMM_F32].dtypes, TSR_BF16, ISA(pack_pairs), TSR_F32);
    fill(s8_left, tsri_gemm_dtypes, TSR_I8, ISA(pack_rows_1), TSR_I32);
    fill(s8_right, tsri_gemm_dtypes, TSR_I8, ISA(pack_fours), TSR_I32);
    fill(u8_left, tsri_gemm_dtypes, TSR_U8, ISA(pack_rows_1), TSR_I32);
    fill(u8_right, tsri_gemm_dtypes, TSR_I8, ISA(pack_fours), TSR_I32);
    *bf16 = *s8 = *u8 = tiles;
    bf16->group = LINE / 2;
    s8->group = u8->group = LINE;
    bf16->block = BLOCK_BYTES / 2;
    s8->block = u8->block = BLOCK_BYTES;
    bf16->microkernels = microkernels_bf16;
    s8->microkernels = microkernels_s8;
    u8->microkernels = microkernels_u8;
    bf16->dtypes = bf16_left, bf16->right = bf16_right;
    s8->dtypes = s8_left, s8->right = s8_right;
    u8->dtypes = u8_left, u8->right = u8_right;
}
