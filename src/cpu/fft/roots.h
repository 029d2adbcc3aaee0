/* roots.h - roots of unity, right to little more than half a unit in the last place.
 *
 * An angle is a fraction k / n of a full circle. It is reduced to an eighth of a circle in
 * integers, so nothing is lost before the series is summed. Additions, multiplications
 * and divisions only: the bits are the same on every machine. */
#ifndef TSRI_FFT_ROOTS_H
#define TSRI_FFT_ROOTS_H

#include "core/status_int.h"

/* cos and sin, each as a double and what is left of the value beyond it. */
typedef struct tsri_fft_root { double c, c_low, s, s_low; } tsri_fft_root;

/* The angle is k / n of a full circle; 0 <= k < n < 2^53. */
void tsri_fft_root_of(tsri_fft_root *out, int64_t k, int64_t n);

/* Many roots of one n, each in a dozen operations: root a * 2^shift + b is a coarse root
 * times a fine one. A fine root is held as its distance from 1, so that rounding the
 * product touches only the last bits of the sum. */
typedef struct tsri_fft_roots {
    int64_t              n;
    int                  shift;
    const tsri_fft_root *coarse;
    const tsri_fft_root *fine;  /* c is cos - 1; no low parts */
} tsri_fft_roots;

/* Bytes of scratch memory that the tables for n take. */
size_t tsri_fft_roots_bytes(int64_t n);

void tsri_fft_roots_init(tsri_fft_roots *roots, int64_t n, void *scratch);

/* 0 <= k < n. */
static inline void tsri_fft_roots_at(double *c, double *s, const tsri_fft_roots *roots, int64_t k)
{
    const tsri_fft_root *a = &roots->coarse[k >> roots->shift];
    const tsri_fft_root *b = &roots->fine[k & (((int64_t)1 << roots->shift) - 1)];
    *c = a->c + (a->c_low + (a->c * b->c - a->s * b->s));
    *s = a->s + (a->s_low + (a->s * b->c + a->c * b->s));
}

/* The same with what is left of the values. */
void tsri_fft_roots_both(tsri_fft_root *out, const tsri_fft_roots *roots, int64_t k);

#endif
