/* blocks.c - blocks of quantised numbers as f32.
 *
 * A block has one scale for all its elements, or (the _K kinds, 256 elements) a scale for the block and small
 * ones, of a few bits, for parts of it. Everything is computed in f32, where it is exact but for the last
 * subtraction or addition of the kinds with minima. */
#include "blocks.h"
#include "core/desc_int.h"
#include "core/half.h"
#include "core/mem.h"
#include "core/threads_int.h"
#include "cpu_run.h"
#include "tessera/ops/quant.h"

static inline float half_at(const unsigned char *p) { return tsri_f16_to_f32((uint16_t)(p[0] | p[1] << 8)); }
static inline float signed_at(const unsigned char *p) { return (float)(signed char)*p; }

/* 32 elements -----------------------------------------------------------------------------
 *
 * Four bits of element i are the low half of byte i, those of element i + 16 its high half. */

static void decode_Q4_0(float *y, const unsigned char *p, int64_t n)
{
    for (; n > 0; n--, p += 18, y += 32) {
        const float d = half_at(p);
        for (int i = 0; i < 16; i++) {
            y[i] = (float)((p[2 + i] & 15) - 8) * d;
            y[i + 16] = (float)((p[2 + i] >> 4) - 8) * d;
        }
    }
}

static void decode_Q4_1(float *y, const unsigned char *p, int64_t n)
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

static void decode_Q5_0(float *y, const unsigned char *p, int64_t n)
{
    for (; n > 0; n--, p += 22, y += 32) {
        const float d = half_at(p);
        for (int i = 0; i < 16; i++) {
            y[i] = (float)(((p[6 + i] & 15) | fifth(p + 2, i)) - 16) * d;
            y[i + 16] = (float)(((p[6 + i] >> 4) | fifth(p + 2, i + 16)) - 16) * d;
        }
    }
}

static void decode_Q5_1(float *y, const unsigned char *p, int64_t n)
{
    for (; n > 0; n--, p += 24, y += 32) {
        const float d = half_at(p), m = half_at(p + 2);
        for (int i = 0; i < 16; i++) {
            y[i] = (float)((p[8 + i] & 15) | fifth(p + 4, i)) * d + m;
            y[i + 16] = (float)((p[8 + i] >> 4) | fifth(p + 4, i + 16)) * d + m;
        }
    }
}

static void decode_Q8_0(float *y, const unsigned char *p, int64_t n)
{
    for (; n > 0; n--, p += 34, y += 32) {
        const float d = half_at(p);
        for (int i = 0; i < 32; i++) y[i] = signed_at(p + 2 + i) * d;
    }
}

static const signed char uneven[16] = { -127, -104, -83, -65, -49, -35, -22, -10,
                                        1,    13,   25,  38,  53,  69,  89,  113 };

static void decode_IQ4_NL(float *y, const unsigned char *p, int64_t n)
{
    for (; n > 0; n--, p += 18, y += 32) {
        const float d = half_at(p);
        for (int i = 0; i < 16; i++) {
            y[i] = d * (float)uneven[p[2 + i] & 15];
            y[i + 16] = d * (float)uneven[p[2 + i] >> 4];
        }
    }
}

