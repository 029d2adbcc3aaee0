/* gguf_blocks.c - blocks of quantised numbers.
 *
 * A block has one scale for all its elements, or (the _K types, 256 elements) a scale for
 * the block and small ones, of a few bits, for parts of it. Everything is computed in f32. */
#include "core/half.h"
#include "core/mem.h"
#include "gguf_blocks.h"

static inline float half_at(const unsigned char *p) { return tsr_f16_to_f32((uint16_t)(p[0] | p[1] << 8)); }

static inline void set_half(unsigned char *p, float v)
{
    const uint16_t h = tsr_f32_to_f16(v);
    p[0] = (unsigned char)h;
    p[1] = (unsigned char)(h >> 8);
}

static inline float signed_at(const unsigned char *p) { return (float)(signed char)*p; }

/* 32 elements -----------------------------------------------------------------------------
 *
 * Four bits of element i are the low half of byte i, those of element i + 16 its high half. */

static void decode_q4_0(float *y, const unsigned char *p, int64_t n)
{
    for (; n > 0; n--, p += 18, y += 32) {
        const float d = half_at(p);
        for (int i = 0; i < 16; i++) {
            y[i] = (float)((p[2 + i] & 15) - 8) * d;
            y[i + 16] = (float)((p[2 + i] >> 4) - 8) * d;
        }
    }
}

static void decode_q4_1(float *y, const unsigned char *p, int64_t n)
{
    for (; n > 0; n--, p += 20, y += 32) {
        const float d = half_at(p), m = half_at(p + 2);
        for (int i = 0; i < 16; i++) {
            y[i] = (float)(p[4 + i] & 15) * d + m;
            y[i + 16] = (float)(p[4 + i] >> 4) * d + m;
        }
    }
}

/* The fifth bit of element i is bit i of four bytes. */
static inline int fifth(const unsigned char *bits, int i) { return (bits[i / 8] >> i % 8 & 1) << 4; }

static void decode_q5_0(float *y, const unsigned char *p, int64_t n)
{
    for (; n > 0; n--, p += 22, y += 32) {
        const float d = half_at(p);
        for (int i = 0; i < 16; i++) {
            y[i] = (float)(((p[6 + i] & 15) | fifth(p + 2, i)) - 16) * d;
            y[i + 16] = (float)(((p[6 + i] >> 4) | fifth(p + 2, i + 16)) - 16) * d;
        }
    }
}

static void decode_q5_1(float *y, const unsigned char *p, int64_t n)
{
    for (; n > 0; n--, p += 24, y += 32) {
        const float d = half_at(p), m = half_at(p + 2);
        for (int i = 0; i < 16; i++) {
            y[i] = (float)((p[8 + i] & 15) | fifth(p + 4, i)) * d + m;
            y[i + 16] = (float)((p[8 + i] >> 4) | fifth(p + 4, i + 16)) * d + m;
        }
    }
}

static void decode_q8_0(float *y, const unsigned char *p, int64_t n)
{
    for (; n > 0; n--, p += 34, y += 32) {
        const float d = half_at(p);
        for (int i = 0; i < 32; i++) y[i] = signed_at(p + 2 + i) * d;
    }
}

static void decode_iq4_nl(float *y, const unsigned char *p, int64_t n)
{
    static const signed char level[16] = { -127, -104, -83, -65, -49, -35, -22, -10,
                                           1,    13,   25,  38,  53,  69,  89,  113 };
    for (; n > 0; n--, p += 18, y += 32) {
        const float d = half_at(p);
        for (int i = 0; i < 16; i++) {
            y[i] = d * (float)level[p[2 + i] & 15];
            y[i + 16] = d * (float)level[p[2 + i] >> 4];
        }
    }
}

/* 256 elements ------------------------------------------------------------------------- */

/* Eight scales and eight minima of six bits in twelve bytes: of the first four the low six bits
 * of a byte each, of the others four bits there and two in what is left of the first. */
static void scales_of_six(const unsigned char *p, int i, int *scale, int *minimum)
{
    if (i < 4) {
        *scale = p[i] & 63;
        *minimum = p[i + 4] & 63;
    } else {
        *scale = (p[i + 4] & 15) | (p[i - 4] >> 6) << 4;
        *minimum = (p[i + 4] >> 4) | (p[i] >> 6) << 4;
    }
}

