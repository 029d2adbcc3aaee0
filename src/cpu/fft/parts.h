/* parts.h - lanes between tensors and scratch memory: two streams of real numbers at once,
 * which are the real and the imaginary parts of elements, or every other element. */
#ifndef TSRI_FFT_PARTS_H
#define TSRI_FFT_PARTS_H

#include "core/status_int.h"

/* Steps along a lane and from lane to lane, in bytes in a tensor and in numbers in scratch
 * memory. */
typedef struct tsri_fft_steps { int64_t along, lane; } tsri_fft_steps;

typedef struct tsri_fft_stream {
    char   *scratch, *tensor;
    int64_t count;   /* numbers of a lane that are there */
    int64_t total;   /* numbers that a gather sets: those, then zeros */
    double  factor;  /* what each is multiplied with */
} tsri_fft_stream;

/* The first stream has at least as many numbers as the second. */
typedef struct tsri_fft_move {
    tsri_fft_stream stream[2];
    tsri_fft_steps  in_scratch, in_tensor;
    int64_t         lanes;
} tsri_fft_move;

typedef struct tsri_fft_parts {
    void   (*gather)(const tsri_fft_move *m);  /* tensor to scratch memory */
    void   (*scatter)(const tsri_fft_move *m); /* and back; the two may be the same memory */
    int64_t size;                              /* of a number in scratch memory */
} tsri_fft_parts;

/* float in tensors: computed in float, or in double; double in both. */
extern const tsri_fft_parts tsri_fft_parts_f32, tsri_fft_parts_f32_wide, tsri_fft_parts_f64;

#endif