/* 2 to the power of a byte less 128: below 2^-126 one of the two highest bits of a mantissa. */
static float power_at(const unsigned char *p)
{
    const uint32_t bits = *p < 2 ? 0x00200000u << *p : (uint32_t)(*p - 1) << 23;
    float v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

/* Floats of four bits, doubled. */
static void decode_MXFP4(float *y, const unsigned char *p, int64_t n)
{
    static const signed char level[16] = { 0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12 };
    for (; n > 0; n--, p += 17, y += 32) {
        const float d = power_at(p);
        for (int i = 0; i < 16; i++) {
            y[i] = d * (float)level[p[1 + i] & 15];
            y[i + 16] = d * (float)level[p[1 + i] >> 4];
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

static void decode_Q4_K(float *y, const unsigned char *p, int64_t n)
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

static void decode_Q5_K(float *y, const unsigned char *p, int64_t n)
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

/* Eight scales of six bits: the low four of them in four bytes, the high two in two. */
static void decode_IQ4_XS(float *y, const unsigned char *p, int64_t n)
{
    for (; n > 0; n--, p += 136) {
        const float d = half_at(p);
        for (int part = 0; part < 8; part++, y += 32) {
            const unsigned char *q = p + 8 + part * 16;
            const int low = p[4 + part / 2] >> part % 2 * 4 & 15, high = p[2 + part / 4] >> part % 4 * 2 & 3;
            const float ds = d * (float)((low | high << 4) - 32);
            for (int i = 0; i < 16; i++) {
                y[i] = ds * (float)uneven[q[i] & 15];
                y[i + 16] = ds * (float)uneven[q[i] >> 4];
            }
        }
    }
}

/* -1, 0 and 1, two bits each: four runs of 32 share their bytes. */
static void decode_TQ2_0(float *y, const unsigned char *p, int64_t n)
{
    for (; n > 0; n--, p += 66) {
        const float d = half_at(p + 64);
        for (int run = 0; run < 8; run++, y += 32)
            for (int i = 0; i < 32; i++)
                y[i] = d * (float)((p[run / 4 * 32 + i] >> run % 4 * 2 & 3) - 1);
    }
}

/* The digits to the base 3 of `count` fractions of 256, the first ones of all, then the second ones, ... */
static float *decode_digits(float *y, const unsigned char *p, int count, int digits, float d)
{
    static const unsigned char power[5] = { 1, 3, 9, 27, 81 };
    for (int digit = 0; digit < digits; digit++, y += count)
        for (int i = 0; i < count; i++)
            y[i] = d * (float)(((p[i] * power[digit] & 255) * 3 >> 8) - 1);
    return y;
}

/* -1, 0 and 1, five to a byte but in the last four. */
static void decode_TQ1_0(float *y, const unsigned char *p, int64_t n)
{
    for (; n > 0; n--, p += 54) {
        const float d = half_at(p + 52);
        y = decode_digits(y, p, 32, 5, d);
        y = decode_digits(y, p + 32, 16, 5, d);
        y = decode_digits(y, p + 48, 4, 4, d);
    }
}

/* Two halves of 128: the low four bits of four runs of 32 in 64 bytes, their high two in 32. */
static void decode_Q6_K(float *y, const unsigned char *p, int64_t n)
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

static void decode_Q2_K(float *y, const unsigned char *p, int64_t n)
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

static void decode_Q3_K(float *y, const unsigned char *p, int64_t n)
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

static void decode_Q8_K(float *y, const unsigned char *p, int64_t n)
{
    for (; n > 0; n--, p += 292, y += 256) {
        float d;
        memcpy(&d, p, sizeof d);
        for (int i = 0; i < 256; i++) y[i] = d * signed_at(p + 4 + i);
    }
}

/* The list -------------------------------------------------------------------------------- */

static const tsri_block_type types[] = {
#define X(ID, name, number, elements, bytes) [TSR_BLOCKS_##ID] = { elements, bytes, decode_##ID },
#include "core/blocks.def"
#undef X
};

tsri_blocks tsri_blocks_of(const tsr_tensor *t, int32_t kind)
{
    const int last = t->ndim - 1;
    return (tsri_blocks){ .type = &types[kind],
                          .data = t->data,
                          .row = last >= 2 && t->shape[last - 2] > 1 ? t->stride[last - 2] : 0,
                          .block = t->shape[last - 1] > 1 ? t->stride[last - 1] : t->shape[last],
                          .byte = t->stride[last] };
}

void tsri_blocks_decode(const tsri_blocks *b, float *dst, int64_t row, int64_t first, int64_t n)
{
    unsigned char packed[TSRI_BLOCK_BYTES];
    const char *src = b->data + row * b->row + first * b->block;
    if (b->byte == 1 && (b->block == b->type->bytes || n == 1)) {
        b->type->decode(dst, (const unsigned char *)src, n);
        return;
    }
    for (int64_t i = 0; i < n; i++, src += b->block, dst += b->type->elements) {
        for (int64_t j = 0; j < b->type->bytes; j++) packed[j] = (unsigned char)src[j * b->byte];
        b->type->decode(dst, packed, 1);
    }
}

/* The op: a loop over blocks ---------------------------------------------------------------- */

typedef struct decoding {
    tsri_blocks blocks;
    int64_t     step;  /* from an element of the result to the next, in floats */
} decoding;

static void decode_one(const decoding *d, char *z, const char *src)
{
    float room[TSRI_BLOCK_ELEMENTS];
    tsri_blocks b = d->blocks;
    b.data = src;
    float *dst = (float *)(void *)z;
    tsri_blocks_decode(&b, d->step == 1 ? dst : room, 0, 0, 1);
    for (int64_t i = 0; d->step != 1 && i < b.type->elements; i++) dst[i * d->step] = room[i];
}

static void decode_tile(const tsri_tile *t, const void *params)
{
    const decoding *d = params;
    for (int64_t r = 0; r < t->rows; r++)
        for (int64_t i = 0; i < t->cols; i++)
            decode_one(d, t->ptr[0] + r * t->row_step[0] + i * t->col_step[0],
                       t->ptr[1] + r * t->row_step[1] + i * t->col_step[1]);
}

tsr_status tsri_cpu_dequantise_blocks(const tsr_op *op)
{
    const tsr_block_params *p = op->params;
    const tsr_tensor *x = op->in[0], *z = op->out[0];
    const int last = z->ndim - 1;
    decoding d = { tsri_blocks_of(x, p->kind), z->shape[last] == 1 ? 1 : z->stride[last] };
    int64_t stride[TSR_MAX_NDIM];
    for (int i = 0; i < last; i++) stride[i] = z->stride[i];
    stride[last] = tsri_mul_wrapping(d.step, d.blocks.type->elements);
    tsri_loop loop;
    tsri_loop_build(&loop, z->ndim, x->shape, 2,
                    (const tsri_operand[]){ { z->data, stride, sizeof(float) }, { x->data, x->stride, 1 } },
                    0);
    const double work = TSRI_WORK_DECODED * (double)d.blocks.type->elements;
    return tsri_loop_run_parallel(&loop, &(tsri_kernel){ .fn = decode_tile, .params = &d }, tsri_grain(work));
}
