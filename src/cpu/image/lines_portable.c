/* lines_portable.c - lines of pictures combined and spread, in plain C. */
#ifndef TSR_FREESTANDING

#include "cpu/kernels.h"
#include "image.h"
#include "cpu/template/isa_suffix.inc"

#define T float
#define SUM float
#define NAME(x) ISA(x##_f32)
#include "lines_portable.inc"
#undef T
#undef NAME

#undef SUM

#define T double
#define SUM double
#define NAME(x) ISA(x##_f64)
#include "lines_portable.inc"

static int64_t held(int64_t x, int64_t low, int64_t high) { return x < low ? low : x > high ? high : x; }

static void spread_bytes(int16_t *z, const uint8_t *x, const tsri_byte_columns *c)
{
    const int shift = c->bits - TSRI_LINE_BITS;
    for (int64_t o = 0; o < c->out; o++)
        for (int64_t i = 0; i < c->inner; i++) {
            const uint8_t *from = x + c->first[o] * c->inner + i;
            int32_t sum = 1 << (shift - 1);
            for (int64_t t = 0; t < c->count[o]; t++) sum += c->weight[o * c->taps + t] * from[t * c->inner];
            *z++ = (int16_t)held(sum >> shift, INT16_MIN, INT16_MAX);
        }
}

static void combine_bytes(uint8_t *z, const void *const *row, const int16_t *weight, int bits, int64_t taps,
                          int64_t n)
{
    const int shift = bits + TSRI_LINE_BITS;
    for (int64_t i = 0; i < n; i++) {
        int32_t sum = 1 << (shift - 1);
        for (int64_t t = 0; t < taps; t++) sum += weight[t] * ((const int16_t *)row[t])[i];
        z[i] = (uint8_t)held(sum >> shift, 0, 255);
    }
}

static void combine_rows(int16_t *z, const void *const *row, const int16_t *weight, int bits, int64_t taps,
                         int64_t n)
{
    const int shift = bits - TSRI_LINE_BITS;
    for (int64_t i = 0; i < n; i++) {
        int32_t sum = 1 << (shift - 1);
        for (int64_t t = 0; t < taps; t++) sum += weight[t] * ((const uint8_t *)row[t])[i];
        z[i] = (int16_t)held(sum >> shift, INT16_MIN, INT16_MAX);
    }
}

static void gather_bytes(uint8_t *z, const int16_t *x, const tsri_byte_columns *c)
{
    const int shift = c->bits + TSRI_LINE_BITS;
    for (int64_t o = 0; o < c->out; o++)
        for (int64_t i = 0; i < c->inner; i++) {
            const int16_t *from = x + c->first[o] * c->inner + i;
            int32_t sum = 1 << (shift - 1);
            for (int64_t t = 0; t < c->count[o]; t++) sum += c->weight[o * c->taps + t] * from[t * c->inner];
            *z++ = (uint8_t)held(sum >> shift, 0, 255);
        }
}

const tsri_image_kernels tsri_image_plain = {
    .combine = { [TSRI_LINE_F32] = ISA(combine_f32), [TSRI_LINE_F64] = ISA(combine_f64) },
    .spread = { [TSRI_LINE_F32] = ISA(spread_f32), [TSRI_LINE_F64] = ISA(spread_f64) },
    .spread_bytes = spread_bytes,
    .combine_bytes = combine_bytes,
    .combine_rows = combine_rows,
    .gather_bytes = gather_bytes,
};

void tsri_cpu_image_portable(tsri_cpu_kernels *k) { k->image = &tsri_image_plain; }

#endif
