/* lines_portable.c - lines of pictures combined and spread, in plain C. */
#ifndef TSR_FREESTANDING

#include "cpu/kernels.h"
#include "image.h"

#define T float
#define SUM float
#define NAME(x) x##_f32
#include "lines_portable.inc"
#undef T
#undef NAME

#define T uint8_t
#define NAME(x) x##_u8
#include "lines_portable.inc"
#undef T
#undef SUM
#undef NAME

#define T double
#define SUM double
#define NAME(x) x##_f64
#include "lines_portable.inc"

/* Adding 1.5 * 2^23 rounds a number of 0 .. 255 to a whole one, halves to even. */
static uint8_t byte_of(float x)
{
    const float low = x > 0 ? x : 0, held = low < 255 ? low : 255;
    const union { float f; uint32_t u; } rounded = { held + 0x1.8p23f };
    return (uint8_t)rounded.u;
}

static void to_bytes(uint8_t *z, const float *x, int64_t n)
{
    for (int64_t i = 0; i < n; i++) z[i] = byte_of(x[i]);
}

static void combine_bytes(uint8_t *z, const void *const *row, const float *weight, int64_t taps, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        float sum = 0;
        for (int64_t t = 0; t < taps; t++) sum += weight[t] * ((const float *)row[t])[i];
        z[i] = byte_of(sum);
    }
}

static const tsri_image_kernels plain_lines = {
    .combine = { [TSRI_LINE_F32] = combine_f32, [TSRI_LINE_F64] = combine_f64, [TSRI_LINE_U8] = combine_u8 },
    .spread = { [TSRI_LINE_F32] = spread_f32, [TSRI_LINE_F64] = spread_f64, [TSRI_LINE_U8] = spread_u8 },
    .combine_bytes = combine_bytes,
    .to_bytes = to_bytes,
};

void tsri_cpu_image_portable(tsri_cpu_kernels *k) { k->image = &plain_lines; }

#endif
