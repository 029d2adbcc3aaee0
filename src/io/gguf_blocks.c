/* gguf_blocks.c - the encodings of gguf, and how floats become blocks. Everything is computed in f32. */
#include "core/half.h"
#include "gguf_blocks.h"
#include "tessera/ops/quant.h"

static inline void set_half(unsigned char *p, float v)
{
    const uint16_t h = tsr_f32_to_f16(v);
    p[0] = (unsigned char)h;
    p[1] = (unsigned char)(h >> 8);
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

#define PLAIN(name, number, DTYPE, bytes) { name, number, TSR_##DTYPE, 1, bytes, -1, NULL }
#define UNREAD(name, number, elements, bytes) { name, number, TSR_DTYPE_INVALID, elements, bytes, -1, NULL }
#define encode_of(kind) \
    ((kind) == TSR_BLOCKS_Q8_0 ? encode_q8_0 : (kind) == TSR_BLOCKS_Q4_0 ? encode_q4_0 : NULL)

/* Elements, then blocks that are computed with, then others. */
static const tsri_gguf_type types[] = {
    PLAIN("f32", 0, F32, 4), PLAIN("f16", 1, F16, 2), PLAIN("i8", 24, I8, 1), PLAIN("i16", 25, I16, 2),
    PLAIN("i32", 26, I32, 4), PLAIN("i64", 27, I64, 8), PLAIN("f64", 28, F64, 8), PLAIN("bf16", 30, BF16, 2),
#define X(ID, name, number, elements, bytes) \
    { name, number, TSR_DTYPE_INVALID, elements, bytes, TSR_BLOCKS_##ID, encode_of(TSR_BLOCKS_##ID) },
#include "core/blocks.def"
#undef X
    UNREAD("q8_1", 9, 32, 40), UNREAD("iq2_xxs", 16, 256, 66), UNREAD("iq2_xs", 17, 256, 74),
    UNREAD("iq3_xxs", 18, 256, 98), UNREAD("iq1_s", 19, 256, 50), UNREAD("iq3_s", 21, 256, 110),
    UNREAD("iq2_s", 22, 256, 82), UNREAD("iq1_m", 29, 256, 56),
    UNREAD("nvfp4", 40, 64, 36), UNREAD("q1_0", 41, 128, 18),
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