static void decode_q4_k(float *y, const unsigned char *p, int64_t n)
{
    for (; n > 0; n--, p += 144) {
        const float d = half_at(p), m = half_at(p + 2);
        for (int part = 0; part < 8; part++, y += 32) {
            const unsigned char *q = p + 16 + part / 2 * 32;
            int scale, minimum;
            scales_of_six(p + 4, part, &scale, &minimum);
            const float ds = d * (float)scale, ms = m * (float)minimum;
            for (int i = 0; i < 32; i++) y[i] = ds * (float)(q[i] >> part % 2 * 4 & 15) - ms;
        }
    }
}

static void decode_q5_k(float *y, const unsigned char *p, int64_t n)
{
    for (; n > 0; n--, p += 176) {
        const float d = half_at(p), m = half_at(p + 2);
        for (int part = 0; part < 8; part++, y += 32) {
            const unsigned char *q = p + 48 + part / 2 * 32, *high = p + 16;
            int scale, minimum;
            scales_of_six(p + 4, part, &scale, &minimum);
            const float ds = d * (float)scale, ms = m * (float)minimum;
            for (int i = 0; i < 32; i++)
                y[i] = ds * (float)((q[i] >> part % 2 * 4 & 15) | (high[i] >> part & 1) << 4) - ms;
        }
    }
}

/* Two halves of 128: the low four bits of four runs of 32 in 64 bytes, their high two in 32. */
static void decode_q6_k(float *y, const unsigned char *p, int64_t n)
{
    for (; n > 0; n--, p += 210) {
        const float d = half_at(p + 208);
        for (int run = 0; run < 8; run++, y += 32) {
            const int half = run / 4, r = run % 4;
            const unsigned char *low = p + half * 64 + r % 2 * 32, *high = p + 128 + half * 32;
            const unsigned char *scale = p + 192 + run * 2;
            for (int i = 0; i < 32; i++) {
                const int q = (low[i] >> r / 2 * 4 & 15) | (high[i] >> r * 2 & 3) << 4;
                y[i] = d * signed_at(scale + i / 16) * (float)(q - 32);
            }
        }
    }
}

static void decode_q2_k(float *y, const unsigned char *p, int64_t n)
{
    for (; n > 0; n--, p += 84) {
        const float d = half_at(p + 80), m = half_at(p + 82);
        for (int part = 0; part < 16; part++, y += 16) {
            const unsigned char *q = p + 16 + part / 8 * 32 + part % 2 * 16;
            const float ds = d * (float)(p[part] & 15), ms = m * (float)(p[part] >> 4);
            for (int i = 0; i < 16; i++) y[i] = ds * (float)(q[i] >> part % 8 / 2 * 2 & 3) - ms;
        }
    }
}

/* Sixteen scales of six bits in twelve bytes: low four bits first, then the high two. */
static int scale_of_q3(const unsigned char *p, int i)
{
    const int low = p[i % 8] >> i / 8 * 4 & 15, high = p[8 + i % 4] >> i / 4 * 2 & 3;
    return (low | high << 4) - 32;
}

static void decode_q3_k(float *y, const unsigned char *p, int64_t n)
{
    for (; n > 0; n--, p += 110) {
        const float d = half_at(p + 108);
        for (int part = 0; part < 16; part++, y += 16) {
            const unsigned char *q = p + 32 + part / 8 * 32 + part % 2 * 16, *high = p + part % 2 * 16;
            const float ds = d * (float)scale_of_q3(p + 96, part);
            for (int i = 0; i < 16; i++) {
                const int low = q[i] >> part % 8 / 2 * 2 & 3, bit = high[i] >> part / 2 & 1;
                y[i] = ds * (float)(low - (bit ? 0 : 4));
            }
        }
    }
}

static void decode_q8_k(float *y, const unsigned char *p, int64_t n)
{
    for (; n > 0; n--, p += 292, y += 256) {
        float d;
        memcpy(&d, p, sizeof d);
        for (int i = 0; i < 256; i++) y[i] = d * signed_at(p + 4 + i);
    }
}

/* To blocks ---------------------------------------------------------------------------- */

static float absolute(float x) { return x < 0 ? -x : x; }

/* Halves away from zero, saturated; NaN is 0. */
static int nearest(float x, int low, int high)
{
    if (!(x > (float)low)) return x <= (float)low ? low : 0;
    if (x >= (float)high) return high;
    return (int)(x < 0 ? x - 0.5f : x + 0.5f);
}

/* The element farthest from 0, which decides the scale. */
static float farthest(const float *x)
{
    float m = 0;
    for (int i = 0; i < 32; i++)
        if (absolute(x[i]) > absolute(m)) m = x[i];
    return m;
}

static void encode_q8_0(unsigned char *p, const float *x, int64_t n)
{
    for (; n > 0; n--, p += 34, x += 32) {
        const float d = absolute(farthest(x)) / 127.0f, inverse = d > 0 ? 1.0f / d : 0.0f;
        set_half(p, d);
        for (int i = 0; i < 32; i++)
            p[2 + i] = (unsigned char)(signed char)nearest(x[i] * inverse, -127, 127);
    }
}

/* The farthest becomes -8, the one value without a counterpart. */
static void encode_q4_0(unsigned char *p, const float *x, int64_t n)
{
    for (; n > 0; n--, p += 18, x += 32) {
        const float d = farthest(x) / -8.0f, inverse = d != 0 ? 1.0f / d : 0.0f;
        set_half(p, d);
        for (int i = 0; i < 16; i++) {
            const int low = nearest(x[i] * inverse + 8.0f, 0, 15),
                      high = nearest(x[i + 16] * inverse + 8.0f, 0, 15);
            p[2 + i] = (unsigned char)(low | high << 4);
        }
    }
}

/* The list ----------------------------------------------------------------------------- */

#define PLAIN(name, number, DTYPE, bytes) { name, number, TSR_##DTYPE, 1, bytes, NULL, NULL }
#define BLOCK(name, number, elements, bytes, decode, encode) \
    { name, number, TSR_DTYPE_INVALID, elements, bytes, decode, encode }

static const tsri_gguf_type types[] = {
    PLAIN("f32", 0, F32, 4), PLAIN("f16", 1, F16, 2), PLAIN("i8", 24, I8, 1), PLAIN("i16", 25, I16, 2),
    PLAIN("i32", 26, I32, 4), PLAIN("i64", 27, I64, 8), PLAIN("f64", 28, F64, 8), PLAIN("bf16", 30, BF16, 2),
    BLOCK("q4_0", 2, 32, 18, decode_q4_0, encode_q4_0), BLOCK("q4_1", 3, 32, 20, decode_q4_1, NULL),
    BLOCK("q5_0", 6, 32, 22, decode_q5_0, NULL), BLOCK("q5_1", 7, 32, 24, decode_q5_1, NULL),
    BLOCK("q8_0", 8, 32, 34, decode_q8_0, encode_q8_0), BLOCK("q8_1", 9, 32, 40, NULL, NULL),
    BLOCK("q2_K", 10, 256, 84, decode_q2_k, NULL), BLOCK("q3_K", 11, 256, 110, decode_q3_k, NULL),
    BLOCK("q4_K", 12, 256, 144, decode_q4_k, NULL), BLOCK("q5_K", 13, 256, 176, decode_q5_k, NULL),
    BLOCK("q6_K", 14, 256, 210, decode_q6_k, NULL), BLOCK("q8_K", 15, 256, 292, decode_q8_k, NULL),
    BLOCK("iq2_xxs", 16, 256, 66, NULL, NULL), BLOCK("iq2_xs", 17, 256, 74, NULL, NULL),
    BLOCK("iq3_xxs", 18, 256, 98, NULL, NULL), BLOCK("iq1_s", 19, 256, 50, NULL, NULL),
    BLOCK("iq4_nl", 20, 32, 18, decode_iq4_nl, NULL), BLOCK("iq3_s", 21, 256, 110, NULL, NULL),
    BLOCK("iq2_s", 22, 256, 82, NULL, NULL), BLOCK("iq4_xs", 23, 256, 136, NULL, NULL),
    BLOCK("iq1_m", 29, 256, 56, NULL, NULL), BLOCK("tq1_0", 34, 256, 54, NULL, NULL),
    BLOCK("tq2_0", 35, 256, 66, NULL, NULL), BLOCK("mxfp4", 39, 32, 17, NULL, NULL),
};
enum { TYPES = sizeof types / sizeof *types };

const tsri_gguf_type *tsri_gguf_type_numbered(uint32_t number)
{
    for (int i = 0; i < TYPES; i++)
        if (types[i].number == number) return &types[i];
    return NULL;
}

static char lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c; }

const tsri_gguf_type *tsri_gguf_type_named(const char *name)
{
    for (int i = 0; i < TYPES; i++) {
        size_t k = 0;
        while (name[k] && lower(name[k]) == lower(types[i].name[k])) k++;
        if (name[k] == types[i].name[k]) return &types[i];
    }
    return NULL;
}

const tsri_gguf_type *tsri_gguf_type_of(tsr_dtype dtype)
{
    for (int i = 0; i < TYPES; i++)
        if (types[i].dtype == dtype) return &types[i];
    return NULL;
}
